//! One file per verb.

use clap::CommandFactory;

use crate::args::{Args, Command, Hooks};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

mod demo;
mod hooks;

pub(crate) fn run(args: Args, out: &mut Output) -> Result<Exit, CliError> {
    match args.command {
        Command::Hooks(Hooks::Run(args)) => hooks::run(&args, out),
        Command::Hooks(Hooks::Explain(args)) => hooks::explain(&args, out),
        Command::Hooks(Hooks::Try(args)) => hooks::try_event(&args, out),
        Command::Hooks(Hooks::List(args)) => hooks::list(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "remora", &mut script);
            out.text(&String::from_utf8_lossy(&script))?;
            Ok(Exit::GoOn)
        }
    }
}
