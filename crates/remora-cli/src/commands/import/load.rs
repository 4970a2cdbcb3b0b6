//! From lines to the store: once to look, once to write.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use remora_core::ids::{ItemUid, ProjectKey, SessionId};
use remora_core::record::{Item, Kind, Override, Project, Session};
use remora_memory::store::{Filter, ItemRef, Store};
use remora_notes::MEMORY_URI_SCHEME;
use remora_redact::{RedactionCounts, Redactor};
use remora_server::DeletionLog;
use remora_server::archive::{self, Archive, ArchivedEvent};

use super::LineError;
use super::corpus::{CorpusMessage, IMPORT_AGENT, MessageTime};
use super::line::{ImportLine, parse_line};
use super::source::ImportSource;
use crate::commands::parts::{BatchWriter, MAX_BATCH_PARTS, StorePart};
use crate::commands::progress::Progress;
use crate::commands::scrub::redact_part;
use crate::error::CliError;

/// Faults that are remembered; a file with more is no file of ours.
const MAX_LINE_ERRORS: usize = 10_000;

/// What a look through the file has shown.
#[derive(Debug, Default)]
pub(crate) struct ImportCheck {
    pub(super) faults: Vec<LineError>,
    /// The last place of a message without a time.
    last_place: i64,
    /// Whether there are raw events.
    raw: bool,
}

/// Where lines go.
pub(crate) struct ImportDestination<'a> {
    pub(crate) store: &'a dyn Store,
    /// Without one, raw events are left out.
    pub(crate) archive: Option<PathBuf>,
    pub(crate) redactor: &'a Redactor,
    /// Everything goes into this project, whatever the file says.
    pub(crate) project: Option<ProjectKey>,
    /// What users deleted stays away.
    pub(crate) forgotten: DeletionLog,
    pub(crate) now: i64,
}

/// How much was read.
#[derive(Debug, Default)]
pub(crate) struct LoadStats {
    pub(crate) lines: u64,
    pub(crate) items: u64,
    /// Items that are here already, as they are or newer.
    pub(crate) unchanged: u64,
    pub(crate) sessions: u64,
    /// What users said of items.
    pub(crate) corrections: u64,
    pub(crate) projects: u64,
    pub(crate) files: u64,
    pub(crate) events: u64,
    pub(crate) raw: u64,
    /// Items of saved memories, which are left to their files.
    pub(crate) saved: u64,
    /// Lines of what users deleted.
    pub(crate) forgotten: u64,
    pub(crate) marks: RedactionCounts,
}

/// Looks through the file without storing anything.
pub(super) fn check_source(
    source: &ImportSource,
    project: Option<&str>,
) -> Result<ImportCheck, CliError> {
    let mut checked = ImportCheck::default();
    let mut progress = Progress::new("reading");
    source.for_each_line(&mut |number, done, line| {
        let fault = match parse_line(&line) {
            Ok(ImportLine::Head) => None,
            Ok(ImportLine::Part(part)) => {
                checked.raw |= matches!(part, StorePart::Raw(_));
                None
            }
            Ok(ImportLine::Message(message)) => {
                let when = message.parse_time(number);
                if let Ok(MessageTime::Place(place)) = when {
                    checked.last_place = checked.last_place.max(place);
                }
                message.check_fields(project).and(when.map(drop)).err()
            }
            Err(reason) => Some(reason),
        };
        if let Some(reason) = fault {
            checked.faults.push(LineError {
                line: number,
                reason,
            });
            if checked.faults.len() > MAX_LINE_ERRORS {
                return Err(CliError::Usage(format!(
                    "{}: more than {MAX_LINE_ERRORS} lines are neither an export of remora nor messages",
                    source.name
                )));
            }
        }
        progress.update_line(done, source.bytes, &format!("{number} lines"));
        Ok(())
    })?;
    Ok(checked)
}

/// Reads the file into the store; lines that are at fault are left out.
pub(super) fn load_source(
    source: &ImportSource,
    checked: &ImportCheck,
    target: ImportDestination<'_>,
) -> Result<LoadStats, CliError> {
    let bad: HashSet<u64> = checked.faults.iter().map(|fault| fault.line).collect();
    let mut loader = LineLoader::new(target, checked)?;
    let mut progress = Progress::new("importing");
    source.for_each_line(&mut |number, done, line| {
        if bad.contains(&number) {
            return Ok(());
        }
        // It was read once already; a file that changes in between is the
        // only way to fail here.
        let said = parse_line(&line)
            .map_err(|reason| CliError::Usage(format!("{}:{number}: {reason}", source.name)))?;
        loader.loaded.lines += 1;
        match said {
            ImportLine::Head => {}
            ImportLine::Part(part) => loader.load_part(part)?,
            ImportLine::Message(message) => loader.load_message(message, number)?,
        }
        progress.update_line(done, source.bytes, &format!("{number} lines"));
        Ok(())
    })?;
    loader.finish()
}

struct LineLoader<'a> {
    target: ImportDestination<'a>,
    writer: BatchWriter<'a>,
    loaded: LoadStats,
    /// Items that wait until it is known whether the store has newer ones.
    waiting: Vec<(Item, MessageTime)>,
    /// Whether the store was empty before.
    fresh: bool,
    /// The time from which places are counted.
    base: i64,
    known_projects: HashSet<ProjectKey>,
    /// Items of which something was said.
    corrected: HashSet<ItemUid>,
    /// Sessions of messages, by id.
    sessions: HashMap<SessionId, Session>,
    /// The last time of each conversation.
    times: HashMap<String, i64>,
    shelf: ArchiveWriter,
}

impl<'a> LineLoader<'a> {
    fn new(target: ImportDestination<'a>, checked: &ImportCheck) -> Result<Self, CliError> {
        let counts = target.store.count_contents()?;
        let projects = target.store.list_projects()?;
        let corrected = target.store.list_overrides(None)?.into_iter();
        let shelf = match (&target.archive, checked.raw) {
            (Some(folder), true) => ArchiveWriter::open(folder.clone())?,
            _ => ArchiveWriter::default(),
        };
        Ok(Self {
            writer: BatchWriter::new(target.store),
            loaded: LoadStats::default(),
            waiting: Vec::new(),
            // Into an empty store nothing has to be compared, which spares a
            // restore a query for every item.
            fresh: counts.items.is_empty() && counts.sessions == 0,
            base: target.now.saturating_sub(checked.last_place),
            known_projects: projects.into_iter().map(|project| project.key).collect(),
            corrected: corrected.map(|said| said.uid).collect(),
            sessions: HashMap::new(),
            times: HashMap::new(),
            shelf,
            target,
        })
    }

    fn load_part(&mut self, mut part: StorePart) -> Result<(), CliError> {
        // First of all: an old export must not bring back what the user deleted
        // here.
        if self.is_forgotten(&mut part) {
            self.loaded.forgotten += 1;
            return Ok(());
        }
        if let Some(project) = self.target.project.clone() {
            move_to(&mut part, &project);
        }
        redact_part(self.target.redactor, &mut part, &mut self.loaded.marks);
        match part {
            StorePart::Project(project) => self.load_project(project)?,
            StorePart::Override(said) => self.load_override(said)?,
            StorePart::Session(session) => self.load_session(session)?,
            // Its file is the source; where the file is not, it would be a ghost.
            StorePart::Item(item) if is_index(&item) => self.loaded.saved += 1,
            StorePart::Item(item) => {
                let when = MessageTime::At(item.time);
                self.queue_item(*item, when)?;
            }
            StorePart::File(file) => {
                self.loaded.files += 1;
                self.writer.add_part(StorePart::File(file))?;
            }
            StorePart::Event(event) => {
                self.loaded.events += 1;
                self.writer.add_part(StorePart::Event(event))?;
            }
            // Of no use where items have other numbers.
            StorePart::Injection(_) => {}
            StorePart::Raw(raw) => {
                if self.target.archive.is_some() {
                    self.loaded.raw += u64::from(self.shelf.append_event(&raw)?);
                }
            }
        }
        Ok(())
    }

    /// Whether a user deleted this here; titles that went are removed.
    fn is_forgotten(&self, part: &mut StorePart) -> bool {
        let forgotten = &self.target.forgotten;
        match part {
            StorePart::Session(session) => {
                if forgotten.covers_title(&session.id) {
                    session.title.clear();
                }
                forgotten.covers_session(session)
            }
            StorePart::Override(said) => forgotten.covers_override(said),
            StorePart::Item(item) => forgotten.covers_item(item),
            StorePart::Event(event) => forgotten.covers_event(event),
            StorePart::Raw(raw) => forgotten.covers_archived(raw),
            StorePart::File(file) => forgotten.covers_file(file),
            StorePart::Project(_) | StorePart::Injection(_) => false,
        }
    }

    /// What is known of a project here, its root above all, stays.
    fn load_project(&mut self, project: Project) -> Result<(), CliError> {
        if self.known_projects.insert(project.key.clone()) {
            self.loaded.projects += 1;
            self.writer.add_part(StorePart::Project(project))?;
        }
        Ok(())
    }

    /// What was said here of an item counts more than what was said elsewhere.
    fn load_override(&mut self, said: Override) -> Result<(), CliError> {
        if self.corrected.insert(said.uid.clone()) {
            self.loaded.corrections += 1;
            self.writer.add_part(StorePart::Override(said))?;
        }
        Ok(())
    }

    /// A conversation may come in several files.
    fn merge_session(&self, session: Session) -> Result<Session, CliError> {
        let Some(here) = self.find_session(&session.id)? else {
            return Ok(session);
        };
        let (first, last) = (
            session.started.min(here.started),
            session.last.max(here.last),
        );
        let early = if here.started <= session.started {
            here
        } else {
            session
        };
        Ok(Session {
            started: first,
            last,
            ..early
        })
    }

    fn find_session(&self, session: &str) -> Result<Option<Session>, CliError> {
        if self.fresh {
            return Ok(None);
        }
        let filter = Filter {
            session: Some(session.into()),
            ..Filter::default()
        };
        Ok(self.target.store.list_sessions(&filter, 1)?.pop())
    }

    /// A session that went on here after it was exported stays as it is.
    fn load_session(&mut self, session: Session) -> Result<(), CliError> {
        let here = self.find_session(&session.id)?;
        if here.is_some_and(|here| here.last > session.last) {
            return Ok(());
        }
        self.loaded.sessions += 1;
        self.writer.add_part(StorePart::Session(session))?;
        Ok(())
    }

    fn queue_item(&mut self, item: Item, when: MessageTime) -> Result<(), CliError> {
        self.waiting.push((item, when));
        if self.waiting.len() >= MAX_BATCH_PARTS {
            self.flush_items()?;
        }
        Ok(())
    }

    /// Writes the items that wait. One that happened again here stays as it is,
    /// and one whose time was made up keeps the one made up first.
    fn flush_items(&mut self) -> Result<(), CliError> {
        let mut here = HashMap::new();
        if !self.fresh {
            let names: Vec<ItemRef> = self
                .waiting
                .iter()
                .map(|(item, _)| ItemRef::Uid(item.uid.clone()))
                .collect();
            for item in self.target.store.find_items(&names)? {
                here.insert(item.uid.clone(), item);
            }
        }
        for (mut item, when) in std::mem::take(&mut self.waiting) {
            if let Some(known) = here.get(&item.uid) {
                if matches!(when, MessageTime::Place(_)) {
                    item.time = known.time;
                    item.last_time = known.last_time;
                } else if item.id > 0 && known.last_time > item.last_time {
                    // An item of ours that happened again here is newer than
                    // the export.
                    self.loaded.unchanged += 1;
                    continue;
                }
            }
            // Messages bring no sessions of their own; they are made from their
            // items.
            if item.id == 0 {
                self.update_session(&item);
            }
            if here
                .get(&item.uid)
                .is_some_and(|known| is_same_item(&item, known))
            {
                self.loaded.unchanged += 1;
                continue;
            }
            self.loaded.items += 1;
            self.writer.add_part(StorePart::Item(Box::new(item)))?;
        }
        Ok(())
    }

    fn load_message(&mut self, message: CorpusMessage, line: u64) -> Result<(), CliError> {
        let conv = message.conv().unwrap_or_default();
        let project = match &self.target.project {
            Some(project) => project.clone(),
            None => conv.as_str().into(),
        };
        let when = message
            .parse_time(line)
            .map_err(|reason| CliError::Usage(format!("line {line}: {reason}")))?;
        let (time, when) = match when {
            MessageTime::At(time) => {
                self.times.insert(conv, time);
                (time, when)
            }
            MessageTime::Place(place) => match self.times.get(&conv) {
                // Between dated messages of a conversation an undated one
                // belongs to the last date.
                Some(time) => (*time, MessageTime::At(*time)),
                None => (self.base.saturating_add(place.max(0)), when),
            },
        };
        let mut part = StorePart::Item(Box::new(message.into_item(&project, time)));
        redact_part(self.target.redactor, &mut part, &mut self.loaded.marks);
        let StorePart::Item(item) = part else {
            return Ok(());
        };
        let key = item.project.clone();
        if !self.known_projects.contains(&key) {
            let name = key.rsplit('/').next().unwrap_or_default();
            self.load_project(Project {
                name: if name.is_empty() { &key } else { name }.to_owned(),
                root: String::new(),
                key,
            })?;
        }
        self.queue_item(*item, when)
    }

    fn update_session(&mut self, item: &Item) {
        if let Some(session) = self.sessions.get_mut(&item.session) {
            session.started = session.started.min(item.time);
            session.last = session.last.max(item.time);
            return;
        }
        let session = Session {
            id: item.session.clone(),
            agent: IMPORT_AGENT.into(),
            project: item.project.clone(),
            cwd: String::new(),
            branch: None,
            started: item.time,
            last: item.time,
            end_reason: Some(IMPORT_AGENT.to_owned()),
            prompts: 0,
            title: item.title.clone(),
        };
        self.sessions.insert(item.session.clone(), session);
    }

    fn finish(mut self) -> Result<LoadStats, CliError> {
        self.flush_items()?;
        let mut sessions: Vec<Session> = std::mem::take(&mut self.sessions).into_values().collect();
        // A map has no order, and two imports of one file must write the same.
        sessions.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
        for session in sessions {
            let session = self.merge_session(session)?;
            self.load_session(session)?;
        }
        self.writer.flush()?;
        self.shelf.flush()?;
        Ok(self.loaded)
    }
}

/// Whether writing the item would change nothing. Items from elsewhere have no
/// number yet.
fn is_same_item(item: &Item, known: &Item) -> bool {
    if item.id > 0 {
        return item == known;
    }
    let numbered = Item {
        id: known.id,
        ..item.clone()
    };
    numbered == *known
}

/// Whether an item only follows the file of a saved memory.
fn is_index(item: &Item) -> bool {
    let address = item.key.as_deref().unwrap_or_default();
    item.kind == Kind::Memory && address.starts_with(MEMORY_URI_SCHEME)
}

/// Puts a part into another project.
fn move_to(part: &mut StorePart, key: &str) {
    let slot = match part {
        StorePart::Project(project) => &mut project.key,
        StorePart::Override(said) => &mut said.project,
        StorePart::Session(session) => &mut session.project,
        StorePart::Item(item) => &mut item.project,
        StorePart::File(file) => &mut file.project,
        StorePart::Event(_) | StorePart::Injection(_) => return,
        StorePart::Raw(raw) => match &mut raw.envelope.project {
            Some(project) => &mut project.key,
            None => return,
        },
    };
    *slot = key.into();
}

/// Raw events on their way into the archive, each once.
#[derive(Debug, Default)]
struct ArchiveWriter {
    folder: PathBuf,
    archive: Option<Archive>,
    known: HashSet<String>,
    lines: Vec<u8>,
    day: i64,
}

const DAY_MS: i64 = 86_400_000;
/// Text of one frame.
const MAX_FRAME_BYTES: usize = 1024 * 1024;

impl ArchiveWriter {
    fn open(folder: PathBuf) -> Result<Self, CliError> {
        let archive = Archive::new(&folder);
        let mut known = HashSet::new();
        // An import of the same file must not archive its events twice.
        for file in archive.list_files()? {
            archive::read_events(&file, |event| {
                known.insert(event.envelope.id);
            })
            .map_err(|source| CliError::File {
                path: file.clone(),
                source,
            })?;
        }
        Ok(Self {
            folder,
            archive: Some(archive),
            known,
            lines: Vec::new(),
            day: 0,
        })
    }

    /// Whether it was new. The days of the files follow the events, but never
    /// go back, so that the order of events stays.
    fn append_event(&mut self, raw: &ArchivedEvent) -> Result<bool, CliError> {
        if !self.known.insert(raw.envelope.id.clone()) {
            return Ok(false);
        }
        let day = self.day.max(raw.envelope.at.div_euclid(DAY_MS));
        if day != self.day || self.lines.len() >= MAX_FRAME_BYTES {
            self.flush()?;
            self.day = day;
        }
        serde_json::to_writer(&mut self.lines, raw)?;
        self.lines.push(b'\n');
        Ok(true)
    }

    fn flush(&mut self) -> Result<(), CliError> {
        let lines = std::mem::take(&mut self.lines);
        if let Some(archive) = &mut self.archive {
            archive
                .append(&lines, self.day.saturating_mul(DAY_MS))
                .map_err(|source| CliError::File {
                    path: self.folder.clone(),
                    source,
                })?;
        }
        Ok(())
    }
}
