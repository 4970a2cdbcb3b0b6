//! `remora timeline`: items and events of the ledger in the order of time. An
//! event that an item reports is not listed twice.

use std::collections::{HashMap, HashSet};

use remora_core::EventName;
use remora_core::record::{Item, LoggedEvent, Session};
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use remora_memory::{Treatment, event_treatment};
use serde_json::{Value, json};

use crate::args::TimelineArgs;
use crate::commands::data::DataDir;
use crate::commands::reader::Requester;
use crate::commands::search::{scope, when};
use crate::commands::show::{self, lines};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use lines::{TimeFormatter, flatten_text, hang_text};

/// Lines unless the user says how many.
const DEFAULT_LINES: usize = 50;
/// Lines on each side of an item.
const DEFAULT_AROUND_LINES: usize = 10;
/// Columns for the kind.
const KIND_COLUMNS: usize = 10;

/// One line.
#[derive(Debug)]
pub(crate) enum TimelineEntry {
    Row(Box<Item>),
    Event(LoggedEvent),
}

impl TimelineEntry {
    pub(crate) fn time(&self) -> i64 {
        match self {
            Self::Row(item) => item.time,
            Self::Event(event) => event.time,
        }
    }

    /// Its place: times first, then the ids, which are ordered by time too.
    fn sort_key(&self) -> (i64, &str) {
        match self {
            Self::Row(item) => (item.time, &item.uid),
            Self::Event(event) => (event.time, &event.id),
        }
    }

    /// The ledger does not say whose an event is.
    fn agent(&self) -> Option<&str> {
        match self {
            Self::Row(item) => Some(&item.agent),
            Self::Event(_) => None,
        }
    }

    fn session(&self) -> &str {
        match self {
            Self::Row(item) => &item.session,
            Self::Event(event) => &event.session,
        }
    }
}

pub(crate) fn run(args: &TimelineArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    when::resolve_time_span(&args.span)?;
    let Some(store) = data.open_store()? else {
        return print_timeline(&[], None, None, args.json, out);
    };
    let (entries, centre) = find_entries(args, &data, &store, None)?;
    print_timeline(&entries, centre, Some(&store), args.json, out)
}

/// One project that must not be left, and the items that are of it.
pub(crate) struct TimelineScope<'a> {
    pub(crate) own: &'a str,
    pub(crate) allows: &'a dyn Fn(&Item) -> bool,
}

/// The entries that are meant, and the number of the item that they surround.
pub(crate) fn find_entries(
    args: &TimelineArgs,
    data: &DataDir,
    store: &dyn Store,
    within: Option<TimelineScope<'_>>,
) -> Result<(Vec<TimelineEntry>, Option<i64>), CliError> {
    let span = when::resolve_time_span(&args.span)?;
    let reader = Requester::from_data(data)?;
    let session = args.session.as_deref();
    let session = session
        .map(|id| reader.resolve_session(store, id))
        .transpose()?;
    let mut filter = Filter {
        since: span.since,
        until: span.until,
        agent: args.agent.as_deref().map(scope::resolve_agent),
        ..Filter::default()
    };
    let around = match &args.around {
        None => None,
        Some(text) => {
            let found = show::find_named_item(store, text)?;
            let may = |item: &Item| within.as_ref().is_none_or(|w| (w.allows)(item));
            let found = found.filter(may).ok_or_else(|| {
                CliError::Usage(format!(
                    "not found: `{text}`; `remora search` gives numbers"
                ))
            })?;
            Some(reader.check_item(found)?)
        }
    };
    filter.project = match (&session, &around, &args.place.project) {
        _ if within.is_some() => within.map(|within| within.own.into()),
        (Some(_), _, None) => None,
        (None, Some(item), None) if !args.place.all => Some(item.project.clone()),
        _ => reader.resolve_project(data, store, &args.place)?,
    };
    filter.session = session;
    let entries = match &around {
        None => collect_entries(
            store,
            &filter,
            SortOrder::Newest,
            args.limit.unwrap_or(DEFAULT_LINES),
        )?,
        Some(item) => both_sides(
            store,
            &filter,
            item,
            args.limit.unwrap_or(DEFAULT_AROUND_LINES),
        )?,
    };
    Ok((entries, around.map(|item| item.id)))
}

/// What came before and after an item.
fn both_sides(
    store: &dyn Store,
    filter: &Filter,
    centre: &Item,
    limit: usize,
) -> Result<Vec<TimelineEntry>, CliError> {
    // Both halves include the time of the centre, because other entries may share it; what
    // both find is removed afterwards.
    let before = Filter {
        until: Some(centre.time.saturating_add(1)),
        ..filter.clone()
    };
    let after = Filter {
        since: Some(centre.time),
        ..filter.clone()
    };
    let mut entries = collect_entries(store, &before, SortOrder::Newest, limit.saturating_add(1))?;
    entries.extend(collect_entries(
        store,
        &after,
        SortOrder::Oldest,
        limit.saturating_add(1),
    )?);
    entries.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    entries.dedup_by(|a, b| a.sort_key() == b.sort_key());
    let is_centre =
        |entry: &TimelineEntry| matches!(entry, TimelineEntry::Row(item) if item.id == centre.id);
    let at = entries.iter().position(is_centre).unwrap_or(0);
    entries.truncate(at.saturating_add(limit).saturating_add(1));
    entries.drain(..at.saturating_sub(limit));
    Ok(entries)
}

/// The first entries from one end, in the order of time.
fn collect_entries(
    store: &dyn Store,
    filter: &Filter,
    order: SortOrder,
    limit: usize,
) -> Result<Vec<TimelineEntry>, CliError> {
    let page = |limit| PageRequest {
        order,
        beyond: None,
        limit,
    };
    let rows = store.list_items(filter, page(limit))?;
    let mut within = filter.clone();
    // Where items were left out, the events that made them would be listed in their place.
    if rows.len() == limit
        && let Some(last) = rows.last()
    {
        match order {
            SortOrder::Newest => within.since = Some(last.time),
            SortOrder::Oldest => within.until = Some(last.time.saturating_add(1)),
        }
    }
    // Most events are only counted or belong to an item that is shown, so more are read
    // than are needed.
    let events = store.list_events(&within, page(limit.saturating_mul(8).saturating_add(64)))?;
    let item_events: HashSet<String> = rows
        .iter()
        .map(|row| event_of(&row.uid).to_owned())
        .collect();
    let bare = |event: &LoggedEvent| {
        let counted = EventName::parse(&event.name)
            .is_some_and(|name| event_treatment(name) == Treatment::Counted);
        !counted && !item_events.contains(&event.id)
    };
    let mut events: Vec<LoggedEvent> = events.into_iter().filter(bare).collect();
    if let Some(project) = &filter.project {
        leave_out_strays(store, project, &mut events)?;
    }
    let mut entries: Vec<TimelineEntry> = events.into_iter().map(TimelineEntry::Event).collect();
    entries.extend(
        rows.into_iter()
            .map(|row| TimelineEntry::Row(Box::new(row))),
    );
    entries.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    match order {
        SortOrder::Newest => drop(entries.drain(..entries.len().saturating_sub(limit))),
        SortOrder::Oldest => entries.truncate(limit),
    }
    Ok(entries)
}

/// The ledger knows the session of an event and not its project. Of a session
/// that has worked elsewhere as well, only what an item reports is known to be of
/// this project.
fn leave_out_strays(
    store: &dyn Store,
    project: &str,
    events: &mut Vec<LoggedEvent>,
) -> Result<(), CliError> {
    let mut strays = HashMap::new();
    for event in &*events {
        if strays.contains_key(&event.session) {
            continue;
        }
        let filter = Filter {
            session: Some(event.session.clone()),
            ..Filter::default()
        };
        let rows = store.list_items(&filter, PageRequest::newest(usize::MAX))?;
        let stray = rows.iter().any(|row| row.project != project);
        strays.insert(event.session.clone(), stray);
    }
    events.retain(|event| !strays[&event.session]);
    Ok(())
}

/// The event that an item was made from.
fn event_of(uid: &str) -> &str {
    uid.split('/').next().unwrap_or(uid)
}

fn as_json(entry: &TimelineEntry) -> Value {
    match entry {
        TimelineEntry::Row(item) => json!({
            "time": format_rfc3339(item.time),
            "type": "item",
            "id": item.id,
            "uid": item.uid,
            "kind": item.kind,
            "title": item.title,
            "session": item.session,
            "agent": item.agent,
            "project": item.project,
            "seen": item.seen,
        }),
        TimelineEntry::Event(event) => json!({
            "time": format_rfc3339(event.time),
            "type": "event",
            "uid": event.id,
            "name": event.name,
            "label": event.label,
            "session": event.session,
        }),
    }
}

fn print_timeline(
    entries: &[TimelineEntry],
    centre: Option<i64>,
    store: Option<&dyn Store>,
    as_lines: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if as_lines {
        let list: Vec<Value> = entries.iter().map(as_json).collect();
        out.print_json(&json!({ "entries": list }))?;
        return Ok(Exit::GoOn);
    }
    if entries.is_empty() {
        out.print_text("nothing happened; `--all` looks in every project\n")?;
        return Ok(Exit::GoOn);
    }
    let local = TimeFormatter::new();
    let ids = entries.iter().map(|entry| match entry {
        TimelineEntry::Row(item) => item.id.to_string().len() + 1,
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
            let head = format_heading(store, entry, agents.len() > 1)?;
            out.print_text(&format!("  {}\n", out.paint(Style::Dim, &head)))?;
        }
        print_entry(entry, wide, centre, &local, out)?;
    }
    Ok(Exit::GoOn)
}

/// The session of an entry by what it was about; a title from another project
/// is not shown here. Its agent is named where there are several.
fn format_heading(
    store: Option<&dyn Store>,
    entry: &TimelineEntry,
    names_agent: bool,
) -> Result<String, CliError> {
    let id = entry.session();
    let of_id = Filter {
        session: Some(id.to_owned()),
        ..Filter::default()
    };
    let session: Option<Session> = match store {
        Some(store) => store.list_sessions(&of_id, 1)?.pop(),
        None => None,
    };
    let is_here = |session: &Session| match entry {
        TimelineEntry::Row(item) => item.project == session.project,
        TimelineEntry::Event(_) => true,
    };
    let agent = session.as_ref().filter(|_| names_agent);
    let agent = agent.map(|session| format!(" · {}", flatten_text(&session.agent)));
    let agent = agent.unwrap_or_default();
    let session = session.filter(is_here);
    let title = session.map(|s| flatten_text(&s.title)).unwrap_or_default();
    if id.is_empty() {
        return Ok("no session".to_owned());
    }
    // The beginning of a UUID is enough; other ids may differ at their end.
    let short = id.get(..8).filter(|_| id.len() == 36).unwrap_or(id);
    let text = if title.is_empty() {
        format!("session {}{agent}", flatten_text(short))
    } else {
        format!("session {}{agent} · {title}", flatten_text(short))
    };
    Ok(lines::truncate_columns(&text, lines::line_width() - 2))
}

fn print_entry(
    entry: &TimelineEntry,
    wide: usize,
    centre: Option<i64>,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let time = local.format_clock(entry.time());
    match entry {
        TimelineEntry::Row(item) => {
            let here = centre == Some(item.id);
            let id = format!("#{}", item.id);
            let kind = item.kind.name();
            let mark = if here { ">" } else { " " };
            let lead = format!("{mark} {time}  {id:>wide$}  {kind:<KIND_COLUMNS$}  ");
            let title = match (item.seen, show::find_outdated_reason(item)) {
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
