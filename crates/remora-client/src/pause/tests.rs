//! Pauses, on a data directory of each test's own.

use super::*;

fn pauses() -> (tempfile::TempDir, Pause) {
    let dir = tempfile::tempdir().unwrap();
    let pause = Pause::for_data_dir(&DataPaths::new(dir.path().join("data")));
    (dir, pause)
}

fn mark(what: PauseScope, until: Option<i64>) -> PauseEntry {
    PauseEntry {
        what,
        stops: PauseEffect::Everything,
        since: 10,
        until,
    }
}

fn project(key: &str) -> PauseScope {
    PauseScope::Project(key.to_owned())
}

fn session(id: &str) -> PauseScope {
    PauseScope::Session(id.to_owned())
}

#[test]
fn each_pause_reaches_what_it_names() {
    let (_dir, pause) = pauses();
    let off = |key: &str, id: &str| pause.is_off(Some(key), id, 100);
    assert!(!off("h.org/shop", "one"));
    pause.set_pause(&mark(project("h.org/shop"), None)).unwrap();
    assert_eq!(
        (off("h.org/shop", "one"), off("h.org/notes", "one")),
        (true, false)
    );
    pause.set_pause(&mark(session("two"), None)).unwrap();
    assert_eq!(
        (off("h.org/notes", "two"), off("h.org/notes", "one")),
        (true, false)
    );
    assert!(!pause.is_off(None, "", 100));
    pause.set_pause(&mark(PauseScope::All, None)).unwrap();
    assert!(off("h.org/notes", "one") && pause.is_off(None, "", 100));
    let listed: Vec<PauseScope> = pause
        .list_pauses(100)
        .unwrap()
        .into_iter()
        .map(|m| m.what)
        .collect();
    assert_eq!(
        listed,
        [PauseScope::All, project("h.org/shop"), session("two")]
    );
}

#[test]
fn the_folder_is_there_only_while_something_is_paused() {
    let (_dir, pause) = pauses();
    pause.set_pause(&mark(PauseScope::All, None)).unwrap();
    pause.set_pause(&mark(session("s"), None)).unwrap();
    assert!(
        pause
            .clear(&PauseScope::All, PauseEffect::Everything)
            .unwrap()
    );
    assert!(
        !pause
            .clear(&PauseScope::All, PauseEffect::Everything)
            .unwrap()
    );
    assert!(pause.folder.exists());
    assert!(pause.clear(&session("s"), PauseEffect::Everything).unwrap());
    assert!(!pause.folder.exists());
    assert!(!pause.clear(&session("s"), PauseEffect::Everything).unwrap());
}

#[test]
fn a_pause_ends_by_itself() {
    let (_dir, pause) = pauses();
    pause.set_pause(&mark(PauseScope::All, Some(50))).unwrap();
    assert!(pause.is_off(None, "s", 49));
    assert!(!pause.is_off(None, "s", 50));
    assert!(pause.folder.exists());
    assert_eq!(
        pause.list_pauses(49).unwrap(),
        [mark(PauseScope::All, Some(50))]
    );
    assert_eq!(pause.list_pauses(50).unwrap(), []);
    assert!(!pause.folder.exists());
    pause.set_pause(&mark(PauseScope::All, Some(50))).unwrap();
    pause.set_pause(&mark(PauseScope::All, None)).unwrap();
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
        pause.set_pause(&mark(session(id), None)).unwrap();
    }
    let names: Vec<_> = fs::read_dir(&pause.folder).unwrap().collect();
    assert_eq!(names.len(), ids.len());
    for id in ids.into_iter().filter(|id| !id.is_empty()) {
        assert!(pause.is_off(None, id, 0), "{id}");
        assert!(pause.clear(&session(id), PauseEffect::Everything).unwrap());
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
    let listed: Vec<PauseScope> = pause
        .list_pauses(0)
        .unwrap()
        .into_iter()
        .map(|m| m.what)
        .collect();
    assert_eq!(listed, [PauseScope::All, project("0123"), session("s")]);
    assert!(
        pause
            .clear(&PauseScope::All, PauseEffect::Everything)
            .unwrap()
    );
    assert!(!pause.is_off(None, "", 0));
    assert!(pause.is_off(None, "s", 0));
}

#[test]
fn a_mark_that_is_no_file_of_ours_keeps_quiet_without_waiting() {
    let (_dir, pauses) = pauses();
    pauses.set_pause(&mark(project("k"), None)).unwrap();
    let (large, pipe) = (session("large"), session("pipe"));
    let file = |what: &PauseScope| {
        let name = what.file_name(PauseEffect::Everything);
        pauses.folder.join(name)
    };
    fs::write(file(&large), vec![b' '; 1 << 20]).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, file(&pipe), rustix::fs::Mode::RUSR).unwrap();
    for what in [&large, &pipe] {
        assert!(
            pauses.is_paused(what, PauseEffect::Everything, 1),
            "{what:?}"
        );
    }
    let listed = pauses.list_pauses(1).unwrap();
    assert_eq!(listed.len(), 3, "{listed:?}");
}

#[test]
fn recall_is_paused_beside_everything_else() {
    let (_dir, pause) = pauses();
    let recall = |what: PauseScope| PauseEntry {
        stops: PauseEffect::Recall,
        ..mark(what, Some(200))
    };
    let quiet = |keys: &[&str], id: &str, now| pause.pause_state(keys, id, now);
    pause.set_pause(&recall(project("h.org/shop"))).unwrap();
    assert_eq!(quiet(&["h.org/shop"], "one", 100), PauseState::Recall);
    assert_eq!(quiet(&["x", "h.org/shop"], "one", 100), PauseState::Recall);
    assert_eq!(quiet(&["h.org/notes"], "one", 100), PauseState::No);
    assert_eq!(quiet(&["h.org/shop"], "one", 200), PauseState::No);
    assert!(!pause.is_off(Some("h.org/shop"), "one", 100));
    pause.set_pause(&recall(session("two"))).unwrap();
    assert_eq!(quiet(&[], "two", 100), PauseState::Recall);
    pause.set_pause(&mark(project("h.org/shop"), None)).unwrap();
    assert_eq!(quiet(&["h.org/shop"], "one", 100), PauseState::Everything);
    let listed = pause.list_pauses(100).unwrap().into_iter();
    let listed: Vec<(PauseEffect, PauseScope)> =
        listed.map(|mark| (mark.stops, mark.what)).collect();
    let wanted = [
        (PauseEffect::Everything, project("h.org/shop")),
        (PauseEffect::Recall, project("h.org/shop")),
        (PauseEffect::Recall, session("two")),
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
    for stops in [PauseEffect::Everything, PauseEffect::Recall] {
        let mark = PauseEntry {
            stops,
            ..mark(what.clone(), Some(200))
        };
        pause.set_pause(&mark).unwrap();
        pause.forget_name("h.org/acme/shop").unwrap();
        pause.forget_name("h.org/acme/other").unwrap();
        let quiet = |now| pause.pause_state(&["h.org/acme/shop"], "s", now);
        assert!(quiet(100) != PauseState::No && quiet(200) == PauseState::No);
        let files = fs::read_dir(&pause.folder).unwrap();
        let texts: Vec<String> = files
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
            .collect();
        assert!(texts.len() == 1 && !texts[0].contains("acme"), "{texts:?}");
        assert!(pause.clear(&what, stops).unwrap());
    }
}
