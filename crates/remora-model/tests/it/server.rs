//! A scripted model server on loopback: each connection gets the next reply, and
//! what was asked is kept.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::Value;

/// What one request gets.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// A whole answer.
    Full(u16, Vec<(&'static str, String)>, String),
    /// The head promises more than is sent before the connection closes.
    Truncated(String),
    /// One byte at a time.
    Dribbled(String),
    /// Nothing at all; the connection stays open.
    Silent,
    /// The beginning of an answer; then the connection stays open.
    Stuck(String),
}

impl Reply {
    pub(crate) fn ok(body: &Value) -> Self {
        Self::Full(200, Vec::new(), body.to_string())
    }

    pub(crate) fn text(body: &str) -> Self {
        Self::Full(200, Vec::new(), body.to_owned())
    }

    pub(crate) fn status(status: u16, headers: &[(&'static str, &str)]) -> Self {
        let headers = headers.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        let body = r#"{"error": {"type": "t", "message": "the provider's words"}}"#;
        Self::Full(status, headers, body.to_owned())
    }
}

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves these replies, the last one again and again.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let (kept, stop) = (Arc::clone(&asked), Arc::clone(&ended));
        let thread = std::thread::spawn(move || {
            // Connections that were left open close with the server.
            let mut open = Vec::new();
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(mut stream) = stream else { continue };
                let Some(request) = read_request(&mut stream) else {
                    continue;
                };
                let mut asked = kept.lock().unwrap();
                let reply = &replies[asked.len().min(replies.len() - 1)];
                asked.push(request);
                drop(asked);
                // A client may hang up before it has read everything.
                let _ = answer(&mut stream, reply);
                if matches!(reply, Reply::Silent | Reply::Stuck(_)) {
                    open.push(stream);
                }
            }
        });
        Self {
            port,
            asked,
            ended,
            thread: Some(thread),
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes the thread up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 8192];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut asked = Asked {
        head,
        body: Value::Null,
    };
    let length: usize = asked.header("content-length")?.parse().ok()?;
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(n) => body.extend_from_slice(&buffer[..n]),
        }
    }
    asked.body = serde_json::from_slice(&body).ok()?;
    Some(asked)
}

fn answer(stream: &mut TcpStream, reply: &Reply) -> std::io::Result<()> {
    let head = |status: u16, length: usize, more: &str| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n"
        )
    };
    match reply {
        Reply::Full(status, headers, body) => {
            let lines: Vec<String> = headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect();
            stream.write_all(head(*status, body.len(), &lines.concat()).as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        Reply::Truncated(body) | Reply::Stuck(body) => {
            stream.write_all(head(200, body.len() + 1000, "").as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        Reply::Dribbled(body) => {
            stream.set_nodelay(true)?;
            let whole = head(200, body.len(), "") + body;
            whole.bytes().try_for_each(|b| stream.write_all(&[b]))
        }
        Reply::Silent => Ok(()),
    }
}
