//! One file per verb.

use crate::args::{Args, Command};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

mod audit;
mod bench;
pub(crate) mod complete;
mod completions;
mod config;
mod conformance;
mod context;
mod data;
mod demo;
mod directory;
mod doctor;
mod edit;
mod editor;
mod export;
mod folders;
mod forget;
pub(crate) mod guard;
mod hooks;
mod import;
mod install;
mod instructions;
mod ledger;
mod man;
mod mcp;
mod memory;
mod models;
mod parts;
mod pause;
mod permissions;
mod pin;
mod progress;
mod projects;
mod prune;
mod rebuild;
mod recap;
mod scrub;
mod search;
mod sessions;
mod show;
mod status;
mod timeline;
mod vectors;
mod worker;
mod wrong;

pub(crate) fn run(args: Args, out: &mut Output) -> Result<Exit, CliError> {
    match args.command {
        Command::Hooks(command) => hooks::dispatch(&command, out),
        Command::Conformance(args) => conformance::run(&args, out),
        Command::Memory(command) => memory::run(&command, out),
        Command::Remember(args) => memory::run_remember(&args, out),
        Command::Wrong(args) => wrong::run(&args, out),
        Command::Edit(args) => edit::run(&args, out),
        Command::Pin(args) => pin::run(&args, out),
        Command::Forget(args) => forget::run(&args, out),
        Command::Models(command) => models::run(&command, out),
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
        Command::Man(args) => man::run(&args, out),
        Command::Completions { shell } => {
            out.print_text(&completions::write_script(shell))?;
            Ok(Exit::GoOn)
        }
    }
}
