//! `remora import memory`: a folder of Markdown notes becomes saved memories.
//! Nothing that is there is overwritten, and importing twice adds nothing.

mod split;

use std::fs;
use std::path::{Path, PathBuf};

use remora_notes::MemoryName;
use remora_notes::folder::{MemoryFolder, NewMemory};
use remora_notes::{Memory, MemoryAuthor, MemoryError, MemoryScope, MemoryType};
use remora_redact::Redactor;
use serde_json::{Value, json};

use super::clean::MemoryRedactor;
use super::write::{author_here, guess_type, redactor_for_folder};
use super::{MemoryWorkspace, format_now, list_secrets};
use crate::args::ImportMemoryArgs;
use crate::commands::show::lines::format_count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use split::{first_heading, is_index, split_sections};

/// How deep folders below folders are read.
const MAX_DEPTH: usize = 8;
/// Notes that are read from one folder; more are a book.
const MAX_NOTES_PER_FOLDER: usize = 5_000;
/// Names that are tried for a note whose name is taken.
const MAX_NAME_TRIES: u32 = 99;

/// A note on its way.
#[derive(Debug)]
struct Note {
    from: PathBuf,
    name: MemoryName,
    title: String,
    description: Option<String>,
    kind: MemoryType,
    priority: u8,
    author: MemoryAuthor,
    body: String,
    /// The kinds of what was redacted in it.
    gone: Vec<String>,
}

/// What became of the notes.
#[derive(Debug, Default)]
struct NotesOutcome {
    /// Address, title and file; and the name that was taken.
    saved: Vec<(String, Note, Option<MemoryName>)>,
    /// Notes that are here already, word for word.
    same: Vec<(String, PathBuf)>,
    /// What was not imported, and why.
    refused: Vec<(PathBuf, String)>,
}

pub(in crate::commands) fn run_import(
    args: &ImportMemoryArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let folder = shelf.folder_for(args.whose.memory_scope().unwrap_or(MemoryScope::Project));
    let mut outcome = NotesOutcome::default();
    let redactor = shelf.build_redactor()?;
    let notes = read_notes(args, folder, &redactor, &mut outcome)?;
    let find = |text: &str| list_secrets(&redactor, text);
    if folder.scope() == MemoryScope::User && !args.dry_run {
        let home = shelf.data.app.paths.home().to_path_buf();
        let made = shelf.data.app.paths.prepare_data_dir();
        made.map_err(|source| CliError::File { path: home, source })?;
    }
    let mut here: Vec<(MemoryName, String)> = folder
        .list_memories()?
        .memories
        .into_iter()
        .map(|memory| (memory.uri.name, memory.body))
        .collect();
    for note in notes {
        let taken = match find_target(&here, &note) {
            ImportTarget::Free(name) => name,
            ImportTarget::Same(name) => {
                let uri = format!("memory://{}/{name}", folder.scope().as_str());
                outcome.same.push((uri, note.from));
                continue;
            }
            ImportTarget::None => {
                let reason = format!("too many notes are called `{}`", note.name);
                outcome.refused.push((note.from, reason));
                continue;
            }
        };
        let draft = NewMemory {
            name: Some(taken.clone()),
            title: note.title.clone(),
            description: note.description.clone(),
            kind: note.kind,
            priority: note.priority,
            // An agent's shell cannot import words as the user's, whatever the file says.
            author: note.author.max(author_here(&shelf.data.environment)),
            body: note.body.clone(),
            session: None,
        };
        if !args.dry_run {
            match folder.add(&draft, &format_now(), &find) {
                Ok(_) => {}
                Err(error @ (MemoryError::Private { .. } | MemoryError::Address(_))) => {
                    outcome.refused.push((note.from, error.to_string()));
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
        }
        // Also in a dry run, which must name the same targets as the real one.
        here.push((taken.clone(), note.body.clone()));
        let uri = format!("memory://{}/{taken}", folder.scope().as_str());
        let other = (taken != note.name).then(|| note.name.clone());
        outcome.saved.push((uri, note, other));
    }
    if !args.dry_run && !outcome.saved.is_empty() {
        shelf.notify_changed();
    }
    if args.place.json {
        as_json(args, &outcome, out)?;
    } else {
        as_text(args, &outcome, out)?;
    }
    Ok(Exit::GoOn)
}

enum ImportTarget {
    Free(MemoryName),
    /// The same words are saved under this name.
    Same(MemoryName),
    None,
}

/// Where a note goes: its own name, or the next one that is free.
fn find_target(here: &[(MemoryName, String)], note: &Note) -> ImportTarget {
    for n in 1..=MAX_NAME_TRIES {
        let name = match n {
            1 => Ok(note.name.clone()),
            n => MemoryName::new(&format!("{}-{n}", note.name)),
        };
        let Ok(name) = name else {
            return ImportTarget::None;
        };
        // Some file systems ignore case.
        let twin =
            |other: &&(MemoryName, String)| other.0.as_str().eq_ignore_ascii_case(name.as_str());
        match here.iter().find(twin) {
            None => return ImportTarget::Free(name),
            Some((_, body)) if body.trim() == note.body.trim() => return ImportTarget::Same(name),
            Some(_) => {}
        }
    }
    ImportTarget::None
}

/// The notes of a folder, or of a single file.
fn read_notes(
    args: &ImportMemoryArgs,
    target: &MemoryFolder,
    redactor: &Redactor,
    outcome: &mut NotesOutcome,
) -> Result<Vec<Note>, CliError> {
    let meta = fs::metadata(&args.dir).map_err(|source| CliError::File {
        path: args.dir.clone(),
        source,
    })?;
    let mut notes = Vec::new();
    let mut folders = vec![(args.dir.clone(), 0)];
    let mut only = None;
    if meta.is_file() {
        only = args.dir.file_name().map(PathBuf::from);
        let above = args.dir.parent().filter(|path| *path != Path::new(""));
        folders = vec![(above.unwrap_or(Path::new(".")).to_path_buf(), MAX_DEPTH)];
    }
    while let Some((folder, depth)) = folders.pop() {
        if same_place(&folder, target.dir()) {
            return Err(CliError::Usage(format!(
                "{}: these are the memories themselves; nothing is to be imported",
                folder.display()
            )));
        }
        if depth < MAX_DEPTH {
            let mut below = list_subfolders(&folder);
            // Backwards, because folders are taken from the end of the list.
            below.sort_unstable_by(|a, b| b.cmp(a));
            folders.extend(below.into_iter().map(|path| (path, depth + 1)));
        }
        // What is ours in the head of a file is read as memories are.
        let listing = MemoryFolder::new(MemoryScope::User, &folder).list_memories()?;
        if only.is_none() {
            let left = listing.warnings.into_iter();
            let left = left.map(|warning| of_file(&folder, warning));
            outcome.refused.extend(left);
        }
        for memory in listing.memories {
            if let Some(only) = &only
                && memory.path.file_name() != Some(only.as_os_str())
            {
                continue;
            }
            if notes.len() >= MAX_NOTES_PER_FOLDER {
                return Err(CliError::Usage(format!(
                    "{}: more than {MAX_NOTES_PER_FOLDER} notes; import its folders one by one",
                    args.dir.display()
                )));
            }
            collect_notes(
                memory,
                args,
                redactor_for_folder(target, redactor),
                &mut notes,
                outcome,
            );
        }
    }
    if notes.is_empty() && outcome.refused.is_empty() {
        let why = match only {
            Some(_) => "not a note; only Markdown files (.md) are imported",
            None => "no notes in it; only Markdown files (.md) are imported",
        };
        outcome.refused.push((args.dir.clone(), why.to_owned()));
    }
    Ok(notes)
}

/// The file that a warning names first, and what it says of it.
fn of_file(folder: &Path, warning: String) -> (PathBuf, String) {
    match warning.split_once(": ") {
        Some((file, why)) if Path::new(file).symlink_metadata().is_ok() => {
            (PathBuf::from(file), why.to_owned())
        }
        _ => (folder.to_path_buf(), warning),
    }
}

fn list_subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect()
}

fn same_place(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Cleaned first: a private passage may reach over headings, and names are made
/// of titles.
fn collect_notes(
    mut memory: Memory,
    args: &ImportMemoryArgs,
    mut cleaner: MemoryRedactor<'_>,
    notes: &mut Vec<Note>,
    outcome: &mut NotesOutcome,
) {
    let refused = &mut outcome.refused;
    if is_index(memory.uri.name.as_str(), &memory.body) {
        refused.push((memory.path, "an index, not a note".to_owned()));
        return;
    }
    if memory.body.trim().is_empty() {
        refused.push((memory.path, "it is empty".to_owned()));
        return;
    }
    let no_text = |c: char| c == char::REPLACEMENT_CHARACTER || c.is_whitespace();
    if memory.body.contains('\0') || memory.body.chars().all(no_text) {
        refused.push((memory.path, "it is not text in UTF-8".to_owned()));
        return;
    }
    call_by_alias(&mut memory);
    let given = memory.title != memory.uri.name.to_words();
    if let Err(error) = normalise_name(&mut memory, &mut cleaner) {
        refused.push((memory.path, error.to_string()));
        return;
    }
    let named = cleaner.secret_kinds();
    memory.title = cleaner.redact_text(&memory.title);
    memory.description = memory.description.map(|text| cleaner.redact_text(&text));
    memory.body = cleaner.redact_text(&memory.body);
    let mut parts = if args.split {
        split_sections(&memory.body)
    } else {
        Vec::new()
    };
    let whole = parts.is_empty();
    if whole {
        let heading = first_heading(&memory.body).filter(|_| !given);
        parts.push((heading, memory.body.clone()));
    }
    for (heading, body) in parts {
        let title = heading.unwrap_or_else(|| memory.title.clone());
        let name = if whole {
            Ok(memory.uri.name.clone())
        } else {
            MemoryName::from_title(&title)
        };
        let why = cleaner.nothing_left(&body);
        let name = match (name, why) {
            (Ok(name), None) => name,
            (Err(error), None) => {
                refused.push((memory.path.clone(), error.to_string()));
                continue;
            }
            (_, Some(why)) => {
                refused.push((memory.path.clone(), why));
                continue;
            }
        };
        let description = memory.description.clone().filter(|_| whole);
        let texts = [&*title, description.as_deref().unwrap_or_default(), &*body];
        let mut gone = cleaner.removed_kinds(&texts);
        for kind in named.iter().filter(|_| whole) {
            if !gone.contains(kind) {
                gone.push(kind.clone());
            }
        }
        notes.push(Note {
            from: memory.path.clone(),
            name,
            gone,
            kind: memory.kind.unwrap_or_else(|| guess_type(&body)),
            priority: memory.priority,
            author: memory.author,
            description,
            title,
            body,
        });
    }
}

/// The name that a note gives itself counts before that of its file.
fn call_by_alias(memory: &mut Memory) {
    let alias = memory.alias.take().filter(|name| !name.contains(' '));
    let Some(name) = alias.and_then(|name| MemoryName::new(&name).ok()) else {
        return;
    };
    if memory.title == memory.uri.name.to_words() {
        memory.title = name.to_words();
    }
    memory.uri.name = name;
}

/// A name without blanks is easier to say, and one with a secret is not said.
fn normalise_name(
    memory: &mut Memory,
    cleaner: &mut MemoryRedactor<'_>,
) -> Result<(), MemoryError> {
    let file = memory.uri.name.clone();
    let clean = cleaner.redact_text(file.as_str());
    if clean != file.as_str() {
        memory.uri.name = MemoryName::from_title(&clean)?;
        if memory.title == file.to_words() {
            memory.title = memory.uri.name.to_words();
        }
    } else if clean.contains(char::is_whitespace) {
        memory.uri.name = MemoryName::from_title(&clean).unwrap_or(file);
    }
    Ok(())
}

fn as_json(
    args: &ImportMemoryArgs,
    outcome: &NotesOutcome,
    out: &mut Output,
) -> Result<(), CliError> {
    let saved: Vec<Value> = outcome
        .saved
        .iter()
        .map(|(uri, note, other)| {
            json!({
                "uri": uri,
                "title": note.title,
                "type": note.kind.as_str(),
                "from": note.from,
                "taken": other.as_ref().map(MemoryName::as_str),
                "redacted": note.gone,
            })
        })
        .collect();
    let pair = |key: &'static str| move |(path, text): &(PathBuf, String)| json!({ "from": path, key: text });
    let same: Vec<Value> = outcome
        .same
        .iter()
        .map(|(uri, path)| json!({ "from": path, "uri": uri }))
        .collect();
    let left: Vec<Value> = outcome.refused.iter().map(pair("reason")).collect();
    out.print_json(&json!({
        "dry_run": args.dry_run,
        "saved": saved,
        "same": same,
        "left_out": left,
    }))
}

fn as_text(
    args: &ImportMemoryArgs,
    outcome: &NotesOutcome,
    out: &mut Output,
) -> Result<(), CliError> {
    for (uri, note, other) in &outcome.saved {
        let uri = out.paint(Style::Cyan, uri);
        let other = other
            .as_ref()
            .map(|name| format!(" (another `{name}` is here)"))
            .unwrap_or_default();
        let gone = match note.gone.join(", ").as_str() {
            "" => String::new(),
            gone => format!(" (redacted: {gone})"),
        };
        let title = escape_invisible(&note.title);
        out.print_text(&format!("{uri}  {title}{other}{gone}\n"))?;
    }
    let verb = if args.dry_run { "would save" } else { "saved" };
    let saved = format_count(outcome.saved.len() as u64, "memory", "memories");
    let same = match outcome.same.len() {
        0 => String::new(),
        n => format!("; {} here already", format_count(n as u64, "is", "are")),
    };
    out.print_text(&format!("{verb} {saved}{same}\n"))?;
    if !outcome.refused.is_empty() {
        let head = format!("left out {}:", outcome.refused.len());
        out.print_text(&format!("{}\n", out.paint(Style::Yellow, &head)))?;
        for (path, reason) in &outcome.refused {
            let path = escape_invisible(&path.display().to_string());
            let line = if reason.contains(&path) {
                escape_invisible(reason)
            } else {
                format!("{path}: {}", escape_invisible(reason))
            };
            out.print_text(&format!("  {line}\n"))?;
        }
    }
    Ok(())
}
