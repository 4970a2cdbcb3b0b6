//! The plugin beside the installed hooks: both are called at every event, and one answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::super::Case;
use super::super::talk::{Ask, Talk};
use super::told::{Told, all_told, told};
use super::{
    CHOICE, FOGHORN, MOLES, bash, failure, nothing_twice, read, row_of, text, two_sessions_before,
};

/// A tool of the plugin's server.
const SEARCH: &str = "mcp__plugin_remora_remora__search";

pub(in super::super) fn beside_settings(case: &mut Case) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let plugin = root.context("no root")?.join("plugins/claude-code");
    ensure!(
        plugin.is_dir(),
        "there is no plugin at {}",
        plugin.display()
    );
    two_sessions_before(case)?;
    case.house
        .write("project/check.sh", "cat failure.txt\nexit 1\n")?;
    let elsewhere = failure("/build/78/tests/test_gauge.py", 20);
    case.house.write("project/failure.txt", &elsewhere)?;
    let plugin = plugin.display().to_string();
    let decision = row_of(case, CHOICE, "decision")?;
    let load = json!({"query": format!("select:{SEARCH}"), "max_results": 1});
    let find = json!({"query": "millimetres"});
    // Both at once; then the plugin alone.
    for tag in ["both", "alone"] {
        if tag == "alone" {
            case.house
                .remora("project", &["uninstall", "claude-code"])?;
            let settings = case.house.user_settings();
            ensure!(!settings.exists(), "the hooks are still installed");
        }
        let failing = format!("toolu_{tag}_failing");
        let reading = format!("toolu_{tag}_read");
        let loading = format!("toolu_{tag}_load");
        let finding = format!("toolu_{tag}_find");
        let talk = case.talk(&Ask {
            project: "project",
            prompt: MOLES.question,
            then: &["/clear", "ok"],
            turns: &[
                bash(&failing, "sh check.sh"),
                read(case, &reading, FOGHORN.file),
                json!({"tools": [{"id": loading, "name": "ToolSearch", "input": load}]}),
                json!({"tools": [{"id": finding, "name": SEARCH, "input": find}]}),
                text("Done."),
                text("Fresh."),
            ],
            args: &["--plugin-dir", &plugin],
            // Where the plugin finds the program.
            env: &[("PATH", case.house.search_with_bin().into())],
        })?;
        let (_, found) = talk.calls().remove(&finding).unwrap_or_default();
        case.check(found.contains(&decision), || {
            format!("{tag}: the plugin's server does not find {decision}: {found}")
        });
        let runs = if tag == "both" { 2 } else { 1 };
        case.equal(
            &format!("hooks at a prompt, {tag}"),
            &asked(&talk),
            &(2 * runs),
        );
        // The last request is the one after clearing.
        let before = talk.requests.iter().rev().nth(1);
        let texts = before.map(told).unwrap_or_default();
        let events: Vec<&str> = texts.iter().map(Told::event).collect();
        let wanted = [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUseFailure",
            "PreToolUse",
        ];
        case.equal(&format!("texts, {tag}"), &events, &wanted.to_vec());
        nothing_twice(case, tag, &texts);
        let after = all_told(&talk);
        case.equal(&format!("texts after clearing, {tag}"), &after.len(), &1);
        noted_after_clearing(case, &talk, tag)?;
        case.house.drain()?;
        let mut prompts = case.house.search("project", MOLES.question)?;
        prompts.retain(|row| row["kind"] == "prompt" && row["title"] == MOLES.question);
        let seen: BTreeSet<String> = prompts
            .iter()
            .map(|row| row["session"].to_string())
            .collect();
        case.equal(
            &format!("prompts stored, {tag}"),
            &prompts.len(),
            &seen.len(),
        );
    }
    Ok(())
}

/// How often hooks were told of a prompt.
fn asked(talk: &Talk) -> usize {
    let answers = talk.stream.iter().filter(|line| {
        line["subtype"] == "hook_response" && line["hook_event"] == "UserPromptSubmit"
    });
    answers.count()
}

/// What was given after clearing is noted as known, not as forgotten by the slower of the two.
fn noted_after_clearing(case: &mut Case, talk: &Talk, tag: &str) -> Result<()> {
    let name = format!("run/sessions/{}.given", talk.session()?);
    let text = fs::read_to_string(case.house.data().join(&name)).context(name)?;
    let known = text
        .lines()
        .rev()
        .take_while(|line| !line.starts_with("-\t"))
        .filter(|line| line.starts_with('#'));
    let known = known.count();
    case.check(known > 0, || {
        format!("{tag}: what was given after clearing counts as forgotten: {text}")
    });
    Ok(())
}
