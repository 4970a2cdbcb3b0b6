//! Acceptance tests that any memory for agents can be held to, by family. Each
//! goes through the program as agents and users run it, and holds beside what
//! must be absent something that must be there: silence alone proves nothing.
//! `docs/acceptance.md` says what each one shows and what it does not.

mod correction;
mod deletion;
mod evidence;
mod gateway;
mod prompt;
mod retrieval;
mod scope;
mod tombstone;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::den::Den;
use crate::mcp;
use crate::sandbox::{Call, Done};

/// A data directory, and projects that share it.
pub(crate) struct World {
    pub(crate) den: Den,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { den: Den::new() };
        // What rows mean takes long to work out, and only one test asks.
        world.configure("search.model = \"off\"\n");
        world
    }

    /// The settings, as a whole.
    pub(crate) fn configure(&self, settings: &str) {
        let file = self.den.paths.config_file();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, settings).unwrap();
    }

    /// A checkout of a remote of its own.
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        let sandbox = &self.den.sandbox;
        sandbox.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        let config = format!("[remote \"origin\"]\nurl = https://{}.git\n", key_of(name));
        sandbox.write(&format!("{name}/.git/config"), config);
        sandbox.path(name)
    }

    /// The answer of a hook to an event of a session in this folder.
    pub(crate) fn tell(&self, session: &str, folder: &Path, name: &str, rest: Value) -> Value {
        // The same event again has the same ids, as when a client tries again.
        let id = remora_core::hash::stable_hash(format!("{session} {name} {rest}").as_bytes());
        let mut event = json!({
            "session_id": session, "transcript_path": "/t", "cwd": folder,
            "hook_event_name": name,
            "prompt_id": format!("p{id:x}"), "tool_use_id": format!("t{id:x}"),
        });
        let Value::Object(rest) = rest else { panic!() };
        event.as_object_mut().unwrap().extend(rest);
        let done = self.den.hook(event.to_string());
        // What a summary should keep is plain text.
        serde_json::from_str(&done.raw).unwrap_or_else(|_| json!({ "plain": done.raw }))
    }

    /// The text that the model gets for an event; empty for none.
    pub(crate) fn injected(&self, session: &str, folder: &Path, name: &str, rest: Value) -> String {
        let answer = self.tell(session, folder, name, rest);
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
        text.unwrap_or_default().to_owned()
    }

    /// A prompt, and what it brings back.
    pub(crate) fn prompt(&self, session: &str, folder: &Path, text: &str) -> String {
        self.injected(
            session,
            folder,
            "UserPromptSubmit",
            json!({ "prompt": text }),
        )
    }

    /// A session that begins, and what it is given.
    pub(crate) fn start(&self, session: &str, folder: &Path) -> String {
        self.injected(
            session,
            folder,
            "SessionStart",
            json!({ "source": "startup" }),
        )
    }

    /// A session of one prompt, ended by these words of the agent.
    pub(crate) fn session(&self, session: &str, folder: &Path, prompt: &str, said: &str) {
        self.tell(
            session,
            folder,
            "SessionStart",
            json!({ "source": "startup" }),
        );
        self.prompt(session, folder, prompt);
        let rest = json!({ "stop_hook_active": false, "last_assistant_message": said });
        self.tell(session, folder, "Stop", rest);
    }

    /// A command that ran and what it printed.
    pub(crate) fn ran(&self, session: &str, folder: &Path, command: &str, printed: &str) {
        let rest = json!({
            "tool_name": "Bash", "tool_input": { "command": command },
            "tool_response": { "stdout": printed, "stderr": "" },
        });
        self.tell(session, folder, "PostToolUse", rest);
    }

    /// `remora ARGS` in this folder.
    pub(crate) fn cli(&self, folder: &Path, args: &[&str]) -> Call<'_> {
        self.den
            .remora(args)
            .inside(folder)
            .environment("TZ", "UTC")
    }

    /// The same, made; it must succeed.
    pub(crate) fn go(&self, folder: &Path, args: &[&str]) -> Done {
        let done = self.cli(folder, args).go();
        assert_eq!(done.code, Some(0), "{done}");
        done
    }

    /// The same with `--json`.
    pub(crate) fn json(&self, folder: &Path, args: &[&str]) -> Value {
        let (done, value) = self.cli(folder, args).json();
        assert_eq!(done.code, Some(0), "{done}");
        value
    }

    /// A call of an MCP tool by a session in this folder: its text, and whether
    /// it is an error.
    pub(crate) fn mcp(&self, folder: &Path, tool: &str, arguments: &Value) -> (String, bool) {
        let call = self.cli(folder, &["mcp"]);
        let call = call.environment("CLAUDE_PROJECT_DIR", folder.display().to_string());
        mcp::ask(call, tool, arguments)
    }

    /// Items that a search in this folder finds.
    pub(crate) fn search(&self, folder: &Path, args: &[&str]) -> Vec<Value> {
        let args = [&["search"], args].concat();
        let found = self.json(folder, &args);
        found["results"].as_array().unwrap().clone()
    }

    /// The number of the only item of this kind with these words.
    pub(crate) fn number(&self, folder: &Path, kind: &str, words: &str) -> String {
        let found = self.search(folder, &[words, "--kind", kind]);
        let numbers: Vec<String> = found
            .iter()
            .map(|item| format!("#{}", item["id"]))
            .collect();
        assert_eq!(numbers.len(), 1, "{kind} {words}: {found:#?}");
        numbers.concat()
    }

    /// Brings a transcript in.
    pub(crate) fn import(&self, folder: &Path, transcript: &str) -> Value {
        let file = folder.join("transcript.jsonl");
        fs::write(&file, transcript).unwrap();
        let agent = remora_agents::known_names()[0];
        let file = file.display().to_string();
        self.json(folder, &["import", agent, &file, "--no-vectors"])
    }

    /// Every line of an export.
    pub(crate) fn export(&self) -> Vec<Value> {
        let folder = self.den.sandbox.path("project");
        let done = self.go(&folder, &["export", "--events"]);
        let lines = done
            .raw
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    /// Items of an export.
    pub(crate) fn items(&self) -> Vec<Value> {
        let lines = self.export();
        lines
            .iter()
            .filter_map(|line| line.get("item").cloned())
            .collect()
    }

    /// Everything that an agent in this folder gets to see of memory, by the way
    /// that it takes. The question must not hold what is looked for.
    pub(crate) fn reads(
        &self,
        folder: &Path,
        session: &str,
        question: &str,
    ) -> Vec<(String, String)> {
        let mut reads = vec![
            (
                "start".to_owned(),
                self.start(&format!("{session}-start"), folder),
            ),
            (
                "prompt".to_owned(),
                self.prompt(&format!("{session}-prompt"), folder, question),
            ),
        ];
        // A subagent is briefed on what was asked last, as far as that is stored.
        self.den.drain();
        let brief = json!({ "agent_id": "x", "agent_type": "general-purpose" });
        let brief = self.injected(&format!("{session}-prompt"), folder, "SubagentStart", brief);
        reads.push(("subagent".to_owned(), brief));
        for verb in ["timeline", "recap", "sessions", "context", "folders"] {
            let shown = self.go(folder, &[verb]);
            reads.push((verb.to_owned(), shown.raw));
        }
        let shown = self.go(folder, &["context", "--prompt", question]);
        reads.push(("context --prompt".to_owned(), shown.raw));
        let found = self.go(folder, &["search", question, "--json"]);
        reads.push(("search".to_owned(), found.raw));
        for (tool, arguments) in [
            ("search", json!({ "query": question })),
            ("timeline", json!({ "limit": 50 })),
        ] {
            let (text, error) = self.mcp(folder, tool, &arguments);
            assert!(!error, "{tool}: {text}");
            reads.push((format!("mcp {tool}"), text));
        }
        reads
    }
}

/// The key of a project's memory.
pub(crate) fn key_of(name: &str) -> String {
    format!("example.org/acme/{name}")
}

/// The ways of reading that show this word.
pub(crate) fn showing(reads: &[(String, String)], term: &str) -> Vec<String> {
    let shows = reads.iter().filter(|(_, text)| text.contains(term));
    shows.map(|(way, _)| way.clone()).collect()
}

/// A transcript of a session with these prompts, each answered by one word.
pub(crate) fn transcript(folder: &Path, session: &str, prompts: &[&str]) -> String {
    let mut lines = String::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let answer = json!([{ "type": "text", "text": "Noted." }]);
        for (part, kind, message) in [
            (0, "user", json!({ "role": "user", "content": prompt })),
            (
                1,
                "assistant",
                json!({ "id": format!("m{n}"), "content": answer, "stop_reason": "end_turn" }),
            ),
        ] {
            let line = json!({
                "type": kind, "message": message, "cwd": folder, "gitBranch": "main",
                "sessionId": session, "promptId": format!("p{n}"),
                "uuid": format!("00000000-0000-4000-8000-{n:08}000{part}"),
                "timestamp": format!("2026-11-10T09:{n:02}:{part:02}.000Z"),
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
    }
    lines
}
