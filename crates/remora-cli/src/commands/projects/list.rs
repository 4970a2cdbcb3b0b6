//! `remora projects`: every project with what is remembered of it, the checkouts
//! that share it and those that wait to.

use remora_app::projects::ListedProject;

use crate::args::ProjectsArgs;
use crate::commands::data::open_app;
use crate::commands::show::lines::{TimeFormatter, flatten_text, format_count, hang_at, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(super) fn run(args: &ProjectsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let found = open_app()?.list_projects()?;
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    if found.projects.is_empty() {
        out.print_text("nothing is remembered yet\n")?;
    }
    let local = TimeFormatter::new();
    for row in &found.projects {
        print_project(row, &local, out)?;
    }
    Ok(Exit::GoOn)
}

fn print_project(
    row: &ListedProject,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    const INDENT: &str = "  ";
    let activity = &row.activity;
    let last = activity.last.map(|last| local.format_timestamp(last));
    let last = last.unwrap_or_else(|| "never used".to_owned());
    let lead = format!("{last}  ");
    let key = hang_text(&lead, &flatten_text(&activity.project.key));
    out.print_text(&out.paint(Style::Bold, &key))?;
    let items = format_count(activity.items, "item", "items");
    let sessions = format_count(activity.sessions, "session", "sessions");
    out.print_text(&hang_text(INDENT, &format!("{items}, {sessions}")))?;
    for root in row
        .roots
        .iter()
        .filter(|root| **root != activity.project.key)
    {
        out.print_text(&hang_at(4, INDENT, &flatten_text(root)))?;
    }
    for root in &row.waiting {
        let text = format!("{} waits to share this memory", flatten_text(root));
        out.print_text(&out.paint(Style::Yellow, &hang_at(4, INDENT, &text)))?;
    }
    if let Some(key) = &row.waits_for {
        let text = format!(
            "says it is {}; `remora projects join` there makes them share one memory",
            flatten_text(key)
        );
        out.print_text(&out.paint(Style::Yellow, &hang_at(4, INDENT, &text)))?;
    }
    Ok(())
}
