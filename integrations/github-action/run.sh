#!/usr/bin/env bash
# The second step of action.yml: lint, then cases. Everything comes in variables
# of the names in there, so that nothing of an input is read as shell text.
set -uo pipefail

remora="${REMORA:-remora}"
directory="${DIRECTORY:-.}"
failed=0

case "${LINT:-true}" in
  true | strict)
    # Split at blanks on purpose: the input is a list of files.
    # shellcheck disable=SC2206
    arguments=(--cwd "$directory" --setting-sources project,local ${LINT_FILES:-})
    if [ "${LINT:-}" = strict ]; then
      arguments+=(--strict)
    fi
    if [ -n "${SARIF:-}" ]; then
      "$remora" hooks lint --sarif "${arguments[@]}" > "$SARIF"
    fi
    "$remora" hooks lint "${arguments[@]}" || failed=1
    ;;
  false) ;;
  *)
    echo "lint: must be true, strict or false, found '$LINT'" >&2
    exit 1
    ;;
esac

cases=false
for name in hooks.test.json hooks.test.yaml hooks.test.yml; do
  if [ -f "$directory/.claude/$name" ]; then
    cases=true
  fi
done
test="${TEST:-auto}"
if [ "$test" = auto ]; then
  test="$cases"
fi
case "$test" in
  true)
    arguments=(--cwd "$directory")
    if [ -n "${JUNIT:-}" ]; then
      arguments+=(--junit "$JUNIT")
    fi
    "$remora" hooks test "${arguments[@]}" || failed=1
    ;;
  false) ;;
  *)
    echo "test: must be auto, true or false, found '$test'" >&2
    exit 1
    ;;
esac

exit "$failed"
