//! Whatever a host sends, the server answers what can be answered, in its own
//! format, and ends with its input.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use remora_hooks::{Engine, EngineOptions, Host, Session, SessionOptions, SettingsPaths};
use remora_hooks_rpc::{OpenError, OpenRequest, Opened, Opener, SessionHost, serve};
use serde_json::Value;

use crate::fuzzing::{edit_text, fuzz};

/// Opens sessions in an empty folder. No text that a fuzzer makes up is a command here:
/// there are no settings, and no request of these seeds brings a handler that is a
/// program.
struct EmptyOpener(PathBuf);

struct NoHost;

impl SessionHost for NoHost {
    fn lend(&self) -> Host<'_> {
        Host::default()
    }

    fn follow_reload(&self, _: &Engine) -> Vec<String> {
        Vec::new()
    }
}

impl Opener for EmptyOpener {
    fn open(&self, request: OpenRequest) -> Result<Opened, OpenError> {
        let places = SettingsPaths::new(self.0.join("app"), self.0.join("home"));
        let options = SessionOptions {
            engine: EngineOptions::default(),
            attendance: request.attendance,
            ..SessionOptions::default()
        };
        let session = match request.state {
            Some(state) => Session::resume(*state, places, options),
            None => Session::open(places, options),
        };
        Ok(Opened {
            session: session.map_err(|error| OpenError::Failed(error.to_string()))?,
            host: Box::new(NoHost),
            warnings: Vec::new(),
        })
    }
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const OPEN: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"open","params":{"attendance":"streaming"}}"#;
const REQUESTS: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"open","params":{"project":"/a","home":"/b","attendance":"interactive","trusted":true,"environment":{"A":"b","C":null},"memory":false,"observe_handlers":true}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"open","params":{"state":{"phase":"idle","cwd":"/p","main_stops":{"active":false,"blocks":0},"agent_stops":{},"pending":[{"text":"t"},{"wake":{"text":"w","prompt":"p"}}],"handed":null,"watch":{"static_names":["a"],"dynamic":["b"]},"env_files":{"files":[]},"hooks":{"list":[]},"fired":7}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"fire","params":{"session":"s1","event":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t","cwd":"/p"},"timeout_seconds":1}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"fire","params":{"session":"s1","event":{"hook_event_name":"UserPromptSubmit","prompt":"p"},"conversation":[{"role":"user","text":"t"}]}}"#,
    r#"{"jsonrpc":"2.0","id":"six","method":"fire","params":{"session":"s1","event":{"hook_event_name":"Stop"}}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"preview","params":{"session":"s1","event":{"hook_event_name":"SessionStart","source":"startup"}}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"take_deliveries","params":{"session":"s1","point":"next_request"}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"end_turn","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"status","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"snapshot","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","id":12,"method":"reload","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","id":13,"method":"register_callback","params":{"session":"s1","id":"c","event":"PreToolUse","matcher":"Bash|Edit","timeout_seconds":0.01}}"#,
    r#"{"jsonrpc":"2.0","id":14,"method":"remove_callback","params":{"session":"s1","id":"c"}}"#,
    r#"{"jsonrpc":"2.0","id":15,"method":"add_skill","params":{"session":"s1","name":"n","hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"p","once":true}]}]},"origin":"project"}}"#,
    r#"{"jsonrpc":"2.0","id":16,"method":"add_hooks","params":{"session":"s1","name":"n","hooks":{"PreToolUse":[{"matcher":"(a+)+$","hooks":[{"type":"mcp_tool","server":"s","tool":"t"}]}]}}}"#,
    r#"{"jsonrpc":"2.0","id":17,"method":"remove_hooks","params":{"session":"s1","name":"n"}}"#,
    r#"{"jsonrpc":"2.0","id":18,"method":"add_agent","params":{"session":"s1","agent_id":"a","name":"n","hooks":{"Stop":[{"hooks":[{"type":"agent","prompt":"p"}]}]}}}"#,
    r#"{"jsonrpc":"2.0","id":19,"method":"remove_agent","params":{"session":"s1","agent_id":"a"}}"#,
    r#"{"jsonrpc":"2.0","id":20,"method":"list_watched_paths","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","id":21,"method":"describe_change","params":{"session":"s1","path":"/p/a","kind":"change"}}"#,
    r#"{"jsonrpc":"2.0","id":22,"method":"close","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","method":"end_turn","params":{"session":"s1"}}"#,
    r#"{"jsonrpc":"2.0","id":"c1","result":{"decision":"block","reason":"r"}}"#,
    r#"{"jsonrpc":"2.0","id":"c2","error":{"code":1,"message":"m"}}"#,
];
const WORDS: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e999",
    "99999999999999999999",
    "\"\"",
    "\"id\":",
    "\"method\":",
    "\"params\":{",
    "\"session\":\"s1\"",
    "\"s2\"",
    "\"result\":",
    "\"error\":",
    "\"jsonrpc\":\"2.0\"",
    "\"event\":{",
    "\"hook_event_name\":\"Stop\"",
    "\"PreToolUse\"",
    "\"fire\"",
    "\"open\"",
    "\"close\"",
    "\"state\":{",
    "\"agent_id\":\"a\"",
    "\"timeout_seconds\":",
    "\\u0000",
    "\\ud800",
    "\u{feff}",
    "\"watch\":true",
    "\r",
    "\t",
    "[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
];

fn lines() -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![
        4 => prop::sample::select(REQUESTS).prop_map(str::to_owned),
        8 => edit_text(REQUESTS, WORDS),
        1 => any::<String>(),
    ];
    (prop::collection::vec(line, 0..12), any::<bool>()).prop_map(|(mut lines, opens)| {
        if opens {
            lines.insert(0, OPEN.to_owned());
        }
        lines
    })
}

/// How many answers each request must have and may have. One that begins an event may
/// outlive its host, which then reads no answer.
fn count_expected(text: &str) -> BTreeMap<String, (usize, usize)> {
    let mut counts = BTreeMap::new();
    for line in text.split('\n') {
        let Ok(Value::Object(line)) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let id = line.get("id").unwrap_or(&Value::Null);
        let is_request = line.get("jsonrpc") != Some(&Value::from("2.0"))
            || line.contains_key("method")
            || !(line.contains_key("result") || line.contains_key("error"));
        if (id.is_string() || id.is_i64() || id.is_u64()) && is_request {
            let (least, most) = counts.entry(id.to_string()).or_insert((0, 0));
            let may_be_late = line.get("method") == Some(&Value::from("fire"));
            *least += usize::from(!may_be_late);
            *most += 1;
        }
    }
    counts
}

#[test]
fn fuzz_requests() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fuzz("requests", &lines(), |lines| {
        let text = lines.join("\n");
        let kept = Kept::default();
        let opener = EmptyOpener(folder.path().to_owned());
        let input = Cursor::new(text.clone().into_bytes());
        serve(input, Box::new(kept.clone()), Box::new(opener)).unwrap();
        let written = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        for line in written.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["jsonrpc"], "2.0", "{line}");
            // A request of ours has a method: it asks the host for a callback.
            if line.get("method").is_none() {
                let has = |key: &str| usize::from(line.get(key).is_some());
                assert_eq!(has("result") + has("error"), 1, "{line}");
                *answers.entry(line["id"].to_string()).or_default() += 1;
            }
        }
        answers.remove("null");
        let expected = count_expected(&text);
        for (id, (least, most)) in &expected {
            let found = answers.get(id).copied().unwrap_or_default();
            assert!((*least..=*most).contains(&found), "{id}: {found} answers");
        }
        let known = |id: &String| expected.contains_key(id);
        assert!(
            answers.keys().all(known),
            "an answer to nothing: {answers:?}"
        );
    });
}
