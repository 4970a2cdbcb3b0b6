#!/usr/bin/env python3
"""An agent that runs hooks, in Python, with the standard library alone.

    python3 host.py PROJECT SCRIPT

The model and the user are played by a script, such as `../script.json`; put your own
model, tools and user into `World`. `Engine` and `Agent` can stay as they are.
Set REMORA if the program `remora` is not on the PATH.
"""

import collections
import itertools
import json
import os
import subprocess
import sys


class Engine:
    """`remora hooks serve`: one request at a time, notices kept until they are wanted."""

    def __init__(self, program, callbacks):
        self.process = subprocess.Popen(
            [program, "hooks", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.ids = itertools.count(1)
        self.callbacks = callbacks
        self.notices = collections.deque()

    def ask(self, method, **params):
        request_id = next(self.ids)
        self.send({"id": request_id, "method": method, "params": params})
        while True:
            message = self.read_message()
            if message and message.get("id") == request_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def wait_for(self, method):
        """The next notice of that name."""
        while not any(notice["method"] == method for notice in self.notices):
            self.read_message()
        notice = next(notice for notice in self.notices if notice["method"] == method)
        self.notices.remove(notice)
        return notice

    def read_message(self):
        """Reads one message: an answer is returned, all else is dealt with here."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the engine is gone")
        message = json.loads(line)
        if message.get("method") == "callback":
            self.send({"id": message["id"], **self.call_back(message["params"])})
        elif "method" in message:
            self.notices.append(message)
        else:
            return message

    def call_back(self, call):
        try:
            return {"result": self.callbacks[call["callback"]](call["event"])}
        except Exception as error:  # A hook that fails is no reason to end the agent.
            return {"error": {"code": -32000, "message": repr(error)}}

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Agent:
    """The loop: every event of a turn, and what the agent makes of each outcome."""

    def __init__(self, engine, world, project):
        self.engine = engine
        self.world = world
        self.base = {"session_id": "example", "cwd": project, "permission_mode": "default"}
        # Texts that the next request carries behind the prompt or the results.
        self.asides = []
        opened = engine.ask(
            "open", project=project, attendance="interactive",
            # Ask your user before you say so: hooks run commands.
            trusted=True,
        )
        self.session = opened["session"]
        for warning in opened["warnings"]:
            print("warning:", warning, file=sys.stderr)

    def run_session(self, prompts):
        fired = self.fire("SessionStart", source="startup")
        self.deliver(fired["deliveries"])
        first = fired["report"]["outcome"]["initial_user_message"]
        for prompt in ([first] if first else []) + prompts:
            self.run_turn(prompt, prompt)
        self.wait_for_wake_ups()
        self.fire("SessionEnd", reason="other")
        self.engine.ask("close", session=self.session, end_all=True)

    def wait_for_wake_ups(self):
        """Turns that hooks begin, until none can begin one."""
        while True:
            status = self.engine.ask("status", session=self.session)
            if self.engine.notices:
                notice = self.engine.notices.popleft()
                if notice["method"] == "wake_up":
                    self.run_turn(notice["params"]["prompt"], notice["params"]["text"])
            elif status["running"] or status["phase"] == "waking":
                self.engine.read_message()
            else:
                return

    def run_turn(self, prompt, shown):
        """A turn: from a prompt to an end that the hooks allow."""
        fired = self.fire("UserPromptSubmit", prompt=prompt)
        if not self.accept_prompt(fired, prompt):
            return
        self.world.add("user", shown)
        self.deliver(fired["deliveries"])
        self.take_deliveries("next_prompt")
        while reply := self.ask_model():
            if not reply["calls"]:
                fired = self.fire("Stop", last_assistant_message=reply["text"])
                self.deliver(fired["deliveries"])
                if fired["stop"] == "continues":
                    continue
                return
            made = [self.make_call(call) for call in reply["calls"]]
            goes_on = all(goes_on for _, goes_on in made)
            if goes_on:
                fired = self.fire("PostToolBatch", tool_calls=[call for call, _ in made])
                self.deliver(fired["deliveries"])
                goes_on = fired["report"]["outcome"]["continue"]
            if not goes_on:
                break
            self.take_deliveries("next_request")
        self.engine.ask("end_turn", session=self.session)

    def make_call(self, call):
        """One call, and whether the turn goes on behind it."""
        about = {"tool_name": call["tool"], "tool_input": call["input"], "tool_use_id": call["id"]}
        text, goes_on = self.decide(about)
        if text is None:
            prelude = self.engine.ask("status", session=self.session)["shell_prelude"]
            try:
                output = self.world.call_tool(call["tool"], about["tool_input"], prelude)
                fired = self.fire("PostToolUse", **about, tool_response=output)
            except ToolError as error:
                output = str(error)
                fired = self.fire("PostToolUseFailure", **about, error=output)
            outcome = fired["report"]["outcome"]
            goes_on = goes_on and outcome["continue"]
            self.deliver(fired["deliveries"])
            if outcome["updated_output"] is not None:
                output = outcome["updated_output"]
            text = read_text(output)
        self.world.add("result", text)
        return {**about, "tool_response": text}, goes_on

    def decide(self, about):
        """Hooks, rules and the user about one call: why it is not made, if it is not, and
        whether the turn goes on."""
        fired = self.fire("PreToolUse", **about)
        outcome = fired["report"]["outcome"]
        decision, goes_on = outcome["final"], outcome["continue"]
        about["tool_input"] = outcome["updated_input"] or about["tool_input"]
        if decision == "ask":
            self.deliver(fired["deliveries"])
            fired = self.fire("PermissionRequest", **about)
            outcome = fired["report"]["outcome"]
            goes_on = goes_on and not outcome["interrupt"]
            about["tool_input"] = outcome["updated_input"] or about["tool_input"]
            # Rules had their say before; where hooks say nothing, the user is asked.
            decision = outcome["final"] if outcome["permission"] else "ask"
        labelled = self.deliver(fired["deliveries"])
        if decision == "ask":
            return self.ask_user(about), goes_on
        if decision == "deny":
            return labelled or outcome["final_why"] or "The call is refused.", goes_on
        if decision == "defer":
            # Only where no user can be asked: whoever started the run decides.
            return outcome["final_why"] or "The call is refused.", False
        return None, goes_on

    def deliver(self, deliveries):
        """Puts texts where they belong. Returns the one that is the result of a call."""
        result = None
        for delivery in deliveries:
            place, text = delivery["place"], delivery["text"]
            if delivery["agent"]:
                continue  # A subagent's; this agent starts none.
            if place == "aside":
                self.asides.append(text)
            elif place == "tool_result":
                result = text
            elif place == "user_message":
                self.world.add("user", text)
            else:
                prompt = place["notification"]["prompt"]
                fired = self.fire("UserPromptSubmit", prompt=prompt)
                if self.accept_prompt(fired, prompt):
                    self.asides.append(text)
                    self.deliver(fired["deliveries"])
        return result

    def take_deliveries(self, point):
        taken = self.engine.ask("take_deliveries", session=self.session, point=point)
        self.deliver(taken["deliveries"])

    def fire(self, name, **about):
        """Fires an event and shows the user what hooks say to them."""
        event = {**self.base, "hook_event_name": name, **about}
        conversation = self.world.list_messages() if name == "Stop" else []
        fired = self.engine.ask(
            "fire", session=self.session, event=event, conversation=conversation
        )
        outcome = fired["report"]["outcome"]
        for message in outcome["messages"]:
            self.world.show("message", message)
        if outcome["stop_reason"] and not outcome["continue"]:
            self.world.show("stopped", outcome["stop_reason"])
        if outcome["session_title"]:
            self.world.show("title", outcome["session_title"])
        if outcome["terminal_sequence"]:
            self.world.show("terminal", outcome["terminal_sequence"])
        return fired

    def accept_prompt(self, fired, prompt):
        """Whether hooks let the prompt through; if not, the user gets it back."""
        outcome = fired["report"]["outcome"]
        if outcome["blocked"]:
            self.world.show("refused", outcome["reason"] or "")
            if not outcome["suppress_original_prompt"]:
                self.world.show("prompt", prompt)
        return outcome["continue"] and not outcome["blocked"]

    def ask_model(self):
        """The next request; None if the model fails."""
        for text in self.asides:
            self.world.add("system", text)
        self.asides = []
        try:
            reply = self.world.ask_model()
        except ModelError as error:
            self.fire("StopFailure", error="unknown", last_assistant_message=str(error))
            self.world.show("failed", str(error))
            return None
        if reply["text"]:
            fired = self.fire(
                "MessageDisplay", turn_id="turn", message_id="message", index=0, final=True,
                delta=reply["text"],
            )
            shown = fired["report"]["outcome"]["display_content"]
            self.world.add("assistant", reply["text"])
            self.world.show("assistant", reply["text"] if shown is None else shown)
        return reply

    def ask_user(self, about):
        """Asks the user about a call; the answer is why it is not made."""
        self.fire("Notification", message="Permission is needed",
                  notification_type="permission_prompt")
        if not self.world.ask_user(about["tool_name"], about["tool_input"]):
            return "The user does not want this call."


class ModelError(Exception):
    """The model cannot be reached."""


class ToolError(Exception):
    """A tool failed; the model reads why."""


def read_text(output):
    """What the model reads of a tool's output."""
    text = output.get("stdout", output) if isinstance(output, dict) else output
    return text if isinstance(text, str) else json.dumps(text)


class World:
    """The agent's own: its model, its tools and its user. Here a script plays them, and
    what the model reads and the user sees is printed."""

    def __init__(self, script, engine, project):
        self.replies = collections.deque(script["replies"])
        self.permissions = collections.deque(script["permissions"])
        self.engine = engine
        self.project = project
        self.messages = []

    def add(self, role, text):
        """A message of the conversation."""
        self.messages.append((role, text))
        self.note(role, text)

    def list_messages(self):
        """The conversation in two roles, as prompt hooks judge it."""
        return [
            {"role": "assistant" if role == "assistant" else "user", "text": text}
            for role, text in self.messages
        ]

    def ask_model(self):
        """Send `self.messages` to a model here."""
        reply = self.replies.popleft() if self.replies else {"fails": "the script is over"}
        if "fails" in reply:
            raise ModelError(reply["fails"])
        return {"text": "", "calls": [], **reply}

    def call_tool(self, tool, tool_input, prelude):
        if tool == "Wait":
            self.engine.wait_for("background_ended")
            return {"stdout": "a hook in the background has ended"}
        made = subprocess.run(
            ["sh", "-c", prelude + "\n" + tool_input["command"]],
            cwd=self.project, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )
        if made.returncode != 0:
            raise ToolError(f"Exit code {made.returncode}\n{made.stdout}{made.stderr}")
        return {"stdout": made.stdout, "stderr": made.stderr, "interrupted": False,
                "isImage": False}

    def show(self, kind, text):
        """Something for the user."""
        self.note(f"[{kind}]", text)

    def ask_user(self, tool, tool_input):
        """Whether a call may be made."""
        allowed = bool(self.permissions and self.permissions.popleft())
        question = f"{tool} {json.dumps(tool_input, separators=(',', ':'))}"
        self.show("question", f"{question} {'yes' if allowed else 'no'}")
        return allowed

    def note(self, mark, text):
        print(f"{mark}: " + text.rstrip().replace("\n", "\n    "), flush=True)


def guard_release(event):
    """The host's own hook: the answer is what a command would print."""
    if event["tool_input"].get("command", "").startswith("deploy"):
        return {"decision": "block", "reason": "not on a Friday"}
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: host.py PROJECT SCRIPT")
    project = os.path.realpath(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        script = json.load(file)
    engine = Engine(os.environ.get("REMORA", "remora"), {"guard_release": guard_release})
    agent = Agent(engine, World(script, engine, project), project)
    engine.ask("register_callback", session=agent.session, callback="guard_release",
               event="PreToolUse", matcher="Bash", timeout_seconds=5, failure_blocks=True)
    agent.run_session(script["prompts"])
    engine.close()


if __name__ == "__main__":
    main()
