//! A host that speaks JSON-RPC to the real program.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::messages::Messages;
use crate::sandbox::{Sandbox, gone};

/// Far above what any answer takes; a wait that reaches it hangs.
const WATCHDOG: Duration = Duration::from_mins(1);

/// A host, its server, and what the server has said and no wait has taken.
pub(crate) struct Host<'a> {
    sandbox: &'a Sandbox,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    kept: Vec<Value>,
    requests: u64,
    messages: Messages,
}

impl<'a> Host<'a> {
    pub(crate) fn start(sandbox: &'a Sandbox) -> Self {
        let mut child = sandbox
            .remora(&["hooks", "serve"])
            .command()
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let value = serde_json::from_str(&line.unwrap()).unwrap();
                if send.send(value).is_err() {
                    return;
                }
            }
        });
        Self {
            sandbox,
            stdin: child.stdin.take(),
            child,
            lines,
            kept: Vec::new(),
            requests: 0,
            messages: Messages::load(),
        }
    }

    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_line(request.to_string().as_bytes());
        self.messages.note_sent(id, request);
        id
    }

    /// The next message that fits; others are kept.
    pub(crate) fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&fits) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.lines.recv_timeout(WATCHDOG).unwrap();
            self.messages.check_received(&message);
            if fits(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// The next message, whatever it is.
    pub(crate) fn next(&mut self) -> Value {
        self.wait_for(|_| true)
    }

    pub(crate) fn wait_for_answer(&mut self, id: u64) -> Value {
        self.wait_for(|m| m["id"] == id && m.get("method").is_none())
    }

    pub(crate) fn wait_for_method(&mut self, method: &str) -> Value {
        self.wait_for(|m| m["method"] == method)
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.wait_for_answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) fn fail(&mut self, method: &str, params: &Value) -> (i64, Value) {
        let id = self.send(method, params);
        let answer = self.wait_for_answer(id);
        let error = &answer["error"];
        (
            error["code"].as_i64().unwrap(),
            error["data"]["key"].clone(),
        )
    }

    pub(crate) fn open_with(&mut self, more: &Value) -> String {
        let mut params = json!({"managed": self.sandbox.path("managed")});
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        let opened = self.ask("open", &params);
        opened["session"].as_str().unwrap().to_owned()
    }

    pub(crate) fn open(&mut self) -> String {
        self.open_with(&json!({}))
    }

    pub(crate) fn fire(&mut self, session: &str, event: &Value) -> Value {
        self.ask("fire", &json!({"session": session, "event": event}))
    }

    /// Its input ends: so does it, and it leaves nothing.
    pub(crate) fn hang_up(mut self) {
        self.stdin = None;
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.check_nothing_left();
    }

    /// It is killed, and leaves nothing either.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        assert_eq!(self.child.wait().unwrap().code(), None);
        self.check_nothing_left();
    }

    fn check_nothing_left(&self) {
        gone(self.sandbox);
        assert_eq!(self.sandbox.left_in_tmp(), Vec::<std::path::PathBuf>::new());
    }
}

impl Drop for Host<'_> {
    fn drop(&mut self) {
        // Ended already, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn event(name: &str, more: &Value) -> Value {
    let mut event = json!({"hook_event_name": name, "session_id": "s", "cwd": "/"});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    event
}

pub(crate) fn prompt(text: &str) -> Value {
    event("UserPromptSubmit", &json!({"prompt": text}))
}
