//! `remora folders`: notes on recent work in the folders of a project, between
//! tags of our own. Nothing is written unless asked for, nothing outside the
//! tags is touched, and what was written can be taken out again.

mod block;
mod gather;
mod plan;
mod record;
mod tracked;

use std::fs;
use std::path::{Path, PathBuf};

use remora_client::{Paths, Pause};
use remora_git::Git;
use remora_memory::store::{Filter, Store};
use remora_server::identity::look_up_project;
use remora_store::Access;
use serde_json::{Value, json};

use crate::args::{DAYS, Folders};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::show::lines::{count, flat, hang};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use plan::{Change, Plan, Step};
use record::{Record, Written};

const DAY: i64 = 24 * 3600 * 1000;
/// Sessions that the worker looks at for projects with recent work.
const SESSIONS: usize = 200;

/// What became of one step.
#[derive(Debug)]
enum Done {
    /// As planned.
    Well,
    Failed(String),
}

pub(super) fn run(args: &Folders, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let here = data.environment.directory().ok_or_else(|| {
        CliError::Usage("the current directory is gone; go to the project first".to_owned())
    })?;
    let place = data.locate(here);
    let root = PathBuf::from(&place.project.root);
    let real = (args.write || args.clean) && !args.dry_run;
    let mut record = if real {
        Record::hold(&data.paths)?
    } else {
        Record::look(&data.paths)?
    };
    let plan = if args.clean {
        plan::clean(&root, &record)
    } else {
        match data.store()? {
            None => Plan::nothing(&root),
            Some(store) => {
                let since = clock::millis() - i64::from(args.days) * DAY;
                let git = data.environment.find_git(&root);
                plan::write(&store, &place.project.key, &root, since, &record, &git)?
            }
        }
    };
    let done = if real {
        Some(apply(&plan, &mut record)?)
    } else {
        None
    };
    if args.json {
        out.json(&as_json(&plan, done.as_deref(), args.days))?;
    } else {
        say(&plan, done.as_deref(), args, out)?;
    }
    let failed = |done: &Done| matches!(done, Done::Failed(_));
    Ok(match done {
        Some(done) if done.iter().any(failed) => Exit::Failed,
        _ => Exit::GoOn,
    })
}

/// What the worker does in spare time when `folders.auto` is on: the tables of
/// every project with work in the last day, as `remora folders --write` would.
/// Returns a line for the log when something changed or failed.
pub(crate) fn refresh(paths: &Paths) -> Option<String> {
    match renew(paths) {
        Ok((0, 0)) => None,
        Ok((changed, 0)) => Some(format!("folders: {} renewed", files(changed))),
        Ok((changed, failed)) => Some(format!(
            "folders: {} renewed, {} could not be written",
            files(changed),
            files(failed)
        )),
        Err(e) => Some(format!("folders: {e}")),
    }
}

fn renew(paths: &Paths) -> Result<(usize, usize), CliError> {
    let now = clock::millis();
    let store = remora_store::open(&paths.database(), Access::Read)?;
    let today = Filter {
        since: Some(now - DAY),
        ..Filter::default()
    };
    let mut keys: Vec<String> = store
        .sessions(&today, SESSIONS)?
        .into_iter()
        .map(|session| session.project)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let projects = store.projects()?;
    let (mut changed, mut failed) = (0, 0);
    for project in projects
        .iter()
        .filter(|project| keys.contains(&project.key))
    {
        let root = Path::new(&project.root);
        // A folder that is another project by now, or a project that is off.
        let same = root.is_dir() && look_up_project(paths, root, None).project.key == project.key;
        if !same || Pause::of(paths).is_off(Some(&project.key), "", now) {
            continue;
        }
        let mut record = Record::hold(paths)?;
        let since = now - i64::from(DAYS) * DAY;
        let git = Git::default();
        let plan = plan::write(&store, &project.key, root, since, &record, &git)?;
        let done = apply(&plan, &mut record)?;
        for (step, done) in plan.steps.iter().zip(done) {
            match done {
                Done::Failed(_) => failed += 1,
                Done::Well if step.changes() => changed += 1,
                Done::Well => {}
            }
        }
    }
    Ok((changed, failed))
}

fn files(n: usize) -> String {
    count(n as u64, "file", "files")
}

impl Step {
    fn changes(&self) -> bool {
        use Change::{Create, Delete, Take, Update};
        matches!(self.change, Create(_) | Update(_) | Take(_) | Delete)
    }
}

/// Carries a plan out. The record comes first: what dies in between can still
/// be cleaned.
fn apply(plan: &Plan, record: &mut Record) -> Result<Vec<Done>, CliError> {
    let before = record.files.clone();
    for step in &plan.steps {
        if matches!(step.change, Change::Create(_) | Change::Update(_)) {
            let written = Written::new(&plan.root, &step.around);
            record.files.insert(step.file.clone(), written);
        }
    }
    if record.files != before {
        record.save()?;
    }
    let planned = record.files.clone();
    let mut all = Vec::new();
    for step in &plan.steps {
        let done = carry_out(step);
        match (&step.change, &done) {
            (Change::Create(_) | Change::Update(_), Done::Failed(_)) => {
                match before.get(&step.file) {
                    Some(old) => record.files.insert(step.file.clone(), old.clone()),
                    None => record.files.remove(&step.file),
                };
            }
            (Change::Take(_) | Change::Delete | Change::Forget, Done::Well) => {
                record.files.remove(&step.file);
            }
            _ => {}
        }
        all.push(done);
    }
    if record.files != planned {
        record.save()?;
    }
    Ok(all)
}

fn carry_out(step: &Step) -> Done {
    if !step.changes() {
        return Done::Well;
    }
    // A person may be editing it.
    match plan::look(&step.file) {
        Ok(now) if now == step.old => {}
        Ok(_) => return Done::Failed("it changed just now; try again".to_owned()),
        Err(why) => return Done::Failed(why),
    }
    let read_only = fs::metadata(&step.file).is_ok_and(|known| known.permissions().readonly());
    if read_only {
        return Done::Failed("it is read-only; make it writable first".to_owned());
    }
    let done = match &step.change {
        Change::Create(new) | Change::Update(new) | Change::Take(new) => {
            record::replace(&step.file, new)
        }
        _ => fs::remove_file(&step.file),
    };
    match done {
        Ok(()) => Done::Well,
        Err(e) => Done::Failed(e.to_string()),
    }
}

/// The change in one word, and why if it is none.
fn worded<'a>(step: &'a Step, done: Option<&'a Done>) -> (&'static str, Option<&'a str>) {
    if let Some(Done::Failed(why)) = done {
        return ("failed", Some(why));
    }
    match &step.change {
        Change::Create(_) => ("create", None),
        Change::Update(_) => ("update", None),
        Change::Take(_) => ("remove", None),
        Change::Delete => ("delete", None),
        Change::Same => ("unchanged", None),
        Change::Forget => ("gone", None),
        Change::Leave(why) => ("leave", Some(why)),
    }
}

fn as_json(plan: &Plan, done: Option<&[Done]>, days: u32) -> Value {
    let one = |(at, step): (usize, &Step)| {
        let (change, why) = worded(step, done.and_then(|done| done.get(at)));
        json!({
            "folder": step.folder,
            "file": step.file,
            "change": change,
            "why": why,
            "rows": step.rows,
            "lines": step.lines,
        })
    };
    json!({
        "root": plan.root,
        "days": days,
        "applied": done.is_some(),
        "folders": plan.steps.iter().enumerate().map(one).collect::<Vec<_>>(),
        "left_out": plan.left_out,
    })
}

fn say(
    plan: &Plan,
    done: Option<&[Done]>,
    args: &Folders,
    out: &mut Output,
) -> Result<(), CliError> {
    if plan.steps.is_empty() {
        out.text(if args.clean {
            "nothing of ours stands in this project's folders\n"
        } else {
            "nothing was changed lately in folders that may have notes\n"
        })?;
    }
    let dry = done.is_none();
    for (at, step) in plan.steps.iter().enumerate() {
        let (change, why) = worded(step, done.and_then(|done| done.get(at)));
        let first = step.old.as_deref().is_some_and(|old| !block::is_in(old));
        let (text, style) = match change {
            "create" if dry => ("would be made", Style::Green),
            "create" => ("made", Style::Green),
            "update" if first && dry => ("would be added to", Style::Green),
            "update" if first => ("added to", Style::Green),
            "update" if dry => ("would be renewed", Style::Green),
            "update" => ("renewed", Style::Green),
            "remove" if dry => ("our part would go", Style::Yellow),
            "remove" => ("our part is gone", Style::Yellow),
            "delete" if dry => ("would go; it holds nothing else", Style::Yellow),
            "delete" => ("gone; it held nothing else", Style::Yellow),
            "unchanged" => ("as it should be", Style::Dim),
            "gone" => ("nothing of ours is in it", Style::Dim),
            "leave" => ("left alone", Style::Yellow),
            _ => ("FAILED", Style::Red),
        };
        let name = step.file.strip_prefix(&plan.root).unwrap_or(&step.file);
        let name = flat(&name.display().to_string());
        let why = why
            .map(|why| format!(": {}", flat(why)))
            .unwrap_or_default();
        let head = format!("{name}: {text}{why}");
        out.text(&out.paint(style, &hang("", &head)))?;
        if dry && matches!(step.change, Change::Create(_) | Change::Update(_)) {
            for line in &step.lines {
                let line = format!("  {line}");
                out.text(&format!("{}\n", line.trim_end()))?;
            }
            out.text("\n")?;
        }
    }
    if plan.left_out > 0 {
        let left = count(plan.left_out as u64, "folder", "folders");
        let why = "hidden, vendored, gone or not known to git";
        out.text(&hang("", &format!("{left} left out: {why}")))?;
    }
    if dry && plan.steps.iter().any(Step::changes) {
        let verb = if args.clean { "--clean" } else { "--write" };
        out.text(&format!("`remora folders {verb}` does it\n"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
