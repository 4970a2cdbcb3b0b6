//! `remora projects`: two keys of one project become one.

use std::path::Path;

use remora_memory::store::Store;
use remora_protocol::record::Project;
use remora_server::join::{self, Joined};
use serde_json::json;

use crate::args::{Projects, ProjectsJoin};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::search::scope;
use crate::commands::show::lines::count;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, visible};

pub(super) fn run(command: &Projects, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        Projects::Join(args) => join(args, out),
    }
}

fn join(args: &ProjectsJoin, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let Some(store) = data.store()? else {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    };
    let (from, to) = named(&data, &store, args)?;
    let done = if args.dry_run {
        join::preview(&store, &from)?
    } else {
        drop(store);
        let mut guard = Exclusive::take(&data.paths)?;
        let store = data.writable()?;
        let done = join::join(&store, &data.paths, &from, &to, clock::millis())?;
        // Saved memories and what rows mean are for the worker.
        guard.leave_a_worker();
        drop(store);
        done
    };
    report(args, &from, &to.key, done, out)?;
    Ok(Exit::GoOn)
}

/// The two keys. One that a folder still has would be empty from then on, and
/// its sessions would find nothing.
fn named(
    data: &Data,
    store: &dyn Store,
    args: &ProjectsJoin,
) -> Result<(String, Project), CliError> {
    let from = scope::named(data, store, &args.old)?;
    let to = match &args.new {
        Some(new) => scope::named(data, store, new)?,
        None => data.project()?,
    };
    if from == to {
        return Err(CliError::Usage(format!("`{from}` is one project already")));
    }
    let projects = store.projects()?;
    let of = |key: &str| projects.iter().find(|project| project.key == key).cloned();
    let live = of(&from).filter(|old| key_of(&old.root).as_deref() == Some(&*from));
    if let Some(old) = live {
        return Err(CliError::Usage(format!(
            "`{from}` is still the project of {}; only one that no folder has any more can be joined",
            old.root
        )));
    }
    let here = data.environment.directory();
    let here = here.map(|here| remora_client::place(here, None).project);
    let here = here.filter(|here| here.key == to);
    let new = here.or_else(|| of(&to)).unwrap_or_else(|| Project {
        name: to.rsplit('/').next().unwrap_or(&to).to_owned(),
        root: String::new(),
        key: to,
    });
    Ok((from, new))
}

fn key_of(root: &str) -> Option<String> {
    let root = Path::new(root);
    root.is_dir()
        .then(|| remora_client::place(root, None).project.key)
}

fn report(
    args: &ProjectsJoin,
    from: &str,
    to: &str,
    done: Joined,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        return out.json(&json!({
            "from": from,
            "to": to,
            "rows": done.rows,
            "sessions": done.sessions,
            "dry_run": args.dry_run,
        }));
    }
    let verb = if args.dry_run { "would go" } else { "went" };
    let rows = count(done.rows, "row", "rows");
    let sessions = count(done.sessions, "session", "sessions");
    let text = format!("{rows} and {sessions} {verb} from {from} to {to}");
    out.text(&format!("{}\n", visible(&text)))
}
