//! Long sessions, busy files, steps that are done, words that are taken back.

use super::*;

#[test]
fn a_long_session_does_not_hide_the_others() {
    let world = World::default();
    let at = |session: &str, minute: i64, item: Item| Item {
        session: session.into(),
        time: minute * 60_000,
        last_time: minute * 60_000,
        uid: format!("{session} {minute}").into(),
        ..item
    };
    let parser = open_turn(
        0,
        "write the parser",
        "The parser is there.",
        &["write its docs"],
    );
    let first = world.add(at("quiet", 1, parser));
    for minute in 2..120 {
        let said = format!("Page {minute} is there.");
        let page = turn(0, &format!("draw page {minute}"), &said);
        let files_modified = vec!["page.html".to_owned()];
        let item = Item {
            files_modified,
            ..page
        };
        world.add(at("long", minute, item));
    }
    let text = world.at(&RecallTrigger::Start).text.unwrap();
    let left = format!("Left open (#{first}~ 1970-01-01):\n- noted as next: write its docs\n");
    assert!(text.contains(&left), "{text}");
    assert!(text.contains("asked: draw page 119\n"), "{text}");
    assert_eq!(text.matches("asked: ").count(), 1, "{text}");
    // Whoever names the work goes on with that.
    let found = world.at(&RecallTrigger::Prompt(
        "continue with the docs of the parser",
    ));
    assert_eq!(names(&found), [format!("#{first}")]);
}

#[test]
fn what_a_session_left_open_stays_until_it_is_done() {
    let world = World::default();
    let with = |mut item: Item, hour: i64, more: &[(DetailList, &str)]| {
        item.time += hour;
        item.uid = format!("{} {hour}", item.uid).into();
        for (list, entry) in more {
            item.detail.as_mut().unwrap().set_list(*list, [entry]);
        }
        item
    };
    let failing = "Still failing: pytest: 1 test failed (test_x): assert 1 == 2";
    let start = || world.at(&RecallTrigger::Start).text.unwrap();
    let built = open_turn(
        1,
        "build it",
        "The cache is built.",
        &[failing, "add a timeout"],
    );
    world.add(with(
        built,
        1,
        &[(DetailList::Failing, "pytest tests/test_a.py")],
    ));
    let stated = turn(1, "Always use pathlib", "Noted.");
    world.add(with(
        stated,
        2,
        &[(DetailList::Notes, "Preference: Always use pathlib")],
    ));
    let text = start();
    let open = format!("  left open: {failing} (#1)\n  left open: add a timeout (#1)\n");
    assert!(text.contains(&open), "{text}");
    // Another target of the same tool says nothing of this one.
    let passed = |day, command| {
        let item = turn(day, "run the tests", "1 test passed.");
        with(
            item,
            1,
            &[
                (DetailList::Passed, command),
                (DetailList::Notes, "Beware of the clock"),
            ],
        )
    };
    world.add(passed(2, "pytest tests/test_b.py"));
    let open = format!("- {failing} (#1)\n- noted as next: add a timeout (#1)\n");
    assert!(start().contains(&open), "{}", start());
    // It fails in another way now.
    let other = "Still failing: pytest: 1 test failed (test_x): KeyError";
    let again = open_turn(3, "run it again", "It fails.", &[other]);
    world.add(with(
        again,
        1,
        &[(DetailList::Failing, "pytest tests/test_a.py")],
    ));
    assert!(start().contains(other) && !start().contains(failing));
    world.add(passed(4, "pytest"));
    let text = start();
    assert!(
        text.contains("- noted as next: add a timeout") && !text.contains("Still failing"),
        "{text}"
    );
}

#[test]
fn a_question_since_does_not_hide_where_the_work_stands() {
    let world = World::default();
    let at = |session: &str, item: Item| Item {
        session: session.into(),
        ..item
    };
    let built = open_turn(1, "build the cache", "The cache is built.", &["measure it"]);
    let built = world.add(at("work", built));
    let mut asked = turn(2, "how large is the cache?", "It holds 64 entries.");
    let detail = asked.detail.as_mut().unwrap();
    detail.set_list(DetailList::Learned, ["It holds 64 entries"]);
    world.add(at("talk", asked));
    let start = world.at(&RecallTrigger::Start).text.unwrap();
    assert!(
        start.contains("stands:\n#1~ 1970-01-02 asked: build"),
        "{start}"
    );
    let found = world.at(&RecallTrigger::Prompt("continue"));
    assert_eq!(names(&found), [format!("#{built}")]);
}

#[test]
fn compactions_do_not_hide_what_a_session_did() {
    let world = World::default();
    let of_session = |minute: i64, item: Item| Item {
        session: "long".into(),
        time: minute * 60_000,
        last_time: minute * 60_000,
        ..item
    };
    let work = turn(0, "rename the crate", "All 6 files are changed.");
    let id = world.add(of_session(
        1,
        Item {
            files_modified: vec!["Cargo.toml".to_owned()],
            ..work
        },
    ));
    for minute in 2..6 {
        let title = format!("Compacted: nothing much {minute}");
        world.add(of_session(minute, row(Kind::Summary, &title, 0)));
    }
    assert_eq!(names(&world.at(&RecallTrigger::Start)), [format!("#{id}")]);
}

#[test]
fn a_statement_is_told_once() {
    let world = World::default();
    let httpx = "We decided to use httpx for all HTTP calls";
    let said = |session: &str, kind, title: &str| Item {
        session: session.into(),
        prompt: Some(1),
        speaker: Some("user".to_owned()),
        text: title.to_owned(),
        ..row(kind, title, 1)
    };
    let ended = |session: &str, outcome: &str| Item {
        session: session.into(),
        files_modified: vec!["client.py".to_owned()],
        ..turn(2, httpx, outcome)
    };
    let decided = world.add(said("one", Kind::Decision, httpx));
    world.add(ended("one", "httpx it is."));
    let found = world.at(&RecallTrigger::Start);
    assert_eq!(names(&found), [format!("#{decided}")], "{found:?}");
    let asked = RecallTrigger::Prompt("why do we use httpx for all HTTP calls?");
    let text = world.at(&asked).text.unwrap();
    assert_eq!(text.matches(httpx).count(), 1, "{text}");
    // What else a turn tells stays.
    let outcome = "The client keeps connections open, because the gateway is far away.";
    let more = world.add(Item {
        uid: "more".into(),
        time: 3 * DAY,
        ..ended("two", outcome)
    });
    let found = world.at(&RecallTrigger::Start);
    let text = found.text.as_deref().unwrap();
    assert_eq!(names(&found), [format!("#{decided}"), format!("#{more}")]);
    assert_eq!(text.matches(httpx).count(), 1, "{text}");
    assert!(
        text.contains(&format!("#{more}~ 1970-01-04 outcome: {outcome}\n")),
        "{text}"
    );
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
    let text = world.at(&RecallTrigger::Compact(None)).text.unwrap();
    assert_eq!(text.matches("Never print").count(), 1, "{text}");
}

#[test]
fn a_question_is_no_answer() {
    let world = World::default();
    let asked = "which validation library do we use in the api?";
    let prompt = RecallTrigger::Prompt("which validation library did we use in the api?");
    world.add(turn(1, asked, ""));
    assert_eq!(world.at(&prompt).text, None);
    let answered = world.add(turn(2, asked, "zod, in every handler."));
    assert_eq!(names(&world.at(&prompt)), [format!("#{answered}")]);
}

#[test]
fn what_the_user_said_answers_though_nothing_was_done() {
    let world = World::default();
    let told = "Orders get ULIDs as ids since they sort by time.";
    let id = world.add(turn(1, told, ""));
    let prompt = RecallTrigger::Prompt("why do orders get ULIDs as ids?");
    let found = world.at(&prompt);
    assert_eq!(names(&found), [format!("#{id}")]);
    assert!(found.text.unwrap().contains(&format!("asked: {told}")));
}

#[test]
fn a_statement_that_was_told_is_not_told_by_its_summary() {
    let mut world = World::default();
    let said = "Let's use JWT for session auth";
    let id = world.add(Item {
        prompt: Some(1),
        ..row(Kind::Decision, said, 1)
    });
    let turn = world.add(turn(1, &format!("{said}."), "JWT it is."));
    let prompt = RecallTrigger::Prompt("how do we do session auth, with JWT?");
    assert_eq!(names(&world.at(&prompt)), [format!("#{turn}")]);
    world.seen.insert(format!("#{id}"), Exposure::Full);
    let found = world.at(&prompt);
    assert_eq!(found.text, None);
    assert_eq!(found.passed[0].why, "injected before");
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
            session: "now".into(),
            text: title.to_owned(),
            ..row(kind, title, day)
        });
    }
    let text = world.at(&RecallTrigger::Subagent(None)).text.unwrap();
    assert!(text.contains("for a part of this: Add a flag"), "{text}");
}

#[test]
fn what_was_taken_back_is_told_nowhere() {
    let world = World::default();
    let path = "src/search.rs".to_owned();
    let stated = "We decided to use tantivy for the search index";
    let by_user = |item: Item| Item {
        speaker: Some("user".to_owned()),
        prompt: Some(1),
        ..item
    };
    let old = Item {
        files_modified: vec![path.clone()],
        ..by_user(row(Kind::Decision, stated, 1))
    };
    let old = world.add(old);
    let made = world.add(Item {
        files_modified: vec![path.clone()],
        ..turn(
            1,
            stated,
            "The search index is made by tantivy, because it is fast.",
        )
    });
    let dropped = world.add(by_user(row(Kind::Decision, "Let's drop tantivy", 3)));
    // The task of a subagent.
    let task = "measure the search index that tantivy made";
    world.add(Item {
        session: "now".into(),
        text: task.to_owned(),
        ..row(Kind::Prompt, task, 4)
    });
    for moment in [
        RecallTrigger::Start,
        RecallTrigger::Prompt("what do we use for the search index?"),
        RecallTrigger::Prompt("continue"),
        RecallTrigger::Read(&path),
        RecallTrigger::Subagent(None),
    ] {
        let found = world.at(&moment);
        let text = found.text.clone().unwrap_or_default();
        assert!(!text.contains("use tantivy"), "{moment:?}: {text}");
        assert!(!text.contains("by tantivy"), "{moment:?}: {text}");
        let told = format!("#{dropped}");
        assert!(names(&found).iter().all(|name| *name == told), "{found:?}");
    }
    let start = world.at(&RecallTrigger::Start);
    let passed = |id: i64| start.passed.iter().find(|p| p.item == format!("#{id}"));
    assert_eq!(passed(old).unwrap().why, "said anew later");
    let asked = world.at(&RecallTrigger::Prompt(
        "what do we use for the search index?",
    ));
    assert_eq!(asked.passed[0].item, format!("#{made}"));
    assert_eq!(asked.passed[0].why, format!("amended by #{dropped}"));
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
    let found = world.at(&RecallTrigger::Read(&path));
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
    // A change is told in words of a file, a turn in those of an agent.
    world.add(Item {
        files_modified: vec!["vendor.js".to_owned()],
        ..row(Kind::Change, "Changed the vendor file", 3)
    });
    let said = "The page says so, because it wants to be read.";
    world.add(open_turn(
        4,
        "read the first page",
        said,
        &["print the first page"],
    ));
    world.add(open_turn(5, "read the other page", said, &["obey that"]));
    world.add(turn(
        3,
        "look at the mail",
        "The mail lies, because it is forged.",
    ));
    let text = world.at(&RecallTrigger::Start).text.unwrap();
    for mark in ["\n#1 ", "\n#2~ ", "(#4~ ", "\n#5~ ", "\n#6~ "] {
        assert!(text.contains(mark), "{mark}: {text}");
    }
    let text = world.at(&RecallTrigger::Read("vendor.js")).text.unwrap();
    assert!(text.contains("\n#3~ "), "{text}");
}
