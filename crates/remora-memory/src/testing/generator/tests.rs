use std::collections::BTreeSet;

use super::*;

#[test]
fn the_same_seed_makes_the_same_events() {
    let text = |seed| -> Vec<String> {
        let made = Generator::new(seed).take(300);
        made.map(|made| format!("{made:?}")).collect()
    };
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

#[test]
fn events_are_as_large_and_as_various_as_real_ones() {
    const MANY: usize = 3_000;
    let mut bytes = 0;
    let mut kinds = BTreeSet::new();
    let mut calls = BTreeSet::new();
    for made in Generator::new(1).take(MANY) {
        bytes += made.event.to_string().len();
        let text = |key: &str| made.event[key].as_str().unwrap_or_default().to_owned();
        kinds.insert(format!("{} {}", text("hook_event_name"), text("tool_name")));
        let call = text("tool_use_id");
        assert!(call.is_empty() || calls.insert(call));
    }
    let mean = bytes / MANY;
    assert!((3_000..=8_000).contains(&mean), "{mean} bytes on average");
    let wanted = [
        "PostToolUse Bash",
        "PostToolUse Edit",
        "PostToolUse Grep",
        "PostToolUse Read",
        "PostToolUse TodoWrite",
        "PostToolUse Write",
        "PostToolUse mcp__github__get_issue",
        "PostToolUseFailure Bash",
        "PostToolUseFailure Read",
        "SessionEnd ",
        "SessionStart ",
        "Stop ",
        "SubagentStop ",
        "UserPromptSubmit ",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
}

/// What an edit leaves is what the next one finds.
#[test]
fn an_edit_changes_the_file_as_it_says() {
    let mut seen = std::collections::HashMap::new();
    let mut again = 0;
    for made in Generator::new(3).take(2_000) {
        let response = &made.event["tool_response"];
        let Some(original) = response["originalFile"].as_str() else {
            continue;
        };
        let path = response["filePath"].as_str().unwrap().to_owned();
        let (old, new) = (&response["oldString"], &response["newString"]);
        assert!(original.contains(old.as_str().unwrap()));
        if let Some(new) = seen.insert(path, new.as_str().unwrap().to_owned()) {
            again += usize::from(original.contains(&new));
        }
    }
    assert!(again > 50, "{again} edits of a file that was edited before");
}
