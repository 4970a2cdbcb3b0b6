#!/bin/sh
# Calls you back to the terminal: a desktop notice, the bell, a line in a log.
#
# Events: Notification (the model waits for you) and Stop (it is done). A
# handler has no terminal of its own. It hands the sequence to the client in
# `terminalSequence`, which accepts titles and notices (OSC 0, 1, 2, 9, 99, 777)
# and the bell, and nothing else.

# Bytes are bytes, whatever the locale.
export LC_ALL=C

event=$(cat)

# A string field of the event, still with JSON's escapes.
field() {
    printf '%s\n' "$event" | sed -nE "s/.*\"$1\":[[:space:]]*\"(([^\"\\\\]|\\\\.)*)\".*/\1/p"
}

name=$(field hook_event_name)
case $name in
Stop) message="Done" ;;
*) message=$(field message) ;;
esac

# An escape in the text could be a control character, and that would end the
# sequence early. Such a text is rare; a plain one will do.
case $message in
'' | *\\*) message="Your attention is needed" ;;
esac

# A log that cannot be written must not cost the notice.
{
    printf '%s %s: %s\n' "$(date '+%Y-%m-%dT%H:%M:%S')" "$name" "$message" \
        >>"${CLAUDE_PROJECT_DIR:-.}/.claude/notify.log"
} 2>/dev/null

# \u001b]9; .. \u0007 is a notice (OSC 9), the second \u0007 the bell.
printf '{"terminalSequence":"\\u001b]9;%s\\u0007\\u0007"}\n' "$message"
