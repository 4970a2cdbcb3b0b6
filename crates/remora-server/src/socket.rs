//! The worker's socket: one thread that turns requests into ticks of the loop. A
//! client that sends nothing in time is disconnected, since all others wait for it.

use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use remora_client::receive_request;
use remora_core::request::Request;

use crate::embedder::Embedder;
use crate::panics::catch_panic;
use crate::worker::Tick;

const REQUEST_TIMEOUT: Duration = Duration::from_millis(500);

/// Owns the socket's file, which is removed on drop unless it is abandoned.
#[derive(Debug)]
pub(crate) struct SocketListener {
    path: Option<PathBuf>,
}

impl SocketListener {
    /// Starts listening. The caller must hold the worker's lock: then a socket that
    /// is there was left by a dead worker and is replaced.
    pub(crate) fn open(path: &Path, ticks: Sender<Tick>, embedder: Embedder) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        // A Unix socket's path is limited to some hundred bytes, so a long one is
        // reached through a handle of its directory, open only for the bind.
        let (reached, folder) = remora_client::socket_path(path)?;
        let listener = UnixListener::bind(&reached)?;
        drop(folder);
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        thread::spawn(move || accept_connections(&listener, &ticks, &embedder));
        Ok(Self {
            path: Some(path.to_path_buf()),
        })
    }

    /// Leaves the file, because another worker's socket has its name now.
    pub(crate) fn abandon_file(mut self) {
        self.path = None;
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

fn accept_connections(listener: &UnixListener, ticks: &Sender<Tick>, embedder: &Embedder) {
    for stream in listener.incoming().flatten() {
        // A request that panics is dropped; the thread stays for the next one.
        if let Some(tick) = catch_panic(|| handle_request(stream, embedder))
            .ok()
            .flatten()
            && ticks.send(tick).is_err()
        {
            return;
        }
    }
}

fn handle_request(stream: UnixStream, embedder: &Embedder) -> Option<Tick> {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT)).ok()?;
    match receive_request(&stream).ok()? {
        Request::Notify { version, program } => Some(Tick::Notify { version, program }),
        Request::Drain => Some(Tick::Drain(stream)),
        Request::Stop => Some(Tick::Stop(stream)),
        Request::Status => Some(Tick::Status(stream)),
        // Not through the loop, where the hook would wait for a batch to end.
        Request::Embed { text } => {
            embedder.answer_embedding(text, stream);
            None
        }
    }
}
