//! `remora sessions`: what was worked on, newest first, with the ids by which
//! agents take sessions up again.

use remora_app::sessions::{SessionEntry, SessionsRequest};
use remora_core::record::Session;

use crate::args::SessionsArgs;
use crate::commands::data::open_app;
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(crate) fn run(args: &SessionsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let found = open_app()?.list_sessions(&SessionsRequest {
        project: args.place.to_choice(),
        span: args.span.to_request(),
        agent: args.agent.clone(),
        limit: args.limit,
    })?;
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    if found.sessions.is_empty() {
        out.print_text(&match found.elsewhere {
            0 => "no sessions\n".to_owned(),
            n => format!(
                "no sessions in this project; {} in others: add --all\n",
                lines::format_number(n as u64)
            ),
        })?;
    }
    let local = TimeFormatter::new();
    for entry in &found.sessions {
        let key = &entry.session.project;
        let project = found.projects.iter().find(|p| p.key == *key);
        print_session(entry, project.map(|p| p.name.as_str()), &local, out)?;
    }
    Ok(Exit::GoOn)
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
    entry: &SessionEntry,
    project: Option<&str>,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let session = &entry.session;
    let lead = format!("{}  ", local.format_timestamp(session.last));
    print_session_title(session, &lead, out)?;
    let mut about = vec![
        format_count(u64::from(session.prompts), "prompt", "prompts"),
        format_count(entry.items, "item", "items"),
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
