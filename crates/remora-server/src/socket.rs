//! The worker's ear: one thread that turns requests into ticks of the loop.
//! Whoever does not speak within a moment is hung up on.

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

/// The socket's file; it goes with this value, unless it is abandoned.
#[derive(Debug)]
pub(crate) struct SocketListener {
    path: Option<PathBuf>,
}

impl SocketListener {
    /// Listens. Only the holder of the worker's lock may call this: a socket
    /// that is left over from a dead worker is replaced.
    pub(crate) fn open(path: &Path, ticks: Sender<Tick>, embedder: Embedder) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
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

    /// Leaves the file, which is no longer this one's.
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
        // A request that panics is as good as none; the next one is heard.
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
        Request::Poke { version, program } => Some(Tick::Poke { version, program }),
        Request::Drain => Some(Tick::Drain(stream)),
        Request::Stop => Some(Tick::Stop(stream)),
        Request::Status => Some(Tick::Status(stream)),
        // Not through the loop: a hook does not wait for a round to end.
        Request::Embed { text } => {
            embedder.answer_embedding(text, stream);
            None
        }
    }
}
