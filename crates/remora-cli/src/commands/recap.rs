//! `remora recap`: what was done since a day, by project and session; what a
//! person would say at a stand-up.

mod gather;

use serde_json::{Value, json};

use crate::args::{Recap, Span};
use crate::commands::data::Data;
use crate::commands::reader::Reader;
use crate::commands::search::when;
use crate::commands::sessions::ending;
use crate::commands::show::lines::{self, Local, flat, hang};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use gather::{Done, OfProject};
use remora_memory::store::Filter;
use remora_protocol::time::rfc3339;

/// Entries that are told of each part.
const ENTRIES: usize = 6;

pub(crate) fn run(args: &Recap, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let span = when::span(&Span {
        since: Some(args.since.clone()),
        until: args.until.clone(),
    })?;
    let since = span.since.unwrap_or_default();
    let mut filter = Filter {
        since: span.since,
        until: span.until,
        ..Filter::default()
    };
    let projects = match data.store()? {
        None => Vec::new(),
        Some(store) => {
            filter.project = Reader::of(&data)?.project(&data, &store, &args.place)?;
            gather::gather(&store, &filter)?
        }
    };
    if args.json {
        let list: Vec<Value> = projects.iter().map(as_json).collect();
        out.json(&json!({
            "since": rfc3339(since),
            "until": span.until.map(rfc3339),
            "projects": list,
        }))?;
        return Ok(Exit::GoOn);
    }
    let local = Local::new();
    if projects.is_empty() {
        let here = if filter.project.is_some() {
            "; `--all` looks in every project"
        } else {
            ""
        };
        out.text(&format!(
            "nothing was done since {}{here}\n",
            local.moment(since)
        ))?;
    }
    for (at, project) in projects.iter().enumerate() {
        if at > 0 {
            out.text("\n")?;
        }
        say(project, &local, out)?;
    }
    Ok(Exit::GoOn)
}

fn as_json(project: &OfProject) -> Value {
    let sessions: Vec<Value> = project
        .sessions
        .iter()
        .map(|done| {
            let parts = done.parts();
            let mut value = json!({
                "id": done.session.id,
                "title": done.session.title,
                "started": rfc3339(done.session.started),
                "last": rfc3339(done.session.last),
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

fn say(project: &OfProject, local: &Local, out: &mut Output) -> Result<(), CliError> {
    let name = out.paint(Style::Bold, &flat(&project.name));
    out.text(&format!("{name}\n"))?;
    for done in &project.sessions {
        out.text("\n")?;
        session(done, local, out)?;
    }
    Ok(())
}

fn session(done: &Done, local: &Local, out: &mut Output) -> Result<(), CliError> {
    let session = &done.session;
    let lead = format!("  {}  ", local.moment(session.last));
    let title = match flat(&session.title) {
        empty if empty.is_empty() => "(no prompt)".to_owned(),
        title => title,
    };
    let told = hang(&lead, &title);
    let painted = out.paint(Style::Cyan, &lead);
    out.text(&told.replacen(&lead, &painted, 1))?;
    let mut about: Vec<String> = session.branch.iter().map(|b| flat(b)).collect();
    about.push(flat(&session.agent));
    about.push(ending(session));
    let about = out.paint(Style::Dim, &about.join(" · "));
    out.text(&format!("{}{about}\n", " ".repeat(lead.len())))?;
    for (name, word, entries) in done.parts() {
        let style = match name {
            "open_failures" => Style::Red,
            "fixes" => Style::Green,
            "decisions" => Style::Yellow,
            _ => Style::Plain,
        };
        for (at, entry) in entries.iter().take(ENTRIES).enumerate() {
            let word = if at == 0 { word } else { "" };
            let lead = format!("    {word:<8}  - ");
            let painted = format!("    {}  - ", out.paint(style, &format!("{word:<8}")));
            let told = hang(&lead, &flat(entry));
            out.text(&told.replacen(&lead, &painted, 1))?;
        }
        if entries.len() > ENTRIES {
            out.text(&format!("{:16}and {} more\n", "", entries.len() - ENTRIES))?;
        }
    }
    if !done.files.is_empty() {
        let files: Vec<&str> = done.files.iter().map(String::as_str).collect();
        let files = lines::paths(&files, 2 * (lines::line_width() - 16));
        out.text(&hang("    files       ", &files))?;
    }
    Ok(())
}
