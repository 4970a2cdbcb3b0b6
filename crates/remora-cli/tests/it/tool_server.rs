//! An MCP server in shell: its name and what it was called with are its answer.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// `say` answers with a text that names the server; `die` ends it.
const SCRIPT: &str = r#"echo "$NAME" >> "$STARTS"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case "$line" in
    *'"initialize"'*) say '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lab","version":"1"}}' ;;
    *'"die"'*) exit 1 ;;
    *'"say"'*)
      word=$(printf %s "$line" | sed 's/.*"word":"\([^"]*\)".*/\1/')
      say "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"systemMessage\\\": \\\"$NAME $word $DATA\\\"}\"}]}" ;;
  esac
done
"#;

/// Writes the script; each start of a server adds a line to `starts`.
pub(crate) fn install(sandbox: &Sandbox) {
    sandbox.write("server.sh", SCRIPT);
    sandbox.write("starts", "");
}

/// The entry of a server that calls itself by that name.
pub(crate) fn entry(sandbox: &Sandbox, name: &str) -> Value {
    json!({
        "command": "/bin/sh",
        "args": [sandbox.text("server.sh")],
        "env": {"NAME": name, "STARTS": sandbox.text("starts")},
    })
}

/// A handler that calls `say` of a server, or another tool.
pub(crate) fn handler(server: &str, tool: &str) -> Value {
    json!({
        "type": "mcp_tool",
        "server": server,
        "tool": tool,
        "input": {"word": "${tool_input.command}"},
        "timeout": 50,
    })
}
