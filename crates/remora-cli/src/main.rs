//! `remora`: the one binary. Dispatch only; every verb has its own file.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod environment;
mod error;
mod exit;
mod output;
mod settings;
mod signals;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return output::usage(&error),
    };
    let mut out = output::Output::new();
    match commands::run(args, &mut out) {
        Ok(exit) => exit.into(),
        Err(error) => {
            output::error(&error);
            exit::Exit::Failed.into()
        }
    }
}
