//! Waiting until one of a few files changes, by looking at them: editors replace
//! files rather than write them, and the files are few.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use remora_hook_tools::lint::{Surroundings, list_scripts};
use remora_hooks::{Engine, SettingsPaths, inspect};

/// How often the files are looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);

/// What tells one state of a file from another.
type FileStamp = Option<(SystemTime, u64)>;

/// Files and how they were.
pub(super) struct FileWatch {
    files: Vec<(PathBuf, FileStamp)>,
}

impl FileWatch {
    pub(super) fn new(files: Vec<PathBuf>) -> Self {
        let stamped = files.into_iter().map(|file| {
            let stamp = read_stamp(&file);
            (file, stamp)
        });
        Self {
            files: stamped.collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn wait_for_change(&self) {
        while self
            .files
            .iter()
            .all(|(file, stamp)| read_stamp(file) == *stamp)
        {
            thread::park_timeout(WATCH_INTERVAL);
        }
    }
}

fn read_stamp(file: &Path) -> FileStamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The cases, the settings and the scripts that hooks name, whether they are
/// there or not.
pub(super) fn list_watched_files(
    cases: &[PathBuf],
    engines: &[Engine],
    places: &SettingsPaths,
) -> Vec<PathBuf> {
    let around = Surroundings {
        project: &places.project,
        home: &places.home,
        search_path: None,
        find_secret: &|_| None,
    };
    let mut files: BTreeSet<PathBuf> = cases.iter().cloned().collect();
    files.extend(
        inspect::list_settings_files(places)
            .into_iter()
            .map(|(_, path)| path),
    );
    for (handler, _) in engines.iter().flat_map(Engine::handlers) {
        files.extend(handler.place.file.clone());
        let root = handler.place.plugin.as_ref().map(|p| p.root.as_path());
        files.extend(list_scripts(&handler.config, root, &around));
    }
    files.into_iter().collect()
}
