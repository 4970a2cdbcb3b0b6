//! Tool calls of the scripted client: the events around them, permission, and what
//! the tools do.

use std::path::Path;

use remora_core::Permission;
use serde_json::{Value, json};

use super::super::{case, clock, heads, tools};
use super::{Client, Course, Delivered, Talk, ToolEnd};

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
        for call in calls {
            let id = call["id"].as_str().unwrap();
            let tools = self.tools.borrow();
            let result = tools.get(id).map(|end| end.result.clone());
            talk.messages.push(("user", result.unwrap_or_default()));
        }
        if course != Course::GoesOn {
            return course;
        }
        let made = calls.iter().map(|call| {
            let tools = self.tools.borrow();
            let result = tools
                .get(call["id"].as_str().unwrap())
                .map(|end| end.result.clone());
            json!({"tool_name": call["name"], "tool_input": call["input"],
                "tool_use_id": call["id"], "tool_response": result.unwrap_or_default()})
        });
        let own = json!({"tool_calls": made.collect::<Vec<_>>()});
        let fired = self.fire(Some(talk), "PostToolBatch", &own);
        self.take(talk, &fired);
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
        self.take(talk, &fired);
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
            defers: outcome.permission == Some(Permission::Defer)
                && !self.world.case.is_interactive(),
        }
    }

    /// The input if the call is allowed, and whether the run ends with it.
    fn ask(&self, talk: &mut Talk, call: &Value, input: Value) -> (Option<Value>, bool) {
        let own = json!({"tool_name": call["name"], "tool_input": input,
            "permission_suggestions": []});
        let fired = self.fire(Some(talk), "PermissionRequest", &own);
        self.take(talk, &fired);
        let outcome = fired.report.outcome;
        if outcome.permission.is_none() && self.world.case.is_interactive() {
            return match self.world.ask_user().as_deref() {
                Some("Enter" | "1" | "y") => (Some(input), false),
                Some("2") => {
                    let tool = call["name"].as_str().unwrap().to_owned();
                    self.allowed.borrow_mut().push(tool);
                    (Some(input), false)
                }
                _ => (None, true),
            };
        }
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
            if ready.defers {
                return Course::Ends("tool_deferred");
            }
            return Course::stopped(ready.stops);
        };
        let before = talk.cwd.clone();
        let watched = tools::list_contents(self.world);
        let Some(mut end) = self.run_tool(talk, call, input) else {
            return Course::Ends("");
        };
        tools::note_changes(self.world, watched);
        let mut own = json!({"tool_name": call["name"], "tool_input": input});
        let event = if end.succeeded {
            own["tool_response"] = end.response;
            own["tool_use_id"] = json!(id);
            "PostToolUse"
        } else {
            own["tool_use_id"] = json!(id);
            own["error"] = json!(end.text);
            own["is_interrupt"] = json!(false);
            "PostToolUseFailure"
        };
        own["duration_ms"] = json!(0);
        let fired = self.fire(Some(talk), event, &own);
        if let Some(output) = &fired.report.outcome.updated_output {
            end.text = show_output(output);
            talk.coming.push(Delivered {
                to: talk.kind(),
                request: 0,
                role: "user",
                text: end.text.clone(),
                notification: false,
            });
        }
        self.take(talk, &fired);
        // The end of a tool is known from the recorder alone.
        let ended = if self.world.recorded.get() {
            event
        } else {
            "none"
        };
        self.note_tool(&id, ended, end.text);
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

    /// What came out; `None` if it was interrupted.
    fn run_tool(&self, talk: &mut Talk, call: &Value, input: &Value) -> Option<ToolOutput> {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        Some(match call["name"].as_str().unwrap() {
            "Bash" => {
                let (succeeded, text) =
                    tools::run_bash(self.world, talk.cwd_mut(), text("command"))?;
                let stdout = text.strip_prefix("(Bash completed").map_or(&*text, |_| "");
                let response = json!({"stdout": stdout, "stderr": "", "interrupted": false,
                    "isImage": false, "noOutputExpected": false});
                ToolOutput::new(succeeded, text, response)
            }
            "Write" => {
                case::write_file(Path::new(text("file_path")), text("content"));
                let response = json!({"type": "create", "filePath": text("file_path"),
                    "content": text("content"), "structuredPatch": [], "originalFile": null,
                    "userModified": false});
                ToolOutput::new(true, "File created successfully".into(), response)
            }
            "Edit" => match std::fs::read_to_string(text("file_path")) {
                Ok(content) => {
                    let content = content.replacen(text("old_string"), text("new_string"), 1);
                    case::write_file(Path::new(text("file_path")), &content);
                    let response = json!({"filePath": text("file_path"),
                        "oldString": text("old_string"), "newString": text("new_string")});
                    ToolOutput::new(true, "The file has been updated".into(), response)
                }
                Err(error) => ToolOutput::new(false, error.to_string(), Value::Null),
            },
            "Read" => match std::fs::read_to_string(text("file_path")) {
                Ok(content) => {
                    let lines = content.lines().count() + 1;
                    let response = json!({"type": "text", "file": {
                        "filePath": text("file_path"), "content": content, "numLines": lines,
                        "startLine": 1, "totalLines": lines}});
                    ToolOutput::new(true, content, response)
                }
                Err(error) => ToolOutput::new(false, error.to_string(), Value::Null),
            },
            "Skill" => {
                self.use_skill(text("skill"));
                let response = json!({"success": true, "commandName": text("skill")});
                ToolOutput::new(true, "skill".into(), response)
            }
            "Agent" => {
                let said = self.run_agent(talk, text("prompt"), text("subagent_type"));
                let response = json!({"status": "completed", "prompt": text("prompt"),
                    "agentId": format!("agent{}", self.agents.get()),
                    "agentType": text("subagent_type"),
                    "content": [{"type": "text", "text": said}]});
                ToolOutput::new(true, said, response)
            }
            "TaskCreate" => self.create_task(talk, input),
            "TaskUpdate" => self.update_task(talk, input),
            // What it would do is of no interest here.
            _ => ToolOutput::new(true, "done".into(), json!("done")),
        })
    }

    fn create_task(&self, talk: &mut Talk, input: &Value) -> ToolOutput {
        let id = (self.tasks.borrow().len() + 1).to_string();
        let own = json!({"task_id": id, "task_subject": input["subject"],
            "task_description": input["description"]});
        let fired = self.fire(Some(talk), "TaskCreated", &own);
        self.take(talk, &fired);
        if fired.report.outcome.blocked {
            let why = fired.report.outcome.reason.unwrap_or_default();
            return ToolOutput::new(false, why, Value::Null);
        }
        self.tasks.borrow_mut().push(own);
        let made = json!({"id": id, "subject": input["subject"],
            "description": input["description"]});
        ToolOutput::new(true, format!("Task #{id} created"), json!({"task": made}))
    }

    fn update_task(&self, talk: &mut Talk, input: &Value) -> ToolOutput {
        let id = input["taskId"].as_str().unwrap_or_default();
        let at = id.parse::<usize>().unwrap_or(0).wrapping_sub(1);
        let Some(own) = self.tasks.borrow().get(at).cloned() else {
            return ToolOutput::new(true, "Task not found".into(), json!({"success": false}));
        };
        let mut error = Value::Null;
        if input["status"] == "completed" {
            let fired = self.fire(Some(talk), "TaskCompleted", &own);
            self.take(talk, &fired);
            if fired.report.outcome.blocked {
                error = fired.report.outcome.reason.into();
            }
        }
        let text = error.as_str().unwrap_or("Updated task").to_owned();
        let response = json!({"success": error.is_null(), "taskId": id, "updatedFields": [],
            "error": error});
        // The refusal is a result like any other.
        ToolOutput::new(true, text, response)
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
        self.take(&mut talk, &fired);
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
    defers: bool,
}

/// What a tool gave.
struct ToolOutput {
    succeeded: bool,
    /// What the model reads.
    text: String,
    /// What hooks read.
    response: Value,
}

impl ToolOutput {
    fn new(succeeded: bool, text: String, response: Value) -> Self {
        Self {
            succeeded,
            text,
            response,
        }
    }
}

/// A result that a hook wrote, as the model reads it.
fn show_output(output: &Value) -> String {
    match (output, output["stdout"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (_, Some(stdout)) => format!("{stdout}{}", output["stderr"].as_str().unwrap_or_default()),
        _ => output.to_string(),
    }
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
