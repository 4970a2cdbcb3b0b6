//! One JSON line each way over the worker's socket.
//!
//! A socket's path may be about a hundred bytes long, and data directories may
//! lie deeper; on Linux such a path is reached through the open folder.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remora_core::request::{EmbeddingReply, Reply, Request};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// The longest path that fits everywhere.
const MAX_SOCKET_PATH_BYTES: usize = 100;
/// The longest line that is read.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// A connection to the worker's socket, as far as one came.
#[derive(Debug)]
pub enum Connection {
    /// The worker listens.
    Open(UnixStream),
    /// The worker is listening, but its accept queue is full.
    Busy,
    /// No worker listens.
    NotListening,
}

impl Connection {
    /// Connects without ever waiting.
    pub fn try_open(path: &Path) -> Self {
        let opened = socket_path(path).and_then(|(path, _folder)| {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            connect(&socket, &SocketAddrUnix::new(&path)?)?;
            Ok(UnixStream::from(socket))
        });
        match opened {
            Ok(stream) => Self::Open(stream),
            // A Unix socket refuses at once or, if non-blocking, says that its
            // queue is full.
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Self::Busy,
            Err(_) => Self::NotListening,
        }
    }
}

/// The path to use, and the folder to keep open while it is used.
pub fn socket_path(path: &Path) -> io::Result<(PathBuf, Option<std::fs::File>)> {
    if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
        return Ok((path.to_path_buf(), None));
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = std::fs::File::open(folder)?;
    // The caller keeps the folder open until it has connected; the path is dead
    // without it.
    let short = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name);
    Ok((short, Some(folder)))
}

/// Asks and waits for the answer, at most `patience` long for each step.
pub fn send_request(socket: &Path, request: &Request, patience: Duration) -> io::Result<Reply> {
    let mut stream = match Connection::try_open(socket) {
        Connection::Open(stream) => stream,
        Connection::Busy => return Err(io::ErrorKind::WouldBlock.into()),
        Connection::NotListening => return Err(io::ErrorKind::NotConnected.into()),
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    send_line(&mut stream, request)?;
    let line = read_line(&stream)?;
    Ok(serde_json::from_str(&line)?)
}

/// The worker's side: reads one request.
pub fn receive_request(stream: &UnixStream) -> io::Result<Request> {
    Ok(serde_json::from_str(&read_line(stream)?)?)
}

/// The worker's side: answers.
pub fn send_reply(stream: &mut UnixStream, reply: &Reply) -> io::Result<()> {
    send_line(stream, reply)
}

/// The worker's side: answers a request for an embedding.
pub fn reply_embedding(stream: &mut UnixStream, reply: &EmbeddingReply) -> io::Result<()> {
    send_line(stream, reply)
}

pub(crate) fn send_line(stream: &mut UnixStream, value: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn read_line(stream: &UnixStream) -> io::Result<String> {
    let mut line = String::new();
    BufReader::new(stream.take(MAX_LINE_BYTES)).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}
