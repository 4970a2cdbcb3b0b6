//! What was done since a day, by project and session: what each session did, taken
//! from its items.

use std::collections::{HashMap, HashSet};

use remora_core::detail::DetailList;
use remora_core::ids::{AgentId, ProjectKey, SessionId};
use remora_core::record::{Item, Kind, Session};
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, PageRequest, Store};

use serde::Serialize;

use crate::app::App;
use crate::error::Result;
use crate::scope::{self, ProjectChoice};
use crate::successors::Successors;
use crate::text::{flatten_text, truncate_columns};
use crate::time_span::TimeSpanRequest;

/// Sessions that are read.
const MAX_SESSIONS: usize = 500;
/// Items of one session that are read, the newest.
const MAX_SESSION_ITEMS: usize = 2000;
/// Columns of a request.
const MAX_REQUEST_COLUMNS: usize = 120;

/// Which time is looked back on.
#[derive(Debug, Clone, Default)]
pub struct RecapRequest {
    /// In which projects.
    pub project: ProjectChoice,
    /// Which time.
    pub span: TimeSpanRequest,
    /// Only this agent.
    pub agent: Option<String>,
}

/// What was done.
#[derive(Debug, Serialize)]
pub struct RecapResponse {
    /// From when on.
    since: String,
    /// Up to when.
    until: Option<String>,
    /// By project.
    pub projects: Vec<ProjectRecap>,
    /// From when on, in milliseconds since 1970.
    #[serde(skip)]
    pub since_ms: i64,
    /// Whether only one project was looked at.
    #[serde(skip)]
    pub is_one_project: bool,
}

/// One project and its sessions, the newest first.
#[derive(Debug, Serialize)]
pub struct ProjectRecap {
    /// Its key.
    pub key: ProjectKey,
    /// What it is called.
    pub name: String,
    /// Its sessions.
    pub sessions: Vec<SessionRecap>,
}

/// What one session did.
#[derive(Debug, Serialize)]
pub struct SessionRecap {
    id: SessionId,
    title: String,
    started: String,
    last: String,
    branch: Option<String>,
    agent: AgentId,
    end_reason: Option<String>,
    /// The files that it changed.
    pub files: Vec<String>,
    /// What the user asked for.
    pub requests: Vec<String>,
    /// What was done.
    pub completed: Vec<String>,
    /// What was decided, preferred or corrected.
    pub decisions: Vec<String>,
    /// Which errors were fixed.
    pub fixes: Vec<String>,
    /// Commands that failed and have not passed since.
    pub open_failures: Vec<String>,
    /// What is still to do.
    pub next_steps: Vec<String>,
    /// The session as it is stored.
    #[serde(skip)]
    pub session: Session,
}

impl App {
    /// What was done in a time.
    pub fn recap(&self, request: &RecapRequest) -> Result<RecapResponse> {
        let span = request.span.resolve(&self.clock.now())?;
        let since = span.since.unwrap_or_default();
        let mut filter = Filter {
            since: span.since,
            until: span.until,
            agent: request.agent.as_deref().map(scope::resolve_agent),
            ..Filter::default()
        };
        let projects = match self.open_store()? {
            None => Vec::new(),
            Some(store) => {
                let limits = self.read_limits()?;
                filter.project = limits.resolve_project(self, &*store, &request.project)?;
                collect_recaps(&*store, &filter, self.clock.now_ms())?
            }
        };
        Ok(RecapResponse {
            since: format_rfc3339(since),
            until: span.until.map(format_rfc3339),
            projects,
            since_ms: since,
            is_one_project: filter.project.is_some(),
        })
    }
}

impl SessionRecap {
    fn is_empty(&self) -> bool {
        let parts = [
            &self.files,
            &self.requests,
            &self.completed,
            &self.decisions,
            &self.fixes,
            &self.open_failures,
            &self.next_steps,
        ];
        parts.iter().all(|entries| entries.is_empty())
    }
}

fn collect_recaps(store: &dyn Store, filter: &Filter, now: i64) -> Result<Vec<ProjectRecap>> {
    let mut successors = Successors::new(store, now);
    let names = store.list_projects()?;
    let is_wanted = |session: &Session| filter.agent.as_ref().is_none_or(|a| *a == session.agent);
    // A session of another agent may have fixed what failed in this one's.
    let filter = &Filter {
        agent: None,
        ..filter.clone()
    };
    let mut read: Vec<(Session, Vec<Item>)> = Vec::new();
    for session in store.list_sessions(filter, MAX_SESSIONS)? {
        let of_session = Filter {
            session: Some(session.id.clone()),
            ..filter.clone()
        };
        let page = PageRequest::newest(MAX_SESSION_ITEMS);
        let mut items = store.list_items(&of_session, page)?;
        items.reverse();
        read.push((session, items));
    }
    let last_passes = last_pass(read.iter().flat_map(|(_, items)| items));
    let mut projects: Vec<ProjectRecap> = Vec::new();
    for (session, items) in read {
        if !is_wanted(&session) {
            continue;
        }
        let key = session.project.clone();
        let mut done = build_session_recap(session, &items, &last_passes);
        done.decisions = list_statements(&items, &mut successors)?;
        if done.is_empty() {
            continue;
        }
        match projects.iter_mut().find(|project| project.key == key) {
            Some(project) => project.sessions.push(done),
            None => projects.push(ProjectRecap {
                name: names
                    .iter()
                    .find(|project| project.key == key)
                    .map_or_else(|| key.to_string(), |project| project.name.clone()),
                key,
                sessions: vec![done],
            }),
        }
    }
    Ok(projects)
}

/// What makes two runs the same command, within one project.
fn find_command_key(item: &Item) -> Option<(&str, &str)> {
    Some((&item.project, item.command()?))
}

/// When each command passed last: also another session may have fixed it.
fn last_pass<'a>(items: impl Iterator<Item = &'a Item>) -> HashMap<(String, String), i64> {
    let mut last_passes = HashMap::new();
    for item in items.filter(|item| item.kind != Kind::Failure && item.kind != Kind::Fix) {
        if let Some((project, command)) = find_command_key(item) {
            let last = last_passes
                .entry((project.to_owned(), command.to_owned()))
                .or_insert(i64::MIN);
            *last = item.time.max(item.last_time).max(*last);
        }
    }
    last_passes
}

fn build_session_recap(
    session: Session,
    items: &[Item],
    last_passes: &HashMap<(String, String), i64>,
) -> SessionRecap {
    let of_kinds = |kinds: &[Kind]| {
        let titles = items
            .iter()
            .filter(|item| kinds.contains(&item.kind))
            .map(|item| format!("{} (#{})", flatten_text(&item.title), item.id));
        collect_distinct(titles)
    };
    let requests = items
        .iter()
        .filter(|item| item.kind == Kind::Prompt)
        .map(|item| truncate_columns(&flatten_text(&item.title), MAX_REQUEST_COLUMNS));
    let summaries: Vec<&Item> = items
        .iter()
        .filter(|item| item.kind == Kind::Summary)
        .collect();
    let listed = |item: &Item, list: DetailList| -> Vec<String> {
        item.detail_list(list).map(flatten_text).collect()
    };
    let completed = summaries
        .iter()
        .flat_map(|item| listed(item, DetailList::Completed));
    // What an earlier checkpoint left has been taken up, or is said again.
    let next = summaries
        .last()
        .map(|item| listed(item, DetailList::OpenSteps));
    let files = items
        .iter()
        .filter(|item| item.kind != Kind::Summary)
        .flat_map(|item| item.files_modified.iter().cloned());
    SessionRecap {
        id: session.id.clone(),
        title: session.title.clone(),
        started: format_rfc3339(session.started),
        last: format_rfc3339(session.last),
        branch: session.branch.clone(),
        agent: session.agent.clone(),
        end_reason: session.end_reason.clone(),
        files: collect_distinct(files),
        requests: collect_distinct(requests),
        completed: collect_distinct(completed),
        decisions: Vec::new(),
        fixes: of_kinds(&[Kind::Fix]),
        open_failures: list_open_failures(items, last_passes),
        next_steps: next.unwrap_or_default(),
        session,
    }
}

/// What was stated, with what holds in its place if that was superseded since.
fn list_statements(items: &[Item], successors: &mut Successors<'_>) -> Result<Vec<String>> {
    let kinds = [Kind::Decision, Kind::Preference, Kind::Correction];
    let stated = items.iter().filter(|item| kinds.contains(&item.kind));
    let mut lines = Vec::new();
    for item in stated {
        let line = format!("{} (#{})", flatten_text(&item.title), item.id);
        lines.push(match successors.find(item)? {
            Some(next) => format!("{line} ({})", flatten_text(&next.describe())),
            None => line,
        });
    }
    Ok(collect_distinct(lines.into_iter()))
}

/// The last failure of every command that has not passed since.
fn list_open_failures(items: &[Item], last_passes: &HashMap<(String, String), i64>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut open: Vec<String> = items
        .iter()
        .rev()
        .filter(|item| item.kind == Kind::Failure)
        .filter(|item| {
            find_command_key(item).is_some_and(|(project, command)| {
                let key = (project.to_owned(), command.to_owned());
                let failed = item.time.max(item.last_time);
                let passed_since = last_passes.get(&key).is_some_and(|at| *at > failed);
                !passed_since && seen.insert(key)
            })
        })
        .map(|item| format!("{} (#{})", flatten_text(&item.title), item.id))
        .collect();
    open.reverse();
    open
}

fn collect_distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts
        .filter(|text| !text.is_empty() && seen.insert(text.clone()))
        .collect()
}
