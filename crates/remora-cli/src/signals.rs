//! Ctrl-C and its like: handlers have sessions of their own and would live on,
//! so they are ended first, then we end as the signal says. A worker that is
//! asked to end finishes what it is at.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use remora_client::{DataPaths, send_request};
use remora_core::request::Request;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long a worker may take to finish what it is at. Whoever shuts a machine
/// down kills soon after asking.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// From here on a signal ends the worker of this process in order: it asks
/// itself to stop. If it is too busy to hear that, it ends as the signal says,
/// which is safe at any time, and does not count as a death either.
pub(crate) fn end_worker(paths: DataPaths) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().spawn(move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        if send_request(&paths.socket_file(), &Request::Stop, STOP_TIMEOUT).is_err() {
            remora_server::crashes::end_orderly(&paths);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// From here on a signal ends handlers and removes `folder` before us.
pub(crate) fn watch_signals(folder: Option<PathBuf>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().spawn(move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        end_children();
        if let Some(folder) = folder {
            let _ = fs::remove_dir_all(folder);
        }
        // One that was being started just now goes too.
        end_children();
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    })?;
    Ok(())
}

/// Ends what handlers, models and servers have started.
pub(crate) fn end_children() {
    remora_hooks::end_all_children();
    remora_model::end_all_children();
    remora_server::mcp_client::end_all_servers();
}
