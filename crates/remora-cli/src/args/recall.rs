//! The command line of recall.

use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
pub(crate) struct ContextArgs {
    /// As for this prompt
    #[arg(long, value_name = "TEXT", group = "moment")]
    pub(crate) prompt: Option<String>,
    /// As before this file is read
    #[arg(long, value_name = "FILE", group = "moment")]
    pub(crate) file: Option<String>,
    /// As after a command failed with this; `-` reads it from stdin
    #[arg(long, value_name = "TEXT", group = "moment")]
    pub(crate) error: Option<String>,
    /// The command that failed
    #[arg(long, value_name = "LINE", requires = "error")]
    pub(crate) command: Option<String>,
    /// As for a subagent that begins with this task
    #[arg(long, value_name = "TEXT", group = "moment")]
    pub(crate) task: Option<String>,
    /// As at this event
    #[arg(long, value_enum, group = "moment", default_value_t = ContextEvent::Start)]
    pub(crate) event: ContextEvent,
    /// As within this session: what was injected already is left out
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// As in a session of this agent [default: that of the project's last session]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only the text, as a model would get it
    #[arg(long)]
    pub(crate) text: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// An event that is answered without further words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContextEvent {
    /// A session begins
    Start,
    /// A session goes on
    Resume,
    /// A session was compacted; needs --session
    Compact,
    /// A subagent begins; needs --session
    Subagent,
}
