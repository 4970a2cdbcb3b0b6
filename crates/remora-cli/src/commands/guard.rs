//! `remora guard PROCESS FOLDER`: what a server of hooks starts beside itself, so that its
//! handlers end with it even if it is killed (`docs/design/0040`). Not a verb for users.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// The first argument that leads here.
pub(crate) const GUARD_VERB: &str = "guard";
/// The file in a server's folder that says which handlers it runs.
const CHILDREN_FILE: &str = "children";

/// Starts the guard of this process. It has a group of its own, so that what kills ours
/// does not kill it. It ends when its stdin does.
pub(crate) fn start_guard(folder: &Path) -> io::Result<Child> {
    remora_hooks::record_children(File::create_new(folder.join(CHILDREN_FILE))?);
    Command::new(std::env::current_exe()?)
        .arg(GUARD_VERB)
        .arg(std::process::id().to_string())
        .arg(folder)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Waits for the end of the server, and ends what it left.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let host = arguments
        .next()
        .and_then(|host| host.to_str()?.parse().ok());
    let folder = arguments.next().map(PathBuf::from);
    let (Some(host), Some(folder)) = (host, folder) else {
        return ExitCode::FAILURE;
    };
    let table = folder.join(CHILDREN_FILE);
    let guarded = remora_hooks::guard_children(io::stdin().lock(), host, &table);
    // Still there if the server was killed. Without the table it is no server's.
    if guarded.is_ok() && table.is_file() {
        // What cannot be removed is the system's to clear away.
        let _ = fs::remove_dir_all(folder);
    }
    ExitCode::SUCCESS
}
