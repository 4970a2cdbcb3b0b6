//! What says until when it holds is not told after that as if it did.

use super::*;

/// 2026-08-03 and 2026-11-02, in days since 1970.
const SAID: i64 = 20_668;
const LATER: i64 = 20_759;

const QUESTION: &str = "which gateway do we use for invoices?";

fn statement(kind: Kind, title: &str, day: i64) -> Item {
    Item {
        text: title.to_owned(),
        speaker: Some("user".to_owned()),
        files_read: vec!["src/invoice.rs".to_owned()],
        ..row(kind, title, day)
    }
}

/// Every text that a session gets to see, at this day.
fn texts(world: &mut World, day: i64) -> Vec<(&'static str, String)> {
    world.now = day * DAY;
    [
        RecallTrigger::Start,
        RecallTrigger::Prompt(QUESTION),
        RecallTrigger::Read("src/invoice.rs"),
        RecallTrigger::Subagent(None),
    ]
    .iter()
    .map(|moment| {
        let text = world.at(moment).text.unwrap_or_default();
        (moment.name(), text)
    })
    .collect()
}

fn showing(texts: &[(&'static str, String)], words: &str) -> Vec<&'static str> {
    let shows = texts.iter().filter(|(_, text)| text.contains(words));
    shows.map(|(moment, _)| *moment).collect()
}

fn ask_in_session(world: &World) {
    world.add(Item {
        session: "now".into(),
        text: QUESTION.to_owned(),
        ..row(Kind::Prompt, QUESTION, SAID)
    });
}

#[test]
fn a_statement_is_told_until_its_end_and_not_after() {
    let mut world = World::default();
    let said = "We use the brantle gateway for invoices until 2026-10-01";
    let id = world.add(statement(Kind::Decision, said, SAID));
    world.add(statement(
        Kind::Decision,
        "Invoices are numbered without gaps",
        SAID,
    ));
    ask_in_session(&world);
    let all = ["start", "prompt", "read", "subagent"];
    assert_eq!(showing(&texts(&mut world, SAID + 1), "brantle"), all);
    let after = texts(&mut world, LATER);
    assert_eq!(showing(&after, "brantle"), [""; 0], "{after:#?}");
    assert!(showing(&after, "without gaps").contains(&"start"));
    // Whoever asks why is told.
    let left = world.at(&RecallTrigger::Start).passed;
    let why = left.iter().find(|passed| passed.item == format!("#{id}"));
    assert_eq!(why.unwrap().why, "ended 2026-10-01");
}

#[test]
fn a_saved_memory_is_told_until_its_end_and_not_after() {
    let mut world = World::default();
    world.add(Item {
        key: Some("memory://project/freeze".to_owned()),
        text: "No deploys of invoices until the end of October.\n\n**Why:** the audit.".to_owned(),
        detail: Some(json!({"priority": 1, "named": false, "accepted": true}).into()),
        ..row(Kind::Memory, "freeze: no deploys of invoices", SAID)
    });
    ask_in_session(&world);
    let before = showing(&texts(&mut world, SAID + 1), "No deploys");
    assert!(
        before.contains(&"start") && before.contains(&"subagent"),
        "{before:?}"
    );
    let after = texts(&mut world, LATER);
    assert_eq!(showing(&after, "No deploys"), [""; 0], "{after:#?}");
}

#[test]
fn a_turn_does_not_tell_what_has_ended() {
    let mut world = World::default();
    let asked = "We use the brantle gateway for invoices until 2026-10-01.";
    let said = "Invoices go through the brantle gateway now, because it is free.";
    world.add(turn(SAID, asked, said));
    let both = "Rename the invoices table. Use the quaxmire gateway for invoices until 2026-10-01.";
    world.add(turn(
        SAID + 1,
        both,
        "Renamed it, because the old name was taken.",
    ));
    let before = texts(&mut world, SAID + 2);
    assert!(
        showing(&before, "brantle").contains(&"prompt"),
        "{before:#?}"
    );
    let after = texts(&mut world, LATER);
    assert_eq!(showing(&after, "quaxmire"), [""; 0], "{after:#?}");
    let prompt = &after[1].1;
    assert!(!prompt.contains("brantle"), "{prompt}");
}

#[test]
fn what_stood_in_for_a_time_gives_way_again_and_a_late_limit_does_not() {
    let standing = "We decided to use the brantle gateway for invoices";
    for (limit, revives) in [
        (
            "We decided to use the quaxmire gateway for invoices until 2026-10-01",
            true,
        ),
        (
            "We decided to use the brantle gateway for invoices until 2026-10-01",
            false,
        ),
    ] {
        let mut world = World::default();
        world.add(statement(Kind::Decision, standing, SAID));
        world.add(statement(Kind::Decision, limit, SAID + 1));
        let during = &texts(&mut world, SAID + 2)[0].1;
        assert!(during.contains("until 2026-10-01"), "{during}");
        assert!(!during.contains("invoices\n"), "{during}");
        let after = &texts(&mut world, LATER)[0].1;
        assert!(!after.contains("until 2026-10-01"), "{after}");
        assert_eq!(after.contains(standing), revives, "{limit}: {after}");
    }
}
