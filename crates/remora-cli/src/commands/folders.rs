//! `remora folders`: notes on recent work in the folders of a project, between
//! tags of our own. Nothing is written unless asked for, nothing outside the
//! tags is touched, and what was written can be removed again.

mod block;
mod gather;
mod plan;
mod record;
mod tracked;

use std::fs;
use std::path::{Path, PathBuf};

use remora_client::{DataPaths, Pause};
use remora_core::ids::ProjectKey;
use remora_git::Git;
use remora_memory::store::{Filter, Store};
use remora_server::identity::look_up_project;
use remora_store::Access;
use serde_json::{Value, json};

use crate::args::{DEFAULT_NOTE_DAYS, FoldersArgs};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::show::lines::{flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use plan::{FileChange, FileStep, FolderPlan};
use record::{FolderRecord, WrittenFile};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Sessions that the worker looks at for projects with recent work.
const MAX_SCANNED_SESSIONS: usize = 200;

/// What became of one step.
#[derive(Debug)]
enum StepOutcome {
    /// As planned.
    Well,
    Failed(String),
}

pub(super) fn run(args: &FoldersArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let here = data.environment.directory().ok_or_else(|| {
        CliError::Usage("the current directory is gone; go to the project first".to_owned())
    })?;
    let place = data.app.locate_folder(here);
    let root = PathBuf::from(&place.project.root);
    let real = (args.write || args.clean) && !args.dry_run;
    let mut record = if real {
        FolderRecord::load_locked(&data.app.paths)?
    } else {
        FolderRecord::load_readonly(&data.app.paths)?
    };
    let plan = if args.clean {
        plan::plan_cleanup(&root, &record)
    } else {
        match data.app.open_store()? {
            None => FolderPlan::new_empty(&root),
            Some(store) => {
                let since = clock::now_ms() - i64::from(args.days) * DAY_MS;
                let git = data.environment.find_git(&root);
                plan::plan_tables(&*store, &place.project.key, &root, since, &record, &git)?
            }
        }
    };
    let done = if real {
        Some(apply_plan(&plan, &mut record)?)
    } else {
        None
    };
    if args.json {
        out.print_json(&as_json(&plan, done.as_deref(), args.days))?;
    } else {
        print_plan(&plan, done.as_deref(), args, out)?;
    }
    let failed = |done: &StepOutcome| matches!(done, StepOutcome::Failed(_));
    Ok(match done {
        Some(done) if done.iter().any(failed) => Exit::Failed,
        _ => Exit::GoOn,
    })
}

/// What the worker does in spare time when `folders.auto` is on: the tables of
/// every project with work in the last day, as `remora folders --write` would.
/// Returns a line for the log when something changed or failed.
pub(crate) fn refresh_notes(paths: &DataPaths) -> Option<String> {
    match refresh_projects(paths) {
        Ok((0, 0)) => None,
        Ok((changed, 0)) => Some(format!("folders: {} renewed", format_file_count(changed))),
        Ok((changed, failed)) => Some(format!(
            "folders: {} renewed, {} could not be written",
            format_file_count(changed),
            format_file_count(failed)
        )),
        Err(e) => Some(format!("folders: {e}")),
    }
}

fn refresh_projects(paths: &DataPaths) -> Result<(usize, usize), CliError> {
    let now = clock::now_ms();
    let store = remora_server::open_database(&paths.database_file(), Access::Read)?;
    let today = Filter {
        since: Some(now - DAY_MS),
        ..Filter::default()
    };
    let mut keys: Vec<ProjectKey> = store
        .list_sessions(&today, MAX_SCANNED_SESSIONS)?
        .into_iter()
        .map(|session| session.project)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let projects = store.list_projects()?;
    let (mut changed, mut failed) = (0, 0);
    for project in projects
        .iter()
        .filter(|project| keys.contains(&project.key))
    {
        let root = Path::new(&project.root);
        // A folder that is another project by now, or a project that is off.
        let same = root.is_dir() && look_up_project(paths, root, None).project.key == project.key;
        if !same || Pause::for_data_dir(paths).is_off(Some(&project.key), "", now) {
            continue;
        }
        let mut record = FolderRecord::load_locked(paths)?;
        let since = now - i64::from(DEFAULT_NOTE_DAYS) * DAY_MS;
        let git = Git::default();
        let plan = plan::plan_tables(&store, &project.key, root, since, &record, &git)?;
        let done = apply_plan(&plan, &mut record)?;
        for (step, done) in plan.steps.iter().zip(done) {
            match done {
                StepOutcome::Failed(_) => failed += 1,
                StepOutcome::Well if step.has_change() => changed += 1,
                StepOutcome::Well => {}
            }
        }
    }
    Ok((changed, failed))
}

fn format_file_count(n: usize) -> String {
    format_count(n as u64, "file", "files")
}

impl FileStep {
    fn has_change(&self) -> bool {
        use FileChange::{Create, Delete, Take, Update};
        matches!(self.change, Create(_) | Update(_) | Take(_) | Delete)
    }
}

/// Carries a plan out. The record comes first: what dies in between can still
/// be cleaned.
fn apply_plan(plan: &FolderPlan, record: &mut FolderRecord) -> Result<Vec<StepOutcome>, CliError> {
    let before = record.files.clone();
    for step in &plan.steps {
        if matches!(step.change, FileChange::Create(_) | FileChange::Update(_)) {
            let written = WrittenFile::new(&plan.root, &step.around);
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
            (FileChange::Create(_) | FileChange::Update(_), StepOutcome::Failed(_)) => {
                match before.get(&step.file) {
                    Some(old) => record.files.insert(step.file.clone(), old.clone()),
                    None => record.files.remove(&step.file),
                };
            }
            (FileChange::Take(_) | FileChange::Delete | FileChange::Forget, StepOutcome::Well) => {
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

fn carry_out(step: &FileStep) -> StepOutcome {
    if !step.has_change() {
        return StepOutcome::Well;
    }
    // The user may be editing it.
    match plan::read_existing_file(&step.file) {
        Ok(now) if now == step.old => {}
        Ok(_) => return StepOutcome::Failed("it changed just now; try again".to_owned()),
        Err(why) => return StepOutcome::Failed(why),
    }
    let read_only = fs::metadata(&step.file).is_ok_and(|known| known.permissions().readonly());
    if read_only {
        return StepOutcome::Failed("it is read-only; make it writable first".to_owned());
    }
    let done = match &step.change {
        FileChange::Create(new) | FileChange::Update(new) | FileChange::Take(new) => {
            record::replace_file(&step.file, new)
        }
        _ => fs::remove_file(&step.file),
    };
    match done {
        Ok(()) => StepOutcome::Well,
        Err(e) => StepOutcome::Failed(e.to_string()),
    }
}

/// The change in one word, and why if it is none.
fn describe_step<'a>(
    step: &'a FileStep,
    done: Option<&'a StepOutcome>,
) -> (&'static str, Option<&'a str>) {
    if let Some(StepOutcome::Failed(why)) = done {
        return ("failed", Some(why));
    }
    match &step.change {
        FileChange::Create(_) => ("create", None),
        FileChange::Update(_) => ("update", None),
        FileChange::Take(_) => ("remove", None),
        FileChange::Delete => ("delete", None),
        FileChange::Same => ("unchanged", None),
        FileChange::Forget => ("gone", None),
        FileChange::Leave(why) => ("leave", Some(why)),
    }
}

fn as_json(plan: &FolderPlan, done: Option<&[StepOutcome]>, days: u32) -> Value {
    let one = |(at, step): (usize, &FileStep)| {
        let (change, why) = describe_step(step, done.and_then(|done| done.get(at)));
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

fn print_plan(
    plan: &FolderPlan,
    done: Option<&[StepOutcome]>,
    args: &FoldersArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    if plan.steps.is_empty() {
        out.print_text(if args.clean {
            "no folder of this project holds a table of ours\n"
        } else {
            "nothing was changed lately in folders that may have notes\n"
        })?;
    }
    let dry = done.is_none();
    for (at, step) in plan.steps.iter().enumerate() {
        let (change, why) = describe_step(step, done.and_then(|done| done.get(at)));
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
        let name = flatten_text(&name.display().to_string());
        let why = why
            .map(|why| format!(": {}", flatten_text(why)))
            .unwrap_or_default();
        let head = format!("{name}: {text}{why}");
        out.print_text(&out.paint(style, &hang_text("", &head)))?;
        if dry && matches!(step.change, FileChange::Create(_) | FileChange::Update(_)) {
            for line in &step.lines {
                let line = format!("  {line}");
                out.print_text(&format!("{}\n", line.trim_end()))?;
            }
            out.print_text("\n")?;
        }
    }
    if plan.left_out > 0 {
        let left = format_count(plan.left_out as u64, "folder", "folders");
        let why = "hidden, vendored, gone or not known to git";
        out.print_text(&hang_text("", &format!("{left} left out: {why}")))?;
    }
    if dry && plan.steps.iter().any(FileStep::has_change) {
        let verb = if args.clean { "--clean" } else { "--write" };
        out.print_text(&format!("`remora folders {verb}` does it\n"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
