#!/bin/sh
# Does not let the model stop while the tests fail, but never for ever.
#
# Event: Stop. Exit 2 makes the model go on, with our stderr as its next
# instruction. That is a loop, and a loop needs a guard: `stop_hook_active` is
# true while the model is already going on because of a stop hook. We count the
# tries of one prompt in a file, start again when it is false, and give up
# after $STOP_MAX_TRIES (3).
#
# The test command is found as in run-tests-after-edit.

event=$(cat)

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

# One file per session, so that two sessions in one project do not share it.
# The id is cut down to what is safe in a file name.
session=$(printf '%s\n' "$event" |
    sed -nE 's/.*"session_id":[[:space:]]*"([^"]*)".*/\1/p' | tr -cd 'A-Za-z0-9_-')
count_file=.claude/.stop-tries-${session:-unknown}

tries=0
# A quote inside a JSON string is written \", so this can only be the real key.
if printf '%s\n' "$event" | grep -Eq '"stop_hook_active":[[:space:]]*true'; then
    # Active without a count means that another stop hook made the model go on.
    tries=$(cat "$count_file" 2>/dev/null | tr -cd '0-9')
    tries=${tries:-0}
fi

if output=$(sh -c "$test_command" </dev/null 2>&1); then
    rm -f "$count_file"
    exit 0
fi

if [ "$tries" -ge "${STOP_MAX_TRIES:-3}" ]; then
    rm -f "$count_file"
    echo '{"systemMessage":"The tests still fail; stopping anyway after several tries."}'
    exit 0
fi

mkdir -p .claude && echo $((tries + 1)) >"$count_file"
{
    echo "The tests fail ($test_command). Mend them before you stop:"
    printf '%s\n' "$output" | tail -n 40
} >&2
exit 2
