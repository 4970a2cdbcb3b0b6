//! Ctrl-C and its like: handlers have sessions of their own and would live on,
//! so they are ended first, then we end as the signal says.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// From here on a signal ends handlers and removes `folder` before us.
pub(crate) fn watch(folder: Option<PathBuf>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().spawn(move || {
        let Some(signal) = signals.forever().next() else {
            return;
        };
        remora_hooks::end_all_children();
        if let Some(folder) = folder {
            let _ = fs::remove_dir_all(folder);
        }
        // One that was being started just now goes too.
        remora_hooks::end_all_children();
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    })?;
    Ok(())
}
