#!/bin/sh
# A tiny MCP server over stdio: one tool, one answer.
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
    case "$line" in
    *'"method":"initialize"'*)
        result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tide","version":"1"}}'
        ;;
    *'"method":"tools/list"'*)
        result='{"tools":[{"name":"gauge","description":"reads the tide gauge of a harbour","inputSchema":{"type":"object","properties":{"harbour":{"type":"string"}}}}]}'
        ;;
    *'"method":"tools/call"'*)
        result='{"content":[{"type":"text","text":"The tide gauge stands at 2.4 metres."}]}'
        ;;
    *)
        result='{}'
        ;;
    esac
    if [ -n "$id" ]; then
        printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
    fi
done
