use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use remora_client::{CaptureFailureMark, list_spooled};
use remora_core::request::Request;
use remora_server::{WorkerExit, dead_letters, is_gone, retry_dead_letters, run_worker};
use remora_store::Access;

use crate::place::{NOW, Place};

const LONG: Duration = Duration::from_mins(10);

#[test]
fn drain_answers_when_everything_is_stored() {
    let place = Place::new();
    for n in 0..40 {
        place.put(NOW + n, &Place::call(usize::try_from(n).unwrap()));
    }
    let worker = place.start("1.0.0", LONG);
    let reply = worker.ask(&Request::Drain);
    assert_eq!((reply.stored, reply.dead, reply.trouble), (40, 0, None));
    assert_eq!(place.events().len(), 40);
    assert!(list_spooled(&place.paths, 10).unwrap().is_empty());
    assert_eq!(worker.stop(), WorkerExit::Stopped);
    assert!(!place.paths.socket_file().exists());
}

#[test]
fn in_its_spare_time_it_makes_searches_cheaper() {
    let place = Place::new();
    let worker = place.start("1.0.0", LONG);
    for n in 0..12 {
        place.put(NOW, &Place::call(n));
        worker.ask(&Request::Drain);
    }
    let reader = remora_server::open_database(&place.paths.database_file(), Access::Read).unwrap();
    let end = Instant::now() + LONG;
    while reader.count_segments().unwrap() > 1 {
        assert!(
            Instant::now() < end,
            "{} pieces",
            reader.count_segments().unwrap()
        );
        std::thread::yield_now();
    }
    assert_eq!(place.events().len(), 12);
    assert_eq!(worker.stop(), WorkerExit::Stopped);
}

#[test]
fn one_worker_a_data_directory() {
    let place = Place::new();
    let first = place.start("1.0.0", LONG);
    let second = run_worker(&place.settings("1.0.0", LONG)).unwrap();
    assert_eq!(second, WorkerExit::AlreadyRunning);
    assert_eq!(first.stop(), WorkerExit::Stopped);
}

#[test]
fn an_idle_worker_ends_and_leaves_an_empty_spool() {
    let place = Place::new();
    place.put(NOW, &Place::call(1));
    let worker = place.start("1.0.0", Duration::from_millis(50));
    assert_eq!(worker.end(), WorkerExit::Idle);
    assert_eq!(place.events().len(), 1);
}

#[test]
fn a_newer_version_takes_over_and_an_older_one_does_not() {
    let place = Place::new();
    let program = place.paths.home().join("remora-next");
    let mark = place.paths.home().join("next-was-started");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > '{}.tmp'\nmv '{0}.tmp' '{0}'\n",
        mark.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let worker = place.start("1.2.0", LONG);
    let poke = |version: &str| {
        let request = Request::Notify {
            version: version.to_owned(),
            program: program.display().to_string(),
        };
        // A poke is not answered.
        let _ = remora_client::send_request(
            &place.paths.socket_file(),
            &request,
            Duration::from_millis(200),
        );
    };
    poke("1.1.9");
    assert_eq!(worker.ask(&Request::Status).version, "1.2.0");
    poke("1.10.0");
    assert_eq!(worker.end(), WorkerExit::Replaced);
    while !mark.exists() {
        std::thread::yield_now();
    }
    assert_eq!(fs::read_to_string(mark).unwrap(), "worker run\n");
}

#[test]
fn what_cannot_be_understood_is_a_dead_letter_and_can_be_tried_again() {
    let place = Place::new();
    let secret = format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    place.put_bytes(NOW, format!("not an event {secret}").as_bytes());
    place.put_bytes(NOW + 1, br#"{"hook_event_name":"NeverHeardOf"}"#);
    let id = place.put(NOW + 2, &Place::call(2));
    fs::write(place.paths.spool_dir().join(format!("{id}.json")), "x").unwrap();
    place.put(NOW + 3, &Place::call(1));
    let worker = place.start("1.0.0", LONG);
    let reply = worker.ask(&Request::Drain);
    assert_eq!((reply.stored, reply.dead), (1, 3));
    let letters = dead_letters(&place.paths).unwrap();
    let reasons: Vec<&str> = letters.iter().map(|(_, l)| l.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the event is not valid JSON at line 1, column 2",
            "unknown event `NeverHeardOf`",
            "no envelope",
        ]
    );
    for (file, _) in &letters {
        let text = fs::read_to_string(file).unwrap();
        assert!(!text.contains(&secret), "{text}");
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(!place.log().contains(&secret));
    assert_eq!(retry_dead_letters(&place.paths).unwrap(), 3);
    worker.ask(&Request::Drain);
    assert_eq!(dead_letters(&place.paths).unwrap().len(), 3);
    worker.stop();
}

#[test]
fn a_damaged_database_is_put_aside_and_made_anew_from_the_archive() {
    for damage in [Damage::Garbage, Damage::Truncated] {
        let place = Place::new();
        for n in 0..30 {
            place.put(NOW + n, &Place::call(usize::try_from(n).unwrap()));
        }
        let worker = place.start("1.0.0", LONG);
        worker.ask(&Request::Drain);
        worker.stop();
        let before = place.titles();
        let database = place.paths.database_file();
        let bytes = fs::read(&database).unwrap();
        match damage {
            Damage::Garbage => fs::write(&database, "this is no database at all").unwrap(),
            Damage::Truncated => fs::write(&database, &bytes[..bytes.len() / 3]).unwrap(),
        }
        place.put(NOW + 100, &Place::call(99));
        let worker = place.start("1.0.0", LONG);
        let reply = worker.ask(&Request::Drain);
        assert_eq!(reply.trouble, None);
        worker.stop();
        let after = place.titles();
        assert_eq!(after[..30], before[..], "{damage:?}");
        assert_eq!(after.len(), 31);
        assert!(place.log().contains("the database is damaged"));
        let told = CaptureFailureMark::for_data_dir(&place.paths)
            .take_failure()
            .unwrap();
        assert!(told.starts_with("the database was damaged"), "{told}");
        let aside = fs::read_dir(place.paths.home()).unwrap().filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("remora.db.damaged-")
        });
        assert!(aside.count() >= 1);
    }
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    Garbage,
    Truncated,
}

#[test]
fn a_database_that_is_gone_comes_back_from_the_archive() {
    for loss in [Loss::Removed, Loss::Emptied, Loss::WithoutSchema] {
        let place = Place::new();
        for n in 0..3 {
            place.put(NOW + n, &Place::call(usize::try_from(n).unwrap()));
        }
        let worker = place.start("1.0.0", LONG);
        worker.ask(&Request::Drain);
        worker.stop();
        assert!(!is_gone(&place.paths));
        let before = place.titles();
        let database = place.paths.database_file();
        fs::remove_file(&database).unwrap();
        match loss {
            Loss::Removed => {}
            Loss::Emptied => fs::write(&database, "").unwrap(),
            Loss::WithoutSchema => {
                // A page without a table, as SQLite writes it.
                let mut page = vec![0; 4096];
                page[..16].copy_from_slice(b"SQLite format 3\0");
                page[16..24].copy_from_slice(&[16, 0, 1, 1, 0, 64, 32, 32]);
                page[100..108].copy_from_slice(&[13, 0, 0, 0, 0, 16, 0, 0]);
                fs::write(&database, page).unwrap();
            }
        }
        assert!(is_gone(&place.paths), "{loss:?}");
        let worker = place.start("1.0.0", LONG);
        assert_eq!(worker.ask(&Request::Drain).trouble, None);
        worker.stop();
        assert_eq!(place.titles(), before, "{loss:?}");
        assert!(place.log().contains("the database is gone"));
    }
}

#[derive(Debug, Clone, Copy)]
enum Loss {
    Removed,
    Emptied,
    WithoutSchema,
}

#[test]
fn a_database_that_is_removed_under_a_worker_comes_back() {
    let place = Place::new();
    place.put(NOW, &Place::call(1));
    let worker = place.start("1.0.0", LONG);
    worker.ask(&Request::Drain);
    fs::remove_file(place.paths.database_file()).unwrap();
    place.put(NOW + 1, &Place::call(2));
    assert_eq!(worker.ask(&Request::Drain).trouble, None);
    worker.stop();
    assert_eq!(place.titles().len(), 2);
}

#[test]
fn room_for_the_mark_of_a_failing_hook_is_taken_at_the_start() {
    let place = Place::new();
    let worker = place.start("1.0.0", LONG);
    let mark = place.paths.run_dir().join("capture-failed");
    assert_eq!(fs::metadata(mark).unwrap().len(), 512);
    assert_eq!(
        CaptureFailureMark::for_data_dir(&place.paths).take_failure(),
        None
    );
    worker.stop();
}

#[test]
fn a_deep_data_directory_has_a_socket_too() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("x".repeat(60)).join("y".repeat(60));
    fs::create_dir_all(&deep).unwrap();
    let mut place = Place::new();
    place.paths = remora_client::DataPaths::new(deep.join("data"));
    place.paths.prepare_data_dir().unwrap();
    let worker = place.start("1.0.0", LONG);
    assert_eq!(worker.ask(&Request::Status).version, "1.0.0");
    worker.stop();
}

#[test]
fn a_worker_whose_data_directory_is_gone_ends() {
    let place = Place::new();
    // It looks around at least as often as it might end.
    let worker = place.start("1.0.0", Duration::from_secs(3));
    // Until then it makes files of its own.
    worker.ask(&Request::Drain);
    fs::remove_dir_all(place.paths.home()).unwrap();
    // Somebody begins anew in the same place.
    place.paths.prepare_data_dir().unwrap();
    fs::write(place.paths.lock(), "").unwrap();
    assert_eq!(worker.end(), WorkerExit::Homeless);
}

#[test]
fn a_worker_whose_lock_file_is_replaced_has_not_crashed() {
    let place = Place::new();
    let worker = place.start("1.0.0", Duration::from_secs(3));
    worker.ask(&Request::Drain);
    fs::remove_file(place.paths.lock()).unwrap();
    fs::write(place.paths.lock(), "").unwrap();
    assert_eq!(worker.end(), WorkerExit::Homeless);
    let deaths = remora_server::crashes::recent_deaths(&place.paths, NOW, false);
    assert_eq!(deaths, []);
}
