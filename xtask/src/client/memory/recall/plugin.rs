//! The plugin beside the installed hooks: both are called at every event, and one answers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::super::MemoryCase;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{InjectedText, collect_injected, list_injected};
use super::{
    CHOICE_WORDS, FOGHORN_CONCLUSION, MOLES_CONCLUSION, bash_call, check_nothing_twice,
    find_item_ref, format_failure, read_call, text_reply, two_sessions_before,
};

/// A tool of the plugin's server.
const SEARCH_TOOL: &str = "mcp__plugin_remora_remora__search";

pub(in super::super) fn beside_settings(case: &mut MemoryCase) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let plugin = root.context("no root")?.join("plugins/claude-code");
    ensure!(
        plugin.is_dir(),
        "there is no plugin at {}",
        plugin.display()
    );
    two_sessions_before(case)?;
    case.house
        .write_file("project/check.sh", "cat failure.txt\nexit 1\n")?;
    let elsewhere = format_failure("/build/78/tests/test_gauge.py", 20);
    case.house.write_file("project/failure.txt", &elsewhere)?;
    let plugin = plugin.display().to_string();
    let decision = find_item_ref(case, CHOICE_WORDS, "decision")?;
    let load = json!({"query": format!("select:{SEARCH_TOOL}"), "max_results": 1});
    let find = json!({"query": "millimetres"});
    // Both at once; then the plugin alone.
    for tag in ["both", "alone"] {
        if tag == "alone" {
            case.house
                .run_remora("project", &["uninstall", "claude-code"])?;
            let settings = case.house.user_settings();
            ensure!(!settings.exists(), "the hooks are still installed");
        }
        let failing = format!("toolu_{tag}_failing");
        let reading = format!("toolu_{tag}_read");
        let loading = format!("toolu_{tag}_load");
        let finding = format!("toolu_{tag}_find");
        let talk = case.run_talk(&TalkRequest {
            project: "project",
            prompt: MOLES_CONCLUSION.question,
            then: &["/clear", "ok"],
            turns: &[
                bash_call(&failing, "sh check.sh"),
                read_call(case, &reading, FOGHORN_CONCLUSION.file),
                json!({"tools": [{"id": loading, "name": "ToolSearch", "input": load}]}),
                json!({"tools": [{"id": finding, "name": SEARCH_TOOL, "input": find}]}),
                text_reply("Done."),
                text_reply("Fresh."),
            ],
            args: &["--plugin-dir", &plugin],
            // Where the plugin finds the program.
            env: &[("PATH", case.house.search_with_bin().into())],
        })?;
        let (_, found) = talk.call_results().remove(&finding).unwrap_or_default();
        case.check_that(found.contains(&decision), || {
            format!("{tag}: the plugin's server does not find {decision}: {found}")
        });
        let runs = if tag == "both" { 2 } else { 1 };
        case.check_equal(
            &format!("hooks at a prompt, {tag}"),
            &count_prompts(&talk),
            &(2 * runs),
        );
        // The last request is the one after clearing.
        let before = talk.requests.iter().rev().nth(1);
        let texts = before.map(collect_injected).unwrap_or_default();
        let events: Vec<&str> = texts.iter().map(InjectedText::event_name).collect();
        let wanted = [
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUseFailure",
            "PreToolUse",
        ];
        case.check_equal(&format!("texts, {tag}"), &events, &wanted.to_vec());
        check_nothing_twice(case, tag, &texts);
        let after = list_injected(&talk);
        case.check_equal(&format!("texts after clearing, {tag}"), &after.len(), &1);
        noted_after_clearing(case, &talk, tag)?;
        case.house.drain_spool()?;
        let mut prompts = case
            .house
            .search_items("project", MOLES_CONCLUSION.question)?;
        prompts
            .retain(|item| item["kind"] == "prompt" && item["title"] == MOLES_CONCLUSION.question);
        let seen: BTreeSet<String> = prompts
            .iter()
            .map(|item| item["session"].to_string())
            .collect();
        case.check_equal(
            &format!("prompts stored, {tag}"),
            &prompts.len(),
            &seen.len(),
        );
    }
    Ok(())
}

/// How often hooks heard of a prompt.
fn count_prompts(talk: &TalkResult) -> usize {
    let answers = talk.stream.iter().filter(|line| {
        line["subtype"] == "hook_response" && line["hook_event"] == "UserPromptSubmit"
    });
    answers.count()
}

/// What was injected after clearing is logged as seen, not reset by the slower of the two.
fn noted_after_clearing(case: &mut MemoryCase, talk: &TalkResult, tag: &str) -> Result<()> {
    let name = format!("run/sessions/{}.given", talk.session_id()?);
    let text = fs::read_to_string(case.house.data_dir().join(&name)).context(name)?;
    let known = text
        .lines()
        .rev()
        .take_while(|line| !line.starts_with("-\t"))
        .filter(|line| line.starts_with('#'));
    let known = known.count();
    case.check_that(known > 0, || {
        format!("{tag}: what was injected after clearing counts as unseen: {text}")
    });
    Ok(())
}
