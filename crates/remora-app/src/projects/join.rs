//! Two keys of one project become one; a checkout begins or ends to share a memory.

use std::path::Path;

use remora_client::{ProjectLocation, ProjectRoots, RootClaim};
use remora_core::ids::ProjectKey;
use remora_core::record::Project;
use remora_memory::store::Store;
use remora_server::join::{self, JoinStats};
use serde::Serialize;

use crate::app::App;
use crate::error::{AppError, ErrorKind, Result};

/// Which keys become one.
#[derive(Debug, Clone, Default)]
pub struct JoinRequest {
    /// The key that a checkout had before, or one that waits to share the other.
    pub old: Option<String>,
    /// The key that stays.
    pub new: Option<String>,
    /// Whether nothing is changed.
    pub dry_run: bool,
}

/// What went where, or would.
#[derive(Debug, Serialize)]
pub struct JoinResponse {
    /// The key that is no more.
    pub from: ProjectKey,
    /// The key that stays.
    pub to: ProjectKey,
    /// Items that went.
    pub rows: u64,
    /// Sessions that went.
    pub sessions: u64,
    /// Checkouts that share the key from then on.
    pub roots: Vec<String>,
    dry_run: bool,
}

/// The checkout that has a memory of its own, and the key that it shared.
#[derive(Debug, Serialize)]
pub struct LeaveResponse {
    /// The checkout.
    pub root: String,
    /// The key.
    pub key: ProjectKey,
}

impl App {
    /// Joins two keys.
    pub fn join_projects(&self, request: &JoinRequest) -> Result<JoinResponse> {
        let plan = plan_join(self, request)?;
        let done = if request.dry_run {
            match self.open_store()? {
                Some(store) => join::preview_join(&*store, &plan.from)?,
                None => JoinStats::default(),
            }
        } else {
            carry_out(self, &plan)?
        };
        Ok(JoinResponse {
            from: plan.from,
            to: plan.to.key,
            rows: done.rows,
            sessions: done.sessions,
            roots: plan.roots,
            dry_run: request.dry_run,
        })
    }

    /// Takes a checkout off the key that it shares: this one, or the one in a folder.
    /// What is remembered stays there.
    pub fn leave_project(&self, folder: Option<&Path>) -> Result<LeaveResponse> {
        let here = self.caller.directory.as_ref().ok_or_else(|| {
            AppError::bad_request("the current directory is gone; name the checkout")
        })?;
        let folder = folder.map_or_else(|| here.clone(), |folder| here.join(folder));
        let location = self.locate_folder(&folder);
        let key = &location.project.key;
        // A checkout that is gone is known by its path alone.
        let (key, root) = match location.claim {
            RootClaim::Accepted => (key.clone(), location.main.clone()),
            _ => match held_by(self, &folder.to_string_lossy()) {
                Some(key) => (key.into(), folder.display().to_string()),
                None => {
                    return Err(AppError::bad_request(format!(
                        "{}: shares no memory with another checkout",
                        folder.display()
                    )));
                }
            },
        };
        let released = ProjectRoots::for_data_dir(&self.paths).release(&key, &root);
        released.map_err(|source| AppError::file(&self.paths.roots_dir(), source))?;
        Ok(LeaveResponse { root, key })
    }
}

/// What a join is to do.
struct JoinPlan {
    from: ProjectKey,
    to: Project,
    /// Checkouts that share the key from then on.
    roots: Vec<String>,
}

/// The roots come first: if this dies before the items have moved, the worker
/// moves them at the next event of such a checkout.
fn carry_out(app: &App, plan: &JoinPlan) -> Result<JoinStats> {
    let roots = ProjectRoots::for_data_dir(&app.paths);
    let is_stored = app.open_store()?.is_some();
    let mut guard = app.lock_worker()?;
    for root in &plan.roots {
        let accepted = roots.accept(&plan.to.key, root);
        accepted.map_err(|source| AppError::file(&app.paths.roots_dir(), source))?;
    }
    if !is_stored {
        return Ok(JoinStats::default());
    }
    let store = app.open_writable_store()?;
    let done = join::join_projects(
        &*store,
        &app.paths,
        &plan.from,
        &plan.to,
        app.clock.now_ms(),
    )?;
    // Saved memories and embeddings are for the worker.
    guard.leave_a_worker();
    drop(store);
    Ok(done)
}

fn plan_join(app: &App, request: &JoinRequest) -> Result<JoinPlan> {
    let here = app.caller.directory.as_deref();
    let here = here.map(|here| app.locate_folder(here));
    let store = app.open_store()?;
    if let Some(location) = find_waiting_checkout(app, request, here.as_ref()) {
        let (from, roots) = (location.main.as_str().into(), vec![location.main.clone()]);
        let key = location.awaited_key().unwrap_or_default().to_owned();
        let known = match &store {
            Some(store) => store.list_projects()?,
            None => Vec::new(),
        };
        let known = known.into_iter().find(|project| project.key == key);
        let to = known.unwrap_or_else(|| build_project(key.into(), location.project.root));
        return Ok(JoinPlan { from, to, roots });
    }
    let Some(old) = &request.old else {
        return Err(AppError::bad_request(
            "this checkout waits for no project; name the key that it had before, \
             `remora projects` lists them",
        ));
    };
    let Some(store) = store else {
        return Err(AppError::no_database());
    };
    let from = app.resolve_named_project(&*store, old)?;
    let to = match (&request.new, &here) {
        (Some(new), _) => app.resolve_named_project(&*store, new)?,
        (None, _) => app.current_project()?,
    };
    if from == to {
        return Err(AppError::bad_request(format!(
            "`{from}` is one project already"
        )));
    }
    // Checkouts that were one project under the old key are one under the new.
    let roots = list_holders(app, &from);
    refuse_if_live(app, &*store, &from, &roots)?;
    let projects = store.list_projects()?;
    let here = here.map(|here| here.project).filter(|here| here.key == to);
    let known = projects.into_iter().find(|project| project.key == to);
    let to = here.or(known);
    let to = to.unwrap_or_else(|| {
        build_project(
            request.new.clone().unwrap_or_default().into(),
            String::new(),
        )
    });
    Ok(JoinPlan { from, to, roots })
}

/// The checkout that is to share its remote's memory: this one, or the one that
/// is named; the key may be named too.
fn find_waiting_checkout(
    app: &App,
    request: &JoinRequest,
    here: Option<&ProjectLocation>,
) -> Option<ProjectLocation> {
    let waits = |location: &ProjectLocation| location.awaited_key().is_some();
    let here = here.filter(|here| waits(here));
    match (&request.old, &request.new) {
        (None, _) => here.cloned(),
        (Some(key), None) => here.filter(|here| here.awaited_key() == Some(key)).cloned(),
        (Some(folder), Some(key)) => {
            let folder = app.caller.directory.as_ref()?.join(folder);
            let there = folder.is_dir().then(|| app.locate_folder(&folder));
            there.filter(|there| there.awaited_key() == Some(key))
        }
    }
}

/// A key that a checkout still has would be empty from then on, and its sessions
/// would find nothing.
fn refuse_if_live(app: &App, store: &dyn Store, from: &str, roots: &[String]) -> Result<()> {
    let last = store.list_projects()?.into_iter().find(|p| p.key == from);
    let last = last.map(|project| project.root);
    let live = last.iter().chain(roots).find(|root| {
        let root = Path::new(root);
        root.is_dir() && app.locate_folder(root).project.key == from
    });
    match live {
        None => Ok(()),
        Some(root) => Err(AppError::new(
            ErrorKind::Conflict,
            format!(
                "`{from}` is still the project of {root}; only one that no folder has any more can be joined"
            ),
        )),
    }
}

fn list_holders(app: &App, key: &str) -> Vec<String> {
    let holders = ProjectRoots::for_data_dir(&app.paths).find_roots(key);
    holders.ok().flatten().unwrap_or_default()
}

fn build_project(key: ProjectKey, root: String) -> Project {
    Project {
        name: key.rsplit('/').next().unwrap_or(&key).to_owned(),
        key,
        root,
    }
}

fn held_by(app: &App, root: &str) -> Option<String> {
    let all = ProjectRoots::for_data_dir(&app.paths).list_keys().ok()?;
    let held = all
        .into_iter()
        .find(|(_, roots)| roots.iter().any(|known| known == root));
    held.map(|(key, _)| key)
}
