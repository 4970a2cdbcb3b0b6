//! How fast transcripts are imported: made-up sessions in the lines that the
//! client writes, read by the real program into an empty store.
//!
//! `cargo bench -p remora-cli --bench import -- 200` takes so many megabytes;
//! a path after it keeps the transcripts there.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(clippy::cast_precision_loss, reason = "figures")]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use remora_core::time::format_rfc3339;
use remora_memory::testing::generator::{Generator, Made};
use serde_json::{Value, json};

const MB: f64 = 1_000_000.0;

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let asked = std::env::args().find_map(|a| a.parse::<u64>().ok());
    let wanted = asked.unwrap_or(if quick { 1 } else { 50 }) * 1_000_000;
    let dir = tempfile::tempdir().unwrap();
    let kept = std::env::args().skip(1).find(|a| a.starts_with('/'));
    let home = kept.as_deref().map_or(dir.path(), Path::new);
    let written = Transcripts::new(home).write(wanted);
    fs::create_dir_all(home.join("data")).unwrap();
    // No worker is to go on in the background.
    fs::write(
        home.join("data/config.toml"),
        "[search]\nbackground = false\n",
    )
    .unwrap();
    let agent = remora_agents::known_names()[0];
    for round in ["all of it", "again, known"] {
        if round != "all of it" {
            fs::remove_dir_all(home.join("data/import")).unwrap();
        }
        let started = Instant::now();
        let done = Command::new(env!("CARGO_BIN_EXE_remora"))
            .args(["import", agent, "--no-vectors", "--json"])
            .env("HOME", home)
            .env("REMORA_HOME", home.join("data"))
            .output()
            .unwrap();
        let took = started.elapsed().as_secs_f64();
        assert!(done.status.success(), "{done:?}");
        println!(
            "{round}: {:.1} MB in {took:.2} s, {:.1} MB/s\n  {}",
            written as f64 / MB,
            written as f64 / MB / took,
            String::from_utf8_lossy(&done.stdout).trim_end()
        );
    }
}

/// Writes events as the lines of transcripts.
struct Transcripts {
    folder: std::path::PathBuf,
    out: Option<BufWriter<File>>,
    session: String,
    lines: u64,
    bytes: u64,
}

impl Transcripts {
    fn new(home: &Path) -> Self {
        let folder = home.join(".claude/projects/-work-app");
        fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            out: None,
            session: String::new(),
            lines: 0,
            bytes: 0,
        }
    }

    fn write(mut self, wanted: u64) -> u64 {
        for made in Generator::new(7) {
            if self.bytes > wanted {
                break;
            }
            self.event(&made);
        }
        self.bytes
    }

    fn event(&mut self, made: &Made) {
        let event = &made.event;
        let session = event["session_id"].as_str().unwrap();
        if self.session != session {
            session.clone_into(&mut self.session);
            let file = File::create(self.folder.join(format!("{session}.jsonl"))).unwrap();
            self.out = Some(BufWriter::new(file));
        }
        let message = self.lines;
        let assistant = |content: Value, stop: &str| {
            json!({"type": "assistant", "message": {
                "id": format!("msg_{message}"), "type": "message", "role": "assistant",
                "model": "a-model", "content": content, "stop_reason": stop, "stop_sequence": null,
                "usage": {"input_tokens": 100, "cache_creation_input_tokens": 0,
                    "cache_read_input_tokens": 81_234, "output_tokens": 20, "service_tier": "standard"},
            }, "requestId": "req_a030197421424a638199"})
        };
        match event["hook_event_name"].as_str().unwrap() {
            "UserPromptSubmit" => {
                let words = json!({"role": "user", "content": event["prompt"]});
                self.line(
                    made,
                    json!({"type": "user", "message": words, "promptId": event["prompt_id"]}),
                );
            }
            "Stop" => {
                let text = json!([{"type": "text", "text": event["last_assistant_message"]}]);
                self.line(made, assistant(text, "end_turn"));
            }
            "PostToolUse" | "PostToolUseFailure" => {
                let id = &event["tool_use_id"];
                let call = json!([{"type": "tool_use", "id": id, "name": event["tool_name"], "input": event["tool_input"]}]);
                self.line(made, assistant(call, "tool_use"));
                let (shown, result, failed) = match event.get("error") {
                    Some(error) => {
                        let text = error.as_str().unwrap();
                        (text.to_owned(), json!(format!("Error: {text}")), true)
                    }
                    None => (
                        shown(&event["tool_response"]),
                        event["tool_response"].clone(),
                        false,
                    ),
                };
                let content = json!([{"tool_use_id": id, "type": "tool_result", "content": shown, "is_error": failed}]);
                self.line(
                    made,
                    json!({
                        "type": "user", "message": {"role": "user", "content": content},
                        "promptId": event["prompt_id"], "toolUseResult": result,
                    }),
                );
            }
            _ => {}
        }
    }

    fn line(&mut self, made: &Made, mut line: Value) {
        self.lines += 1;
        let n = self.lines;
        let more = json!({
            "parentUuid": format!("00000000-0000-4000-8000-{:012}", n - 1), "isSidechain": false,
            "uuid": format!("00000000-0000-4000-8000-{n:012}"), "timestamp": format_rfc3339(made.time),
            "userType": "external", "entrypoint": "cli", "cwd": made.event["cwd"],
            "sessionId": self.session, "version": "2.1.325", "gitBranch": made.branch,
        });
        let line_map = line.as_object_mut().unwrap();
        line_map.extend(more.as_object().unwrap().clone());
        let text = line.to_string();
        self.bytes += text.len() as u64 + 1;
        writeln!(self.out.as_mut().unwrap(), "{text}").unwrap();
    }
}

/// What the model is shown of a response, about.
fn shown(response: &Value) -> String {
    let file = response.get("file").and_then(|file| file.get("content"));
    let text = file
        .or_else(|| response.get("stdout"))
        .and_then(Value::as_str);
    text.map_or_else(|| "The file has been updated.".to_owned(), str::to_owned)
}
