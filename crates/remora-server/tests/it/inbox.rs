use std::fs;

use remora_client::{HookInput, list_spooled, read_spooled, spool_event};
use remora_core::record::Project;
use remora_memory::store::Batch;
use remora_server::{BatchStats, dead_letters};
use serde_json::Value;

use crate::place::{AGENT, NOW, Place};

#[test]
fn what_is_delivered_twice_is_stored_once() {
    let place = Place::new();
    let mut inbox = place.inbox();
    let event = Place::call(1);
    place.put(NOW, &event);
    let file = list_spooled(&place.paths, 1).unwrap().remove(0);
    let copy = fs::read(&file).unwrap();
    assert_eq!(inbox.ingest_batch(NOW).unwrap().stored, 1);
    // As after a death between storing and removing.
    fs::write(&file, copy).unwrap();
    // As from a second installation: another event id, the same call.
    place.put(NOW + 1, &event);
    let repeated = BatchStats {
        removed: 2,
        repeated: 2,
        ..BatchStats::default()
    };
    assert_eq!(inbox.ingest_batch(NOW).unwrap(), repeated);
    // Both at once.
    place.put(NOW + 2, &Place::call(2));
    place.put(NOW + 3, &Place::call(2));
    let round = inbox.ingest_batch(NOW).unwrap();
    assert_eq!((round.stored, round.repeated), (1, 1));
    assert_eq!(place.events().len(), 2);
    assert_eq!(place.items().len(), 2);
}

#[test]
fn a_batch_says_what_it_touched() {
    let place = Place::new();
    let mut inbox = place.inbox();
    let event = |n: usize, session: &str, cwd: &str| {
        let mut event = Place::call(n);
        event["session_id"] = session.into();
        event["cwd"] = cwd.into();
        event
    };
    place.put(NOW, &event(1, "moves", "/a"));
    place.put(NOW + 1, &event(2, "stays", "/b"));
    place.put(NOW + 2, &event(3, "moves", "/b"));
    let mut end = event(4, "moves", "/a");
    end["hook_event_name"] = "Stop".into();
    place.put(NOW + 3, &end);
    let touched = inbox.ingest_batch(NOW).unwrap().touched;
    let said: Vec<_> = touched
        .sessions
        .iter()
        .map(|s| (s.id.as_str(), s.project.root.as_str(), s.has_turned))
        .collect();
    assert_eq!(
        said,
        [
            ("stays", "/b", false),
            ("moves", "/b", false),
            ("moves", "/a", true)
        ]
    );
    // What comes again touches nothing.
    place.put(NOW + 9_000, &event(2, "stays", "/b"));
    let again = inbox.ingest_batch(NOW).unwrap();
    assert_eq!((again.repeated, again.touched.sessions.len()), (1, 0));
}

#[test]
fn the_same_question_is_asked_again() {
    let place = Place::new();
    let mut inbox = place.inbox();
    let mut event = Place::call(1);
    event["hook_event_name"] = "PermissionRequest".into();
    event["prompt_id"] = "p1".into();
    let fields = event.as_object_mut().unwrap();
    fields.retain(|name, _| name != "tool_use_id" && name != "tool_response");
    // Told by two installations, and some time later once more.
    for now in [NOW, NOW + 20, NOW + 3_000] {
        place.put(now, &event);
    }
    let round = inbox.ingest_batch(NOW).unwrap();
    assert_eq!((round.stored, round.repeated), (2, 1));
    assert_eq!(place.events().len(), 2);
}

#[test]
fn a_clock_that_goes_back_loses_nothing() {
    let place = Place::new();
    let mut inbox = place.inbox();
    for (n, now) in [NOW, NOW - 86_400_000, NOW + 5, 0, -5]
        .into_iter()
        .enumerate()
    {
        place.put(now, &Place::call(n));
        inbox.ingest_batch(now).unwrap();
    }
    assert_eq!(place.events().len(), 5);
    assert_eq!(place.items().len(), 5);
}

/// Panics at a batch with the word `poison` in it.
fn poisoned(batch: &Batch) {
    let told = format!("{batch:?}");
    assert!(!told.contains("poison"), "the store panics on `{told}`");
}

fn poison(n: usize) -> Value {
    let mut event = Place::call(n);
    event["tool_input"]["command"] = format!("make poison{n}").into();
    event
}

#[test]
fn a_panic_costs_the_event_it_happens_on_and_no_other() {
    let place = Place::new();
    let mut ids = Vec::new();
    for n in 0..20 {
        let event = if n % 7 == 3 {
            poison(n)
        } else {
            Place::call(n)
        };
        ids.push(place.put(NOW + i64::try_from(n).unwrap(), &event));
    }
    let round = place.inbox_with(poisoned).ingest_batch(NOW).unwrap();
    assert_eq!((round.removed, round.stored, round.dead), (20, 17, 3));
    assert_eq!(place.events().len(), 17);
    assert_eq!(place.items().len(), 17);
    let dead = dead_letters(&place.paths).unwrap();
    let buried: Vec<&str> = dead.iter().map(|(_, letter)| letter.id.as_str()).collect();
    assert_eq!(buried, [&ids[3], &ids[10], &ids[17]]);
    for (_, letter) in &dead {
        assert!(letter.reason.starts_with("panicked at "), "{letter:?}");
        assert!(!letter.reason.contains("poison"), "{letter:?}");
    }
    assert!(list_spooled(&place.paths, 1).unwrap().is_empty());
    assert!(!place.paths.run_dir().join("under-way").exists());
    // What was archived before the store panicked is archived once.
    remora_server::retry_dead_letters(&place.paths).unwrap();
    assert_eq!(place.inbox().ingest_batch(NOW).unwrap().stored, 3);
    assert_eq!(place.items().len(), 20);
    assert!(dead_letters(&place.paths).unwrap().is_empty());
}

#[test]
fn a_second_try_files_an_event_where_it_happened() {
    let place = Place::new();
    let project = Project {
        key: "github.com/acme/app".into(),
        name: "app".into(),
        root: "/p/app".into(),
    };
    let here = remora_client::ProjectLocation {
        project: project.clone(),
        branch: Some("main".into()),
        main: "/p/app".into(),
        claim: remora_client::RootClaim::Accepted,
    };
    let mut event = poison(1);
    event["cwd"] = "/p/app/deep".into();
    let input = HookInput {
        bytes: event.to_string().into_bytes(),
        cut: true,
    };
    let id = spool_event(&place.paths, AGENT, NOW - 5, Some(here), &input, false).unwrap();
    let file = list_spooled(&place.paths, 1).unwrap().remove(0);
    let before = read_spooled(&file, u64::MAX).unwrap().envelope;
    place.inbox_with(poisoned).ingest_batch(NOW).unwrap();
    remora_server::retry_dead_letters(&place.paths).unwrap();
    let again = list_spooled(&place.paths, 1).unwrap().remove(0);
    assert_eq!(again, file);
    assert_eq!(read_spooled(&again, u64::MAX).unwrap().envelope, before);
    place.inbox().ingest_batch(NOW).unwrap();
    let item = place.items().remove(0);
    assert_eq!(item.project, project.key);
    assert_eq!((item.time, item.branch.as_deref()), (NOW - 5, Some("main")));
    assert!(item.uid.starts_with(&id), "{}", item.uid);
}

#[test]
fn an_event_is_not_to_blame_for_workers_that_were_killed() {
    let place = Place::new();
    let id = place.put(NOW, &Place::call(1));
    place.put(NOW + 1, &Place::call(2));
    let note = place.paths.run_dir().join("under-way");
    // Two deaths so far: it is tried alone, and does not kill this time.
    fs::write(&note, format!("1 {id}.json\n")).unwrap();
    let round = place.inbox().ingest_batch(NOW).unwrap();
    assert_eq!((round.removed, round.stored), (1, 1));
    assert!(!note.exists());
    // Three: after all others, but it is stored.
    let id = place.put(NOW - 2, &Place::call(3));
    fs::write(&note, format!("2 {id}.json\n")).unwrap();
    let mut inbox = place.inbox();
    assert_eq!(inbox.ingest_batch(NOW).unwrap().stored, 1);
    assert!(place.paths.spool_dir().join(format!("{id}.json")).exists());
    assert_eq!(inbox.ingest_batch(NOW).unwrap().stored, 1);
    assert_eq!(place.events().len(), 3);
    // Four: it waits, as it came, and is tried again a minute later.
    let id = place.put(NOW, &Place::call(4));
    fs::write(&note, format!("3 {id}.json\n")).unwrap();
    let mut inbox = place.inbox();
    assert_eq!(inbox.ingest_batch(NOW).unwrap(), BatchStats::default());
    let suspect = remora_server::list_suspects(&place.paths).remove(0);
    assert_eq!((suspect.name, suspect.deaths), (format!("{id}.json"), 4));
    assert_eq!(inbox.ingest_batch(NOW + 60_000).unwrap().stored, 1);
    assert_eq!(remora_server::list_suspects(&place.paths), []);
    assert!(dead_letters(&place.paths).unwrap().is_empty());
}

#[test]
fn secrets_reach_neither_rows_nor_archive_nor_log() {
    let place = Place::new();
    let secret = format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut event = Place::call(1);
    event["tool_input"]["command"] = format!("curl -H 'Authorization: token {secret}' x").into();
    event["tool_response"]["stdout"] =
        format!("<private>my own words</private> and {secret}").into();
    place.put(NOW, &event);
    place.inbox().ingest_batch(NOW).unwrap();
    let item = place.items().remove(0);
    let told = format!("{item:?}");
    assert!(told.contains("[redacted:"), "{told}");
    assert!(!told.contains(&secret) && !told.contains("my own words"));
    assert!(place.log().contains("redacted"), "{}", place.log());
    let mut archived = Vec::new();
    for file in remora_server::archive::Archive::new(place.paths.archive_dir())
        .list_files()
        .unwrap()
    {
        remora_server::archive::read_events(&file, |event| archived.push(event)).unwrap();
    }
    assert_eq!(archived.len(), 1);
    let told = serde_json::to_string(&archived).unwrap();
    assert!(!told.contains(&secret) && !told.contains("my own words"));
    assert!(!place.log().contains(&secret));
}

#[test]
fn the_log_tells_the_stages_of_an_event() {
    let place = Place::new();
    let id = place.put(NOW, &Place::call(1));
    place.inbox().ingest_batch(NOW).unwrap();
    let log = place.log();
    let line = log.lines().find(|line| line.contains(&id)).unwrap();
    let stages = line.split_once(&id).unwrap().1;
    assert!(stages.starts_with(" PostToolUse: read "), "{line}");
    assert!(
        stages.ends_with(" bytes, archived, stored 1 item"),
        "{line}"
    );
}
