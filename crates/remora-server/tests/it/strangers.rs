//! What is not ours stays as it is, also where a link leads from the data
//! directory to it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use remora_client::{HookInput, list_spooled, spool_event};
use remora_core::record::Project;
use remora_server::dead_letters;

use crate::place::{AGENT, NOW, Place};

/// An event's name that no event has.
const ID: &str = "019dd0c1-0000-7000-8000-000000000000";

fn set_age(file: &Path, age: Duration) {
    let now = UNIX_EPOCH + Duration::from_millis(NOW.unsigned_abs());
    let time: SystemTime = now - age;
    File::options()
        .append(true)
        .open(file)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn a_linked_spool_is_refused_and_what_it_leads_to_stays() {
    let place = Place::new();
    place.put(NOW, &Place::call(1));
    let mut inbox = place.inbox();
    let documents = place.paths.home().with_file_name("documents");
    fs::create_dir_all(documents.join("taxes")).unwrap();
    for name in ["thesis.txt", "taxes/2025.json"] {
        fs::write(documents.join(name), "mine").unwrap();
    }
    fs::write(documents.join(format!("{ID}.json")), "mine").unwrap();
    fs::rename(
        place.paths.spool_dir(),
        place.paths.home().join("spool.old"),
    )
    .unwrap();
    symlink(&documents, place.paths.spool_dir()).unwrap();
    let error = inbox.ingest_batch(NOW).unwrap_err().to_string();
    assert!(error.contains("is a link"), "{error}");
    assert!(list_spooled(&place.paths, 10).is_err());
    for name in ["thesis.txt", "taxes/2025.json", &format!("{ID}.json")] {
        let text = fs::read_to_string(documents.join(name)).unwrap();
        assert_eq!(text, "mine", "{name}");
    }
}

#[test]
fn only_files_under_names_of_events_are_touched() {
    let place = Place::new();
    let spool = place.paths.spool_dir();
    fs::create_dir_all(spool.join("photos/2024")).unwrap();
    fs::create_dir(spool.join(format!("{ID}.json"))).unwrap();
    let outside = place.paths.home().with_file_name("outside");
    fs::write(&outside, "mine").unwrap();
    let linked = ID.replace("0000-7", "0001-7") + ".json";
    symlink(&outside, spool.join(&linked)).unwrap();
    let strangers = ["photos/2024/a.jpg", "notes.json", "half.tmp", "no-ending"];
    for name in strangers {
        fs::write(spool.join(name), "mine").unwrap();
        set_age(&spool.join(name), Duration::from_hours(1));
    }
    place.put(NOW, &Place::call(1));
    let mut inbox = place.inbox();
    let round = inbox.ingest_batch(NOW).unwrap();
    assert_eq!((round.removed, round.stored, round.dead), (1, 1, 0));
    assert_eq!(inbox.ingest_batch(NOW + 60_000).unwrap().removed, 0);
    for name in strangers {
        assert_eq!(fs::read_to_string(spool.join(name)).unwrap(), "mine");
    }
    assert!(spool.join(format!("{ID}.json")).is_dir());
    assert!(spool.join(linked).is_symlink());
    assert_eq!(fs::read_to_string(outside).unwrap(), "mine");
    assert!(dead_letters(&place.paths).unwrap().is_empty());
}

#[test]
fn what_killed_hooks_left_half_written_is_cleared_away() {
    let place = Place::new();
    let spool = place.paths.spool_dir();
    let half = spool.join(format!("{ID}.tmp"));
    let id = place.put(NOW, &Place::call(1));
    // Written to its end, but the hook was killed before it gave it its name.
    let whole = spool.join(format!("{id}.tmp"));
    fs::rename(spool.join(format!("{id}.json")), &whole).unwrap();
    fs::write(&half, "{\"v\":1").unwrap();
    for file in [&half, &whole] {
        set_age(file, Duration::from_secs(5));
    }
    let mut inbox = place.inbox();
    assert_eq!(inbox.ingest_batch(NOW).unwrap().removed, 0);
    assert!(
        half.exists() && whole.exists(),
        "a hook may still be writing"
    );
    assert_eq!(inbox.ingest_batch(NOW + 40_000).unwrap().stored, 1);
    assert!(!half.exists() && !whole.exists());
    let line = "2 half-written events of killed hooks were cleared away";
    assert!(place.log().contains(line), "{}", place.log());
}

#[test]
fn dead_letters_are_neither_written_nor_read_through_a_link() {
    let place = Place::new();
    let documents = place.paths.home().with_file_name("documents");
    fs::create_dir(&documents).unwrap();
    fs::remove_dir(place.paths.dead_letter_dir()).unwrap();
    symlink(&documents, place.paths.dead_letter_dir()).unwrap();
    place.put_bytes(NOW, b"not an event");
    let error = place.inbox().ingest_batch(NOW).unwrap_err().to_string();
    assert!(error.contains("is a link"), "{error}");
    assert!(dead_letters(&place.paths).is_err());
    assert_eq!(fs::read_dir(&documents).unwrap().count(), 0);
    assert_eq!(list_spooled(&place.paths, 10).unwrap().len(), 1);
}

#[test]
fn secrets_in_names_of_branches_remotes_and_folders_are_redacted() {
    let place = Place::new();
    let secret = format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let project = Project {
        key: format!("git.example.org/app?token={secret}").into(),
        name: format!("app-{secret}"),
        root: format!("/srv/{secret}/app"),
    };
    let mut event = Place::call(1);
    event["cwd"] = format!("/srv/{secret}/app").into();
    let broken = HookInput {
        bytes: b"not an event".to_vec(),
        cut: false,
    };
    let input = HookInput {
        bytes: event.to_string().into_bytes(),
        cut: false,
    };
    for (at, input) in [(NOW, input), (NOW + 1, broken)] {
        let location = remora_client::ProjectLocation {
            project: project.clone(),
            branch: Some(format!("fix/{secret}")),
            main: project.root.clone(),
            claim: remora_client::RootClaim::default(),
        };
        spool_event(&place.paths, AGENT, at, Some(location), &input, false).unwrap();
    }
    place.inbox().ingest_batch(NOW).unwrap();
    assert_eq!(place.items().len(), 1);
    let mut folders = vec![place.paths.home().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            if path.extension().is_some_and(|ending| ending == "zst") {
                remora_server::archive::read_events(&path, |event| {
                    bytes.extend(serde_json::to_vec(&event).unwrap());
                })
                .unwrap();
            }
            let found = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}
