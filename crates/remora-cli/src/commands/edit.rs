//! `remora edit`: the user's own words in place of what was extracted, from options
//! or from an editor.

use std::fs;
use std::io::{self, IsTerminal, Write as _};

use remora_app::corrections::EditRequest;
use remora_core::record::Item;

use crate::args::EditArgs;
use crate::commands::data::DataDir;
use crate::commands::editor::open_editor;
use crate::commands::show::lines::{flatten_text, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(super) fn run(args: &EditArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let done = if args.undo {
        data.app.undo_edit(&args.item)?
    } else {
        let typed = if args.title.is_none() && args.text.is_none() {
            let Some(words) = type_words(&data, &args.item)? else {
                out.print_text("nothing was changed\n")?;
                return Ok(Exit::GoOn);
            };
            words
        } else {
            EditRequest {
                item: args.item.clone(),
                title: args.title.clone(),
                text: args.text.clone(),
            }
        };
        data.app.edit_item(&typed)?
    };
    if args.json {
        out.print_json(&done)?;
        return Ok(Exit::GoOn);
    }
    let item = &done.item;
    let verb = if done.edited {
        "edited"
    } else {
        "as it was extracted"
    };
    let title = flatten_text(&item.title);
    let head = format!("{verb}: #{} {} · {title}", item.id, item.kind);
    out.print_text(&out.paint(Style::Green, &hang_text("", &head)))?;
    if done.edited {
        let text = format!(
            "`remora edit {} --undo` brings the old words back.",
            item.id
        );
        out.print_text(&hang_text("  ", &text))?;
    }
    Ok(Exit::GoOn)
}

/// Lets the user type in an editor; `None` if nothing was changed. The worker's
/// lock is not held meanwhile.
fn type_words(data: &DataDir, name: &str) -> Result<Option<EditRequest>, CliError> {
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
    let item = data.app.find_editable(name)?;
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
    Ok(Some(read_typed(name, &item, &after)))
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
fn read_typed(name: &str, item: &Item, typed: &str) -> EditRequest {
    let typed = typed.trim_start();
    let (title, text) = typed.split_once('\n').unwrap_or((typed, ""));
    let changed = |new: &str, old: &str| (new.trim() != old.trim()).then(|| new.trim().to_owned());
    EditRequest {
        item: name.to_owned(),
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
        let words = read_typed("a", &item, "Use port 9090\n\nbecause it is free\n");
        assert_eq!(words.title.as_deref(), Some("Use port 9090"));
        assert_eq!(words.text, None);
        let words = read_typed("a", &item, "Use port 8080\n");
        assert_eq!((words.title, words.text.as_deref()), (None, Some("")));
    }
}
