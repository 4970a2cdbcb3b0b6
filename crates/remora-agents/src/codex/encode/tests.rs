use remora_core::EVENTS;
use serde::Deserialize;
use serde_json::json;

use super::*;

/// What the client reads, field by field; it refuses any other.
mod client {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub(super) struct Specific {
        pub(super) hook_event_name: String,
        pub(super) additional_context: String,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub(super) struct WithContext {
        pub(super) system_message: Option<String>,
        pub(super) hook_specific_output: Option<Specific>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub(super) struct WithBlock {
        pub(super) system_message: Option<String>,
        pub(super) decision: Option<String>,
        pub(super) reason: Option<String>,
    }
}

fn everything() -> HookResponse {
    HookResponse {
        context: Some("context".into()),
        message: Some("message".into()),
        instructions: Some("instructions".into()),
        block: Some("block".into()),
    }
}

#[test]
fn every_event_gets_exactly_the_fields_it_takes() {
    for def in EVENTS {
        let printed = encode_response(def.name, &everything());
        let message = Some("message".to_owned());
        match def.name {
            EventName::SessionStart
            | EventName::UserPromptSubmit
            | EventName::PreToolUse
            | EventName::PostToolUse
            | EventName::SubagentStart => {
                let read: client::WithContext = serde_json::from_str(&printed).unwrap();
                let expected = client::WithContext {
                    system_message: message,
                    hook_specific_output: Some(client::Specific {
                        hook_event_name: def.name.as_str().to_owned(),
                        additional_context: "context".into(),
                    }),
                };
                assert_eq!(read, expected, "{}", def.name);
            }
            EventName::Stop => {
                let read: client::WithBlock = serde_json::from_str(&printed).unwrap();
                let expected = client::WithBlock {
                    system_message: message,
                    decision: Some("block".into()),
                    reason: Some("block".into()),
                };
                assert_eq!(read, expected);
            }
            _ => assert_eq!(printed, "", "{}", def.name),
        }
    }
}

#[test]
fn fields_without_a_value_are_not_written() {
    let context = HookResponse {
        context: Some("said".into()),
        ..HookResponse::default()
    };
    let expected = json!({
        "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": "said" }
    });
    assert_eq!(
        encode_response(EventName::SessionStart, &context),
        expected.to_string()
    );
    let block = HookResponse {
        block: Some("go on".into()),
        ..HookResponse::default()
    };
    assert_eq!(
        encode_response(EventName::Stop, &block),
        r#"{"decision":"block","reason":"go on"}"#
    );
}

#[test]
fn nothing_is_printed_where_nothing_is_said() {
    let blank = HookResponse {
        context: Some(" \n".into()),
        message: Some(String::new()),
        ..HookResponse::default()
    };
    for def in EVENTS {
        assert_eq!(encode_response(def.name, &HookResponse::default()), "");
        assert_eq!(encode_response(def.name, &blank), "");
    }
}

#[test]
fn a_long_text_is_cut_at_the_end_of_a_line() {
    let context = |text: String| {
        let response = HookResponse {
            context: Some(text),
            ..HookResponse::default()
        };
        let printed = encode_response(EventName::SessionStart, &response);
        let read: client::WithContext = serde_json::from_str(&printed).unwrap();
        read.hook_specific_output.unwrap().additional_context
    };
    let fits = "ä".repeat(MAX_CONTEXT_BYTES / 2);
    assert_eq!(context(fits.clone()), fits);
    let cut = context("a line of twenty bytes\n".repeat(1_000));
    assert!(cut.len() <= MAX_CONTEXT_BYTES, "{}", cut.len());
    assert!(
        cut.ends_with(&format!("of twenty bytes\n{TRUNCATION_LINE}")),
        "{cut}"
    );
    let one_line = context("ä".repeat(MAX_CONTEXT_BYTES));
    assert!(one_line.len() <= MAX_CONTEXT_BYTES);
    assert!(one_line.starts_with('ä') && one_line.ends_with(TRUNCATION_LINE));
}
