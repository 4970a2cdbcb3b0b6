//! What was injected into sessions, what it cost, and how much of it was of use.

mod rows;
mod tally;

use remora_core::ids::SessionId;
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, Store};
use serde::Serialize;

use crate::app::App;
use crate::error::Result;
use crate::scope::{self, ProjectChoice};
use crate::time_span::TimeSpanRequest;
pub use rows::InjectionRow;
pub use tally::InjectionStats;
use tally::InjectionTally;

/// Which injections.
#[derive(Debug, Clone, Default)]
pub struct InjectionsRequest {
    /// Into sessions of which projects.
    pub project: ProjectChoice,
    /// Only this time.
    pub span: TimeSpanRequest,
    /// Only into this session, by the beginning of its id.
    pub session: Option<String>,
    /// How many lines at most; sums are over all of them.
    pub limit: usize,
}

/// Sums, and the last lines.
#[derive(Debug, Default, Serialize)]
pub struct InjectionsResponse {
    /// Over all.
    #[serde(flatten)]
    pub all: InjectionStats,
    /// Into how many sessions.
    pub sessions: u64,
    /// By what happened in the session, in the order in which a session meets it.
    #[serde(rename = "moments")]
    pub triggers: Vec<TriggerStats>,
    /// By what was injected.
    pub kinds: Vec<KindStats>,
    /// The newest first.
    pub lines: Vec<InjectionEntry>,
    /// How many lines there are.
    #[serde(skip)]
    pub total: usize,
    /// Why there is none.
    #[serde(skip)]
    pub none: Option<NoInjections>,
}

/// Sums over one recall trigger.
#[derive(Debug, Serialize)]
pub struct TriggerStats {
    /// The trigger.
    #[serde(rename = "moment")]
    pub trigger: String,
    /// Its sums.
    #[serde(flatten)]
    pub stats: InjectionStats,
}

/// Sums over one kind of item.
#[derive(Debug, Serialize)]
pub struct KindStats {
    /// The kind; `gone` where the item is no longer there.
    pub kind: String,
    /// Its sums.
    #[serde(flatten)]
    pub stats: InjectionStats,
}

/// One injection.
#[derive(Debug, Serialize)]
pub struct InjectionEntry {
    time: String,
    session: SessionId,
    line: u32,
    #[serde(rename = "moment")]
    trigger: String,
    item: String,
    kind: &'static str,
    title: Option<String>,
    why: String,
    tokens: u32,
    subagent: Option<String>,
    used: Option<InjectionUseView>,
    /// The line as it is stored.
    #[serde(skip)]
    pub row: InjectionRow,
}

/// That an injection was of use.
#[derive(Debug, Serialize)]
struct InjectionUseView {
    how: String,
    time: String,
}

/// Why there is nothing to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInjections {
    /// There is, at other times.
    AtThatTime,
    /// Into this session nothing was injected yet.
    IntoSession,
    /// There is, in other projects.
    InProject,
    /// Nothing was injected into any session yet.
    Ever,
}

impl App {
    /// What was injected into sessions.
    pub fn list_injections(&self, request: &InjectionsRequest) -> Result<InjectionsResponse> {
        let span = request.span.resolve(&self.clock.now())?;
        let mut filter = Filter {
            since: span.since,
            until: span.until,
            ..Filter::default()
        };
        let Some(store) = self.open_store()? else {
            return match &request.session {
                Some(id) => Err(scope::unknown_session_error(id)),
                None => Ok(InjectionsResponse {
                    none: Some(NoInjections::Ever),
                    ..InjectionsResponse::default()
                }),
            };
        };
        let store = &*store;
        let limits = self.read_limits()?;
        let session = request.session.as_deref();
        filter.session = session
            .map(|id| limits.resolve_session(store, id))
            .transpose()?;
        // A session is of one project; it need not be this one.
        if filter.session.is_none() || matches!(request.project, ProjectChoice::Named(_)) {
            filter.project = limits.resolve_project(self, store, &request.project)?;
        }
        let rows = rows::list_injection_rows(store, &filter)?;
        let none = if rows.is_empty() {
            Some(explain_none(store, &filter)?)
        } else {
            None
        };
        let InjectionTally {
            all,
            sessions,
            triggers,
            kinds,
        } = InjectionTally::from_rows(&rows);
        let triggers = triggers.into_iter();
        let kinds = kinds.into_iter();
        Ok(InjectionsResponse {
            all,
            sessions,
            triggers: triggers
                .map(|(trigger, stats)| TriggerStats { trigger, stats })
                .collect(),
            kinds: kinds
                .map(|(kind, stats)| KindStats { kind, stats })
                .collect(),
            total: rows.len(),
            lines: rows
                .into_iter()
                .rev()
                .take(request.limit)
                .map(InjectionEntry::new)
                .collect(),
            none,
        })
    }
}

fn explain_none(store: &dyn Store, filter: &Filter) -> Result<NoInjections> {
    let any =
        |filter: &Filter| -> Result<bool> { Ok(!store.list_injections(filter, 1)?.is_empty()) };
    let always = Filter {
        since: None,
        until: None,
        ..filter.clone()
    };
    let timed = filter.since.is_some() || filter.until.is_some();
    Ok(if timed && any(&always)? {
        NoInjections::AtThatTime
    } else if filter.session.is_some() {
        NoInjections::IntoSession
    } else if filter.project.is_some() && any(&Filter::default())? {
        NoInjections::InProject
    } else {
        NoInjections::Ever
    })
}

impl InjectionEntry {
    fn new(row: InjectionRow) -> Self {
        let injection = &row.injection;
        Self {
            time: format_rfc3339(injection.time),
            session: injection.session.clone(),
            line: injection.line,
            trigger: injection.trigger.clone(),
            item: injection.item.clone(),
            kind: row.kind,
            title: row.title.clone(),
            why: injection.why.clone(),
            tokens: injection.tokens,
            subagent: injection.subagent.clone(),
            used: injection.used.as_ref().map(|used| InjectionUseView {
                how: used.how.clone(),
                time: format_rfc3339(used.time),
            }),
            row,
        }
    }
}
