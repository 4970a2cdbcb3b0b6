//! Bash permission-rule patterns (`Bash(git *)`) against a Bash command, for
//! the `if` condition of hook handlers. What the reader of shell text does not
//! understand counts as a match, because a guard that stays silent is worse
//! than one that runs.

mod pattern;

pub(crate) use pattern::BashPattern;
pub(crate) use remora_shell::strict::{ShellReading, SimpleCommand, read_command};

#[cfg(test)]
mod tests;
