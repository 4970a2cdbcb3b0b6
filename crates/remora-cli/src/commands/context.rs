//! `remora context`: exactly what a session would be given at a moment, and why
//! each item was chosen or not. Writes nothing down.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use remora_client::{GivenFile, Pause, ProjectLocation, Quiet, given_file};
use remora_memory::prompt_embedding::PromptEmbedding;
use remora_memory::recall::{self, Chosen, Moment, Passed, Recall, Truth, intent};
use remora_protocol::time::date;
use remora_protocol::tokens;
use serde_json::{Value, json};

use super::data::Data;
use super::reader::Reader;
use super::show::lines::{flat, hang_at};
use super::tier::{self, Tier};
use crate::args::{Context, ContextEvent};
use crate::clock;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF, RECALL};
use crate::output::{self, Output, Style, visible};
use crate::recall::{Before, Ground, Settings, relative};
use crate::tools::prefix;

/// The most that is read from stdin.
const LIMIT: u64 = 16 * 1024 * 1024;

pub(super) fn run(args: &Context, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let here = data
        .environment
        .directory()
        .ok_or_else(|| CliError::Usage("the current directory is gone".to_owned()))?;
    let place = data.locate(here);
    let words = Words::read(args, &place, here)?;
    let moment = words.moment(args)?;
    let store = data.store()?;
    let session = match (&args.session, &store) {
        (Some(id), Some(store)) => Reader::of(&data)?.session(store, id)?,
        (id, _) => id.clone().unwrap_or_default(),
    };
    let mut tier = None;
    let found = match store {
        Some(store) => {
            let (root, paths) = (Path::new(&place.project.root), &data.paths);
            // The text is the first agent's.
            let spec = remora_agents::AGENTS.first();
            let prefix = spec.and_then(|spec| prefix(&data.environment, paths, spec, root));
            let limits = Settings::of(&data.config).limits;
            let mut ground = Ground::new(place.clone(), prefix, limits);
            ground.changed = remora_client::changed_files(paths, root);
            if let Moment::Prompt(text) | Moment::Subagent(Some(text)) = moment {
                let embedded = tier::prompt_embedding(&data, &store, text);
                ground.embedding = embedded.embedding.map(PromptEmbedding::ready);
                tier = Some((embedded.tier, embedded.why));
            }
            // A look must not make the file; after a compaction, what was given
            // before is gone, and a subagent was given nothing.
            let counts = !matches!(moment, Moment::Compact(_) | Moment::Subagent(_));
            let known = counts && given_file(paths, &session).exists();
            let given = known.then(|| GivenFile::open(paths, &session, None));
            let before = Before(given.transpose()?);
            recall::recall(&store, &ground.scene(&session, &before), &moment)?
        }
        None => Recall::default(),
    };
    let project = Some(place.project.key.as_str());
    let quiet = Pause::of(&data.paths).quiet(project.as_slice(), &session, clock::millis());
    let off = data.environment.switch(OFF) || data.environment.is_off(RECALL);
    let paused = off || quiet != Quiet::No;
    if paused && !args.json {
        output::note(
            "Remora is paused here: nothing is given now; `remora pause --status` says more",
        );
    }
    let gone = args.file.as_ref().filter(|_| !args.json);
    if let Some(file) = gone.filter(|file| !here.join(file).exists()) {
        output::note(&format!("{}: no such file", visible(file)));
    }
    if args.json {
        let mut value = as_json(&moment, &found);
        value["paused"] = json!(paused);
        if let Some((tier, why)) = &tier {
            value["tier"] = json!(tier.name());
            value["tier_why"] = json!(why);
        }
        out.json(&value)?;
    } else if args.text {
        let text = found.text.unwrap_or_default();
        if !text.is_empty() {
            out.text(&format!("{text}\n"))?;
        }
    } else {
        tell(&moment, &found, tier.as_ref(), out)?;
    }
    Ok(Exit::GoOn)
}

/// What was typed, in a form that a moment can borrow.
#[derive(Debug, Default)]
struct Words {
    path: String,
    error: String,
}

impl Words {
    fn read(args: &Context, place: &ProjectLocation, here: &Path) -> Result<Self, CliError> {
        let path = args.file.as_deref().unwrap_or_default();
        let mut error = args.error.clone().unwrap_or_default();
        if error == "-" {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .take(LIMIT)
                .read_to_end(&mut bytes)?;
            error = String::from_utf8_lossy(&bytes).into_owned();
        }
        Ok(Self {
            path: relative(path, &place.project.root, &here.to_string_lossy()),
            error,
        })
    }

    fn moment<'a>(&'a self, args: &'a Context) -> Result<Moment<'a>, CliError> {
        if let Some(prompt) = &args.prompt {
            return Ok(Moment::Prompt(remora_agents::own_words(prompt)));
        }
        if let Some(task) = &args.task {
            return Ok(Moment::Subagent(Some(task)));
        }
        if args.file.is_some() {
            return Ok(Moment::Read(&self.path));
        }
        if args.error.is_some() {
            return Ok(Moment::Failure {
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
            (ContextEvent::Start, _) => Moment::Start,
            (ContextEvent::Resume, None) => return needs("--event resume"),
            (ContextEvent::Compact, None) => return needs("--event compact"),
            (ContextEvent::Subagent, None) => return needs("--event subagent"),
            (ContextEvent::Resume, _) => Moment::Resume,
            (ContextEvent::Compact, _) => Moment::Compact(None),
            (ContextEvent::Subagent, _) => Moment::Subagent(None),
        })
    }
}

fn tell(
    moment: &Moment<'_>,
    found: &Recall,
    tier: Option<&(Tier, &'static str)>,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut text = String::new();
    if let Moment::Prompt(prompt) = moment {
        let mut read = format!("read as {}", intent(prompt).name());
        if let Some((tier, why)) = tier {
            let _ = write!(read, ", {} tier: {why}", tier.name());
        }
        let _ = writeln!(text, "{}", out.paint(Style::Dim, &read));
    }
    match &found.text {
        Some(given) => {
            let cost = format!("{} tokens, as the model gets it:", tokens::estimate(given));
            let _ = writeln!(text, "{}", out.paint(Style::Dim, &cost));
            let _ = writeln!(text, "{}", visible(given));
        }
        None => text.push_str("Nothing would be given.\n"),
    }
    if !found.given.is_empty() {
        let _ = writeln!(text, "\n{}", out.paint(Style::Bold, "Why each was chosen"));
    }
    for chosen in &found.given {
        let told = format!(
            "{} ({} tokens{}){}",
            chosen.why,
            chosen.tokens,
            truth(chosen),
            parts(&chosen.parts)
        );
        text.push_str(&reason(&chosen.item, &told, out));
    }
    if !found.passed.is_empty() {
        let _ = writeln!(
            text,
            "\n{}",
            out.paint(Style::Bold, "Looked at and left out")
        );
    }
    for passed in &found.passed {
        let told = format!("{}: {}{}", passed.title, passed.why, parts(&passed.parts));
        text.push_str(&reason(&passed.item, &told, out));
    }
    out.text(&text)
}

/// What is said of an item, behind its name.
fn reason(item: &str, told: &str, out: &Output) -> String {
    let name = flat(item);
    let lines = hang_at(2, &format!("{name} "), &flat(told));
    lines.replacen(&name, &out.paint(Style::Cyan, &name), 1)
}

fn truth(chosen: &Chosen) -> String {
    match chosen.truth {
        Truth::Holds | Truth::Gone => String::new(),
        Truth::Unchecked => ", file not compared".to_owned(),
        Truth::Changed(when) => format!(", file changed {}", date(when)),
    }
}

fn parts(parts: &[(&str, f64)]) -> String {
    let told: Vec<String> = parts
        .iter()
        .filter(|(_, part)| *part > 0.0)
        .map(|(name, part)| format!("{name} {part:.2}"))
        .collect();
    if told.is_empty() {
        return String::new();
    }
    format!(" [{}]", told.join(", "))
}

fn as_json(moment: &Moment<'_>, found: &Recall) -> Value {
    let parts = |parts: &[(&str, f64)]| -> Value {
        parts
            .iter()
            .map(|(name, part)| ((*name).to_owned(), json!(part)))
            .collect()
    };
    let given = |chosen: &Chosen| {
        json!({
            "item": chosen.item,
            "kind": chosen.kind,
            "title": chosen.title,
            "why": chosen.why,
            "tokens": chosen.tokens,
            "truth": match chosen.truth {
                Truth::Holds => "holds",
                Truth::Unchecked => "unchecked",
                Truth::Changed(_) => "changed",
                Truth::Gone => "gone",
            },
            "parts": parts(&chosen.parts),
        })
    };
    let passed = |passed: &Passed| {
        json!({
            "item": passed.item,
            "title": passed.title,
            "why": passed.why,
            "parts": parts(&passed.parts),
        })
    };
    json!({
        "moment": moment.name(),
        "intent": match moment {
            Moment::Prompt(prompt) => Some(intent(prompt).name()),
            _ => None,
        },
        "text": found.text,
        "tokens": found.text.as_deref().map_or(0, tokens::estimate),
        "given": found.given.iter().map(given).collect::<Vec<_>>(),
        "passed": found.passed.iter().map(passed).collect::<Vec<_>>(),
    })
}
