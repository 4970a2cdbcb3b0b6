//! What a batch touched, by project: where saved memories and the working tree may
//! have changed since.

use std::path::{Path, PathBuf};

use remora_client::{DataPaths, locate_project};
use remora_core::record::Project;

use crate::ingest::{Touched, TouchedSession};
use crate::saved::TurnBoundary;

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

/// The projects of a batch, the one that was used last first.
pub(crate) fn list_project_activity(paths: &DataPaths, touched: &Touched) -> Vec<ProjectActivity> {
    let mut projects: Vec<ProjectActivity> = Vec::new();
    for session in touched.sessions.iter().rev() {
        if session.project.root.is_empty() {
            continue;
        }
        let is_same = |known: &ProjectActivity| known.project.key == session.project.key;
        let at = match projects.iter().position(is_same) {
            Some(at) => at,
            None if projects.len() < MAX_PROJECTS => {
                projects.push(ProjectActivity {
                    project: session.project.clone(),
                    edge: TurnBoundary::None,
                    starts: false,
                    roots: Vec::new(),
                });
                projects.len() - 1
            }
            None => continue,
        };
        let activity = &mut projects[at];
        activity.starts |= session.has_started;
        if session.has_turned {
            activity.edge = TurnBoundary::Turn;
            for root in list_roots(paths, session) {
                if !activity.roots.contains(&root) {
                    activity.roots.push(root);
                }
            }
        }
    }
    projects
}

/// The checkout that was seen last, and the one that the session began in.
fn list_roots(paths: &DataPaths, session: &TouchedSession) -> Vec<PathBuf> {
    let cwd = Path::new(&session.cwd);
    let mut roots = vec![PathBuf::from(&session.project.root)];
    if cwd.is_absolute() && cwd.is_dir() {
        let place = locate_project(paths, cwd, None).project;
        if place.key == session.project.key {
            roots.push(place.root.into());
        }
    }
    roots
}
