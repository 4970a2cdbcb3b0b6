//! What users say of items, and what is deleted: over a database, without a worker.

use remora_app::corrections::{EditRequest, RejectRequest};
use remora_app::deletions::DeletionRequest;
use remora_app::show::{ShowRequest, ShownItem};
use remora_app::{App, CallerKind, ErrorKind, Hint, ProjectChoice};
use serde_json::json;

use crate::bench::Bench;

/// Two items of the shop, 1 and 2, and one elsewhere, 3.
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.remember("shop", "a", "The API listens on port 8080");
    bench.remember("shop", "b", "Prices are kept in cents");
    bench.remember("notes", "c", "Prices of the market");
    bench
}

fn show(app: &App, id: &str) -> ShownItem {
    let found = app.show(&ShowRequest {
        ids: vec![id.to_owned()],
    });
    found.unwrap().items.remove(0)
}

fn reject(item: &str) -> RejectRequest {
    RejectRequest {
        item: item.to_owned(),
        because: Some("it  moved\nto 9090".to_owned()),
    }
}

#[test]
fn a_rejection_stays_until_it_is_taken_back() {
    let bench = bench();
    let app = bench.stored(CallerKind::User);
    let done = serde_json::to_value(app.reject_item(&reject("1")).unwrap()).unwrap();
    assert_eq!(
        done,
        json!({
            "id": 1, "uid": "a", "kind": "discovery", "project": done["project"],
            "title": "The API listens on port 8080",
            "wrong": { "reason": "it moved to 9090", "time": "2026-11-16T12:00:00.000Z" },
        })
    );
    let wrong = show(&app, "1").wrong.unwrap();
    assert_eq!(wrong.describe(), "marked wrong: it moved to 9090");
    let pinned = app.pin_item("1").unwrap_err();
    assert_eq!(pinned.hints, [Hint::TakeBackRejection(1)]);
    assert!(app.restore_item("1").unwrap().wrong.is_none());
    assert_eq!(app.restore_item("1").unwrap_err().kind, ErrorKind::Conflict);
}

#[test]
fn pins_are_listed_and_end() {
    let bench = bench();
    let app = bench.stored(CallerKind::User);
    assert!(app.pin_item("2").unwrap().pinned);
    let pins = app.list_pins(None).unwrap().pins;
    let titles: Vec<&str> = pins.iter().map(|pin| pin.title.as_str()).collect();
    assert_eq!(titles, ["Prices are kept in cents"]);
    assert!(show(&app, "2").pinned);
    assert!(!app.unpin_item("2").unwrap().pinned);
    let again = app.unpin_item("2").unwrap_err();
    assert_eq!(again.to_string(), "#2 is not pinned");
}

#[test]
fn an_edit_is_undone_to_what_was_extracted() {
    let bench = bench();
    let app = bench.stored(CallerKind::User);
    let words = |title: &str| EditRequest {
        item: "1".to_owned(),
        title: Some(title.to_owned()),
        text: Some("said by <private>someone</private> us".to_owned()),
    };
    let done = app.edit_item(&words("The API listens on 9090")).unwrap();
    let done = serde_json::to_value(done).unwrap();
    assert_eq!(done["edited"], true);
    assert!(
        !done["text"].as_str().unwrap().contains("someone"),
        "{done}"
    );
    assert!(show(&app, "1").edited);
    let empty = app.edit_item(&words(" ")).unwrap_err();
    assert_eq!(
        (empty.kind, empty.hints),
        (ErrorKind::BadRequest, vec![Hint::DeleteItem])
    );
    let undone = app.undo_edit("1").unwrap();
    assert_eq!(undone.item.title, "The API listens on port 8080");
    assert_eq!(app.undo_edit("1").unwrap_err().kind, ErrorKind::Conflict);
}

#[test]
fn a_deletion_is_previewed_and_deletes_that() {
    let bench = bench();
    let app = bench.stored(CallerKind::User);
    let request = DeletionRequest::Matching {
        words: "prices".to_owned(),
        project: ProjectChoice::Here,
    };
    let planned = app.preview_deletion(&request).unwrap();
    assert_eq!(
        (planned.items, planned.preview.len(), planned.more),
        (1, 1, 0)
    );
    assert_eq!(planned.receipt(), None);
    let done = app.delete(&request).unwrap();
    assert!(done.receipt().is_some());
    let gone = app.preview_deletion(&request).unwrap();
    assert!(gone.is_empty());
    assert_eq!(
        serde_json::to_value(gone).unwrap(),
        json!({ "dry_run": true, "items": 0, "events": 0 })
    );
    assert_eq!(show(&app, "3").item.uid, "c");
}

#[test]
fn an_agent_corrects_its_own_project_and_never_for_the_user() {
    let bench = bench();
    let shell = bench.stored(CallerKind::AgentShell);
    for error in [
        shell.pin_item("1").map(drop),
        shell.restore_item("1").map(drop),
        shell.undo_edit("1").map(drop),
    ] {
        assert_eq!(error.unwrap_err().kind, ErrorKind::Forbidden);
    }
    let tool = bench.stored(CallerKind::AgentTool);
    assert_eq!(
        tool.reject_item(&reject("3")).unwrap_err().kind,
        ErrorKind::NotFound
    );
    let request = DeletionRequest::Items(vec!["3".to_owned()]);
    assert_eq!(tool.delete(&request).unwrap_err().kind, ErrorKind::NotFound);
    assert!(tool.reject_item(&reject("1")).unwrap().wrong.is_some());
}

#[test]
fn the_address_of_a_saved_memory_is_no_item() {
    let bench = bench();
    let app = bench.stored(CallerKind::User);
    let address = "memory://project/prices";
    let error = app.reject_item(&reject(address)).unwrap_err();
    assert_eq!(error.hints, [Hint::ChangeSavedMemory(address.to_owned())]);
}
