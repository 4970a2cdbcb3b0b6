//! How the worker leaves the process that started it: its own session, and no
//! descriptor but its own three.

/// Leaves the terminal and the process group of the process that started this
/// one. A process that leads a group already keeps it.
pub fn leave_session() {
    // Refused only for the leader of a group, as when it is started from a
    // shell.
    let _ = rustix::process::setsid();
}

/// Closes every inherited descriptor beyond the standard three. Call it before
/// anything is opened.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the descriptors belong to nobody yet: this runs first in the process"
)]
pub fn close_inherited() {
    // SAFETY: no Rust value owns a descriptor above 2 at this point.
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Elsewhere everything the client opens is closed on exec.
#[cfg(not(target_os = "linux"))]
pub fn close_inherited() {}
