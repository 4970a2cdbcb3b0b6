//! `remora projects`: what is remembered of which project, which checkouts share
//! it, and which wait to; two keys of one project become one.

mod list;

use std::path::Path;

use remora_client::{ProjectLocation, ProjectRoots, RootClaim};
use remora_core::ids::ProjectKey;
use remora_core::record::Project;
use remora_memory::store::Store;
use remora_server::join::{self, JoinStats};
use serde_json::json;

use crate::args::{ProjectsArgs, ProjectsCommand, ProjectsJoinArgs, ProjectsLeaveArgs};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::exclusive::WorkerLock;
use crate::commands::search::scope;
use crate::commands::show::lines::format_count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, escape_invisible};

pub(super) fn run(args: &ProjectsArgs, out: &mut Output) -> Result<Exit, CliError> {
    match &args.command {
        None => list::run(args, out),
        Some(ProjectsCommand::Join(args)) => run_join(args, out),
        Some(ProjectsCommand::Leave(args)) => run_leave(args, out),
    }
}

/// What a join is to do.
struct JoinPlan {
    from: ProjectKey,
    to: Project,
    /// Checkouts that share the key from then on.
    roots: Vec<String>,
}

fn run_join(args: &ProjectsJoinArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let plan = plan_join(&data, args)?;
    let done = if args.dry_run {
        match data.open_store()? {
            Some(store) => join::preview_join(&store, &plan.from)?,
            None => JoinStats::default(),
        }
    } else {
        carry_out(&data, &plan)?
    };
    print_report(args, &plan, done, out)?;
    Ok(Exit::GoOn)
}

/// The roots come first: if this dies before the items have moved, the worker
/// moves them at the next event of such a checkout.
fn carry_out(data: &DataDir, plan: &JoinPlan) -> Result<JoinStats, CliError> {
    let roots = ProjectRoots::for_data_dir(&data.paths);
    let is_stored = data.open_store()?.is_some();
    let mut guard = WorkerLock::acquire_lock(&data.paths)?;
    for root in &plan.roots {
        let accepted = roots.accept(&plan.to.key, root);
        accepted.map_err(|source| CliError::File {
            path: data.paths.roots_dir(),
            source,
        })?;
    }
    if !is_stored {
        return Ok(JoinStats::default());
    }
    let store = data.open_writable_store()?;
    let done = join::join_projects(&store, &data.paths, &plan.from, &plan.to, clock::now_ms())?;
    // Saved memories and embeddings are for the worker.
    guard.leave_a_worker();
    drop(store);
    Ok(done)
}

fn plan_join(data: &DataDir, args: &ProjectsJoinArgs) -> Result<JoinPlan, CliError> {
    let here = data
        .environment
        .directory()
        .map(|here| data.locate_folder(here));
    let store = data.open_store()?;
    if let Some(location) = find_waiting_checkout(data, args, here.as_ref()) {
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
    let Some(old) = &args.old else {
        return Err(CliError::Usage(
            "this checkout waits for no project; name the key that it had before, \
             `remora projects` lists them"
                .to_owned(),
        ));
    };
    let Some(store) = store else {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    };
    let from = scope::resolve_named_project(data, &store, old)?;
    let to = match (&args.new, &here) {
        (Some(new), _) => scope::resolve_named_project(data, &store, new)?,
        (None, _) => data.current_project()?,
    };
    if from == to {
        return Err(CliError::Usage(format!("`{from}` is one project already")));
    }
    // Checkouts that were one project under the old key are one under the new.
    let roots = list_holders(data, &from);
    refuse_if_live(data, &store, &from, &roots)?;
    let projects = store.list_projects()?;
    let here = here.map(|here| here.project).filter(|here| here.key == to);
    let known = projects.into_iter().find(|project| project.key == to);
    let to = here.or(known);
    let to = to.unwrap_or_else(|| {
        build_project(args.new.clone().unwrap_or_default().into(), String::new())
    });
    Ok(JoinPlan { from, to, roots })
}

/// The checkout that is to share its remote's memory: this one, or the one that
/// is named; the key may be named too.
fn find_waiting_checkout(
    data: &DataDir,
    args: &ProjectsJoinArgs,
    here: Option<&ProjectLocation>,
) -> Option<ProjectLocation> {
    let waits = |location: &ProjectLocation| location.awaited_key().is_some();
    let here = here.filter(|here| waits(here));
    match (&args.old, &args.new) {
        (None, _) => here.cloned(),
        (Some(key), None) => here.filter(|here| here.awaited_key() == Some(key)).cloned(),
        (Some(folder), Some(key)) => {
            let folder = data.environment.directory()?.join(folder);
            let there = folder.is_dir().then(|| data.locate_folder(&folder));
            there.filter(|there| there.awaited_key() == Some(key))
        }
    }
}

/// A key that a checkout still has would be empty from then on, and its sessions
/// would find nothing.
fn refuse_if_live(
    data: &DataDir,
    store: &dyn Store,
    from: &str,
    roots: &[String],
) -> Result<(), CliError> {
    let last = store.list_projects()?.into_iter().find(|p| p.key == from);
    let last = last.map(|project| project.root);
    let live = last.iter().chain(roots).find(|root| {
        let root = Path::new(root);
        root.is_dir() && data.locate_folder(root).project.key == from
    });
    match live {
        None => Ok(()),
        Some(root) => Err(CliError::Usage(format!(
            "`{from}` is still the project of {root}; only one that no folder has any more can be joined"
        ))),
    }
}

fn list_holders(data: &DataDir, key: &str) -> Vec<String> {
    let holders = ProjectRoots::for_data_dir(&data.paths).find_roots(key);
    holders.ok().flatten().unwrap_or_default()
}

fn build_project(key: ProjectKey, root: String) -> Project {
    Project {
        name: key.rsplit('/').next().unwrap_or(&key).to_owned(),
        key,
        root,
    }
}

fn print_report(
    args: &ProjectsJoinArgs,
    plan: &JoinPlan,
    done: JoinStats,
    out: &mut Output,
) -> Result<(), CliError> {
    let (from, to) = (&plan.from, &plan.to.key);
    if args.json {
        return out.print_json(&json!({
            "from": from,
            "to": to,
            "rows": done.rows,
            "sessions": done.sessions,
            "roots": plan.roots,
            "dry_run": args.dry_run,
        }));
    }
    let verb = if args.dry_run { "would go" } else { "went" };
    let rows = format_count(done.rows, "item", "items");
    let sessions = format_count(done.sessions, "session", "sessions");
    let text = format!("{rows} and {sessions} {verb} from {from} to {to}");
    out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    if plan.roots.iter().any(|root| root == from) {
        let text = if args.dry_run {
            format!("{from} would share the memory of {to}")
        } else {
            format!("{from} shares the memory of {to}; `remora projects leave` undoes that")
        };
        out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    }
    Ok(())
}

/// Takes a checkout off the key that it shares. What is remembered stays there.
fn run_leave(args: &ProjectsLeaveArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let here = data.environment.directory().ok_or_else(|| {
        CliError::Usage("the current directory is gone; name the checkout".to_owned())
    })?;
    let folder = match &args.folder {
        Some(folder) => here.join(folder),
        None => here.clone(),
    };
    let location = data.locate_folder(&folder);
    let key = &location.project.key;
    // A checkout that is gone is known by its path alone.
    let (key, root) = match location.claim {
        RootClaim::Accepted => (key.clone(), location.main.clone()),
        _ => match held_by(&data, &folder.to_string_lossy()) {
            Some(key) => (key.into(), folder.display().to_string()),
            None => {
                return Err(CliError::Usage(format!(
                    "{}: shares no memory with another checkout",
                    folder.display()
                )));
            }
        },
    };
    let released = ProjectRoots::for_data_dir(&data.paths).release(&key, &root);
    released.map_err(|source| CliError::File {
        path: data.paths.roots_dir(),
        source,
    })?;
    if args.json {
        out.print_json(&json!({ "root": root, "key": key }))?;
    } else {
        let text =
            format!("{root} has a memory of its own from now on; what it shared stays with {key}");
        out.print_text(&format!("{}\n", escape_invisible(&text)))?;
    }
    Ok(Exit::GoOn)
}

fn held_by(data: &DataDir, root: &str) -> Option<String> {
    let all = ProjectRoots::for_data_dir(&data.paths).list_keys().ok()?;
    let held = all
        .into_iter()
        .find(|(_, roots)| roots.iter().any(|known| known == root));
    held.map(|(key, _)| key)
}
