//! The worker's ear: one thread that turns requests into ticks of the loop.
//! Whoever does not speak within a moment is hung up on.

use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use remora_client::receive;
use remora_protocol::request::Request;

use crate::embedder::Embedder;
use crate::panics::catch;
use crate::worker::Tick;

const PATIENCE: Duration = Duration::from_millis(500);

/// The socket's file; it goes with this value, unless it is abandoned.
#[derive(Debug)]
pub(crate) struct Ear {
    path: Option<PathBuf>,
}

impl Ear {
    /// Listens. Only the holder of the worker's lock may call this: a socket
    /// that is left over from a dead worker is replaced.
    pub(crate) fn open(path: &Path, ticks: Sender<Tick>, embedder: Embedder) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let (reached, folder) = remora_client::reach(path)?;
        let listener = UnixListener::bind(&reached)?;
        drop(folder);
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        thread::spawn(move || listen(&listener, &ticks, &embedder));
        Ok(Self {
            path: Some(path.to_path_buf()),
        })
    }

    /// Leaves the file, which is no longer this one's.
    pub(crate) fn abandon(mut self) {
        self.path = None;
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}

fn listen(listener: &UnixListener, ticks: &Sender<Tick>, embedder: &Embedder) {
    for stream in listener.incoming().flatten() {
        // A request that panics is as good as none; the next one is heard.
        if let Some(tick) = catch(|| hear(stream, embedder)).ok().flatten()
            && ticks.send(tick).is_err()
        {
            return;
        }
    }
}

fn hear(stream: UnixStream, embedder: &Embedder) -> Option<Tick> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    match receive(&stream).ok()? {
        Request::Poke { version, program } => Some(Tick::Poke { version, program }),
        Request::Drain => Some(Tick::Drain(stream)),
        Request::Stop => Some(Tick::Stop(stream)),
        Request::Status => Some(Tick::Status(stream)),
        // Not through the loop: a hook does not wait for a round to end.
        Request::Embed { text } => {
            embedder.answer(text, stream);
            None
        }
    }
}
