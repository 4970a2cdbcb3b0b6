//! `remora memory add`, `edit` and `rm`: changes to single memories, with what
//! there is to say about them.

use std::io::{self, Read as _};

use remora_instructions::auto_memory::Judgement;
use remora_instructions::memories::advice::{self, Advice, Known, Saving};
use remora_instructions::memories::folder::{Change, Draft, Folder, Removed, Written};
use remora_instructions::memories::name::Name;
use remora_instructions::memories::{Author, Memory, PRIORITY, Scope, Type, first_sentence};
use remora_memory::redact::Redactor;
use serde_json::{Value, json};

use super::accept::accept_own;
use super::clean::Cleaner;
use super::{Shelf, as_json, now, secrets};
use crate::args::{MemoryAdd, MemoryEdit, MemoryRm, SavedPlace};
use crate::commands::editor::open_editor;
use crate::commands::reader::is_in_agent_shell;
use crate::commands::show::lines::flat;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

/// The longest memory that is taken from stdin.
const LONGEST: u64 = 1024 * 1024;
/// The longest title made of a sentence, in characters.
const TITLE: usize = 72;

pub(super) fn add(args: &MemoryAdd, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let (written, advice) = save(args, author_here(&shelf.data.environment))?;
    accept_own(&shelf, &written.memory)?;
    told("saved", &written, &advice, &args.place, out)
}

/// Who writes with this command, by whose shell it runs in.
pub(super) fn author_here(environment: &Environment) -> Author {
    if is_in_agent_shell(environment) {
        Author::Agent
    } else {
        Author::User
    }
}

/// Writes the memory; says nothing.
pub(super) fn save(args: &MemoryAdd, author: Author) -> Result<(Written, Vec<Advice>), CliError> {
    let body = words(&args.text.join(" "))?;
    let shelf = Shelf::open(&args.place)?;
    let folder = shelf.folder(args.whose.scope().unwrap_or(Scope::Project));
    let redactor = shelf.redactor()?;
    let mut cleaner = cleaner(folder, &redactor);
    if let Some(name) = &args.name {
        cleaner.name(name)?;
    }
    let body = cleaner.body(&body)?;
    let given = args.title.as_deref().map(|title| cleaner.text(title));
    let draft = Draft {
        name: args.name.as_deref().map(Name::new).transpose()?,
        title: given.unwrap_or_else(|| title(&body)),
        description: args.description.as_deref().map(|text| cleaner.text(text)),
        kind: args.kind.map_or_else(|| guess(&body), Type::from),
        priority: args.priority.unwrap_or(PRIORITY),
        author,
        body,
        session: None,
    };
    let find = |text: &str| secrets(&redactor, text);
    let mut advice = cleaner.advice();
    advice.extend(advised(&shelf, folder, &draft.body, &find));
    if folder.scope() == Scope::User {
        let home = shelf.data.paths.home().to_path_buf();
        let made = shelf.data.paths.prepare();
        made.map_err(|source| CliError::File { path: home, source })?;
    }
    let written = folder.add(&draft, &now(), &find)?;
    shelf.changed();
    Ok((written, advice))
}

pub(super) fn edit(args: &MemoryEdit, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let (folder, memory) = shelf.find(&args.name, &args.whose)?;
    let redactor = shelf.redactor()?;
    let mut cleaner = cleaner(folder, &redactor);
    let body = args.text.as_deref().map(words).transpose()?;
    let mut change = Change {
        title: args.title.as_deref().map(|text| cleaner.text(text)),
        description: args.description.as_deref().map(|text| cleaner.text(text)),
        kind: args.kind.map(Type::from),
        priority: args.priority,
        author: None,
        body: body.map(|text| cleaner.body(&text)).transpose()?,
    };
    if change == Change::default() && !by_hand(&shelf, &memory)? {
        return Err(CliError::Usage(format!(
            "say what to change (--text, --title, --description, --type, --priority), or edit {}",
            memory.path.display()
        )));
    }
    // Whoever changes the words answers for all of them.
    change.author = Some(author_here(&shelf.data.environment));
    let find = |text: &str| secrets(&redactor, text);
    let written = folder.edit(memory.uri.name.as_str(), &change, &now(), &find)?;
    accept_own(&shelf, &written.memory)?;
    shelf.changed();
    let mut advice = cleaner.advice();
    advice.extend(advised(&shelf, folder, &written.memory.body, &find));
    told("changed", &written, &advice, &args.place, out)
}

pub(super) fn remove(args: &MemoryRm, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    // Every name is looked up before the first file goes.
    let mut found: Vec<(&Folder, Memory)> = Vec::new();
    for name in &args.names {
        let (folder, memory) = shelf.find(name, &args.whose)?;
        if !found.iter().any(|(_, other)| other.uri == memory.uri) {
            found.push((folder, memory));
        }
    }
    let mut gone: Vec<Removed> = Vec::new();
    for (folder, memory) in found {
        gone.push(folder.remove(memory.uri.name.as_str())?);
    }
    shelf.changed();
    if args.place.json {
        let list: Vec<Value> = gone
            .iter()
            .map(|removed| {
                let mut value = as_json(&removed.memory);
                value["still_mentioned_on_lines"] = json!(removed.mentions);
                value
            })
            .collect();
        out.json(&json!({ "removed": list }))?;
        return Ok(Exit::GoOn);
    }
    for removed in &gone {
        let uri = out.paint(Style::Cyan, &removed.memory.uri.to_string());
        out.text(&format!("removed {uri}\n"))?;
        if !removed.mentions.is_empty() {
            let lines: Vec<String> = removed.mentions.iter().map(usize::to_string).collect();
            warn(
                &format!("the index still names it, on line {}", lines.join(", ")),
                out,
            )?;
        }
    }
    Ok(Exit::GoOn)
}

/// A team's folder refuses secrets by itself, and says on which line they are.
pub(super) fn cleaner<'a>(folder: &Folder, redactor: &'a Redactor) -> Cleaner<'a> {
    Cleaner::new((folder.scope() != Scope::Team).then_some(redactor))
}

/// Words from the command line, or from stdin.
fn words(text: &str) -> Result<String, CliError> {
    let text = if text == "-" {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(LONGEST + 1);
        stdin.read_to_end(&mut bytes).map_err(CliError::Stdin)?;
        if bytes.len() as u64 > LONGEST {
            return Err(CliError::Usage(
                "stdin: more than 1 MiB is not a memory".to_owned(),
            ));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        text.to_owned()
    };
    if text.trim().is_empty() {
        return Err(CliError::Usage("the memory is empty".to_owned()));
    }
    Ok(text.trim().to_owned())
}

/// A title for words that have none.
fn title(body: &str) -> String {
    let sentence = flat(first_sentence(body));
    if sentence.chars().nth(TITLE).is_none() {
        return sentence;
    }
    let start: String = sentence.chars().take(TITLE).collect();
    let whole = start.rfind(' ').unwrap_or(start.len());
    start[..whole].trim_end().to_owned()
}

/// What words are about, from how they begin.
pub(super) fn guess(body: &str) -> Type {
    const RULES: [&str; 16] = [
        "always", "never", "use", "do", "don't", "prefer", "avoid", "keep", "write", "no", "run",
        "ask", "stop", "only", "when", "make",
    ];
    let lower = body.to_lowercase();
    let mut words = lower.split_whitespace();
    let first = words
        .next()
        .unwrap_or_default()
        .trim_end_matches([',', ':']);
    if lower.contains("://") {
        Type::Reference
    } else if matches!(first, "i" | "i'm" | "my" | "user") || lower.starts_with("the user") {
        Type::User
    } else if RULES.contains(&first) {
        Type::Feedback
    } else {
        Type::Project
    }
}

/// Opens the file for a person who sits there; whether that was possible.
fn by_hand(shelf: &Shelf, memory: &Memory) -> Result<bool, CliError> {
    open_editor(&shelf.data.environment, &memory.path)
}

fn advised(
    shelf: &Shelf,
    folder: &Folder,
    body: &str,
    find: &dyn Fn(&str) -> Vec<String>,
) -> Vec<Advice> {
    let layers = shelf.layers();
    let known: Vec<Known<'_>> = layers
        .iter()
        .map(|(path, _, text)| Known { path, text })
        .collect();
    let saving = Saving {
        scope: folder.scope(),
        body,
        now: &now(),
        known: &known,
    };
    advice::advise(&saving, find)
}

fn told(
    verb: &str,
    written: &Written,
    advice: &[Advice],
    place: &SavedPlace,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let memory = &written.memory;
    let state = match &written.index {
        Judgement::Fits => "fits",
        Judgement::Near(_) => "near",
        Judgement::Over(_) => "over",
    };
    if place.json {
        let mut value = as_json(memory);
        let list = advice
            .iter()
            .map(|advice| json!({ "matter": advice.matter.as_str(), "text": advice.text }));
        value["advice"] = list.collect();
        value["index"] = json!({ "state": state, "advice": written.index.advice() });
        out.json(&value)?;
        return Ok(Exit::GoOn);
    }
    let uri = out.paint(Style::Cyan, &memory.uri.to_string());
    let kind = memory.kind.map_or("no type", Type::as_str);
    out.text(&format!(
        "{verb} {uri} ({kind}, priority {})\n  {}\n",
        memory.priority,
        visible(&memory.path.display().to_string())
    ))?;
    for advice in advice {
        warn(&advice.text, out)?;
    }
    if let Some(text) = written.index.advice() {
        warn(&text, out)?;
    }
    Ok(Exit::GoOn)
}

fn warn(text: &str, out: &mut Output) -> Result<(), CliError> {
    let mark = out.paint(Style::Yellow, "!");
    out.text(&format!("{mark} {}\n", visible(text)))
}
