//! All automation of the workspace, behind `cargo xtask <command>`.
//!
//! A library with an example as its door (`examples/xtask.rs`): with a second
//! binary in the workspace, `cargo run` would need to know which one.
//!
//! This file only chooses the command; each command is a module with a
//! `run(&[String]) -> anyhow::Result<()>` and one row in `COMMANDS`.

mod client;
mod fit;
mod gate;
mod hosts;
mod proof;
mod soak;
mod tidy;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::bail;

/// One thing `cargo xtask` can do.
struct XtaskCommand {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const COMMANDS: &[XtaskCommand] = &[
    XtaskCommand {
        name: "tidy",
        about: "check the invariants of ARCHITECTURE.md",
        run: tidy::run,
    },
    XtaskCommand {
        name: "client",
        about: "compare the engine with the real client, case by case",
        run: client::run,
    },
    XtaskCommand {
        name: "fit",
        about: "fit the classifier that finds statements, and say how well it does",
        run: fit::run,
    },
    XtaskCommand {
        name: "gate",
        about: "count the instructions of a hook against what was accepted",
        run: gate::run,
    },
    XtaskCommand {
        name: "hosts",
        about: "play the hosts in Python and TypeScript, and compare them with the one in Rust",
        run: hosts::run,
    },
    XtaskCommand {
        name: "proof",
        about: "show that no event is lost or doubled, whatever happens",
        run: proof::run,
    },
    XtaskCommand {
        name: "soak",
        about: "show that a server of hooks does not grow, and leaves nothing when it is killed",
        run: soak::run,
    },
];

/// Runs the command that the arguments name. Errors here are findings for
/// people, so no backtrace is printed.
pub fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch_command(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr gone there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch_command(args: &[String]) -> anyhow::Result<()> {
    let Some((name, rest)) = args.split_first() else {
        bail!("no command given\n\n{}", format_usage());
    };
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => bail!("unknown command `{name}`\n\n{}", format_usage()),
    }
}

fn format_usage() -> String {
    let mut text = String::from("usage: cargo xtask <command>\n");
    for XtaskCommand { name, about, .. } in COMMANDS {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {name:<10}{about}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_unknown_command_lists_the_known_ones() {
        for args in [vec![], vec!["tidyy".to_owned()]] {
            let message = dispatch_command(&args).unwrap_err().to_string();
            for command in COMMANDS {
                assert!(message.contains(command.name), "{message}");
            }
        }
    }
}
