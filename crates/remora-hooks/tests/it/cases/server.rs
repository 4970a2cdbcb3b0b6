//! A server on loopback that answers by path and keeps what it was asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::book::{Fields, Reply, fields, text};

/// A server on loopback that answers by path and keeps what it was asked.
pub(super) struct Server {
    pub(super) port: u16,
    pub(super) replies: Arc<Mutex<BTreeMap<String, Reply>>>,
    seen: Arc<Mutex<Vec<Fields>>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let replies = Arc::new(Mutex::new(BTreeMap::new()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (theirs, log) = (replies.clone(), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (replies, log) = (theirs.clone(), log.clone());
                std::thread::spawn(move || serve(stream, &replies, &log));
            }
        });
        Self {
            port,
            replies,
            seen,
        }
    }

    pub(super) fn seen(&self) -> Vec<Fields> {
        let mut seen = self.seen.lock().unwrap().clone();
        seen.sort_by_key(|r| text(&r["path"]));
        seen
    }
}

/// Nothing more comes in, so this waits; at most until the client hangs up.
fn wait_for_hangup(stream: &mut TcpStream, longest: Duration) -> Option<()> {
    let end = Instant::now() + longest;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Some(());
        }
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut [0]) {
            // A machine that is suspended and goes on interrupts reads that have a
            // time limit, without any signal of ours.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return Some(()),
        }
    }
}

/// One request, one reply. A client that hangs up early is none of our business.
fn serve(
    mut stream: TcpStream,
    replies: &Mutex<BTreeMap<String, Reply>>,
    log: &Mutex<Vec<Fields>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (method, rest) = line.split_once(' ')?;
    let (method, path) = (method.to_owned(), rest.split(' ').next()?.to_owned());
    let mut headers = Fields::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().into());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |l| text(l).parse().unwrap_or(0));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body).into_owned();
    let request = json!({"method": method, "path": path, "headers": headers, "body": body});
    log.lock().unwrap().push(fields(&request));
    let reply = replies.lock().unwrap().get(&path).cloned()?;
    if reply.delay_ms > 0 {
        wait_for_hangup(&mut stream, Duration::from_millis(reply.delay_ms))?;
    }
    let body = if reply.body.is_null() {
        String::new()
    } else {
        text(&reply.body)
    };
    let own: Vec<String> = reply
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let own = own.concat();
    let head = format!(
        "HTTP/1.1 {} Said\r\ncontent-length: {}\r\n{own}",
        reply.status,
        body.len()
    );
    stream
        .write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes())
        .ok()
}
