//! Whole folders on a disk: what is written, what is left alone, what is
//! refused.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

use tempfile::TempDir;

use super::*;

const NOW: &str = "2026-11-16T03:48:19.837Z";

fn nothing(_: &str) -> Vec<String> {
    Vec::new()
}

fn folder(scope: MemoryScope) -> (TempDir, MemoryFolder) {
    let temp = tempfile::tempdir().unwrap();
    let folder = match scope {
        MemoryScope::Team => MemoryFolder::for_team(temp.path()),
        scope => MemoryFolder::new(scope, temp.path().join("memory")),
    };
    (temp, folder)
}

fn draft(title: &str) -> NewMemory {
    NewMemory {
        name: None,
        title: title.to_owned(),
        description: None,
        kind: MemoryType::Feedback,
        priority: 3,
        author: MemoryAuthor::User,
        body: format!("{title}, always."),
        session: None,
    }
}

fn read(folder: &MemoryFolder, file: &str) -> String {
    fs::read_to_string(folder.dir().join(file)).unwrap()
}

fn files(dir: &Path) -> Vec<String> {
    let mut list: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    list.sort();
    list
}

#[test]
fn adding_writes_a_file_and_a_line() {
    let (_temp, folder) = folder(MemoryScope::Project);
    let draft = NewMemory {
        description: Some("When tests: touch\n the database".to_owned()),
        priority: 1,
        session: Some("58d4".to_owned()),
        ..draft("C++: never mock the DB")
    };
    let written = folder.add(&draft, NOW, &nothing).unwrap();
    assert_eq!(
        written.memory.uri.to_string(),
        "memory://project/c-never-mock-the-db"
    );
    assert_eq!(written.memory.title, "C++: never mock the DB");
    assert_eq!(
        read(&folder, "c-never-mock-the-db.md"),
        "---\nname: c-never-mock-the-db\ndescription: \"When tests: touch the database\"\nmetadata:\n  \
         node_type: memory\n  title: \"C++: never mock the DB\"\n  type: feedback\n  priority: 1\n  \
         originSessionId: \"58d4\"\n  modified: 2026-11-16T03:48:19.837Z\n---\n\nC++: never mock the DB, always.\n"
    );
    assert_eq!(
        read(&folder, "MEMORY.md"),
        "- [C++: never mock the DB](c-never-mock-the-db.md) - When tests: touch the database\n"
    );
    assert_eq!(files(folder.dir()), ["MEMORY.md", "c-never-mock-the-db.md"]);
    let again = folder.add(&draft, NOW, &nothing).unwrap_err().to_string();
    assert!(again.starts_with("memory://project/c-never-mock-the-db is there already"));
    assert!(folder.index(IndexMode::Check).unwrap().is_true());
}

#[test]
fn editing_and_removing_keep_the_rest() {
    let (_temp, folder) = folder(MemoryScope::User);
    for title in ["One", "Two", "Three"] {
        folder.add(&draft(title), NOW, &nothing).unwrap();
    }
    let file = folder.dir().join("two.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let change = MemoryChange {
        priority: Some(2),
        description: Some("the second".to_owned()),
        ..MemoryChange::default()
    };
    let written = folder
        .edit("two", &change, "2027-01-01T00:00:00.000Z", &nothing)
        .unwrap();
    assert!(written.memory.is_core());
    assert_eq!(written.memory.body, "Two, always.");
    assert_eq!(
        written.memory.modified.as_deref(),
        Some("2027-01-01T00:00:00.000Z")
    );
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(
        read(&folder, "MEMORY.md"),
        "- [One](one.md) - One, always\n- [Two](two.md) - the second\n- [Three](three.md) - Three, always\n"
    );
    fs::write(
        folder.index_path(),
        "# My index\n- [Two](two.md)\nsee two.md\n- [One](one.md)\n",
    )
    .unwrap();
    let removed = folder.remove("two.md").unwrap();
    assert_eq!(
        (removed.memory.title.as_str(), removed.mentions),
        ("Two", vec![2])
    );
    assert_eq!(
        read(&folder, "MEMORY.md"),
        "# My index\nsee two.md\n- [One](one.md)\n"
    );
    assert!(!file.exists());
    let missing = folder.get("onee").unwrap_err().to_string();
    assert_eq!(
        missing,
        "there is no memory://user/onee; did you mean `one`?"
    );
}

#[test]
fn a_users_memories_are_for_the_owner_alone_and_a_teams_are_not() {
    for (scope, mode) in [(MemoryScope::User, 0o600), (MemoryScope::Project, 0o600)] {
        let (_temp, folder) = folder(scope);
        folder.add(&draft("One"), NOW, &nothing).unwrap();
        let file = folder.dir().join("one.md");
        // As an earlier version wrote it.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        folder
            .edit("one", &MemoryChange::default(), NOW, &nothing)
            .unwrap();
        for path in [&file, &folder.index_path()] {
            let found = fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(found, mode, "{}", path.display());
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let team = MemoryFolder::for_team(temp.path());
    team.add(&draft("One"), NOW, &nothing).unwrap();
    let plain = temp.path().join("plain");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&team.dir().join("one.md")), mode(&plain));
}

#[test]
fn files_of_others_are_found_by_either_name() {
    let (_temp, folder) = folder(MemoryScope::Project);
    fs::create_dir_all(folder.dir().join("deep")).unwrap();
    let put = |file: &str, text: &[u8]| fs::write(folder.dir().join(file), text).unwrap();
    put(
        "feedback_testing.md",
        b"---\nname: no-mocks\ndescription: x\ntype: feedback\n---\nSee [[a]], [[b|shown]], [[a]] and [[not\nthis]].\n",
    );
    put("plain.md", b"# A heading\nwords\n");
    put("broken.md", b"---\na: &x [*x]\n---\nwords\n");
    put("odd.md", b"---\ntype: lesson\npriority: 7\n---\n\xff\xfe\n");
    put("notes.txt", b"no memory");
    put(".hidden.md", b"no memory");
    put(
        "MEMORY.md",
        b"- [Tests without mocks](feedback_testing.md) - x\n",
    );
    put("deep/x.md", b"not looked at");
    let listing = folder.list_memories().unwrap();
    let names: Vec<&str> = listing
        .memories
        .iter()
        .map(|memory| memory.uri.name.as_str())
        .collect();
    assert_eq!(names, ["broken", "feedback_testing", "odd", "plain"]);
    let memory = folder.get("no-mocks").unwrap();
    assert_eq!(memory.uri.name.as_str(), "feedback_testing");
    assert_eq!(memory.title, "Tests without mocks");
    assert_eq!(memory.links, ["a", "b"]);
    assert_eq!(folder.get("plain").unwrap().title, "A heading");
    let broken = folder.get("broken").unwrap();
    assert_eq!((broken.kind, broken.body.as_str()), (None, "words"));
    assert!(broken.warnings[0].starts_with("its frontmatter cannot be read"));
    let odd = folder.get("odd").unwrap();
    assert_eq!(odd.priority, 3);
    assert_eq!(odd.warnings.len(), 3);
    let change = MemoryChange {
        priority: Some(1),
        ..MemoryChange::default()
    };
    let error = folder.edit("odd", &change, NOW, &nothing).unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
    assert!(folder.edit("broken", &change, NOW, &nothing).is_err());
}

#[test]
fn nothing_leaves_the_folder() {
    let (temp, folder) = folder(MemoryScope::Project);
    folder.add(&draft("One"), NOW, &nothing).unwrap();
    let outside = temp.path().join("outside.md");
    fs::write(&outside, "private\n").unwrap();
    symlink(&outside, folder.dir().join("link.md")).unwrap();
    symlink("one.md", folder.dir().join("alias.md")).unwrap();
    symlink("nowhere.md", folder.dir().join("dangling.md")).unwrap();
    for name in ["../outside", "/etc/passwd", "a/b", "", "\0", "MEMORY"] {
        assert!(folder.get(name).is_err(), "{name}");
        assert!(folder.remove(name).is_err(), "{name}");
    }
    assert!(matches!(
        folder.get("link"),
        Err(MemoryError::Outside { .. })
    ));
    let change = MemoryChange {
        body: Some("changed".to_owned()),
        ..MemoryChange::default()
    };
    for name in ["link", "dangling"] {
        assert!(folder.edit(name, &change, NOW, &nothing).is_err());
        let named = NewMemory {
            name: Some(MemoryName::new(name).unwrap()),
            ..draft("x")
        };
        assert!(folder.add(&named, NOW, &nothing).is_err());
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "private\n");
    assert_eq!(folder.list_memories().unwrap().warnings.len(), 2);
    // A link that stays inside is followed; removing it removes the link.
    folder.edit("alias", &change, NOW, &nothing).unwrap();
    assert_eq!(folder.get("one").unwrap().body, "changed");
    folder.remove("alias").unwrap();
    assert!(folder.get("one").is_ok());
    // An index that is a link to elsewhere stops every write, before any.
    fs::remove_file(folder.index_path()).unwrap();
    symlink(&outside, folder.index_path()).unwrap();
    let before = files(folder.dir());
    assert!(folder.add(&draft("Two"), NOW, &nothing).is_err());
    assert!(folder.edit("one", &change, NOW, &nothing).is_err());
    assert_eq!(files(folder.dir()), before);
    assert_eq!(fs::read_to_string(&outside).unwrap(), "private\n");
}

#[test]
fn a_repository_cannot_send_its_readers_elsewhere() {
    let (temp, _) = folder(MemoryScope::User);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("key.md"), "secret").unwrap();
    fs::create_dir_all(temp.path().join(".claude")).unwrap();
    symlink(elsewhere.path(), temp.path().join(".claude/team-memory")).unwrap();
    let team = MemoryFolder::for_team(temp.path());
    assert!(matches!(
        team.list_memories(),
        Err(MemoryError::Outside { .. })
    ));
    assert!(team.add(&draft("One"), NOW, &nothing).is_err());
    assert!(team.index(IndexMode::Write).is_err());
    assert_eq!(files(elsewhere.path()), ["key.md"]);
}

#[test]
fn a_team_index_is_made_of_the_files_alone() {
    let (_temp, folder) = folder(MemoryScope::Team);
    let core = NewMemory {
        priority: 1,
        ..draft("Zebra")
    };
    for draft in [&draft("Beta"), &core, &draft("Alpha")] {
        folder.add(draft, NOW, &nothing).unwrap();
    }
    let index = read(&folder, "MEMORY.md");
    let lines: Vec<&str> = index.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "- [Zebra](zebra.md) - Zebra, always",
            "- [Alpha](alpha.md) - Alpha, always",
            "- [Beta](beta.md) - Beta, always"
        ]
    );
    fs::write(folder.index_path(), "<<<<<<< HEAD\nmerged by hand\n").unwrap();
    let state = folder.index(IndexMode::Check).unwrap();
    assert!(!state.is_true());
    assert_eq!(read(&folder, "MEMORY.md"), "<<<<<<< HEAD\nmerged by hand\n");
    folder.index(IndexMode::Write).unwrap();
    assert_eq!(read(&folder, "MEMORY.md"), index);
    folder.remove("zebra").unwrap();
    assert!(folder.index(IndexMode::Check).unwrap().is_true());
}

#[test]
fn a_team_gets_no_secrets_and_no_persons() {
    let (_temp, folder) = folder(MemoryScope::Team);
    let secrets = |text: &str| -> Vec<String> {
        let found = text.contains("hunter2");
        found.then(|| "a password".to_owned()).into_iter().collect()
    };
    for body in [
        "the password is hunter2",
        "ask jane@acme.io",
        "/home/jane/x",
    ] {
        let draft = NewMemory {
            body: body.to_owned(),
            ..draft("One")
        };
        let error = folder.add(&draft, NOW, &secrets).unwrap_err();
        assert!(error.to_string().starts_with("not shared: "), "{error}");
        assert!(!error.to_string().contains("hunter2"));
        assert!(!error.to_string().contains("line 9"), "{error}");
    }
    assert_eq!(folder.list_memories().unwrap(), MemoryListing::default());
    folder.add(&draft("Fine"), NOW, &secrets).unwrap();
    let change = MemoryChange {
        title: Some("Call +49 30 901820".to_owned()),
        ..MemoryChange::default()
    };
    assert!(folder.edit("fine", &change, NOW, &secrets).is_err());
    assert_eq!(folder.list_unshareable(&secrets).unwrap(), []);
    fs::write(folder.dir().join("by-hand.md"), "mail bob@acme.io\n").unwrap();
    let found = folder.list_unshareable(&secrets).unwrap();
    assert_eq!(found[0].1, ["an e-mail address on line 1"]);
}

#[test]
fn a_persons_index_is_mended_not_made() {
    let (_temp, folder) = folder(MemoryScope::Project);
    folder.add(&draft("One"), NOW, &nothing).unwrap();
    fs::write(folder.dir().join("two.md"), "Second thing. More.\n").unwrap();
    fs::write(
        folder.index_path(),
        "Hand-written.\n- [Gone](gone.md) - x\n- [Uno](one.md) — mine\n\n## End\n",
    )
    .unwrap();
    let state = folder.index(IndexMode::Write).unwrap();
    assert!(!state.is_true());
    assert_eq!(
        read(&folder, "MEMORY.md"),
        "Hand-written.\n- [Uno](one.md) — mine\n- [Two](two.md) - Second thing\n\n## End\n"
    );
    assert!(folder.index(IndexMode::Check).unwrap().is_true());
    // Nothing is made where there is nothing.
    let empty = MemoryFolder::new(MemoryScope::User, folder.dir().join("none"));
    assert!(empty.index(IndexMode::Write).unwrap().is_true());
    assert!(!empty.exists());
}

#[test]
fn many_writers_lose_nothing() {
    let (_temp, folder) = folder(MemoryScope::Project);
    thread::scope(|scope| {
        for writer in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                for at in 0..10 {
                    let title = format!("Writer {writer} fact {at}");
                    folder.add(&draft(&title), NOW, &nothing).unwrap();
                    if at % 3 == 0 {
                        folder
                            .remove(&format!("writer-{writer}-fact-{at}"))
                            .unwrap();
                    }
                }
            });
        }
    });
    let listing = folder.list_memories().unwrap();
    assert_eq!(listing.memories.len(), 8 * 6);
    assert_eq!(read(&folder, "MEMORY.md").lines().count(), 8 * 6);
    assert!(folder.index(IndexMode::Check).unwrap().is_true());
    assert_eq!(files(folder.dir()).len(), 8 * 6 + 1);
}

#[test]
fn what_a_killed_writer_left_is_no_harm() {
    let (_temp, folder) = folder(MemoryScope::Project);
    folder.add(&draft("One"), NOW, &nothing).unwrap();
    fs::write(folder.dir().join(".MEMORY.md.remora-tmp"), "half").unwrap();
    fs::write(folder.dir().join(".two.md.remora-tmp"), "half").unwrap();
    folder.add(&draft("Two"), NOW, &nothing).unwrap();
    assert_eq!(files(folder.dir()), ["MEMORY.md", "one.md", "two.md"]);
}

#[test]
fn a_long_index_is_judged() {
    let (_temp, folder) = folder(MemoryScope::Project);
    fs::create_dir_all(folder.dir()).unwrap();
    let index = "- [x](https://x.test) - y\n".repeat(200);
    fs::write(folder.index_path(), index).unwrap();
    let written = folder.add(&draft("One"), NOW, &nothing).unwrap();
    assert!(matches!(written.index, IndexSizeVerdict::Over(_)));
}

#[test]
fn a_team_s_folder_with_too_many_entries_is_cut_and_says_so() {
    let (_temp, folder) = folder(MemoryScope::Team);
    folder.add(&draft("Use tabs"), NOW, &nothing).unwrap();
    assert_eq!(
        folder.list_memories().unwrap().warnings,
        Vec::<String>::new()
    );
    for number in 0..MAX_FOLDER_ENTRIES {
        fs::File::create(folder.dir().join(format!("{number}.txt"))).unwrap();
    }
    let warnings = folder.list_memories().unwrap().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("holds more than 10000 entries"));
}

#[test]
fn a_memory_says_who_saved_it_until_the_user_takes_it_over() {
    let (_temp, folder) = folder(MemoryScope::Project);
    let saved = NewMemory {
        author: MemoryAuthor::Agent,
        ..draft("Invoices")
    };
    let written = folder.add(&saved, NOW, &nothing).unwrap();
    assert_eq!(written.memory.author, MemoryAuthor::Agent);
    assert!(read(&folder, "invoices.md").contains("\n  author: agent\n"));
    let same = folder.edit("invoices", &MemoryChange::default(), NOW, &nothing);
    assert_eq!(same.unwrap().memory.author, MemoryAuthor::Agent);
    let accepted = MemoryChange {
        author: Some(MemoryAuthor::User),
        ..MemoryChange::default()
    };
    let written = folder.edit("invoices", &accepted, NOW, &nothing).unwrap();
    assert_eq!(written.memory.author, MemoryAuthor::User);
    assert_eq!(written.memory.body, saved.body);
    // A user's file does not need to say so.
    folder.add(&draft("Own"), NOW, &nothing).unwrap();
    folder.edit("own", &accepted, NOW, &nothing).unwrap();
    assert!(!read(&folder, "own.md").contains("author"));
}
