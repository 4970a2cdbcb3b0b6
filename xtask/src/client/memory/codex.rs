//! The memory through Codex CLI, alone and beside Claude Code: what one of them did, the other
//! knows.
//!
//! Codex runs no hook that its user has not reviewed, and says nothing of it in one-prompt mode.
//! Reviewing is the user's step; a flag makes the client leave it out here.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::MemoryCase;
use super::house::format_output;
use super::talk::TalkRequest;
use crate::client::process::finish_process;
use crate::client::responses::{STARTED_AGENT, ScriptedResponses};

/// What the user rules in passing, and why.
const RULE: &str = "keep the limit at 3, the upstream bans us above that";
const REASON: &str = "the upstream bans us";

/// What a subagent is sent, about what the user ruled.
const SUBTASK: &str = "Find out how often the fetcher retries and why the limit is 3.";

/// A session of Codex and what reached its model.
struct CodexTalk {
    /// Bodies of the requests, in order.
    requests: Vec<Value>,
}

impl CodexTalk {
    /// The result that the model got for a call, as JSON.
    fn answer_to(&self, call: &str) -> String {
        let last = self.requests.last();
        let input = last.and_then(|request| request["input"].as_array());
        let answers = input
            .into_iter()
            .flatten()
            .filter(|item| item["call_id"] == call && item["type"] == "function_call_output");
        answers.map(|item| item["output"].to_string()).collect()
    }

    /// Everything that hooks put before the model, in order.
    fn injected(&self) -> Vec<String> {
        let messages = self.requests.last().map(list_messages).unwrap_or_default();
        let notes = messages.into_iter().filter(is_injected);
        notes.map(|(_, text)| text.to_owned()).collect()
    }
}

/// The messages of a request, in order: who says what.
fn list_messages(request: &Value) -> Vec<(&str, &str)> {
    let input = request["input"].as_array().into_iter().flatten();
    let texts = input.flat_map(|item| {
        let role = item["role"].as_str().unwrap_or_default();
        let parts = item["content"].as_array().into_iter().flatten();
        parts.filter_map(move |part| Some((role, part["text"].as_str()?)))
    });
    texts.collect()
}

fn is_injected((role, text): &(&str, &str)) -> bool {
    *role == "developer" && text.contains("<remora-context>")
}

/// Plays one prompt in Codex.
fn run_codex(case: &mut MemoryCase, prompt: &str, turns: &[Value]) -> Result<CodexTalk> {
    run_codex_with(case, &[], prompt, turns)
}

/// The same with further settings of the client.
fn run_codex_with(
    case: &mut MemoryCase,
    settings: &[&str],
    prompt: &str,
    turns: &[Value],
) -> Result<CodexTalk> {
    case.sessions += 1;
    let model = ScriptedResponses::start(turns)?;
    let program = case.house.codex.clone().context("no Codex in this house")?;
    let mut command = case
        .house
        .build_command(&program, &case.house.path("project"));
    let provider = format!(
        "model_providers.scripted={{name=\"scripted\",base_url=\"{}\",env_key=\"SCRIPTED_KEY\",\
         wire_api=\"responses\",stream_max_retries=0,request_max_retries=0}}",
        model.base_url()
    );
    command.args(["exec", "--json", "--dangerously-bypass-hook-trust"]);
    for setting in [
        // An id that it knows, or it does not offer the tool that patches files.
        "model=\"gpt-5.5\"",
        "model_provider=\"scripted\"",
        provider.as_str(),
        "approval_policy=\"never\"",
        "sandbox_mode=\"danger-full-access\"",
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
    ]
    .iter()
    .chain(settings)
    {
        command.args(["-c", setting]);
    }
    command.env("SCRIPTED_KEY", "test-key-0000");
    // It looks for updates and plugins all the same: those requests end on this machine.
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:9");
    }
    command.env("NO_PROXY", "127.0.0.1,localhost");
    command.arg(prompt);
    let output = finish_process(command, None)?;
    ensure!(
        output.status.success(),
        "Codex ended with {}: {}",
        output.status,
        format_output(&output)
    );
    let requests = model.requests();
    let shown = json!({"prompt": prompt, "requests": requests, "output": format_output(&output)});
    case.house.save_note("codex", &shown)?;
    case.house.drain_spool()?;
    Ok(CodexTalk { requests })
}

fn install_codex(case: &MemoryCase) -> Result<()> {
    // Its own folder exists once it was started; an installation does not depend on that.
    case.house.write_file(
        "home/.codex/config.toml",
        "# mine\nmodel_reasoning_effort = \"low\"\n",
    )?;
    case.house.write_file(
        "home/.codex/hooks.json",
        "{\n  \"description\": \"mine\",\n  \"hooks\": {}\n}\n",
    )?;
    case.house
        .run_remora("project", &["install", "codex"])
        .map(drop)
}

fn shell_call(id: &str, command: &str) -> Value {
    json!({"tools": [{"id": id, "name": "exec_command", "input": {"cmd": command}}]})
}

fn patch_call(id: &str, patch: &str) -> Value {
    let patch = format!("*** Begin Patch\n{patch}\n*** End Patch");
    json!({"tools": [{"id": id, "name": "apply_patch", "patch": patch}]})
}

fn text_reply(text: &str) -> Value {
    json!({ "text": text })
}

/// A command, one that fails, a patch of several files and one that does not fit: each is found.
pub(super) fn every_call(case: &mut MemoryCase) -> Result<()> {
    install_codex(case)?;
    case.house
        .write_file("project/src/old.py", "def tide():\n    return 1\n")?;
    case.house
        .write_file("project/src/gone.py", "UNUSED = 1\n")?;
    let turns = [
        shell_call("call_list", "ls src"),
        shell_call("call_fails", "cat src/missing.py"),
        patch_call(
            "call_patch",
            "*** Add File: src/harbour.py\n+MOLES = ['north']\n*** Update File: src/old.py\n@@\n \
             def tide():\n-    return 1\n+    return 2\n*** Delete File: src/gone.py",
        ),
        patch_call(
            "call_misfit",
            "*** Update File: src/old.py\n@@\n-nothing like this\n+anything",
        ),
        text_reply("The harbour has its moles: `src/harbour.py` lists the north one."),
    ];
    run_codex(case, "List the moles of the harbour.", &turns)?;
    let exported = case.house.run_remora("project", &["export"])?;
    let items: Vec<Value> = exported
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|mut line| line.get_mut("item").map(Value::take))
        .collect();
    let rows = |call: &str| -> Vec<&Value> {
        let of_call = items.iter().filter(|item| item["tool_use_id"] == call);
        of_call.collect()
    };
    for call in ["call_list", "call_fails"] {
        case.check_that(rows(call).len() == 1, || {
            format!("{call}: {} items", rows(call).len())
        });
    }
    let failed = rows("call_fails");
    case.check_that(failed.iter().all(|row| row["kind"] == "failure"), || {
        format!("the command that failed: {failed:?}")
    });
    let touched: Vec<&str> = rows("call_patch")
        .iter()
        .filter_map(|row| row["files_modified"][0].as_str())
        .collect();
    case.check_equal(
        "files of the patch",
        &touched,
        &vec!["src/harbour.py", "src/old.py", "src/gone.py"],
    );
    let agents = items.iter().all(|item| item["agent"] != "claude-code");
    case.check_that(agents, || "an item names another agent".to_owned());
    let found = case
        .house
        .run_remora("project", &["search", "moles of the harbour"])?;
    case.check_that(found.contains("north"), || {
        format!("the agent's conclusion is not found: {found}")
    });
    Ok(())
}

/// What was ruled in Claude Code comes before it is broken in Codex.
pub(super) fn remembers_claude_code(case: &mut MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    install_codex(case)?;
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: &format!("Add retries to the fetcher. {RULE}"),
        turns: &[text_reply("Retries are in: the fetcher tries three times.")],
        ..TalkRequest::default()
    })?;
    case.house.drain_spool()?;
    let talk = run_codex(case, "raise the retry limit to 5", &[text_reply("Why?")])?;
    let injected = talk.injected();
    case.check_that(injected.iter().any(|text| text.contains(REASON)), || {
        format!("the rule was not injected into Codex: {injected:#?}")
    });
    Ok(())
}

/// The other way round.
pub(super) fn is_remembered(case: &mut MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    install_codex(case)?;
    let turns = [
        patch_call("call_retry", "*** Add File: src/retry.py\n+LIMIT = 3"),
        text_reply("Retries are in: `src/retry.py` tries three times."),
    ];
    let prompt = format!("Add retries to the fetcher. {RULE}");
    let first = run_codex(case, &prompt, &turns)?;
    case.check_that(first.injected().is_empty(), || {
        "something was injected into the first session".to_owned()
    });
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: "raise the retry limit to 5",
        turns: &[text_reply("Why?")],
        ..TalkRequest::default()
    })?;
    case.check_that(talk.start_text().contains(REASON), || {
        "the rule was not injected into Claude Code".to_owned()
    });
    Ok(())
}

/// A session in which the user rules something and a file is made.
fn rule_before(case: &mut MemoryCase) -> Result<()> {
    install_codex(case)?;
    let turns = [
        patch_call("call_retry", "*** Add File: src/retry.py\n+LIMIT = 3"),
        text_reply("Retries are in: `src/retry.py` tries three times."),
    ];
    let prompt = format!("Add retries to the fetcher. {RULE}");
    run_codex(case, &prompt, &turns).map(drop)
}

/// A session begins with what its project knows, before the user's first word.
pub(super) fn start_briefing(case: &mut MemoryCase) -> Result<()> {
    const PROMPT: &str = "hello";
    rule_before(case)?;
    let talk = run_codex(case, PROMPT, &[text_reply("hello")])?;
    let first = talk.requests.first().context("the model was not asked")?;
    let messages = list_messages(first);
    let briefing = messages.iter().position(is_injected);
    let prompt = messages
        .iter()
        .position(|message| *message == ("user", PROMPT));
    case.check_that(
        briefing.is_some_and(|at| messages[at].1.contains(REASON)),
        || format!("no briefing with the rule: {messages:#?}"),
    );
    case.check_that(briefing < prompt, || {
        format!("the briefing does not come before the prompt: {messages:#?}")
    });
    Ok(())
}

/// A subagent begins with what memory has for its own task.
pub(super) fn play_subagent(case: &mut MemoryCase) -> Result<()> {
    rule_before(case)?;
    let agents_tool = |id: &str, name: &str, input: Value| {
        json!({"tools": [{
            "id": id, "name": name, "namespace": "multi_agent_v1", "input": input,
        }]})
    };
    let turns = [
        agents_tool("call_spawn", "spawn_agent", json!({"message": SUBTASK})),
        json!({"task": SUBTASK, "text": "Three times: the upstream bans whoever asks more often."}),
        agents_tool(
            "call_wait",
            "wait_agent",
            json!({"targets": [STARTED_AGENT]}),
        ),
        text_reply("It was looked up."),
    ];
    let settings = ["features.multi_agent=true"];
    let talk = run_codex_with(case, &settings, "Get ready for the inspection.", &turns)?;
    let mut children = talk
        .requests
        .iter()
        .map(list_messages)
        .filter(|messages| messages.contains(&("user", SUBTASK)));
    let child = children.next().context("no subagent asked the model")?;
    let has_rule = |message: &&(&str, &str)| is_injected(message) && message.1.contains(REASON);
    case.check_equal(
        "texts with the rule before the subagent",
        &child.iter().filter(has_rule).count(),
        &1,
    );
    let found = case
        .house
        .run_remora("project", &["search", "upstream bans whoever asks"])?;
    case.check_that(found.contains("Three times"), || {
        format!("what the subagent found is not remembered: {found}")
    });
    Ok(())
}

/// The summary of a compaction, which no hook receives, is in memory without an import.
pub(super) fn play_compaction(case: &mut MemoryCase) -> Result<()> {
    const SUMMARY: &str = "The limpets on the north mole were counted: 412 of them.";
    install_codex(case)?;
    let turns = [
        json!({"tools": [{"id": "call_list", "name": "exec_command", "input": {"cmd": "ls src"}}],
            "used_tokens": 50_000}),
        json!({"is_summary": true, "text": SUMMARY}),
        text_reply("They are counted."),
    ];
    let settings = ["model_auto_compact_token_limit=2000"];
    run_codex_with(case, &settings, "Count the limpets.", &turns)?;
    let found = case.house.search_items("project", "limpets north mole")?;
    let summaries = found.iter().filter(|item| {
        let title = item["title"].as_str().unwrap_or_default();
        title.starts_with("Compacted") && title.contains("limpets")
    });
    case.check_that(summaries.count() == 1, || {
        format!("the summary is not remembered once: {found:#?}")
    });
    let args = ["import", "codex", "--no-vectors", "--json"];
    let imported = case.house.run_remora_json("project", &args)?;
    case.check_equal(
        "events that only an import finds",
        &imported["events"],
        &json!(0),
    );
    // An import wakes the worker, which must be there to be stopped.
    case.house.drain_spool()?;
    Ok(())
}

/// A file that the agent reads with a command brings what memory knows of it.
pub(super) fn read_brings_memory(case: &mut MemoryCase) -> Result<()> {
    const DEFECT: &str = "the limit counts the first try as well";
    install_codex(case)?;
    let turns = [
        patch_call("call_retry", "*** Add File: src/retry.py\n+LIMIT = 3"),
        text_reply("Done: in `src/retry.py` the limit counts the first try as well."),
    ];
    run_codex(case, "Add retries to the fetcher.", &turns)?;
    // What the briefing says in full is not said again.
    let args = ["config", "set", "recall.start_tokens", "0"];
    case.house.run_remora("project", &args)?;
    let turns = [
        shell_call("call_read", "sed -n '1,40p' src/retry.py"),
        shell_call("call_again", "cat src/retry.py"),
        text_reply("It says three."),
    ];
    let talk = run_codex(case, "hello", &turns)?;
    let injected = talk.injected();
    let of_file = injected
        .iter()
        .filter(|text| text.contains("memory of src/retry.py"));
    let of_file: Vec<&String> = of_file.collect();
    case.check_that(of_file.len() == 1 && of_file[0].contains(DEFECT), || {
        format!("the file did not bring its memory once: {injected:#?}")
    });
    Ok(())
}

/// A failure whose fix is known brings it, although Codex calls every command a success.
pub(super) fn known_failure(case: &mut MemoryCase) -> Result<()> {
    install_codex(case)?;
    case.house.write_file(
        "project/check.sh",
        "grep -q 1000 src/gauge.py && echo '1 passed in 0.01s' && exit 0\necho 'E   \
         AssertionError: assert [1.5] == [1500]'\necho 'FAILED tests/test_gauge.py::test_levels - \
         AssertionError: assert [1.5] == [1500]'\necho '1 failed in 0.02s'\nexit 1\n",
    )?;
    case.house
        .write_file("project/src/gauge.py", "SCALE = 1\n")?;
    let fix = "*** Update File: src/gauge.py\n@@\n-SCALE = 1\n+SCALE = 1000";
    let check = "sh check.sh # pytest";
    let turns = [
        shell_call("call_red", check),
        patch_call("call_fix", fix),
        shell_call("call_green", check),
        text_reply("The gauge counted metres; it counts millimetres now."),
    ];
    run_codex(case, "Make the check pass.", &turns)?;
    case.house
        .write_file("project/src/gauge.py", "SCALE = 1\n")?;
    let turns = [shell_call("call_again", check), text_reply("It fails.")];
    let talk = run_codex(case, "Is the check green?", &turns)?;
    let injected = talk.injected();
    case.check_that(
        injected
            .last()
            .is_some_and(|text| text.contains("src/gauge.py")),
        || format!("the fix did not come: {injected:#?}"),
    );
    Ok(())
}

/// The agent asks memory itself, through the MCP server.
pub(super) fn asks_memory(case: &mut MemoryCase) -> Result<()> {
    install_codex(case)?;
    let turns = [
        patch_call(
            "call_moles",
            "*** Add File: src/harbour.py\n+MOLES = ['north']",
        ),
        text_reply("The moles are a list: parsing a csv file took 40 ms a call."),
    ];
    run_codex(case, "List the moles of the harbour.", &turns)?;
    let ask = json!({"tools": [{
        "id": "call_ask", "name": "search", "namespace": "mcp__remora",
        "input": {"query": "moles of the harbour"},
    }]});
    let talk = run_codex(case, "hello", &[ask, text_reply("done")])?;
    let answer = talk.answer_to("call_ask");
    case.check_that(answer.contains("Created src/harbour.py"), || {
        format!("the server answered: {answer}")
    });
    let rows = case.house.run_remora("project", &["export"])?;
    case.check_that(!rows.contains("\"tool_use_id\":\"call_ask\""), || {
        "a question to memory is remembered".to_owned()
    });
    Ok(())
}

/// Uninstalling leaves the user's files as they were, byte for byte.
pub(super) fn play_uninstall(case: &mut MemoryCase) -> Result<()> {
    let files = ["home/.codex/config.toml", "home/.codex/hooks.json"];
    let read = |case: &MemoryCase| -> Result<Vec<String>> {
        let texts = files
            .iter()
            .map(|name| fs::read_to_string(case.house.path(name)));
        texts.collect::<Result<_, _>>().context("a file is gone")
    };
    install_codex(case)?;
    let installed = read(case)?;
    case.check_that(installed[0].contains("[mcp_servers.remora]"), || {
        format!("no server in {}", installed[0])
    });
    case.check_that(installed[1].contains("remora"), || {
        format!("no hooks in {}", installed[1])
    });
    case.house.run_remora("project", &["install", "codex"])?;
    let again = read(case)?;
    case.check_that(again == installed, || {
        format!("installing twice changes the files: {again:?}")
    });
    case.house.run_remora("project", &["uninstall", "codex"])?;
    let left = read(case)?;
    let mine = vec![
        "# mine\nmodel_reasoning_effort = \"low\"\n".to_owned(),
        "{\n  \"description\": \"mine\",\n  \"hooks\": {}\n}\n".to_owned(),
    ];
    case.check_equal("the user's files", &left, &mine);
    let talk = run_codex(case, "hello", &[text_reply("hello")])?;
    case.check_that(talk.injected().is_empty(), || {
        "hooks still run after uninstalling".to_owned()
    });
    Ok(())
}
