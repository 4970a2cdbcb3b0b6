//! What a hook answers: the recall trigger of its event, what memory has for
//! it, and the user's settings. If anything goes wrong here, the answer is
//! empty.

use std::io;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::{Duration, Instant};

use remora_agents::{AgentSpec, HookResponse};
use remora_client::{
    EMBEDDING_BUDGET_MS, EmbeddingRequest, Folder, InjectionLog, PendingTasks, ProjectLocation,
    RootClaim,
};
use remora_core::EventName;
use remora_core::agent_event::{EventKind, StartSource};
use remora_core::hash::stable_hash;
use remora_core::ids::{AgentId, SessionId, Timestamp};
use remora_core::record::{Kind, Project};
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{
    self, InjectionHistory, PromptIntent, PromptSearch, RecallResult, RecallTrigger,
};
use remora_memory::store::{Filter, PageRequest, Store, StoreError};
use remora_redact::private::strip_private;
use remora_server::join;
use remora_store::{Access, SqliteStore};

use super::Hook;
use super::asked_event::{AskedEvent, FailedCall, source_word};
use crate::clock;
use crate::environment::Environment;
use crate::output::{escape_invisible, quote_for_shell};
use crate::tools::find_tool_prefix;
use remora_app::recall_environment::{
    RecallEnvironment, RecallSettings, SessionHistory, embedding_of, make_relative,
};

/// The longest that an answer may take; then it is dropped.
const DEFAULT_ANSWER_BUDGET: Duration = Duration::from_millis(150);

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
    asked: AskedEvent,
    /// The file that a command showed, for agents that read files so.
    shown_file: Option<String>,
    place: &'a ProjectLocation,
    settings: RecallSettings,
    /// Why the user's settings do not count.
    fault: Option<String>,
    end: Instant,
}

/// How long this machine may take: a slow disk, or a hook that is being measured.
pub(super) fn answer_budget(environment: &Environment) -> Duration {
    let text = environment.get("REMORA_DEADLINE_MS");
    let millis = text.and_then(|text| text.to_str()?.parse().ok());
    millis.map_or(DEFAULT_ANSWER_BUDGET, |millis: u16| {
        Duration::from_millis(millis.into())
    })
}

/// How long a prompt waits for its embedding; with 0 none is asked for.
fn embedding_budget(environment: &Environment) -> Duration {
    let text = environment.get("REMORA_EMBEDDING_BUDGET_MS");
    let millis = text.and_then(|text| text.to_str()?.parse::<u16>().ok());
    Duration::from_millis(millis.map_or(EMBEDDING_BUDGET_MS, u64::from))
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
        let spec = hook.spec?;
        let may_show_file = name == EventName::PostToolUse && (spec.hook.may_show_file)(bytes);
        match name {
            EventName::PostToolUse
                // Most calls succeed: a scan of the bytes decides before
                // anything is parsed.
                if !settings.suggests
                    && !may_show_file
                    && !(spec.hook.may_report_failure)(bytes) =>
            {
                return None;
            }
            EventName::Stop if settings.guard == 0 => return None,
            _ => {}
        }
        let raw = (spec.parse_payload)(bytes).ok()?.event;
        let at = Timestamp::from(clock::now_ms());
        let event = (spec.decode_event)(&raw, AgentId::from(spec.name), at);
        let asked = AskedEvent::new(event, spec);
        let shown_file = if may_show_file {
            asked.shown_file()
        } else {
            None
        };
        Some(Self {
            hook,
            asked,
            shown_file,
            place,
            settings,
            fault,
            end,
        })
    }

    /// What is said; nothing when anything goes wrong. `is_kept` says whether the
    /// event itself was.
    pub(super) fn build_response(&self, is_kept: bool) -> HookResponse {
        if let EventKind::SubagentEnded { last_message } = &self.asked.event.kind {
            // The summary of a compaction comes as the last words of an agent
            // without a name, before the session starts again.
            if self.asked.subagent_kind().is_empty() {
                self.keep_summary(last_message);
            }
            return HookResponse::default();
        }
        // A receipt promises that the prompt is remembered, so it needs the
        // event in the spool.
        let mut receipt = self.save_confirmation().filter(|_| is_kept);
        // Most events end here, before the log is locked and the database is
        // opened.
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
            && self.asked.start_source().is_some()
        {
            answer.message = Some(format!(
                "Remora: the settings cannot be read, and nothing is stored until they can: {fault}"
            ));
        }
        answer
    }

    /// Whether the event alone says that memory has nothing for it.
    fn has_nothing_to_ask(&self) -> bool {
        let asked = &self.asked;
        match &asked.event.kind {
            EventKind::PromptSubmitted(_) => asked
                .prompt()
                .is_some_and(|prompt| recall::classify_intent(prompt) == PromptIntent::Trivial),
            EventKind::ToolAnnounced(_) => {
                asked.file_to_read().is_none() && asked.subagent_to_start().is_none()
            }
            EventKind::ToolFinished(..) => match asked.failed_call() {
                Some(failed) => failed.command.is_empty() && !failed.misses_a_file(),
                None => !self.is_edit() && self.shown_file.is_none() && !self.fails_silently(),
            },
            _ => false,
        }
    }

    /// What says that a prompt's wish to have something remembered is granted.
    fn save_confirmation(&self) -> Option<String> {
        self.asked.prompt().and_then(recall::save_confirmation)
    }

    /// The session's injection log; `None` if this event has been answered.
    fn open_given(&self) -> io::Result<Option<InjectionLog>> {
        let agent = self.asked.subagent_id();
        let mut file = InjectionLog::open(&self.hook.paths, self.session_id(), agent)?;
        let is_first = file.claim_event(&self.asked.claim_key(), clock::now_ms())?;
        Ok(is_first.then_some(file))
    }

    fn try_answer(
        &self,
        mut file: InjectionLog,
    ) -> Result<HookResponse, Box<dyn std::error::Error>> {
        let source = self.asked.start_source();
        let starts = source.is_some();
        // It must not stay behind, whatever comes now.
        let summary = (source == Some(StartSource::Compacted))
            .then(|| self.take_summary())
            .flatten();
        let now = clock::now_ms();
        // The model has lost its context; what it saw before may be injected
        // again.
        if let Some(anew @ (StartSource::Cleared | StartSource::Compacted)) = source {
            file.reset(source_word(anew), now)?;
        }
        if let Some((kind, task)) = self.asked.subagent_to_start() {
            self.note_task(&file, kind, &task, now)?;
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
        // Never closed: the system takes back locks, maps and memory with the
        // process, all at once.
        let store = ManuallyDrop::new(store);
        let mut answer = HookResponse::default();
        let earlier = if starts {
            self.find_earlier_project(&*store)
        } else {
            None
        };
        match &self.asked.event.kind {
            EventKind::CompactionStarting { .. } => {
                let session = self.session_id();
                answer.instructions = recall::render_compaction_instructions(&*store, session)?;
            }
            EventKind::TurnEnded { .. } => {
                answer.block = self.check_stop_guard(&*store, &mut before, now)?;
            }
            EventKind::ToolFinished(..) if self.is_edit() => {
                answer.context = self.suggest_save(&*store, &mut before, now)?;
            }
            _ => {
                let path = self.path();
                let mut trigger = self.recall_trigger(summary.as_deref(), task.as_deref(), &path);
                if source == Some(StartSource::Resumed) && self.is_older(&*store)? {
                    trigger = Some(RecallTrigger::Start);
                }
                if let Some(trigger) = trigger {
                    let mut environment = self.recall_environment(earlier.as_ref());
                    environment.embedding = embedding.map(|request| {
                        PromptEmbedding::from_fetch(|| embedding_of(&request.receive()?))
                    });
                    let context =
                        environment.recall_context(self.session_id(), &before, clock::now_ms());
                    let found = recall::recall(&*store, &context, &trigger)?;
                    // Checked before the record: what the client no longer
                    // waits for must not count as seen.
                    if Instant::now() >= self.end {
                        return Err("it took too long".into());
                    }
                    before.record_injections(&found, trigger.name(), now)?;
                    answer.message = starts.then(|| self.format_greeting(&found)).flatten();
                    // There is one line for the user: what needs a decision
                    // replaces the greeting.
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
        let text = match self.asked.prompt() {
            Some(prompt) => {
                let search =
                    PromptSearch::for_prompt(before, recall::classify_intent(prompt), prompt);
                (search == PromptSearch::Everything).then_some(prompt)?
            }
            None => task?,
        };
        if !self.settings.embeds {
            return None;
        }
        let budget = embedding_budget(&self.hook.environment);
        EmbeddingRequest::send(&self.hook.paths, text, budget)
    }

    /// Notes the task for the start of its subagent, which does not name it.
    fn note_task(&self, turn: &InjectionLog, kind: &str, task: &str, now: i64) -> io::Result<()> {
        let tasks = PendingTasks::of_session(&self.hook.paths, self.session_id(), turn);
        tasks.note_task(kind, strip_private(task).trim(), now)
    }

    /// The task of the subagent that begins, if its call was seen.
    fn take_task(&self, turn: &InjectionLog, now: i64) -> io::Result<Option<String>> {
        // Some agents send a subagent's task as its first prompt, so nothing
        // was noted.
        if let Some(task) = self.asked.prompted_task() {
            return Ok(Some(strip_private(task).trim().to_owned()));
        }
        if self.asked.event.kind != EventKind::SubagentStarted {
            return Ok(None);
        }
        let tasks = PendingTasks::of_session(&self.hook.paths, self.session_id(), turn);
        tasks.take_task(self.asked.subagent_kind(), now)
    }

    /// The recall trigger of this event, if it is one.
    fn recall_trigger<'m>(
        &'m self,
        summary: Option<&'m str>,
        task: Option<&'m str>,
        path: &'m str,
    ) -> Option<RecallTrigger<'m>> {
        Some(match &self.asked.event.kind {
            EventKind::SessionStarted(source) => match source {
                StartSource::Resumed | StartSource::Forked => RecallTrigger::Resume,
                StartSource::Compacted => RecallTrigger::Compact(summary),
                _ => RecallTrigger::Start,
            },
            EventKind::PromptSubmitted(_) => match self.asked.prompt() {
                Some(prompt) => RecallTrigger::Prompt(prompt),
                None => RecallTrigger::Subagent(task),
            },
            EventKind::ToolAnnounced(_) => RecallTrigger::Read(path),
            EventKind::ToolFinished(..) => match self.asked.failed_call() {
                Some(failed) if failed.misses_a_file() => RecallTrigger::Missing(path),
                Some(FailedCall { command, error, .. }) => {
                    RecallTrigger::Failure { command, error }
                }
                None if self.shown_file.is_some() && !self.fails_silently() => {
                    RecallTrigger::Read(path)
                }
                None => {
                    let (command, printed) = self.asked.command_output()?;
                    RecallTrigger::SilentFailure { command, printed }
                }
            },
            EventKind::SubagentStarted => RecallTrigger::Subagent(task),
            _ => return None,
        })
    }

    /// Whether the session is older than Remora: nothing of it is known, so
    /// nothing was injected into it either.
    fn is_older(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let filter = Filter {
            session: Some(self.session_id().clone()),
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

    /// The environment that recall needs. A folder that has just got a remote
    /// is still looked up by its path: the worker joins the two after this
    /// event.
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
        let mut environment = RecallEnvironment::new(place, prefix, limits).with_deadline(self.end);
        if self.asked.start_source().is_some() {
            environment.changed = remora_client::changed_files(paths, root);
        }
        environment
    }

    fn check_stop_guard(
        &self,
        store: &dyn Store,
        before: &mut SessionHistory,
        now: i64,
    ) -> Result<Option<String>, Box<dyn std::error::Error>> {
        const ONCE: &str = "guard";
        if self.asked.is_continued() || InjectionHistory::has_noted(before, ONCE) {
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
        let (environment, path) = (self.recall_environment(None), self.path());
        let found = recall::suggest_save(
            store,
            &environment.recall_context(self.session_id(), before, clock::now_ms()),
            &path,
        )?;
        let Some((text, once)) = found else {
            return Ok(None);
        };
        before.record_note(&once, now)?;
        Ok(Some(text))
    }

    /// One line for the user, if the session is attended.
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
            (rows, "item", "items"),
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

    /// Said once of a folder whose remote has changed: it may be another
    /// project now, so the user must decide.
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
            // Users paste the command, and a repository chose the key.
            quoted = quote_for_shell(old),
        ))
    }

    /// Whether the session is attended and this was not said before.
    fn is_first(&self, mark: &str) -> bool {
        let run = Folder::open(self.hook.paths.run_dir());
        // Creating the file is the test: of two hooks one succeeds.
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
        let lookup = self.hook.environment.lookup();
        let attended = |spec: &AgentSpec| (spec.environment.is_attended)(&lookup);
        self.settings.greets && self.hook.spec.is_some_and(attended)
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
        self.settings.suggests && self.asked.edited_file().is_some()
    }

    /// Whether a shell's call exited with 0 and its output reports a failure.
    fn fails_silently(&self) -> bool {
        let output = self.asked.command_output();
        output.is_some_and(|(command, printed)| recall::fails_silently(command, printed))
    }

    /// The file that a call is about.
    fn path(&self) -> String {
        let asked = &self.asked;
        let failed = || asked.failed_call().map(|failed| failed.path);
        let read = asked.file_to_read().or(self.shown_file.as_deref());
        let path = read.or_else(failed);
        match path.or_else(|| asked.edited_file()).unwrap_or_default() {
            "" => String::new(),
            path => make_relative(path, &self.place.project.root, &asked.event.cwd),
        }
    }

    /// Sessions of a client that names none share one.
    pub(super) fn session_id(&self) -> &SessionId {
        &self.asked.event.session
    }
}
