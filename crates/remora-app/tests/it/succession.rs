//! What a later statement superseded is marked, with what holds beside it.

use remora_app::recap::RecapRequest;
use remora_app::search::SearchRequest;
use remora_app::show::ShowRequest;
use remora_app::{App, CallerKind};
use remora_core::record::{Kind, Session};
use serde_json::{Value, json};

use crate::bench::{Bench, NOON};

const SESSION: &str = "s1";
const EARLIER: &str = "use Redis for the job queue";
const LATER: &str = "use Postgres for the job queue";

fn open_app() -> (Bench, App) {
    let mut bench = Bench::new();
    for (at, (uid, title)) in [("a", EARLIER), ("b", LATER)].into_iter().enumerate() {
        let row = bench.remember("shop", uid, title);
        row.kind = Kind::Decision;
        row.prompt = u32::try_from(at + 1).ok();
        row.time = NOON - 60_000 + i64::try_from(at).unwrap() * 1_000;
        row.last_time = row.time;
        row.session = SESSION.into();
    }
    let session = Session {
        id: SESSION.into(),
        agent: "claude-code".into(),
        project: bench.project("shop").as_str().into(),
        cwd: String::new(),
        branch: None,
        started: NOON - 60_000,
        last: NOON - 59_000,
        end_reason: None,
        prompts: 2,
        title: EARLIER.to_owned(),
    };
    bench.batch.sessions.push(session);
    let app = bench.stored(CallerKind::User);
    (bench, app)
}

/// What holds instead, as each answer has it.
fn successor() -> Value {
    json!({ "id": 2, "title": LATER, "time": "2026-11-16T11:59:01.000Z" })
}

#[test]
fn search_and_show_name_what_holds_now() {
    let (_bench, app) = open_app();
    let request = SearchRequest {
        query: "job queue".to_owned(),
        limit: 5,
        ..SearchRequest::default()
    };
    let found = serde_json::to_value(app.search(&request).unwrap()).unwrap();
    let results = found["results"].as_array().unwrap().iter();
    let mut marks: Vec<(Value, Value)> = results
        .map(|row| (row["id"].clone(), row["superseded_by"].clone()))
        .collect();
    marks.sort_by_key(|(id, _)| id.as_i64());
    assert_eq!(marks, [(json!(1), successor()), (json!(2), Value::Null)]);
    let request = ShowRequest {
        ids: vec!["1".to_owned(), "2".to_owned()],
    };
    let shown = serde_json::to_value(app.show(&request).unwrap()).unwrap();
    assert_eq!(shown["items"][0]["superseded_by"], successor());
    assert_eq!(shown["items"][1].get("superseded_by"), None);
}

#[test]
fn a_recap_says_what_was_decided_and_what_of_it_holds() {
    let (_bench, app) = open_app();
    let recap = app.recap(&RecapRequest::default()).unwrap();
    let sessions = recap.projects.iter().flat_map(|project| &project.sessions);
    let decided: Vec<&String> = sessions.flat_map(|session| &session.decisions).collect();
    assert_eq!(
        decided,
        [
            &format!("{EARLIER} (#1) (superseded by #2: {LATER})"),
            &format!("{LATER} (#2)"),
        ]
    );
}
