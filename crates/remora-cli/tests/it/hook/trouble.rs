//! Nowhere to write, nobody to wake, nothing to read: the session goes on, and
//! the person is told once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::den::{Den, Start, call, valid};

const NOTHING: Start = Start {
    message: None,
    context: None,
};

/// A hook that waits for something broken would not end at all.
const QUICK: Duration = Duration::from_secs(20);

#[test]
fn without_a_place_to_write_the_answer_is_still_valid() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "x").to_string();
    for (home, data) in [("", ""), ("", "relative/data"), ("relative", ""), ("", ".")] {
        let done = den
            .remora(&["hook", "claude-code"])
            .environment("HOME", home)
            .environment("REMORA_HOME", data)
            .stdin(event.clone())
            .go();
        valid(&done);
        assert_eq!(done.raw, "", "{home:?} {data:?}");
    }
    let project: Vec<_> = fs::read_dir(den.sandbox.path("project")).unwrap().collect();
    assert_eq!(project.len(), 1, "{project:?}");
}

#[test]
fn switched_off_it_writes_nothing() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "x").to_string();
    let done = den
        .remora(&["hook", "claude-code"])
        .environment("REMORA_OFF", "1")
        .stdin(event.clone())
        .go();
    valid(&done);
    assert_eq!(done.raw, "");
    assert!(!den.paths.home().exists());
    let done = den
        .remora(&["hook", "claude-code"])
        .environment("REMORA_OFF", "0")
        .stdin(event)
        .go();
    valid(&done);
    assert!(den.paths.home().exists());
}

#[test]
fn a_file_in_place_of_a_folder_is_told_and_told_once() {
    for place in ["", "spool"] {
        let den = Den::new();
        let folder = den.sandbox.path("project");
        let place = den.paths.home().join(place);
        let place = place.components().collect::<std::path::PathBuf>();
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, "in the way").unwrap();
        den.ran("s", &folder, "lost");
        let told = den.begin("s", &folder).message.unwrap();
        let spool = den.paths.spool_dir().display().to_string();
        assert!(told.contains(&spool), "{told}");
        assert!(told.contains("`remora doctor`"), "{told}");
        fs::remove_file(&place).unwrap();
        assert_eq!(den.begin("s2", &folder), NOTHING, "{}", place.display());
    }
}

#[test]
fn a_failed_capture_is_told_at_the_next_start_and_only_then() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    assert_eq!(den.begin("s1", &folder), NOTHING);
    den.worker();
    den.stop();
    let spool = den.paths.spool_dir();
    let aside = den.paths.home().join("aside");
    fs::rename(&spool, &aside).unwrap();
    fs::write(&spool, "in the way").unwrap();
    den.ran("s1", &folder, "lost1");
    den.ran("s1", &folder, "lost2");
    // A start that fails itself says so, and has then said it.
    let told = den.begin("s2", &folder).message.unwrap();
    assert!(told.contains("Not a directory"), "{told}");
    den.ran("s2", &folder, "lost3");
    fs::remove_file(&spool).unwrap();
    fs::rename(&aside, &spool).unwrap();
    den.ran("s2", &folder, "kept");
    let told = den.begin("s3", &folder).message.unwrap();
    assert!(told.contains("Not a directory"), "{told}");
    assert!(told.contains("`remora doctor`"), "{told}");
    assert_eq!(den.begin("s4", &folder).message, None);
    let log = fs::read_to_string(den.paths.hook_log()).unwrap();
    assert_eq!(log.matches("not captured").count(), 4, "{log}");
    den.drain();
    // Three starts and the call that could be kept.
    assert_eq!(den.events().len(), 4);
}

#[test]
fn without_permission_nothing_is_harmed() {
    let den = Den::unprivileged();
    let folder = den.sandbox.path("project");
    for home in [
        // Nobody may make a folder here, or look into it.
        den.sandbox.path("home/.remora"),
        Path::new("/proc/remora").to_path_buf(),
    ] {
        fs::set_permissions(den.sandbox.path("home"), mode(0o555)).unwrap();
        for event in [
            call("s", &folder, "x"),
            json!({"session_id":"s","cwd":folder,"hook_event_name":"SessionStart","source":"startup"}),
        ] {
            let done = den
                .remora(&["hook", "claude-code"])
                .environment("REMORA_HOME", home.display().to_string())
                .stdin(event.to_string())
                .go();
            valid(&done);
        }
    }
    fs::set_permissions(den.sandbox.path("home"), mode(0o755)).unwrap();
}

#[test]
fn a_spool_that_may_not_be_written_to_is_told_once_it_may() {
    let den = Den::unprivileged();
    let folder = den.sandbox.path("project");
    assert_eq!(den.begin("s1", &folder), NOTHING);
    den.worker();
    den.stop();
    let spool = den.paths.spool_dir();
    fs::set_permissions(&spool, mode(0o500)).unwrap();
    den.ran("s1", &folder, "lost");
    fs::set_permissions(&spool, mode(0o700)).unwrap();
    let told = den.begin("s2", &folder).message.unwrap();
    assert!(told.contains("Permission denied"), "{told}");
    assert_eq!(den.begin("s3", &folder).message, None);
}

fn mode(bits: u32) -> fs::Permissions {
    fs::Permissions::from_mode(bits)
}

#[test]
fn a_wedged_worker_holds_nobody_up() {
    let den = Den::new();
    let _ear = den.deaf();
    let socket = den.paths.socket_file();
    // Fill the queue of those who knock.
    let mut knocking = Vec::new();
    while let remora_client::Connection::Open(stream) = remora_client::Connection::try_open(&socket)
    {
        knocking.push(stream);
        assert!(knocking.len() < 100_000, "the queue has no end");
    }
    let started = Instant::now();
    for word in ["one", "two", "three"] {
        den.ran("s", &den.sandbox.path("project"), word);
    }
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
    assert_eq!(den.spooled().len(), 3);
    assert_eq!(den.workers(), Vec::<u32>::new());
}

#[test]
fn a_worker_that_answers_nothing_holds_nobody_up() {
    let den = Den::new();
    let ear = den.deaf();
    let started = Instant::now();
    for word in ["one", "two", "three"] {
        den.ran("s", &den.sandbox.path("project"), word);
    }
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
    assert_eq!(den.spooled().len(), 3);
    drop(ear);
    // The socket is still there, but nobody behind it: a new worker starts. A
    // child that another test is just starting may hold the ear for a moment.
    while UnixStream::connect(den.paths.socket_file()).is_ok() {
        std::thread::yield_now();
    }
    den.ran("s", &den.sandbox.path("project"), "four");
    den.drain();
    assert_eq!(den.events().len(), 4);
}

#[test]
fn a_database_that_is_none_gives_no_context_and_is_made_anew() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    den.decided("s1", &folder, "before");
    den.drain();
    den.stop();
    fs::write(den.paths.database_file(), vec![0xa5; 50_000]).unwrap();
    assert_eq!(den.begin("s2", &folder).context, None);
    let log = fs::read_to_string(den.paths.hook_log()).unwrap();
    assert!(log.contains("no answer: "), "{log}");
    den.drain();
    assert_eq!(den.events().len(), 2);
    let context = den.begin("s3", &folder).context.unwrap();
    assert!(context.contains("before"), "{context}");
}
