//! Items and events of the ledger in the order of time. An event that an item
//! reports is not listed twice.

use std::collections::{HashMap, HashSet};

use remora_core::EventName;
use remora_core::ids::ProjectKey;
use remora_core::record::{Item, Kind, LoggedEvent, Session};
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use remora_memory::{Treatment, event_treatment};
use serde::{Serialize, Serializer};

use crate::access::ReadLimits;
use crate::app::App;
use crate::error::{AppError, Hint, Result};
use crate::rejections::Rejections;
use crate::scope::{self, ProjectChoice};
use crate::show::find_item;
use crate::time_span::TimeSpanRequest;

/// Lines unless the request says how many.
const DEFAULT_LINES: usize = 50;
/// Lines on each side of an item.
const DEFAULT_AROUND_LINES: usize = 10;

/// Which stretch of time.
#[derive(Debug, Clone, Default)]
pub struct TimelineRequest {
    /// What came before and after this item.
    pub around: Option<String>,
    /// In which projects.
    pub project: ProjectChoice,
    /// Only this time.
    pub span: TimeSpanRequest,
    /// Only this session, by the beginning of its id.
    pub session: Option<String>,
    /// Only this agent.
    pub agent: Option<String>,
    /// How many lines at most; around an item, on each side.
    pub limit: Option<usize>,
}

/// What happened.
#[derive(Debug, Default, Serialize)]
pub struct TimelineResponse {
    /// In the order of time.
    pub entries: Vec<TimelineEntry>,
    /// The number of the item that they surround.
    #[serde(skip)]
    pub centre: Option<i64>,
    /// The sessions of the entries, as far as they are known.
    #[serde(skip)]
    pub sessions: Vec<Session>,
    /// What users said of the items.
    #[serde(skip)]
    pub rejections: Rejections,
}

/// One line.
#[derive(Debug)]
pub enum TimelineEntry {
    /// An item.
    Item(Box<Item>),
    /// An event that no item reports.
    Event(LoggedEvent),
}

/// An item as a line.
#[derive(Serialize)]
struct ItemLine<'a> {
    time: String,
    #[serde(rename = "type")]
    line: &'static str,
    id: i64,
    uid: &'a str,
    kind: Kind,
    title: &'a str,
    session: &'a str,
    agent: &'a str,
    project: &'a ProjectKey,
    seen: u32,
}

/// An event as a line.
#[derive(Serialize)]
struct EventLine<'a> {
    time: String,
    #[serde(rename = "type")]
    line: &'static str,
    uid: &'a str,
    name: &'a str,
    label: &'a str,
    session: &'a str,
}

impl Serialize for TimelineEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let time = format_rfc3339(self.time());
        match self {
            Self::Item(item) => ItemLine {
                time,
                line: "item",
                id: item.id,
                uid: &item.uid,
                kind: item.kind,
                title: &item.title,
                session: &item.session,
                agent: &item.agent,
                project: &item.project,
                seen: item.seen,
            }
            .serialize(serializer),
            Self::Event(event) => EventLine {
                time,
                line: "event",
                uid: &event.id,
                name: &event.name,
                label: &event.label,
                session: &event.session,
            }
            .serialize(serializer),
        }
    }
}

impl TimelineEntry {
    /// When, in milliseconds since 1970.
    pub fn time(&self) -> i64 {
        match self {
            Self::Item(item) => item.time,
            Self::Event(event) => event.time,
        }
    }

    /// Its place: times first, then the ids, which are ordered by time too.
    fn sort_key(&self) -> (i64, &str) {
        match self {
            Self::Item(item) => (item.time, &item.uid),
            Self::Event(event) => (event.time, &event.id),
        }
    }

    /// The ledger does not say whose an event is.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Item(item) => Some(&item.agent),
            Self::Event(_) => None,
        }
    }

    /// The session; empty if no session did it.
    pub fn session(&self) -> &str {
        match self {
            Self::Item(item) => &item.session,
            Self::Event(event) => &event.session,
        }
    }
}

impl App {
    /// What happened, in order.
    pub fn timeline(&self, request: &TimelineRequest) -> Result<TimelineResponse> {
        let span = request.span.resolve(&self.clock.now())?;
        let Some(store) = self.open_store()? else {
            return Ok(TimelineResponse::default());
        };
        let store = &*store;
        let limits = self.read_limits()?;
        let session = request.session.as_deref();
        let session = session
            .map(|id| limits.resolve_session(store, id))
            .transpose()?;
        let around = request.around.as_deref();
        let around = around
            .map(|text| find_centre(store, &limits, text))
            .transpose()?;
        let project = match (&session, &around, &request.project) {
            _ if matches!(limits, ReadLimits::Hide(_)) => limits.own().cloned(),
            (Some(_), _, ProjectChoice::Here | ProjectChoice::All) => None,
            (None, Some(item), ProjectChoice::Here) => Some(item.project.clone()),
            (_, _, choice) => limits.resolve_project(self, store, choice)?,
        };
        let filter = Filter {
            project,
            since: span.since,
            until: span.until,
            session,
            agent: request.agent.as_deref().map(scope::resolve_agent),
            ..Filter::default()
        };
        let entries = match &around {
            None => {
                let limit = request.limit.unwrap_or(DEFAULT_LINES);
                collect_entries(store, &filter, SortOrder::Newest, limit)?
            }
            Some(item) => {
                let limit = request.limit.unwrap_or(DEFAULT_AROUND_LINES);
                both_sides(store, &filter, item, limit)?
            }
        };
        Ok(TimelineResponse {
            centre: around.map(|item| item.id),
            sessions: find_sessions(store, &entries)?,
            rejections: Rejections::load(store)?,
            entries,
        })
    }
}

fn find_centre(store: &dyn Store, limits: &ReadLimits, text: &str) -> Result<Item> {
    let found = find_item(store, text)?;
    let readable = found.map(|item| limits.check_item(item)).transpose()?;
    readable.flatten().ok_or_else(|| {
        AppError::not_found(format!("not found: `{text}`")).with_hint(Hint::SearchForNumbers)
    })
}

fn find_sessions(store: &dyn Store, entries: &[TimelineEntry]) -> Result<Vec<Session>> {
    let ids: HashSet<&str> = entries.iter().map(TimelineEntry::session).collect();
    let mut sessions = Vec::new();
    for id in ids.into_iter().filter(|id| !id.is_empty()) {
        let of_id = Filter {
            session: Some(id.into()),
            ..Filter::default()
        };
        sessions.extend(store.list_sessions(&of_id, 1)?.pop());
    }
    Ok(sessions)
}

/// What came before and after an item.
fn both_sides(
    store: &dyn Store,
    filter: &Filter,
    centre: &Item,
    limit: usize,
) -> Result<Vec<TimelineEntry>> {
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
        |entry: &TimelineEntry| matches!(entry, TimelineEntry::Item(item) if item.id == centre.id);
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
) -> Result<Vec<TimelineEntry>> {
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
            .map(|row| TimelineEntry::Item(Box::new(row))),
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
fn leave_out_strays(store: &dyn Store, project: &str, events: &mut Vec<LoggedEvent>) -> Result<()> {
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
