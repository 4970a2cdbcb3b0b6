//! `remora projects`: every project with what is remembered of it, the checkouts
//! that share it and those that wait to.

use std::collections::HashMap;
use std::path::Path;

use remora_client::ProjectRoots;
use remora_core::ids::ProjectKey;
use remora_core::time::format_rfc3339;
use remora_memory::store::{ProjectStats, Store};
use serde_json::{Value, json};

use crate::args::ProjectsArgs;
use crate::commands::data::DataDir;
use crate::commands::show::lines::{TimeFormatter, flatten_text, format_count, hang_at, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// A project as it is listed.
struct ListedProject {
    activity: ProjectStats,
    /// Checkouts that share it.
    roots: Vec<String>,
    /// Checkouts whose remote names it and that have a memory of their own.
    waiting: Vec<ProjectKey>,
    /// The key that its own remote names, while others hold that.
    waits_for: Option<String>,
}

pub(super) fn run(args: &ProjectsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let rows = match data.open_store()? {
        Some(store) => collect_projects(&data, store.project_activity()?)?,
        None => Vec::new(),
    };
    if args.json {
        let projects: Vec<Value> = rows.iter().map(as_json).collect();
        out.print_json(&json!({ "projects": projects }))?;
        return Ok(Exit::GoOn);
    }
    if rows.is_empty() {
        out.print_text("nothing is remembered yet\n")?;
    }
    let local = TimeFormatter::new();
    for row in &rows {
        print_project(row, &local, out)?;
    }
    Ok(Exit::GoOn)
}

/// The last worked on first; those that nothing is remembered of, last.
fn collect_projects(
    data: &DataDir,
    activities: Vec<ProjectStats>,
) -> Result<Vec<ListedProject>, CliError> {
    let held = ProjectRoots::for_data_dir(&data.paths).list_keys();
    let mut held: HashMap<String, Vec<String>> = held
        .map_err(|source| CliError::File {
            path: data.paths.roots_dir(),
            source,
        })?
        .into_iter()
        .collect();
    let mut rows: Vec<ListedProject> = Vec::new();
    for activity in activities {
        let project = &activity.project;
        let root = Path::new(&project.root);
        let location = root.is_dir().then(|| data.locate_folder(root));
        let awaited = location.as_ref().and_then(|l| l.awaited_key());
        let roots = match held.remove(project.key.as_str()) {
            Some(roots) => roots,
            None if project.root.is_empty() => Vec::new(),
            None => vec![project.root.clone()],
        };
        rows.push(ListedProject {
            roots,
            waiting: Vec::new(),
            waits_for: awaited.map(ToOwned::to_owned),
            activity,
        });
    }
    let waiting: Vec<(String, ProjectKey)> = rows
        .iter()
        .filter_map(|row| Some((row.waits_for.clone()?, row.activity.project.key.clone())))
        .collect();
    for row in &mut rows {
        let key = &row.activity.project.key;
        let waits = waiting.iter().filter(|(awaited, _)| awaited == key);
        row.waiting = waits.map(|(_, root)| root.clone()).collect();
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.activity.last));
    Ok(rows)
}

fn as_json(row: &ListedProject) -> Value {
    let ProjectStats {
        project,
        items,
        sessions,
        last,
    } = &row.activity;
    json!({
        "key": project.key,
        "name": project.name,
        "roots": row.roots,
        "waiting": row.waiting,
        "waits_for": row.waits_for,
        "items": items,
        "sessions": sessions,
        "last": last.map(format_rfc3339),
    })
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
