//! `remora`: the one binary. Dispatch only; every verb has its own file.
#![forbid(unsafe_code)]

mod args;
mod clock;
mod commands;
mod environment;
mod error;
mod exit;
mod hook;
mod model_provider;
mod output;
mod project_env;
mod settings;
mod signals;
mod terminal;
mod tools;

use std::process::ExitCode;

use commands::complete::COMPLETE_VERB;
use commands::guard::GUARD_VERB;

fn main() -> ExitCode {
    // An agent waits for a hook: nothing comes before this.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(first) if first == "hook" => return hook::run(arguments),
        Some(first) if first == COMPLETE_VERB => return commands::complete::run(arguments),
        Some(first) if first == GUARD_VERB => return commands::guard::run(arguments),
        _ => {}
    }
    let args = match args::Args::from_command_line() {
        Ok(args) => args,
        Err(error) => return output::print_clap_error(&error),
    };
    let mut out = output::Output::new();
    match commands::run(args, &mut out) {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::print_error(&error);
            exit::Exit::Failed.into()
        }
    }
}
