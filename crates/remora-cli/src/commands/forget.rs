//! `remora forget`: deletes what is remembered, for good. Shows what that comes
//! to and asks first; saved memories go as `memory rm` removes them.

use std::io::{self, BufRead, IsTerminal, Write as _};

use remora_app::ProjectChoice;
use remora_app::deletions::{DeletionRequest, DeletionResponse};

use crate::args::{DirectoryArgs, ForgetArgs, MemoryLocationArgs, MemoryRmArgs};
use crate::commands::data::open_app;
use crate::commands::memory;
use crate::commands::show::lines::{TimeFormatter, flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(super) fn run(args: &ForgetArgs, out: &mut Output) -> Result<Exit, CliError> {
    let (items, saved): (Vec<&String>, Vec<&String>) =
        args.names.iter().partition(|name| is_number(name));
    if !items.is_empty() && args.project.is_some() {
        return Err(CliError::Usage(
            "an item is known by its number alone; leave out --project".to_owned(),
        ));
    }
    if !saved.is_empty() {
        return forget_saved(args, &items, out);
    }
    let app = open_app()?;
    let request = build_request(args);
    let mut planned = app.preview_deletion(&request)?;
    if planned.is_empty() {
        planned.dry_run = args.dry_run;
        return print_nothing(args, &planned, out);
    }
    if args.dry_run {
        return print_result(args, &planned, out);
    }
    if !args.yes {
        if args.json || !io::stdin().is_terminal() {
            return Err(CliError::Usage(format!(
                "this would delete {}; add --yes to do it, or --dry-run to see it",
                describe_deletion(&planned)
            )));
        }
        print_preview(&planned, out)?;
        if !confirm_deletion(out)? {
            out.print_text("nothing was deleted\n")?;
            return Ok(Exit::GoOn);
        }
    }
    print_result(args, &app.delete(&request)?, out)
}

fn build_request(args: &ForgetArgs) -> DeletionRequest {
    if let Some(id) = &args.session {
        return DeletionRequest::Session(id.clone());
    }
    match (&args.matching, &args.project) {
        (Some(words), project) => DeletionRequest::Matching {
            words: words.clone(),
            project: match project {
                Some(project) => ProjectChoice::Named(project.clone()),
                None if args.all => ProjectChoice::All,
                None => ProjectChoice::Here,
            },
        },
        (None, Some(project)) => DeletionRequest::Project(project.clone()),
        (None, None) => DeletionRequest::Items(args.names.clone()),
    }
}

/// Whether a name is an item's number. A shell may take `#12` for a comment, so
/// the number alone is enough; a saved memory of that name has its address.
fn is_number(name: &str) -> bool {
    name.starts_with('#') || !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit())
}

fn forget_saved(args: &ForgetArgs, items: &[&String], out: &mut Output) -> Result<Exit, CliError> {
    if !items.is_empty() {
        return Err(CliError::Usage(
            "items (#12) and saved memories are forgotten one kind at a time".to_owned(),
        ));
    }
    let args = MemoryRmArgs {
        names: args.names.clone(),
        whose: args.whose.clone(),
        place: MemoryLocationArgs {
            directory: DirectoryArgs {
                project: args.project.clone(),
                cwd: args.cwd.clone(),
            },
            home: args.home.clone(),
            json: args.json,
        },
    };
    memory::run_forget(&args, out)
}

fn print_preview(planned: &DeletionResponse, out: &mut Output) -> Result<(), CliError> {
    let local = TimeFormatter::new();
    let text = describe_deletion(planned);
    out.print_text(&format!("This deletes {text}:\n"))?;
    for item in &planned.preview {
        let day = local.format_day(item.time);
        let head = format!("  #{} {day} {}  ", item.id, item.kind);
        out.print_text(&hang_text(&head, &flatten_text(&item.title)))?;
    }
    if planned.more > 0 {
        out.print_text(&format!("  and {} more\n", planned.more))?;
    }
    out.print_text("Old copies of the database in the data directory go as well.\n")
}

/// How much a deletion deletes, in words.
pub(super) fn describe_deletion(deletion: &DeletionResponse) -> String {
    let mut parts = vec![
        format_count(deletion.items, "item", "items"),
        format_count(deletion.events, "event", "events"),
    ];
    if deletion.files > 0 {
        parts.push(format_count(
            deletion.files,
            "waiting or dead event",
            "waiting or dead events",
        ));
    }
    parts.join(" and ")
}

fn confirm_deletion(out: &mut Output) -> Result<bool, CliError> {
    out.print_text("Delete for good? [y/N] ")?;
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn print_nothing(
    args: &ForgetArgs,
    planned: &DeletionResponse,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(planned)?;
    } else {
        out.print_text("nothing is remembered that matches\n")?;
    }
    Ok(Exit::GoOn)
}

fn print_result(
    args: &ForgetArgs,
    done: &DeletionResponse,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(done)?;
    } else if args.dry_run {
        print_preview(done, out)?;
        out.print_text("nothing was deleted: this was a dry run\n")?;
    } else {
        let head = format!("deleted {}", describe_deletion(done));
        out.print_text(&(out.paint(Style::Green, &head) + "\n"))?;
        let receipt = done.receipt().unwrap_or_default();
        out.print_text(&format!("receipt {receipt}\n"))?;
    }
    Ok(Exit::GoOn)
}
