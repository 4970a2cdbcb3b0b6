//! Labels and places, beyond what the recorded sessions hold.

use serde_json::json;

use super::*;
use crate::answer::ContextText;

fn event(name: &str) -> Event {
    let fields = json!({"hook_event_name": name, "tool_name": "Bash", "source": "startup",
        "agent_type": "general-purpose"});
    Event::from_value(fields, None).unwrap()
}

fn list(name: &str, answers: &[Answer], outcome: &Outcome) -> Vec<(DeliveryPlace, String)> {
    let speakers = ["one.sh", "two.sh"].iter().zip(answers);
    let speakers: Vec<Speaker<'_>> = speakers
        .map(|(label, answer)| Speaker {
            label: (*label).to_owned(),
            is_model: false,
            answer,
        })
        .collect();
    list_deliveries(&event(name), &speakers, outcome)
        .into_iter()
        .map(|delivery| (delivery.place, delivery.text))
        .collect()
}

fn context(text: &str, plain: bool) -> Answer {
    Answer {
        context: Some(ContextText {
            text: text.into(),
            plain,
        }),
        ..Answer::default()
    }
}

fn block(reason: &str, reason_is_stderr: bool) -> Answer {
    Answer {
        block: Some(reason.into()),
        reason_is_stderr,
        ..Answer::default()
    }
}

#[test]
fn some_events_join_their_contexts_and_some_do_not() {
    let answers = [context("a", false), context("b", false)];
    let outcome = Outcome {
        context: vec!["a".into(), "b".into()],
        ..Outcome::default()
    };
    let aside = |text: &str| (DeliveryPlace::Aside, text.to_owned());
    for (name, expected) in [
        (
            "SessionStart",
            vec![aside("SessionStart hook additional context: a\nb")],
        ),
        (
            "PreToolUse",
            vec![aside("PreToolUse:Bash hook additional context: a\nb")],
        ),
        (
            "PostToolUse",
            vec![
                aside("PostToolUse:Bash hook additional context: a"),
                aside("PostToolUse:Bash hook additional context: b"),
            ],
        ),
    ] {
        assert_eq!(list(name, &answers, &outcome), expected, "{name}");
    }
}

#[test]
fn plain_text_names_the_source_and_comes_first() {
    let answers = [context("a", false), context("b", true)];
    let outcome = Outcome {
        context: vec!["a".into(), "b".into()],
        ..Outcome::default()
    };
    let texts = list("SessionStart", &answers, &outcome);
    let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "SessionStart:startup hook success: b",
            "SessionStart hook additional context: a"
        ]
    );
}

#[test]
fn stderr_is_shown_with_its_command() {
    let answers = [block("no", true), block("never", false)];
    let outcome = Outcome {
        blocked: true,
        reason: Some("no\nnever".into()),
        ..Outcome::default()
    };
    assert_eq!(
        list("PreToolUse", &answers, &outcome),
        [(
            DeliveryPlace::ToolResult,
            "PreToolUse:Bash hook error: [one.sh]: no\nnever".to_owned()
        )]
    );
    let texts = list("SubagentStop", &answers, &outcome);
    assert_eq!(
        texts,
        [
            (
                DeliveryPlace::UserMessage,
                "Stop hook feedback:\n[one.sh]: no".to_owned()
            ),
            (
                DeliveryPlace::UserMessage,
                "Stop hook feedback:\nnever".to_owned()
            ),
            (
                DeliveryPlace::Aside,
                "SubagentStop hook blocking error from command: \"two.sh\": never".to_owned()
            ),
        ]
    );
}

#[test]
fn a_blocked_prompt_brings_nothing() {
    let answers = [context("a", true), block("no", true)];
    let outcome = Outcome {
        blocked: true,
        context: vec!["a".into()],
        reason: Some("no".into()),
        ..Outcome::default()
    };
    assert_eq!(list("UserPromptSubmit", &answers, &outcome), []);
}

#[test]
fn a_wake_up_can_have_words_of_its_own() {
    let own = RewakeTexts {
        summary: Some("Tests".into()),
        message: Some("They fail:".into()),
    };
    let wake = build_wake_up("Stop", &own, "2 of 7\n");
    let head = "<task-notification>\n<summary>Tests</summary>\n</task-notification>\n";
    assert_eq!(wake.text, format!("{head}They fail: 2 of 7"));
    assert_eq!(
        wake.prompt,
        format!("{head}<system-reminder>\nThey fail: 2 of 7\n\n</system-reminder>")
    );
}
