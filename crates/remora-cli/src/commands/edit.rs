//! `remora edit`: the user's own words in place of what was extracted. They are
//! what is searched, embedded and injected; the extracted ones are kept so that
//! the edit can be undone.

use std::fs;
use std::io::{self, IsTerminal, Write as _};

use remora_core::record::{Item, ItemEdit};
use remora_core::tokens;
use remora_memory::overrides::edit_words;
use remora_memory::store::ItemWrite;
use serde_json::json;

use crate::args::EditArgs;
use crate::clock;
use crate::commands::correct::{
    self, CorrectedItem, clean_text, correct_item, find_item, refuse_address, refuse_wrong,
};
use crate::commands::data::DataDir;
use crate::commands::editor::open_editor;
use crate::commands::reader::refuse_agent;
use crate::commands::show::lines::{flatten_text, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// A title is one line.
const MAX_TITLE_CHARS: usize = 300;
/// What an item may say at most.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Words that a user typed; what is absent stays.
#[derive(Debug, Default)]
struct EditedWords {
    title: Option<String>,
    text: Option<String>,
}

pub(super) fn run(args: &EditArgs, out: &mut Output) -> Result<Exit, CliError> {
    refuse_address(&args.item)?;
    let data = DataDir::open()?;
    refuse_agent(&data.environment, "items are edited")?;
    let corrected = if args.undo {
        take_back(&data, &args.item)?
    } else {
        let typed = if args.title.is_none() && args.text.is_none() {
            let Some(words) = type_words(&data, &args.item)? else {
                out.print_text("nothing was changed\n")?;
                return Ok(Exit::GoOn);
            };
            words
        } else {
            EditedWords {
                title: args.title.clone(),
                text: args.text.clone(),
            }
        };
        put_words(&data, &args.item, typed)?
    };
    let CorrectedItem { item, said } = corrected;
    if args.json {
        let mut value = correct::as_json(&item);
        value["text"] = json!(item.text);
        value["edited"] = json!(said.edit.is_some());
        out.print_json(&value)?;
        return Ok(Exit::GoOn);
    }
    let verb = if said.edit.is_some() {
        "edited"
    } else {
        "as it was extracted"
    };
    let title = flatten_text(&item.title);
    let head = format!("{verb}: #{} {} · {title}", item.id, item.kind);
    out.print_text(&out.paint(Style::Green, &hang_text("", &head)))?;
    if said.edit.is_some() {
        let text = format!(
            "`remora edit {} --undo` brings the old words back.",
            item.id
        );
        out.print_text(&hang_text("  ", &text))?;
    }
    Ok(Exit::GoOn)
}

fn put_words(data: &DataDir, name: &str, typed: EditedWords) -> Result<CorrectedItem, CliError> {
    let title = typed.title.map(|title| clean_title(data, &title));
    let title = title.transpose()?;
    let text = typed.text.map(|text| clean_text(data, &text)).transpose()?;
    if text
        .as_ref()
        .is_some_and(|text| text.len() > MAX_TEXT_BYTES)
    {
        return Err(CliError::Usage(
            "the text is longer than 64 KiB; an item is a short note".to_owned(),
        ));
    }
    correct_item(data, name, &|_| true, |store, item, said| {
        refuse_wrong(store, item, said)?;
        let fresh = edit_words(item, clock::now_ms(), title, text);
        said.edit = Some(match said.edit.take() {
            None => fresh,
            // What was extracted stays known through any number of edits.
            Some(before) => ItemEdit {
                title: fresh.title.or(before.title),
                text: fresh.text.or(before.text),
                facts: fresh.facts.or(before.facts),
                original: before.original.or(fresh.original),
                time: fresh.time,
            },
        });
        Ok(Some(ItemWrite::Keep(item.clone())))
    })
}

fn clean_title(data: &DataDir, title: &str) -> Result<String, CliError> {
    let title = flatten_text(&clean_text(data, title)?);
    if title.is_empty() {
        return Err(CliError::Usage(
            "the title is empty; `remora forget` deletes an item".to_owned(),
        ));
    }
    Ok(title.chars().take(MAX_TITLE_CHARS).collect())
}

fn take_back(data: &DataDir, name: &str) -> Result<CorrectedItem, CliError> {
    correct_item(data, name, &|_| true, |_, item, said| {
        let Some(edit) = said.edit.take() else {
            return Err(CliError::Usage(format!("#{} is not edited", item.id)));
        };
        let Some(original) = edit.original else {
            return Ok(None);
        };
        let mut item = item.clone();
        item.title = original.title;
        item.text = original.text;
        item.facts = original.facts;
        if original.detail.is_some() {
            item.detail = original.detail;
        }
        let texts = [&item.title, &item.text].into_iter().chain(&item.facts);
        item.digest_tokens = texts.map(|text| tokens::estimate_tokens(text)).sum();
        Ok(Some(ItemWrite::Keep(item)))
    })
}

/// Lets the user type in an editor; `None` if nothing was changed. The worker's
/// lock is not held meanwhile.
fn type_words(data: &DataDir, name: &str) -> Result<Option<EditedWords>, CliError> {
    let needs_words = || {
        CliError::Usage(
            "say what to change with --title or --text; an editor needs a terminal and $VISUAL or \
             $EDITOR"
                .to_owned(),
        )
    };
    if !io::stdin().is_terminal() {
        return Err(needs_words());
    }
    let Some(store) = data.open_store()? else {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    };
    let item = find_item(&store, name, &|_| true)?;
    refuse_wrong(&store, &item, &correct::said_of(&store, &item)?)?;
    drop(store);
    let before = as_typed(&item);
    let mut file = tempfile::Builder::new().suffix(".md").tempfile()?;
    file.write_all(before.as_bytes())?;
    file.flush()?;
    if !open_editor(&data.environment, file.path())? {
        return Err(needs_words());
    }
    let after = fs::read_to_string(file.path()).map_err(|source| CliError::File {
        path: file.path().to_path_buf(),
        source,
    })?;
    if after.trim() == before.trim() {
        return Ok(None);
    }
    Ok(Some(read_typed(&item, &after)))
}

/// Title and text as a user edits them: the title in the first line.
fn as_typed(item: &Item) -> String {
    format!("{}\n\n{}\n", flatten_text(&item.title), text_of(item))
}

/// What an item says beside its title.
fn text_of(item: &Item) -> String {
    if item.text.trim().is_empty() {
        item.facts.join("\n")
    } else {
        item.text.trim().to_owned()
    }
}

/// What the user made of it; what was left as it was stays as extracted.
fn read_typed(item: &Item, typed: &str) -> EditedWords {
    let typed = typed.trim_start();
    let (title, text) = typed.split_once('\n').unwrap_or((typed, ""));
    let changed = |new: &str, old: &str| (new.trim() != old.trim()).then(|| new.trim().to_owned());
    EditedWords {
        title: changed(title, &flatten_text(&item.title)),
        text: changed(text, &text_of(item)),
    }
}

#[cfg(test)]
mod tests {
    use remora_memory::testing::item;

    use super::*;

    #[test]
    fn what_is_typed_changes_only_what_differs() {
        let item = Item {
            text: "because it is free".to_owned(),
            ..item("a", "Use port 8080")
        };
        assert_eq!(as_typed(&item), "Use port 8080\n\nbecause it is free\n");
        let words = read_typed(&item, "Use port 9090\n\nbecause it is free\n");
        assert_eq!(words.title.as_deref(), Some("Use port 9090"));
        assert_eq!(words.text, None);
        let words = read_typed(&item, "Use port 8080\n");
        assert_eq!((words.title, words.text.as_deref()), (None, Some("")));
    }
}
