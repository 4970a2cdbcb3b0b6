#!/usr/bin/env python3
"""A host of the hooks engine in Python, with the standard library alone.

Opens a session in the current directory, registers a callback, fires one
PreToolUse event and prints what was decided:

    python3 host.py 'rm -rf /'
"""

import itertools
import json
import os
import subprocess
import sys


class Engine:
    """`remora hooks serve`, asked one thing at a time."""

    def __init__(self, program="remora"):
        self.process = subprocess.Popen(
            [program, "hooks", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ids = itertools.count(1)
        self.callbacks = {}

    def ask(self, method, **params):
        request_id = next(self.ids)
        self.send({"id": request_id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") == "callback":
                call = message["params"]
                result = self.callbacks[call["callback"]](call["event"])
                self.send({"id": message["id"], "result": result})
            elif "method" in message:
                print("notice:", message["method"], message["params"], file=sys.stderr)
            elif "error" in message:
                raise RuntimeError(message["error"]["message"])
            elif message["id"] == request_id:
                return message["result"]
        raise RuntimeError("the engine is gone")

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def forbid_root(event):
    """The host's own hook: the answer is what a command would print."""
    if event["tool_input"].get("command") == "rm -rf /":
        return {"decision": "block", "reason": "not the whole disk"}
    return None


def main():
    engine = Engine(os.environ.get("REMORA", "remora"))
    session = engine.ask("open", project=os.getcwd())["session"]
    engine.callbacks["forbid_root"] = forbid_root
    engine.ask("register_callback", session=session, callback="forbid_root", event="PreToolUse")
    fired = engine.ask("fire", session=session, event={
        "hook_event_name": "PreToolUse", "session_id": "example", "cwd": os.getcwd(),
        "tool_name": "Bash", "tool_input": {"command": " ".join(sys.argv[1:]) or "make"},
    })
    outcome = fired["report"]["outcome"]
    print("blocked:" if outcome["blocked"] else "goes on", outcome.get("reason") or "")
    engine.ask("close", session=session)
    engine.close()


if __name__ == "__main__":
    main()
