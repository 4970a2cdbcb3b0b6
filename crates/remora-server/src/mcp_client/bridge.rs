//! A server over streamable HTTP, made to look like one over pipes: each message
//! is a POST, and what comes back is a line. Blocking, in a thread of its own.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use remora_http::RunLookup;
use serde_json::{Value, json};
use tokio::net::unix::pipe;
use ureq::Agent;
use ureq::http::Response;

use super::{MAX_REPLY_BYTES, lock_end, note_end};

/// The session that the server gave at the start.
const SESSION_HEADER: &str = "mcp-session-id";
/// The version that both agreed on.
const VERSION_HEADER: &str = "mcp-protocol-version";
/// How long a goodbye may take.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(500);

/// Starts the thread. Must be called inside the runtime.
pub(super) fn start(
    url: &str,
    headers: &[(String, String)],
    latest: Arc<Mutex<Instant>>,
    ended: Arc<Mutex<Option<String>>>,
    run_lookup: RunLookup,
) -> io::Result<(pipe::Receiver, pipe::Sender)> {
    let (from_client, to_bridge) = io::pipe()?;
    let (from_bridge, to_client) = io::pipe()?;
    let bridge = Bridge {
        url: url.to_owned(),
        headers: headers.to_vec(),
        session: None,
        version: None,
        ended,
        latest,
        run_lookup,
        to_client,
    };
    std::thread::Builder::new().spawn(move || bridge.run(from_client))?;
    let writer = pipe::Sender::from_owned_fd(OwnedFd::from(to_bridge))?;
    let reader = pipe::Receiver::from_owned_fd(OwnedFd::from(from_bridge))?;
    Ok((reader, writer))
}

struct Bridge {
    url: String,
    headers: Vec<(String, String)>,
    session: Option<String>,
    version: Option<String>,
    /// Why the connection is over, once it is.
    ended: Arc<Mutex<Option<String>>>,
    latest: Arc<Mutex<Instant>>,
    run_lookup: RunLookup,
    to_client: PipeWriter,
}

impl Bridge {
    /// Until the client hangs up.
    fn run(mut self, from_client: PipeReader) {
        for line in BufReader::new(from_client).lines() {
            let Ok(line) = line else { break };
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            if let Err(why) = self.post(&line, &message) {
                // A request gets an answer in any case; a notification has none.
                if message.get("id").is_some() && message.get("method").is_some() {
                    let error = json!({
                        "jsonrpc": "2.0",
                        "id": message["id"],
                        "error": {"code": -32000, "message": why},
                    });
                    if self.hand_over(&error).is_err() {
                        break;
                    }
                }
            }
            if lock_end(&self.ended).is_some() {
                break;
            }
        }
        self.say_goodbye();
    }

    fn agent(&self, limit: Duration) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(limit))
            // The address was chosen by whoever configured the server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .build();
        remora_http::build_agent(config, self.run_lookup)
    }

    fn own_headers(&self) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        let mut add = |name: &str, value: &Option<String>| {
            headers.extend(value.clone().map(|value| (name.to_owned(), value)));
        };
        add(SESSION_HEADER, &self.session);
        add(VERSION_HEADER, &self.version);
        headers
    }

    fn post(&mut self, line: &str, message: &Value) -> Result<(), String> {
        let latest = *self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let left = latest.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err("no time is left".to_owned());
        }
        let mut request = self
            .agent(left)
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in self.own_headers() {
            request = request.header(name, value);
        }
        // The error's text may hold the address, and with it a key.
        let mut response = request
            .send(line)
            .map_err(|e| format!("the server cannot be reached ({})", describe_error(&e)))?;
        let status = response.status();
        if !status.is_success() {
            if status.as_u16() == 404 && self.session.take().is_some() {
                // Before the caller hears of it, so that its next call begins a new session.
                note_end(&self.ended, "the server forgot the session");
            }
            return Err(format!("the server answered {}", status.as_u16()));
        }
        if let Some(session) = header(&response, SESSION_HEADER) {
            self.session = Some(session);
        }
        let is_stream = header(&response, "content-type")
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let reader = response
            .body_mut()
            .with_config()
            .limit(MAX_REPLY_BYTES as u64)
            .reader();
        if is_stream {
            return self.read_stream(reader, message.get("id"));
        }
        let mut text = String::new();
        let mut reader = reader;
        reader
            .read_to_string(&mut text)
            .map_err(|_| "the answer cannot be read".to_owned())?;
        if text.trim().is_empty() {
            return Ok(());
        }
        let answer: Value =
            serde_json::from_str(&text).map_err(|_| "the answer is not JSON".to_owned())?;
        self.hand_over(&answer).map_err(|e| e.to_string())
    }

    /// Messages of a stream, until the answer to the request has come.
    fn read_stream(&mut self, reader: impl Read, id: Option<&Value>) -> Result<(), String> {
        let mut data = String::new();
        for line in BufReader::new(reader).lines() {
            let line = line.map_err(|_| "the answer was cut off".to_owned())?;
            if let Some(more) = line.strip_prefix("data:") {
                data.push_str(more.strip_prefix(' ').unwrap_or(more));
                data.push('\n');
            } else if line.is_empty() && !data.is_empty() {
                let message: Value =
                    serde_json::from_str(&data).map_err(|_| "the answer is not JSON".to_owned())?;
                data.clear();
                self.hand_over(&message).map_err(|e| e.to_string())?;
                if message.get("method").is_none() && message.get("id") == id {
                    return Ok(());
                }
            }
        }
        match id {
            Some(_) => Err("the answer was cut off".to_owned()),
            None => Ok(()),
        }
    }

    fn hand_over(&mut self, message: &Value) -> io::Result<()> {
        if let Some(version) = message["result"]["protocolVersion"].as_str() {
            self.version = Some(version.to_owned());
        }
        // One line, whatever the server's layout.
        writeln!(self.to_client, "{message}")
    }

    /// Lets the server forget the session.
    fn say_goodbye(&self) {
        if self.session.is_none() {
            return;
        }
        let mut request = self.agent(GOODBYE_TIMEOUT).delete(&self.url);
        for (name, value) in self.own_headers() {
            request = request.header(name, value);
        }
        // It forgets by itself otherwise.
        let _ = request.call();
    }
}

fn header(response: &Response<ureq::Body>, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

fn describe_error(error: &ureq::Error) -> &'static str {
    match error {
        ureq::Error::Timeout(_) => "timeout",
        ureq::Error::HostNotFound => "no such host",
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => "the address or a header is not valid",
        _ => "no connection",
    }
}
