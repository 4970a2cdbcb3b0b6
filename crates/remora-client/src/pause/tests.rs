//! Pauses, on a data directory of each test's own.

use super::*;

fn pauses() -> (tempfile::TempDir, Pause) {
    let dir = tempfile::tempdir().unwrap();
    let pause = Pause::of(&Paths::new(dir.path().join("data")));
    (dir, pause)
}

fn mark(what: Paused, until: Option<i64>) -> Mark {
    Mark {
        what,
        stops: Stops::Everything,
        since: 10,
        until,
    }
}

fn project(key: &str) -> Paused {
    Paused::Project(key.to_owned())
}

fn session(id: &str) -> Paused {
    Paused::Session(id.to_owned())
}

#[test]
fn each_pause_reaches_what_it_names() {
    let (_dir, pause) = pauses();
    let off = |key: &str, id: &str| pause.is_off(Some(key), id, 100);
    assert!(!off("h.org/shop", "one"));
    pause.set(&mark(project("h.org/shop"), None)).unwrap();
    assert_eq!(
        (off("h.org/shop", "one"), off("h.org/notes", "one")),
        (true, false)
    );
    pause.set(&mark(session("two"), None)).unwrap();
    assert_eq!(
        (off("h.org/notes", "two"), off("h.org/notes", "one")),
        (true, false)
    );
    assert!(!pause.is_off(None, "", 100));
    pause.set(&mark(Paused::All, None)).unwrap();
    assert!(off("h.org/notes", "one") && pause.is_off(None, "", 100));
    let listed: Vec<Paused> = pause
        .list(100)
        .unwrap()
        .into_iter()
        .map(|m| m.what)
        .collect();
    assert_eq!(listed, [Paused::All, project("h.org/shop"), session("two")]);
}

#[test]
fn the_folder_is_there_only_while_something_is_paused() {
    let (_dir, pause) = pauses();
    pause.set(&mark(Paused::All, None)).unwrap();
    pause.set(&mark(session("s"), None)).unwrap();
    assert!(pause.clear(&Paused::All, Stops::Everything).unwrap());
    assert!(!pause.clear(&Paused::All, Stops::Everything).unwrap());
    assert!(pause.folder.exists());
    assert!(pause.clear(&session("s"), Stops::Everything).unwrap());
    assert!(!pause.folder.exists());
    assert!(!pause.clear(&session("s"), Stops::Everything).unwrap());
}

#[test]
fn a_pause_ends_by_itself() {
    let (_dir, pause) = pauses();
    pause.set(&mark(Paused::All, Some(50))).unwrap();
    assert!(pause.is_off(None, "s", 49));
    assert!(!pause.is_off(None, "s", 50));
    assert!(pause.folder.exists());
    assert_eq!(pause.list(49).unwrap(), [mark(Paused::All, Some(50))]);
    assert_eq!(pause.list(50).unwrap(), []);
    assert!(!pause.folder.exists());
    pause.set(&mark(Paused::All, Some(50))).unwrap();
    pause.set(&mark(Paused::All, None)).unwrap();
    assert!(pause.is_off(None, "s", i64::MAX));
}

#[test]
fn ids_never_leave_the_folder_and_never_mix() {
    let (_dir, pause) = pauses();
    let long = "a".repeat(5_000);
    let ids = [
        "../../../x",
        "a/b",
        "A",
        "a",
        "",
        ".",
        "..",
        "a\0b",
        "é",
        &long,
    ];
    for id in ids {
        pause.set(&mark(session(id), None)).unwrap();
    }
    let names: Vec<_> = fs::read_dir(&pause.folder).unwrap().collect();
    assert_eq!(names.len(), ids.len());
    for id in ids.into_iter().filter(|id| !id.is_empty()) {
        assert!(pause.is_off(None, id, 0), "{id}");
        assert!(pause.clear(&session(id), Stops::Everything).unwrap());
        assert!(!pause.is_off(None, id, 0), "{id}");
    }
}

#[test]
fn a_damaged_mark_keeps_quiet_and_can_be_seen_and_ended() {
    let (_dir, pause) = pauses();
    fs::create_dir_all(&pause.folder).unwrap();
    for name in ["all", "session-s", "project-0123", "stray", "all.tmp"] {
        fs::write(pause.folder.join(name), "{").unwrap();
    }
    assert!(pause.is_off(None, "", 0));
    let listed: Vec<Paused> = pause.list(0).unwrap().into_iter().map(|m| m.what).collect();
    assert_eq!(listed, [Paused::All, project("0123"), session("s")]);
    assert!(pause.clear(&Paused::All, Stops::Everything).unwrap());
    assert!(!pause.is_off(None, "", 0));
    assert!(pause.is_off(None, "s", 0));
}

#[test]
fn recall_is_paused_beside_everything_else() {
    let (_dir, pause) = pauses();
    let recall = |what: Paused| Mark {
        stops: Stops::Recall,
        ..mark(what, Some(200))
    };
    let quiet = |keys: &[&str], id: &str, now| pause.quiet(keys, id, now);
    pause.set(&recall(project("h.org/shop"))).unwrap();
    assert_eq!(quiet(&["h.org/shop"], "one", 100), Quiet::Recall);
    assert_eq!(quiet(&["x", "h.org/shop"], "one", 100), Quiet::Recall);
    assert_eq!(quiet(&["h.org/notes"], "one", 100), Quiet::No);
    assert_eq!(quiet(&["h.org/shop"], "one", 200), Quiet::No);
    assert!(!pause.is_off(Some("h.org/shop"), "one", 100));
    pause.set(&recall(session("two"))).unwrap();
    assert_eq!(quiet(&[], "two", 100), Quiet::Recall);
    pause.set(&mark(project("h.org/shop"), None)).unwrap();
    assert_eq!(quiet(&["h.org/shop"], "one", 100), Quiet::Everything);
    let listed = pause.list(100).unwrap().into_iter();
    let listed: Vec<(Stops, Paused)> = listed.map(|mark| (mark.stops, mark.what)).collect();
    let wanted = [
        (Stops::Everything, project("h.org/shop")),
        (Stops::Recall, project("h.org/shop")),
        (Stops::Recall, session("two")),
    ];
    assert_eq!(listed, wanted);
    for (stops, what) in wanted {
        assert!(pause.clear(&what, stops).unwrap(), "{what:?}");
    }
    assert!(!pause.folder.exists());
}

#[test]
fn a_pause_goes_on_without_the_name_of_its_project() {
    let (_dir, pause) = pauses();
    let what = project("h.org/acme/shop");
    for stops in [Stops::Everything, Stops::Recall] {
        let mark = Mark {
            stops,
            ..mark(what.clone(), Some(200))
        };
        pause.set(&mark).unwrap();
        pause.forget_name("h.org/acme/shop").unwrap();
        pause.forget_name("h.org/acme/other").unwrap();
        let quiet = |now| pause.quiet(&["h.org/acme/shop"], "s", now);
        assert!(quiet(100) != Quiet::No && quiet(200) == Quiet::No);
        let files = fs::read_dir(&pause.folder).unwrap();
        let texts: Vec<String> = files
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
            .collect();
        assert!(texts.len() == 1 && !texts[0].contains("acme"), "{texts:?}");
        assert!(pause.clear(&what, stops).unwrap());
    }
}
