//! One project's sessions, played: events go through the spool and the inbox
//! like any others, and each moment is asked as the hook asks it.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use remora_agents::transcript::{AGENT, Told};
use remora_client::{GivenFile, Input, Paths, ProjectLocation, locate_project, spool};
use remora_embed::OnDemand;
use remora_memory::Captured;
use remora_memory::Policy;
use remora_memory::output::printed_output;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{Moment, Recall, Seen, fails_silently, recall};
use remora_memory::redact::{Marks, Redactor, Rules};
use remora_memory::store::{Filter, Name, Page};
use remora_protocol::record::{Item, Kind};
use remora_protocol::request::{ENVELOPE, Envelope};
use remora_protocol::{Event, EventName, tokens};
use remora_server::intake::Cleaner;
use remora_server::{Inbox, Log};
use remora_store::Access;
use serde_json::{Map, Value};

use super::arm::{Arm, Given, Vocabulary, split_words};
use super::figures::{Figures, Session};
use super::sample::{Sample, Samples};
use crate::commands::import::PastSession;
use crate::commands::tier::embed_prompt;
use crate::commands::vectors;
use crate::error::CliError;
use crate::recall::{Before, Ground, Settings, relative};

/// Turns that lots are drawn among.
const MAX_TURNS: usize = 500;
/// Calls after a failure within which the command must pass.
const STEPS_AFTER_FAILURE: usize = 10;

/// A project in the middle of being played.
pub(super) struct Stage<'a> {
    inbox: Inbox,
    paths: Paths,
    root: PathBuf,
    encoder: Option<&'a OnDemand>,
    redactor: Redactor,
    vocabulary: Vocabulary,
    /// What recall chose, the last turns, and turns drawn by lot.
    arms: [Arm; 3],
    lot: u64,
    /// Removed when it is no longer needed.
    _folder: tempfile::TempDir,
}

/// A command that failed and may pass yet.
struct Failure {
    command: String,
    steps: usize,
    /// The place of its sample if something was given.
    sample: Option<usize>,
    has_given: bool,
}

/// What is known of the session that is being played.
#[derive(Default)]
struct Now {
    id: String,
    /// The folder that it began in.
    from: String,
    prompts: usize,
    /// The words that were said in it.
    said: HashSet<String>,
    failures: Vec<Failure>,
    /// The sample of the last prompt.
    sample: Option<usize>,
    figures: Session,
}

impl<'a> Stage<'a> {
    pub(super) fn new(encoder: Option<&'a OnDemand>) -> Result<Self, CliError> {
        let folder = tempfile::tempdir()?;
        let paths = Paths::new(folder.path().join("data"));
        paths.prepare()?;
        let root = folder.path().canonicalize()?.join("project");
        fs::create_dir_all(root.join(".git"))?;
        let store = remora_store::open(&paths.database(), Access::Write)?;
        let log = Log::open(paths.worker_log());
        let redactor = Redactor::new(&Rules::default());
        Ok(Self {
            inbox: Inbox::new(
                paths.clone(),
                Box::new(store),
                Policy::default(),
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
    pub(super) fn play(
        &mut self,
        session: &PastSession,
        figures: &mut Figures,
        samples: &mut Samples,
    ) -> Result<(), CliError> {
        let mut now = Now::default();
        for told in &session.events {
            if now.from.is_empty() {
                told.event
                    .str("cwd")
                    .unwrap_or_default()
                    .clone_into(&mut now.from);
                told.event
                    .str("session_id")
                    .unwrap_or_default()
                    .clone_into(&mut now.id);
            }
            self.step(told, &mut now, figures, samples)?;
        }
        let last = session.events.last().map_or(0, |told| told.at);
        self.digest(last)?;
        for (arm, sum) in self.arms.iter_mut().zip(&mut figures.arms) {
            arm.end(sum);
        }
        for failure in now.failures {
            figures.failures.end(failure.has_given, false);
        }
        figures.sessions.push(now.figures);
        Ok(())
    }

    fn step(
        &mut self,
        told: &Told,
        now: &mut Now,
        figures: &mut Figures,
        samples: &mut Samples,
    ) -> Result<(), CliError> {
        let event = self.move_here(told, &now.from)?;
        let place = ProjectLocation {
            branch: told.branch.clone(),
            ..locate_project(&self.paths, &self.root, None)
        };
        let captured = self.capture(told, &event, &place);
        let store = self.inbox.store();
        for arm in &mut self.arms {
            arm.see(store, &captured)?;
        }
        let text = |name: &str| event.fields.get(name).and_then(Value::as_str).unwrap_or("");
        let input = |name: &str| {
            let input = event
                .fields
                .get("tool_input")
                .and_then(|input| input.get(name));
            input.and_then(Value::as_str).unwrap_or("")
        };
        let is_agents = text("agent_id").is_empty();
        match event.name {
            EventName::SessionStart => {
                self.ask(told, &place, now, &Moment::Start)?;
            }
            EventName::PostCompact if is_agents => {
                // Let go before it is opened again.
                GivenFile::open(&self.paths, &now.id, None)?.reset("compact", told.at)?;
                self.ask(
                    told,
                    &place,
                    now,
                    &Moment::Compact(Some(text("compact_summary"))),
                )?;
            }
            EventName::UserPromptSubmit => {
                let prompt = text("prompt");
                let back = self.ask(told, &place, now, &Moment::Prompt(prompt))?;
                let is_first = now.prompts == 0;
                now.prompts += 1;
                now.sample = back
                    .text
                    .as_ref()
                    .map(|text| samples.add(Sample::of_prompt(&now.id, prompt, text, is_first)));
                figures.prompts.count(is_first, back.text.is_some());
                split_words(prompt, &mut now.said);
                self.give(&back, now, &captured, is_first)?;
            }
            EventName::PostToolUse if text("tool_name") == "Read" && is_agents => {
                let path = relative(input("file_path"), &place.project.root, text("cwd"));
                self.ask(told, &place, now, &Moment::Read(&path))?;
            }
            EventName::PostToolUseFailure if is_agents && !input("command").is_empty() => {
                let (command, error) = (input("command"), text("error"));
                note_step(now, command, false, figures, samples);
                let back = self.ask(told, &place, now, &Moment::Failure { command, error })?;
                let sample = back
                    .text
                    .as_ref()
                    .map(|text| samples.add(Sample::of_failure(&now.id, command, error, text)));
                now.failures.push(Failure {
                    command: essence(command).to_owned(),
                    steps: 0,
                    has_given: sample.is_some(),
                    sample,
                });
            }
            EventName::PostToolUse if is_agents && !input("command").is_empty() => {
                let command = input("command");
                note_step(now, command, true, figures, samples);
                let response = event.fields.get("tool_response");
                let printed = response.map(printed_output).unwrap_or_default();
                let printed = printed.as_str();
                if fails_silently(command, printed) {
                    let moment = Moment::SilentFailure { command, printed };
                    if let Some(text) = self.ask(told, &place, now, &moment)?.text {
                        samples.add(Sample::of_failure(&now.id, command, printed, &text));
                    }
                }
            }
            EventName::Stop => {
                let message = text("last_assistant_message");
                if let Some(at) = now.sample {
                    samples.answered(at, message);
                }
                let mut words = HashSet::new();
                split_words(message, &mut words);
                for arm in &mut self.arms {
                    arm.hear(&words);
                }
                self.vocabulary.learn(&words);
                now.said.extend(words);
            }
            _ => {}
        }
        put_file(&self.root, &event);
        let payload = Input {
            bytes: serde_json::to_vec(&event.fields)?,
            cut: false,
        };
        spool(&self.paths, AGENT, told.at, Some(place), &payload, false)?;
        Ok(())
    }

    /// The event as if the session had been in the project's folder here.
    fn move_here(&self, told: &Told, from: &str) -> Result<Event, CliError> {
        let mut text = serde_json::to_string(&told.event.fields)?;
        if from.len() > 1 {
            text = text.replace(from, &self.root.display().to_string());
        }
        let fields: Map<String, Value> = serde_json::from_str(&text)?;
        Ok(Event {
            name: told.event.name,
            fields,
        })
    }

    fn capture(&self, told: &Told, event: &Event, place: &ProjectLocation) -> Captured {
        let envelope = Envelope {
            v: ENVELOPE,
            id: told.id.clone(),
            agent: AGENT.to_owned(),
            at: told.at,
            len: 0,
            cut: false,
            project: Some(place.project.clone()),
            branch: told.branch.clone(),
        };
        let event = Event {
            name: event.name,
            fields: event.fields.clone(),
        };
        Cleaner::new(&self.redactor, Vec::new()).clean(envelope, event, &mut Marks::default())
    }

    /// What the worker makes of the events so far, with their embeddings.
    fn digest(&mut self, at: i64) -> Result<(), CliError> {
        while self.inbox.round(at)?.taken > 0 {}
        if let Some(encoder) = self.encoder {
            let made = vectors::make(self.inbox.store(), encoder, u64::MAX)?;
            if let Some(trouble) = made.trouble {
                return Err(CliError::Usage(trouble.to_string()));
            }
        }
        Ok(())
    }

    /// Asks as the hook does, and writes down what is given.
    fn ask(
        &mut self,
        told: &Told,
        place: &ProjectLocation,
        now: &mut Now,
        moment: &Moment<'_>,
    ) -> Result<Recall, CliError> {
        // Nothing of its own session is given, so that reads need not wait for it.
        if !matches!(moment, Moment::Read(_)) {
            self.digest(told.at)?;
        }
        let mut ground = Ground::new(place.clone(), None, Settings::default().limits);
        if let (Some(encoder), Moment::Prompt(prompt)) = (self.encoder, moment) {
            let embedding = embed_prompt(encoder, prompt);
            let embedding = embedding.map_err(|e| CliError::Usage(e.to_string()))?;
            ground.embedding = Some(PromptEmbedding::ready(embedding));
        }
        let mut before = Before(Some(GivenFile::open(&self.paths, &now.id, None)?));
        let back = recall(self.inbox.store(), &ground.scene(&now.id, &before), moment)?;
        before.note(&back, moment.name(), told.at)?;
        let cost = tokens::estimate(back.text.as_deref().unwrap_or_default());
        now.figures.add(moment.name(), cost);
        Ok(back)
    }

    /// Hands each arm what it gives at this prompt.
    fn give(
        &mut self,
        back: &Recall,
        now: &Now,
        event: &Captured,
        is_first: bool,
    ) -> Result<(), CliError> {
        let told = back
            .given
            .iter()
            .filter(|one| one.seen == Seen::Told && one.tokens > 0);
        let numbers = told.filter_map(|one| one.item.strip_prefix('#')?.parse().ok());
        let names: Vec<Name> = numbers.map(Name::Id).collect();
        if names.is_empty() {
            return Ok(());
        }
        let store = self.inbox.store();
        let chosen = store.items(&names)?;
        let filter = Filter {
            project: Some(event.project().to_owned()),
            kinds: vec![Kind::Summary],
            ..Filter::default()
        };
        let mut turns = store.list(&filter, Page::newest(MAX_TURNS))?;
        turns.retain(|turn| turn.session != now.id);
        let recent: Vec<Item> = turns.iter().take(chosen.len()).cloned().collect();
        let mut drawn = Vec::new();
        while drawn.len() < chosen.len() && !turns.is_empty() {
            self.lot = self
                .lot
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(self.lot >> 33).unwrap_or(0) % turns.len();
            drawn.push(turns.swap_remove(at));
        }
        for (arm, items) in self.arms.iter_mut().zip([chosen, recent, drawn]) {
            for item in &items {
                let words = self.vocabulary.rare_words(item, &now.said);
                arm.give(store, event, Given::new(item, words, is_first))?;
            }
        }
        Ok(())
    }

    /// What the ledger says of everything that was given, by moment.
    pub(super) fn count_uses(&self, figures: &mut Figures) -> Result<(), CliError> {
        for given in self.inbox.store().given(&Filter::default(), usize::MAX)? {
            figures.ledger.count(&given.moment, given.used.is_some());
        }
        Ok(())
    }
}

/// A command was run: failures that wait for it see whether it passed.
fn note_step(
    now: &mut Now,
    command: &str,
    passed: bool,
    figures: &mut Figures,
    samples: &mut Samples,
) {
    let command = essence(command);
    now.failures.retain_mut(|failure| {
        failure.steps += 1;
        let is_over = passed && failure.command == command;
        if is_over || failure.steps >= STEPS_AFTER_FAILURE {
            figures.failures.end(failure.has_given, is_over);
            if let Some(at) = failure.sample {
                samples.passed(at, is_over, failure.steps);
            }
            return false;
        }
        true
    });
}

/// A command without the folder it is run in and without what cuts its output.
fn essence(command: &str) -> &str {
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
fn put_file(root: &Path, event: &Event) {
    let input = event.fields.get("tool_input");
    let of = |name: &str| {
        input
            .and_then(|input| input.get(name))
            .and_then(Value::as_str)
    };
    let Some(path) = of("file_path").map(Path::new) else {
        return;
    };
    let strange = |part: Component<'_>| part == Component::ParentDir || part.as_os_str() == ".git";
    if event.name != EventName::PostToolUse
        || !path.starts_with(root)
        || path.components().any(strange)
    {
        return;
    }
    let response = event.fields.get("tool_response");
    let shown = response.and_then(|response| response.get("file"));
    let number = |name: &str| {
        shown
            .and_then(|file| file.get(name))
            .and_then(Value::as_u64)
    };
    let whole = number("startLine") == Some(1) && number("numLines") == number("totalLines");
    let read = shown
        .and_then(|file| file.get("content"))
        .and_then(Value::as_str)
        .filter(|_| whole);
    let edited = || {
        let before = response
            .and_then(|response| response.get("originalFile"))
            .and_then(Value::as_str);
        Some(before?.replacen(of("old_string")?, of("new_string")?, 1))
    };
    let content = of("content").or(read).map(str::to_owned).or_else(edited);
    let content = content.or_else(|| (!path.exists()).then(String::new));
    if let (Some(content), Some(folder)) = (content, path.parent()) {
        // A file that cannot be there is one that recall does not find.
        let _ = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_without_its_folder_and_its_cut() {
        assert_eq!(
            essence("cd /a/b && cargo test 2>&1 | tail -5"),
            "cargo test"
        );
        assert_eq!(essence(" cargo test -p x | head"), "cargo test -p x");
        assert_eq!(essence("make && make test"), "make && make test");
    }
}
