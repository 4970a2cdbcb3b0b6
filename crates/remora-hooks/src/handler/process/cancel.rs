//! A way to end handlers from outside: one token for as many as it is given to.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Ends every handler that it was given to, once it is cancelled. Clones are
/// the same token.
#[derive(Debug, Clone)]
pub struct CancelToken(Arc<Inner>);

// A pipe, because handlers wait with `poll`: closing one end wakes all of them, whether they
// wait now or will only start to.
#[derive(Debug)]
struct Inner {
    signal: OwnedFd,
    armed: Mutex<Option<OwnedFd>>,
}

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> io::Result<Self> {
        let (signal, armed) = rustix::pipe::pipe()?;
        for end in [&signal, &armed] {
            // A child that inherited the end would keep the token armed.
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(Self(Arc::new(Inner {
            signal,
            armed: Mutex::new(Some(armed)),
        })))
    }

    /// Ends what waits for it, now and later.
    pub fn cancel(&self) {
        drop(self.lock_armed().take());
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.lock_armed().is_none()
    }

    /// Readable once the token is cancelled.
    pub(super) fn signal(&self) -> &OwnedFd {
        &self.0.signal
    }

    fn lock_armed(&self) -> std::sync::MutexGuard<'_, Option<OwnedFd>> {
        self.0.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
