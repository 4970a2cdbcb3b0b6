//! From lines to the store: once to look, once to write.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use remora_instructions::memories::SCHEME;
use remora_memory::redact::{Marks, Redactor};
use remora_memory::store::{Filter, Name, Store};
use remora_protocol::record::{Item, Kind, Override, Project, Session};
use remora_server::Forgotten;
use remora_server::archive::{self, Archive, Archived};

use super::Fault;
use super::corpus::{AGENT, Message, When};
use super::line::{Said, read};
use super::source::Source;
use crate::commands::parts::{BATCH, Part, Writer};
use crate::commands::progress::Progress;
use crate::commands::scrub::scrub;
use crate::error::CliError;

/// Faults that are remembered; a file with more is no file of ours.
const FAULTS: usize = 10_000;

/// What a look through the file has shown.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(super) faults: Vec<Fault>,
    /// The last place of a message without a moment.
    last_place: i64,
    /// Whether there are raw events.
    raw: bool,
}

/// Where lines go.
pub(crate) struct Target<'a> {
    pub(crate) store: &'a dyn Store,
    /// Without one, raw events are left out.
    pub(crate) archive: Option<PathBuf>,
    pub(crate) redactor: &'a Redactor,
    /// Everything goes into this project, whatever the file says.
    pub(crate) project: Option<String>,
    /// What users deleted stays away.
    pub(crate) forgotten: Forgotten,
    pub(crate) now: i64,
}

/// How much was read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) lines: u64,
    pub(crate) items: u64,
    /// Rows that are here already, as they are or newer.
    pub(crate) unchanged: u64,
    pub(crate) sessions: u64,
    /// What users said of items.
    pub(crate) corrections: u64,
    pub(crate) projects: u64,
    pub(crate) files: u64,
    pub(crate) events: u64,
    pub(crate) raw: u64,
    /// Rows of saved memories, which are left to their files.
    pub(crate) saved: u64,
    /// Lines of what users deleted.
    pub(crate) forgotten: u64,
    pub(crate) marks: Marks,
}

/// Looks through the file without storing anything.
pub(super) fn check(source: &Source, project: Option<&str>) -> Result<Checked, CliError> {
    let mut checked = Checked::default();
    let mut progress = Progress::new("reading");
    source.lines(&mut |number, done, line| {
        let fault = match read(&line) {
            Ok(Said::Head) => None,
            Ok(Said::Part(part)) => {
                checked.raw |= matches!(part, Part::Raw(_));
                None
            }
            Ok(Said::Message(message)) => {
                let when = message.when(number);
                if let Ok(When::Place(place)) = when {
                    checked.last_place = checked.last_place.max(place);
                }
                message.check(project).and(when.map(drop)).err()
            }
            Err(reason) => Some(reason),
        };
        if let Some(reason) = fault {
            checked.faults.push(Fault {
                line: number,
                reason,
            });
            if checked.faults.len() > FAULTS {
                return Err(CliError::Usage(format!(
                    "{}: more than {FAULTS} lines are neither an export of remora nor messages",
                    source.name
                )));
            }
        }
        progress.at(done, source.bytes, &format!("{number} lines"));
        Ok(())
    })?;
    Ok(checked)
}

/// Reads the file into the store; lines that are at fault are left out.
pub(super) fn load(
    source: &Source,
    checked: &Checked,
    target: Target<'_>,
) -> Result<Loaded, CliError> {
    let bad: HashSet<u64> = checked.faults.iter().map(|fault| fault.line).collect();
    let mut loader = Loader::new(target, checked)?;
    let mut progress = Progress::new("importing");
    source.lines(&mut |number, done, line| {
        if bad.contains(&number) {
            return Ok(());
        }
        // It was read once already; a file that changes in between is the
        // only way to fail here.
        let said = read(&line)
            .map_err(|reason| CliError::Usage(format!("{}:{number}: {reason}", source.name)))?;
        loader.loaded.lines += 1;
        match said {
            Said::Head => {}
            Said::Part(part) => loader.part(part)?,
            Said::Message(message) => loader.message(message, number)?,
        }
        progress.at(done, source.bytes, &format!("{number} lines"));
        Ok(())
    })?;
    loader.finish()
}

struct Loader<'a> {
    target: Target<'a>,
    writer: Writer<'a>,
    loaded: Loaded,
    /// Rows that wait until it is known whether the store has newer ones.
    waiting: Vec<(Item, When)>,
    /// Whether the store was empty before.
    fresh: bool,
    /// The moment from which places are counted.
    base: i64,
    known_projects: HashSet<String>,
    /// Items of which something was said.
    corrected: HashSet<String>,
    /// Sessions of messages, by id.
    sessions: HashMap<String, Session>,
    /// The last moment of each conversation.
    moments: HashMap<String, i64>,
    shelf: Shelf,
}

impl<'a> Loader<'a> {
    fn new(target: Target<'a>, checked: &Checked) -> Result<Self, CliError> {
        let counts = target.store.counts()?;
        let projects = target.store.projects()?;
        let corrected = target.store.overrides(None)?.into_iter();
        let shelf = match (&target.archive, checked.raw) {
            (Some(folder), true) => Shelf::open(folder.clone())?,
            _ => Shelf::default(),
        };
        Ok(Self {
            writer: Writer::new(target.store),
            loaded: Loaded::default(),
            waiting: Vec::new(),
            fresh: counts.items.is_empty() && counts.sessions == 0,
            base: target.now.saturating_sub(checked.last_place),
            known_projects: projects.into_iter().map(|project| project.key).collect(),
            corrected: corrected.map(|said| said.uid).collect(),
            sessions: HashMap::new(),
            moments: HashMap::new(),
            shelf,
            target,
        })
    }

    fn part(&mut self, mut part: Part) -> Result<(), CliError> {
        if self.is_forgotten(&mut part) {
            self.loaded.forgotten += 1;
            return Ok(());
        }
        if let Some(project) = self.target.project.clone() {
            move_to(&mut part, &project);
        }
        scrub(self.target.redactor, &mut part, &mut self.loaded.marks);
        match part {
            Part::Project(project) => self.project(project)?,
            Part::Override(said) => self.correction(said)?,
            Part::Session(session) => self.session(session)?,
            // Its file is the truth; where the file is not, it would be a ghost.
            Part::Item(item) if is_index(&item) => self.loaded.saved += 1,
            Part::Item(item) => {
                let when = When::At(item.time);
                self.item(*item, when)?;
            }
            Part::File(file) => {
                self.loaded.files += 1;
                self.writer.put(Part::File(file))?;
            }
            Part::Event(event) => {
                self.loaded.events += 1;
                self.writer.put(Part::Event(event))?;
            }
            // Of no use where rows have other numbers.
            Part::Given(_) => {}
            Part::Raw(raw) => {
                if self.target.archive.is_some() {
                    self.loaded.raw += u64::from(self.shelf.put(&raw)?);
                }
            }
        }
        Ok(())
    }

    /// Whether a user deleted this here; titles that went are taken out.
    fn is_forgotten(&self, part: &mut Part) -> bool {
        let forgotten = &self.target.forgotten;
        match part {
            Part::Session(session) => {
                if forgotten.covers_title(&session.id) {
                    session.title.clear();
                }
                forgotten.covers_session(session)
            }
            Part::Override(said) => forgotten.covers_override(said),
            Part::Item(item) => forgotten.covers_item(item),
            Part::Event(event) => forgotten.covers_event(event),
            Part::Raw(raw) => forgotten.covers_archived(raw),
            Part::File(file) => forgotten.covers_file(file),
            Part::Project(_) | Part::Given(_) => false,
        }
    }

    /// What is known of a project here, its root above all, stays.
    fn project(&mut self, project: Project) -> Result<(), CliError> {
        if self.known_projects.insert(project.key.clone()) {
            self.loaded.projects += 1;
            self.writer.put(Part::Project(project))?;
        }
        Ok(())
    }

    /// What was said here of an item counts more than what was said elsewhere.
    fn correction(&mut self, said: Override) -> Result<(), CliError> {
        if self.corrected.insert(said.uid.clone()) {
            self.loaded.corrections += 1;
            self.writer.put(Part::Override(said))?;
        }
        Ok(())
    }

    /// A conversation may come in several files.
    fn joined(&self, session: Session) -> Result<Session, CliError> {
        let Some(here) = self.here(&session.id)? else {
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

    fn here(&self, session: &str) -> Result<Option<Session>, CliError> {
        if self.fresh {
            return Ok(None);
        }
        let filter = Filter {
            session: Some(session.to_owned()),
            ..Filter::default()
        };
        Ok(self.target.store.sessions(&filter, 1)?.pop())
    }

    /// A session that went on here after it was exported stays as it is.
    fn session(&mut self, session: Session) -> Result<(), CliError> {
        let here = self.here(&session.id)?;
        if here.is_some_and(|here| here.last > session.last) {
            return Ok(());
        }
        self.loaded.sessions += 1;
        self.writer.put(Part::Session(session))?;
        Ok(())
    }

    fn item(&mut self, item: Item, when: When) -> Result<(), CliError> {
        self.waiting.push((item, when));
        if self.waiting.len() >= BATCH {
            self.settle()?;
        }
        Ok(())
    }

    /// Writes the rows that wait. One that happened again here stays as it is,
    /// and one whose moment was made up keeps the one made up first.
    fn settle(&mut self) -> Result<(), CliError> {
        let mut here = HashMap::new();
        if !self.fresh {
            let names: Vec<Name> = self
                .waiting
                .iter()
                .map(|(item, _)| Name::Uid(item.uid.clone()))
                .collect();
            for item in self.target.store.items(&names)? {
                here.insert(item.uid.clone(), item);
            }
        }
        for (mut item, when) in std::mem::take(&mut self.waiting) {
            if let Some(known) = here.get(&item.uid) {
                if matches!(when, When::Place(_)) {
                    item.time = known.time;
                    item.last_time = known.last_time;
                } else if item.id > 0 && known.last_time > item.last_time {
                    self.loaded.unchanged += 1;
                    continue;
                }
            }
            if item.id == 0 {
                self.heard(&item);
            }
            if here.get(&item.uid).is_some_and(|known| same(&item, known)) {
                self.loaded.unchanged += 1;
                continue;
            }
            self.loaded.items += 1;
            self.writer.put(Part::Item(Box::new(item)))?;
        }
        Ok(())
    }

    fn message(&mut self, message: Message, line: u64) -> Result<(), CliError> {
        let conv = message.conv().unwrap_or_default();
        let project = match &self.target.project {
            Some(project) => project.clone(),
            None => conv.clone(),
        };
        let when = message
            .when(line)
            .map_err(|reason| CliError::Usage(format!("line {line}: {reason}")))?;
        let (time, when) = match when {
            When::At(time) => {
                self.moments.insert(conv, time);
                (time, when)
            }
            When::Place(place) => match self.moments.get(&conv) {
                Some(time) => (*time, When::At(*time)),
                None => (self.base.saturating_add(place.max(0)), when),
            },
        };
        let mut part = Part::Item(Box::new(message.item(&project, time)));
        scrub(self.target.redactor, &mut part, &mut self.loaded.marks);
        let Part::Item(item) = part else {
            return Ok(());
        };
        let key = item.project.clone();
        if !self.known_projects.contains(&key) {
            let name = key.rsplit('/').next().unwrap_or_default();
            self.project(Project {
                name: if name.is_empty() { &key } else { name }.to_owned(),
                root: String::new(),
                key,
            })?;
        }
        self.item(*item, when)
    }

    fn heard(&mut self, item: &Item) {
        if let Some(session) = self.sessions.get_mut(&item.session) {
            session.started = session.started.min(item.time);
            session.last = session.last.max(item.time);
            return;
        }
        let session = Session {
            id: item.session.clone(),
            agent: AGENT.to_owned(),
            project: item.project.clone(),
            cwd: String::new(),
            branch: None,
            started: item.time,
            last: item.time,
            end_reason: Some(AGENT.to_owned()),
            prompts: 0,
            title: item.title.clone(),
        };
        self.sessions.insert(item.session.clone(), session);
    }

    fn finish(mut self) -> Result<Loaded, CliError> {
        self.settle()?;
        let mut sessions: Vec<Session> = std::mem::take(&mut self.sessions).into_values().collect();
        sessions.sort_by(|a, b| (a.started, &a.id).cmp(&(b.started, &b.id)));
        for session in sessions {
            let session = self.joined(session)?;
            self.session(session)?;
        }
        self.writer.flush()?;
        self.shelf.flush()?;
        Ok(self.loaded)
    }
}

/// Whether writing the row would change nothing. Rows from elsewhere have no
/// number yet.
fn same(item: &Item, known: &Item) -> bool {
    if item.id > 0 {
        return item == known;
    }
    let numbered = Item {
        id: known.id,
        ..item.clone()
    };
    numbered == *known
}

/// Whether a row only follows the file of a saved memory.
fn is_index(item: &Item) -> bool {
    let address = item.key.as_deref().unwrap_or_default();
    item.kind == Kind::Memory && address.starts_with(SCHEME)
}

/// Puts a part into another project.
fn move_to(part: &mut Part, key: &str) {
    let slot = match part {
        Part::Project(project) => &mut project.key,
        Part::Override(said) => &mut said.project,
        Part::Session(session) => &mut session.project,
        Part::Item(item) => &mut item.project,
        Part::File(file) => &mut file.project,
        Part::Event(_) | Part::Given(_) => return,
        Part::Raw(raw) => match &mut raw.envelope.project {
            Some(project) => &mut project.key,
            None => return,
        },
    };
    key.clone_into(slot);
}

/// Raw events on their way into the archive, each once.
#[derive(Debug, Default)]
struct Shelf {
    folder: PathBuf,
    archive: Option<Archive>,
    known: HashSet<String>,
    lines: Vec<u8>,
    day: i64,
}

const DAY: i64 = 86_400_000;
/// Text of one frame.
const FRAME: usize = 1024 * 1024;

impl Shelf {
    fn open(folder: PathBuf) -> Result<Self, CliError> {
        let archive = Archive::new(&folder);
        let mut known = HashSet::new();
        for file in archive.files()? {
            archive::read(&file, |event| {
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
    fn put(&mut self, raw: &Archived) -> Result<bool, CliError> {
        if !self.known.insert(raw.envelope.id.clone()) {
            return Ok(false);
        }
        let day = self.day.max(raw.envelope.at.div_euclid(DAY));
        if day != self.day || self.lines.len() >= FRAME {
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
                .append(&lines, self.day.saturating_mul(DAY))
                .map_err(|source| CliError::File {
                    path: self.folder.clone(),
                    source,
                })?;
        }
        Ok(())
    }
}
