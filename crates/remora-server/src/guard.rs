//! Input that kills the worker must not kill it for ever.
//!
//! While a batch is digested its ids stand in a small file. A worker that finds
//! such a file at its start knows that the one before died there: it takes
//! those events one at a time, and one that it dies on again and again goes to
//! the dead letters. A worker that is merely killed loses nothing by this.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use remora_client::Paths;

/// How often the worker may die on an event before it is blamed.
const DEATHS: u32 = 3;

#[derive(Debug)]
pub(crate) struct Guard {
    file: PathBuf,
    /// Events under suspicion, with the number of deaths.
    suspects: Vec<(String, u32)>,
}

impl Guard {
    pub(crate) fn new(paths: &Paths) -> Self {
        let file = paths.run().join("under-way");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let suspects = text
            .lines()
            .filter_map(|line| {
                let (deaths, name) = line.split_once(' ')?;
                Some((name.to_owned(), deaths.parse::<u32>().ok()? + 1))
            })
            .collect();
        Self { file, suspects }
    }

    /// Whether this file is to be given up.
    pub(crate) fn condemned(&self, name: &str) -> bool {
        self.deaths(name) >= DEATHS
    }

    /// Whether this file must be taken by itself.
    pub(crate) fn suspect(&self, name: &str) -> bool {
        self.deaths(name) > 0
    }

    fn deaths(&self, name: &str) -> u32 {
        let known = self.suspects.iter().find(|(n, _)| n == name);
        known.map_or(0, |(_, deaths)| *deaths)
    }

    /// These are about to be digested.
    pub(crate) fn begin<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let lines = names.fold(String::new(), |mut lines, name| {
            // Writing into a string cannot fail.
            let _ = writeln!(lines, "{} {name}", self.deaths(name));
            lines
        });
        // Without the note a death is not noticed; that is no reason to stop.
        let _ = fs::write(&self.file, lines);
    }

    /// They are stored, or known not to be to blame.
    pub(crate) fn done<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        if !self.suspects.is_empty() {
            let names: Vec<&str> = names.collect();
            self.suspects.retain(|(n, _)| !names.contains(&n.as_str()));
        }
        let _ = fs::remove_file(&self.file);
    }
}

/// The name under which a spool file is known here.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .replace('\n', "?")
}
