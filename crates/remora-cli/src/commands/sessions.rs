//! `remora sessions`: what was worked on, newest first, with the ids by which
//! agents take sessions up again.

use remora_memory::store::{Filter, Order, Page, Store};
use remora_protocol::record::{Kind, Session};
use remora_protocol::time::rfc3339;
use serde_json::{Value, json};

use crate::args::Sessions;
use crate::commands::data::Data;
use crate::commands::reader::Reader;
use crate::commands::search::{scope, when};
use crate::commands::show::lines::{self, Local, count, flat, hang};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Rows of one session are counted up to this.
const MOST: usize = 5000;

pub(crate) fn run(args: &Sessions, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let span = when::span(&args.span)?;
    let Some(store) = data.store()? else {
        return none(args, &Filter::default(), None, out);
    };
    let filter = Filter {
        project: Reader::of(&data)?.project(&data, &store, &args.place)?,
        since: span.since,
        until: span.until,
        agent: args.agent.as_deref().map(scope::agent),
        ..Filter::default()
    };
    let sessions = store.sessions(&filter, args.limit)?;
    if sessions.is_empty() {
        return none(args, &filter, Some(&store), out);
    }
    let mut rows = Vec::new();
    for session in sessions {
        let items = items(&store, &session.id)?;
        rows.push((session, items));
    }
    if args.json {
        let mut list = Vec::with_capacity(rows.len());
        for (session, items) in &rows {
            let prompt = first_prompt(&store, &session.id)?;
            list.push(as_json(session, *items, prompt.as_deref()));
        }
        out.json(&json!({ "sessions": list }))?;
        return Ok(Exit::GoOn);
    }
    let many_projects = filter.project.is_none();
    let projects = if many_projects {
        store.projects()?
    } else {
        Vec::new()
    };
    let local = Local::new();
    for (session, items) in &rows {
        let project = projects.iter().find(|p| p.key == session.project);
        say(
            session,
            *items,
            project.map(|p| p.name.as_str()),
            &local,
            out,
        )?;
    }
    Ok(Exit::GoOn)
}

fn none(
    args: &Sessions,
    filter: &Filter,
    store: Option<&dyn Store>,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.json(&json!({ "sessions": [] }))?;
        return Ok(Exit::GoOn);
    }
    let everywhere = Filter {
        project: None,
        ..filter.clone()
    };
    let others = match store {
        Some(store) if filter.project.is_some() => store.sessions(&everywhere, 100)?.len(),
        _ => 0,
    };
    out.text(&match others {
        0 => "no sessions\n".to_owned(),
        n => format!(
            "no sessions in this project; {} in others: add --all\n",
            lines::number(n as u64)
        ),
    })?;
    Ok(Exit::GoOn)
}

/// How many rows a session left.
fn items(store: &dyn Store, session: &str) -> Result<u64, CliError> {
    let of_session = Filter {
        session: Some(session.to_owned()),
        ..Filter::default()
    };
    let page = Page::newest(MOST);
    Ok(store.list(&of_session, page)?.len() as u64)
}

/// What the person asked for first, in full.
fn first_prompt(store: &dyn Store, session: &str) -> Result<Option<String>, CliError> {
    let prompts = Filter {
        session: Some(session.to_owned()),
        kinds: vec![Kind::Prompt],
        ..Filter::default()
    };
    let page = Page {
        order: Order::Oldest,
        beyond: None,
        limit: 1,
    };
    let first = store.list(&prompts, page)?.into_iter().next();
    Ok(first.map(|prompt| prompt.text))
}

fn as_json(session: &Session, items: u64, prompt: Option<&str>) -> Value {
    json!({
        "id": session.id,
        "title": session.title,
        "first_prompt": prompt,
        "started": rfc3339(session.started),
        "last": rfc3339(session.last),
        "project": session.project,
        "cwd": session.cwd,
        "branch": session.branch,
        "agent": session.agent,
        "prompts": session.prompts,
        "items": items,
        "end_reason": session.end_reason,
    })
}

/// How a session ended, in words.
pub(crate) fn ending(session: &Session) -> String {
    match session.end_reason.as_deref() {
        None => "open".to_owned(),
        Some("" | "other") => "ended".to_owned(),
        Some(reason) => format!("ended: {}", flat(reason)),
    }
}

fn say(
    session: &Session,
    items: u64,
    project: Option<&str>,
    local: &Local,
    out: &mut Output,
) -> Result<(), CliError> {
    let lead = format!("{}  ", local.moment(session.last));
    let title = match flat(&session.title) {
        empty if empty.is_empty() => "(no prompt)".to_owned(),
        title => title,
    };
    let told = hang(&lead, &title);
    let painted = out.paint(Style::Cyan, &lead);
    out.text(&told.replacen(&lead, &painted, 1))?;
    let mut about = vec![
        count(u64::from(session.prompts), "prompt", "prompts"),
        count(items, "row", "rows"),
    ];
    about.extend(project.map(flat));
    about.extend(session.branch.as_deref().map(flat));
    about.push(flat(&session.agent));
    let state = session.end_reason.as_ref().map_or("open", |_| "ended");
    about.push(state.to_owned());
    let indent = " ".repeat(lead.len());
    let room = lines::line_width().saturating_sub(indent.len());
    // The id stands by itself, so that it is easily copied.
    for line in [about.join(" · "), flat(&session.id)] {
        for line in lines::wrap(&line, room) {
            let line = out.paint(Style::Dim, &line);
            out.text(&format!("{indent}{line}\n"))?;
        }
    }
    Ok(())
}
