//! The look through database, archive, dead letters, logs and what hooks left
//! half written.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use remora_memory::redact::{Marks, Redactor};
use remora_memory::store::{Filter, Store};
use remora_server::DeadLetter;
use remora_server::archive::{self, Archive};

use super::Found;
use crate::commands::data::Data;
use crate::commands::parts::{self, Part};
use crate::commands::progress::Progress;
use crate::commands::scrub::scrub;
use crate::error::CliError;

/// No hook lives longer.
const HOOK_LIFETIME: Duration = Duration::from_mins(1);

/// A place where a secret may be.
#[derive(Debug)]
pub(super) enum Place {
    /// A row of the database, and what it is.
    Row { what: String, id: String },
    /// An event in an archive file.
    Archived { file: String, event: String },
    /// A line of a file; of a dead letter, the first.
    File { path: PathBuf, line: usize },
}

/// What was looked at, and found.
pub(super) struct Scan<'a> {
    data: &'a Data,
    redactor: &'a Redactor,
    pub(super) found: Vec<Found>,
    pub(super) looked_at: u64,
    pub(super) unreadable: u64,
}

impl<'a> Scan<'a> {
    pub(super) fn new(data: &'a Data, redactor: &'a Redactor) -> Self {
        Self {
            data,
            redactor,
            found: Vec::new(),
            looked_at: 0,
            unreadable: 0,
        }
    }

    pub(super) fn all(&mut self) -> Result<(), CliError> {
        if let Some(store) = self.data.store()? {
            self.database(&store)?;
        }
        self.archive()?;
        for folder in [self.data.paths.dead(), self.data.paths.logs()] {
            self.files(&folder, |_| true)?;
        }
        // Events that wait are raw by design, and redacted when they are taken;
        // what a killed hook left half written may not be taken at all.
        self.files(&self.data.paths.spool(), is_left_behind)
    }

    fn part(&mut self, part: &mut Part) -> Option<Marks> {
        let mut marks = Marks::new();
        scrub(self.redactor, part, &mut marks);
        self.looked_at += 1;
        (!marks.is_empty()).then_some(marks)
    }

    fn database(&mut self, store: &dyn Store) -> Result<(), CliError> {
        let all = parts::rows(&store.counts()?);
        let mut progress = Progress::new("looking through the database");
        let mut look = |mut part: Part| {
            if let Some(marks) = self.part(&mut part) {
                // Names are taken after the secrets have gone from them.
                let (what, id) = match part {
                    Part::Project(project) => ("project".to_owned(), project.key),
                    Part::Override(said) => ("correction".to_owned(), said.uid),
                    Part::Session(session) => ("session".to_owned(), session.id),
                    Part::Item(item) => (item.kind.name().to_owned(), format!("#{}", item.id)),
                    Part::File(file) => {
                        ("file".to_owned(), format!("{}/{}", file.folder, file.name))
                    }
                    Part::Event(event) => ("event".to_owned(), event.id),
                    Part::Given(given) => (
                        "given".to_owned(),
                        format!("{} line {}", given.session, given.line),
                    ),
                    Part::Raw(raw) => ("event".to_owned(), raw.envelope.id),
                };
                let place = Place::Row { what, id };
                self.found.push(Found { place, marks });
            }
            progress.at(self.looked_at, all, "");
            Ok(())
        };
        parts::each(store, &Filter::default(), &mut look)?;
        parts::given(store, &mut look)
    }

    fn archive(&mut self) -> Result<(), CliError> {
        let archive = Archive::new(self.data.paths.archive());
        let all = archive.bytes();
        let mut done = 0;
        let mut progress = Progress::new("looking through the archive");
        for file in archive.files()? {
            let name = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let bad = archive::read(&file, |event| {
                let id = event.envelope.id.clone();
                if let Some(marks) = self.part(&mut Part::Raw(Box::new(event))) {
                    let place = Place::Archived {
                        file: name.clone(),
                        event: id,
                    };
                    self.found.push(Found { place, marks });
                }
            });
            self.unreadable += bad.map_err(fault(&file))?;
            done += fs::metadata(&file).map_or(0, |m| m.len());
            progress.at(done, all, "");
        }
        Ok(())
    }

    fn files(&mut self, folder: &Path, is_wanted: fn(&Path) -> bool) -> Result<(), CliError> {
        let entries = match fs::read_dir(folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(fault(folder))?,
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for path in files.into_iter().filter(|path| is_wanted(path)) {
            // A hook that is at work may have renamed it meanwhile.
            if !path.is_file() {
                continue;
            }
            self.looked_at += 1;
            for (line, marks) in read(self.redactor, &path)?.1 {
                let path = path.clone();
                let place = Place::File { path, line };
                self.found.push(Found { place, marks });
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
        && age.is_ok_and(|age| age >= HOOK_LIFETIME)
}

/// Numbers of lines, and what was in each.
type Lines = Vec<(usize, Marks)>;

/// The file without its secrets, and the lines that had some. A dead letter is
/// one thing, whatever its lines.
fn read(redactor: &Redactor, path: &Path) -> Result<(Vec<u8>, Lines), CliError> {
    let bytes = fs::read(path).map_err(fault(path))?;
    if let Ok(mut letter) = serde_json::from_slice::<DeadLetter>(&bytes) {
        let mut marks = Marks::new();
        for text in [&mut letter.payload, &mut letter.reason] {
            if let Cow::Owned(clean) = redactor.text(text, &mut marks) {
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
        let mut marks = Marks::new();
        clean.push_str(&redactor.text(line, &mut marks));
        if !marks.is_empty() {
            found.push((at + 1, marks));
        }
    }
    // A private key or a table shows only over several lines.
    if let Some(first) = redactor.scan(&clean).first() {
        let line = clean[..first.range.start].matches('\n').count() + 1;
        let mut marks = Marks::new();
        clean = redactor.text(&clean, &mut marks).into_owned();
        found.push((line, marks));
        found.sort_by_key(|(line, _)| *line);
    }
    Ok((clean.into_bytes(), found))
}

/// Takes the secrets out of a file, which is replaced whole.
pub(super) fn clean_file(redactor: &Redactor, path: &Path) -> Result<(), CliError> {
    let (clean, _) = read(redactor, path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(fault(path))?;
    io::Write::write_all(&mut file, &clean).map_err(fault(path))?;
    file.as_file().sync_all().map_err(fault(path))?;
    file.persist(path).map_err(|e| fault(path)(e.error))?;
    Ok(())
}

fn fault(path: &Path) -> impl FnOnce(io::Error) -> CliError + '_ {
    move |source| CliError::File {
        path: path.to_path_buf(),
        source,
    }
}
