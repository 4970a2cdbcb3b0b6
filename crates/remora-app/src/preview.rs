//! Exactly what recall would inject into a session at a trigger, and why each item
//! was selected or not. Writes nothing.

use std::path::Path;

use remora_agents::{AGENTS, AgentSpec};
use remora_client::{InjectionLog, Pause, PauseState, ProjectLocation, injection_log_file};
use remora_core::ids::SessionId;
use remora_core::record::Kind;
use remora_core::tokens::estimate_tokens;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{
    self, Freshness, RecallResult, RecallTrigger, Rejected, Selected, classify_intent,
};
use remora_memory::store::{Filter, Store};
use serde::Serialize;

use crate::app::App;
use crate::error::{AppError, ErrorKind, Result};
use crate::parts::NamedParts;
use crate::recall_environment::{RecallEnvironment, RecallSettings, SessionHistory, make_relative};
use crate::tier::{self, PreviewEmbedding, SearchTier};

/// What happens in the imagined session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewTrigger {
    /// It starts.
    Start,
    /// It is taken up again.
    Resume,
    /// Its context was compacted.
    Compact,
    /// The user submits a prompt.
    Prompt(String),
    /// A subagent starts, perhaps with a task.
    Subagent(Option<String>),
    /// A file is read; a path as the caller names it.
    Read(String),
    /// A command fails.
    Failure {
        /// The command; may be empty.
        command: String,
        /// What it printed.
        error: String,
    },
}

/// Whether this environment switches recall off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallSwitch {
    /// It does not.
    On,
    /// It does: nothing is injected into sessions that are started in it.
    Off,
}

/// What is previewed.
#[derive(Debug, Clone)]
pub struct PreviewRequest {
    /// What happens.
    pub trigger: PreviewTrigger,
    /// In which session, by the beginning of its id; else in one that has seen
    /// nothing.
    pub session: Option<String>,
    /// How the names of our tools begin there, if it has them: the text quotes them.
    pub tool_prefix: Option<&'static str>,
    /// Whether hooks that are started from here would inject at all.
    pub switch: RecallSwitch,
}

/// What would be injected, and why.
#[derive(Debug, Serialize)]
pub struct PreviewResponse {
    #[serde(rename = "moment")]
    trigger: &'static str,
    /// What a prompt is after.
    pub intent: Option<&'static str>,
    /// As the model gets it.
    pub text: Option<String>,
    /// What it costs.
    pub tokens: u32,
    #[serde(rename = "given")]
    selected: Vec<SelectedView>,
    #[serde(rename = "passed")]
    rejected: Vec<RejectedView>,
    /// Whether nothing is injected now.
    pub paused: bool,
    /// Which tier of search answered a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<SearchTier>,
    /// Why that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier_why: Option<&'static str>,
    /// Everything that recall said.
    #[serde(skip)]
    pub found: RecallResult,
}

/// An item that would be injected.
#[derive(Debug, Serialize)]
struct SelectedView {
    item: String,
    kind: Kind,
    title: String,
    why: String,
    tokens: u32,
    #[serde(rename = "truth")]
    freshness: &'static str,
    parts: NamedParts,
}

/// An item that was considered and left out.
#[derive(Debug, Serialize)]
struct RejectedView {
    item: String,
    title: String,
    why: String,
    parts: NamedParts,
}

impl App {
    /// What would be injected.
    pub fn preview(&self, request: &PreviewRequest) -> Result<PreviewResponse> {
        let place = self.locate_caller()?;
        let store = self.open_store()?;
        let session = match (&request.session, &store) {
            (Some(id), Some(store)) => self.read_limits()?.resolve_session(&**store, id)?,
            (id, _) => id.clone().unwrap_or_default().into(),
        };
        let path = match &request.trigger {
            PreviewTrigger::Read(path) => self.relative_to_project(path, &place),
            _ => String::new(),
        };
        let trigger = request.trigger.to_recall_trigger(&path);
        let (found, embedded) = match &store {
            Some(store) => self.recall_now(&**store, request, &place, &session, &trigger)?,
            None => (RecallResult::default(), None),
        };
        let project = Some(place.project.key.as_str());
        let pauses = Pause::for_data_dir(&self.paths);
        let state = pauses.pause_state(project.as_slice(), &session, self.clock.now_ms());
        Ok(PreviewResponse {
            trigger: trigger.name(),
            intent: match trigger {
                RecallTrigger::Prompt(prompt) => Some(classify_intent(prompt).name()),
                _ => None,
            },
            text: found.text.clone(),
            tokens: found.text.as_deref().map_or(0, estimate_tokens),
            selected: found.given.iter().map(SelectedView::new).collect(),
            rejected: found.passed.iter().map(RejectedView::new).collect(),
            paused: request.switch == RecallSwitch::Off || state != PauseState::No,
            tier: embedded.as_ref().map(|embedded| embedded.tier),
            tier_why: embedded.map(|embedded| embedded.why),
            found,
        })
    }

    fn recall_now(
        &self,
        store: &dyn Store,
        request: &PreviewRequest,
        place: &ProjectLocation,
        session: &SessionId,
        trigger: &RecallTrigger<'_>,
    ) -> Result<(RecallResult, Option<PreviewEmbedding>)> {
        let limits = RecallSettings::from_config(&self.config).limits;
        let mut environment = RecallEnvironment::new(place.clone(), request.tool_prefix, limits);
        let root = Path::new(&place.project.root);
        environment.changed = remora_client::changed_files(&self.paths, root);
        let mut embedded = None;
        if let RecallTrigger::Prompt(text) | RecallTrigger::Subagent(Some(text)) = trigger {
            let mut found = tier::prompt_embedding(self, store, text);
            environment.embedding = found.embedding.take().map(PromptEmbedding::from_embedding);
            embedded = Some(found);
        }
        // A preview must not create the log; after a compaction the context is lost,
        // and a subagent has seen nothing yet.
        let counts = !matches!(
            trigger,
            RecallTrigger::Compact(_) | RecallTrigger::Subagent(_)
        );
        let known = counts && injection_log_file(&self.paths, session).exists();
        let log = known.then(|| InjectionLog::open(&self.paths, session, None));
        let log = log
            .transpose()
            .map_err(|source| AppError::new(ErrorKind::File, source))?;
        let before = SessionHistory(log);
        let now = self.clock.now_ms();
        let context = environment.recall_context(session, &before, now);
        Ok((recall::recall(store, &context, trigger)?, embedded))
    }

    fn locate_caller(&self) -> Result<ProjectLocation> {
        let here = self.caller.directory.as_deref();
        let here = here.ok_or_else(|| AppError::bad_request("the current directory is gone"))?;
        Ok(self.locate_folder(here))
    }

    fn relative_to_project(&self, path: &str, place: &ProjectLocation) -> String {
        let here = self.caller.directory.as_deref().unwrap_or(Path::new(""));
        make_relative(path, &place.project.root, &here.to_string_lossy())
    }

    /// The agent of the last session here, else the only one there is: whose session
    /// is imagined where none is named.
    pub fn guess_agent(&self) -> Result<Option<&'static AgentSpec>> {
        let place = self.locate_caller()?;
        let last = match self.open_store()? {
            Some(store) => {
                let filter = Filter {
                    project: Some(place.project.key),
                    ..Filter::default()
                };
                store.list_sessions(&filter, 1)?.pop()
            }
            None => None,
        };
        let last = last.and_then(|session| remora_agents::find_agent(&session.agent));
        Ok(last.or(match AGENTS {
            [only] => Some(*only),
            _ => None,
        }))
    }
}

impl PreviewTrigger {
    fn to_recall_trigger<'a>(&'a self, path: &'a str) -> RecallTrigger<'a> {
        match self {
            Self::Start => RecallTrigger::Start,
            Self::Resume => RecallTrigger::Resume,
            Self::Compact => RecallTrigger::Compact(None),
            // As the hook does: what an editor inserts before a prompt is not searched
            // for.
            Self::Prompt(prompt) => RecallTrigger::Prompt(remora_agents::own_words(prompt)),
            Self::Subagent(task) => RecallTrigger::Subagent(task.as_deref()),
            Self::Read(_) => RecallTrigger::Read(path),
            Self::Failure { command, error } => RecallTrigger::Failure { command, error },
        }
    }
}

impl SelectedView {
    fn new(selected: &Selected) -> Self {
        Self {
            item: selected.item.clone(),
            kind: selected.kind,
            title: selected.title.clone(),
            why: selected.why.clone(),
            tokens: selected.tokens,
            freshness: match selected.truth {
                Freshness::Holds => "holds",
                Freshness::Unchecked => "unchecked",
                Freshness::Changed(_) => "changed",
                Freshness::Gone => "gone",
            },
            parts: NamedParts(selected.parts.clone()),
        }
    }
}

impl RejectedView {
    fn new(rejected: &Rejected) -> Self {
        Self {
            item: rejected.item.clone(),
            title: rejected.title.clone(),
            why: rejected.why.clone(),
            parts: NamedParts(rejected.parts.clone()),
        }
    }
}
