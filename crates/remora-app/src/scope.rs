//! What a request's project and session mean in this store: the key or id that
//! they name, or an error that lists the near ones.

use std::path::Path;

use remora_client::locate_project;
use remora_core::ids::{AgentId, ProjectKey, SessionId};
use remora_core::record::{Project, Session};
use remora_memory::store::{Filter, PageRequest, Store};

use crate::app::App;
use crate::error::{AppError, Hint, Result};

/// Which projects are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProjectChoice {
    /// The one that the caller works in.
    #[default]
    Here,
    /// All of them.
    All,
    /// The one of this key, name or path.
    Named(String),
}

/// Names that an error lists at most.
const MAX_LISTED_PROJECTS: usize = 8;

impl App {
    /// The key of the project that is meant; `None` for all of them.
    pub fn resolve_project(
        &self,
        store: &dyn Store,
        choice: &ProjectChoice,
    ) -> Result<Option<ProjectKey>> {
        match choice {
            ProjectChoice::Named(text) => self.resolve_named_project(store, text).map(Some),
            ProjectChoice::All => Ok(None),
            ProjectChoice::Here => self.current_project().map(Some),
        }
    }

    /// The project of this key, name or path, in this order.
    pub fn resolve_named_project(&self, store: &dyn Store, text: &str) -> Result<ProjectKey> {
        find_project(self, store, text)?.map_or_else(
            || Err(unknown_project_error(text, &store.list_projects()?)),
            Ok,
        )
    }

    /// The same, or a new project whose key this is.
    pub fn resolve_or_name_project(&self, store: &dyn Store, text: &str) -> Result<ProjectKey> {
        let projects = store.list_projects()?;
        if let Some(project) = find_project_by_name(&projects, text)? {
            return Ok(project.key.clone());
        }
        // A new key must not become another by a folder that happens to be here.
        let is_path = text.starts_with(['.', '/', '~']);
        let at_path = is_path.then(|| at_path(self, &projects, text)).flatten();
        Ok(at_path.unwrap_or_else(|| text.into()))
    }

    /// A path as items hold it: relative to its project where it lies in one.
    pub fn resolve_file(&self, text: &str) -> String {
        let plain = text.trim_end_matches('/');
        let plain = plain.strip_prefix("./").unwrap_or(plain);
        let path = Path::new(plain);
        if !path.is_absolute() {
            return plain.to_owned();
        }
        let here = self.caller.directory.as_deref();
        let root = path
            .parent()
            .map(|folder| locate_project(&self.paths, folder, here).project.root);
        match root.and_then(|root| path.strip_prefix(root).ok().map(Path::to_path_buf)) {
            Some(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
            _ => plain.to_owned(),
        }
    }
}

/// The projects to name beside rows: none where a filter leaves one.
pub fn list_named_projects(store: &dyn Store, filter: &Filter) -> Result<Vec<Project>> {
    Ok(match filter.project {
        Some(_) => Vec::new(),
        None => store.list_projects()?,
    })
}

/// Of these, the one of this key or name.
pub fn find_project_by_name<'p>(
    projects: &'p [Project],
    text: &str,
) -> Result<Option<&'p Project>> {
    if let Some(project) = projects.iter().find(|project| project.key == text) {
        return Ok(Some(project));
    }
    let same = |project: &&Project| project.name.eq_ignore_ascii_case(text);
    let called: Vec<&Project> = projects.iter().filter(same).collect();
    match called.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => Err(AppError::ambiguous(format!(
            "several projects are called `{text}`; use a key:{}",
            format_projects(several)
        ))),
    }
}

fn find_project(app: &App, store: &dyn Store, text: &str) -> Result<Option<ProjectKey>> {
    let projects = store.list_projects()?;
    if let Some(project) = find_project_by_name(&projects, text)? {
        return Ok(Some(project.key.clone()));
    }
    // Items may carry the key of a project that no event described.
    let of_key = Filter {
        project: Some(text.into()),
        ..Filter::default()
    };
    if has_items(store, &of_key)? {
        return Ok(Some(text.into()));
    }
    Ok(at_path(app, &projects, text))
}

fn at_path(app: &App, projects: &[Project], text: &str) -> Option<ProjectKey> {
    let path = match (text.strip_prefix("~/"), &app.caller.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => app.caller.directory.as_ref()?.join(text),
    };
    // A checkout that is gone still has its name in the list.
    let root = path.to_string_lossy();
    let root = root.trim_end_matches('/');
    if let Some(gone) = projects.iter().find(|project| project.root == root) {
        return Some(gone.key.clone());
    }
    let path = path.canonicalize().ok()?;
    path.is_dir().then(|| app.locate_folder(&path).project.key)
}

fn has_items(store: &dyn Store, filter: &Filter) -> Result<bool> {
    let page = PageRequest::newest(1);
    Ok(!store.list_items(filter, page)?.is_empty())
}

fn unknown_project_error(text: &str, projects: &[Project]) -> AppError {
    let small = text.to_lowercase();
    let near: Vec<&Project> = projects
        .iter()
        .filter(|project| is_near(&small, project))
        .collect();
    let all: Vec<&Project> = projects.iter().collect();
    AppError::not_found(if projects.is_empty() {
        format!("`{text}` is not a project; nothing is remembered yet")
    } else if near.is_empty() {
        format!("`{text}` is not a project; known:{}", format_projects(&all))
    } else {
        format!(
            "`{text}` is not a project; did you mean{}",
            format_projects(&near)
        )
    })
}

/// Whether one name holds the other, or they share most of their letters.
fn is_near(small: &str, project: &Project) -> bool {
    let name = project.name.to_lowercase();
    let key = project.key.to_lowercase();
    if small.is_empty() || name.is_empty() {
        return false;
    }
    let pairs = |text: &str| -> Vec<(char, char)> {
        text.chars().zip(text.chars().skip(1)).take(64).collect()
    };
    let (a, b) = (pairs(small), pairs(&name));
    let shared = a.iter().filter(|pair| b.contains(pair)).count();
    key.contains(small) || small.contains(&name) || 2 * shared > a.len().max(b.len())
}

fn format_projects(projects: &[&Project]) -> String {
    let shown = projects.iter().take(MAX_LISTED_PROJECTS);
    let mut out: Vec<String> = shown
        .map(|project| format!("\n  {}", project.key))
        .collect();
    if projects.len() > MAX_LISTED_PROJECTS {
        out.push(format!(
            "\n  and {} more",
            projects.len() - MAX_LISTED_PROJECTS
        ));
    }
    out.concat()
}

/// The same among the sessions of one project; those of others are not known.
pub fn find_session_of(store: &dyn Store, text: &str, own: &str) -> Result<SessionId> {
    let of_project = Filter {
        project: Some(own.into()),
        ..Filter::default()
    };
    let mut found = store.list_sessions(&of_project, usize::MAX)?;
    found.retain(|session| session.id == text || !text.is_empty() && session.id.starts_with(text));
    match found.as_slice() {
        [] => Err(unknown_session_error(text)),
        [one] => Ok(one.id.clone()),
        several => {
            let exact = several.iter().find(|session| session.id == text);
            let exact = exact.ok_or_else(|| several_sessions(text, several))?;
            Ok(exact.id.clone())
        }
    }
}

/// The session that an id, or the beginning of one, names.
pub fn find_session(store: &dyn Store, text: &str) -> Result<SessionId> {
    let exact = Filter {
        session: Some(text.into()),
        ..Filter::default()
    };
    if !store.list_sessions(&exact, 1)?.is_empty() || has_items(store, &exact)? {
        return Ok(text.into());
    }
    let all = store.list_sessions(&Filter::default(), usize::MAX)?;
    let found: Vec<Session> = all
        .into_iter()
        .filter(|session| !text.is_empty() && session.id.starts_with(text))
        .collect();
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => Err(unknown_session_error(text)),
        several => Err(several_sessions(text, several)),
    }
}

fn several_sessions(text: &str, several: &[Session]) -> AppError {
    let ids: Vec<&str> = several
        .iter()
        .take(MAX_LISTED_PROJECTS)
        .map(|s| s.id.as_str())
        .collect();
    AppError::ambiguous(format!(
        "`{text}` begins several sessions:\n  {}",
        ids.join("\n  ")
    ))
}

/// Nothing is known of it.
pub fn unknown_session_error(text: &str) -> AppError {
    AppError::not_found(format!("`{text}` is not a session")).with_hint(Hint::ListSessions)
}

/// The agent of that name.
pub fn resolve_agent(text: &str) -> AgentId {
    // Items may come from agents that this version does not know.
    remora_agents::find_agent(text).map_or_else(|| text.into(), |spec| spec.name.into())
}
