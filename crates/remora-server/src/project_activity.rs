//! Which projects the events of a batch touched, from the store: where saved
//! memories and the working tree may have changed since.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use remora_client::{DataPaths, locate_project};
use remora_core::EventName;
use remora_core::record::{Project, Session};
use remora_memory::store::{Filter, PageRequest, Store};

use crate::ServerError;
use crate::saved::TurnBoundary;

/// Events that are read; others of a long backlog name the same projects.
const MAX_SCANNED_EVENTS: usize = 512;
/// Projects of one batch.
const MAX_PROJECTS: usize = 16;

/// A project that was used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProjectActivity {
    pub(crate) project: Project,
    pub(crate) edge: TurnBoundary,
    /// Whether a session began.
    pub(crate) starts: bool,
    /// Checkouts in which a session began, ended or came to the end of a turn.
    pub(crate) roots: Vec<PathBuf>,
}

/// The projects of the newest events, of which so many have just been stored.
pub(crate) fn find_project_activity(
    paths: &DataPaths,
    store: &dyn Store,
    stored: usize,
) -> Result<Vec<ProjectActivity>, ServerError> {
    let mut stirs: Vec<ProjectActivity> = Vec::new();
    if stored == 0 {
        return Ok(stirs);
    }
    let page = PageRequest::newest(stored.min(MAX_SCANNED_EVENTS));
    let mut sessions: HashMap<String, (TurnBoundary, bool)> = HashMap::new();
    for event in store.list_events(&Filter::default(), page)? {
        let known = sessions.entry(event.session);
        let (edge, starts) = known.or_insert((TurnBoundary::None, false));
        let name = EventName::parse(&event.name);
        if name.is_some_and(is_edge) {
            *edge = TurnBoundary::Turn;
        }
        *starts |= name == Some(EventName::SessionStart);
    }
    let projects = store.list_projects()?;
    for (id, (edge, starts)) in sessions {
        let filter = Filter {
            session: Some(id),
            ..Filter::default()
        };
        let Some(session) = store.list_sessions(&filter, 1)?.pop() else {
            continue;
        };
        let Some(project) = projects.iter().find(|p| p.key == session.project) else {
            continue;
        };
        if project.root.is_empty() {
            continue;
        }
        let at = match stirs.iter().position(|s| s.project.key == project.key) {
            Some(at) => at,
            None if stirs.len() < MAX_PROJECTS => {
                stirs.push(ProjectActivity {
                    project: project.clone(),
                    edge: TurnBoundary::None,
                    starts: false,
                    roots: Vec::new(),
                });
                stirs.len() - 1
            }
            None => continue,
        };
        stirs[at].starts |= starts;
        if edge == TurnBoundary::Turn {
            stirs[at].edge = edge;
            for root in list_roots(paths, project, &session) {
                if !stirs[at].roots.contains(&root) {
                    stirs[at].roots.push(root);
                }
            }
        }
    }
    Ok(stirs)
}

fn is_edge(name: EventName) -> bool {
    matches!(
        name,
        EventName::SessionStart | EventName::Stop | EventName::SessionEnd
    )
}

/// The checkout that was seen last, and the one that the session began in.
fn list_roots(paths: &DataPaths, project: &Project, session: &Session) -> Vec<PathBuf> {
    let cwd = Path::new(&session.cwd);
    let mut roots = vec![PathBuf::from(&project.root)];
    if cwd.is_absolute() && cwd.is_dir() {
        let place = locate_project(paths, cwd, None).project;
        if place.key == project.key {
            roots.push(place.root.into());
        }
    }
    roots
}
