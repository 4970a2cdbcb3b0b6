//! A command read into its simple commands, each rebuilt as plain words, the way
//! the client reads it for permission rules. What is not understood is said to
//! be so, never guessed.

mod brackets;
mod commands;
mod names;
mod parser;
mod scope;
mod text;
mod tree;
mod unknown;
mod values;
mod walk;
mod words;

use walk::{WalkError, Walker};

/// One simple command, rebuilt: quotes and backslashes removed, known variables
/// filled in, assignments, redirections and comments dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The words; empty for a lone redirection.
    pub words: Vec<String>,
    /// The words joined by one blank each.
    pub text: String,
    /// The innermost bracket around it, as users write it.
    pub inside: Option<&'static str>,
}

impl SimpleCommand {
    fn new(words: Vec<String>, inside: Option<&'static str>) -> Self {
        let text = words.join(" ");
        Self {
            words,
            text,
            inside,
        }
    }

    /// The command behind a bare `xargs` (no options): the client tests it as
    /// well, one level deep.
    #[must_use]
    pub fn behind_xargs(&self) -> Option<&str> {
        let rest = self.text.strip_prefix("xargs")?;
        let inner = rest.trim_start();
        let bare = rest.is_empty() || rest.len() > inner.len();
        // With options the client does not look behind `xargs`.
        (bare && !inner.starts_with('-')).then_some(inner)
    }
}

/// A Bash command line as far as it is understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellReading {
    /// Every simple command is known.
    Understood {
        /// In order of discovery; those inside `$( )` come before the command
        /// that uses their output.
        commands: Vec<SimpleCommand>,
        /// The line is one simple command, but an argument of it is unknown:
        /// only the names in `commands` can be relied upon.
        unknown_argument: bool,
    },
    /// It could run anything.
    NotUnderstood {
        /// What stopped the reading.
        why: &'static str,
    },
}

/// Reads a command; `home` is the value of `$HOME`.
#[must_use]
pub fn read_command(command: &str, home: &str) -> ShellReading {
    // Refusing is the safe side: the client then runs every well-formed
    // `Bash(..)` handler, so a guard is not bypassed.
    if let Some(why) = text::find_objection(command) {
        return ShellReading::NotUnderstood { why };
    }
    let tree = match parser::parse_line(command) {
        Ok(tree) => tree,
        Err(why) => return ShellReading::NotUnderstood { why },
    };
    let mut walker = Walker::new(home);
    match walker.walk_program(&tree) {
        Ok(()) => understood_reading(walker.commands, false),
        Err(WalkError::Opaque(why)) => ShellReading::NotUnderstood { why },
        // The client's exception: one simple command with an unknown argument
        // can still be judged by its name.
        Err(WalkError::Unknown(why)) => match unknown::collect_commands(&tree) {
            Some(commands) => understood_reading(commands, true),
            None => ShellReading::NotUnderstood { why },
        },
    }
}

fn understood_reading(commands: Vec<SimpleCommand>, unknown_argument: bool) -> ShellReading {
    ShellReading::Understood {
        commands,
        unknown_argument,
    }
}

#[cfg(test)]
mod tests;
