//! `remora recap`: what was done since a day, by project and session; what a
//! user would say at a stand-up.

mod gather;

use serde_json::{Value, json};

use crate::args::{RecapArgs, TimeSpanArgs};
use crate::commands::data::DataDir;
use crate::commands::reader::Requester;
use crate::commands::search::{scope, when};
use crate::commands::sessions::{format_ending, print_session_title};
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use gather::{ProjectRecap, SessionRecap};
use remora_core::time::format_rfc3339;
use remora_memory::store::Filter;

/// Entries that are shown of each part.
const MAX_PART_ENTRIES: usize = 6;

pub(crate) fn run(args: &RecapArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let span = when::resolve_time_span(&TimeSpanArgs {
        since: Some(args.since.clone()),
        until: args.until.clone(),
    })?;
    let since = span.since.unwrap_or_default();
    let mut filter = Filter {
        since: span.since,
        until: span.until,
        agent: args.agent.as_deref().map(scope::resolve_agent),
        ..Filter::default()
    };
    let projects = match data.open_store()? {
        None => Vec::new(),
        Some(store) => {
            filter.project =
                Requester::from_data(&data)?.resolve_project(&data, &store, &args.place)?;
            gather::collect_recaps(&store, &filter)?
        }
    };
    if args.json {
        let list: Vec<Value> = projects.iter().map(as_json).collect();
        out.print_json(&json!({
            "since": format_rfc3339(since),
            "until": span.until.map(format_rfc3339),
            "projects": list,
        }))?;
        return Ok(Exit::GoOn);
    }
    let local = TimeFormatter::new();
    if projects.is_empty() {
        let here = if filter.project.is_some() {
            "; `--all` looks in every project"
        } else {
            ""
        };
        out.print_text(&format!(
            "nothing was done since {}{here}\n",
            local.format_timestamp(since)
        ))?;
    }
    for (at, project) in projects.iter().enumerate() {
        if at > 0 {
            out.print_text("\n")?;
        }
        print_project(project, &local, out)?;
    }
    Ok(Exit::GoOn)
}

fn as_json(project: &ProjectRecap) -> Value {
    let sessions: Vec<Value> = project
        .sessions
        .iter()
        .map(|done| {
            let parts = done.parts();
            let mut value = json!({
                "id": done.session.id,
                "title": done.session.title,
                "started": format_rfc3339(done.session.started),
                "last": format_rfc3339(done.session.last),
                "branch": done.session.branch,
                "agent": done.session.agent,
                "end_reason": done.session.end_reason,
                "files": done.files,
            });
            for (name, _, entries) in parts {
                value[name] = json!(entries);
            }
            value
        })
        .collect();
    json!({ "key": project.key, "name": project.name, "sessions": sessions })
}

fn print_project(
    project: &ProjectRecap,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let name = out.paint(Style::Bold, &flatten_text(&project.name));
    out.print_text(&format!("{name}\n"))?;
    for done in &project.sessions {
        out.print_text("\n")?;
        print_session(done, local, out)?;
    }
    Ok(())
}

fn print_session(
    done: &SessionRecap,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let session = &done.session;
    let lead = format!("  {}  ", local.format_timestamp(session.last));
    print_session_title(session, &lead, out)?;
    let mut about: Vec<String> = session.branch.iter().map(|b| flatten_text(b)).collect();
    about.push(flatten_text(&session.agent));
    about.push(format_ending(session));
    let about = out.paint(Style::Dim, &about.join(" · "));
    out.print_text(&format!("{}{about}\n", " ".repeat(lead.len())))?;
    for (name, word, entries) in done.parts() {
        let style = match name {
            "open_failures" => Style::Red,
            "fixes" => Style::Green,
            "decisions" => Style::Yellow,
            _ => Style::Plain,
        };
        for (at, entry) in entries.iter().take(MAX_PART_ENTRIES).enumerate() {
            let word = if at == 0 { word } else { "" };
            let lead = format!("    {word:<8}  - ");
            let painted = format!("    {}  - ", out.paint(style, &format!("{word:<8}")));
            let told = hang_text(&lead, &flatten_text(entry));
            out.print_text(&told.replacen(&lead, &painted, 1))?;
        }
        if entries.len() > MAX_PART_ENTRIES {
            out.print_text(&format!(
                "{:16}and {} more\n",
                "",
                entries.len() - MAX_PART_ENTRIES
            ))?;
        }
    }
    if !done.files.is_empty() {
        let files: Vec<&str> = done.files.iter().map(String::as_str).collect();
        let files = lines::format_paths(&files, 2 * (lines::line_width() - 16));
        out.print_text(&hang_text("    files       ", &files))?;
    }
    Ok(())
}
