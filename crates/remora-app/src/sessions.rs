//! What was worked on, newest first, with the ids by which agents take sessions up
//! again.

use remora_core::ids::{AgentId, ProjectKey, SessionId};
use remora_core::record::{Kind, Project, Session};
use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use serde::Serialize;

use crate::app::App;
use crate::error::Result;
use crate::scope::{self, ProjectChoice};
use crate::time_span::TimeSpanRequest;

/// Items of one session are counted up to this.
const MAX_COUNTED_ITEMS: usize = 5000;
/// Sessions elsewhere are counted up to this.
const MAX_COUNTED_SESSIONS: usize = 100;

/// Which sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionsRequest {
    /// In which projects.
    pub project: ProjectChoice,
    /// Only those that reach into this time.
    pub span: TimeSpanRequest,
    /// Only this agent.
    pub agent: Option<String>,
    /// How many at most.
    pub limit: usize,
}

/// The sessions, the one that was used last first.
#[derive(Debug, Default, Serialize)]
pub struct SessionsResponse {
    /// The sessions.
    pub sessions: Vec<SessionEntry>,
    /// The projects to name beside them: none where the request leaves one.
    #[serde(skip)]
    pub projects: Vec<Project>,
    /// Where there is none in this project: how many others have.
    #[serde(skip)]
    pub elsewhere: usize,
}

/// One session.
#[derive(Debug, Serialize)]
pub struct SessionEntry {
    id: SessionId,
    title: String,
    first_prompt: Option<String>,
    started: String,
    last: String,
    project: ProjectKey,
    cwd: String,
    branch: Option<String>,
    agent: AgentId,
    prompts: u32,
    /// How many items it left.
    pub items: u64,
    end_reason: Option<String>,
    /// The session as it is stored.
    #[serde(skip)]
    pub session: Session,
}

impl App {
    /// The sessions within the request.
    pub fn list_sessions(&self, request: &SessionsRequest) -> Result<SessionsResponse> {
        let span = request.span.resolve(&self.clock.now())?;
        let Some(store) = self.open_store()? else {
            return Ok(SessionsResponse::default());
        };
        let store = &*store;
        let filter = Filter {
            project: self
                .read_limits()?
                .resolve_project(self, store, &request.project)?,
            since: span.since,
            until: span.until,
            agent: request.agent.as_deref().map(scope::resolve_agent),
            ..Filter::default()
        };
        let found = store.list_sessions(&filter, request.limit)?;
        let elsewhere = if found.is_empty() {
            count_elsewhere(store, &filter)?
        } else {
            0
        };
        let mut sessions = Vec::with_capacity(found.len());
        for session in found {
            sessions.push(SessionEntry {
                id: session.id.clone(),
                title: session.title.clone(),
                first_prompt: first_prompt(store, &session.id)?,
                started: format_rfc3339(session.started),
                last: format_rfc3339(session.last),
                project: session.project.clone(),
                cwd: session.cwd.clone(),
                branch: session.branch.clone(),
                agent: session.agent.clone(),
                prompts: session.prompts,
                items: count_items(store, &session.id)?,
                end_reason: session.end_reason.clone(),
                session,
            });
        }
        Ok(SessionsResponse {
            projects: scope::list_named_projects(store, &filter)?,
            sessions,
            elsewhere,
        })
    }
}

fn count_elsewhere(store: &dyn Store, filter: &Filter) -> Result<usize> {
    if filter.project.is_none() {
        return Ok(0);
    }
    let everywhere = Filter {
        project: None,
        ..filter.clone()
    };
    Ok(store
        .list_sessions(&everywhere, MAX_COUNTED_SESSIONS)?
        .len())
}

/// How many items a session left.
fn count_items(store: &dyn Store, session: &SessionId) -> Result<u64> {
    let of_session = Filter {
        session: Some(session.clone()),
        ..Filter::default()
    };
    let page = PageRequest::newest(MAX_COUNTED_ITEMS);
    Ok(store.list_items(&of_session, page)?.len() as u64)
}

/// What the user asked for first, in full.
fn first_prompt(store: &dyn Store, session: &SessionId) -> Result<Option<String>> {
    let prompts = Filter {
        session: Some(session.clone()),
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
