//! The worker as a hook starts it: alone, detached, with nothing of anybody
//! else's, and replaced when it dies.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::hook::den::{Den, call, signal, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_remora");

#[test]
fn it_outlives_its_hook_in_a_session_of_its_own_with_files_of_its_own() {
    let den = Den::new();
    let event = call("s", &den.sandbox.path("project"), "detached").to_string();
    let file = den.sandbox.write("event.json", event);
    let foreign = den.sandbox.write("foreign", "");
    let done = den
        .command("/bin/sh")
        .args([
            "-c",
            "exec 7<> \"$3\" 8< \"$3\" 9>> \"$3\"\n\
             exec \"$1\" hook claude-code < \"$2\"",
            "sh",
            PROGRAM,
        ])
        .args([&file, &foreign])
        .output()
        .unwrap();
    assert!(done.status.success());
    let worker = den.worker();
    let stat = fs::read_to_string(format!("/proc/{worker}/stat")).unwrap();
    let after = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after.split_whitespace().collect();
    let id = worker.to_string();
    // Process group, session and terminal.
    assert_eq!(fields[2..5], [id.as_str(), id.as_str(), "0"], "{stat}");
    assert_eq!(
        fs::read_link(format!("/proc/{worker}/cwd")).unwrap(),
        PathBuf::from("/")
    );
    den.drain();
    for entry in fs::read_dir(format!("/proc/{worker}/fd")).unwrap() {
        let entry = entry.unwrap();
        let number: u32 = entry.file_name().to_str().unwrap().parse().unwrap();
        let Ok(target) = fs::read_link(entry.path()) else {
            continue;
        };
        let text = target.display().to_string();
        let own = target.starts_with(den.paths.home()) || text.starts_with("socket:");
        let expected = if number < 3 { text == "/dev/null" } else { own };
        assert!(expected, "{number} is {text}");
    }
    den.stop();
    until("it has ended", || den.workers().is_empty().then_some(()));
}

#[test]
fn many_hooks_at_once_start_one_worker() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    let mut hooks: Vec<_> = (0..32)
        .map(|_| {
            den.command(PROGRAM)
                .args(["hook", "claude-code"])
                .spawn()
                .unwrap()
        })
        .collect();
    for (n, hook) in hooks.iter_mut().enumerate() {
        let event = call("s", &folder, &format!("word{n}")).to_string();
        hook.stdin
            .take()
            .unwrap()
            .write_all(event.as_bytes())
            .unwrap();
    }
    for hook in hooks {
        let done = hook.wait_with_output().unwrap();
        assert_eq!(
            (done.status.code(), done.stdout, done.stderr),
            (Some(0), b"{}\n".to_vec(), Vec::new())
        );
    }
    let worker = den.worker();
    den.drain();
    assert_eq!(den.workers(), [worker]);
    assert_eq!(den.events().len(), 32);
    let log = fs::read_to_string(den.paths.worker_log()).unwrap();
    assert_eq!(log.matches(" started, process ").count(), 1, "{log}");
}

#[test]
fn a_worker_keeps_nothing_of_the_session_that_started_it() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    let mut hook = den
        .command(PROGRAM)
        .args(["hook", "claude-code"])
        .env("PATH", folder.join("bin"))
        .env("GIT_CONFIG_COUNT", "1")
        .env("LD_PRELOAD", "")
        .env("CLAUDE_PROJECT_DIR", &folder)
        .env("SESSION_SECRET", "of the session")
        .spawn()
        .unwrap();
    let event = call("s", &folder, "word").to_string();
    let mut input = hook.stdin.take().unwrap();
    input.write_all(event.as_bytes()).unwrap();
    drop(input);
    assert!(hook.wait().unwrap().success());
    let worker = den.worker();
    let text = fs::read(format!("/proc/{worker}/environ")).unwrap();
    let text = String::from_utf8(text).unwrap();
    let names: Vec<&str> = text
        .split('\0')
        .filter_map(|entry| entry.split('=').next())
        .collect();
    for name in [
        "GIT_CONFIG_COUNT",
        "LD_PRELOAD",
        "CLAUDE_PROJECT_DIR",
        "SESSION_SECRET",
    ] {
        assert!(!names.contains(&name), "{text}");
    }
    assert!(names.contains(&"HOME"), "{text}");
    let path = text
        .split('\0')
        .find_map(|entry| entry.strip_prefix("PATH="));
    let folders: Vec<&str> = path.unwrap_or_default().split(':').collect();
    assert!(folders.contains(&"/usr/bin"), "{text}");
    assert!(!text.contains("project/bin"), "{text}");
    den.drain();
    assert_eq!(den.events().len(), 1);
}

#[test]
fn a_worker_that_was_killed_is_replaced_by_the_next_hook() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    for n in 0..5 {
        den.ran("s", &folder, &format!("word{n}"));
        let worker = den.worker();
        signal("KILL", &worker.to_string());
        // A process that is dying still holds its socket for a moment.
        until("nobody listens", || den.deserted().then_some(()));
        den.ran("s", &folder, &format!("next{n}"));
        assert_ne!(den.worker(), worker);
    }
    den.drain();
    let mut titles: Vec<_> = den.items().into_iter().map(|item| item.title).collect();
    assert_eq!(titles.len(), 10, "{titles:#?}");
    titles.sort_unstable();
    titles.dedup();
    assert_eq!((titles.len(), den.events().len()), (10, 10));
}

#[test]
fn a_worker_that_ends_while_hooks_come_leaves_nothing_behind() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    for n in 0..8 {
        den.ran("s", &folder, &format!("word{n}"));
        den.stop();
    }
    den.drain();
    assert_eq!(den.events().len(), 8);
    assert_eq!(den.spooled(), Vec::<PathBuf>::new());
}

#[test]
fn a_poke_of_a_newer_program_brings_a_new_worker() {
    let den = Den::new();
    let folder = den.sandbox.path("project");
    den.ran("s", &folder, "first");
    let before = den.worker();
    let poke = |version: &str| {
        let request = remora_core::request::Request::Notify {
            version: version.to_owned(),
            program: PROGRAM.to_owned(),
        };
        // A poke is not answered: the worker hangs up.
        let moment = std::time::Duration::from_millis(500);
        let _ = remora_client::send_request(&den.paths.socket_file(), &request, moment);
    };
    poke("0.0.1");
    poke("not a version");
    assert_eq!(den.worker(), before);
    poke("999.0.0");
    until("another one is there", || {
        (den.worker() != before).then_some(())
    });
    den.ran("s", &folder, "second");
    den.drain();
    assert_eq!(den.events().len(), 2);
    assert_eq!(den.workers().len(), 1);
}

#[test]
fn a_worker_that_is_told_to_end_has_not_died() {
    let den = Den::new();
    for round in 0..3 {
        den.hook(call("s", &den.sandbox.path("project"), &format!("call {round}")).to_string());
        den.drain();
        let worker = den.worker();
        signal("TERM", &worker.to_string());
        until("it has ended", || den.workers().is_empty().then_some(()));
        let (_, status) = den.remora(&["status"]).json();
        assert_eq!(status["worker"]["recent_deaths"], 0, "{status}");
    }
    let log = fs::read_to_string(den.paths.worker_log()).unwrap();
    assert_eq!(log.matches("worker ended: Stopped").count(), 3, "{log}");
}

/// A large database of an older version takes longer than anybody waits.
#[test]
fn a_worker_that_is_busy_is_not_said_to_be_gone() {
    let den = Den::new();
    den.paths.prepare_data_dir().unwrap();
    let lock = fs::File::create(den.paths.lock()).unwrap();
    lock.lock().unwrap();
    let status = den.remora(&["worker", "status"]).go();
    assert!(status.stdout.contains("does not answer yet"), "{status}");
    let started = den.remora(&["worker", "start"]).go();
    assert_eq!(started.code, Some(0), "{started}");
    assert!(
        started
            .stdout
            .contains("has started and does not answer yet"),
        "{started}"
    );
}

/// Whatever the umask says.
#[test]
fn every_file_of_ours_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    fn open_to_others(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let meta = entry.metadata().unwrap();
            let mode = meta.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                found.push(format!("{:o} {}", mode, entry.path().display()));
            }
            if meta.is_dir() {
                open_to_others(&entry.path(), found);
            }
        }
    }
    let den = Den::new();
    let project = den.sandbox.path("project");
    den.begin("s", &project);
    den.hook(call("s", &project, "one").to_string());
    den.drain();
    // A worker that is killed leaves its notes.
    signal("KILL", &den.worker().to_string());
    until("it is gone", || den.workers().is_empty().then_some(()));
    den.hook(call("s", &project, "two").to_string());
    den.drain();
    let export = den.sandbox.path("tmp/export.jsonl");
    let done = den
        .remora(&["export", "--out", export.to_str().unwrap()])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
    let mode = fs::metadata(&export).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut found = Vec::new();
    open_to_others(den.paths.home(), &mut found);
    // The socket lies in a folder of the owner's own.
    found.retain(|file| !file.contains("/run/worker.sock"));
    assert_eq!(found, Vec::<String>::new());
    den.stop();
}

#[test]
fn a_worker_that_cannot_be_started_is_told_with_its_folder() {
    let den = Den::unprivileged();
    for args in [["pause", "--json"], ["pause", "--off"]] {
        assert_eq!(den.remora(&args).go().code, Some(0));
    }
    let run = den.paths.run_dir();
    let mode = |bits: u32| fs::set_permissions(&run, fs::Permissions::from_mode(bits)).unwrap();
    mode(0o500);
    let refused = den.remora(&["worker", "start"]).go();
    mode(0o700);
    assert_eq!(refused.code, Some(1), "{refused}");
    let said = "remora: the worker cannot be started from ";
    assert!(refused.stderr.starts_with(said), "{refused}");
}
