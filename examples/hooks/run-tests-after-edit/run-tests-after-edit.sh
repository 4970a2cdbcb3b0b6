#!/bin/sh
# Runs the project's tests after every edit and tells the model what failed.
#
# Event: PostToolUse, matcher Edit|Write. The edit has happened; "block" here
# undoes nothing, it puts the reason beside the tool's result.
#
#   run-tests-after-edit.sh          the model waits and reads a block
#   run-tests-after-edit.sh --async  the model goes on; nothing can be blocked
#                                    any more, so failures come as context with
#                                    its next turn
#
# The command is the first of: $PROJECT_TEST_COMMAND, the first line of
# .claude/test-command, `cargo test` beside a Cargo.toml, `npm test` beside a
# package.json. Without any of them this hook is silent.

# Read all of stdin, so that nobody gets a broken pipe; we need none of it.
cat >/dev/null

cd "${CLAUDE_PROJECT_DIR:-.}" || exit 0

test_command=$PROJECT_TEST_COMMAND
if [ -z "$test_command" ] && [ -f .claude/test-command ]; then
    test_command=$(sed -n 1p .claude/test-command)
fi
if [ -z "$test_command" ] && [ -f Cargo.toml ]; then
    test_command="cargo test --quiet"
fi
if [ -z "$test_command" ] && [ -f package.json ]; then
    test_command="npm test --silent"
fi
[ -n "$test_command" ] || exit 0

if output=$(sh -c "$test_command" </dev/null 2>&1); then
    exit 0
fi

# The last lines say what failed. As a JSON string: no control characters but
# the line ends, then backslashes and quotes escaped, then lines joined.
# Bytes are bytes here, whatever the locale.
export LC_ALL=C
text=$(
    printf 'The tests fail after this edit (%s):\n%s\n' "$test_command" \
        "$(printf '%s\n' "$output" | tail -n 40)" |
        tr '\t' ' ' | tr -d '\000-\011\013-\037\177' |
        sed 's/\\/\\\\/g; s/"/\\"/g' |
        awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'
)

if [ "$1" = "--async" ]; then
    printf '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"%s"}}\n' "$text"
else
    printf '{"decision":"block","reason":"%s"}\n' "$text"
fi
