//! What the reading of a file brings: what was decided, mended and concluded
//! there, also under the paths that it had before.

use super::*;

fn about(path: &str, item: Item) -> Item {
    Item {
        files_modified: vec![path.to_owned()],
        ..item
    }
}

#[test]
fn what_a_changed_file_says_is_dated_and_what_is_gone_is_silent() {
    let mut world = World::default();
    for path in ["same.rs", "later.rs", "edited.rs", "gone.rs"] {
        world.add(Item {
            facts: vec![format!("fact of {path}")],
            ..about(path, row(Kind::Bugfix, &format!("Mended {path}"), 2))
        });
    }
    world.anchored("same.rs", 2 * DAY);
    // An edit after the row, by somebody whom we know.
    world.anchored("later.rs", 4 * DAY);
    world.anchored("edited.rs", 2 * DAY);
    world.anchored("gone.rs", 2 * DAY);
    world
        .files
        .insert("edited.rs".into(), FileStatus::Changed(5 * DAY));
    world.files.insert("gone.rs".into(), FileStatus::Gone);
    let row = |path: &str| {
        let text = world.at(&RecallTrigger::Read(path)).text?;
        let line = text.lines().find(|line| line.contains("Mended"))?;
        Some(line.to_owned())
    };
    let wanted = |text: &str| Some(text.to_owned());
    assert_eq!(
        row("same.rs"),
        wanted("#1~ 1970-01-03 bugfix: Mended same.rs")
    );
    assert_eq!(
        row("later.rs"),
        wanted("#2~ 1970-01-03 bugfix: Mended later.rs [later.rs changed 1970-01-05]")
    );
    assert_eq!(
        row("edited.rs"),
        wanted("#3~ 1970-01-03 bugfix: Mended edited.rs [edited.rs changed 1970-01-06]")
    );
    assert_eq!(
        world.at(&RecallTrigger::Read("gone.rs")),
        RecallResult::default()
    );
}

#[test]
fn a_file_brings_its_history_once() {
    let mut world = World::default();
    let about = |kind, title: &str, path: &str| Item {
        files_modified: vec![path.into()],
        ..row(kind, title, 2)
    };
    let bug = world.add(about(Kind::Bugfix, "Count from one", "src/a.rs"));
    world.add(about(
        Kind::Bugfix,
        "Another file of the name",
        "lib/src/a.rs",
    ));
    world.add(about(Kind::Discovery, "Read it", "src/a.rs"));
    world.anchored("src/a.rs", 2 * DAY);
    world.anchored("src/b.rs", 2 * DAY);
    world.anchored("src/c.rs", 2 * DAY);
    let found = world.at(&RecallTrigger::Read("src/a.rs"));
    assert_eq!(names(&found), [format!("#{bug}")]);
    assert_eq!(found.told, ["file src/a.rs", "reads 1"]);
    world.told = found.told;
    assert_eq!(
        world.at(&RecallTrigger::Read("src/a.rs")),
        RecallResult::default()
    );
    assert_eq!(world.at(&RecallTrigger::Read("src/zzz.rs")).text, None);
}

#[test]
fn after_many_files_only_statements_come() {
    let mut world = World::default();
    world.add(about("src/a.rs", row(Kind::Bugfix, "Count from one", 2)));
    let rule = world.add(about(
        "src/a.rs",
        row(Kind::Decision, "Keep a.rs free of I/O", 2),
    ));
    world.anchored("src/a.rs", 2 * DAY);
    let brings = |world: &World| names(&world.at(&RecallTrigger::Read("src/a.rs"))).len();
    assert_eq!(brings(&world), 2);
    world.told = (1..=6).map(|count| format!("reads {count}")).collect();
    let found = world.at(&RecallTrigger::Read("src/a.rs"));
    assert_eq!(names(&found), [format!("#{rule}")]);
}

#[test]
fn a_file_brings_what_turns_that_changed_it_concluded() {
    let world = World::default();
    let said = "Batches stay under one megabyte, because the broker refuses more.";
    let changed = world.add(about("src/send.rs", turn(1, "send in batches", said)));
    let looked = "The sender is slow, because it waits for the broker.";
    world.add(Item {
        files_read: vec!["src/send.rs".to_owned()],
        ..turn(2, "why is it slow", looked)
    });
    // What the turn changed is told by what it concluded.
    world.add(Item {
        prompt: Some(1),
        ..about("src/send.rs", row(Kind::Feature, "Added `send_batch`", 1))
    });
    let found = world.at(&RecallTrigger::Read("src/send.rs"));
    assert_eq!(names(&found), [format!("#{changed}")]);
    let text = found.text.unwrap();
    assert!(
        text.contains(&format!("#{changed}~ 1970-01-02: {said}\n")),
        "{text}"
    );
}

#[test]
fn what_a_turn_concluded_is_told_with_the_first_of_its_files() {
    let mut world = World::default();
    let said = "Batches stay under one megabyte, because the broker refuses more.";
    let id = world.add(Item {
        files_modified: vec!["src/send.rs".to_owned(), "src/pack.rs".to_owned()],
        ..turn(1, "send in batches", said)
    });
    let found = world.at(&RecallTrigger::Read("src/send.rs"));
    assert_eq!(names(&found), [format!("#{id}")]);
    assert_eq!(
        found.told,
        [
            format!("line #{id}"),
            "file src/send.rs".to_owned(),
            "reads 1".to_owned()
        ]
    );
    world.told = found.told;
    world.seen.insert(format!("#{id}"), Exposure::TitleOnly);
    assert_eq!(
        world.at(&RecallTrigger::Read("src/pack.rs")),
        RecallResult::default()
    );
}

#[test]
fn a_file_brings_nothing_that_a_later_turn_amends() {
    let world = World::default();
    let path = "infra/secrets.tf";
    let old = "use SSM Parameter Store for the secrets";
    world.add(about(
        path,
        turn(1, old, "The secrets are in SSM, because it is free."),
    ));
    world.add(about(path, row(Kind::Decision, &format!("Let's {old}"), 1)));
    let moved = "We're moving the secrets from SSM to Secrets Manager";
    let said = "Secrets Manager holds them, because it rotates.";
    let new = world.add(about(path, turn(2, moved, said)));
    assert_eq!(
        names(&world.at(&RecallTrigger::Read(path))),
        [format!("#{new}")]
    );
}

fn move_file(world: &World, path: &str, from: &str) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let file = FileRecord {
        project: "project".into(),
        folder: folder.into(),
        name: name.into(),
        holds: String::new(),
        state: FileState::Changed,
        from: Some(from.into()),
        session: "s".into(),
        time: 3 * DAY,
        anchor: None,
    };
    let files = vec![file];
    let batch = Batch {
        files,
        ..Batch::default()
    };
    world.store.apply(&batch).unwrap();
}

#[test]
fn a_file_that_is_not_there_is_told_where_it_went() {
    let mut world = World::default();
    for gone in [
        "src/packet.rs",
        "src/wire/frame.rs",
        "src/other/cart.rs",
        "src/nobody.rs",
    ] {
        world.files.insert(gone.into(), FileStatus::Gone);
    }
    move_file(&world, "src/wire/frame.rs", "src/packet.rs");
    move_file(&world, "src/net", "src/wire");
    world.anchored("src/shop/cart.rs", DAY);
    let told = |path: &str| {
        let text = world.at(&RecallTrigger::Missing(path)).text?;
        text.lines().nth(2).map(str::to_owned)
    };
    assert_eq!(
        told("src/packet.rs").as_deref(),
        Some(
            "src/packet.rs is not there any more: it was moved to src/net/frame.rs on 1970-01-04."
        )
    );
    assert_eq!(
        told("src/other/cart.rs").as_deref(),
        Some(
            "src/other/cart.rs is not there; the only file of that name that is known is src/shop/cart.rs."
        )
    );
    assert_eq!(told("src/nobody.rs"), None);
    // It is there: something else was wrong with it.
    assert_eq!(told("src/shop/cart.rs"), None);
    let error = "Exit code 1\ncat: src/packet.rs: No such file or directory";
    let found = world.at(&RecallTrigger::Failure {
        command: "cat src/packet.rs",
        error,
    });
    assert!(
        found
            .text
            .is_some_and(|text| text.contains("src/net/frame.rs"))
    );
}

#[test]
fn a_file_is_known_under_the_paths_that_it_had() {
    let world = World::default();
    let moved = |path: &str, from: &str| move_file(&world, path, from);
    // `git mv` of a file, then of its folder, then of the folder above.
    moved("src/wire/frame.rs", "src/packet.rs");
    moved("src/net", "src/wire");
    moved("lib", "src");
    let said = "Frames carry their length, because the peer reads ahead.";
    let first = world.add(about("src/packet.rs", turn(1, "frame it", said)));
    let ruled = row(Kind::Decision, "Frames stay below 64 KiB", 2);
    let ruled = world.add(about("src/wire/frame.rs", ruled));
    world.add(about(
        "src/other.rs",
        row(Kind::Decision, "Other files stay", 2),
    ));
    // Said with the first turn, before any file was changed.
    let stated = |title: &str| Item {
        prompt: Some(1),
        ..row(Kind::Preference, title, 1)
    };
    let named = world.add(stated("Never use unsafe in src/packet.rs"));
    world.add(stated("Never use unsafe in src/other.rs"));
    let wanted = [
        format!("#{ruled}"),
        format!("#{named}"),
        format!("#{first}"),
    ];
    for path in ["src/wire/frame.rs", "src/net/frame.rs", "lib/net/frame.rs"] {
        assert_eq!(
            names(&world.at(&RecallTrigger::Read(path))),
            wanted,
            "{path}"
        );
    }
}
