//! What users corrected: rejected items come at no trigger, and pinned ones
//! come first.

use remora_core::record::{Override, Rejection};

use super::*;
use crate::overrides::{edit_words, statement_key};

const WRONG: &str = "Use port 8080 for the API";

impl World {
    fn override_with(&self, item: &Item, change: impl FnOnce(&mut Override)) {
        let mut said = Override {
            uid: item.uid.clone(),
            project: item.project.clone(),
            statement: statement_key(&item.title),
            pinned: None,
            rejected: None,
            edit: None,
        };
        change(&mut said);
        self.store
            .apply(&Batch {
                overrides: vec![said],
                ..Batch::default()
            })
            .unwrap();
    }

    pub(super) fn pin(&self, item: &Item, place: i64) {
        self.override_with(item, |said| said.pinned = Some(place));
    }

    pub(super) fn reject(&self, item: &Item) {
        self.override_with(item, |said| {
            said.rejected = Some(Rejection {
                time: 1,
                reason: "it moved to 9090".to_owned(),
                kind: Some(item.kind),
            });
        });
    }
}

/// Every trigger, with words that would find the rejected claim.
const TRIGGERS: [RecallTrigger<'static>; 7] = [
    RecallTrigger::Start,
    RecallTrigger::Resume,
    RecallTrigger::Compact(None),
    RecallTrigger::Prompt("why did we choose port 8080 for the API?"),
    RecallTrigger::Read("src/api.rs"),
    RecallTrigger::Failure {
        command: "cargo test",
        error: "error: the port 8080 of the API is taken",
    },
    RecallTrigger::Subagent(None),
];

fn claim(day: i64) -> Item {
    Item {
        files_modified: vec!["src/api.rs".to_owned()],
        ..row(Kind::Decision, WRONG, day)
    }
}

#[test]
fn a_rejected_claim_comes_at_no_trigger_and_is_named_as_left_out() {
    let world = World::default();
    let wrong = claim(1);
    let id = world.add(wrong.clone());
    // Its words are rare in a project in which other things happen.
    for n in 0..40 {
        world.add(row(Kind::Command, &format!("Ran step {n}"), 0));
    }
    let tells = |moment: &RecallTrigger<'_>| {
        let text = world.at(moment).text.unwrap_or_default();
        text.to_lowercase().contains("port 8080")
    };
    let before = TRIGGERS.map(|moment| tells(&moment));
    assert_eq!(before, [true, false, false, true, true, false, false]);
    // The same session, for what a compaction and a subagent are told.
    let here = |kind, title: &str| Item {
        session: "now".into(),
        ..row(kind, title, 2)
    };
    world.add(here(Kind::Correction, "use PORT 8080 for the “API”!"));
    world.add(Item {
        text: format!("{WRONG}. Write the login page of the API."),
        ..here(Kind::Prompt, "Write the login page of the API")
    });
    let mut summary = Item {
        text: format!("It was decided to {WRONG}. The login page is there."),
        files_modified: vec!["src/api.rs".to_owned()],
        ..turn(
            3,
            "login page",
            &format!("{WRONG}.\n\nThe login page is there."),
        )
    };
    if let Some(detail) = &mut summary.detail {
        let asked = format!("{WRONG}.");
        detail.set_list(DetailList::Asked, [&asked, "Write the login page."]);
        let note = format!("Decision: {WRONG} (it is free)");
        detail.set_list(
            DetailList::Notes,
            [&note, "Decision: Use port 8080 for th…"],
        );
    }
    world.add(summary);
    assert!(tells(&RecallTrigger::Compact(None)) && tells(&RecallTrigger::Subagent(None)));
    world.reject(&wrong);
    for moment in TRIGGERS {
        assert!(!tells(&moment), "{moment:?}: {:?}", world.at(&moment).text);
    }
    let found = world.at(&RecallTrigger::Start);
    let card = "asked: Write the login page.\n  outcome: The login page is there.\n";
    let text = found.text.unwrap();
    assert!(text.contains(card), "{text}");
    let passed = found.passed.iter().find(|p| p.item == format!("#{id}"));
    assert_eq!(passed.unwrap().why, "marked wrong: it moved to 9090");
}

#[test]
fn of_a_turn_only_what_was_asked_beside_a_rejected_claim_is_told() {
    let world = World::default();
    let wrong = claim(1);
    world.add(wrong.clone());
    world.reject(&wrong);
    let files = || vec!["src/api.rs".to_owned()];
    // An answer to nothing but the claim repeats it.
    world.add(Item {
        files_modified: files(),
        ..turn(
            3,
            &format!("{WRONG}."),
            "Yes, 8080 it is, because it is free.",
        )
    });
    let both = world.add(Item {
        files_modified: files(),
        ..turn(
            2,
            &format!("{WRONG}. Write the login page."),
            "The login page is there.",
        )
    });
    let found = world.at(&RecallTrigger::Start);
    assert_eq!(names(&found), [format!("#{both}")]);
    let text = found.text.unwrap();
    let card = "asked: Write the login page.\n  outcome: The login page is there.\n";
    assert!(text.contains(card), "{text}");
}

#[test]
fn words_that_an_edit_replaced_are_told_nowhere() {
    let world = World::default();
    let said = Item {
        prompt: Some(1),
        ..claim(1)
    };
    let id = world.add(said.clone());
    world.add(turn(1, &format!("{WRONG}."), "Noted."));
    let edit = edit_words(&said, 2, Some("Use port 9090 for the API".to_owned()), None);
    let edited = Item {
        title: "Use port 9090 for the API".to_owned(),
        ..said.clone()
    };
    world.override_with(&said, |known| known.edit = Some(edit));
    world.add(edited);
    for moment in TRIGGERS {
        let found = world.at(&moment);
        assert!(
            !found.text.unwrap_or_default().contains("8080"),
            "{moment:?}"
        );
    }
    assert_eq!(names(&world.at(&RecallTrigger::Start)), [format!("#{id}")]);
}

#[test]
fn a_rejected_fix_is_not_suggested_but_another_change_is() {
    let world = World::default();
    let error = "error[E0425]: cannot find value `port` in this scope";
    let moment = RecallTrigger::Failure {
        command: "cargo build",
        error,
    };
    let fix = |change: &str| Item {
        key: crate::recall::error_print("cargo build", error),
        ..row(Kind::Fix, &format!("cannot find value → {change}"), 1)
    };
    let first = fix("declare it static");
    world.add(first.clone());
    assert!(world.at(&moment).text.is_some());
    world.reject(&first);
    assert_eq!(world.at(&moment).text, None);
    let batch = Batch {
        items: vec![ItemWrite::Put(Item {
            uid: first.uid.clone(),
            ..fix("pass it as an argument")
        })],
        ..Batch::default()
    };
    world.store.apply(&batch).unwrap();
    let text = world.at(&moment).text.unwrap();
    assert!(text.contains("pass it as an argument"), "{text}");
}

#[test]
fn rejected_items_do_not_use_up_what_is_looked_at() {
    let world = World::default();
    let old = world.add(row(Kind::Decision, "Keep prices in cents", 1));
    for day in 2..120 {
        let newer = row(Kind::Decision, &format!("Choice {day}"), day);
        world.add(newer.clone());
        world.reject(&newer);
    }
    assert_eq!(names(&world.at(&RecallTrigger::Start)), [format!("#{old}")]);
}

#[test]
fn pinned_items_come_first_at_a_start_and_once() {
    let world = World::default();
    let mut ids = Vec::new();
    for (day, kind) in [(1, Kind::Command), (2, Kind::Summary), (3, Kind::Decision)] {
        let title = format!("Thing {day}");
        let item = match kind {
            Kind::Summary => turn(day, &title, "A parser."),
            _ => row(kind, &title, day),
        };
        ids.push(format!("#{}", world.add(item.clone())));
        if kind != Kind::Decision {
            world.override_with(&item, |said| said.pinned = Some(10 - day));
        }
    }
    let found = world.at(&RecallTrigger::Start);
    assert_eq!(names(&found), [&ids[1], &ids[0], &ids[2]]);
    assert_eq!(found.given[0].why, "pinned");
    let text = found.text.unwrap();
    let card = "Pinned by the user:\n#2~ 1970-01-03 asked: Thing 2\n  outcome: A parser.\n";
    assert!(text.contains(card), "{text}");
    assert_eq!(text.matches("Thing 2").count(), 1, "{text}");
    let compact = world.at(&RecallTrigger::Compact(None));
    assert_eq!(names(&compact), [&ids[1], &ids[0]]);
    // Nothing comes where the user wants nothing at a start, and what has no
    // room is named.
    assert_eq!(
        world.within(&RecallTrigger::Start, 0),
        RecallResult::default()
    );
    let little = world.within(&RecallTrigger::Start, 72);
    let passed = little.passed.iter().filter(|p| p.why.starts_with("pinned"));
    assert!(passed.count() > 0, "{little:?}");
}

#[test]
fn what_is_wrong_is_not_pinned() {
    let world = World::default();
    let item = claim(1);
    world.add(item.clone());
    world.override_with(&item, |said| {
        said.pinned = Some(1);
        said.rejected = Some(Rejection::default());
    });
    let found = world.at(&RecallTrigger::Start);
    assert_eq!((found.text, found.given), (None, Vec::new()));
}
