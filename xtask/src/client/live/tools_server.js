// A server of tools on stdin and stdout (MCP). Each call becomes a line of the file that is named
// as the first argument; what a tool answers is known from its name and its arguments.
"use strict";
const fs = require("node:fs");
const readline = require("node:readline");

const TOOLS = ["raw", "two", "img", "struct", "none", "fail", "rpc", "slow", "die", "any"];
const log = process.argv[2];

function send(message) {
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
}

function asText(value) {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function callTool(id, name, given) {
  const text = asText(given.text);
  const part = (words) => ({ type: "text", text: words });
  const answer = (content, more) => send({ id, result: { content, ...more } });
  switch (name) {
    case "two": return answer([part(asText(given.a)), part(asText(given.b))]);
    case "img": return answer([{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }]);
    case "struct": return answer([part("plain")], { structuredContent: JSON.parse(text) });
    case "none": return answer([]);
    case "fail": return answer([part(text)], { isError: true });
    case "rpc": return send({ id, error: { code: -32000, message: text || "refused" } });
    case "slow": return setTimeout(() => answer([part(text)]), Number(given.secs ?? 1) * 1000);
    case "die": return process.exit(3);
    case "any": return answer([part("ok")]);
    case "raw": return answer([part(text)]);
    default: return send({ id, error: { code: -32602, message: `no tool ${name}` } });
  }
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    send({ id, result: {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "lab", version: "1" },
    } });
  } else if (method === "tools/list") {
    const tools = TOOLS.map((name) => (
      { name, description: `the tool ${name}`, inputSchema: { type: "object", properties: {} } }));
    send({ id, result: { tools } });
  } else if (method === "tools/call") {
    const given = params.arguments ?? {};
    fs.appendFileSync(log, JSON.stringify({ tool: params.name, arguments: given }) + "\n");
    callTool(id, params.name, given);
  } else if (method === "ping") {
    send({ id, result: {} });
  } else if (id !== undefined && method !== undefined) {
    send({ id, error: { code: -32601, message: `no method ${method}` } });
  }
});
