//! The look through database, archive, dead letters, logs and what hooks left
//! half written.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remora_files::{Durability, ReplaceOptions, replace_file};
use remora_memory::store::{Filter, Store};
use remora_redact::{RedactionCounts, Redactor};
use remora_server::DeadLetter;
use remora_server::archive::{self, Archive};

use super::SecretFinding;
use crate::commands::data::DataDir;
use crate::commands::parts::{self, StorePart};
use crate::commands::progress::Progress;
use crate::commands::scrub::redact_part;
use crate::error::CliError;

/// No hook lives longer.
const MAX_HOOK_AGE: Duration = Duration::from_mins(1);

/// A place where a secret may be.
#[derive(Debug)]
pub(super) enum SecretLocation {
    /// A record of the database, and its kind.
    Row { what: String, id: String },
    /// An event in an archive file.
    Archived { file: String, event: String },
    /// A line of a file; of a dead letter, the first.
    File { path: PathBuf, line: usize },
}

/// What was scanned, and found.
pub(super) struct SecretScan<'a> {
    data: &'a DataDir,
    redactor: &'a Redactor,
    pub(super) found: Vec<SecretFinding>,
    pub(super) looked_at: u64,
    pub(super) unreadable: u64,
}

impl<'a> SecretScan<'a> {
    pub(super) fn new(data: &'a DataDir, redactor: &'a Redactor) -> Self {
        Self {
            data,
            redactor,
            found: Vec::new(),
            looked_at: 0,
            unreadable: 0,
        }
    }

    pub(super) fn scan_all(&mut self) -> Result<(), CliError> {
        if let Some(store) = self.data.app.open_store()? {
            self.scan_database(&*store)?;
        }
        self.scan_archive()?;
        for folder in [
            self.data.app.paths.dead_letter_dir(),
            self.data.app.paths.log_dir(),
        ] {
            self.scan_files(&folder, |_| true)?;
        }
        // Events that wait are raw by design, and redacted when they are ingested;
        // what a killed hook left half written may never be.
        self.scan_files(&self.data.app.paths.spool_dir(), is_left_behind)
    }

    fn scan_part(&mut self, part: &mut StorePart) -> Option<RedactionCounts> {
        let mut marks = RedactionCounts::new();
        redact_part(self.redactor, part, &mut marks);
        self.looked_at += 1;
        (!marks.is_empty()).then_some(marks)
    }

    fn scan_database(&mut self, store: &dyn Store) -> Result<(), CliError> {
        let all = parts::count_records(&store.count_contents()?);
        let mut progress = Progress::new("looking through the database");
        let mut look = |mut part: StorePart| {
            if let Some(marks) = self.scan_part(&mut part) {
                // Names are taken after the secrets have gone from them.
                let (what, id) = match part {
                    StorePart::Project(project) => {
                        ("project".to_owned(), project.key.into_string())
                    }
                    StorePart::Override(said) => ("correction".to_owned(), said.uid.into_string()),
                    StorePart::Session(session) => ("session".to_owned(), session.id.into_string()),
                    StorePart::Item(item) => (item.kind.name().to_owned(), format!("#{}", item.id)),
                    StorePart::File(file) => {
                        ("file".to_owned(), format!("{}/{}", file.folder, file.name))
                    }
                    StorePart::Event(event) => ("event".to_owned(), event.id),
                    StorePart::Injection(injection) => (
                        "given".to_owned(),
                        format!("{} line {}", injection.session, injection.line),
                    ),
                    StorePart::Raw(raw) => ("event".to_owned(), raw.envelope.id),
                };
                let place = SecretLocation::Row { what, id };
                self.found.push(SecretFinding { place, marks });
            }
            progress.update_line(self.looked_at, all, "");
            Ok(())
        };
        parts::visit_parts(store, &Filter::default(), &mut look)?;
        parts::visit_injections(store, &mut look)
    }

    fn scan_archive(&mut self) -> Result<(), CliError> {
        let archive = Archive::new(self.data.app.paths.archive_dir());
        let all = archive.disk_bytes();
        let mut done = 0;
        let mut progress = Progress::new("looking through the archive");
        for file in archive.list_files()? {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let bad = archive::read_events(&file, |event| {
                let id = event.envelope.id.clone();
                if let Some(marks) = self.scan_part(&mut StorePart::Raw(Box::new(event))) {
                    let place = SecretLocation::Archived {
                        file: name.clone(),
                        event: id,
                    };
                    self.found.push(SecretFinding { place, marks });
                }
            });
            self.unreadable += bad.map_err(file_error(&file))?;
            done += fs::metadata(&file).map_or(0, |m| m.len());
            progress.update_line(done, all, "");
        }
        Ok(())
    }

    fn scan_files(&mut self, folder: &Path, is_wanted: fn(&Path) -> bool) -> Result<(), CliError> {
        let entries = match fs::read_dir(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(file_error(folder))?,
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for path in files.into_iter().filter(|path| is_wanted(path)) {
            // A hook that is at work may have renamed it meanwhile.
            if !path.is_file() {
                continue;
            }
            self.looked_at += 1;
            for (line, marks) in read_redacted(self.redactor, &path)?.1 {
                let path = path.clone();
                let place = SecretLocation::File { path, line };
                self.found.push(SecretFinding { place, marks });
            }
        }
        Ok(())
    }
}

/// Whether a hook left this file of the spool half written. One that may still
/// be writing it would give its name to what we put there, and lose its event.
fn is_left_behind(path: &Path) -> bool {
    let written = fs::metadata(path).and_then(|meta| meta.modified());
    let age = written.map(|time| time.elapsed().unwrap_or_default());
    path.extension().is_some_and(|ending| ending == "tmp")
        && age.is_ok_and(|age| age >= MAX_HOOK_AGE)
}

/// Numbers of lines, and what was in each.
type LineFindings = Vec<(usize, RedactionCounts)>;

/// The file without its secrets, and the lines that had some. A dead letter is
/// one thing, whatever its lines.
fn read_redacted(redactor: &Redactor, path: &Path) -> Result<(Vec<u8>, LineFindings), CliError> {
    let bytes = fs::read(path).map_err(file_error(path))?;
    if let Ok(mut letter) = serde_json::from_slice::<DeadLetter>(&bytes) {
        let mut marks = RedactionCounts::new();
        for text in [&mut letter.payload, &mut letter.reason] {
            if let Cow::Owned(clean) = redactor.redact_text(text, &mut marks) {
                *text = clean;
            }
        }
        let found = if marks.is_empty() {
            Vec::new()
        } else {
            vec![(1, marks)]
        };
        return Ok((serde_json::to_vec_pretty(&letter)?, found));
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut clean = String::with_capacity(text.len());
    let mut found = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let mut marks = RedactionCounts::new();
        clean.push_str(&redactor.redact_text(line, &mut marks));
        if !marks.is_empty() {
            found.push((at + 1, marks));
        }
    }
    // A private key or a table shows only over several lines.
    if let Some(first) = redactor.find_secrets(&clean).first() {
        let line = clean[..first.range.start].matches('\n').count() + 1;
        let mut marks = RedactionCounts::new();
        clean = redactor.redact_text(&clean, &mut marks).into_owned();
        found.push((line, marks));
        found.sort_by_key(|(line, _)| *line);
    }
    Ok((clean.into_bytes(), found))
}

/// Takes the secrets out of a file, which is replaced whole.
pub(super) fn clean_file(redactor: &Redactor, path: &Path) -> Result<(), CliError> {
    let (clean, _) = read_redacted(redactor, path)?;
    let options = ReplaceOptions::private(Durability::File);
    replace_file(path, &clean, &options).map_err(file_error(path))
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
    move |source| CliError::File {
        path: path.to_path_buf(),
        source,
    }
}
