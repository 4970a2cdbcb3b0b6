//! The one writer: text for users, JSON for programs, colours only on a
//! terminal.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use remora_core::text::is_invisible;
use serde::Serialize;

use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;

/// A colour or weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Style {
    fn ansi_code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// Where results go.
pub(crate) struct Output {
    colours: bool,
    stdout: io::Stdout,
}

impl Output {
    pub(crate) fn new() -> Self {
        let environment = Environment::from_process();
        let wanted = environment.get("NO_COLOR").is_none()
            && environment.get("TERM").is_none_or(|t| t != "dumb");
        let stdout = io::stdout();
        let colours = wanted && stdout.is_terminal();
        Self { colours, stdout }
    }

    /// Whether colours are wanted and can be seen.
    pub(crate) fn has_colours(&self) -> bool {
        self.colours
    }

    /// The text in a style, if there is someone to see it.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.colours && style != Style::Plain {
            format!("\u{1b}[{}m{text}\u{1b}[0m", style.ansi_code())
        } else {
            text.to_owned()
        }
    }

    /// Text. A reader who has left early is no error.
    pub(crate) fn print_text(&mut self, text: &str) -> Result<(), CliError> {
        ignore_broken_pipe(self.stdout.lock().write_all(text.as_bytes()))
    }

    /// One JSON document on one line.
    pub(crate) fn print_json(&mut self, value: &impl Serialize) -> Result<(), CliError> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        self.print_text(&line)
    }
}

/// What went wrong, and what to do about it.
pub(crate) fn print_error(error: &CliError) {
    print_stderr(&format!("remora: {error}"));
    if let Some(hint) = error.hint() {
        print_stderr(&format!("  {hint}"));
    }
}

/// What was understood otherwise than it may have been meant.
pub(crate) fn print_note(text: &str) {
    print_stderr(&format!("note: {text}"));
}

/// A line of the step trace.
pub(crate) fn print_trace(line: &str) {
    print_stderr(&format!("remora: {line}"));
}

/// With stderr gone no reader is left.
fn print_stderr(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_invisible(line));
}

/// Control characters, and those that turn text around, end a line or have no
/// width.
pub(crate) fn is_unseen(c: char) -> bool {
    let others = matches!(c, '\u{200c}' | '\u{200d}' | '\u{2028}' | '\u{2029}');
    c.is_control() || is_invisible(c) || others
}

/// Text from elsewhere, safe for a terminal: characters that it would obey or
/// hide are shown, not sent.
pub(crate) fn escape_invisible(text: &str) -> String {
    let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_invisible(c);
    if !text.contains(hidden) {
        return text.to_owned();
    }
    text.chars()
        .map(|c| {
            if hidden(c) {
                c.escape_default().to_string()
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// A text as one word of a shell, whatever is in it: commands are there to be
/// copied, and keys are written by repositories.
pub(crate) fn quote_for_shell(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", escape_invisible(text).replace('\'', r"'\''"))
    }
}

/// Help and version go to stdout; a wrong command line is exit code 1, because
/// 2 means that an event was blocked.
pub(crate) fn print_clap_error(error: &clap::Error) -> ExitCode {
    let shown = error.print().is_ok();
    match error.kind() {
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion if shown => {
            Exit::GoOn.into()
        }
        _ => Exit::Failed.into(),
    }
}

fn ignore_broken_pipe(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
