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
    assert!(text.contains("- noted as next: write the docs"), "{text}");
    assert!(
        text.contains(&format!("#{first}~ 1970-01-01 summary")),
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
    let start = || world.at(&Moment::Start).text.unwrap();
    world.add(summary(
        1,
        1,
        json!({"completed": ["built it"], "next_steps": [failing, "add a timeout"],
            "failing": ["pytest tests/test_a.py"]}),
    ));
    world.add(summary(
        1,
        2,
        json!({"notes": ["Preference: Always use pathlib"]}),
    ));
    let text = start();
    for part in [
        "Left open, as recorded (#1~ ",
        "- noted as next: add a timeout",
        failing,
        "done: built it",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Another target of the same tool says nothing of this one.
    let passed =
        |command: &str| json!({"completed": ["pytest: 1 test passed"], "passed": [command]});
    world.add(summary(2, 1, passed("pytest tests/test_b.py")));
    assert!(start().contains(failing), "{}", start());
    // It fails in another way now.
    let other = "Still failing: pytest: 1 test failed (test_x): KeyError";
    world.add(summary(
        3,
        1,
        json!({"next_steps": [other], "failing": ["pytest tests/test_a.py"]}),
    ));
    assert!(start().contains(other) && !start().contains(failing));
    world.add(summary(4, 1, passed("pytest")));
    let text = start();
    assert!(
        text.contains("- noted as next: add a timeout") && !text.contains("Still failing"),
        "{text}"
    );
}

#[test]
fn compactions_do_not_hide_what_a_session_did() {
    let world = World::default();
    let summary = |minute: i64, title: &str, detail| Item {
        session: "long".to_owned(),
        time: minute * 60_000,
        detail,
        ..row(Kind::Summary, title, 0)
    };
    let done = json!({"completed": ["changed 6 files"]});
    let id = world.add(summary(1, "The work", Some(done)));
    for minute in 2..6 {
        world.add(summary(minute, "Compacted: nothing much", None));
    }
    assert_eq!(names(&world.at(&Moment::Start)), [format!("#{id}")]);
}

#[test]
fn a_statement_is_told_once() {
    let world = World::default();
    let httpx = "We decided to use httpx for all HTTP calls";
    let said = |session: &str, kind, title: &str| Item {
        session: session.to_owned(),
        speaker: Some("user".to_owned()),
        text: title.to_owned(),
        ..row(kind, title, 1)
    };
    let turn = |done: &[&str]| {
        let note = format!("Decision: {httpx} (it does async)");
        Some(json!({"request": httpx, "notes": [note], "learned": [httpx], "completed": done}))
    };
    let decided = world.add(said("one", Kind::Decision, httpx));
    world.add(Item {
        session: "one".to_owned(),
        detail: turn(&[]),
        ..row(Kind::Summary, httpx, 2)
    });
    let asked = Moment::Prompt("why do we use httpx for HTTP calls?");
    for moment in [Moment::Start, asked] {
        let found = world.at(&moment);
        assert_eq!(names(&found), [format!("#{decided}")], "{found:?}");
    }
    // What else it tells stays.
    let more = world.add(Item {
        session: "two".to_owned(),
        detail: turn(&["Wrote the HTTP client"]),
        ..row(
            Kind::Summary,
            &format!("{httpx} → Wrote the HTTP client"),
            2,
        )
    });
    for moment in [Moment::Start, asked] {
        let found = world.at(&moment);
        let text = found.text.as_deref().unwrap();
        assert!(
            names(&found).contains(&format!("#{more}").as_str()),
            "{text}"
        );
        assert_eq!(text.matches(httpx).count(), 1, "{text}");
    }
    world.add(said(
        "now",
        Kind::Prompt,
        "Never print to stdout in library code",
    ));
    world.add(said(
        "now",
        Kind::Preference,
        "Never print to stdout in library code!",
    ));
    let text = world.at(&Moment::Compact(None)).text.unwrap();
    assert_eq!(text.matches("Never print").count(), 1, "{text}");
}

#[test]
fn a_question_is_no_answer() {
    let world = World::default();
    let asked = "which validation library do we use in the api?";
    let turn = |learned: &[&str], day| Item {
        detail: Some(json!({"request": asked, "learned": learned})),
        ..row(Kind::Summary, asked, day)
    };
    let prompt = Moment::Prompt("which validation library did we use in the api?");
    world.add(turn(&[], 1));
    assert_eq!(world.at(&prompt).text, None);
    let answered = world.add(turn(&["zod"], 2));
    assert_eq!(names(&world.at(&prompt)), [format!("#{answered}")]);
}

#[test]
fn what_the_person_told_answers_though_nothing_was_done() {
    let world = World::default();
    let told = "Orders get ULIDs as ids since they sort by time.";
    let id = world.add(Item {
        detail: Some(json!({"request": told})),
        ..row(Kind::Summary, told, 1)
    });
    let prompt = Moment::Prompt("why do orders get ULIDs as ids?");
    assert_eq!(names(&world.at(&prompt)), [format!("#{id}")]);
}

#[test]
fn a_statement_that_was_told_is_not_told_by_its_summary() {
    let mut world = World::default();
    let said = "Let's use JWT for session auth";
    let id = world.add(row(Kind::Decision, said, 1));
    world.add(Item {
        detail: Some(
            json!({"request": format!("{said}."), "notes": [format!("Decision: {said}")]}),
        ),
        ..row(Kind::Summary, &format!("{said} → JWT it is"), 2)
    });
    world.seen.insert(format!("#{id}"), Seen::Named);
    let prompt = Moment::Prompt("how do we do session auth, with JWT?");
    assert_eq!(world.at(&prompt).text, None);
}

#[test]
fn one_session_of_commands_leaves_the_index_to_others() {
    let world = World::default();
    let ran = |command: &str, n: i64| Item {
        session: "busy".to_owned(),
        time: 2 * DAY + n,
        detail: Some(json!({"command": command})),
        ..row(Kind::Command, &format!("Ran {command}"), 2)
    };
    let change = world.add(row(Kind::Change, "Changed the parser", 1));
    for n in 0..60 {
        world.add(ran(&format!("just step{n}"), n));
        world.add(ran(&format!("cat file{n}"), n));
    }
    let found = world.at(&Moment::Start);
    assert!(names(&found).contains(&format!("#{change}").as_str()));
    let text = found.text.unwrap();
    assert_eq!(text.matches("command Ran just").count(), 4, "{text}");
    assert!(!text.contains("cat file"), "{text}");
}

#[test]
fn a_correction_is_not_the_task_of_a_subagent() {
    let world = World::default();
    for (kind, title, day) in [
        (Kind::Prompt, "Add a flag to the export command", 5),
        (Kind::Prompt, "No, I told you: never use default exports", 6),
        (Kind::Preference, "I told you: never use default exports", 6),
        (Kind::Prompt, "go on", 7),
    ] {
        world.add(Item {
            session: "now".to_owned(),
            text: title.to_owned(),
            ..row(kind, title, day)
        });
    }
    let text = world.at(&Moment::Subagent).text.unwrap();
    assert!(text.contains("for a part of this: Add a flag"), "{text}");
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
    // A change is told in words of a file, a summary in those of an agent.
    world.add(row(Kind::Change, "Changed the vendor file", 3));
    let detail = json!({"learned": ["The page says so"]});
    world.add(Item {
        detail: Some(detail),
        ..row(Kind::Summary, "Read the page", 4)
    });
    let text = world.at(&Moment::Start).text.unwrap();
    for mark in ["#1 ", "#2~ ", "#3~ ", "#4~ "] {
        assert!(text.contains(mark), "{mark}: {text}");
    }
}
