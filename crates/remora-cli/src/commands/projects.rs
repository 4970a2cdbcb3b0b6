//! `remora projects`: what is remembered of which project, which checkouts share
//! it, and which wait to; two keys of one project become one.

mod list;

use std::path::Path;

use remora_client::{Claim, ProjectLocation, Roots};
use remora_memory::store::Store;
use remora_protocol::record::Project;
use remora_server::join::{self, Joined};
use serde_json::json;

use crate::args::{Projects, ProjectsCommand, ProjectsJoin, ProjectsLeave};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::search::scope;
use crate::commands::show::lines::count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, visible};

pub(super) fn run(args: &Projects, out: &mut Output) -> Result<Exit, CliError> {
    match &args.command {
        None => list::run(args, out),
        Some(ProjectsCommand::Join(args)) => join(args, out),
        Some(ProjectsCommand::Leave(args)) => leave(args, out),
    }
}

/// What a join is to do.
struct Plan {
    from: String,
    to: Project,
    /// Checkouts that share the key from then on.
    roots: Vec<String>,
}

fn join(args: &ProjectsJoin, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let plan = plan(&data, args)?;
    let done = if args.dry_run {
        match data.store()? {
            Some(store) => join::preview(&store, &plan.from)?,
            None => Joined::default(),
        }
    } else {
        carry_out(&data, &plan)?
    };
    report(args, &plan, done, out)?;
    Ok(Exit::GoOn)
}

/// The roots come first: if this dies before the rows have moved, the worker
/// moves them at the next event of such a checkout.
fn carry_out(data: &Data, plan: &Plan) -> Result<Joined, CliError> {
    let roots = Roots::of(&data.paths);
    let is_stored = data.store()?.is_some();
    let mut guard = Exclusive::take(&data.paths)?;
    for root in &plan.roots {
        let accepted = roots.accept(&plan.to.key, root);
        accepted.map_err(|source| CliError::File {
            path: data.paths.roots(),
            source,
        })?;
    }
    if !is_stored {
        return Ok(Joined::default());
    }
    let store = data.writable()?;
    let done = join::join(&store, &data.paths, &plan.from, &plan.to, clock::millis())?;
    // Saved memories and what rows mean are for the worker.
    guard.leave_a_worker();
    drop(store);
    Ok(done)
}

fn plan(data: &Data, args: &ProjectsJoin) -> Result<Plan, CliError> {
    let here = data.environment.directory().map(|here| data.locate(here));
    let store = data.store()?;
    if let Some(location) = waiting(data, args, here.as_ref()) {
        let (from, roots) = (location.main.clone(), vec![location.main.clone()]);
        let key = location.awaited_key().unwrap_or_default().to_owned();
        let known = match &store {
            Some(store) => store.projects()?,
            None => Vec::new(),
        };
        let known = known.into_iter().find(|project| project.key == key);
        let to = known.unwrap_or_else(|| described(key, location.project.root));
        return Ok(Plan { from, to, roots });
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
    let from = scope::named(data, &store, old)?;
    let to = match (&args.new, &here) {
        (Some(new), _) => scope::named(data, &store, new)?,
        (None, _) => data.project()?,
    };
    if from == to {
        return Err(CliError::Usage(format!("`{from}` is one project already")));
    }
    // Checkouts that were one project under the old key are one under the new.
    let roots = holders(data, &from);
    refuse_if_live(data, &store, &from, &roots)?;
    let projects = store.projects()?;
    let here = here.map(|here| here.project).filter(|here| here.key == to);
    let known = projects.into_iter().find(|project| project.key == to);
    let to = here.or(known);
    let to = to.unwrap_or_else(|| described(args.new.clone().unwrap_or_default(), String::new()));
    Ok(Plan { from, to, roots })
}

/// The checkout that is to share its remote's memory: this one, or the one that
/// is named; the key may be named too.
fn waiting(
    data: &Data,
    args: &ProjectsJoin,
    here: Option<&ProjectLocation>,
) -> Option<ProjectLocation> {
    let waits = |location: &ProjectLocation| location.awaited_key().is_some();
    let here = here.filter(|here| waits(here));
    match (&args.old, &args.new) {
        (None, _) => here.cloned(),
        (Some(key), None) => here.filter(|here| here.awaited_key() == Some(key)).cloned(),
        (Some(folder), Some(key)) => {
            let folder = data.environment.directory()?.join(folder);
            let there = folder.is_dir().then(|| data.locate(&folder));
            there.filter(|there| there.awaited_key() == Some(key))
        }
    }
}

/// A key that a checkout still has would be empty from then on, and its sessions
/// would find nothing.
fn refuse_if_live(
    data: &Data,
    store: &dyn Store,
    from: &str,
    roots: &[String],
) -> Result<(), CliError> {
    let last = store.projects()?.into_iter().find(|p| p.key == from);
    let last = last.map(|project| project.root);
    let live = last.iter().chain(roots).find(|root| {
        let root = Path::new(root);
        root.is_dir() && data.locate(root).project.key == from
    });
    match live {
        None => Ok(()),
        Some(root) => Err(CliError::Usage(format!(
            "`{from}` is still the project of {root}; only one that no folder has any more can be joined"
        ))),
    }
}

fn holders(data: &Data, key: &str) -> Vec<String> {
    let holders = Roots::of(&data.paths).holders(key);
    holders.ok().flatten().unwrap_or_default()
}

fn described(key: String, root: String) -> Project {
    Project {
        name: key.rsplit('/').next().unwrap_or(&key).to_owned(),
        key,
        root,
    }
}

fn report(
    args: &ProjectsJoin,
    plan: &Plan,
    done: Joined,
    out: &mut Output,
) -> Result<(), CliError> {
    let (from, to) = (&plan.from, &plan.to.key);
    if args.json {
        return out.json(&json!({
            "from": from,
            "to": to,
            "rows": done.rows,
            "sessions": done.sessions,
            "roots": plan.roots,
            "dry_run": args.dry_run,
        }));
    }
    let verb = if args.dry_run { "would go" } else { "went" };
    let rows = count(done.rows, "row", "rows");
    let sessions = count(done.sessions, "session", "sessions");
    let text = format!("{rows} and {sessions} {verb} from {from} to {to}");
    out.text(&format!("{}\n", visible(&text)))?;
    if plan.roots.contains(from) {
        let text = if args.dry_run {
            format!("{from} would share the memory of {to}")
        } else {
            format!("{from} shares the memory of {to}; `remora projects leave` undoes that")
        };
        out.text(&format!("{}\n", visible(&text)))?;
    }
    Ok(())
}

/// Takes a checkout off the key that it shares. What is remembered stays there.
fn leave(args: &ProjectsLeave, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let here = data.environment.directory().ok_or_else(|| {
        CliError::Usage("the current directory is gone; name the checkout".to_owned())
    })?;
    let folder = match &args.folder {
        Some(folder) => here.join(folder),
        None => here.clone(),
    };
    let location = data.locate(&folder);
    let key = &location.project.key;
    // A checkout that is gone is known by its path alone.
    let (key, root) = match location.claim {
        Claim::Accepted => (key.clone(), location.main.clone()),
        _ => match held_by(&data, &folder.to_string_lossy()) {
            Some(key) => (key, folder.display().to_string()),
            None => {
                return Err(CliError::Usage(format!(
                    "{}: shares no memory with another checkout",
                    folder.display()
                )));
            }
        },
    };
    let released = Roots::of(&data.paths).release(&key, &root);
    released.map_err(|source| CliError::File {
        path: data.paths.roots(),
        source,
    })?;
    if args.json {
        out.json(&json!({ "root": root, "key": key }))?;
    } else {
        let text =
            format!("{root} has a memory of its own from now on; what it shared stays with {key}");
        out.text(&format!("{}\n", visible(&text)))?;
    }
    Ok(Exit::GoOn)
}

fn held_by(data: &Data, root: &str) -> Option<String> {
    let all = Roots::of(&data.paths).list().ok()?;
    let held = all
        .into_iter()
        .find(|(_, roots)| roots.iter().any(|known| known == root));
    held.map(|(key, _)| key)
}
