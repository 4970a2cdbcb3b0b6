//! Memories that a repository brings along.

use serde_json::Value;

use super::*;

#[test]
fn words_of_a_repository_come_last_and_marked_until_they_are_accepted() {
    let world = World::default();
    let memory = |uri: &str, priority: u64, accepted: Value| Item {
        key: Some(uri.to_owned()),
        text: format!("body of {uri}"),
        detail: Some(json!({"priority": priority, "named": false, "accepted": accepted})),
        ..row(Kind::Memory, uri, 1)
    };
    world.add(memory("memory://team/forged", 1, json!(false)));
    world.add(memory("memory://team/unsaid", 1, Value::Null));
    world.add(memory("memory://team/read", 1, json!(true)));
    world.add(memory("memory://project/own", 2, json!(true)));
    let found = world.at(&Moment::Start);
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
