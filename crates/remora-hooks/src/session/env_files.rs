//! The files in which handlers set variables: which of them are in force, and
//! in which order a shell reads them.

use std::path::PathBuf;

use remora_core::EventName;
use serde::{Deserialize, Serialize};

/// The longest file that is put in front of a command.
const MAX_ENV_FILE_BYTES: u64 = 1 << 20;

/// The files of one session, in the order in which a shell reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EnvFiles {
    files: Vec<EnvFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct EnvFile {
    event: String,
    path: PathBuf,
}

impl EnvFiles {
    /// An event has fired: its files replace those of its last firing. Later
    /// files win, so what was set when the session was set up is read first.
    pub(crate) fn replace(&mut self, event: EventName, paths: &[PathBuf]) {
        if paths.is_empty() {
            return;
        }
        self.files.retain(|file| file.event != event.as_str());
        let rank = read_rank(event.as_str());
        let at = self
            .files
            .iter()
            .position(|file| read_rank(&file.event) > rank)
            .unwrap_or(self.files.len());
        let fresh = paths.iter().map(|path| EnvFile {
            event: event.as_str().to_owned(),
            path: path.clone(),
        });
        self.files.splice(at..at, fresh);
    }

    /// Forgets all of them, and returns them so that they can be removed.
    pub(crate) fn take_all(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.files)
            .into_iter()
            .map(|file| file.path)
            .collect()
    }

    /// Files of an event's last firing.
    pub(crate) fn of_event(&self, event: EventName) -> impl Iterator<Item = &PathBuf> {
        self.files
            .iter()
            .filter(move |file| file.event == event.as_str())
            .map(|file| &file.path)
    }

    /// What is put in front of each shell command. Read each time: a handler in the
    /// background may still write.
    pub(crate) fn read_prelude(&self) -> String {
        let mut prelude = String::new();
        for file in &self.files {
            if let Ok(text) = remora_files::read_text(&file.path, MAX_ENV_FILE_BYTES) {
                prelude.push_str(&text);
                if !text.is_empty() && !text.ends_with('\n') {
                    prelude.push('\n');
                }
            }
        }
        prelude
    }
}

fn read_rank(event: &str) -> u8 {
    match event {
        "Setup" => 0,
        "SessionStart" => 1,
        // Between these two the later firing wins.
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(files: &EnvFiles) -> Vec<&str> {
        files
            .files
            .iter()
            .map(|f| f.path.to_str().unwrap())
            .collect()
    }

    #[test]
    fn the_start_is_read_before_what_came_later() {
        let mut files = EnvFiles::default();
        let mut fire = |event, paths: &[&str]| {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            files.replace(event, &paths);
            order(&files).join(" ")
        };
        assert_eq!(fire(EventName::CwdChanged, &["c"]), "c");
        assert_eq!(fire(EventName::SessionStart, &["s0", "s1"]), "s0 s1 c");
        assert_eq!(fire(EventName::Setup, &["u"]), "u s0 s1 c");
        assert_eq!(fire(EventName::FileChanged, &["f"]), "u s0 s1 c f");
        assert_eq!(fire(EventName::CwdChanged, &["d"]), "u s0 s1 f d");
        assert_eq!(fire(EventName::SessionStart, &["s2"]), "u s2 f d");
        assert_eq!(fire(EventName::FileChanged, &[]), "u s2 f d");
        assert_eq!(files.take_all().len(), 4);
    }
}
