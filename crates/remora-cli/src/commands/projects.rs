//! `remora projects`: what is remembered of which project, which checkouts share
//! it, and which wait to; two keys of one project become one.

mod list;

use remora_app::projects::{JoinRequest, JoinResponse};

use crate::args::{ProjectsArgs, ProjectsCommand, ProjectsJoinArgs, ProjectsLeaveArgs};
use crate::commands::data::open_app;
use crate::commands::show::lines::format_count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, escape_invisible};

pub(super) fn run(args: &ProjectsArgs, out: &mut Output) -> Result<Exit, CliError> {
    match &args.command {
        None => list::run(args, out),
        Some(ProjectsCommand::Join(args)) => run_join(args, out),
        Some(ProjectsCommand::Leave(args)) => run_leave(args, out),
    }
}

fn run_join(args: &ProjectsJoinArgs, out: &mut Output) -> Result<Exit, CliError> {
    let done = open_app()?.join_projects(&JoinRequest {
        old: args.old.clone(),
        new: args.new.clone(),
        dry_run: args.dry_run,
    })?;
    print_report(args, &done, out)?;
    Ok(Exit::GoOn)
}

fn print_report(
    args: &ProjectsJoinArgs,
    done: &JoinResponse,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        return out.print_json(done);
    }
    let (from, to) = (&done.from, &done.to);
    let verb = if args.dry_run { "would go" } else { "went" };
    let rows = format_count(done.rows, "item", "items");
    let sessions = format_count(done.sessions, "session", "sessions");
    let text = format!("{rows} and {sessions} {verb} from {from} to {to}");
    out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    if done.roots.iter().any(|root| root == from) {
        let text = if args.dry_run {
            format!("{from} would share the memory of {to}")
        } else {
            format!("{from} shares the memory of {to}; `remora projects leave` undoes that")
        };
        out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    }
    Ok(())
}

fn run_leave(args: &ProjectsLeaveArgs, out: &mut Output) -> Result<Exit, CliError> {
    let left = open_app()?.leave_project(args.folder.as_deref())?;
    if args.json {
        out.print_json(&left)?;
    } else {
        let (root, key) = (&left.root, &left.key);
        let text =
            format!("{root} has a memory of its own from now on; what it shared stays with {key}");
        out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    }
    Ok(Exit::GoOn)
}
