//! Instruction files through the real client and through `remora instructions show`.
//!
//! A case is a tree of files (`fixtures/instructions/`), played in a jail where its paths are
//! the real ones. What the client sends to the model is the truth: which files, in which order,
//! under which label, with which text. Nothing here knows a rule of loading.

mod compare;
mod jail;
mod shown;
mod tree;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::api::ScriptedModel;
use super::process::{find_leftovers, finish_process, kill_all};
use super::{CaseVerdict, ClientTask, Stage};
use jail::Jail;
use shown::PromptEntry;
pub(super) use tree::InstructionTree;

/// The trees that the stage plays, or the one file that was asked for.
pub(super) fn load_trees(root: &Path, file: Option<&Path>) -> Result<Vec<InstructionTree>> {
    match file {
        Some(file) => tree::load_file(file),
        None => tree::load_trees(&root.join("fixtures").join("instructions").join("client")),
    }
}

/// Plays one tree.
pub(super) fn play_tree(
    stage: &Stage,
    tree: &InstructionTree,
    verdict: &mut CaseVerdict,
) -> Result<()> {
    if !cfg!(target_os = "linux") {
        let why = "trees need the namespaces of Linux, so that their paths are the real ones";
        verdict.skipped.push(why.to_owned());
        return Ok(());
    }
    let jail = Jail::build(stage, tree)?;
    if stage.options.keep {
        println!("     {} is in {}", tree.name, jail.root().display());
    }
    let ours = match &stage.engine {
        Some(_) => Some(run_ours(&jail, tree)?), // first, because the client writes into the home
        None => None,
    };
    let client = run_client(&jail, tree)?;
    verdict.trees = 1;
    verdict.files = client.len();
    if stage.options.task == ClientTask::Record {
        static FILES: Mutex<()> = Mutex::new(());
        let _one_at_a_time = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        return tree.record_entries(&client);
    }
    if let Some(recorded) = &tree.recorded {
        let found = compare::compare_recorded(tree, recorded, &client);
        verdict.problems.extend(found);
    }
    if let Some(ours) = ours {
        verdict
            .problems
            .extend(compare::compare_entries(tree, &client, &ours));
    }
    Ok(())
}

/// What the client shows its model.
fn run_client(jail: &Jail, tree: &InstructionTree) -> Result<Vec<PromptEntry>> {
    let reads = tree.reads.iter().enumerate().map(|(index, file)| {
        let call = json!({"id": format!("toolu_read{index}"), "name": "Read",
            "input": {"file_path": file}});
        json!({"tools": [call]})
    });
    let model = ScriptedModel::start(&reads.collect::<Vec<_>>())?;
    let mut command = jail.build_command(&tree.cwd, "/client");
    model.point_client(&mut command);
    command.envs(&tree.env);
    command.args(["-p", "hello", "--output-format", "stream-json", "--verbose"]);
    command.args(["--permission-mode", "bypassPermissions"]);
    command.args(&tree.args);
    let output = finish_process(command, None)?;
    kill_all(&find_leftovers(jail.root()));
    let requests = model.main_requests();
    jail.save_note("client.requests.json", &Value::from(requests.clone()))?;
    ensure!(
        requests.len() == tree.reads.len() + 1,
        "the client ended with {} after {} of {} requests: {}{}",
        output.status,
        requests.len(),
        tree.reads.len() + 1,
        String::from_utf8_lossy(&output.stdout).trim(),
        String::from_utf8_lossy(&output.stderr).trim(),
    );
    let last = requests.last().context("no request")?;
    Ok(shown::collect_entries(&last["messages"]))
}

/// What we say it would show.
fn run_ours(jail: &Jail, tree: &InstructionTree) -> Result<Vec<PromptEntry>> {
    let mut command = jail.build_command(&tree.cwd, "/remora");
    command.envs(&tree.env);
    command.args(["instructions", "show", "--format", "json"]);
    for read in &tree.reads {
        command.args(["--read", read]);
    }
    command.args(&tree.args);
    let output = finish_process(command, None)?;
    let report: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("remora ended with {} and no JSON: {errors}", output.status)
    })?;
    jail.save_note("remora.report.json", &report)?;
    shown::parse_report(&report)
}
