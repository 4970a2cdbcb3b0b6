//! What Remora itself put into a session is not captured again, whoever repeats
//! it: a hook's payload, a tool, a transcript or the agent.

use serde_json::{Value, json};

use crate::acceptance::World;

const SAID: &str = "We decided to keep prices in cents because zorvexquill rounds badly.";
const QUESTION: &str = "why are prices kept in cents?";

/// A project that knows the decision, and the text that a later session gets.
fn injected(world: &World) -> (std::path::PathBuf, String) {
    let alpha = world.project("alpha");
    world.session("one", &alpha, SAID, "Noted.");
    world.den.drain();
    let text = world.prompt("two", &alpha, QUESTION);
    assert!(text.contains("zorvexquill"), "{text}");
    world.den.drain();
    (alpha, text)
}

/// Lines of an export that hold the word.
fn holding(world: &World) -> Vec<Value> {
    let mut lines = world.export();
    lines.retain(|line| line.to_string().contains("zorvexquill"));
    lines
}

#[test]
fn no_event_brings_an_injection_back_into_memory() {
    let world = World::new();
    let (alpha, text) = injected(&world);
    let before = holding(&world);
    assert!(before.len() > 3, "{before:#?}");
    let with = |words: &str| format!("{words} quaxmire\n{text}\nflimzarn {words}");
    let events = [
        (
            "UserPromptSubmit",
            json!({ "prompt": with("Look at this:") }),
        ),
        (
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_input": { "command": "cat notes.txt" },
                "tool_response": { "stdout": with("notes"), "stderr": "" },
            }),
        ),
        (
            "PostToolUse",
            json!({
                "tool_name": "Write",
                "tool_input": { "file_path": alpha.join("n.md"), "content": with("# Notes") },
                "tool_response": { "type": "create", "filePath": alpha.join("n.md") },
            }),
        ),
        (
            "PostToolUseFailure",
            json!({
                "tool_name": "Bash", "tool_input": { "command": "make" },
                "error": with("Exit code 2\nmake failed"),
            }),
        ),
        (
            "SubagentStop",
            json!({ "agent_id": "x", "agent_type": "Explore", "last_assistant_message": with("Found:") }),
        ),
        (
            "PostCompact",
            json!({ "trigger": "manual", "compact_summary": with("We worked.") }),
        ),
        (
            "Stop",
            json!({ "last_assistant_message": with("I was told:") }),
        ),
        // Cut off before the wrapper closes.
        (
            "Stop",
            json!({ "last_assistant_message": format!("quaxmire {}", &text[..text.len() - 30]) }),
        ),
        // Another program's escapes.
        (
            "PostToolUse",
            json!({
                "tool_name": "Bash", "tool_input": { "command": "cat hook.json" },
                "tool_response": { "stdout": json!({ "additionalContext": text }).to_string(), "stderr": "" },
            }),
        ),
    ];
    let count = events.len();
    for (n, (name, mut rest)) in events.into_iter().enumerate() {
        rest["tool_use_id"] = json!(format!("t{n}"));
        world.tell("two", &alpha, name, rest);
    }
    // Whoever asks memory itself is told what is in it.
    for (n, (tool, input)) in [
        ("mcp__remora__search", json!({ "query": QUESTION })),
        ("mcp__plugin_remora_remora__get", json!({ "ids": [2] })),
        (
            "Bash",
            json!({ "command": "cd . && remora search cents | head" }),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let told = json!({ "stdout": format!("#2 decision {SAID}"), "stderr": "" });
        let rest = json!({ "tool_name": tool, "tool_input": input, "tool_response": told, "tool_use_id": format!("o{n}") });
        world.tell("two", &alpha, "PostToolUse", rest);
    }
    world.den.drain();
    assert_eq!(holding(&world), before);
    // Everything around it was taken.
    let mut around = world.export();
    around.retain(|line| line.get("raw").is_some() && line.to_string().contains("quaxmire"));
    assert_eq!(around.len(), count - 1, "{around:#?}");
}

#[test]
fn no_transcript_brings_an_injection_back_into_memory() {
    let world = World::new();
    let (alpha, text) = injected(&world);
    let before = holding(&world);
    let line = |n: u32, kind: &str, rest: Value| {
        let mut line = json!({
            "type": kind, "cwd": alpha, "gitBranch": "main", "sessionId": "elsewhere",
            "uuid": format!("00000000-0000-4000-8000-{n:012}"),
            "timestamp": format!("2026-11-10T09:00:{n:02}.000Z"),
        });
        line.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        line.to_string()
    };
    let reminder = format!(
        "<system-reminder>\nUserPromptSubmit hook additional context: {text}\n</system-reminder>"
    );
    let lines = [
        line(
            1,
            "user",
            json!({ "promptId": "p1", "message": { "role": "user", "content": "Please tidy up quaxmire." } }),
        ),
        line(
            2,
            "attachment",
            json!({ "attachment": { "type": "hook_additional_context", "content": [text], "hookName": "UserPromptSubmit", "hookEvent": "UserPromptSubmit" } }),
        ),
        line(
            3,
            "user",
            json!({ "isMeta": true, "message": { "role": "user", "content": reminder } }),
        ),
        line(
            4,
            "user",
            json!({ "promptId": "p1", "message": { "role": "user", "content": [{ "type": "text", "text": reminder }] } }),
        ),
        line(
            5,
            "assistant",
            json!({ "message": { "id": "a", "stop_reason": "tool_use", "content": [{ "type": "tool_use", "id": "t1", "name": "mcp__remora__search", "input": { "query": QUESTION } }] } }),
        ),
        line(
            6,
            "user",
            json!({ "toolUseResult": text, "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": text }] } }),
        ),
        line(
            7,
            "assistant",
            json!({ "message": { "id": "b", "stop_reason": "end_turn", "content": [{ "type": "text", "text": format!("Memory says:\n{text}\nSo I tidied up flimzarn.") }] } }),
        ),
    ];
    let told = world.import(&alpha, &(lines.join("\n") + "\n"));
    assert_eq!(told["prompts"], 1, "{told}");
    assert_eq!(holding(&world), before);
    for word in ["quaxmire", "flimzarn"] {
        assert_ne!(world.search(&alpha, &[word]).len(), 0, "{word}");
    }
}

#[test]
fn an_agent_that_repeats_a_claim_makes_no_claim() {
    let world = World::new();
    let (alpha, _) = injected(&world);
    let claims = || {
        let mut items = world.items();
        items.retain(|item| item["kind"] == "decision");
        let told = items.iter();
        told.map(|item| format!("{} {}", item["speaker"], item["title"]))
            .collect::<Vec<_>>()
    };
    let before = claims();
    assert_eq!(before, ["\"user\" \"We decided to keep prices in cents\""]);
    let said = "As recorded, we decided to keep prices in cents because zorvexquill rounds \
        badly.\n\nWe decided to keep prices in CENTS!\n\nWe decided to print prices in euros.";
    world.tell(
        "two",
        &alpha,
        "Stop",
        json!({ "last_assistant_message": said }),
    );
    world.den.drain();
    let new = "\"assistant\" \"We decided to print prices in euros\"".to_owned();
    assert_eq!(claims(), [before, vec![new]].concat());
    // The user may say it again.
    world.session("three", &alpha, SAID, "Noted.");
    world.den.drain();
    assert_eq!(claims().len(), 3);
}
