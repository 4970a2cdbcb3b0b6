//! Bash permission-rule patterns (`Bash(git *)`) against a Bash command, for
//! the `if` condition of hook handlers. A command is read into its simple
//! commands, each rebuilt as plain words; what is not understood counts as a
//! match, because a guard that stays silent is worse than one that runs.

mod brackets;
mod commands;
mod names;
mod parser;
mod pattern;
mod scope;
mod text;
mod tree;
mod unknown;
mod values;
mod walk;
mod words;

pub(crate) use pattern::BashPattern;

use walk::{Refusal, Walker};

/// One simple command, rebuilt: quotes and backslashes removed, known variables
/// filled in, assignments, redirections and comments dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// The words; empty for a lone redirection.
    pub words: Vec<String>,
    /// The words joined by one blank each.
    pub text: String,
}

impl SimpleCommand {
    fn new(words: Vec<String>) -> Self {
        let text = words.join(" ");
        Self { words, text }
    }

    /// The command behind a bare `xargs` (no options): the client tests it as
    /// well, one level deep.
    #[must_use]
    pub(crate) fn behind_xargs(&self) -> Option<&str> {
        let inner = self.text.strip_prefix("xargs ")?;
        (!inner.starts_with('-')).then_some(inner)
    }
}

/// A Bash command line as far as it is understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
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

impl Reading {
    /// The simple commands; empty when the line is not understood.
    #[must_use]
    pub(crate) fn commands(&self) -> &[SimpleCommand] {
        match self {
            Self::Understood { commands, .. } => commands,
            Self::NotUnderstood { .. } => &[],
        }
    }

    /// Is every word of every command known?
    #[must_use]
    pub(crate) fn is_certain(&self) -> bool {
        matches!(
            self,
            Self::Understood {
                unknown_argument: false,
                ..
            }
        )
    }
}

/// Reads a command; `home` is what `$HOME` stands for.
#[must_use]
pub(crate) fn read(command: &str, home: &str) -> Reading {
    if let Some(why) = text::objection(command) {
        return Reading::NotUnderstood { why };
    }
    let tree = match parser::parse(command) {
        Ok(tree) => tree,
        Err(why) => return Reading::NotUnderstood { why },
    };
    let mut walker = Walker::new(home);
    match walker.program(&tree) {
        Ok(()) => understood(walker.commands, false),
        Err(Refusal::Opaque(why)) => Reading::NotUnderstood { why },
        Err(Refusal::Unknown(why)) => match unknown::commands(&tree) {
            Some(commands) => understood(commands, true),
            None => Reading::NotUnderstood { why },
        },
    }
}

fn understood(commands: Vec<Vec<String>>, unknown_argument: bool) -> Reading {
    Reading::Understood {
        commands: commands.into_iter().map(SimpleCommand::new).collect(),
        unknown_argument,
    }
}
