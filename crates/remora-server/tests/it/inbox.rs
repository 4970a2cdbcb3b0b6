use std::fs;

use remora_client::waiting;
use remora_server::{Round, dead_letters};

use crate::place::{NOW, Place};

#[test]
fn what_is_delivered_twice_is_stored_once() {
    let place = Place::new();
    let mut inbox = place.inbox();
    let event = Place::call(1);
    place.put(NOW, &event);
    let file = waiting(&place.paths, 1).unwrap().remove(0);
    let copy = fs::read(&file).unwrap();
    assert_eq!(inbox.round(NOW).unwrap().stored, 1);
    // As after a death between storing and removing.
    fs::write(&file, copy).unwrap();
    // As from a second installation: another event id, the same call.
    place.put(NOW + 1, &event);
    let repeated = Round {
        taken: 2,
        repeated: 2,
        ..Round::default()
    };
    assert_eq!(inbox.round(NOW).unwrap(), repeated);
    // Both at once.
    place.put(NOW + 2, &Place::call(2));
    place.put(NOW + 3, &Place::call(2));
    let round = inbox.round(NOW).unwrap();
    assert_eq!((round.stored, round.repeated), (1, 1));
    assert_eq!(place.events().len(), 2);
    assert_eq!(place.items().len(), 2);
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
    let round = inbox.round(NOW).unwrap();
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
        inbox.round(now).unwrap();
    }
    assert_eq!(place.events().len(), 5);
    assert_eq!(place.items().len(), 5);
}

#[test]
fn an_event_that_kills_the_worker_is_given_up_after_three_deaths() {
    let place = Place::new();
    let id = place.put(NOW, &Place::call(1));
    place.put(NOW + 1, &Place::call(2));
    let note = place.paths.run().join("under-way");
    // Two deaths so far: it is tried alone, and does not kill this time.
    fs::write(&note, format!("1 {id}.json\n")).unwrap();
    let round = place.inbox().round(NOW).unwrap();
    assert_eq!((round.taken, round.stored), (1, 1));
    assert!(!note.exists());
    let id = place.put(NOW + 2, &Place::call(3));
    fs::write(&note, format!("2 {id}.json\n")).unwrap();
    let mut inbox = place.inbox();
    let round = inbox.round(NOW).unwrap();
    assert_eq!((round.taken, round.dead), (1, 1));
    let (_, letter) = dead_letters(&place.paths).unwrap().remove(0);
    assert_eq!(letter.id, id);
    assert_eq!(letter.reason, "the worker died on it again and again");
    assert_eq!(inbox.round(NOW).unwrap().stored, 1);
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
    place.inbox().round(NOW).unwrap();
    let item = place.items().remove(0);
    let told = format!("{item:?}");
    assert!(told.contains("[redacted:"), "{told}");
    assert!(!told.contains(&secret) && !told.contains("my own words"));
    assert!(place.log().contains("redacted"), "{}", place.log());
    let mut archived = Vec::new();
    for file in remora_server::archive::Archive::new(place.paths.archive())
        .files()
        .unwrap()
    {
        remora_server::archive::read(&file, |event| archived.push(event)).unwrap();
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
    place.inbox().round(NOW).unwrap();
    let log = place.log();
    let line = log.lines().find(|line| line.contains(&id)).unwrap();
    let stages = line.split_once(&id).unwrap().1;
    assert!(stages.starts_with(" PostToolUse: read "), "{line}");
    assert!(
        stages.ends_with(" bytes, archived, stored 1 item"),
        "{line}"
    );
}
