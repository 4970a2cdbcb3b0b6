//! `remora import` of another memory system's database: sessions, prompts,
//! observations and summaries as items, calls that nothing was made of through
//! the same way as events. The database is only read; importing it twice
//! changes nothing, but items go to another project when that is asked for.

mod projects;
mod rows;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use remora_core::ids::{ItemUid, SessionId};
use remora_core::record::{self, Item, Kind};
use remora_files::{ReadError, open_regular};
use remora_memory::store::{Filter, ItemRef, PageRequest, SortOrder, Store, StoreError};
use remora_redact::{RedactionCounts, Redactor};
use remora_server::ingest::{EventRedactor, FailedEvent, ImportIngest};
use remora_server::panics::catch_panic;
use remora_store::foreign::{ForeignDatabase, ForeignSession, ForeignToolUse};
use serde_json::json;

use self::projects::ProjectMapping;
use self::rows::SessionFields;
use super::{EmbeddingChoice, embed_imported};
use crate::args::ImportClaudeMemArgs;
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::parts::{BatchWriter, StorePart};
use crate::commands::progress::Progress;
use crate::commands::scrub::redact_part;
use crate::commands::show::lines::{flatten_text, format_count, format_counts};
use crate::commands::vectors::EmbeddingStats;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

/// Prompts of a session that are compared.
const MAX_COMPARED_PROMPTS: usize = 10_000;
/// Items of a session that are moved.
const MAX_SESSION_ITEMS: usize = 100_000;
/// Projects that a message lists by name.
const MAX_LISTED_PROJECTS: usize = 8;

/// How much came.
#[derive(Debug, Default)]
struct DatabaseImportStats {
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    calls: u64,
    unchanged: u64,
    /// Calls that handling panicked on.
    left_out: Vec<FailedEvent>,
    /// Items that were in another project.
    moved: u64,
    marks: RedactionCounts,
    /// Their projects whose items lie where no folder belongs to.
    apart: BTreeSet<String>,
    /// Their projects that became that of the folder the import was begun in.
    here: BTreeMap<String, String>,
    /// Projects that the user named and that their database does not have.
    unmet: BTreeSet<String>,
}

pub(super) fn run(args: &ImportClaudeMemArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let redactor = data.app.build_redactor()?;
    // SQLite would wait for a pipe, and read a device.
    if let Err(e @ ReadError::Special) = open_regular(&args.file) {
        return Err(CliError::File {
            path: args.file.clone(),
            source: e.into(),
        });
    }
    let foreign = ForeignDatabase::open(&args.file).map_err(|e| database_error(&args.file, e))?;
    let sessions = foreign
        .list_sessions()
        .map_err(|e| database_error(&args.file, e))?;
    // After their database could be read: a wrong file must not disturb the
    // worker.
    let guard = data.app.lock_worker()?;
    let store = data.app.open_writable_store()?;
    let projects = ProjectMapping::new(&data, &*store, &args.project)?;
    let mut loader = DatabaseImporter::new(&*store, &redactor, args, projects, sessions);
    loader.import_sessions()?;
    loader.import_items(&foreign)?;
    let ingest = ImportIngest::new(&*store, data.app.config.capture_policy(), &data.app.paths)?;
    let cleaner = EventRedactor::new(&redactor, data.app.config.get_list("capture.ignore"));
    loader.import_tool_calls(&foreign, ingest, cleaner)?;
    let mut brought = loader.brought;
    (brought.here, brought.unmet) = loader.projects.into_summary();
    let (made, rest) = embed_imported(
        &data,
        store,
        guard,
        EmbeddingChoice::from_flag(args.no_vectors),
    )?;
    print_report(args, &brought, &made, out)?;
    if !args.json {
        rest.print_notice(&made, out)?;
    }
    Ok(made.to_exit())
}

/// The store that is at fault is theirs, not ours.
fn database_error(file: &Path, error: StoreError) -> CliError {
    let why = match error {
        StoreError::Again(why) => format!("{why}; try again when no other program writes to it"),
        StoreError::Damaged(why) | StoreError::Failed(why) => why,
        other => other.to_string(),
    };
    let file = file.display().to_string();
    if why.starts_with(&file) {
        return CliError::Usage(why);
    }
    CliError::Usage(format!("{file}: {why}"))
}

struct DatabaseImporter<'a> {
    file: &'a Path,
    store: &'a dyn Store,
    writer: BatchWriter<'a>,
    redactor: &'a Redactor,
    projects: ProjectMapping,
    /// By either of their ids.
    known: HashMap<String, SessionFields>,
    sessions: Vec<ForeignSession>,
    /// Words of prompts that are here already, by session.
    said: HashMap<SessionId, HashSet<String>>,
    brought: DatabaseImportStats,
}

impl<'a> DatabaseImporter<'a> {
    fn new(
        store: &'a dyn Store,
        redactor: &'a Redactor,
        args: &'a ImportClaudeMemArgs,
        projects: ProjectMapping,
        sessions: Vec<ForeignSession>,
    ) -> Self {
        Self {
            file: &args.file,
            writer: BatchWriter::new(store),
            projects,
            store,
            redactor,
            known: HashMap::new(),
            sessions,
            said: HashMap::new(),
            brought: DatabaseImportStats::default(),
        }
    }

    /// Sessions that are here already stay as they are, except for the project
    /// of those that an import brought.
    fn import_sessions(&mut self) -> Result<(), CliError> {
        for project in self.projects.drain_new_projects() {
            self.add_redacted_part(StorePart::Project(project))?;
        }
        for session in std::mem::take(&mut self.sessions) {
            let project = self.resolve_project(&session.project)?;
            let known = SessionFields::from_session(&session, &project);
            // Their items refer to a session by either id.
            for id in [&session.id, &session.memory_id] {
                if !id.is_empty() {
                    self.known.insert(id.clone(), known.clone());
                }
            }
            if session.id.is_empty() {
                continue;
            }
            if let Some(there) = self.find_session(&session.id)? {
                self.move_session(there, &project)?;
                continue;
            }
            self.brought.sessions += 1;
            let part = StorePart::Session(rows::convert_session(&session, &known));
            self.add_redacted_part(part)?;
        }
        self.writer.flush()?;
        Ok(())
    }

    fn find_session(&self, session: &str) -> Result<Option<record::Session>, CliError> {
        let filter = Filter {
            session: Some(session.into()),
            ..Filter::default()
        };
        Ok(self.store.list_sessions(&filter, 1)?.pop())
    }

    /// With its items, if it came with an import and belongs elsewhere.
    fn move_session(&mut self, there: record::Session, project: &str) -> Result<(), CliError> {
        // What hooks captured here is certain of its project; only imports
        // guess it.
        let imported = there.end_reason.as_deref() == Some(super::corpus::IMPORT_AGENT);
        if !imported || !self.projects.should_move(&there.project, project) {
            return Ok(());
        }
        let filter = Filter {
            session: Some(there.id.clone()),
            project: Some(there.project.clone()),
            ..Filter::default()
        };
        let page = PageRequest {
            order: SortOrder::Oldest,
            beyond: None,
            limit: MAX_SESSION_ITEMS,
        };
        for item in self.store.list_items(&filter, page)? {
            self.move_item(item, project)?;
        }
        self.add_redacted_part(StorePart::Session(record::Session {
            project: project.into(),
            ..there
        }))
    }

    fn move_item(&mut self, item: Item, project: &str) -> Result<(), CliError> {
        self.brought.moved += 1;
        self.add_redacted_part(StorePart::Item(Box::new(Item {
            project: project.into(),
            ..item
        })))
    }

    fn import_items(&mut self, foreign: &ForeignDatabase) -> Result<(), CliError> {
        let mut progress = Progress::new("importing");
        let mut after = 0;
        loop {
            let page = self.map_read_error(foreign.list_prompts(after))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let mut items = Vec::with_capacity(page.len());
            for prompt in page {
                let known = self.session_fields(&prompt.session, "");
                let item = rows::convert_prompt(&prompt, &known);
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
            let page = self.map_read_error(foreign.list_observations(after))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let mut items = Vec::with_capacity(page.len());
            for observation in page {
                let project = self.resolve_project(&observation.project)?;
                let known = self.session_fields(&observation.session, &project);
                items.push(rows::convert_observation(observation, &known, &project));
            }
            self.store_new(items)?;
            progress.update_line(
                0,
                0,
                &format_count(self.brought.observations, "item", "items"),
            );
        }
        after = 0;
        loop {
            let page = self.map_read_error(foreign.list_summaries(after))?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let mut items = Vec::with_capacity(page.len());
            for summary in page {
                let project = self.resolve_project(&summary.project)?;
                let known = self.session_fields(&summary.session, &project);
                items.push(rows::convert_summary(summary, &known, &project));
            }
            self.store_new(items)?;
        }
        self.writer.flush()?;
        Ok(())
    }

    /// Calls that wait there, or that nothing was made of, are read here.
    fn import_tool_calls(
        &mut self,
        foreign: &ForeignDatabase,
        mut ingest: ImportIngest<'_>,
        mut cleaner: EventRedactor<'_>,
    ) -> Result<(), CliError> {
        let tables: [(&str, &dyn Fn(i64) -> _); 2] = [
            ("pending", &|after| foreign.list_pending_calls(after)),
            ("orphan", &|after| foreign.list_orphan_calls(after)),
        ];
        for (table, read) in tables {
            let mut after = 0;
            loop {
                let page: Vec<ForeignToolUse> = self.map_read_error(read(after))?;
                let Some(last) = page.last() else { break };
                after = last.id;
                let mut events = Vec::with_capacity(page.len());
                for call in page {
                    if call.tool.is_empty() || call.session.is_empty() {
                        continue;
                    }
                    let project = self.resolve_project(&call.project)?;
                    let known = self.session_fields(&call.session, &project);
                    self.ensure_session(&known, call.time)?;
                    let project = self.projects.project_with_root(&known.project, &call.cwd);
                    let (envelope, event) = rows::convert_tool_use(call, table, &known, project);
                    let (id, marks) = (envelope.id.clone(), &mut self.brought.marks);
                    match catch_panic(|| cleaner.redact_event(envelope, event, marks)) {
                        Ok(event) => events.push(event),
                        Err(panicked) => self.brought.left_out.push(FailedEvent {
                            id,
                            reason: panicked.to_string(),
                        }),
                    }
                }
                self.writer.flush()?;
                let stats = ingest.ingest_events(&events, clock::now_ms())?;
                self.brought.left_out.extend(stats.left_out);
                self.brought.calls += stats.stored;
                self.brought.unchanged += stats.repeated;
            }
        }
        Ok(())
    }

    fn map_read_error<T>(&self, page: Result<T, StoreError>) -> Result<T, CliError> {
        page.map_err(|e| database_error(self.file, e))
    }

    /// A session known only from calls is over like all others of theirs;
    /// derived from its calls it would stay open for ever.
    fn ensure_session(&mut self, known: &SessionFields, time: i64) -> Result<(), CliError> {
        if self.known.contains_key(&known.id) {
            return Ok(());
        }
        self.known.insert(known.id.clone(), known.clone());
        if self.find_session(&known.id)?.is_some() {
            return Ok(());
        }
        self.brought.sessions += 1;
        let session = ForeignSession {
            started: time,
            ..ForeignSession::default()
        };
        self.add_redacted_part(StorePart::Session(rows::convert_session(&session, known)))
    }

    fn session_fields(&self, id: &str, project: &str) -> SessionFields {
        self.known
            .get(id)
            .cloned()
            .unwrap_or_else(|| SessionFields {
                id: id.to_owned(),
                project: project.to_owned(),
                agent: super::corpus::IMPORT_AGENT.into(),
            })
    }

    /// Our project of that name; a new one is described.
    fn resolve_project(&mut self, theirs: &str) -> Result<String, CliError> {
        if theirs.is_empty() {
            return Ok(String::new());
        }
        let (key, new) = self.projects.map_project(theirs);
        if let Some(project) = new {
            self.add_redacted_part(StorePart::Project(project))?;
        }
        Ok(key)
    }

    /// Whether hooks or transcripts have stored this prompt already.
    fn was_said(&mut self, item: &Item) -> Result<bool, CliError> {
        if !self.said.contains_key(&item.session) {
            let filter = Filter {
                session: Some(item.session.clone()),
                kinds: vec![Kind::Prompt],
                ..Filter::default()
            };
            let page = PageRequest::newest(MAX_COMPARED_PROMPTS);
            let rows = self.store.list_items(&filter, page)?;
            let texts = rows
                .into_iter()
                // Items of an earlier import are known by their own ids.
                .filter(|row| row.external_id.is_none())
                .map(|row| flatten_text(&row.text));
            self.said.insert(item.session.clone(), texts.collect());
        }
        let mut words = item.text.clone();
        if let std::borrow::Cow::Owned(clean) = self
            .redactor
            .redact_text(&item.text, &mut RedactionCounts::default())
        {
            words = clean;
        }
        Ok(self.said[&item.session].contains(&flatten_text(&words)))
    }

    fn store_new(&mut self, items: Vec<Item>) -> Result<(), CliError> {
        let names: Vec<ItemRef> = items.iter().map(|i| ItemRef::Uid(i.uid.clone())).collect();
        let here = self.store.find_items(&names)?;
        let mut here: HashMap<ItemUid, Item> = here
            .into_iter()
            .map(|item| (item.uid.clone(), item))
            .collect();
        for item in items {
            let there = here.remove(&item.uid);
            let lies = there.as_ref().map_or(&item.project, |row| &row.project);
            if *lies == item.project && self.projects.is_apart(lies) {
                self.brought.apart.insert(lies.to_string());
            }
            match there {
                Some(there) if self.projects.should_move(&there.project, &item.project) => {
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
            self.add_redacted_part(StorePart::Item(Box::new(item)))?;
        }
        Ok(())
    }

    fn add_redacted_part(&mut self, mut part: StorePart) -> Result<(), CliError> {
        redact_part(self.redactor, &mut part, &mut self.brought.marks);
        Ok(self.writer.add_part(part)?)
    }
}

fn print_report(
    args: &ImportClaudeMemArgs,
    brought: &DatabaseImportStats,
    made: &EmbeddingStats,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        let redacted: BTreeMap<&str, usize> = brought
            .marks
            .iter()
            .map(|mark| (mark.kind, mark.count))
            .collect();
        let left_out: Vec<&str> = brought.left_out.iter().map(|l| l.id.as_str()).collect();
        let mut report = json!({
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
        made.add_trouble(&mut report);
        return out.print_json(&report);
    }
    let counts = [
        (brought.sessions, "session", "sessions"),
        (brought.prompts, "prompt", "prompts"),
        (brought.observations, "observation", "observations"),
        (brought.summaries, "summary", "summaries"),
        (brought.calls, "call", "calls"),
    ];
    let counts = format_counts(&counts).unwrap_or_else(|| "nothing".to_owned());
    let there = match brought.unchanged {
        0 => String::new(),
        n => format!(
            "; {} here already",
            format_count(n, "item was", "items were")
        ),
    };
    let moved = match brought.moved {
        0 => String::new(),
        n => format!(
            "; {} moved to another project",
            format_count(n, "item", "items")
        ),
    };
    out.print_text(&format!("imported {counts}{there}{moved}\n"))?;
    for left in &brought.left_out {
        let text = format!("left out {}: {}", left.id, left.reason);
        out.print_text(&format!("{}\n", out.paint(Style::Yellow, &text)))?;
    }
    if !brought.marks.is_empty() {
        let kinds: Vec<String> = brought
            .marks
            .iter()
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        out.print_text(&format!("redacted {}\n", kinds.join(", ")))?;
    }
    for (theirs, ours) in &brought.here {
        let text = format!("their {theirs} is {ours}, the project of this folder");
        out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    }
    for name in &brought.unmet {
        let text = format!(
            "--project: they have no project called {}",
            escape_invisible(name)
        );
        out.print_text(&format!("{}\n", out.paint(Style::Yellow, &text)))?;
    }
    if !brought.apart.is_empty() {
        let names: Vec<&str> = brought.apart.iter().map(String::as_str).collect();
        let mut list = names[..names.len().min(MAX_LISTED_PROJECTS)].join(", ");
        if names.len() > MAX_LISTED_PROJECTS {
            list = format!("{list} and {} more", names.len() - MAX_LISTED_PROJECTS);
        }
        let text = format!(
            "no project here is called {}; the same again in the folder of that name, or with --project THEIRS=OURS, moves the items of one of theirs to yours",
            escape_invisible(&list)
        );
        out.print_text(&format!("{}\n", out.paint(Style::Yellow, &text)))?;
    }
    Ok(())
}
