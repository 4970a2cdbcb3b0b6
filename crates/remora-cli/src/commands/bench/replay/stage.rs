//! One project's sessions, played: events go through the spool and the inbox
//! like any others, and each moment is asked as the hook asks it.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use remora_agents::transcript::TranscriptEvent;
use remora_agents::{decode_event, read_origin, recorded_agent};
use remora_client::{
    DataPaths, HookInput, InjectionLog, ProjectLocation, locate_project, spool_event,
};
use remora_core::agent_event::EventKind;
use remora_core::ids::SessionId;
use remora_core::record::{Item, Kind};
use remora_core::request::{ENVELOPE_VERSION, Envelope};
use remora_core::tool_call::{FileEdit, OutputDetail, ToolCall, ToolOutcome};
use remora_core::{Event, tokens};
use remora_embed::LazyEncoder;
use remora_memory::CapturePolicy;
use remora_memory::CapturedEvent;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{Exposure, RecallResult, RecallTrigger, fails_silently, recall};
use remora_memory::store::{Filter, ItemRef, PageRequest};
use remora_redact::{RedactionCounts, RedactionRules, Redactor};
use remora_server::ingest::EventRedactor;
use remora_server::{Log, SpoolIngest};
use remora_store::Access;
use serde_json::{Map, Value};

use super::arm::{Arm, InjectedItem, Vocabulary, split_words};
use super::figures::{ReplayStats, SessionTokens};
use super::sample::{InjectionSample, InjectionSamples};
use crate::clock;
use crate::commands::import::PastSession;
use crate::commands::vectors;
use crate::error::CliError;
use remora_app::embed_prompt;
use remora_app::recall_environment::{
    RecallEnvironment, RecallSettings, SessionHistory, make_relative,
};

/// Turns that lots are drawn among.
const MAX_TURNS: usize = 500;
/// Calls after a failure within which the command must pass.
const MAX_CALLS_AFTER_FAILURE: usize = 10;

/// A project in the middle of being played.
pub(super) struct SessionPlayer<'a> {
    ingest: SpoolIngest,
    paths: DataPaths,
    root: PathBuf,
    encoder: Option<&'a LazyEncoder>,
    redactor: Redactor,
    vocabulary: Vocabulary,
    /// What recall chose, the last turns, and turns drawn by lot.
    arms: [Arm; 3],
    lot: u64,
    /// Removed when it is no longer needed.
    _folder: tempfile::TempDir,
}

/// A command that failed and may pass yet.
struct OpenFailure {
    command: String,
    steps: usize,
    /// The place of its sample if something was given.
    sample: Option<usize>,
    has_given: bool,
}

/// What is played, and where.
struct PlayedEvent<'a> {
    recorded: &'a TranscriptEvent,
    place: &'a ProjectLocation,
}

/// What is known of the session that is being played.
#[derive(Default)]
struct ReplaySession {
    id: SessionId,
    /// The folder that it began in.
    from: String,
    prompts: usize,
    /// The words that were said in it.
    said: HashSet<String>,
    failures: Vec<OpenFailure>,
    /// The sample of the last prompt.
    sample: Option<usize>,
    figures: SessionTokens,
}

impl<'a> SessionPlayer<'a> {
    pub(super) fn new(encoder: Option<&'a LazyEncoder>) -> Result<Self, CliError> {
        let folder = tempfile::tempdir()?;
        let paths = DataPaths::new(folder.path().join("data"));
        paths.prepare_data_dir()?;
        let root = folder.path().canonicalize()?.join("project");
        fs::create_dir_all(root.join(".git"))?;
        let store = remora_server::open_database(&paths.database_file(), Access::Write)?;
        let log = Log::open(paths.worker_log());
        let redactor = Redactor::new(&RedactionRules::default());
        Ok(Self {
            ingest: SpoolIngest::new(
                paths.clone(),
                Box::new(store),
                CapturePolicy::default(),
                Vec::new(),
                log,
            )?,
            paths,
            root,
            encoder,
            redactor: redactor.map_err(|e| CliError::Usage(format!("the built-in rules: {e}")))?,
            vocabulary: Vocabulary::default(),
            arms: Default::default(),
            lot: 1,
            _folder: folder,
        })
    }

    /// Plays a session.
    pub(super) fn play_session(
        &mut self,
        session: &PastSession,
        figures: &mut ReplayStats,
        samples: &mut InjectionSamples,
    ) -> Result<(), CliError> {
        let mut now = ReplaySession::default();
        for recorded in &session.events {
            if now.from.is_empty() {
                let origin = read_origin(&recorded.event.fields);
                origin.cwd.clone_into(&mut now.from);
                let session = origin.session.unwrap_or_default();
                now.id = session.into();
            }
            self.play_event(recorded, &mut now, figures, samples)?;
        }
        let last = session.events.last().map_or(0, |recorded| recorded.at);
        self.ingest_events(last)?;
        for (arm, sum) in self.arms.iter_mut().zip(&mut figures.arms) {
            arm.end_session(sum);
        }
        for failure in now.failures {
            figures.failures.count_failure(failure.has_given, false);
        }
        figures.sessions.push(now.figures);
        Ok(())
    }

    fn play_event(
        &mut self,
        recorded: &TranscriptEvent,
        now: &mut ReplaySession,
        figures: &mut ReplayStats,
        samples: &mut InjectionSamples,
    ) -> Result<(), CliError> {
        let raw = self.move_here(recorded, &now.from)?;
        let event = decode_event(recorded_agent().name, &raw, recorded.at.into());
        let place = ProjectLocation {
            branch: recorded.branch.clone(),
            ..locate_project(&self.paths, &self.root, None)
        };
        let captured = self.capture_event(recorded, &raw, &place);
        let store = self.ingest.store();
        for arm in &mut self.arms {
            arm.observe_event(store, &captured)?;
        }
        let is_agents = event.subagent_id().is_none();
        match &event.kind {
            EventKind::SessionStarted(_) => {
                self.run_recall(recorded, &place, now, &RecallTrigger::Start)?;
            }
            EventKind::CompactionFinished { summary } if is_agents => {
                // Let go before it is opened again.
                InjectionLog::open(&self.paths, &now.id, None)?.reset("compact", recorded.at)?;
                self.run_recall(
                    recorded,
                    &place,
                    now,
                    &RecallTrigger::Compact(Some(summary)),
                )?;
            }
            EventKind::PromptSubmitted(prompt) => {
                let prompt = prompt.text.as_str();
                let back =
                    self.run_recall(recorded, &place, now, &RecallTrigger::Prompt(prompt))?;
                let is_first = now.prompts == 0;
                now.prompts += 1;
                now.sample = back.text.as_ref().map(|text| {
                    samples.add_sample(InjectionSample::of_prompt(&now.id, prompt, text, is_first))
                });
                figures.prompts.count(is_first, back.text.is_some());
                split_words(prompt, &mut now.said);
                self.inject_items(&back, now, &captured, is_first)?;
            }
            EventKind::ToolFinished(tool, outcome) if is_agents => match (&tool.call, outcome) {
                (ToolCall::ReadFile(read), ToolOutcome::Done(_)) => {
                    let path = read.path.as_deref().unwrap_or_default();
                    let path = make_relative(path, &place.project.root, &event.cwd);
                    self.run_recall(recorded, &place, now, &RecallTrigger::Read(&path))?;
                }
                (ToolCall::Shell(shell), _) if !shell.command.is_empty() => {
                    let played = PlayedEvent {
                        recorded,
                        place: &place,
                    };
                    let command = shell.command.as_str();
                    self.play_command(&played, command, outcome, now, figures, samples)?;
                }
                _ => {}
            },
            EventKind::TurnEnded { last_message, .. } => {
                self.match_last_message(last_message, now, samples);
            }
            _ => {}
        }
        put_file(&self.root, &event.kind);
        let payload = HookInput {
            bytes: serde_json::to_vec(&raw.fields)?,
            cut: false,
        };
        spool_event(
            &self.paths,
            recorded_agent().name,
            recorded.at,
            Some(place),
            &payload,
            false,
        )?;
        Ok(())
    }

    /// A command was run: what it failed with is asked about.
    fn play_command(
        &mut self,
        event: &PlayedEvent<'_>,
        command: &str,
        outcome: &ToolOutcome,
        now: &mut ReplaySession,
        figures: &mut ReplayStats,
        samples: &mut InjectionSamples,
    ) -> Result<(), CliError> {
        let PlayedEvent { recorded, place } = event;
        match outcome {
            ToolOutcome::Failed(failure) => {
                let error = failure.text.as_str();
                note_step(now, command, false, figures, samples);
                let trigger = RecallTrigger::Failure { command, error };
                let back = self.run_recall(recorded, place, now, &trigger)?;
                let sample = back.text.as_ref().map(|text| {
                    samples.add_sample(InjectionSample::of_failure(&now.id, command, error, text))
                });
                now.failures.push(OpenFailure {
                    command: normalise_command(command).to_owned(),
                    steps: 0,
                    has_given: sample.is_some(),
                    sample,
                });
            }
            ToolOutcome::Done(output) => {
                let printed = output.text.as_str();
                note_step(now, command, true, figures, samples);
                if fails_silently(command, printed) {
                    let trigger = RecallTrigger::SilentFailure { command, printed };
                    if let Some(text) = self.run_recall(recorded, place, now, &trigger)?.text {
                        samples.add_sample(InjectionSample::of_failure(
                            &now.id, command, printed, &text,
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares the agent's last message of a turn with what was injected.
    fn match_last_message(
        &mut self,
        message: &str,
        now: &mut ReplaySession,
        samples: &mut InjectionSamples,
    ) {
        if let Some(at) = now.sample {
            samples.record_answer(at, message);
        }
        let mut words = HashSet::new();
        split_words(message, &mut words);
        for arm in &mut self.arms {
            arm.match_message_words(&words);
        }
        self.vocabulary.add_message(&words);
        now.said.extend(words);
    }

    /// The event as if the session had been in the project's folder here.
    fn move_here(&self, recorded: &TranscriptEvent, from: &str) -> Result<Event, CliError> {
        let mut text = serde_json::to_string(&recorded.event.fields)?;
        if from.len() > 1 {
            text = text.replace(from, &self.root.display().to_string());
        }
        let fields: Map<String, Value> = serde_json::from_str(&text)?;
        Ok(Event {
            name: recorded.event.name,
            fields,
        })
    }

    fn capture_event(
        &self,
        recorded: &TranscriptEvent,
        event: &Event,
        place: &ProjectLocation,
    ) -> CapturedEvent {
        let envelope = Envelope {
            v: ENVELOPE_VERSION,
            id: recorded.id.clone(),
            agent: recorded_agent().name.into(),
            at: recorded.at,
            len: 0,
            cut: false,
            project: Some(place.project.clone()),
            branch: recorded.branch.clone(),
        };
        let event = Event {
            name: event.name,
            fields: event.fields.clone(),
        };
        EventRedactor::new(&self.redactor, Vec::new()).redact_event(
            envelope,
            event,
            &mut RedactionCounts::default(),
        )
    }

    /// What the worker makes of the events so far, with their embeddings.
    fn ingest_events(&mut self, at: i64) -> Result<(), CliError> {
        while self.ingest.ingest_batch(at)?.removed > 0 {}
        if let Some(encoder) = self.encoder {
            let made = vectors::embed_waiting(self.ingest.store(), encoder, u64::MAX)?;
            if let Some(trouble) = made.trouble {
                return Err(CliError::Usage(trouble.to_string()));
            }
        }
        Ok(())
    }

    /// Asks as the hook does, and writes down what is given.
    fn run_recall(
        &mut self,
        recorded: &TranscriptEvent,
        place: &ProjectLocation,
        now: &mut ReplaySession,
        trigger: &RecallTrigger<'_>,
    ) -> Result<RecallResult, CliError> {
        // Nothing of its own session is given, so that reads need not wait for it.
        if !matches!(trigger, RecallTrigger::Read(_)) {
            self.ingest_events(recorded.at)?;
        }
        let mut environment =
            RecallEnvironment::new(place.clone(), None, RecallSettings::default().limits);
        if let (Some(encoder), RecallTrigger::Prompt(prompt)) = (self.encoder, trigger) {
            let embedding = embed_prompt(encoder, prompt);
            let embedding = embedding.map_err(|e| CliError::Usage(e.to_string()))?;
            environment.embedding = Some(PromptEmbedding::from_embedding(embedding));
        }
        let mut before = SessionHistory(Some(InjectionLog::open(&self.paths, &now.id, None)?));
        let back = recall(
            self.ingest.store(),
            &environment.recall_context(&now.id, &before, clock::now_ms()),
            trigger,
        )?;
        before.record_injections(&back, trigger.name(), recorded.at)?;
        let cost = tokens::estimate_tokens(back.text.as_deref().unwrap_or_default());
        now.figures.add_tokens(trigger.name(), cost);
        Ok(back)
    }

    /// Hands each arm what it gives at this prompt.
    fn inject_items(
        &mut self,
        back: &RecallResult,
        now: &ReplaySession,
        event: &CapturedEvent,
        is_first: bool,
    ) -> Result<(), CliError> {
        let recorded = back
            .given
            .iter()
            .filter(|one| one.seen == Exposure::Full && one.tokens > 0);
        let numbers = recorded.filter_map(|one| one.item.strip_prefix('#')?.parse().ok());
        let names: Vec<ItemRef> = numbers.map(ItemRef::Id).collect();
        if names.is_empty() {
            return Ok(());
        }
        let store = self.ingest.store();
        let injected_items = store.find_items(&names)?;
        let filter = Filter {
            project: Some(event.project().into()),
            kinds: vec![Kind::Summary],
            ..Filter::default()
        };
        let mut turns = store.list_items(&filter, PageRequest::newest(MAX_TURNS))?;
        turns.retain(|turn| turn.session != now.id);
        let recent: Vec<Item> = turns.iter().take(injected_items.len()).cloned().collect();
        let mut drawn = Vec::new();
        while drawn.len() < injected_items.len() && !turns.is_empty() {
            self.lot = self
                .lot
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(self.lot >> 33).unwrap_or(0) % turns.len();
            drawn.push(turns.swap_remove(at));
        }
        for (arm, items) in self.arms.iter_mut().zip([injected_items, recent, drawn]) {
            for item in &items {
                let words = self.vocabulary.rare_words(item, &now.said);
                arm.inject_item(store, event, InjectedItem::new(item, words, is_first))?;
            }
        }
        Ok(())
    }

    /// What the ledger says of everything that was given, by moment.
    pub(super) fn count_uses(&self, figures: &mut ReplayStats) -> Result<(), CliError> {
        for given in self
            .ingest
            .store()
            .list_injections(&Filter::default(), usize::MAX)?
        {
            figures.ledger.count(&given.trigger, given.used.is_some());
        }
        Ok(())
    }
}

/// A command was run: failures that wait for it see whether it passed.
fn note_step(
    now: &mut ReplaySession,
    command: &str,
    passed: bool,
    figures: &mut ReplayStats,
    samples: &mut InjectionSamples,
) {
    let command = normalise_command(command);
    now.failures.retain_mut(|failure| {
        failure.steps += 1;
        let is_over = passed && failure.command == command;
        if is_over || failure.steps >= MAX_CALLS_AFTER_FAILURE {
            figures.failures.count_failure(failure.has_given, is_over);
            if let Some(at) = failure.sample {
                samples.record_outcome(at, is_over, failure.steps);
            }
            return false;
        }
        true
    });
}

/// A command without the folder it is run in and without what cuts its output.
fn normalise_command(command: &str) -> &str {
    let mut rest = command.trim();
    while let Some((folder, after)) = rest.split_once("&&")
        && folder.trim_start().starts_with("cd ")
    {
        rest = after.trim_start();
    }
    let end = [" 2>", " | ", " |&"]
        .iter()
        .filter_map(|cut| rest.find(cut))
        .min();
    rest[..end.unwrap_or(rest.len())].trim_end()
}

/// Puts the file of a call where the call found or left it, so that recall finds
/// it as a session would.
fn put_file(root: &Path, kind: &EventKind) {
    let EventKind::ToolFinished(tool, ToolOutcome::Done(output)) = kind else {
        return;
    };
    let (path, content) = match &tool.call {
        ToolCall::ReadFile(read) => (read.path.as_deref(), find_whole_text(&output.detail)),
        ToolCall::EditFiles(files) => match files.as_slice() {
            [file, ..] => (Some(file.path.as_str()), edited_text(file)),
            [] => return,
        },
        _ => return,
    };
    let Some(path) = path.map(Path::new) else {
        return;
    };
    let strange = |part: Component<'_>| part == Component::ParentDir || part.as_os_str() == ".git";
    if !path.starts_with(root) || path.components().any(strange) {
        return;
    }
    let content = content.or_else(|| (!path.exists()).then(String::new));
    if let (Some(content), Some(folder)) = (content, path.parent()) {
        // A file that cannot be there is one that recall does not find.
        let _ = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
    }
}

/// The text of a file that was shown from its beginning to its end.
fn find_whole_text(shown: &OutputDetail) -> Option<String> {
    let OutputDetail::File(file) = shown else {
        return None;
    };
    let whole = file.first_line == Some(1) && file.line_count == file.total_lines;
    file.content.clone().filter(|_| whole)
}

/// The text of a file after an edit.
fn edited_text(edit: &FileEdit) -> Option<String> {
    if edit.is_whole_file {
        return edit.new.clone();
    }
    let before = edit.original.as_deref()?;
    Some(before.replacen(edit.old.as_deref()?, edit.new.as_deref()?, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_without_its_folder_and_its_cut() {
        assert_eq!(
            normalise_command("cd /a/b && cargo test 2>&1 | tail -5"),
            "cargo test"
        );
        assert_eq!(
            normalise_command(" cargo test -p x | head"),
            "cargo test -p x"
        );
        assert_eq!(normalise_command("make && make test"), "make && make test");
    }
}
