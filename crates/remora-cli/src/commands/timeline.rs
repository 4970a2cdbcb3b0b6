//! `remora timeline`: items and events of the ledger in the order of time.

use std::collections::HashSet;

use remora_app::show::find_outdated_reason;
use remora_app::timeline::{TimelineEntry, TimelineRequest, TimelineResponse};
use remora_core::record::Session;

use crate::args::TimelineArgs;
use crate::commands::data::open_app;
use crate::commands::show::{self, lines};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use lines::{TimeFormatter, flatten_text, hang_text};

/// Columns for the kind.
const KIND_COLUMNS: usize = 10;

pub(crate) fn run(args: &TimelineArgs, out: &mut Output) -> Result<Exit, CliError> {
    let app = open_app()?;
    let found = app.timeline(&TimelineRequest {
        around: args.around.clone(),
        project: args.place.to_choice(),
        span: args.span.to_request(),
        session: args.session.clone(),
        agent: args.agent.clone(),
        limit: args.limit,
    })?;
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    print_timeline(&found, app.clock.now_ms(), out)
}

fn print_timeline(found: &TimelineResponse, now: i64, out: &mut Output) -> Result<Exit, CliError> {
    let entries = &found.entries;
    if entries.is_empty() {
        out.print_text("nothing happened; `--all` looks in every project\n")?;
        return Ok(Exit::GoOn);
    }
    let local = TimeFormatter::new();
    let ids = entries.iter().map(|entry| match entry {
        TimelineEntry::Item(item) => item.id.to_string().len() + 1,
        TimelineEntry::Event(_) => 1,
    });
    let wide = ids.max().unwrap_or(1);
    let agents: HashSet<&str> = entries.iter().filter_map(TimelineEntry::agent).collect();
    let mut day = String::new();
    let mut session = None;
    for entry in entries {
        let today = local.format_day(entry.time());
        if day != today {
            let gap = if day.is_empty() { "" } else { "\n" };
            let head = format!("{today} {}", local.format_weekday(entry.time()));
            out.print_text(&format!("{gap}{}\n", out.paint(Style::Bold, &head)))?;
            day = today;
            session = None;
        }
        if session != Some(entry.session()) {
            session = Some(entry.session());
            let head = format_heading(&found.sessions, entry, agents.len() > 1);
            out.print_text(&format!("  {}\n", out.paint(Style::Dim, &head)))?;
        }
        print_entry(entry, wide, found.centre, now, &local, out)?;
    }
    Ok(Exit::GoOn)
}

/// The session of an entry by what it was about; a title from another project
/// is not shown here. Its agent is named where there are several.
fn format_heading(sessions: &[Session], entry: &TimelineEntry, names_agent: bool) -> String {
    let id = entry.session();
    let session = sessions.iter().find(|session| session.id == id);
    let is_here = |session: &&Session| match entry {
        TimelineEntry::Item(item) => item.project == session.project,
        TimelineEntry::Event(_) => true,
    };
    let agent = session.filter(|_| names_agent);
    let agent = agent.map(|session| format!(" · {}", flatten_text(&session.agent)));
    let agent = agent.unwrap_or_default();
    let session = session.filter(is_here);
    let title = session.map(|s| flatten_text(&s.title)).unwrap_or_default();
    if id.is_empty() {
        return "no session".to_owned();
    }
    // The beginning of a UUID is enough; other ids may differ at their end.
    let short = id.get(..8).filter(|_| id.len() == 36).unwrap_or(id);
    let text = if title.is_empty() {
        format!("session {}{agent}", flatten_text(short))
    } else {
        format!("session {}{agent} · {title}", flatten_text(short))
    };
    lines::truncate_columns(&text, lines::line_width() - 2)
}

fn print_entry(
    entry: &TimelineEntry,
    wide: usize,
    centre: Option<i64>,
    now: i64,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let time = local.format_clock(entry.time());
    match entry {
        TimelineEntry::Item(item) => {
            let here = centre == Some(item.id);
            let id = format!("#{}", item.id);
            let kind = item.kind.name();
            let mark = if here { ">" } else { " " };
            let lead = format!("{mark} {time}  {id:>wide$}  {kind:<KIND_COLUMNS$}  ");
            let title = match (item.seen, find_outdated_reason(item, now)) {
                (_, Some(why)) => format!("{} ({why})", flatten_text(&item.title)),
                (0 | 1, None) => flatten_text(&item.title),
                (seen, None) => format!("{} ({seen} times)", flatten_text(&item.title)),
            };
            let painted = format!(
                "{} {}  {}  {}  ",
                out.paint(if here { Style::Bold } else { Style::Plain }, mark),
                out.paint(Style::Dim, &time),
                out.paint(Style::Cyan, &format!("{id:>wide$}")),
                out.paint(
                    show::style_for_kind(item.kind),
                    &format!("{kind:<KIND_COLUMNS$}")
                ),
            );
            let wrapped = hang_text(&lead, &title);
            out.print_text(&wrapped.replacen(&lead, &painted, 1))
        }
        TimelineEntry::Event(event) => {
            let lead = format!("  {time}  {:>wide$}  {:KIND_COLUMNS$}  ", "·", "");
            let label = flatten_text(&event.label);
            let text = if label.is_empty() {
                event.name.clone()
            } else {
                format!("{}: {label}", event.name)
            };
            let wrapped = hang_text(&lead, &flatten_text(&text));
            let wrapped = out.paint(Style::Dim, wrapped.trim_end());
            out.print_text(&format!("{wrapped}\n"))
        }
    }
}
