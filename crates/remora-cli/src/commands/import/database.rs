//! `remora import` of another memory system's database: sessions, prompts,
//! observations and summaries as rows, calls that nothing was made of through
//! the same way as events. The database is only read; importing it twice
//! changes nothing, but rows go to another project when that is asked for.

mod projects;
mod rows;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use remora_files::{ReadError, open_regular};
use remora_memory::redact::{Marks, Redactor};
use remora_memory::store::{Filter, Name, Order, Page, Store, StoreError};
use remora_protocol::record::{self, Item, Kind};
use remora_server::intake::{Cleaner, Intake, LeftOut};
use remora_server::panics::catch;
use remora_store::foreign::{Foreign, Session, ToolUse};
use serde_json::json;

use self::projects::Projects;
use self::rows::Known;
use super::{Vectors, embed, redactor};
use crate::args::ImportClaudeMem;
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::parts::{Part, Writer};
use crate::commands::progress::Progress;
use crate::commands::scrub::scrub;
use crate::commands::show::lines::{count, counts, flat};
use crate::commands::vectors::Made;
use crate::commands::worker;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

/// Prompts of a session that are compared.
const PROMPTS: usize = 10_000;
/// Rows of a session that are moved.
const ROWS: usize = 100_000;
/// Projects that are named one by one.
const NAMED: usize = 8;

/// How much came.
#[derive(Debug, Default)]
struct Brought {
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    calls: u64,
    unchanged: u64,
    /// Calls that handling panicked on.
    left_out: Vec<LeftOut>,
    /// Rows that were in another project.
    moved: u64,
    marks: Marks,
    /// Their projects whose rows lie where no folder belongs to.
    apart: BTreeSet<String>,
    /// Their projects that became that of the folder the import was begun in.
    here: BTreeMap<String, String>,
    /// Projects that the person named and they do not have.
    unmet: BTreeSet<String>,
}

pub(super) fn run(args: &ImportClaudeMem, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let redactor = redactor(&data)?;
    // SQLite would wait for a pipe, and read a device.
    if let Err(e @ ReadError::Special) = open_regular(&args.file) {
        return Err(CliError::File {
            path: args.file.clone(),
            source: e.into(),
        });
    }
    let foreign = Foreign::open(&args.file).map_err(|e| unreadable(&args.file, e))?;
    let sessions = foreign.sessions().map_err(|e| unreadable(&args.file, e))?;
    let guard = Exclusive::take(&data.paths)?;
    let store = data.writable()?;
    let projects = Projects::new(&data, &store, &args.project)?;
    let mut loader = Loader::new(&store, &redactor, args, projects, sessions);
    loader.sessions()?;
    loader.rows(&foreign)?;
    let intake = Intake::new(&store, worker::policy(&data), &data.paths)?;
    let cleaner = Cleaner::new(&redactor, data.config.list("capture.ignore"));
    loader.calls(&foreign, intake, cleaner)?;
    let mut brought = loader.brought;
    (brought.here, brought.unmet) = loader.projects.told();
    let (made, rest) = embed(&data, store, guard, Vectors::asked(args.no_vectors))?;
    report(args, &brought, &made, out)?;
    if !args.json {
        rest.say(&made, out)?;
    }
    Ok(made.exit())
}

/// The store that is at fault is theirs, not ours.
fn unreadable(file: &Path, error: StoreError) -> CliError {
    let why = match error {
        StoreError::Again(why) => format!("{why}; try again when nobody writes to it"),
        StoreError::Damaged(why) | StoreError::Failed(why) => why,
        other => other.to_string(),
    };
    let file = file.display().to_string();
    if why.starts_with(&file) {
        return CliError::Usage(why);
    }
    CliError::Usage(format!("{file}: {why}"))
}

struct Loader<'a> {
    file: &'a Path,
    store: &'a dyn Store,
    writer: Writer<'a>,
    redactor: &'a Redactor,
    projects: Projects,
    /// By either of their ids.
    known: HashMap<String, Known>,
    sessions: Vec<Session>,
    /// Words of prompts that are here already, by session.
    said: HashMap<String, HashSet<String>>,
    brought: Brought,
}

impl<'a> Loader<'a> {
    fn new(
        store: &'a dyn Store,
        redactor: &'a Redactor,
        args: &'a ImportClaudeMem,
        projects: Projects,
        sessions: Vec<Session>,
    ) -> Self {
        Self {
            file: &args.file,
            writer: Writer::new(store),
            projects,
            store,
            redactor,
            known: HashMap::new(),
            sessions,
            said: HashMap::new(),
            brought: Brought::default(),
        }
    }

    /// Sessions that are here already stay as they are, except for the project
    /// of those that an import brought.
    fn sessions(&mut self) -> Result<(), CliError> {
        for project in self.projects.described() {
            self.put(Part::Project(project))?;
        }
        for session in std::mem::take(&mut self.sessions) {
            let project = self.project(&session.project)?;
            let known = Known::of(&session, &project);
            for id in [&session.id, &session.memory_id] {
                if !id.is_empty() {
                    self.known.insert(id.clone(), known.clone());
                }
            }
            if session.id.is_empty() {
                continue;
            }
            if let Some(there) = self.here(&session.id)? {
                self.move_session(there, &project)?;
                continue;
            }
            self.brought.sessions += 1;
            let part = Part::Session(rows::session(&session, &known));
            self.put(part)?;
        }
        self.writer.flush()?;
        Ok(())
    }

    fn here(&self, session: &str) -> Result<Option<record::Session>, CliError> {
        let filter = Filter {
            session: Some(session.to_owned()),
            ..Filter::default()
        };
        Ok(self.store.sessions(&filter, 1)?.pop())
    }

    /// With its rows, if it came with an import and belongs elsewhere.
    fn move_session(&mut self, there: record::Session, project: &str) -> Result<(), CliError> {
        let imported = there.end_reason.as_deref() == Some(super::corpus::AGENT);
        if !imported || !self.projects.moves(&there.project, project) {
            return Ok(());
        }
        let filter = Filter {
            session: Some(there.id.clone()),
            project: Some(there.project.clone()),
            ..Filter::default()
        };
        let page = Page {
            order: Order::Oldest,
            beyond: None,
            limit: ROWS,
        };
        for item in self.store.list(&filter, page)? {
            self.move_item(item, project)?;
        }
        self.put(Part::Session(record::Session {
            project: project.to_owned(),
            ..there
        }))
    }

    fn move_item(&mut self, item: Item, project: &str) -> Result<(), CliError> {
        self.brought.moved += 1;
        self.put(Part::Item(Box::new(Item {
            project: project.to_owned(),
            ..item
        })))
    }

    fn rows(&mut self, foreign: &Foreign) -> Result<(), CliError> {
        let mut progress = Progress::new("importing");
        let mut after = 0;
        loop {
            let page = self.read(foreign.prompts(after))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let mut items = Vec::with_capacity(page.len());
            for prompt in page {
                let known = self.session(&prompt.session, "");
                let item = rows::prompt(&prompt, &known);
                if self.was_said(&item)? {
                    self.brought.unchanged += 1;
                } else {
                    items.push(item);
                }
            }
            self.store_new(items)?;
        }
        after = 0;
        loop {
            let page = self.read(foreign.observations(after))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let mut items = Vec::with_capacity(page.len());
            for observation in page {
                let project = self.project(&observation.project)?;
                let known = self.session(&observation.session, &project);
                items.push(rows::observation(observation, &known, &project));
            }
            self.store_new(items)?;
            progress.at(0, 0, &count(self.brought.observations, "row", "rows"));
        }
        after = 0;
        loop {
            let page = self.read(foreign.summaries(after))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let mut items = Vec::with_capacity(page.len());
            for summary in page {
                let project = self.project(&summary.project)?;
                let known = self.session(&summary.session, &project);
                items.push(rows::summary(summary, &known, &project));
            }
            self.store_new(items)?;
        }
        self.writer.flush()?;
        Ok(())
    }

    /// Calls that wait there, or that nothing was made of, are looked at here.
    fn calls(
        &mut self,
        foreign: &Foreign,
        mut intake: Intake<'_>,
        mut cleaner: Cleaner<'_>,
    ) -> Result<(), CliError> {
        let tables: [(&str, &dyn Fn(i64) -> _); 2] = [
            ("pending", &|after| foreign.pending(after)),
            ("orphan", &|after| foreign.orphans(after)),
        ];
        for (table, read) in tables {
            let mut after = 0;
            loop {
                let page: Vec<ToolUse> = self.read(read(after))?;
                let Some(last) = page.last() else { break };
                after = last.id;
                let mut events = Vec::with_capacity(page.len());
                for call in page {
                    if call.tool.is_empty() || call.session.is_empty() {
                        continue;
                    }
                    let project = self.project(&call.project)?;
                    let known = self.session(&call.session, &project);
                    self.begin(&known, call.time)?;
                    let project = self.projects.whole(&known.project, &call.cwd);
                    let (envelope, event) = rows::call(call, table, &known, project);
                    let (id, marks) = (envelope.id.clone(), &mut self.brought.marks);
                    match catch(|| cleaner.clean(envelope, event, marks)) {
                        Ok(event) => events.push(event),
                        Err(panicked) => self.brought.left_out.push(LeftOut {
                            id,
                            reason: panicked.to_string(),
                        }),
                    }
                }
                self.writer.flush()?;
                let taken = intake.take(&events, clock::millis())?;
                self.brought.left_out.extend(taken.left_out);
                self.brought.calls += taken.stored;
                self.brought.unchanged += taken.repeated;
            }
        }
        Ok(())
    }

    fn read<T>(&self, page: Result<T, StoreError>) -> Result<T, CliError> {
        page.map_err(|e| unreadable(self.file, e))
    }

    /// A session that only calls tell of is over like all others of theirs;
    /// made from its calls it would stay open for ever.
    fn begin(&mut self, known: &Known, time: i64) -> Result<(), CliError> {
        if self.known.contains_key(&known.id) {
            return Ok(());
        }
        self.known.insert(known.id.clone(), known.clone());
        if self.here(&known.id)?.is_some() {
            return Ok(());
        }
        self.brought.sessions += 1;
        let session = Session {
            started: time,
            ..Session::default()
        };
        self.put(Part::Session(rows::session(&session, known)))
    }

    fn session(&self, id: &str, project: &str) -> Known {
        self.known.get(id).cloned().unwrap_or_else(|| Known {
            id: id.to_owned(),
            project: project.to_owned(),
            agent: super::corpus::AGENT.to_owned(),
        })
    }

    /// Our project of that name; a new one is described.
    fn project(&mut self, theirs: &str) -> Result<String, CliError> {
        if theirs.is_empty() {
            return Ok(String::new());
        }
        let (key, new) = self.projects.of(theirs);
        if let Some(project) = new {
            self.put(Part::Project(project))?;
        }
        Ok(key)
    }

    /// Whether hooks or transcripts brought this prompt.
    fn was_said(&mut self, item: &Item) -> Result<bool, CliError> {
        if !self.said.contains_key(&item.session) {
            let filter = Filter {
                session: Some(item.session.clone()),
                kinds: vec![Kind::Prompt],
                ..Filter::default()
            };
            let page = Page::newest(PROMPTS);
            let rows = self.store.list(&filter, page)?;
            let texts = rows
                .into_iter()
                .filter(|row| row.external_id.is_none())
                .map(|row| flat(&row.text));
            self.said.insert(item.session.clone(), texts.collect());
        }
        let mut words = item.text.clone();
        if let std::borrow::Cow::Owned(clean) =
            self.redactor.text(&item.text, &mut Marks::default())
        {
            words = clean;
        }
        Ok(self.said[&item.session].contains(&flat(&words)))
    }

    fn store_new(&mut self, items: Vec<Item>) -> Result<(), CliError> {
        let names: Vec<Name> = items.iter().map(|i| Name::Uid(i.uid.clone())).collect();
        let here = self.store.items(&names)?;
        let mut here: HashMap<String, Item> = here
            .into_iter()
            .map(|item| (item.uid.clone(), item))
            .collect();
        for item in items {
            let there = here.remove(&item.uid);
            let lies = there.as_ref().map_or(&item.project, |row| &row.project);
            if *lies == item.project && self.projects.is_apart(lies) {
                self.brought.apart.insert(lies.clone());
            }
            match there {
                Some(there) if self.projects.moves(&there.project, &item.project) => {
                    self.move_item(there, &item.project)?;
                    continue;
                }
                Some(_) => {
                    self.brought.unchanged += 1;
                    continue;
                }
                None => {}
            }
            match item.kind {
                Kind::Prompt => self.brought.prompts += 1,
                Kind::Summary => self.brought.summaries += 1,
                _ => self.brought.observations += 1,
            }
            self.put(Part::Item(Box::new(item)))?;
        }
        Ok(())
    }

    fn put(&mut self, mut part: Part) -> Result<(), CliError> {
        scrub(self.redactor, &mut part, &mut self.brought.marks);
        Ok(self.writer.put(part)?)
    }
}

fn report(
    args: &ImportClaudeMem,
    brought: &Brought,
    made: &Made,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        let redacted: BTreeMap<&str, usize> = brought
            .marks
            .iter()
            .map(|mark| (mark.kind, mark.count))
            .collect();
        let left_out: Vec<&str> = brought.left_out.iter().map(|l| l.id.as_str()).collect();
        let mut told = json!({
            "sessions": brought.sessions,
            "prompts": brought.prompts,
            "observations": brought.observations,
            "summaries": brought.summaries,
            "calls": brought.calls,
            "unchanged": brought.unchanged,
            "left_out": left_out,
            "moved": brought.moved,
            "apart": brought.apart,
            "here": brought.here,
            "unmet": brought.unmet,
            "redacted": redacted,
            "embedded": made.embedded,
            "waiting": made.waiting,
        });
        made.add_trouble(&mut told);
        return out.json(&told);
    }
    let told = [
        (brought.sessions, "session", "sessions"),
        (brought.prompts, "prompt", "prompts"),
        (brought.observations, "observation", "observations"),
        (brought.summaries, "summary", "summaries"),
        (brought.calls, "call", "calls"),
    ];
    let told = counts(&told).unwrap_or_else(|| "nothing".to_owned());
    let there = match brought.unchanged {
        0 => String::new(),
        n => format!("; {} here already", count(n, "row was", "rows were")),
    };
    let moved = match brought.moved {
        0 => String::new(),
        n => format!("; {} moved to another project", count(n, "row", "rows")),
    };
    out.text(&format!("imported {told}{there}{moved}\n"))?;
    for left in &brought.left_out {
        let text = format!("left out {}: {}", left.id, left.reason);
        out.text(&format!("{}\n", out.paint(Style::Yellow, &text)))?;
    }
    if !brought.marks.is_empty() {
        let kinds: Vec<String> = brought
            .marks
            .iter()
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        out.text(&format!("redacted {}\n", kinds.join(", ")))?;
    }
    for (theirs, ours) in &brought.here {
        let text = format!("their {theirs} is {ours}, the project of this folder");
        out.text(&format!("{}\n", visible(&text)))?;
    }
    for name in &brought.unmet {
        let text = format!("--project: they have no project called {}", visible(name));
        out.text(&format!("{}\n", out.paint(Style::Yellow, &text)))?;
    }
    if !brought.apart.is_empty() {
        let names: Vec<&str> = brought.apart.iter().map(String::as_str).collect();
        let mut list = names[..names.len().min(NAMED)].join(", ");
        if names.len() > NAMED {
            list = format!("{list} and {} more", names.len() - NAMED);
        }
        let text = format!(
            "no project here is called {}; the same again in the folder of that name, or with --project THEIRS=OURS, moves the rows of one of theirs to yours",
            visible(&list)
        );
        out.text(&format!("{}\n", out.paint(Style::Yellow, &text)))?;
    }
    Ok(())
}
