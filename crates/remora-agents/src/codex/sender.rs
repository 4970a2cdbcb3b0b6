//! Whether Codex sent a payload, whatever the command says that it runs.
//!
//! Importers and plugins hand a hook's command from one client to another
//! unchanged, so the name in the command may be another agent's. The client has
//! no variable of its own in a hook's environment; only the path of the session
//! file says.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// The folder of the client in a home directory.
pub(super) const CONFIG_FOLDER: &str = ".codex";

/// Whether a payload that names this session file is Codex's. `find_config_dir` says
/// where the user has moved the client's folder; it is asked last, because every
/// event of every agent comes through here.
///
/// A session that is not kept has no file, and is not recognised.
pub(super) fn is_sender(
    transcript_path: &str,
    find_config_dir: impl FnOnce() -> Option<OsString>,
) -> bool {
    if !is_session_path(transcript_path) {
        return false;
    }
    let path = Path::new(transcript_path);
    let mut folders = path.components().map(Component::as_os_str);
    folders.any(|folder| folder == OsStr::new(CONFIG_FOLDER))
        || find_config_dir().is_some_and(|folder| !folder.is_empty() && path.starts_with(folder))
}

/// Whether a file is named as the client names the files of sessions:
/// `rollout-2026-11-18T12-05-04-<id>.jsonl`.
pub(super) fn is_session_file(path: &Path) -> bool {
    path.to_str().is_some_and(is_session_path)
}

/// The same without taking the path apart, which would cost every hook.
fn is_session_path(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.starts_with("rollout-") && name.strip_suffix(".jsonl").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_file_tells_who_sent_a_payload() {
        let file = "rollout-2026-11-18T12-05-04-01a1ee8b-d94c-7a70-bbcd-5eb2e1b7108b.jsonl";
        let moved = Some("/data/cx");
        for (path, config_dir, is_ours) in [
            (
                format!("/home/agent/.codex/sessions/2026/11/18/{file}"),
                None,
                true,
            ),
            (
                format!("/home/agent/.codex/archived_sessions/{file}"),
                moved,
                true,
            ),
            (format!("/data/cx/sessions/2026/11/18/{file}"), moved, true),
            (format!("/data/cx/sessions/2026/11/18/{file}"), None, false),
            (format!("/data/cxy/sessions/{file}"), moved, false),
            (format!("/data/cx/sessions/{file}"), Some(""), false),
            (
                "/home/agent/.codex/sessions/01a1.jsonl".to_owned(),
                None,
                false,
            ),
            (
                "/home/agent/.claude/projects/-codex/01a1.jsonl".to_owned(),
                moved,
                false,
            ),
            (String::new(), moved, false),
        ] {
            assert_eq!(
                is_sender(&path, || config_dir.map(OsString::from)),
                is_ours,
                "{path} {config_dir:?}"
            );
        }
    }
}
