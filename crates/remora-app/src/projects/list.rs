//! Every project with what is remembered of it, the checkouts that share it and those
//! that wait to.

use std::collections::HashMap;
use std::path::Path;

use remora_client::ProjectRoots;
use remora_core::ids::ProjectKey;
use remora_core::time::format_rfc3339;
use remora_memory::store::ProjectStats;
use serde::{Serialize, Serializer};

use crate::app::App;
use crate::error::{AppError, Result};

/// A project as it is listed.
#[derive(Debug)]
pub struct ListedProject {
    /// What is remembered of it.
    pub activity: ProjectStats,
    /// Checkouts that share it.
    pub roots: Vec<String>,
    /// Checkouts whose remote names it and that have a memory of their own.
    pub waiting: Vec<ProjectKey>,
    /// The key that its own remote names, while others hold that.
    pub waits_for: Option<String>,
}

/// A project as programs see it.
#[derive(Serialize)]
struct ProjectLine<'a> {
    key: &'a ProjectKey,
    name: &'a str,
    roots: &'a [String],
    waiting: &'a [ProjectKey],
    waits_for: Option<&'a str>,
    items: u64,
    sessions: u64,
    last: Option<String>,
}

/// All projects.
#[derive(Debug, Serialize)]
pub struct ProjectsResponse {
    /// The last worked on first; those that nothing is remembered of, last.
    pub projects: Vec<ListedProject>,
}

impl Serialize for ListedProject {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let ProjectStats {
            project,
            items,
            sessions,
            last,
        } = &self.activity;
        ProjectLine {
            key: &project.key,
            name: &project.name,
            roots: &self.roots,
            waiting: &self.waiting,
            waits_for: self.waits_for.as_deref(),
            items: *items,
            sessions: *sessions,
            last: last.map(format_rfc3339),
        }
        .serialize(serializer)
    }
}

impl App {
    /// Every project, the last worked on first.
    pub fn list_projects(&self) -> Result<ProjectsResponse> {
        let projects = match self.open_store()? {
            Some(store) => collect_projects(self, store.project_activity()?)?,
            None => Vec::new(),
        };
        Ok(ProjectsResponse { projects })
    }
}

/// The last worked on first; those that nothing is remembered of, last.
fn collect_projects(app: &App, activities: Vec<ProjectStats>) -> Result<Vec<ListedProject>> {
    let held = ProjectRoots::for_data_dir(&app.paths).list_keys();
    let mut held: HashMap<String, Vec<String>> = held
        .map_err(|source| AppError::file(&app.paths.roots_dir(), source))?
        .into_iter()
        .collect();
    let mut rows: Vec<ListedProject> = Vec::new();
    for activity in activities {
        let project = &activity.project;
        let root = Path::new(&project.root);
        let location = root.is_dir().then(|| app.locate_folder(root));
        let awaited = location.as_ref().and_then(|l| l.awaited_key());
        let roots = match held.remove(project.key.as_str()) {
            Some(roots) => roots,
            None if project.root.is_empty() => Vec::new(),
            None => vec![project.root.clone()],
        };
        rows.push(ListedProject {
            roots,
            waiting: Vec::new(),
            waits_for: awaited.map(ToOwned::to_owned),
            activity,
        });
    }
    let waiting: Vec<(String, ProjectKey)> = rows
        .iter()
        .filter_map(|row| Some((row.waits_for.clone()?, row.activity.project.key.clone())))
        .collect();
    for row in &mut rows {
        let key = &row.activity.project.key;
        let waits = waiting.iter().filter(|(awaited, _)| awaited == key);
        row.waiting = waits.map(|(_, root)| root.clone()).collect();
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.activity.last));
    Ok(rows)
}
