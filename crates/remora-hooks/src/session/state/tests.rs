//! The state by itself: no process, no clock.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn event(fields: Value) -> Event {
    Event::from_value(fields, None).unwrap()
}

fn wake(name: &str) -> WakeUp {
    WakeUp {
        text: name.into(),
        prompt: format!("<{name}>"),
    }
}

fn prompt(state: &mut SessionState, text: &str) {
    let event = event(json!({"hook_event_name": "UserPromptSubmit", "prompt": text}));
    state.finish_event(&event, &Outcome::default(), Some(8));
}

fn stop(state: &mut SessionState, blocked: bool) -> Option<StopDecision> {
    let event = event(json!({"hook_event_name": "Stop"}));
    let outcome = Outcome {
        blocked,
        ..Outcome::default()
    };
    state.finish_event(&event, &outcome, Some(8))
}

#[test]
fn a_woken_turn_is_active_from_the_start_and_the_next_prompt_is_not() {
    let mut state = SessionState::default();
    state.add_wake(wake("a"));
    state.add_wake(wake("b"));
    assert_eq!(state.take_wake(), Some(wake("a")));
    assert_eq!(state.take_wake(), None, "one at a time");
    prompt(&mut state, "<a>");
    assert!(state.is_stop_hook_active());
    assert_eq!(stop(&mut state, false), Some(StopDecision::Ends));
    assert_eq!(state.take_wake(), Some(wake("b")));
    prompt(&mut state, "<b>");
    stop(&mut state, false);
    prompt(&mut state, "hello");
    assert!(!state.is_stop_hook_active());
}

#[test]
fn a_busy_session_is_notified_with_the_results_of_tools() {
    let mut state = SessionState::default();
    prompt(&mut state, "hello");
    state.add_wake(wake("a"));
    state.add_text("late".into());
    assert_eq!(state.take_wake(), None);
    let texts: Vec<String> = state
        .take_deliveries(RequestPoint::NextPrompt)
        .into_iter()
        .map(|delivery| delivery.text)
        .collect();
    assert_eq!(texts, ["late"], "a prompt does not carry a wake-up");
    let deliveries = state.take_deliveries(RequestPoint::NextRequest);
    assert_eq!(
        deliveries,
        [Delivery {
            agent: None,
            place: DeliveryPlace::Notification {
                prompt: "<a>".into()
            },
            text: "a".into(),
        }]
    );
    prompt(&mut state, "<a>");
    assert!(!state.is_stop_hook_active(), "the turn was there before");
}

#[test]
fn a_blocked_wake_up_begins_no_turn() {
    let mut state = SessionState::default();
    state.add_wake(wake("a"));
    state.take_wake();
    let event = event(json!({"hook_event_name": "UserPromptSubmit", "prompt": "<a>"}));
    let outcome = Outcome {
        blocked: true,
        ..Outcome::default()
    };
    state.finish_event(&event, &outcome, Some(8));
    assert_eq!(state.phase, SessionPhase::Idle);
}

#[test]
fn each_agent_has_a_loop_of_its_own() {
    let mut state = SessionState::default();
    let stop = |state: &mut SessionState, id: &str| {
        let event = event(json!({"hook_event_name": "SubagentStop", "agent_id": id}));
        let shown = state.complete_event(&event).fields["stop_hook_active"].clone();
        let outcome = Outcome {
            blocked: true,
            ..Outcome::default()
        };
        state.finish_event(&event, &outcome, Some(1));
        shown
    };
    assert_eq!(stop(&mut state, "a"), json!(false));
    assert_eq!(stop(&mut state, "b"), json!(false));
    assert_eq!(stop(&mut state, "a"), json!(true));
    assert_eq!(stop(&mut state, "a"), json!(false), "overridden, so over");
}

/// Anything that can happen to a state.
fn any_step() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"})),
        Just(json!({"hook_event_name": "Stop"})),
        Just(json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"})),
        Just(json!({"hook_event_name": "SubagentStop", "agent_id": "a"})),
        Just(json!({"hook_event_name": "CwdChanged", "new_cwd": "/q"})),
        Just(json!({"hook_event_name": "SessionEnd", "reason": "clear"})),
    ]
}

proptest! {
    #[test]
    fn a_stored_state_goes_on_as_the_original(
        steps in prop::collection::vec((any_step(), any::<bool>()), 0..24),
        wakes in 0..3_usize,
    ) {
        let mut state = SessionState::default();
        for n in 0..wakes {
            state.add_wake(wake(&n.to_string()));
        }
        let mut stored = state.clone();
        for (step, blocked) in steps {
            let event = event(step);
            let outcome = Outcome { blocked, ..Outcome::default() };
            stored = serde_json::from_value(serde_json::to_value(&stored).unwrap()).unwrap();
            for state in [&mut state, &mut stored] {
                state.begin_event(&event);
            }
            prop_assert_eq!(state.complete_event(&event), stored.complete_event(&event));
            let decided = state.finish_event(&event, &outcome, Some(2));
            prop_assert_eq!(decided, stored.finish_event(&event, &outcome, Some(2)));
            prop_assert_eq!(state.take_wake(), stored.take_wake());
            prop_assert_eq!(&state, &stored);
        }
    }

    #[test]
    fn no_loop_of_blocks_is_longer_than_its_cap(cap in 1..20_u32) {
        let mut state = SessionState::default();
        prompt(&mut state, "x");
        let event = event(json!({"hook_event_name": "Stop"}));
        let outcome = Outcome { blocked: true, ..Outcome::default() };
        let decisions: Vec<_> = (0..=cap)
            .map(|_| state.finish_event(&event, &outcome, Some(cap)).unwrap())
            .collect();
        let last = decisions.last().copied();
        prop_assert_eq!(last, Some(StopDecision::Overridden { blocks: cap + 1 }));
        prop_assert!(decisions[..cap as usize].iter().all(|d| *d == StopDecision::Continues));
    }
}
