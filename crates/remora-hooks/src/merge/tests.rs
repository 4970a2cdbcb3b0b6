use proptest::prelude::*;
use remora_core::{EVENTS, Event, Permission};
use serde_json::json;

use super::*;
use crate::answer::{ContextText, StopRequest};

fn event(name: EventName) -> Event {
    Event::from_value(json!({"hook_event_name": name.as_str()}), None).unwrap()
}

fn answer() -> impl Strategy<Value = Answer> {
    let permission = prop::option::of(prop_oneof![
        Just(Permission::Allow),
        Just(Permission::Ask),
        Just(Permission::Defer),
        Just(Permission::Deny)
    ]);
    (
        permission,
        prop::option::of("[a-z]{1,4}"),
        prop::bool::ANY,
        prop::option::of("[a-z]{1,4}"),
    )
        .prop_map(|(permission, block, stop, context)| Answer {
            permission: permission.map(|p| (p, Some(format!("why-{}", p.as_str())))),
            block,
            stop: stop.then_some(StopRequest(None)),
            context: context.map(|text| ContextText { text, plain: false }),
            ..Answer::default()
        })
}

proptest! {
    #[test]
    fn a_deny_is_never_lost_and_the_strictest_wins(answers in prop::collection::vec(answer(), 0..6)) {
        let outcome = merge_answers(&event(EventName::PreToolUse), &answers);
        let expected = answers
            .iter()
            .filter_map(|a| if a.block.is_some() { Some(Permission::Deny) } else { a.permission.as_ref().map(|p| p.0) })
            .max();
        prop_assert_eq!(outcome.permission, expected);
        prop_assert_eq!(outcome.blocked, expected == Some(Permission::Deny));
        if outcome.blocked {
            prop_assert!(outcome.reason.is_some());
            prop_assert!(outcome.updated_input.is_none());
        }
    }

    #[test]
    fn order_changes_texts_only(answers in prop::collection::vec(answer(), 0..6)) {
        let mut turned = answers.clone();
        turned.reverse();
        // Prompts and requests are decided by the first handler that decides.
        let by_order = [EventName::UserPromptSubmit, EventName::UserPromptExpansion, EventName::PermissionRequest];
        for def in EVENTS.iter().filter(|d| !by_order.contains(&d.name)) {
            let (a, b) = (merge_answers(&event(def.name), &answers), merge_answers(&event(def.name), &turned));
            prop_assert_eq!((a.blocked, a.permission, a.go_on), (b.blocked, b.permission, b.go_on), "{}", def.text);
            prop_assert_eq!(a.context.len(), b.context.len());
        }
    }

    #[test]
    fn nobody_speaks_nothing_happens(index in 0..EVENTS.len()) {
        prop_assert_eq!(merge_answers(&event(EVENTS[index].name), &[]), Outcome::default());
    }
}

#[test]
fn the_first_to_decide_a_prompt_gives_the_form() {
    let block = Answer {
        block: Some("no".into()),
        ..Answer::default()
    };
    let stop = Answer {
        stop: Some(StopRequest(Some("halt".into()))),
        ..Answer::default()
    };
    let prompt = event(EventName::UserPromptSubmit);
    let first = merge_answers(&prompt, &[block.clone(), stop.clone()]);
    assert_eq!(
        (first.blocked, first.go_on, first.reason.as_deref()),
        (true, true, Some("no"))
    );
    let second = merge_answers(&prompt, &[stop, block]);
    assert_eq!(
        (second.blocked, second.go_on, second.reason.as_deref()),
        (false, false, Some("halt"))
    );
}

#[test]
fn a_malformed_last_rewrite_brings_the_original_back() {
    let event = Event::from_value(
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_response": {"stdout": "x", "stderr": "", "interrupted": false, "isImage": false}}),
        None,
    )
    .unwrap();
    let good = json!({"stdout": "y", "stderr": "", "interrupted": false, "isImage": false});
    let with = |v: Value| Answer {
        updated_output: Some(v),
        ..Answer::default()
    };
    assert_eq!(
        merge_answers(&event, &[with(json!("text")), with(good.clone())]).updated_output,
        Some(good.clone())
    );
    assert_eq!(
        merge_answers(&event, &[with(good), with(json!("text"))]).updated_output,
        None
    );
}
