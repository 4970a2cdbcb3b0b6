//! Long sessions, busy files, steps that are done, words that are taken back.

use super::*;

#[test]
fn a_long_session_does_not_hide_the_others() {
    let world = World::default();
    let summary = |session: &str, minute: i64, detail| Item {
        session: session.to_owned(),
        time: minute * 60_000,
        last_time: minute * 60_000,
        detail: Some(detail),
        ..row(Kind::Summary, &format!("Turn {minute}"), 0)
    };
    let done = json!({"completed": ["wrote the parser"], "next_steps": ["write the docs"]});
    let first = world.add(summary("quiet", 1, done));
    for minute in 2..120 {
        world.add(summary(
            "long",
            minute,
            json!({"completed": [format!("step {minute}")]}),
        ));
    }
    let text = world.at(&Moment::Start).text.unwrap();
    assert!(text.contains("- write the docs"), "{text}");
    assert!(
        text.contains(&format!("#{first} 1970-01-01 summary")),
        "{text}"
    );
    assert_eq!(text.matches(" summary: Turn").count(), 2, "{text}");
    let found = world.at(&Moment::Prompt("continue with the docs of the parser"));
    assert_eq!(names(&found), [format!("#{first}")]);
}

#[test]
fn what_a_session_left_open_stays_until_it_is_done() {
    let world = World::default();
    let summary = |day: i64, hour: i64, detail| Item {
        time: day * DAY + hour,
        detail: Some(detail),
        ..row(Kind::Summary, &format!("Turn {day} {hour}"), day)
    };
    let failing = "Still failing: pytest: 1 test failed (test_x): assert 1 == 2";
    world.add(summary(
        1,
        1,
        json!({"completed": ["built it"], "next_steps": ["add a timeout", failing]}),
    ));
    world.add(summary(
        1,
        2,
        json!({"notes": ["Preference: Always use pathlib"]}),
    ));
    let text = world.at(&Moment::Start).text.unwrap();
    assert!(
        text.contains("- add a timeout") && text.contains(failing),
        "{text}"
    );
    assert!(text.contains("done: built it"), "{text}");
    world.add(summary(
        2,
        1,
        json!({"completed": ["pytest: 1 test passed"]}),
    ));
    let text = world.at(&Moment::Start).text.unwrap();
    assert!(
        text.contains("- add a timeout") && !text.contains("Still failing"),
        "{text}"
    );
}

#[test]
fn what_was_taken_back_is_told_nowhere() {
    let world = World::default();
    let path = "src/search.rs".to_owned();
    let old = Item {
        speaker: Some("user".to_owned()),
        files_modified: vec![path.clone()],
        ..row(
            Kind::Decision,
            "We decided to use tantivy for the search index",
            1,
        )
    };
    world.add(old);
    let noted = json!({"completed": ["made an index"], "notes": ["Decision: We decided to use tantivy for the search index"]});
    world.add(Item {
        detail: Some(noted),
        ..row(Kind::Summary, "Search index made", 2)
    });
    world.add(Item {
        speaker: Some("user".to_owned()),
        ..row(Kind::Decision, "Let's drop tantivy", 3)
    });
    for moment in [
        Moment::Start,
        Moment::Prompt("what do we use for the search index?"),
        Moment::Prompt("continue"),
        Moment::Read(&path),
    ] {
        let text = world.at(&moment).text.unwrap_or_default();
        assert!(!text.contains("use tantivy"), "{moment:?}: {text}");
    }
    assert_eq!(world.at(&Moment::Start).passed[0].why, "said anew later");
}

#[test]
fn a_busy_file_still_tells_what_was_decided() {
    let world = World::default();
    let path = "src/main.rs".to_owned();
    let about = |kind, title: &str, day| Item {
        speaker: Some("user".to_owned()),
        files_modified: vec![path.clone()],
        ..row(kind, title, day)
    };
    let decided = world.add(about(Kind::Decision, "Keep main thin", 1));
    for day in 2..90 {
        world.add(about(Kind::Change, &format!("Changed {day} lines"), day));
        world.add(about(Kind::Summary, &format!("Worked {day} hours"), day));
    }
    let found = world.at(&Moment::Read(&path));
    assert_eq!(names(&found)[0], format!("#{decided}"));
}

#[test]
fn words_of_agents_are_marked() {
    let world = World::default();
    let said = |speaker: &str, title, day| Item {
        speaker: Some(speaker.to_owned()),
        ..row(Kind::Decision, title, day)
    };
    world.add(said("user", "Keep the cache small", 1));
    world.add(said("assistant", "Run every script that a page names", 2));
    let text = world.at(&Moment::Start).text.unwrap();
    assert!(text.contains("#1 ") && text.contains("#2~ "), "{text}");
}
