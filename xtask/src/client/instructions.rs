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

use super::api::Model;
use super::process::{finish, kill_all, leftovers};
use super::{Stage, Task, Verdict};
use jail::Jail;
use shown::Entry;
pub(super) use tree::Tree;

/// The trees that the stage plays, or the one file that was asked for.
pub(super) fn load(root: &Path, file: Option<&Path>) -> Result<Vec<Tree>> {
    match file {
        Some(file) => tree::load_file(file),
        None => tree::load(&root.join("fixtures").join("instructions").join("client")),
    }
}

/// Plays one tree.
pub(super) fn play(stage: &Stage, tree: &Tree, verdict: &mut Verdict) -> Result<()> {
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
        Some(_) => Some(ours(&jail, tree)?), // first, because the client writes into the home
        None => None,
    };
    let client = client(&jail, tree)?;
    verdict.trees = 1;
    verdict.files = client.len();
    if stage.options.task == Task::Record {
        static FILES: Mutex<()> = Mutex::new(());
        let _one_at_a_time = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        return tree.record(&client);
    }
    if let Some(truth) = &tree.truth {
        let found = compare::recorded(tree, truth, &client);
        verdict.problems.extend(found);
    }
    if let Some(ours) = ours {
        verdict
            .problems
            .extend(compare::entries(tree, &client, &ours));
    }
    Ok(())
}

/// What the client shows its model.
fn client(jail: &Jail, tree: &Tree) -> Result<Vec<Entry>> {
    let reads = tree.reads.iter().enumerate().map(|(index, file)| {
        let call = json!({"id": format!("toolu_read{index}"), "name": "Read",
            "input": {"file_path": file}});
        json!({"tools": [call]})
    });
    let model = Model::start(&reads.collect::<Vec<_>>())?;
    let mut command = jail.command(&tree.cwd, "/client");
    model.point(&mut command);
    command.envs(&tree.env);
    command.args(["-p", "hello", "--output-format", "stream-json", "--verbose"]);
    command.args(["--permission-mode", "bypassPermissions"]);
    command.args(&tree.args);
    let output = finish(command, None)?;
    kill_all(&leftovers(jail.root()));
    let requests = model.requests();
    jail.note("client.requests.json", &Value::from(requests.clone()))?;
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
    Ok(shown::entries(&last["messages"]))
}

/// What we say it would show.
fn ours(jail: &Jail, tree: &Tree) -> Result<Vec<Entry>> {
    let mut command = jail.command(&tree.cwd, "/remora");
    command.envs(&tree.env);
    command.args(["instructions", "show", "--format", "json"]);
    for read in &tree.reads {
        command.args(["--read", read]);
    }
    command.args(&tree.args);
    let output = finish(command, None)?;
    let report: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("remora ended with {} and no JSON: {errors}", output.status)
    })?;
    jail.note("remora.report.json", &report)?;
    shown::report(&report)
}
