//! The state by itself: no process, no clock.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::session::hooks::{CallbackHandler, HeadHooks, HeadOrigin};
use crate::trust::Trust;

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

/// A hook of each kind of owner, all on events that every agent has.
fn head(name: &str, is_once: bool) -> HeadHooks {
    let handler = json!({"type": "command", "command": "true", "once": is_once});
    HeadHooks {
        name: name.into(),
        hooks: json!({"PreToolUse": [{"hooks": [handler]}], "Stop": [{"hooks": [handler]}]}),
        file: None,
        origin: HeadOrigin::User,
    }
}

fn tool_event(agent: Option<u8>) -> Event {
    let mut fields = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"});
    if let Some(agent) = agent {
        fields["agent_id"] = json!(format!("a{agent}"));
    }
    event(fields)
}

/// The ids of the session's handlers that the event reaches.
fn list_ids(state: &SessionState, event: &Event) -> Vec<String> {
    let handlers = state.hooks.list_for(event);
    let ids = handlers
        .iter()
        .map(|handler| crate::plan::handler_id(&handler.entry));
    ids.collect()
}

/// Anything that a host or a handler can do to a session.
#[derive(Debug, Clone)]
enum Act {
    Skill(u8, bool),
    ClearSkills,
    Agent(u8),
    AgentEnds(u8),
    MainAgent,
    Callback(u8),
    CallbackGoes(u8),
    /// Every handler of a call's event succeeds.
    Succeed(Option<u8>),
    Fire(Value, bool),
    Text,
    Wake,
    TakeWake,
    TakeDeliveries(RequestPoint),
    EnvFiles(EventName, u8),
    WatchPaths(Vec<u8>),
    TurnEnds,
}

fn any_act() -> impl Strategy<Value = Act> {
    let name = 0..3_u8;
    let agent = prop::option::of(0..3_u8);
    let point = prop_oneof![
        Just(RequestPoint::NextPrompt),
        Just(RequestPoint::NextRequest)
    ];
    let env_event = prop_oneof![
        Just(EventName::Setup),
        Just(EventName::SessionStart),
        Just(EventName::CwdChanged),
        Just(EventName::FileChanged),
    ];
    prop_oneof![
        (name.clone(), any::<bool>()).prop_map(|(name, once)| Act::Skill(name, once)),
        Just(Act::ClearSkills),
        name.clone().prop_map(Act::Agent),
        name.clone().prop_map(Act::AgentEnds),
        Just(Act::MainAgent),
        name.clone().prop_map(Act::Callback),
        name.prop_map(Act::CallbackGoes),
        agent.prop_map(Act::Succeed),
        (any_step(), any::<bool>()).prop_map(|(step, blocked)| Act::Fire(step, blocked)),
        Just(Act::Text),
        Just(Act::Wake),
        Just(Act::TakeWake),
        point.prop_map(Act::TakeDeliveries),
        (env_event, 0..3_u8).prop_map(|(event, count)| Act::EnvFiles(event, count)),
        prop::collection::vec(0..4_u8, 0..3).prop_map(Act::WatchPaths),
        Just(Act::TurnEnds),
    ]
}

/// What a session gave to its host, in order.
#[derive(Debug, Default, PartialEq)]
struct Given {
    decisions: Vec<StopDecision>,
    texts: Vec<String>,
    wakes: Vec<String>,
}

/// Does it, and notes what came out. Texts and wake-ups are numbered.
fn act(state: &mut SessionState, what: &Act, number: usize, given: &mut Given) {
    match what {
        Act::Skill(name, once) => {
            state
                .hooks
                .add_skill(head(&format!("k{name}"), *once))
                .unwrap();
        }
        Act::ClearSkills => state.hooks.remove_skills(),
        Act::Agent(id) => {
            let agent = head("agent", true);
            state
                .hooks
                .add_agent(&format!("a{id}"), agent, Trust::Trusted)
                .unwrap();
        }
        Act::AgentEnds(id) => {
            state.hooks.remove_agent(&format!("a{id}"));
        }
        Act::MainAgent => state
            .hooks
            .add_main_agent(head("main", false), Trust::Trusted)
            .unwrap(),
        Act::Callback(id) => {
            let callback = CallbackHandler {
                id: format!("c{id}"),
                event: "PreToolUse".into(),
                matcher: None,
                timeout_seconds: None,
                failure_blocks: false,
            };
            state.hooks.add_callback(callback).unwrap();
        }
        Act::CallbackGoes(id) => {
            state.hooks.remove_callback(&format!("c{id}"));
        }
        Act::Succeed(agent) => {
            for id in list_ids(state, &tool_event(*agent)) {
                state.hooks.note_success(&id);
            }
        }
        Act::Fire(step, blocked) => {
            let event = event(step.clone());
            let outcome = Outcome {
                blocked: *blocked,
                ..Outcome::default()
            };
            state.number_event();
            state.begin_event(&event);
            let event = state.complete_event(&event);
            given
                .decisions
                .extend(state.finish_event(&event, &outcome, Some(2)));
        }
        Act::Text => state.add_text(format!("t{number}")),
        Act::Wake => state.add_wake(wake(&format!("w{number}"))),
        Act::TakeWake => {
            if let Some(wake) = state.take_wake() {
                // The host fires it, and it begins a turn.
                prompt(state, &wake.prompt);
                given.wakes.push(wake.text);
            }
        }
        Act::TakeDeliveries(point) => {
            for delivery in state.take_deliveries(*point) {
                match delivery.place {
                    DeliveryPlace::Notification { .. } => given.wakes.push(delivery.text),
                    _ => given.texts.push(delivery.text),
                }
            }
        }
        Act::EnvFiles(event, count) => {
            let files: Vec<PathBuf> = (0..*count)
                .map(|n| format!("/{event}-{n}").into())
                .collect();
            state.env_files.replace(*event, &files);
        }
        Act::WatchPaths(paths) => {
            let paths: Vec<String> = paths.iter().map(|path| format!("p{path}")).collect();
            state.watch.take_paths(&paths);
        }
        Act::TurnEnds => state.end_turn(),
    }
}

fn store(state: &SessionState) -> SessionState {
    let mut stored: SessionState =
        serde_json::from_value(serde_json::to_value(state).unwrap()).unwrap();
    stored.hooks.compile_all();
    stored
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(any_act(), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_that_is_stored_at_every_step_is_the_same(acts in acts()) {
        let mut state = SessionState::default();
        let mut stored = state.clone();
        let (mut given, mut given_stored) = (Given::default(), Given::default());
        for (number, what) in acts.iter().enumerate() {
            act(&mut state, what, number, &mut given);
            stored = store(&stored);
            act(&mut stored, what, number, &mut given_stored);
            prop_assert_eq!(&state, &stored);
            prop_assert_eq!(&given, &given_stored);
            for agent in [None, Some(0), Some(1), Some(2)] {
                let event = tool_event(agent);
                prop_assert_eq!(list_ids(&state, &event), list_ids(&stored, &event));
            }
            let cwd = Path::new("/p");
            prop_assert_eq!(state.watch.list_paths(cwd), stored.watch.list_paths(cwd));
        }
    }

    #[test]
    fn nothing_pending_is_lost_or_given_twice(acts in acts()) {
        let mut state = SessionState::default();
        let mut given = Given::default();
        for (number, what) in acts.iter().enumerate() {
            act(&mut state, what, number, &mut given);
        }
        // The host goes on until nothing is left.
        let left = acts.len();
        for number in 0..=left {
            act(&mut state, &Act::TurnEnds, left + number, &mut given);
            act(&mut state, &Act::TakeWake, left + number, &mut given);
        }
        act(&mut state, &Act::TakeDeliveries(RequestPoint::NextRequest), left, &mut given);
        let numbered = |prefix: &str, wanted: fn(&Act) -> bool| -> Vec<String> {
            let all = acts.iter().enumerate().filter(|(_, act)| wanted(act));
            all.map(|(number, _)| format!("{prefix}{number}")).collect()
        };
        // Each once, and in the order in which they came.
        prop_assert_eq!(&given.texts, &numbered("t", |act| matches!(act, Act::Text)));
        prop_assert_eq!(&given.wakes, &numbered("w", |act| matches!(act, Act::Wake)));
        prop_assert!(state.pending.is_empty());
    }

    #[test]
    fn hooks_reach_their_own_and_no_one_else(acts in acts()) {
        let mut state = SessionState::default();
        let mut given = Given::default();
        for (number, what) in acts.iter().enumerate() {
            act(&mut state, what, number, &mut given);
            let main = list_ids(&state, &tool_event(None));
            for agent in 0..3_u8 {
                let ids = list_ids(&state, &tool_event(Some(agent)));
                let own = format!("agent:a{agent}");
                for id in &ids {
                    prop_assert!(!id.starts_with("skill:"), "{id} is for the main conversation");
                    let of_agent = (0..3).any(|n| id.starts_with(&format!("agent:a{n}")));
                    prop_assert!(!of_agent || id.starts_with(&own), "{id} in {own}");
                }
                prop_assert!(main.iter().all(|id| !id.starts_with(&own)), "{main:?}");
            }
            // No handler is there twice.
            let mut ids = main.clone();
            ids.sort();
            ids.dedup();
            let callbacks = main.iter().filter(|id| id.starts_with("callback:")).count();
            let unique = ids.iter().filter(|id| !id.starts_with("callback:")).count();
            prop_assert_eq!(unique + callbacks, main.len());
        }
    }

    #[test]
    fn what_runs_once_runs_once_for_each_use(uses in 1..5_usize, tries in 1..4_usize) {
        let mut state = SessionState::default();
        let mut runs = 0;
        for _ in 0..uses {
            state.hooks.add_skill(head("k", true)).unwrap();
            for _ in 0..tries {
                for id in list_ids(&state, &tool_event(None)) {
                    runs += 1;
                    state.hooks.note_success(&id);
                }
            }
        }
        prop_assert_eq!(runs, uses);
    }

    #[test]
    fn variables_are_read_in_one_order(fired in prop::collection::vec((0..4_usize, 0..3_u8), 0..20)) {
        let events = [
            EventName::Setup,
            EventName::SessionStart,
            EventName::CwdChanged,
            EventName::FileChanged,
        ];
        let mut state = SessionState::default();
        let mut last = [0_u8; 4];
        for (at, count) in fired {
            act(&mut state, &Act::EnvFiles(events[at], count), 0, &mut Given::default());
            if count > 0 {
                last[at] = count;
            }
        }
        for (event, count) in events.iter().zip(last) {
            prop_assert_eq!(state.env_files.of_event(*event).count(), usize::from(count));
        }
        let all = state.env_files.take_all();
        let rank = |path: &PathBuf| match path.to_string_lossy() {
            path if path.starts_with("/Setup") => 0,
            path if path.starts_with("/SessionStart") => 1,
            _ => 2,
        };
        prop_assert!(all.is_sorted_by_key(rank), "{all:?}");
    }
}
