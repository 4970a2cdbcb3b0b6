//! Opens a user's editor on a file.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::Command;

use crate::environment::Environment;
use crate::error::CliError;

/// Opens the file for a user at a terminal; whether that was possible.
pub(super) fn open_editor(environment: &Environment, file: &Path) -> Result<bool, CliError> {
    let editor = environment
        .get("VISUAL")
        .or_else(|| environment.get("EDITOR"));
    let Some(editor) = editor.filter(|_| io::stdin().is_terminal()) else {
        return Ok(false);
    };
    // The variable may hold a command with arguments.
    let status = Command::new("sh")
        .arg("-c")
        .arg(r#"exec $0 "$1""#)
        .arg(editor)
        .arg(file)
        .status();
    match status {
        Ok(status) if status.success() => Ok(true),
        Ok(status) => Err(CliError::Usage(format!(
            "the editor ended with {status}; {} is as the editor left it",
            file.display()
        ))),
        Err(source) => Err(CliError::File {
            path: editor.into(),
            source,
        }),
    }
}
