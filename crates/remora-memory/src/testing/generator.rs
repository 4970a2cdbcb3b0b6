//! Made-up days of work: events as an agent sends them, the same for the same
//! seed. Sessions of turns with prompts, commands of every sort that is
//! understood, files that are read, written and edited (and remembered, so a
//! file that is read again is the file that was edited), failures and their
//! fixes, and last messages. For measuring; nothing here judges.

mod chance;
mod code;
mod commands;
mod talk;

use remora_core::record::Project;
use serde_json::{Value, json};

use chance::Dice;
use code::SourceFile;
use commands::{Outputs, Run};

/// The first event's time.
const START: i64 = 1_794_700_000_000;
const PROJECTS: usize = 6;
const FILES: usize = 70;

/// One event, and what a hook finds out about it.
#[derive(Debug, Clone)]
pub struct Made {
    /// When it was captured, in milliseconds since 1970.
    pub time: i64,
    /// Where.
    pub project: Project,
    /// The branch.
    pub branch: String,
    /// The payload.
    pub event: Value,
}

/// Makes events for as long as they are asked for.
#[derive(Debug)]
pub struct Generator {
    dice: Dice,
    outputs: Outputs,
    projects: Vec<Workplace>,
    session: Session,
    /// Events of the turn, last first.
    ahead: Vec<Value>,
    time: i64,
    calls: u64,
}

#[derive(Debug)]
struct Workplace {
    project: Project,
    files: Vec<SourceFile>,
}

#[derive(Debug, Default)]
struct Session {
    id: String,
    place: usize,
    turns: u64,
    prompt: String,
    branch: String,
}

impl Generator {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let projects = (0..PROJECTS)
            .map(|n| Workplace::new(&mut dice, n))
            .collect();
        Self {
            outputs: Outputs::new(),
            projects,
            session: Session::default(),
            ahead: Vec::new(),
            time: START,
            calls: 0,
            dice,
        }
    }

    fn begin(&mut self) {
        let dice = &mut self.dice;
        self.session = Session {
            id: dice.uuid(),
            place: dice.rank(PROJECTS),
            turns: 1 + dice.below(8),
            prompt: String::new(),
            branch: match dice.below(3) {
                0 => format!("feature/{}-{}", dice.word(), dice.word()),
                _ => "main".to_owned(),
            },
        };
        self.ahead
            .push(json!({"hook_event_name": "SessionStart", "source": "startup"}));
    }

    fn turn(&mut self) {
        self.session.turns -= 1;
        self.session.prompt = self.dice.uuid();
        let request = talk::prompt(&mut self.dice);
        let mut events = vec![json!({
            "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit",
            "prompt": request,
        })];
        for _ in 0..2 + self.dice.below(14) {
            self.step(&mut events);
        }
        events.push(json!({
            "permission_mode": "default",
            "effort": {"level": "medium"},
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": talk::message(&mut self.dice),
            "background_tasks": [],
            "session_crons": [],
        }));
        if self.session.turns == 0 {
            events.push(json!({"hook_event_name": "SessionEnd", "reason": "prompt_input_exit"}));
        }
        events.reverse();
        self.ahead = events;
    }

    /// One thing that an agent does, in one or several calls.
    fn step(&mut self, events: &mut Vec<Value>) {
        match self.dice.below(100) {
            0..26 => {
                let run = self.outputs.any(&mut self.dice);
                events.push(self.bash(&run));
            }
            26..32 => {
                let run = self.shell();
                events.push(self.bash(&run));
            }
            32..58 => events.push(self.read()),
            58..76 => events.push(self.edit()),
            76..80 => events.push(self.write()),
            80..86 => events.push(self.grep()),
            86..90 => self.fix_failure(events),
            90..94 => events.push(self.server()),
            94..96 => events.push(self.missing()),
            96..98 => {
                let text = talk::message(&mut self.dice);
                events.push(json!({
                    "permission_mode": "default",
                    "hook_event_name": "SubagentStop",
                    "agent_id": self.dice.hex(17),
                    "agent_type": "general-purpose",
                    "stop_hook_active": false,
                    "last_assistant_message": text,
                }));
            }
            _ => {
                let item = talk::sentence(&mut self.dice);
                let input = json!({"todos": [{"content": item, "status": "in_progress"}]});
                events.push(self.call("TodoWrite", &input, &json!({"oldTodos": []})));
            }
        }
    }

    /// A command fails, something is edited, the same command passes.
    fn fix_failure(&mut self, events: &mut Vec<Value>) {
        let (failed, passed) = self.outputs.pair(&mut self.dice);
        events.push(self.bash(&failed));
        for _ in 0..=self.dice.below(2) {
            events.push(self.edit());
        }
        events.push(self.bash(&passed));
    }

    fn bash(&mut self, run: &Run) -> Value {
        let input = json!({
            "command": run.command,
            "description": talk::sentence(&mut self.dice),
        });
        if run.failed {
            let error = format!("Exit code 1\n{}", run.output);
            return self.failure("Bash", &input, &error);
        }
        let response = json!({
            "stdout": run.output, "stderr": "", "interrupted": false,
            "isImage": false, "noOutputExpected": false,
        });
        self.call("Bash", &input, &response)
    }

    /// Commands whose output is nothing in particular.
    fn shell(&mut self) -> Run {
        let (dice, place) = (&mut self.dice, &self.projects[self.session.place]);
        let root = &place.project.root;
        match dice.below(4) {
            0 => Run::passed("ls -la", commands::listing(dice, &place.files)),
            1 => {
                let file = &place.files[dice.rank(FILES)];
                let shown: Vec<&str> = file.text.lines().take(120).collect();
                Run::passed(
                    &format!("sed -n 1,120p {root}/{}", file.path),
                    shown.join("\n"),
                )
            }
            2 => Run::passed("env | sort | head -40", commands::variables(dice)),
            _ => Run::passed("./scripts/serve --once", commands::server_log(dice)),
        }
    }

    fn read(&mut self) -> Value {
        let (path, text) = self.file();
        let lines = text.lines().count() + 1;
        let response = json!({"type": "text", "file": {
            "filePath": path, "content": text,
            "numLines": lines, "startLine": 1, "totalLines": lines,
        }});
        self.call("Read", &json!({"file_path": path}), &response)
    }

    fn file(&mut self) -> (String, String) {
        let place = &self.projects[self.session.place];
        let file = &place.files[self.dice.rank(FILES)];
        (
            format!("{}/{}", place.project.root, file.path),
            file.text.clone(),
        )
    }

    fn edit(&mut self) -> Value {
        let place = &mut self.projects[self.session.place];
        let file = &mut place.files[self.dice.rank(FILES)];
        let original = file.text.clone();
        let change = file.change(&mut self.dice);
        let path = format!("{}/{}", place.project.root, file.path);
        let input = json!({
            "file_path": path, "old_string": change.old,
            "new_string": change.new, "replace_all": false,
        });
        let response = json!({
            "filePath": path, "oldString": change.old, "newString": change.new,
            "originalFile": original, "structuredPatch": [change.patch],
            "userModified": false, "replaceAll": false,
        });
        self.call("Edit", &input, &response)
    }

    /// A new file in the place of an old one of the same project.
    fn write(&mut self) -> Value {
        let place = &mut self.projects[self.session.place];
        let file = SourceFile::new(&mut self.dice);
        let path = format!("{}/{}", place.project.root, file.path);
        let input = json!({"file_path": path, "content": file.text});
        let response = json!({
            "type": "create", "filePath": path, "content": file.text,
            "structuredPatch": [], "originalFile": null, "userModified": false,
        });
        place.files[FILES / 2 + self.dice.rank(FILES / 2)] = file;
        self.call("Write", &input, &response)
    }

    fn grep(&mut self) -> Value {
        let place = &self.projects[self.session.place];
        let word = self.dice.word();
        let found: Vec<String> = place
            .files
            .iter()
            .flat_map(|file| {
                let hits = file.text.lines().enumerate();
                hits.filter(|(_, line)| line.contains(word))
                    .map(|(n, line)| format!("{}:{}:{line}", file.path, n + 1))
            })
            .take(60)
            .collect();
        let input = json!({"pattern": word, "output_mode": "content", "-n": true});
        let response = json!({
            "mode": "content", "numFiles": 0, "filenames": [],
            "content": found.join("\n"), "numLines": found.len(),
        });
        self.call("Grep", &input, &response)
    }

    /// A call of another server's tool.
    fn server(&mut self) -> Value {
        let text = talk::message(&mut self.dice);
        let number = self.dice.below(4000);
        let input = json!({"owner": "acme", "repo": "shop", "issue_number": number});
        self.call(
            "mcp__github__get_issue",
            &input,
            &json!([{"type": "text", "text": text}]),
        )
    }

    fn missing(&mut self) -> Value {
        let (path, _) = self.file();
        let path = path.replace("src/", "src/old/");
        self.failure(
            "Read",
            &json!({"file_path": path}),
            "File does not exist. Note: your current working directory is the project's root.",
        )
    }

    fn call(&mut self, tool: &str, input: &Value, response: &Value) -> Value {
        let mut event = called("PostToolUse", tool, input);
        event["tool_response"] = response.clone();
        event["tool_use_id"] = self.call_id().into();
        event["duration_ms"] = self.dice.below(4000).into();
        event
    }

    fn failure(&mut self, tool: &str, input: &Value, error: &str) -> Value {
        let mut event = called("PostToolUseFailure", tool, input);
        event["tool_use_id"] = self.call_id().into();
        event["error"] = error.into();
        event["is_interrupt"] = false.into();
        event["duration_ms"] = self.dice.below(4000).into();
        event
    }

    fn call_id(&mut self) -> String {
        self.calls += 1;
        format!("toolu_{}{:06x}", self.dice.hex(18), self.calls)
    }
}

impl Iterator for Generator {
    type Item = Made;

    fn next(&mut self) -> Option<Made> {
        if self.ahead.is_empty() {
            if self.session.turns == 0 {
                self.begin();
            } else {
                self.turn();
            }
        }
        let rest = self.ahead.pop()?;
        self.time += 50 + i64::try_from(self.dice.below(9000)).unwrap_or_default();
        let Session {
            id, place, prompt, ..
        } = &self.session;
        let project = &self.projects[*place].project;
        let folder = project.root.replace('/', "-");
        let mut event = json!({
            "session_id": id,
            "transcript_path": format!("/home/dev/.agent/projects/{folder}/{id}.jsonl"),
            "cwd": project.root,
        });
        if !prompt.is_empty() {
            event["prompt_id"] = prompt.as_str().into();
        }
        if let (Value::Object(all), Value::Object(rest)) = (&mut event, rest) {
            all.extend(rest);
        }
        Some(Made {
            time: self.time,
            project: project.clone(),
            branch: self.session.branch.clone(),
            event,
        })
    }
}

fn called(name: &str, tool: &str, input: &Value) -> Value {
    json!({
        "permission_mode": "default", "effort": {"level": "medium"},
        "hook_event_name": name, "tool_name": tool, "tool_input": input,
    })
}

impl Workplace {
    fn new(dice: &mut Dice, n: usize) -> Self {
        let name = format!("{}-{n}", dice.word());
        Self {
            project: Project {
                key: format!("git.example.org/acme/{name}").into(),
                root: format!("/home/dev/{name}"),
                name,
            },
            files: (0..FILES).map(|_| SourceFile::new(dice)).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
