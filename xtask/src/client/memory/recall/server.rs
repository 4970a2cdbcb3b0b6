//! The model asks memory itself, through the MCP server that `install` writes down: in the
//! project's file, or for the user by way of the client.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::super::MemoryCase;
use super::super::house::format_output;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::list_injected;
use super::{CHOICE_WORDS, REASON_WORDS, find_item_ref, play_first_session, text_reply};
use crate::client::process::finish_process;

/// The client asks the user about servers of a project; here they said yes.
const TRUSTING_SETTINGS: &str = "{\"enableAllProjectMcpServers\": true}\n";
const FACT_TEXT: &str = "The tide datum is the chart datum of the north mole.";

fn mcp_call(id: &str, tool: &str, input: &Value) -> Value {
    let name = format!("mcp__remora__{tool}");
    json!({"tools": [{"id": id, "name": name, "input": input}]})
}

pub(in super::super) fn play_tools(case: &mut MemoryCase) -> Result<()> {
    case.house
        .write_file("home/.claude/settings.json", TRUSTING_SETTINGS)?;
    let install = ["install", "claude-code", "--project"];
    case.house.run_remora("project", &install)?;
    let file = case.house.path("project/.mcp.json");
    let written = fs::read_to_string(&file).context("no .mcp.json was written")?;
    case.check_that(written.contains("remora"), || {
        format!(".mcp.json does not name the server: {written}")
    });
    play_first_session(case)?;
    let decision = find_item_ref(case, CHOICE_WORDS, "decision")?;
    let talk = run_session(case, &decision)?;

    check_answered(case, &talk, &decision);
    case.house.drain_spool()?;

    let third = super::run_and_list_injected(case, "project", "ok")?;
    let saved = third
        .iter()
        .filter(|injected| injected.text.contains(FACT_TEXT))
        .count();
    case.check_that(saved == 1, || {
        format!("what was saved is not injected at the next start: {third:?}")
    });
    // Looking something up is nothing to remember.
    let lookups = [
        "remora search",
        "remora get",
        "remora timeline",
        "remora remember",
    ];
    for injected in &third {
        let items = injected.text.lines().filter(|line| line.starts_with('#'));
        let own = items.filter(|item| lookups.iter().any(|words| item.contains(words)));
        let own: Vec<&str> = own.collect();
        case.check_that(own.is_empty(), || {
            format!("memory remembers its own use: {own:?}")
        });
    }

    case.house
        .run_remora("project", &["uninstall", "claude-code", "--project"])?;
    case.check_that(!file.exists(), || {
        "`.mcp.json` was made by us and stays".to_owned()
    });
    let left = fs::read_to_string(case.house.user_settings())?;
    case.check_equal("the user's settings", &left.as_str(), &TRUSTING_SETTINGS);
    Ok(())
}

/// For the user: the client itself is asked to register the server.
pub(in super::super) fn for_the_user(case: &mut MemoryCase) -> Result<()> {
    symlink(&case.house.client, case.house.path("bin/claude"))?;
    run_beside_client(case, &["install", "claude-code"])?;
    let book = case.house.path("home/.claude.json");
    let known = |book: &Path| -> Result<bool> {
        let state: Value = serde_json::from_str(&fs::read_to_string(book)?)?;
        Ok(state["mcpServers"]["remora"].is_object())
    };
    case.check_that(known(&book)?, || {
        "the client did not write the server down".to_owned()
    });
    play_first_session(case)?;
    let decision = find_item_ref(case, CHOICE_WORDS, "decision")?;
    let talk = run_session(case, &decision)?;
    check_answered(case, &talk, &decision);
    run_beside_client(case, &["uninstall", "claude-code"])?;
    case.check_that(!known(&book)?, || {
        "the client still knows the server".to_owned()
    });
    Ok(())
}

/// Runs the program where it finds the client on the `PATH`.
fn run_beside_client(case: &MemoryCase, args: &[&str]) -> Result<()> {
    let folder = case.house.path("project");
    let mut command = case.house.build_command(&case.house.remora_path(), &folder);
    command.env("PATH", case.house.search_with_bin()).args(args);
    let output = finish_process(command, None)?;
    ensure!(
        output.status.success(),
        "{args:?}: {}",
        format_output(&output)
    );
    Ok(())
}

/// The start names the tool, and each call got its answer.
fn check_answered(case: &mut MemoryCase, talk: &TalkResult, decision: &str) {
    let start = list_injected(talk);
    case.check_that(
        start
            .iter()
            .any(|injected| injected.text.contains("mcp__remora__get")),
        || format!("the start does not name the tool that gives details: {start:?}"),
    );
    let calls = talk.call_results();
    for (id, words) in [
        ("toolu_find", decision),
        ("toolu_get", REASON_WORDS),
        ("toolu_around", CHOICE_WORDS),
        ("toolu_save", "memory://project/tide-datum"),
    ] {
        let (failed, result) = calls.get(id).cloned().unwrap_or_default();
        case.check_that(!failed && result.contains(words), || {
            format!("{id}: `{words}` is not in its result: {result}")
        });
        let reached = talk
            .requests
            .iter()
            .any(|body| result_of(body, id).contains(words));
        case.check_that(reached, || {
            format!("the result of {id} did not reach the model")
        });
    }
    let (failed, result) = calls.get("toolu_wrong").cloned().unwrap_or_default();
    case.check_that(failed && result.contains("ids"), || {
        format!("the result of a wrong call does not say what is wrong: {result}")
    });
}

fn run_session(case: &mut MemoryCase, decision: &str) -> Result<TalkResult> {
    let select = "select:mcp__remora__search,mcp__remora__get,mcp__remora__timeline,\
                  mcp__remora__remember";
    let load = json!({"query": select, "max_results": 4});
    let fact = json!({"text": FACT_TEXT, "name": "tide-datum", "priority": 1});
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: "ok",
        turns: &[
            json!({"tools": [{"id": "toolu_load", "name": "ToolSearch", "input": load}]}),
            mcp_call("toolu_find", "search", &json!({"query": "millimetres"})),
            mcp_call("toolu_get", "get", &json!({"ids": [decision]})),
            mcp_call("toolu_around", "timeline", &json!({"around": decision})),
            mcp_call("toolu_wrong", "get", &json!({"ids": []})),
            mcp_call("toolu_save", "remember", &fact),
            text_reply("Saved."),
        ],
        ..TalkRequest::default()
    })
}

/// What the model got for a call.
fn result_of(body: &Value, id: &str) -> String {
    let messages = body["messages"].as_array().into_iter().flatten();
    let mut blocks = messages
        .filter_map(|message| message["content"].as_array())
        .flatten();
    let block = blocks.find(|block| block["tool_use_id"] == id);
    block.map_or_else(String::new, |block| block["content"].to_string())
}
