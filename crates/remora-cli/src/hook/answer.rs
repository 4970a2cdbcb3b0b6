//! What a hook says: the moment that its event is, what memory has for it, and
//! the switches that the person has set. Anything that goes wrong here means
//! that nothing is said.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use remora_agents::HookResponse;
use remora_client::{
    EMBEDDING_BUDGET_MS, EmbeddingRequest, Folder, InjectionLog, PendingTasks, ProjectLocation,
    RootClaim, stable_hash,
};
use remora_core::record::{Kind, Project};
use remora_core::{Event, EventName};
use remora_memory::output::printed_output;
use remora_memory::private::strip_private;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{
    self, InjectionHistory, PromptIntent, PromptSearch, RecallResult, RecallTrigger,
};
use remora_memory::store::{Filter, PageRequest, Store, StoreError};
use remora_server::join;
use remora_store::{Access, SqliteStore};
use serde_json::Value;

use super::Hook;
use super::failing::{SHELL_TOOL, may_tell_failure};
use crate::clock;
use crate::environment::Environment;
use crate::output::{escape_invisible, quote_for_shell};
use crate::recall::{
    RecallEnvironment, RecallSettings, SessionHistory, embedding_of, make_relative,
};
use crate::tools::find_tool_prefix;

/// An answer that takes longer is given up.
const DEFAULT_ANSWER_BUDGET: Duration = Duration::from_millis(150);

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
pub(super) struct HookRequest<'a> {
    pub(super) hook: &'a Hook,
    event: Event,
    place: &'a ProjectLocation,
    settings: RecallSettings,
    /// Why the person's settings do not count.
    fault: Option<String>,
    end: Instant,
}

/// How long this machine may take: a slow disk, or a hook that is being measured.
pub(super) fn answer_budget(environment: &Environment) -> Duration {
    let told = environment.get("REMORA_DEADLINE_MS");
    let told = told.and_then(|text| text.to_str()?.parse().ok());
    told.map_or(DEFAULT_ANSWER_BUDGET, |millis: u16| {
        Duration::from_millis(millis.into())
    })
}

/// How long a prompt waits for its embedding; with 0 none is asked for.
fn embedding_budget(environment: &Environment) -> Duration {
    let told = environment.get("REMORA_EMBEDDING_BUDGET_MS");
    let told = told.and_then(|text| text.to_str()?.parse::<u16>().ok());
    Duration::from_millis(told.map_or(EMBEDDING_BUDGET_MS, u64::from))
}

impl<'a> HookRequest<'a> {
    /// `None` when the settings, or the event itself, ask for no answer.
    pub(super) fn new(
        hook: &'a Hook,
        name: EventName,
        bytes: &[u8],
        place: &'a ProjectLocation,
    ) -> Option<Self> {
        let end = Instant::now() + answer_budget(&hook.environment);
        let (settings, fault) = hook.load_settings();
        match name {
            EventName::PostToolUse if !settings.suggests && !may_tell_failure(bytes) => {
                return None;
            }
            EventName::Stop if settings.guard == 0 => return None,
            _ => {}
        }
        let decoded = hook
            .spec
            .and_then(|spec| (spec.parse_payload)(bytes).ok())?;
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
    pub(super) fn build_response(&self, is_kept: bool) -> HookResponse {
        if self.event.name == EventName::SubagentStop {
            // The summary of a compaction comes as the last words of an agent
            // without a name, before the session starts anew.
            if self.event_field("agent_type").is_empty() {
                self.keep_summary();
            }
            return HookResponse::default();
        }
        let mut receipt = self.save_confirmation().filter(|_| is_kept);
        if self.has_nothing_to_ask() && receipt.is_none() {
            return HookResponse::default();
        }
        let mut answer = match self.open_given() {
            Ok(Some(given)) => self.try_answer(given).unwrap_or_else(|e| {
                self.hook.log_message(&format!("no answer: {e}"));
                HookResponse::default()
            }),
            // Another installation has answered this event, receipt and all.
            Ok(None) => {
                receipt = None;
                HookResponse::default()
            }
            Err(e) => {
                self.hook.log_message(&format!("no answer: {e}"));
                HookResponse::default()
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
            EventName::UserPromptSubmit => {
                recall::classify_intent(self.event_field("prompt")) == PromptIntent::Trivial
            }
            EventName::PreToolUse => {
                let reads = self.event_field("tool_name") == "Read"
                    && !self.input_field("file_path").is_empty();
                !reads && !self.starts_subagent()
            }
            EventName::PostToolUseFailure => {
                self.input_field("command").is_empty() && !self.misses_a_file()
            }
            EventName::PostToolUse => !self.is_edit() && !self.fails_silently(),
            _ => false,
        }
    }

    /// What says that a prompt's wish to have something remembered is granted.
    fn save_confirmation(&self) -> Option<String> {
        let is_prompt = self.event.name == EventName::UserPromptSubmit;
        is_prompt
            .then(|| recall::save_confirmation(self.event_field("prompt")))
            .flatten()
    }

    /// What the session was given; `None` if this event has been answered.
    fn open_given(&self) -> io::Result<Option<InjectionLog>> {
        let agent = Some(self.event_field("agent_id")).filter(|id| !id.is_empty());
        let mut file = InjectionLog::open(&self.hook.paths, self.session_id(), agent)?;
        let is_first = file.claim_event(&self.claim_key(), clock::now_ms())?;
        Ok(is_first.then_some(file))
    }

    fn try_answer(
        &self,
        mut file: InjectionLog,
    ) -> Result<HookResponse, Box<dyn std::error::Error>> {
        let source = self.event_field("source");
        let starts = self.event.name == EventName::SessionStart;
        // It must not stay behind, whatever comes now.
        let summary = (source == "compact").then(|| self.take_summary()).flatten();
        let now = clock::now_ms();
        if starts && matches!(source, "clear" | "compact") {
            file.reset(source, now)?;
        }
        if self.event.name == EventName::PreToolUse && self.starts_subagent() {
            self.note_task(&file, now)?;
            return Ok(HookResponse::default());
        }
        let task = self.take_task(&file, now)?;
        let mut before = SessionHistory(Some(file));
        // The worker encodes while the database is opened.
        let embedding = self.request_embedding(&before, task.as_deref());
        let Some(store) = self.open_store()? else {
            let message = starts.then(|| self.format_welcome_notice()).flatten();
            return Ok(HookResponse {
                message,
                ..HookResponse::default()
            });
        };
        let mut answer = HookResponse::default();
        let earlier = if starts {
            self.find_earlier_project(&store)
        } else {
            None
        };
        match self.event.name {
            EventName::PreCompact => {
                let session = self.session_id();
                answer.instructions = recall::render_compaction_instructions(&store, session)?;
            }
            EventName::Stop => answer.block = self.check_stop_guard(&store, &mut before, now)?,
            EventName::PostToolUse if self.is_edit() => {
                answer.context = self.suggest_save(&store, &mut before, now)?;
            }
            _ => {
                let (path, printed) = (self.path(), self.command_output());
                let mut moment =
                    self.recall_trigger(summary.as_deref(), task.as_deref(), &path, &printed);
                if source == "resume" && starts && self.is_older(&store)? {
                    moment = Some(RecallTrigger::Start);
                }
                if let Some(moment) = moment {
                    let mut ground = self.recall_environment(earlier.as_ref());
                    ground.embedding = embedding.map(|request| {
                        PromptEmbedding::from_fetch(|| embedding_of(&request.receive()?))
                    });
                    let scene = ground.recall_context(self.session_id(), &before);
                    let found = recall::recall(&store, &scene, &moment)?;
                    if Instant::now() >= self.end {
                        return Err("it took too long".into());
                    }
                    before.record_injections(&found, moment.name(), now)?;
                    answer.message = starts.then(|| self.format_greeting(&found)).flatten();
                    if let Some(moved) = earlier.and_then(|old| self.format_moved_notice(&old)) {
                        answer.message = Some(moved);
                    }
                    if starts && let Some(waiting) = self.format_waiting_notice() {
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
    fn request_embedding(
        &self,
        before: &SessionHistory,
        task: Option<&str>,
    ) -> Option<EmbeddingRequest> {
        let text = match self.event.name {
            EventName::UserPromptSubmit => {
                let prompt = self.event_field("prompt");
                let search =
                    PromptSearch::for_prompt(before, recall::classify_intent(prompt), prompt);
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
        SUBAGENT_TOOLS.contains(&self.event_field("tool_name"))
            && !self.input_field("prompt").is_empty()
    }

    /// Notes the task for the start of its subagent, which does not name it.
    fn note_task(&self, turn: &InjectionLog, now: i64) -> io::Result<()> {
        let agent_type = match self.input_field("subagent_type") {
            "" => DEFAULT_AGENT_TYPE,
            named => named,
        };
        let text = format!(
            "{}\n{}",
            self.input_field("description"),
            self.input_field("prompt")
        );
        let tasks = PendingTasks::of_session(&self.hook.paths, self.session_id(), turn);
        tasks.note_task(agent_type, strip_private(&text).trim(), now)
    }

    /// The task of the subagent that begins, if its call was seen.
    fn take_task(&self, turn: &InjectionLog, now: i64) -> io::Result<Option<String>> {
        if self.event.name != EventName::SubagentStart {
            return Ok(None);
        }
        let tasks = PendingTasks::of_session(&self.hook.paths, self.session_id(), turn);
        tasks.take_task(self.event_field("agent_type"), now)
    }

    /// The moment that this event is, if it is one.
    fn recall_trigger<'m>(
        &'m self,
        summary: Option<&'m str>,
        task: Option<&'m str>,
        path: &'m str,
        printed: &'m str,
    ) -> Option<RecallTrigger<'m>> {
        Some(match self.event.name {
            EventName::SessionStart => match self.event_field("source") {
                "resume" | "fork" => RecallTrigger::Resume,
                "compact" => RecallTrigger::Compact(summary),
                _ => RecallTrigger::Start,
            },
            EventName::UserPromptSubmit => RecallTrigger::Prompt(self.event_field("prompt")),
            EventName::PreToolUse => RecallTrigger::Read(path),
            EventName::PostToolUseFailure if self.misses_a_file() => RecallTrigger::Missing(path),
            EventName::PostToolUseFailure => RecallTrigger::Failure {
                command: self.input_field("command"),
                error: self.event_field("error"),
            },
            EventName::PostToolUse => RecallTrigger::SilentFailure {
                command: self.input_field("command"),
                printed,
            },
            EventName::SubagentStart => RecallTrigger::Subagent(task),
            _ => return None,
        })
    }

    /// Whether the session is one of before Remora: nothing of it is known, so
    /// nothing was given to it either.
    fn is_older(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let filter = Filter {
            session: Some(self.session_id().to_owned()),
            ..Filter::default()
        };
        Ok(store
            .list_items(&filter, PageRequest::newest(1))?
            .is_empty())
    }

    /// What this folder was known as, if something is remembered of that alone.
    fn find_earlier_project(&self, store: &dyn Store) -> Option<Project> {
        let earlier = join::list_earlier_projects(store, &self.place.project);
        let earlier = earlier.inspect_err(|e| self.hook.log_message(&format!("earlier keys: {e}")));
        earlier.ok()?.into_iter().next()
    }

    /// What the scene stands on. A folder that has just got a remote is still
    /// asked for by its path: the worker joins the two after this event.
    fn recall_environment(&self, earlier: Option<&Project>) -> RecallEnvironment {
        let (environment, paths) = (&self.hook.environment, &self.hook.paths);
        let root = Path::new(&self.place.project.root);
        let spec = self.hook.spec;
        let prefix = spec.and_then(|spec| find_tool_prefix(environment, paths, spec, root));
        let limits = self.settings.limits;
        let mut place = self.place.clone();
        if let Some(old) = earlier.filter(|old| self.is_own_folder(old)) {
            old.key.clone_into(&mut place.project.key);
        }
        let mut ground = RecallEnvironment::new(place, prefix, limits).with_deadline(self.end);
        if self.event.name == EventName::SessionStart {
            ground.changed = remora_client::changed_files(paths, root);
        }
        ground
    }

    fn check_stop_guard(
        &self,
        store: &dyn Store,
        before: &mut SessionHistory,
        now: i64,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        const ONCE: &str = "guard";
        let active = self.event.fields.get("stop_hook_active");
        if active == Some(&Value::Bool(true)) || InjectionHistory::has_noted(before, ONCE) {
            return Ok(None);
        }
        let reason = recall::guard_stop(store, self.session_id(), self.settings.guard)?;
        if reason.is_some() {
            before.record_note(ONCE, now)?;
        }
        Ok(reason)
    }

    fn suggest_save(
        &self,
        store: &dyn Store,
        before: &mut SessionHistory,
        now: i64,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        let (ground, path) = (self.recall_environment(None), self.path());
        let found = recall::suggest_save(
            store,
            &ground.recall_context(self.session_id(), before),
            &path,
        )?;
        let Some((text, once)) = found else {
            return Ok(None);
        };
        before.record_note(&once, now)?;
        Ok(Some(text))
    }

    /// What makes this event another one than the one before it.
    fn claim_key(&self) -> String {
        // Several subagents begin within one prompt.
        let told = ["tool_use_id", "agent_id", "prompt_id", "source"];
        let id = told
            .iter()
            .map(|field| self.event_field(field))
            .find(|id| !id.is_empty());
        let (name, id) = (self.event.name.as_str(), id.unwrap_or_default());
        format!("{name} {id} {}", self.event_field("cwd"))
    }

    /// One line for the person, if somebody is there to read it.
    fn format_greeting(&self, found: &RecallResult) -> Option<String> {
        if !self.should_greet() {
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
    fn format_waiting_notice(&self) -> Option<String> {
        let RootClaim::Waiting { key, holders } = &self.place.claim else {
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
            key = escape_invisible(key),
            holder = escape_invisible(holder),
        ))
    }

    /// Said once of a folder whose remote has changed: it may be another project
    /// now, so a person must decide.
    fn format_moved_notice(&self, old: &Project) -> Option<String> {
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
            quoted = quote_for_shell(old),
        ))
    }

    /// Whether there is somebody to read it who was not told before.
    fn is_first(&self, mark: &str) -> bool {
        let run = Folder::open(self.hook.paths.run_dir());
        self.should_greet() && run.is_ok_and(|run| run.create_file(mark.as_ref()).is_ok())
    }

    /// Said once, when there is nothing to remember yet.
    fn format_welcome_notice(&self) -> Option<String> {
        self.is_first("hinted").then(|| {
            format!(
                "Remora is on: this session will be remembered. `remora import {}` brings in what \
                 came before it, `remora pause` stops it.",
                self.hook.agent
            )
        })
    }

    fn should_greet(&self) -> bool {
        self.hook.environment.is_on("CLAUDE_CODE_SESSION_ATTENDED") && self.settings.greets
    }

    fn open_store(&self) -> Result<Option<SqliteStore>, StoreError> {
        let database = self.hook.paths.database_file();
        if !database.exists() {
            return Ok(None);
        }
        match remora_server::open_database(&database, Access::ReadUntil(self.end)) {
            // The worker is just making it.
            Err(StoreError::Empty) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Whether an edit may be answered with a word about saving.
    fn is_edit(&self) -> bool {
        self.settings.suggests && matches!(self.event_field("tool_name"), "Write" | "Edit")
    }

    /// Whether a shell's call exited with 0 and its output tells of a failure.
    fn fails_silently(&self) -> bool {
        self.event_field("tool_name") == SHELL_TOOL
            && recall::fails_silently(self.input_field("command"), &self.command_output())
    }

    /// What a call that exited with 0 printed.
    fn command_output(&self) -> String {
        let response = self.event.fields.get("tool_response");
        response.map(printed_output).unwrap_or_default()
    }

    /// Whether a file was to be opened that is not there.
    fn misses_a_file(&self) -> bool {
        let error = self.event_field("error");
        let says = ["does not exist", "no such file", "ENOENT"];
        !self.input_field("file_path").is_empty() && says.iter().any(|said| error.contains(said))
    }

    /// The file that a call is about.
    fn path(&self) -> String {
        let path = self.input_field("file_path");
        if path.is_empty() {
            return String::new();
        }
        make_relative(path, &self.place.project.root, self.event_field("cwd"))
    }

    fn input_field(&self, field: &str) -> &str {
        let input = self.event.fields.get("tool_input");
        let value = input.and_then(|input| input.get(field)?.as_str());
        value.unwrap_or_default()
    }

    /// Sessions of a client that names none share one.
    pub(super) fn session_id(&self) -> &str {
        match self.event_field("session_id") {
            "" => "unknown",
            id => id,
        }
    }

    pub(super) fn event_field(&self, field: &str) -> &str {
        let value = self.event.fields.get(field).and_then(Value::as_str);
        value.unwrap_or_default()
    }
}
