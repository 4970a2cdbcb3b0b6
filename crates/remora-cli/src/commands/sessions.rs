//! `remora sessions`: what was worked on, newest first, with the ids by which
//! agents take sessions up again.

use remora_core::record::{Kind, Session};
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use serde_json::{Value, json};

use crate::args::SessionsArgs;
use crate::commands::data::DataDir;
use crate::commands::reader::Requester;
use crate::commands::search::{scope, when};
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Items of one session are counted up to this.
const MAX_COUNTED_ITEMS: usize = 5000;

pub(crate) fn run(args: &SessionsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let span = when::resolve_time_span(&args.span)?;
    let Some(store) = data.open_store()? else {
        return print_no_sessions(args, &Filter::default(), None, out);
    };
    let filter = Filter {
        project: Requester::from_data(&data)?.resolve_project(&data, &store, &args.place)?,
        since: span.since,
        until: span.until,
        agent: args.agent.as_deref().map(scope::resolve_agent),
        ..Filter::default()
    };
    let sessions = store.list_sessions(&filter, args.limit)?;
    if sessions.is_empty() {
        return print_no_sessions(args, &filter, Some(&store), out);
    }
    let mut rows = Vec::new();
    for session in sessions {
        let items = count_items(&store, &session.id)?;
        rows.push((session, items));
    }
    if args.json {
        let mut list = Vec::with_capacity(rows.len());
        for (session, items) in &rows {
            let prompt = first_prompt(&store, &session.id)?;
            list.push(as_json(session, *items, prompt.as_deref()));
        }
        out.print_json(&json!({ "sessions": list }))?;
        return Ok(Exit::GoOn);
    }
    let projects = scope::list_named_projects(&store, &filter)?;
    let local = TimeFormatter::new();
    for (session, items) in &rows {
        let project = projects.iter().find(|p| p.key == session.project);
        print_session(
            session,
            *items,
            project.map(|p| p.name.as_str()),
            &local,
            out,
        )?;
    }
    Ok(Exit::GoOn)
}

fn print_no_sessions(
    args: &SessionsArgs,
    filter: &Filter,
    store: Option<&dyn Store>,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(&json!({ "sessions": [] }))?;
        return Ok(Exit::GoOn);
    }
    let everywhere = Filter {
        project: None,
        ..filter.clone()
    };
    let others = match store {
        Some(store) if filter.project.is_some() => store.list_sessions(&everywhere, 100)?.len(),
        _ => 0,
    };
    out.print_text(&match others {
        0 => "no sessions\n".to_owned(),
        n => format!(
            "no sessions in this project; {} in others: add --all\n",
            lines::format_number(n as u64)
        ),
    })?;
    Ok(Exit::GoOn)
}

/// How many items a session left.
fn count_items(store: &dyn Store, session: &str) -> Result<u64, CliError> {
    let of_session = Filter {
        session: Some(session.to_owned()),
        ..Filter::default()
    };
    let page = PageRequest::newest(MAX_COUNTED_ITEMS);
    Ok(store.list_items(&of_session, page)?.len() as u64)
}

/// What the user asked for first, in full.
fn first_prompt(store: &dyn Store, session: &str) -> Result<Option<String>, CliError> {
    let prompts = Filter {
        session: Some(session.to_owned()),
        kinds: vec![Kind::Prompt],
        ..Filter::default()
    };
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: 1,
    };
    let first = store.list_items(&prompts, page)?.into_iter().next();
    Ok(first.map(|prompt| prompt.text))
}

fn as_json(session: &Session, items: u64, prompt: Option<&str>) -> Value {
    json!({
        "id": session.id,
        "title": session.title,
        "first_prompt": prompt,
        "started": format_rfc3339(session.started),
        "last": format_rfc3339(session.last),
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
pub(crate) fn format_ending(session: &Session) -> String {
    match session.end_reason.as_deref() {
        None => "open".to_owned(),
        Some("" | "other") => "ended".to_owned(),
        Some(reason) => format!("ended: {}", flatten_text(reason)),
    }
}

/// The first line of a session: a lead, such as its time, and what was asked.
pub(super) fn print_session_title(
    session: &Session,
    lead: &str,
    out: &mut Output,
) -> Result<(), CliError> {
    let title = match flatten_text(&session.title) {
        empty if empty.is_empty() => "(no prompt)".to_owned(),
        title => title,
    };
    let told = hang_text(lead, &title);
    let painted = out.paint(Style::Cyan, lead);
    out.print_text(&told.replacen(lead, &painted, 1))
}

fn print_session(
    session: &Session,
    items: u64,
    project: Option<&str>,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let lead = format!("{}  ", local.format_timestamp(session.last));
    print_session_title(session, &lead, out)?;
    let mut about = vec![
        format_count(u64::from(session.prompts), "prompt", "prompts"),
        format_count(items, "item", "items"),
    ];
    about.extend(project.map(flatten_text));
    about.extend(session.branch.as_deref().map(flatten_text));
    about.push(flatten_text(&session.agent));
    let state = session.end_reason.as_ref().map_or("open", |_| "ended");
    about.push(state.to_owned());
    let indent = " ".repeat(lead.len());
    let room = lines::line_width().saturating_sub(indent.len());
    // The id is on its own, so that it is easily copied.
    for line in [about.join(" · "), flatten_text(&session.id)] {
        for line in lines::wrap_text(&line, room) {
            let line = out.paint(Style::Dim, &line);
            out.print_text(&format!("{indent}{line}\n"))?;
        }
    }
    Ok(())
}
