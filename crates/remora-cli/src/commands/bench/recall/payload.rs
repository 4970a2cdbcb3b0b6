//! What the client would send for a step, and what the step makes of the tree.

use std::collections::BTreeMap;

use remora_agents::{ScriptPosition, ScriptedEvent};
use serde_json::Value;

use super::set::ScriptStep;

/// The files of the working tree, as the steps so far left them.
pub(super) type FileTree = BTreeMap<String, String>;

/// The event of a step; the tree becomes what the step makes of it. `None` for
/// what no hook tells. An error says why the step cannot be.
pub(super) fn build_payload(
    place: &ScriptPosition<'_>,
    step: &ScriptStep,
    tree: &mut FileTree,
) -> Result<Option<Value>, String> {
    let event = match step {
        ScriptStep::File { file, content } => {
            tree.insert(file.clone(), content.clone());
            return Ok(None);
        }
        ScriptStep::Memory { .. } => return Ok(None),
        ScriptStep::Session { .. } => ScriptedEvent::SessionStarted,
        ScriptStep::Prompt { prompt } => ScriptedEvent::PromptSubmitted(prompt),
        ScriptStep::Read { read: file } => ScriptedEvent::FileRead {
            file,
            content: tree
                .get(file)
                .ok_or_else(|| format!("`{file}` is not there to be read"))?,
        },
        ScriptStep::Edit { edit, old, new } => {
            return edit_file(place, tree, edit, (old, new)).map(Some);
        }
        ScriptStep::Write { write, content } => {
            let before = tree.insert(write.clone(), content.clone());
            let event = ScriptedEvent::FileWritten {
                file: write,
                before: before.as_deref(),
                content,
            };
            return Ok(Some(event.into_payload(place)));
        }
        ScriptStep::Bash { bash, output } => ScriptedEvent::CommandRan {
            command: bash,
            output,
        },
        ScriptStep::Failed { bash, fails } => ScriptedEvent::CommandFailed {
            command: bash,
            error: fails,
        },
        ScriptStep::Grep { grep, found } => ScriptedEvent::TextSearched {
            pattern: grep,
            found,
        },
        ScriptStep::Glob { glob, found } => ScriptedEvent::FilesSearched {
            pattern: glob,
            found,
        },
        ScriptStep::Say { say } => ScriptedEvent::TurnEnded { message: say },
        ScriptStep::End { .. } => ScriptedEvent::SessionEnded,
    };
    Ok(Some(event.into_payload(place)))
}

fn edit_file(
    place: &ScriptPosition<'_>,
    tree: &mut FileTree,
    file: &str,
    (old, new): (&str, &str),
) -> Result<Value, String> {
    let before = tree.get(file).cloned();
    let before = before.ok_or_else(|| format!("`{file}` is not there to be edited"))?;
    let count = before.matches(old).count();
    if count != 1 {
        return Err(format!("`{file}` holds the old text {count} times"));
    }
    tree.insert(file.to_owned(), before.replacen(old, new, 1));
    let event = ScriptedEvent::FileEdited {
        file,
        before: &before,
        old,
        new,
    };
    Ok(event.into_payload(place))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_step_that_cannot_be_says_why() {
        let mut tree = FileTree::from([("a.rs".to_owned(), "one one".to_owned())]);
        let place = ScriptPosition {
            root: Path::new("/home/dev/app"),
            session: "s",
            prompt: 1,
            step: 1,
        };
        let edit = ScriptStep::Edit {
            edit: "a.rs".to_owned(),
            old: "one".to_owned(),
            new: "two".to_owned(),
        };
        let why = build_payload(&place, &edit, &mut tree).unwrap_err();
        assert_eq!(why, "`a.rs` holds the old text 2 times");
        let read = ScriptStep::Read {
            read: "b.rs".to_owned(),
        };
        let why = build_payload(&place, &read, &mut tree).unwrap_err();
        assert_eq!(why, "`b.rs` is not there to be read");
    }
}
