//! One file per verb.

use crate::args::{Args, Command, HooksCommand};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

mod audit;
mod bench;
mod completions;
mod config;
mod context;
mod correct;
mod data;
mod demo;
mod directory;
mod doctor;
mod edit;
mod editor;
mod exclusive;
mod export;
mod folders;
mod forget;
mod hooks;
mod import;
mod install;
mod instructions;
mod ledger;
mod mcp;
mod memory;
mod parts;
mod pause;
mod permissions;
mod pin;
mod progress;
mod projects;
mod prune;
mod reader;
mod rebuild;
mod recap;
mod scrub;
mod search;
mod sessions;
mod show;
mod status;
pub(crate) mod tier;
mod timeline;
mod vectors;
mod worker;
mod wrong;

pub(crate) fn run(args: Args, out: &mut Output) -> Result<Exit, CliError> {
    match args.command {
        Command::Hooks(HooksCommand::Run(args)) => hooks::run(&args, out),
        Command::Hooks(HooksCommand::Explain(args)) => hooks::run_explain(&args, out),
        Command::Hooks(HooksCommand::Try(args)) => hooks::try_event(&args, out),
        Command::Hooks(HooksCommand::List(args)) => hooks::run_list(&args, out),
        Command::Memory(command) => memory::run(&command, out),
        Command::Remember(args) => memory::run_remember(&args, out),
        Command::Wrong(args) => wrong::run(&args, out),
        Command::Edit(args) => edit::run(&args, out),
        Command::Pin(args) => pin::run(&args, out),
        Command::Forget(args) => forget::run(&args, out),
        Command::Instructions(command) => instructions::run(&command, out),
        Command::Install(args) => install::run_install(&args, out),
        Command::Uninstall(args) => install::run_uninstall(&args, out),
        Command::Search(args) => search::run(&args, out),
        Command::Show(args) => show::run(&args, out),
        Command::Sessions(args) => sessions::run(&args, out),
        Command::Timeline(args) => timeline::run(&args, out),
        Command::Recap(args) => recap::run(&args, out),
        Command::Context(args) => context::run(&args, out),
        Command::Ledger(args) => ledger::run(&args, out),
        Command::Folders(args) => folders::run(&args, out),
        Command::Permissions(args) => permissions::run(&args, out),
        Command::Pause(args) => pause::run(&args, out),
        Command::Mcp(args) => mcp::run(&args, out),
        Command::Status(args) => status::run(&args, out),
        Command::Doctor(args) => doctor::run(&args, out),
        Command::Rebuild(args) => rebuild::run(&args, out),
        Command::Projects(command) => projects::run(&command, out),
        Command::Prune(args) => prune::run(&args, out),
        Command::Audit(args) => audit::run(&args, out),
        Command::Export(args) => export::run(&args, out),
        Command::Import(command) => import::run(&command, out),
        Command::Config(command) => config::run(&command, out),
        Command::Bench(command) => bench::run(&command, out),
        Command::Worker(command) => worker::run(&command, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Completions { shell } => {
            out.print_text(&completions::write_script(shell))?;
            Ok(Exit::GoOn)
        }
    }
}
