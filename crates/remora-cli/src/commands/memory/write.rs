//! `remora memory add`, `edit` and `rm`: changes to single memories, with what
//! there is to say about them.

use std::io::{self, Read as _};

use remora_instructions::auto_memory::IndexSizeVerdict;
use remora_notes::advice::{self, Advice, AdviceRequest, LoadedInstruction};
use remora_notes::folder::{
    MemoryChange, MemoryFolder, MemoryRemoval, MemoryWriteResult, NewMemory,
};
use remora_notes::{
    DEFAULT_PRIORITY, Memory, MemoryAuthor, MemoryError, MemoryName, MemoryScope, MemoryType,
    first_sentence,
};
use remora_redact::Redactor;
use serde_json::{Value, json};

use super::accept::accept_own;
use super::clean::MemoryRedactor;
use super::{MemoryWorkspace, as_json, format_now, list_secrets};
use crate::args::{MemoryAddArgs, MemoryEditArgs, MemoryLocationArgs, MemoryRmArgs};
use crate::commands::data::is_in_agent_shell;
use crate::commands::editor::open_editor;
use crate::commands::show::lines::flatten_text;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

/// The longest memory that is read from stdin.
const MAX_STDIN_BYTES: u64 = 1024 * 1024;
/// The longest title made of a sentence, in characters.
const MAX_TITLE_CHARS: usize = 72;

pub(super) fn run_add(args: &MemoryAddArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let (written, advice) = save_memory(args, author_here(&shelf.data.environment))?;
    accept_own(&shelf, &written.memory)?;
    print_result("saved", &written, &advice, &args.place, out)
}

/// Who writes with this command, by whose shell it runs in.
pub(super) fn author_here(environment: &Environment) -> MemoryAuthor {
    if is_in_agent_shell(environment) {
        MemoryAuthor::Agent
    } else {
        MemoryAuthor::User
    }
}

/// Writes the memory; says nothing.
pub(super) fn save_memory(
    args: &MemoryAddArgs,
    author: MemoryAuthor,
) -> Result<(MemoryWriteResult, Vec<Advice>), CliError> {
    let body = read_words(&args.text.join(" "))?;
    let shelf = MemoryWorkspace::open(&args.place)?;
    let folder = shelf.folder_for(args.whose.memory_scope().unwrap_or(MemoryScope::Project));
    let redactor = shelf.build_redactor()?;
    let mut cleaner = redactor_for_folder(folder, &redactor);
    if let Some(name) = &args.name {
        cleaner.name(name)?;
    }
    let body = cleaner.redact_body(&body)?;
    let given = args
        .title
        .as_deref()
        .map(|title| cleaner.redact_text(title));
    let draft = NewMemory {
        name: args
            .name
            .as_deref()
            .map(MemoryName::new)
            .transpose()
            .map_err(MemoryError::from)?,
        title: given.unwrap_or_else(|| derive_title(&body)),
        description: args
            .description
            .as_deref()
            .map(|text| cleaner.redact_text(text)),
        kind: args
            .kind
            .map_or_else(|| guess_type(&body), MemoryType::from),
        priority: args.priority.unwrap_or(DEFAULT_PRIORITY),
        author,
        body,
        session: None,
    };
    let find = |text: &str| list_secrets(&redactor, text);
    let mut advice = cleaner.to_advice();
    advice.extend(collect_advice(&shelf, folder, &draft.body, &find));
    if folder.scope() == MemoryScope::User {
        let home = shelf.data.app.paths.home().to_path_buf();
        let made = shelf.data.app.paths.prepare_data_dir();
        made.map_err(|source| CliError::File { path: home, source })?;
    }
    let written = folder.add(&draft, &format_now(), &find)?;
    shelf.notify_changed();
    Ok((written, advice))
}

pub(super) fn run_edit(args: &MemoryEditArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let (folder, memory) = shelf.find(&args.name, &args.whose)?;
    let redactor = shelf.build_redactor()?;
    let mut cleaner = redactor_for_folder(folder, &redactor);
    let body = args.text.as_deref().map(read_words).transpose()?;
    let mut change = MemoryChange {
        title: args.title.as_deref().map(|text| cleaner.redact_text(text)),
        description: args
            .description
            .as_deref()
            .map(|text| cleaner.redact_text(text)),
        kind: args.kind.map(MemoryType::from),
        priority: args.priority,
        author: None,
        body: body.map(|text| cleaner.redact_body(&text)).transpose()?,
    };
    if change == MemoryChange::default() && !by_hand(&shelf, &memory)? {
        return Err(CliError::Usage(format!(
            "say what to change (--text, --title, --description, --type, --priority), or edit {}",
            memory.path.display()
        )));
    }
    // Whoever changes the words answers for all of them.
    change.author = Some(author_here(&shelf.data.environment));
    let find = |text: &str| list_secrets(&redactor, text);
    let written = folder.edit(memory.uri.name.as_str(), &change, &format_now(), &find)?;
    accept_own(&shelf, &written.memory)?;
    shelf.notify_changed();
    let mut advice = cleaner.to_advice();
    advice.extend(collect_advice(&shelf, folder, &written.memory.body, &find));
    print_result("changed", &written, &advice, &args.place, out)
}

pub(super) fn run_remove(args: &MemoryRmArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    // Every name is looked up before the first file goes.
    let mut found: Vec<(&MemoryFolder, Memory)> = Vec::new();
    for name in &args.names {
        let (folder, memory) = shelf.find(name, &args.whose)?;
        if !found.iter().any(|(_, other)| other.uri == memory.uri) {
            found.push((folder, memory));
        }
    }
    let mut gone: Vec<MemoryRemoval> = Vec::new();
    for (folder, memory) in found {
        gone.push(folder.remove(memory.uri.name.as_str())?);
    }
    shelf.notify_changed();
    if args.place.json {
        let list: Vec<Value> = gone
            .iter()
            .map(|removed| {
                let mut value = as_json(&removed.memory);
                value["still_mentioned_on_lines"] = json!(removed.mentions);
                value
            })
            .collect();
        out.print_json(&json!({ "removed": list }))?;
        return Ok(Exit::GoOn);
    }
    for removed in &gone {
        let uri = out.paint(Style::Cyan, &removed.memory.uri.to_string());
        out.print_text(&format!("removed {uri}\n"))?;
        if !removed.mentions.is_empty() {
            let lines: Vec<String> = removed.mentions.iter().map(usize::to_string).collect();
            print_warning(
                &format!("the index still names it, on line {}", lines.join(", ")),
                out,
            )?;
        }
    }
    Ok(Exit::GoOn)
}

/// A team's folder refuses secrets by itself, and says on which line they are.
pub(super) fn redactor_for_folder<'a>(
    folder: &MemoryFolder,
    redactor: &'a Redactor,
) -> MemoryRedactor<'a> {
    MemoryRedactor::new((folder.scope() != MemoryScope::Team).then_some(redactor))
}

/// Words from the command line, or from stdin.
fn read_words(text: &str) -> Result<String, CliError> {
    let text = if text == "-" {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(MAX_STDIN_BYTES + 1);
        stdin.read_to_end(&mut bytes).map_err(CliError::Stdin)?;
        if bytes.len() as u64 > MAX_STDIN_BYTES {
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
fn derive_title(body: &str) -> String {
    let sentence = flatten_text(first_sentence(body));
    if sentence.chars().nth(MAX_TITLE_CHARS).is_none() {
        return sentence;
    }
    let start: String = sentence.chars().take(MAX_TITLE_CHARS).collect();
    let whole = start.rfind(' ').unwrap_or(start.len());
    start[..whole].trim_end().to_owned()
}

/// What words are about, from how they begin.
pub(super) fn guess_type(body: &str) -> MemoryType {
    const RULE_WORDS: [&str; 16] = [
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
        MemoryType::Reference
    } else if matches!(first, "i" | "i'm" | "my" | "user") || lower.starts_with("the user") {
        MemoryType::User
    } else if RULE_WORDS.contains(&first) {
        MemoryType::Feedback
    } else {
        MemoryType::Project
    }
}

/// Opens the file in an editor for a user at the terminal; whether that was
/// possible.
fn by_hand(shelf: &MemoryWorkspace, memory: &Memory) -> Result<bool, CliError> {
    open_editor(&shelf.data.environment, &memory.path)
}

fn collect_advice(
    shelf: &MemoryWorkspace,
    folder: &MemoryFolder,
    body: &str,
    find: &dyn Fn(&str) -> Vec<String>,
) -> Vec<Advice> {
    let layers = shelf.read_layers();
    let known: Vec<LoadedInstruction<'_>> = layers
        .iter()
        .map(|(path, _, text)| LoadedInstruction { path, text })
        .collect();
    let saving = AdviceRequest {
        scope: folder.scope(),
        body,
        now: &format_now(),
        known: &known,
    };
    advice::list_advice(&saving, find)
}

fn print_result(
    verb: &str,
    written: &MemoryWriteResult,
    advice: &[Advice],
    place: &MemoryLocationArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let memory = &written.memory;
    let state = match &written.index {
        IndexSizeVerdict::Fits => "fits",
        IndexSizeVerdict::Near(_) => "near",
        IndexSizeVerdict::Over(_) => "over",
    };
    if place.json {
        let mut value = as_json(memory);
        let list = advice
            .iter()
            .map(|advice| json!({ "matter": advice.matter.as_str(), "text": advice.text }));
        value["advice"] = list.collect();
        value["index"] = json!({ "state": state, "advice": written.index.render_advice() });
        out.print_json(&value)?;
        return Ok(Exit::GoOn);
    }
    let uri = out.paint(Style::Cyan, &memory.uri.to_string());
    let kind = memory.kind.map_or("no type", MemoryType::as_str);
    out.print_text(&format!(
        "{verb} {uri} ({kind}, priority {})\n  {}\n",
        memory.priority,
        escape_invisible(&memory.path.display().to_string())
    ))?;
    for advice in advice {
        print_warning(&advice.text, out)?;
    }
    if let Some(text) = written.index.render_advice() {
        print_warning(&text, out)?;
    }
    Ok(Exit::GoOn)
}

fn print_warning(text: &str, out: &mut Output) -> Result<(), CliError> {
    let mark = out.paint(Style::Yellow, "!");
    out.print_text(&format!("{mark} {}\n", escape_invisible(text)))
}
