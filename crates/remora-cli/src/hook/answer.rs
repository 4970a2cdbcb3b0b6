//! What a hook says: the moment that its event is, what memory has for it, and
//! the switches that the person has set. Anything that goes wrong here means
//! that nothing is said.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_agents::Answer;
use remora_client::{
    Claim, EMBEDDING_BUDGET_MS, EmbeddingRequest, Folder, GivenFile, PendingTasks, ProjectLocation,
    given_file, stable_hash, write_our_file,
};
use remora_memory::output::printed_output;
use remora_memory::private::strip_private;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{self, Given, Intent, Moment, PromptSearch, Recall};
use remora_memory::store::{Filter, Page, Store, StoreError};
use remora_protocol::record::{Kind, Project};
use remora_protocol::{Event, EventName};
use remora_server::join;
use remora_store::{Access, SqliteStore};
use serde_json::Value;

use super::Hook;
use super::failing::{SHELL_TOOL, may_tell_failure};
use crate::clock;
use crate::environment::Environment;
use crate::output::{quoted, visible};
use crate::recall::{Before, Ground, Settings, embedding_of, relative};
use crate::tools::prefix;

/// An answer that takes longer is given up.
const DEADLINE: Duration = Duration::from_millis(150);
/// A summary that waited longer belongs to another compaction.
const STALE: Duration = Duration::from_mins(10);
/// The most of a summary that is compared.
const SUMMARY: usize = 128 * 1024;

/// The tool that starts a subagent, and what older clients call it.
const SUBAGENT_TOOLS: [&str; 2] = ["Agent", "Task"];
/// The kind of a subagent for which none was named.
const DEFAULT_AGENT_TYPE: &str = "general-purpose";

/// Whether an event may be answered at all; the settings may still say no.
pub(super) fn is_answered(event: EventName) -> bool {
    matches!(
        event,
        EventName::SessionStart
            | EventName::UserPromptSubmit
            | EventName::PreToolUse
            | EventName::PostToolUse
            | EventName::PostToolUseFailure
            | EventName::SubagentStart
            | EventName::SubagentStop
            | EventName::PreCompact
            | EventName::Stop
    )
}

/// One event that may be answered.
pub(super) struct Asked<'a> {
    hook: &'a Hook,
    event: Event,
    place: &'a ProjectLocation,
    settings: Settings,
    /// Why the person's settings do not count.
    fault: Option<String>,
    end: Instant,
}

/// How long this machine may take: a slow disk, or a hook that is being measured.
pub(super) fn deadline(environment: &Environment) -> Duration {
    let told = environment.get("REMORA_DEADLINE_MS");
    let told = told.and_then(|text| text.to_str()?.parse().ok());
    told.map_or(DEADLINE, |millis: u16| Duration::from_millis(millis.into()))
}

/// How long a prompt waits for its embedding; with 0 none is asked for.
fn embedding_budget(environment: &Environment) -> Duration {
    let told = environment.get("REMORA_EMBEDDING_BUDGET_MS");
    let told = told.and_then(|text| text.to_str()?.parse::<u16>().ok());
    Duration::from_millis(told.map_or(EMBEDDING_BUDGET_MS, u64::from))
}

impl<'a> Asked<'a> {
    /// `None` when the settings, or the event itself, ask for no answer.
    pub(super) fn new(
        hook: &'a Hook,
        name: EventName,
        bytes: &[u8],
        place: &'a ProjectLocation,
    ) -> Option<Self> {
        let end = Instant::now() + deadline(&hook.environment);
        let (settings, fault) = hook.settings();
        match name {
            EventName::PostToolUse if !settings.suggests && !may_tell_failure(bytes) => {
                return None;
            }
            EventName::Stop if settings.guard == 0 => return None,
            _ => {}
        }
        let decoded = hook.spec.and_then(|spec| (spec.decode)(bytes).ok())?;
        Some(Self {
            hook,
            event: decoded.event,
            place,
            settings,
            fault,
            end,
        })
    }

    /// What is said; nothing when anything goes wrong. `is_kept` says whether the
    /// event itself was.
    pub(super) fn answer(&self, is_kept: bool) -> Answer {
        if self.event.name == EventName::SubagentStop {
            // The summary of a compaction comes as the last words of an agent
            // without a name, before the session starts anew.
            if self.text("agent_type").is_empty() {
                self.keep_summary();
            }
            return Answer::default();
        }
        let mut receipt = self.receipt().filter(|_| is_kept);
        if self.has_nothing_to_ask() && receipt.is_none() {
            return Answer::default();
        }
        let mut answer = match self.open_given() {
            Ok(Some(given)) => self.try_answer(given).unwrap_or_else(|e| {
                self.hook.log(&format!("no answer: {e}"));
                Answer::default()
            }),
            // Another installation has answered this event, receipt and all.
            Ok(None) => {
                receipt = None;
                Answer::default()
            }
            Err(e) => {
                self.hook.log(&format!("no answer: {e}"));
                Answer::default()
            }
        };
        if let Some(receipt) = receipt {
            answer.context = Some(match answer.context {
                Some(context) => format!("{receipt}\n{context}"),
                None => receipt,
            });
        }
        if let Some(fault) = &self.fault
            && self.event.name == EventName::SessionStart
        {
            answer.message = Some(format!(
                "Remora: the settings cannot be read, and nothing is stored until they can: {fault}"
            ));
        }
        answer
    }

    /// Whether the event alone says that memory has nothing for it.
    fn has_nothing_to_ask(&self) -> bool {
        match self.event.name {
            EventName::UserPromptSubmit => recall::intent(self.text("prompt")) == Intent::Trivial,
            EventName::PreToolUse => {
                let reads = self.text("tool_name") == "Read" && !self.input("file_path").is_empty();
                !reads && !self.starts_subagent()
            }
            EventName::PostToolUseFailure => {
                self.input("command").is_empty() && !self.misses_a_file()
            }
            EventName::PostToolUse => !self.is_edit() && !self.fails_silently(),
            _ => false,
        }
    }

    /// What says that a prompt's wish to have something remembered is granted.
    fn receipt(&self) -> Option<String> {
        let is_prompt = self.event.name == EventName::UserPromptSubmit;
        is_prompt
            .then(|| recall::receipt(self.text("prompt")))
            .flatten()
    }

    /// What the session was given; `None` if this event has been answered.
    fn open_given(&self) -> io::Result<Option<GivenFile>> {
        let agent = Some(self.text("agent_id")).filter(|id| !id.is_empty());
        let mut file = GivenFile::open(&self.hook.paths, self.session(), agent)?;
        let is_first = file.claim(&self.claim(), clock::millis())?;
        Ok(is_first.then_some(file))
    }

    fn try_answer(&self, mut file: GivenFile) -> Result<Answer, Box<dyn std::error::Error>> {
        let source = self.text("source");
        let starts = self.event.name == EventName::SessionStart;
        // It must not stay behind, whatever comes now.
        let summary = (source == "compact").then(|| self.take_summary()).flatten();
        let now = clock::millis();
        if starts && matches!(source, "clear" | "compact") {
            file.reset(source, now)?;
        }
        if self.event.name == EventName::PreToolUse && self.starts_subagent() {
            self.note_task(&file, now)?;
            return Ok(Answer::default());
        }
        let task = self.take_task(&file, now)?;
        let mut before = Before(Some(file));
        // The worker encodes while the database is opened.
        let embedding = self.request_embedding(&before, task.as_deref());
        let Some(store) = self.store()? else {
            let message = starts.then(|| self.hint()).flatten();
            return Ok(Answer {
                message,
                ..Answer::default()
            });
        };
        let mut answer = Answer::default();
        let earlier = if starts { self.earlier(&store) } else { None };
        match self.event.name {
            EventName::PreCompact => {
                let session = self.session();
                answer.instructions = recall::instructions(&store, session)?;
            }
            EventName::Stop => answer.block = self.guard(&store, &mut before, now)?,
            EventName::PostToolUse if self.is_edit() => {
                answer.context = self.suggest(&store, &mut before, now)?;
            }
            _ => {
                let (path, printed) = (self.path(), self.printed());
                let mut moment = self.moment(summary.as_deref(), task.as_deref(), &path, &printed);
                if source == "resume" && starts && self.is_older(&store)? {
                    moment = Some(Moment::Start);
                }
                if let Some(moment) = moment {
                    let mut ground = self.ground(earlier.as_ref());
                    ground.embedding = embedding.map(|request| {
                        PromptEmbedding::pending(|| embedding_of(&request.receive()?))
                    });
                    let scene = ground.scene(self.session(), &before);
                    let found = recall::recall(&store, &scene, &moment)?;
                    if Instant::now() >= self.end {
                        return Err("it took too long".into());
                    }
                    before.note(&found, moment.name(), now)?;
                    answer.message = starts.then(|| self.greeting(&found)).flatten();
                    if let Some(moved) = earlier.and_then(|old| self.moved(&old)) {
                        answer.message = Some(moved);
                    }
                    if starts && let Some(waiting) = self.waiting() {
                        answer.message = Some(waiting);
                    }
                    answer.context = found.text;
                }
            }
        }
        Ok(answer)
    }

    /// Asks the worker for the embedding of a prompt or of a subagent's task. A
    /// worker that is away, old or busy costs nothing, one that is slow the
    /// budget at most.
    fn request_embedding(&self, before: &Before, task: Option<&str>) -> Option<EmbeddingRequest> {
        let text = match self.event.name {
            EventName::UserPromptSubmit => {
                let prompt = self.text("prompt");
                let search = PromptSearch::choose(before, recall::intent(prompt), prompt);
                (search == PromptSearch::Everything).then_some(prompt)?
            }
            _ => task?,
        };
        if !self.settings.embeds {
            return None;
        }
        let budget = embedding_budget(&self.hook.environment);
        EmbeddingRequest::send(&self.hook.paths, text, budget)
    }

    /// Whether a call hands a task to a subagent.
    fn starts_subagent(&self) -> bool {
        SUBAGENT_TOOLS.contains(&self.text("tool_name")) && !self.input("prompt").is_empty()
    }

    /// Notes the task for the start of its subagent, which does not name it.
    fn note_task(&self, turn: &GivenFile, now: i64) -> io::Result<()> {
        let agent_type = match self.input("subagent_type") {
            "" => DEFAULT_AGENT_TYPE,
            named => named,
        };
        let text = format!("{}\n{}", self.input("description"), self.input("prompt"));
        let tasks = PendingTasks::of_session(&self.hook.paths, self.session(), turn);
        tasks.note_task(agent_type, strip_private(&text).trim(), now)
    }

    /// The task of the subagent that begins, if its call was seen.
    fn take_task(&self, turn: &GivenFile, now: i64) -> io::Result<Option<String>> {
        if self.event.name != EventName::SubagentStart {
            return Ok(None);
        }
        let tasks = PendingTasks::of_session(&self.hook.paths, self.session(), turn);
        tasks.take_task(self.text("agent_type"), now)
    }

    /// The moment that this event is, if it is one.
    fn moment<'m>(
        &'m self,
        summary: Option<&'m str>,
        task: Option<&'m str>,
        path: &'m str,
        printed: &'m str,
    ) -> Option<Moment<'m>> {
        Some(match self.event.name {
            EventName::SessionStart => match self.text("source") {
                "resume" | "fork" => Moment::Resume,
                "compact" => Moment::Compact(summary),
                _ => Moment::Start,
            },
            EventName::UserPromptSubmit => Moment::Prompt(self.text("prompt")),
            EventName::PreToolUse => Moment::Read(path),
            EventName::PostToolUseFailure if self.misses_a_file() => Moment::Missing(path),
            EventName::PostToolUseFailure => Moment::Failure {
                command: self.input("command"),
                error: self.text("error"),
            },
            EventName::PostToolUse => Moment::SilentFailure {
                command: self.input("command"),
                printed,
            },
            EventName::SubagentStart => Moment::Subagent(task),
            _ => return None,
        })
    }

    /// Whether the session is one of before Remora: nothing of it is known, so
    /// nothing was given to it either.
    fn is_older(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let filter = Filter {
            session: Some(self.session().to_owned()),
            ..Filter::default()
        };
        Ok(store.list(&filter, Page::newest(1))?.is_empty())
    }

    /// What this folder was known as, if something is remembered of that alone.
    fn earlier(&self, store: &dyn Store) -> Option<Project> {
        let earlier = join::earlier(store, &self.place.project);
        let earlier = earlier.inspect_err(|e| self.hook.log(&format!("earlier keys: {e}")));
        earlier.ok()?.into_iter().next()
    }

    /// What the scene stands on. A folder that has just got a remote is still
    /// asked for by its path: the worker joins the two after this event.
    fn ground(&self, earlier: Option<&Project>) -> Ground {
        let (environment, paths) = (&self.hook.environment, &self.hook.paths);
        let root = Path::new(&self.place.project.root);
        let spec = self.hook.spec;
        let prefix = spec.and_then(|spec| prefix(environment, paths, spec, root));
        let limits = self.settings.limits;
        let mut place = self.place.clone();
        if let Some(old) = earlier.filter(|old| self.is_own_folder(old)) {
            old.key.clone_into(&mut place.project.key);
        }
        let mut ground = Ground::new(place, prefix, limits).until(self.end);
        if self.event.name == EventName::SessionStart {
            ground.changed = remora_client::changed_files(paths, root);
        }
        ground
    }

    fn guard(
        &self,
        store: &dyn Store,
        before: &mut Before,
        now: i64,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        const ONCE: &str = "guard";
        let active = self.event.fields.get("stop_hook_active");
        if active == Some(&Value::Bool(true)) || Given::told(before, ONCE) {
            return Ok(None);
        }
        let reason = recall::guard(store, self.session(), self.settings.guard)?;
        if reason.is_some() {
            before.tell(ONCE, now)?;
        }
        Ok(reason)
    }

    fn suggest(
        &self,
        store: &dyn Store,
        before: &mut Before,
        now: i64,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        let (ground, path) = (self.ground(None), self.path());
        let found = recall::suggestion(store, &ground.scene(self.session(), before), &path)?;
        let Some((text, once)) = found else {
            return Ok(None);
        };
        before.tell(&once, now)?;
        Ok(Some(text))
    }

    /// What makes this event another one than the one before it.
    fn claim(&self) -> String {
        // Several subagents begin within one prompt.
        let told = ["tool_use_id", "agent_id", "prompt_id", "source"];
        let id = told
            .iter()
            .map(|field| self.text(field))
            .find(|id| !id.is_empty());
        let (name, id) = (self.event.name.as_str(), id.unwrap_or_default());
        format!("{name} {id} {}", self.text("cwd"))
    }

    /// One line for the person, if somebody is there to read it.
    fn greeting(&self, found: &Recall) -> Option<String> {
        if !self.greets() {
            return None;
        }
        if found.given.is_empty() {
            return None;
        }
        let count = |kind: fn(Kind) -> bool| found.given.iter().filter(|c| kind(c.kind)).count();
        let memories = count(|kind| kind == Kind::Memory);
        let summaries = count(|kind| kind == Kind::Summary);
        let rows = found.given.len() - memories - summaries;
        let parts = [
            (memories, "saved memory", "saved memories"),
            (summaries, "summary", "summaries"),
            (rows, "row", "rows"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
            .collect();
        let tokens: u32 = found.given.iter().map(|chosen| chosen.tokens).sum();
        Some(format!(
            "Remora remembers: {} ({tokens} tokens). `remora context` shows what and why.",
            parts.join(", ")
        ))
    }

    fn is_own_folder(&self, old: &Project) -> bool {
        join::is_own_folder(old, &self.place.project, &self.place.main)
    }

    /// Said once of a checkout whose remote names a key that other roots hold.
    /// The command needs no argument, so nothing that a repository chose can end
    /// up in a user's shell.
    fn waiting(&self) -> Option<String> {
        let Claim::Waiting { key, holders } = &self.place.claim else {
            return None;
        };
        let holder = holders.first()?;
        let pair = stable_hash(format!("{}\0{key}", self.place.main).as_bytes());
        if !self.is_first(&format!("waiting-{pair:016x}")) {
            return None;
        }
        Some(format!(
            "Remora: this checkout says it is {key}, which is the project of {holder}. It has a \
             memory of its own; if they are the same project, `remora projects join` here makes \
             them share one.",
            key = visible(key),
            holder = visible(holder),
        ))
    }

    /// Said once of a folder whose remote has changed: it may be another project
    /// now, so a person must decide.
    fn moved(&self, old: &Project) -> Option<String> {
        if self.is_own_folder(old) || self.place.awaited_key().is_some() {
            return None;
        }
        let (old, new) = (&old.key, &self.place.project.key);
        let pair = stable_hash(format!("{old}\0{new}").as_bytes());
        if !self.is_first(&format!("moved-{pair:016x}")) {
            return None;
        }
        Some(format!(
            "Remora: this folder was {old} before and is {new} now. If that is the same project, \
             `remora projects join {quoted}` brings back what is remembered of it.",
            quoted = quoted(old),
        ))
    }

    /// Whether there is somebody to read it who was not told before.
    fn is_first(&self, mark: &str) -> bool {
        let run = Folder::open(self.hook.paths.run());
        self.greets() && run.is_ok_and(|run| run.create_file(mark.as_ref()).is_ok())
    }

    /// Said once, when there is nothing to remember yet.
    fn hint(&self) -> Option<String> {
        self.is_first("hinted").then(|| {
            format!(
                "Remora is on: this session will be remembered. `remora import {}` brings in what \
                 came before it, `remora pause` stops it.",
                self.hook.agent
            )
        })
    }

    fn greets(&self) -> bool {
        self.hook.environment.switch("CLAUDE_CODE_SESSION_ATTENDED") && self.settings.greets
    }

    fn store(&self) -> Result<Option<SqliteStore>, StoreError> {
        let database = self.hook.paths.database();
        if !database.exists() {
            return Ok(None);
        }
        match remora_store::open(&database, Access::ReadUntil(self.end)) {
            // The worker is just making it.
            Err(StoreError::Empty) => Ok(None),
            other => other.map(Some),
        }
    }

    fn keep_summary(&self) {
        let text = self.text("last_assistant_message");
        let text = strip_private(&text[..text.floor_char_boundary(SUMMARY)]);
        if let Err(e) = self.write_summary(&text) {
            self.hook.log(&format!("a summary was not kept: {e}"));
        }
    }

    fn write_summary(&self, text: &str) -> io::Result<()> {
        let file = self.summary_file();
        if let Some(folder) = file.parent() {
            remora_client::make_our_folder(folder)?;
        }
        write_our_file(&file, text.as_bytes())
    }

    fn take_summary(&self) -> Option<String> {
        let file = self.summary_file();
        let written = fs::metadata(&file).and_then(|meta| meta.modified());
        let fresh = written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < STALE));
        let text = fs::read_to_string(&file).ok().filter(|_| fresh);
        let _ = fs::remove_file(file);
        text
    }

    fn summary_file(&self) -> PathBuf {
        let given = given_file(&self.hook.paths, self.session());
        given.with_extension("summary")
    }

    /// Whether an edit may be answered with a word about saving.
    fn is_edit(&self) -> bool {
        self.settings.suggests && matches!(self.text("tool_name"), "Write" | "Edit")
    }

    /// Whether a shell's call exited with 0 and its output tells of a failure.
    fn fails_silently(&self) -> bool {
        self.text("tool_name") == SHELL_TOOL
            && recall::fails_silently(self.input("command"), &self.printed())
    }

    /// What a call that exited with 0 printed.
    fn printed(&self) -> String {
        let response = self.event.fields.get("tool_response");
        response.map(printed_output).unwrap_or_default()
    }

    /// Whether a file was to be opened that is not there.
    fn misses_a_file(&self) -> bool {
        let error = self.text("error");
        let says = ["does not exist", "no such file", "ENOENT"];
        !self.input("file_path").is_empty() && says.iter().any(|said| error.contains(said))
    }

    /// The file that a call is about.
    fn path(&self) -> String {
        let path = self.input("file_path");
        if path.is_empty() {
            return String::new();
        }
        relative(path, &self.place.project.root, self.text("cwd"))
    }

    fn input(&self, field: &str) -> &str {
        let input = self.event.fields.get("tool_input");
        let value = input.and_then(|input| input.get(field)?.as_str());
        value.unwrap_or_default()
    }

    /// Sessions of a client that names none share one.
    fn session(&self) -> &str {
        match self.text("session_id") {
            "" => "unknown",
            id => id,
        }
    }

    fn text(&self, field: &str) -> &str {
        let value = self.event.fields.get(field).and_then(Value::as_str);
        value.unwrap_or_default()
    }
}
