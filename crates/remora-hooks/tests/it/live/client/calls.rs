//! Tool calls of the scripted client: the events around them, permission, and what
//! the tools do.

use std::path::Path;

use remora_core::Permission;
use serde_json::{Value, json};

use super::super::{case, clock, heads, tools};
use super::{Client, Course, Talk, ToolEnd};

impl Client<'_> {
    pub(super) fn run_batch(&self, talk: &mut Talk, calls: &[Value]) -> Course {
        let text = json!(calls).to_string();
        talk.messages.push(("assistant", text));
        let mut course = Course::GoesOn;
        let overlap = calls.len() > 1 && calls.iter().all(is_read_only);
        if overlap {
            let ready: Vec<_> = calls.iter().map(|call| self.prepare(talk, call)).collect();
            let mut order: Vec<usize> = (0..calls.len()).collect();
            // The shorter one ends first.
            order.sort_by_key(|at| sleep_millis(&calls[*at]));
            for at in order {
                course = course.and(self.finish(talk, &calls[at], &ready[at]));
            }
        } else {
            for call in calls {
                let ready = self.prepare(talk, call);
                course = course.and(self.finish(talk, call, &ready));
                if self.world.interruption.get().is_some() {
                    return Course::Ends("");
                }
            }
        }
        talk.messages.push(("user", "tool results".into()));
        if course != Course::GoesOn {
            return course;
        }
        let own = json!({"tool_calls": calls});
        let fired = self.fire(Some(talk), "PostToolBatch", &own);
        talk.take(&fired.deliveries);
        if !fired.report.outcome.go_on {
            return Course::Ends("hook_stopped");
        }
        Course::GoesOn
    }

    /// The events before a call: its input if it is made, else the refusal.
    fn prepare(&self, talk: &mut Talk, call: &Value) -> Prepared {
        self.fire_changes();
        let own = json!({"tool_name": call["name"], "tool_input": call["input"],
            "tool_use_id": call["id"]});
        let fired = self.fire(Some(talk), "PreToolUse", &own);
        talk.take(&fired.deliveries);
        let outcome = &fired.report.outcome;
        let stops = !outcome.go_on;
        let input = outcome
            .updated_input
            .clone()
            .map_or_else(|| call["input"].clone(), Value::Object);
        let asked_by_hook = outcome.permission == Some(Permission::Ask);
        let allowed = self
            .allowed
            .borrow()
            .iter()
            .any(|tool| call["name"] == tool.as_str());
        let mut aborts = false;
        let input = match outcome.final_decision {
            Some(Permission::Deny | Permission::Defer) => None,
            Some(Permission::Ask) if asked_by_hook && !self.world.case.is_interactive() => None,
            Some(Permission::Ask) if allowed && !asked_by_hook => Some(input),
            Some(Permission::Ask) => {
                let (input, interrupts) = self.ask(talk, call, input);
                aborts = interrupts;
                input
            }
            Some(Permission::Allow) | None => Some(input),
        };
        Prepared {
            input,
            stops,
            aborts,
        }
    }

    /// The input if the call is allowed, and whether the run ends with it.
    fn ask(&self, talk: &mut Talk, call: &Value, input: Value) -> (Option<Value>, bool) {
        let own = json!({"tool_name": call["name"], "tool_input": input,
            "permission_suggestions": []});
        let fired = self.fire(Some(talk), "PermissionRequest", &own);
        talk.take(&fired.deliveries);
        let outcome = fired.report.outcome;
        if outcome.permission != Some(Permission::Allow) {
            return (None, outcome.interrupt == Some(true));
        }
        for update in outcome
            .updated_permissions
            .iter()
            .filter_map(|u| u.as_array())
            .flatten()
        {
            if update["type"] == "addRules" && update["behavior"] == "allow" {
                let rules = update["rules"].as_array().into_iter().flatten();
                let tools = rules.filter_map(|rule| rule["toolName"].as_str());
                self.allowed.borrow_mut().extend(tools.map(str::to_owned));
            }
            if update["type"] == "setMode" {
                self.mode
                    .replace(update["mode"].as_str().unwrap().to_owned());
            }
        }
        let input = outcome.updated_input.map_or(input, Value::Object);
        (Some(input), false)
    }

    /// The call itself and the events behind it.
    fn finish(&self, talk: &mut Talk, call: &Value, ready: &Prepared) -> Course {
        let id = call["id"].as_str().unwrap().to_owned();
        let Some(input) = &ready.input else {
            self.note_tool(&id, "none", String::new());
            if ready.aborts {
                return Course::Ends("aborted_tools");
            }
            return Course::stopped(ready.stops);
        };
        let before = talk.cwd.clone();
        let Some((succeeded, result)) = self.run_tool(talk, call, input) else {
            return Course::Ends("");
        };
        let mut own = json!({"tool_name": call["name"], "tool_input": input, "tool_use_id": id});
        let event = if succeeded {
            own["tool_response"] = json!({"stdout": result, "stderr": "", "interrupted": false,
                "isImage": false});
            "PostToolUse"
        } else {
            own["error"] = result.clone().into();
            "PostToolUseFailure"
        };
        let fired = self.fire(Some(talk), event, &own);
        talk.take(&fired.deliveries);
        // The end of a tool is known from the recorder alone.
        let ended = if self.world.recorded.get() {
            event
        } else {
            "none"
        };
        self.note_tool(&id, ended, result);
        if talk.agent.is_none() && talk.cwd != before {
            let own = json!({"old_cwd": before, "new_cwd": talk.cwd});
            self.fire(Some(talk), "CwdChanged", &own);
        }
        Course::stopped(ready.stops || !fired.report.outcome.go_on)
    }

    fn note_tool(&self, id: &str, ended: &'static str, result: String) {
        let end = ToolEnd { ended, result };
        self.tools.borrow_mut().insert(id.to_owned(), end);
    }

    /// Whether it succeeded and what came out; `None` if it was interrupted.
    fn run_tool(&self, talk: &mut Talk, call: &Value, input: &Value) -> Option<(bool, String)> {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        match call["name"].as_str().unwrap() {
            "Bash" => tools::run_bash(self.world, talk.cwd_mut(), text("command")),
            "Write" => {
                case::write_file(Path::new(text("file_path")), text("content"));
                Some((true, "written".into()))
            }
            "Read" => {
                let text = std::fs::read_to_string(text("file_path"));
                Some((text.is_ok(), text.unwrap_or_else(|error| error.to_string())))
            }
            "Skill" => {
                self.use_skill(text("skill"));
                Some((true, "skill".into()))
            }
            "Agent" => Some((
                true,
                self.run_agent(talk, text("prompt"), text("subagent_type")),
            )),
            // What it would do is of no interest here.
            _ => Some((true, "done".into())),
        }
    }

    pub(super) fn use_skill(&self, name: &str) {
        if let Some(skill) = heads::find_skill(self.world.case, name) {
            // A malformed head has no hooks, and the skill is used all the same.
            let _ = self.world.session.add_skill(skill);
        }
    }

    fn run_agent(&self, parent: &Talk, prompt: &str, agent_type: &str) -> String {
        let number = self.agents.get() + 1;
        self.agents.set(number);
        let id = format!("agent{number}");
        let mut talk = Talk::new(
            Some((id.clone(), agent_type.to_owned())),
            parent.cwd.clone(),
        );
        talk.messages.push(("user", prompt.to_owned()));
        let fired = self.fire(Some(&talk), "SubagentStart", &json!({}));
        talk.take(&fired.deliveries);
        if let Some(agent) = heads::find_agent(self.world.case, agent_type) {
            // Refused for an untrusted folder, and the agent runs all the same.
            let _ = self.world.session.add_agent(&id, agent);
        }
        self.converse(&mut talk);
        self.world.session.remove_agent(&id);
        talk.last_text
    }
}

struct Prepared {
    input: Option<Value>,
    stops: bool,
    aborts: bool,
}

/// Calls that the client lets run at once.
fn is_read_only(call: &Value) -> bool {
    let command = call["input"]["command"].as_str().unwrap_or_default();
    let harmless = |part: &str| {
        let word = part.split_whitespace().next().unwrap_or_default();
        ["echo", "sleep", "cat", "ls", "pwd"].contains(&word)
    };
    match call["name"].as_str() {
        Some("Read") => true,
        Some("Bash") => !command.contains('>') && command.split(';').all(harmless),
        _ => false,
    }
}

fn sleep_millis(call: &Value) -> u64 {
    let command = call["input"]["command"].as_str().unwrap_or_default();
    let seconds = command
        .split("sleep ")
        .nth(1)
        .and_then(|rest| rest.split(';').next());
    clock::to_us(seconds.and_then(|s| s.trim().parse().ok()).unwrap_or(0.0)) / 1000
}
