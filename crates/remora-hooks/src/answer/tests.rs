use super::*;

fn said(event: EventName, code: i32, stdout: &str, stderr: &str) -> HandlerResult {
    let output = HandlerOutput {
        ended: ProcessExit::Exit(code),
        stdout: stdout.into(),
        stderr: stderr.into(),
    };
    read_answer(event.def(), &output, OnFailure::Continue)
}

#[test]
fn exit_two_keeps_the_other_fields_of_the_object() {
    let json = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","additionalContext":"note"}}"#;
    let said = said(EventName::PreToolUse, 2, json, "no\n");
    assert_eq!(said.status, HandlerStatus::Blocked);
    assert_eq!(said.answer.block.as_deref(), Some("no"));
    assert_eq!(said.answer.permission, None);
    assert_eq!(said.answer.context.unwrap().text, "note");
}

#[test]
fn text_that_only_looks_like_json_goes_nowhere() {
    let said = said(EventName::UserPromptSubmit, 0, "{broken}", "");
    assert_eq!(said.status, HandlerStatus::Error);
    assert_eq!(said.answer, Answer::default());
}

#[test]
fn a_failure_blocks_when_told_to() {
    let output = HandlerOutput {
        ended: ProcessExit::Exit(1),
        stdout: String::new(),
        stderr: "boom".into(),
    };
    let said = read_answer(EventName::PreToolUse.def(), &output, OnFailure::Block);
    assert!(said.answer.block.unwrap().contains("boom"));
    let said = read_answer(EventName::Stop.def(), &output, OnFailure::Block);
    assert_eq!(said.answer.block, None);
}

#[test]
fn the_last_line_is_the_worktree() {
    let said = said(
        EventName::WorktreeCreate,
        0,
        "making it\n\u{1b}[32m/tmp/wt\u{1b}[0m\n\n",
        "",
    );
    assert_eq!(said.answer.worktree_path.as_deref(), Some("/tmp/wt"));
}
