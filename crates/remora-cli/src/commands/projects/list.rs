//! `remora projects`: every project with what is remembered of it, the checkouts
//! that share it and those that wait to.

use std::collections::HashMap;
use std::path::Path;

use remora_client::Roots;
use remora_memory::store::{ProjectActivity, Store};
use remora_protocol::time::rfc3339;
use serde_json::{Value, json};

use crate::args::Projects;
use crate::commands::data::Data;
use crate::commands::show::lines::{Local, count, flat, hang, hang_at};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// A project as it is listed.
struct Row {
    activity: ProjectActivity,
    /// Checkouts that share it.
    roots: Vec<String>,
    /// Checkouts whose remote names it and that have a memory of their own.
    waiting: Vec<String>,
    /// The key that its own remote names, while others hold that.
    waits_for: Option<String>,
}

pub(super) fn run(args: &Projects, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let rows = match data.store()? {
        Some(store) => rows(&data, store.project_activity()?)?,
        None => Vec::new(),
    };
    if args.json {
        let projects: Vec<Value> = rows.iter().map(as_json).collect();
        out.json(&json!({ "projects": projects }))?;
        return Ok(Exit::GoOn);
    }
    if rows.is_empty() {
        out.text("nothing is remembered yet\n")?;
    }
    let local = Local::new();
    for row in &rows {
        say(row, &local, out)?;
    }
    Ok(Exit::GoOn)
}

/// The last worked on first; those that nothing is remembered of, last.
fn rows(data: &Data, activities: Vec<ProjectActivity>) -> Result<Vec<Row>, CliError> {
    let held = Roots::of(&data.paths).list();
    let mut held: HashMap<String, Vec<String>> = held
        .map_err(|source| CliError::File {
            path: data.paths.roots(),
            source,
        })?
        .into_iter()
        .collect();
    let mut rows: Vec<Row> = Vec::new();
    for activity in activities {
        let project = &activity.project;
        let root = Path::new(&project.root);
        let location = root.is_dir().then(|| data.locate(root));
        let awaited = location.as_ref().and_then(|l| l.awaited_key());
        let roots = match held.remove(&project.key) {
            Some(roots) => roots,
            None if project.root.is_empty() => Vec::new(),
            None => vec![project.root.clone()],
        };
        rows.push(Row {
            roots,
            waiting: Vec::new(),
            waits_for: awaited.map(ToOwned::to_owned),
            activity,
        });
    }
    let waiting: Vec<(String, String)> = rows
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

fn as_json(row: &Row) -> Value {
    let ProjectActivity {
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
        "last": last.map(rfc3339),
    })
}

fn say(row: &Row, local: &Local, out: &mut Output) -> Result<(), CliError> {
    const INDENT: &str = "  ";
    let activity = &row.activity;
    let last = activity.last.map(|last| local.moment(last));
    let last = last.unwrap_or_else(|| "never used".to_owned());
    let lead = format!("{last}  ");
    let key = hang(&lead, &flat(&activity.project.key));
    out.text(&out.paint(Style::Bold, &key))?;
    let items = count(activity.items, "item", "items");
    let sessions = count(activity.sessions, "session", "sessions");
    out.text(&hang(INDENT, &format!("{items}, {sessions}")))?;
    for root in row
        .roots
        .iter()
        .filter(|root| **root != activity.project.key)
    {
        out.text(&hang_at(4, INDENT, &flat(root)))?;
    }
    for root in &row.waiting {
        let text = format!("{} waits to share this memory", flat(root));
        out.text(&out.paint(Style::Yellow, &hang_at(4, INDENT, &text)))?;
    }
    if let Some(key) = &row.waits_for {
        let text = format!(
            "says it is {}; `remora projects join` there makes them share one memory",
            flat(key)
        );
        out.text(&out.paint(Style::Yellow, &hang_at(4, INDENT, &text)))?;
    }
    Ok(())
}
