//! Memories that are not the user's: a repository brought them along, or an agent
//! saved them.

use serde_json::Value;

use super::*;
use crate::recall::ASSISTANT_SPEAKER;

#[test]
fn words_of_a_repository_come_last_and_marked_until_they_are_accepted() {
    let world = World::default();
    let memory = |uri: &str, priority: u64, accepted: Value| Item {
        key: Some(uri.to_owned()),
        text: format!("body of {uri}"),
        detail: Some(json!({"priority": priority, "named": false, "accepted": accepted}).into()),
        ..row(Kind::Memory, uri, 1)
    };
    world.add(memory("memory://team/forged", 1, json!(false)));
    world.add(memory("memory://team/unsaid", 1, Value::Null));
    world.add(memory("memory://team/read", 1, json!(true)));
    world.add(memory("memory://project/own", 2, json!(true)));
    let found = world.at(&RecallTrigger::Start);
    let wanted = [
        "memory://team/read",
        "memory://project/own",
        "memory://team/forged",
        "memory://team/unsaid",
    ];
    assert_eq!(names(&found), wanted);
    let why: Vec<&str> = found.given.iter().map(|given| given.why.as_str()).collect();
    assert_eq!(why[0], "saved with priority 1");
    assert_eq!(
        why[2],
        "saved with priority 2; from this repository, not accepted"
    );
    let text = found.text.unwrap();
    let marked = text
        .lines()
        .filter(|line| line.contains("not from the user"));
    assert_eq!(
        marked.collect::<Vec<_>>(),
        [
            "memory://team/forged [from this repository, not from the user]",
            "memory://team/unsaid [from this repository, not from the user]",
        ]
    );
}

#[test]
fn what_an_agent_saved_is_marked_everywhere_and_urgent_nowhere() {
    let world = World::default();
    let memory = |uri: &str, speaker: Option<&str>| Item {
        key: Some(uri.to_owned()),
        text: "Invoices go through the gateway.".to_owned(),
        speaker: speaker.map(str::to_owned),
        detail: Some(json!({"priority": 1, "named": false, "accepted": speaker.is_none()}).into()),
        ..row(Kind::Memory, &format!("how invoices go out: {uri}"), 1)
    };
    world.add(memory("memory://project/claimed", Some(ASSISTANT_SPEAKER)));
    world.add(memory("memory://project/own", None));
    let asked = row(Kind::Prompt, "mend how invoices go out", 2);
    world.add(Item {
        session: "now".into(),
        ..asked
    });
    let start = world.at(&RecallTrigger::Start);
    let wanted = ["memory://project/own", "memory://project/claimed"];
    assert_eq!(names(&start), wanted);
    let text = start.text.unwrap();
    let mark = "memory://project/claimed~ [saved by an agent, not by the user]";
    assert!(text.lines().any(|line| line == mark), "{text}");
    assert!(
        text.lines().any(|line| line == "memory://project/own"),
        "{text}"
    );
    // A subagent is given what is urgent, which an agent cannot make so.
    let brief = world.at(&RecallTrigger::Subagent(None));
    let why = |name: &str| {
        let mut given = brief.given.iter().filter(|given| given.item == name);
        given.next().map(|given| given.why.as_str())
    };
    let urgent = Some("brief: saved with the highest priority");
    assert_eq!(why("memory://project/own"), urgent);
    assert_ne!(why("memory://project/claimed"), urgent);
}
