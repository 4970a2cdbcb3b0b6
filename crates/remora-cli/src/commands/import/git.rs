//! `remora import git`: what the commits of a checkout say. Importing again
//! brings only what is new, and what was forgotten stays away.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_client::locate_project;
use remora_core::record::Project;
use remora_git::CancelToken;
use remora_server::DeletionLog;
use remora_server::commits::{
    CommitLimits, CommitRules, CommitScan, StoredCommits, gather_commits, store_commits,
};
use remora_server::identity::claim_project;
use serde_json::json;

use super::{EmbeddingChoice, embed_imported};
use crate::args::ImportGitArgs;
use crate::commands::data::DataDir;
use crate::commands::show::lines::{flatten_text, format_count};
use crate::commands::vectors::EmbeddingStats;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use remora_app::TimeSpanRequest;
use remora_app::worker_lock::prepare_data_dir;

/// How long one question to git may take, for a user who waits.
const GIT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the database may take to say who holds a key.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(args: &ImportGitArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let span = TimeSpanRequest {
        since: args.since.clone(),
        until: None,
    };
    let limits = CommitLimits {
        telling: args.limit,
        since: span.resolve(&data.app.clock.now())?.since,
        ..CommitLimits::IMPORT
    };
    let folder = find_folder(args, &data)?;
    // Before the lock and without a claim: a dry run must not make this
    // checkout the holder of a key.
    if args.dry_run {
        let project = data.app.locate_folder(&folder).project;
        let gathered = collect_project_commits(&data, &project, limits)?;
        print_report(args, &project, &gathered, None, out)?;
        return Ok(Exit::GoOn);
    }
    prepare_data_dir(&data.app.paths)?;
    let guard = data.app.lock_worker()?;
    let store = data.app.open_writable_store()?;
    // As for events: the first checkout of a remote holds its key, and a clone
    // of another root has a memory of its own.
    let location = locate_project(&data.app.paths, &folder, None);
    let location = claim_project(&data.app.paths, location, Instant::now() + LOOKUP_TIMEOUT);
    let project = location.project;
    let gathered = collect_project_commits(&data, &project, limits)?;
    let stored = store_commits(&*store, &project, &gathered)?;
    let (made, rest) = embed_imported(
        &data,
        store,
        guard,
        EmbeddingChoice::from_flag(args.no_vectors),
    )?;
    print_report(args, &project, &gathered, Some((&stored, &made)), out)?;
    if !args.json {
        rest.print_notice(&made, out)?;
    }
    Ok(made.to_exit())
}

/// The folder of `--project`: a path, or the root of a known project.
fn find_folder(args: &ImportGitArgs, data: &DataDir) -> Result<PathBuf, CliError> {
    let Some(name) = &args.project else {
        let here = data.environment.directory().cloned();
        return here.ok_or_else(|| {
            CliError::Usage("the current directory is gone; use --project".to_owned())
        });
    };
    let path = Path::new(name);
    if path.is_dir() {
        return std::path::absolute(path).map_err(|source| CliError::File {
            path: path.to_path_buf(),
            source,
        });
    }
    let projects = match data.app.open_store()? {
        Some(store) => store.list_projects()?,
        None => Vec::new(),
    };
    let is_named = |project: &&Project| project.key == *name || project.name == *name;
    let mut named = projects.iter().filter(is_named);
    let unknown = || {
        CliError::Usage(format!(
            "--project: `{name}` is neither a folder nor the name of one project; \
             `remora projects` lists them"
        ))
    };
    let project = match projects.iter().find(|project| project.key == *name) {
        Some(project) => project,
        None => match (named.next(), named.next()) {
            (Some(project), None) => project,
            _ => return Err(unknown()),
        },
    };
    let root = PathBuf::from(&project.root);
    let holder = data.app.locate_folder(&root).project.key;
    // Another checkout may lie there by now; its commits are not this
    // project's.
    if !root.is_dir() || holder != project.key {
        return Err(CliError::Usage(format!(
            "--project: the checkout of `{name}` is not at {} any more; name its folder",
            root.display()
        )));
    }
    Ok(root)
}

fn collect_project_commits(
    data: &DataDir,
    project: &Project,
    limits: CommitLimits,
) -> Result<CommitScan, CliError> {
    let mut rules = CommitRules::new(
        data.app.build_redactor()?,
        data.app.config.get_list("capture.ignore"),
        DeletionLog::load(&data.app.paths)?,
    );
    let root = Path::new(&project.root);
    let git = data.environment.find_git(root).with_limit(GIT_TIMEOUT);
    let cancel = CancelToken::default();
    let gathered = gather_commits(&git, &cancel, project, &mut rules, limits, &|_| false);
    gathered.ok_or_else(|| {
        CliError::Usage(format!(
            "{}: not a git checkout, or git could not be asked; name one with --project",
            root.display()
        ))
    })
}

fn print_report(
    args: &ImportGitArgs,
    project: &Project,
    gathered: &CommitScan,
    done: Option<(&StoredCommits, &EmbeddingStats)>,
    out: &mut Output,
) -> Result<(), CliError> {
    if args.json {
        let marks = gathered.marks.iter();
        let redacted: BTreeMap<&str, usize> = marks.map(|mark| (mark.kind, mark.count)).collect();
        let mut report = json!({
            "dry_run": args.dry_run,
            "project": project.key,
            "telling": gathered.telling,
            "forgotten": gathered.forgotten.len(),
            "ignored": gathered.ignored,
            "redacted": redacted,
            "cut": gathered.is_cut,
        });
        match done {
            None => report["would_import"] = json!(gathered.items.len()),
            Some((stored, made)) => {
                report["added"] = json!(stored.added);
                report["updated"] = json!(stored.updated);
                report["unchanged"] = json!(stored.unchanged);
                report["reverted"] = json!(stored.reverted);
                report["embedded"] = json!(made.embedded);
                report["waiting"] = json!(made.waiting);
                made.add_trouble(&mut report);
            }
        }
        return out.print_json(&report);
    }
    let commits = |number: u64| format_count(number, "commit", "commits");
    let name = flatten_text(&project.name);
    let mut text = match done {
        None => format!(
            "would import {} of {name} that say more than their subject\n",
            commits(gathered.items.len() as u64)
        ),
        Some((stored, _)) => {
            let mut parts = vec![format!("imported {} of {name}", commits(stored.added))];
            let more = [
                (stored.updated, "updated"),
                (stored.unchanged, "there already"),
                (stored.reverted, "reverted by later ones"),
            ];
            let more = more.iter().filter(|(number, _)| *number > 0);
            parts.extend(more.map(|(number, word)| format!("{number} {word}")));
            format!("{}\n", parts.join("; "))
        }
    };
    let left_out = [
        (gathered.forgotten.len(), "forgotten before"),
        (gathered.ignored, "of files that are not captured"),
    ];
    for (number, why) in left_out.iter().filter(|(number, _)| *number > 0) {
        let _ = writeln!(text, "left out {} {why}", commits(*number as u64));
    }
    if !gathered.marks.is_empty() {
        let kinds = gathered.marks.iter();
        let kinds: Vec<String> = kinds
            .map(|mark| format!("{} {}", mark.count, mark.kind))
            .collect();
        let _ = writeln!(text, "redacted {}", kinds.join(", "));
    }
    if gathered.is_cut {
        text.push_str("git was cut short: older commits or files of some are left out\n");
    }
    out.print_text(&text)
}
