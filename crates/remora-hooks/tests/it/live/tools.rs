//! The shell tool of the scripted client: a real shell, with the session's
//! variables in front.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use remora_hooks::FileChangeKind;

use super::clock::wait_for;
use super::world::World;

/// Whether the command succeeded, and its output; `None` if it was interrupted.
pub(super) fn run_bash(
    world: &World<'_>,
    cwd: &mut PathBuf,
    command: &str,
) -> Option<(bool, String)> {
    let root = &world.case.root;
    let (out, end) = (root.join("rec/tool.out"), root.join("rec/tool.cwd"));
    let _ = fs::remove_file(&end);
    let prelude = world.session.shell_prelude();
    let script = root.join("rec/tool.sh");
    let text = format!(
        "shopt -s expand_aliases\ntrap 'pwd -P > {}' EXIT\n{prelude}{command}\n",
        end.display()
    );
    fs::write(&script, text).unwrap();
    let output = fs::File::create(&out).unwrap();
    let environment = world.case.environment();
    let settings = fs::read_to_string(root.join(".claude/settings.json")).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap_or_default();
    let of_settings = settings["env"].as_object().into_iter().flatten();
    let mut child = Command::new("/bin/bash")
        .arg(&script)
        .current_dir(&*cwd)
        .env_clear()
        .envs(environment)
        .envs(of_settings.map(|(k, v)| (k.clone(), v.as_str().unwrap_or_default().to_owned())))
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .unwrap();
    let code = world.wait_for_tool(&mut child);
    if world.interruption.get().is_some() {
        return None;
    }
    wait_for("the shell says where it ended", || end.exists());
    if let Ok(text) = fs::read_to_string(&end)
        && !text.trim().is_empty()
    {
        *cwd = PathBuf::from(text.trim());
    }
    let text = fs::read_to_string(&out).unwrap().trim().to_owned();
    Some(match (code, text.is_empty()) {
        (0, true) => (true, "(Bash completed with no output)".into()),
        (0, false) => (true, text),
        (code, _) => (false, format!("Exit code {code}\n{text}").trim().to_owned()),
    })
}

/// The watcher will notice what a tool has changed.
pub(super) fn note_changes(world: &World<'_>, before: Vec<(PathBuf, Option<Vec<u8>>)>) {
    for (path, content) in before {
        let kind = match (content.is_some(), path.exists()) {
            (true, true) => FileChangeKind::Change,
            (false, true) => FileChangeKind::Add,
            (_, false) => FileChangeKind::Unlink,
        };
        if fs::read(&path).ok() != content {
            world.note_change(&path, kind);
        }
    }
}

pub(super) fn list_contents(world: &World<'_>) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let paths = world.session.list_watched_paths().into_iter();
    let files = paths.filter(|path| !path.is_dir() && path.extension().is_none_or(|e| e != "json"));
    files
        .map(|path| (path.clone(), fs::read(path).ok()))
        .collect()
}
