use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use remora_core::tool_call::{
    CallTarget, FileChange, FileEdit, OutputDetail, RuleText, SubagentOutput, ToolCall,
    ToolFailure, ToolOutcome, ToolOutput, ToolUse,
};
use serde_json::json;

use super::super::parse::parse_payload;
use super::*;

fn recorded() -> BTreeMap<String, Event> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/codex");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    files
        .map(|file| {
            let name = file
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let bytes = fs::read(file.path()).unwrap();
            (name, parse_payload(&bytes).unwrap().event)
        })
        .collect()
}

fn decode(event: &Event) -> AgentEvent {
    decode_event(event, AgentId::from("codex"), Timestamp(7))
}

fn parse(fields: &Value) -> Event {
    parse_payload(fields.to_string().as_bytes()).unwrap().event
}

fn finished(event: &Event) -> (ToolUse, ToolOutcome) {
    match decode(event).kind {
        EventKind::ToolFinished(tool_use, outcome) => (tool_use, outcome),
        other => panic!("{other:?}"),
    }
}

/// An event in one line: who, how it is labelled, what happened.
fn describe(event: &AgentEvent) -> String {
    let who = match &event.subagent {
        Some(agent) => format!("{} ", agent.kind.as_deref().unwrap_or("?")),
        None => String::new(),
    };
    let label = match &event.label {
        EventLabel::Line(line) => line.clone(),
        EventLabel::Parts(parts) => format!("{} parts", parts.len()),
    };
    let call = |tool_use: &ToolUse| {
        let call = match &tool_use.call {
            ToolCall::Shell(shell) => format!("shell `{}`", shell.command),
            ToolCall::EditFiles(edits) => format!("edits {}", edits[0].path),
            ToolCall::Subagent(agent) => format!("agent `{}`", agent.task.as_deref().unwrap()),
            ToolCall::Mcp {
                server,
                tool,
                input,
            } => format!("{server}/{tool} {input}"),
            other => panic!("{other:?}"),
        };
        format!("{} {call}", tool_use.name)
    };
    let what = match &event.kind {
        EventKind::SessionStarted(source) => format!("{source:?}"),
        EventKind::SessionEnded { reason } => format!("ended {reason}"),
        EventKind::PromptSubmitted(prompt) => format!("{:?} `{}`", prompt.origin, prompt.text),
        EventKind::ToolAnnounced(tool_use) => format!("announced {}", call(tool_use)),
        EventKind::ToolFinished(tool_use, ToolOutcome::Done(output)) => {
            format!("{} -> `{}`", call(tool_use), output.text.replace('\n', "|"))
        }
        EventKind::TurnEnded {
            last_message,
            continued,
        } => format!("turn ended `{last_message}` {continued}"),
        EventKind::SubagentEnded { last_message } => format!("agent ended `{last_message}`"),
        other => format!("{other:?}"),
    };
    format!("{who}[{label}] {what}")
}

#[test]
fn every_recorded_event_is_decoded() {
    let found: Vec<String> = recorded()
        .iter()
        .map(|(name, event)| format!("{name}: {}", describe(&decode(event))))
        .collect();
    assert_eq!(
        found,
        [
            "PermissionRequest-Bash: [1 parts] announced Bash shell `touch /home/agent/outside.txt`",
            r#"PostCompact-auto: [auto] CompactionFinished { summary: "" }"#,
            r#"PostCompact-manual: [manual] CompactionFinished { summary: "" }"#,
            "PostToolUse-Bash: [1 parts] Bash shell `echo hi` -> `hi|`",
            "PostToolUse-Bash-failing: [1 parts] Bash shell `ls /nonexistent; exit 3` -> `ls: cannot access '/nonexistent': No such file or directory|`",
            "PostToolUse-apply_patch: [1 parts] apply_patch edits /home/agent/app/src/new.py -> `Success. Updated the following files:|A src/new.py|`",
            r#"PostToolUse-mcp__lab__echo: [1 parts] mcp__lab__echo lab/echo {"text":"y"} -> `echo:y`"#,
            "PostToolUse-spawn_agent: [1 parts] spawn_agent agent `SUBTASK please` -> ``",
            r#"PreCompact-auto: [auto] CompactionStarting { trigger: "auto" }"#,
            r#"PreCompact-manual: [manual] CompactionStarting { trigger: "manual" }"#,
            "PreToolUse-Bash: [1 parts] announced Bash shell `echo hi`",
            "PreToolUse-Bash-failing: [1 parts] announced Bash shell `ls /nonexistent; exit 3`",
            "PreToolUse-apply_patch: [1 parts] announced apply_patch edits /home/agent/app/src/new.py",
            "PreToolUse-apply_patch-failing: [1 parts] announced apply_patch edits /home/agent/app/src/none.py",
            r#"PreToolUse-mcp__lab__echo: [1 parts] announced mcp__lab__echo lab/echo {"text":"y"}"#,
            "PreToolUse-mcp__lab__fail: [1 parts] announced mcp__lab__fail lab/fail {}",
            "PreToolUse-spawn_agent: [1 parts] announced spawn_agent agent `SUBTASK please`",
            "SessionEnd-other: [other] ended other",
            "SessionStart-clear: [clear] Cleared",
            "SessionStart-compact: [compact] Compacted",
            "SessionStart-resume: [resume] Resumed",
            "SessionStart-startup: [startup] Startup",
            "Stop: [] turn ended `done` false",
            "SubagentStart-default: default [default] SubagentStarted",
            "SubagentStop-default: default [default] agent ended `done`",
            "UserPromptSubmit: [] User `hello`",
            "UserPromptSubmit-default-in_subagent: default [default] SubagentTask `SUBTASK please`",
        ]
    );
}

#[test]
fn the_header_takes_the_turn_and_every_file_of_a_patch() {
    let patched = &recorded()["PostToolUse-apply_patch"];
    assert_eq!(
        read_header(patched),
        EventHeader {
            name: EventName::PostToolUse,
            session: Some("01a1e0e9-947e-79c3-9b43-a20d58f9d2d7"),
            cwd: "/home/agent/app",
            turn: Some("01a1e0e9-94ab-7841-bb59-57a0e36b2545"),
            call: Some("call_8c79e7ceb60a"),
            subagent: None,
            paths: vec!["src/new.py"],
        }
    );
    let inside = &recorded()["UserPromptSubmit-default-in_subagent"];
    assert_eq!(
        read_header(inside).subagent,
        Some("01a1e0f0-8979-7d72-a36b-fd9bcbcca940")
    );
    // A patch that was cut, and one within a command, hide no file.
    for (tool_name, command) in [
        (
            "apply_patch",
            "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: .env\n",
        ),
        (
            "Bash",
            "apply_patch <<E\n*** Begin Patch\n*** Add File: a\n*** Update File: .env\nE",
        ),
    ] {
        let event = parse(&json!({
            "hook_event_name": "PostToolUse",
            "tool_name": tool_name,
            "tool_input": { "command": command },
        }));
        assert_eq!(read_header(&event).paths, ["a", ".env"]);
    }
}

#[test]
fn a_patch_is_an_edit_with_a_rule_and_a_target() {
    let (tool_use, outcome) = finished(&recorded()["PostToolUse-apply_patch"]);
    let mut edit = FileEdit::new("/home/agent/app/src/new.py", FileChange::Created);
    edit.new = Some("x = 1\n".into());
    edit.is_whole_file = true;
    assert_eq!(
        tool_use,
        ToolUse {
            id: Some("call_8c79e7ceb60a".into()),
            name: "apply_patch".into(),
            rule: Some(RuleText::Path("/home/agent/app/src/new.py".into())),
            target: CallTarget::File("/home/agent/app/src/new.py".into()),
            call: ToolCall::EditFiles(vec![edit]),
        }
    );
    assert_eq!(
        outcome,
        ToolOutcome::Done(ToolOutput {
            has_answer: true,
            text: "Success. Updated the following files:\nA src/new.py\n".into(),
            detail: OutputDetail::None,
        })
    );
}

#[test]
fn a_patch_that_is_not_whole_is_a_tool_like_any_other() {
    let input = json!({ "command": "*** Begin Patch\n*** Update File: a.py\n@@\n-x" });
    let (tool_use, _) = finished(&parse(&json!({
        "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": input,
    })));
    assert_eq!(tool_use.call, ToolCall::Other { input });
    assert_eq!(tool_use.target, CallTarget::File("a.py".into()));
}

#[test]
fn a_failed_patch_says_whether_it_only_did_not_fit() {
    let failed = |fields: Value| {
        let mut all = json!({ "hook_event_name": "PostToolUse", "tool_name": "apply_patch" });
        all.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        match finished(&parse(&all)).1 {
            ToolOutcome::Failed(failure) => failure,
            ToolOutcome::Done(output) => panic!("{output:?}"),
        }
    };
    assert_eq!(
        failed(json!({ "tool_response":
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nFailed to write file /a/b.py\n" })),
        ToolFailure {
            text: "Failed to write file /a/b.py\n".into(),
            plain_text: "Failed to write file /a/b.py".into(),
            is_misuse: false,
            answer: None,
        }
    );
    let refused = "apply_patch verification failed: Failed to find expected lines in /a/b.py:\nx";
    let failure = failed(json!({ "error": refused }));
    assert!(failure.is_misuse);
    assert_eq!(failure.text, refused);
}

#[test]
fn an_exit_code_is_read_only_where_the_client_writes_one() {
    let said = "Exit code: 1\nOutput:\nx";
    let (_, outcome) = finished(&parse(&json!({
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": { "command": "cat log" },
        "tool_response": said,
    })));
    let ToolOutcome::Done(output) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(output.text, said);
}

#[test]
fn a_started_agent_is_known_by_its_id() {
    let (_, outcome) = finished(&recorded()["PostToolUse-spawn_agent"]);
    let ToolOutcome::Done(output) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        output.detail,
        OutputDetail::Subagent(SubagentOutput {
            is_launched: true,
            id: Some("01a1e0f0-8979-7d72-a36b-fd9bcbcca940".into()),
            ..SubagentOutput::default()
        })
    );
}

#[test]
fn other_tools_are_told_apart() {
    let call = |name: &str, input: Value| {
        let event = parse(&json!({
            "hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input,
        }));
        match decode(&event).kind {
            EventKind::ToolAnnounced(tool_use) => tool_use.call,
            other => panic!("{other:?}"),
        }
    };
    for name in [
        "get_goal",
        "multi_agent_v1wait_agent",
        "multi_agent_v12close_agent",
        "tool_search",
    ] {
        assert_eq!(call(name, json!({})), ToolCall::Bookkeeping, "{name}");
    }
    assert!(matches!(
        call("multi_agent_v1spawn_agent", json!({ "message": "x" })),
        ToolCall::Subagent(_)
    ));
    assert_eq!(
        call("web_search", json!({ "query": "q" })),
        ToolCall::SearchWeb {
            query: Some("q".into())
        }
    );
    assert_eq!(
        call(
            "request_user_input",
            json!({ "questions": [{ "question": "Which?" }] })
        ),
        ToolCall::AskUser {
            question: Some("Which?".into())
        }
    );
    assert!(
        matches!(call("view_image", json!({ "path": "a.png" })), ToolCall::ReadFile(read)
        if read.path.as_deref() == Some("a.png"))
    );
    assert!(crate::LOOK_TOOLS.contains(&"view_image"));
    assert_eq!(
        call("new_tool", json!({ "x": 1 })),
        ToolCall::Other {
            input: json!({ "x": 1 })
        }
    );
    assert_eq!(
        call("mcp__odd", json!(null)),
        ToolCall::Mcp {
            server: String::new(),
            tool: "mcp__odd".into(),
            input: json!(null)
        }
    );
}

#[test]
fn answers_of_servers_and_odd_ones_are_taken() {
    let output = |name: &str, response: Value| {
        let event = parse(&json!({
            "hook_event_name": "PostToolUse", "tool_name": name, "tool_response": response,
        }));
        match finished(&event).1 {
            ToolOutcome::Done(output) => (output.text, output.detail),
            other @ ToolOutcome::Failed(_) => panic!("{other:?}"),
        }
    };
    let parts = json!({ "content": [{ "type": "text", "text": "a" }, { "type": "image" }, 7] });
    assert_eq!(
        output("mcp__s__t", parts),
        ("a\n[image]".into(), OutputDetail::None)
    );
    let goal = json!({ "goal": null });
    assert_eq!(
        output("new_tool", goal.clone()),
        (String::new(), OutputDetail::Json(goal))
    );
    assert_eq!(
        output("Bash", json!(7)),
        (String::new(), OutputDetail::None)
    );
    assert_eq!(
        output("spawn_agent", json!("no JSON")).1,
        OutputDetail::Subagent(SubagentOutput::default())
    );
}

#[test]
fn an_event_without_anything_decodes() {
    for def in remora_core::EVENTS {
        let event = parse(&json!({ "hook_event_name": def.name.as_str(), "turn_id": "" }));
        let decoded = decode(&event);
        assert_eq!(decoded.session, SessionId::UNKNOWN);
        assert_eq!((decoded.turn, decoded.subagent), (None, None));
    }
}

#[test]
fn files_of_a_patch_are_named_from_the_working_directory() {
    let path_of = |cwd: &str, path: &str| {
        let command =
            format!("*** Begin Patch\n*** Update File: old.py\n*** Move to: {path}\n*** End Patch");
        let (tool_use, _) = finished(&parse(&json!({
            "hook_event_name": "PostToolUse",
            "cwd": cwd,
            "tool_name": "apply_patch",
            "tool_input": { "command": command },
        })));
        let ToolCall::EditFiles(edits) = tool_use.call else {
            panic!("{tool_use:?}")
        };
        let FileChange::Moved { from } = &edits[0].change else {
            panic!("{edits:?}")
        };
        (edits[0].path.clone(), from.clone())
    };
    for (cwd, path, expected) in [
        ("/p/app", "src/a.py", "/p/app/src/a.py"),
        ("/p/app/", "./src/a.py", "/p/app/src/a.py"),
        ("/p/app", "../../a.py", "/a.py"),
        ("/p/app", "/other/a.py", "/other/a.py"),
        ("", "src/a.py", "src/a.py"),
    ] {
        assert_eq!(path_of(cwd, path).0, expected, "{cwd} {path}");
    }
    assert_eq!(path_of("/p", "a.py").1, "/p/old.py");
}
