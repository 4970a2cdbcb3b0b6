//! `remora context`: exactly what would be injected into a session at a
//! trigger, and why each item was selected or not. Writes nothing.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use remora_agents::{AGENTS, AgentSpec};
use remora_client::{InjectionLog, Pause, PauseState, ProjectLocation, injection_log_file};
use remora_core::time::format_date;
use remora_core::tokens;
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{
    self, Freshness, RecallResult, RecallTrigger, Rejected, Selected, classify_intent,
};
use remora_memory::store::{Filter, Store};
use serde_json::{Value, json};

use super::data::DataDir;
use super::install::find_agent;
use super::reader::Requester;
use super::show::lines::{flatten_text, hang_at};
use super::tier::{self, SearchTier};
use crate::args::{ContextArgs, ContextEvent};
use crate::clock;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF_VARIABLE, RECALL_VARIABLE};
use crate::output::{self, Output, Style, escape_invisible};
use crate::recall::{RecallEnvironment, RecallSettings, SessionHistory, make_relative};
use crate::tools::find_tool_prefix;

/// The most that is read from stdin.
const MAX_STDIN_BYTES: u64 = 16 * 1024 * 1024;

pub(super) fn run(args: &ContextArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let here = data
        .environment
        .directory()
        .ok_or_else(|| CliError::Usage("the current directory is gone".to_owned()))?;
    let place = data.locate_folder(here);
    let words = TriggerInput::from_args(args, &place, here)?;
    let trigger = words.to_trigger(args)?;
    let store = data.open_store()?;
    let session = match (&args.session, &store) {
        (Some(id), Some(store)) => Requester::from_data(&data)?.resolve_session(store, id)?,
        (id, _) => id.clone().unwrap_or_default(),
    };
    let mut tier = None;
    let found = match store {
        Some(store) => {
            let (root, paths) = (Path::new(&place.project.root), &data.paths);
            // Agents call the MCP tools by different names, and the text quotes
            // them.
            let spec = choose_agent(args, &store, &place.project.key)?;
            let prefix =
                spec.and_then(|spec| find_tool_prefix(&data.environment, paths, spec, root));
            let limits = RecallSettings::from_config(&data.config).limits;
            let mut environment = RecallEnvironment::new(place.clone(), prefix, limits);
            environment.changed = remora_client::changed_files(paths, root);
            if let RecallTrigger::Prompt(text) | RecallTrigger::Subagent(Some(text)) = trigger {
                let embedded = tier::prompt_embedding(&data, &store, text);
                environment.embedding = embedded.embedding.map(PromptEmbedding::from_embedding);
                tier = Some((embedded.tier, embedded.why));
            }
            // A preview must not create the log; after a compaction the context
            // is lost, and a subagent has seen nothing yet.
            let counts = !matches!(
                trigger,
                RecallTrigger::Compact(_) | RecallTrigger::Subagent(_)
            );
            let known = counts && injection_log_file(paths, &session).exists();
            let log = known.then(|| InjectionLog::open(paths, &session, None));
            let before = SessionHistory(log.transpose()?);
            recall::recall(
                &store,
                &environment.recall_context(&session, &before),
                &trigger,
            )?
        }
        None => RecallResult::default(),
    };
    let project = Some(place.project.key.as_str());
    let quiet =
        Pause::for_data_dir(&data.paths).pause_state(project.as_slice(), &session, clock::now_ms());
    let off = data.environment.is_on(OFF_VARIABLE) || data.environment.is_off(RECALL_VARIABLE);
    let paused = off || quiet != PauseState::No;
    if paused && !args.json {
        output::print_note(
            "Remora is paused here: nothing is injected now; `remora pause --status` says more",
        );
    }
    let gone = args.file.as_ref().filter(|_| !args.json);
    if let Some(file) = gone.filter(|file| !here.join(file).exists()) {
        output::print_note(&format!("{}: no such file", escape_invisible(file)));
    }
    if args.json {
        let mut value = as_json(&trigger, &found);
        value["paused"] = json!(paused);
        if let Some((tier, why)) = &tier {
            value["tier"] = json!(tier.name());
            value["tier_why"] = json!(why);
        }
        out.print_json(&value)?;
    } else if args.text {
        let text = found.text.unwrap_or_default();
        if !text.is_empty() {
            out.print_text(&format!("{text}\n"))?;
        }
    } else {
        print_result(&trigger, &found, tier.as_ref(), out)?;
    }
    Ok(Exit::GoOn)
}

/// What was typed, in a form that a trigger can borrow.
#[derive(Debug, Default)]
struct TriggerInput {
    path: String,
    error: String,
}

impl TriggerInput {
    fn from_args(
        args: &ContextArgs,
        place: &ProjectLocation,
        here: &Path,
    ) -> Result<Self, CliError> {
        let path = args.file.as_deref().unwrap_or_default();
        let mut error = args.error.clone().unwrap_or_default();
        if error == "-" {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .take(MAX_STDIN_BYTES)
                .read_to_end(&mut bytes)?;
            error = String::from_utf8_lossy(&bytes).into_owned();
        }
        Ok(Self {
            path: make_relative(path, &place.project.root, &here.to_string_lossy()),
            error,
        })
    }

    fn to_trigger<'a>(&'a self, args: &'a ContextArgs) -> Result<RecallTrigger<'a>, CliError> {
        if let Some(prompt) = &args.prompt {
            // As the hook does: what an editor inserts before a prompt is not
            // searched for.
            return Ok(RecallTrigger::Prompt(remora_agents::own_words(prompt)));
        }
        if let Some(task) = &args.task {
            return Ok(RecallTrigger::Subagent(Some(task)));
        }
        if args.file.is_some() {
            return Ok(RecallTrigger::Read(&self.path));
        }
        if args.error.is_some() {
            return Ok(RecallTrigger::Failure {
                command: args.command.as_deref().unwrap_or_default(),
                error: &self.error,
            });
        }
        let needs = |what| {
            let text = format!(
                "{what} is about one session: name it with --session ID (`remora sessions` lists them)"
            );
            Err(CliError::Usage(text))
        };
        Ok(match (args.event, &args.session) {
            (ContextEvent::Start, _) => RecallTrigger::Start,
            (ContextEvent::Resume, None) => return needs("--event resume"),
            (ContextEvent::Compact, None) => return needs("--event compact"),
            (ContextEvent::Subagent, None) => return needs("--event subagent"),
            (ContextEvent::Resume, _) => RecallTrigger::Resume,
            (ContextEvent::Compact, _) => RecallTrigger::Compact(None),
            (ContextEvent::Subagent, _) => RecallTrigger::Subagent(None),
        })
    }
}

/// The agent whose session is imagined: the one that was named, else that of the
/// project's last session, else the only one there is.
fn choose_agent(
    args: &ContextArgs,
    store: &dyn Store,
    project: &str,
) -> Result<Option<&'static AgentSpec>, CliError> {
    if let Some(name) = &args.agent {
        return find_agent(name).map(Some);
    }
    let filter = Filter {
        project: Some(project.into()),
        ..Filter::default()
    };
    let last = store.list_sessions(&filter, 1)?;
    let last = last
        .first()
        .and_then(|session| remora_agents::find_agent(&session.agent));
    Ok(last.or(match AGENTS {
        [only] => Some(*only),
        _ => None,
    }))
}

fn print_result(
    trigger: &RecallTrigger<'_>,
    found: &RecallResult,
    tier: Option<&(SearchTier, &'static str)>,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut text = String::new();
    if let RecallTrigger::Prompt(prompt) = trigger {
        let mut read = format!("read as {}", classify_intent(prompt).name());
        if let Some((tier, why)) = tier {
            let _ = write!(read, ", {} tier: {why}", tier.name());
        }
        let _ = writeln!(text, "{}", out.paint(Style::Dim, &read));
    }
    match &found.text {
        Some(context) => {
            let cost = format!(
                "{} tokens, as the model gets it:",
                tokens::estimate_tokens(context)
            );
            let _ = writeln!(text, "{}", out.paint(Style::Dim, &cost));
            let _ = writeln!(text, "{}", escape_invisible(context));
        }
        None => text.push_str("Nothing would be injected.\n"),
    }
    if !found.given.is_empty() {
        let _ = writeln!(text, "\n{}", out.paint(Style::Bold, "Why each was chosen"));
    }
    for selected in &found.given {
        let reason = format!(
            "{} ({} tokens{}){}",
            selected.why,
            selected.tokens,
            format_freshness(selected),
            format_parts(&selected.parts)
        );
        text.push_str(&format_reason(&selected.item, &reason, out));
    }
    if !found.passed.is_empty() {
        let _ = writeln!(
            text,
            "\n{}",
            out.paint(Style::Bold, "Looked at and left out")
        );
    }
    for rejected in &found.passed {
        let reason = format!(
            "{}: {}{}",
            rejected.title,
            rejected.why,
            format_parts(&rejected.parts)
        );
        text.push_str(&format_reason(&rejected.item, &reason, out));
    }
    out.print_text(&text)
}

/// What is said of an item, behind its name.
fn format_reason(item: &str, reason: &str, out: &Output) -> String {
    let name = flatten_text(item);
    let lines = hang_at(2, &format!("{name} "), &flatten_text(reason));
    lines.replacen(&name, &out.paint(Style::Cyan, &name), 1)
}

fn format_freshness(selected: &Selected) -> String {
    match selected.truth {
        Freshness::Holds | Freshness::Gone => String::new(),
        Freshness::Unchecked => ", file not compared".to_owned(),
        Freshness::Changed(when) => format!(", file changed {}", format_date(when)),
    }
}

fn format_parts(parts: &[(&str, f64)]) -> String {
    let reason: Vec<String> = parts
        .iter()
        .filter(|(_, part)| *part > 0.0)
        .map(|(name, part)| format!("{name} {part:.2}"))
        .collect();
    if reason.is_empty() {
        return String::new();
    }
    format!(" [{}]", reason.join(", "))
}

fn as_json(trigger: &RecallTrigger<'_>, found: &RecallResult) -> Value {
    let parts = |parts: &[(&str, f64)]| -> Value {
        parts
            .iter()
            .map(|(name, part)| ((*name).to_owned(), json!(part)))
            .collect()
    };
    let selected = |selected: &Selected| {
        json!({
            "item": selected.item,
            "kind": selected.kind,
            "title": selected.title,
            "why": selected.why,
            "tokens": selected.tokens,
            "truth": match selected.truth {
                Freshness::Holds => "holds",
                Freshness::Unchecked => "unchecked",
                Freshness::Changed(_) => "changed",
                Freshness::Gone => "gone",
            },
            "parts": parts(&selected.parts),
        })
    };
    let rejected = |rejected: &Rejected| {
        json!({
            "item": rejected.item,
            "title": rejected.title,
            "why": rejected.why,
            "parts": parts(&rejected.parts),
        })
    };
    json!({
        "moment": trigger.name(),
        "intent": match trigger {
            RecallTrigger::Prompt(prompt) => Some(classify_intent(prompt).name()),
            _ => None,
        },
        "text": found.text,
        "tokens": found.text.as_deref().map_or(0, tokens::estimate_tokens),
        "given": found.given.iter().map(selected).collect::<Vec<_>>(),
        "passed": found.passed.iter().map(rejected).collect::<Vec<_>>(),
    })
}
