//! A second backend is one factory: search, show and recall over it, and no other
//! crate knows of it.

use remora_app::preview::{PreviewRequest, PreviewTrigger, RecallSwitch};
use remora_app::search::SearchRequest;
use remora_app::show::ShowRequest;
use remora_app::{CallerKind, ErrorKind, SearchTier};
use remora_core::record::Kind;
use serde_json::{Value, json};

use crate::bench::Bench;

fn search(query: &str) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        limit: 9,
        tier: SearchTier::Fast,
        ..SearchRequest::default()
    }
}

#[test]
fn search_and_show_are_served_from_memory() {
    let mut bench = Bench::new();
    bench.remember("shop", "a", "Prices are kept in cents").kind = Kind::Decision;
    bench.remember("notes", "b", "Prices of the market");
    let app = bench.user();
    let found = serde_json::to_value(app.search(&search("prices")).unwrap()).unwrap();
    let titles: Vec<&Value> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["title"])
        .collect();
    assert_eq!(titles, ["Prices are kept in cents"]);
    assert_eq!(found["tier"], "fast");
    let id = found["results"][0]["id"].to_string();
    let shown = app
        .show(&ShowRequest {
            ids: vec![id, "999".to_owned()],
        })
        .unwrap();
    assert_eq!(shown.items[0].project_name, "shop");
    let shown = serde_json::to_value(shown).unwrap();
    assert_eq!(shown["missing"], json!(["999"]));
    assert_eq!(shown["items"][0]["when"], "2026-11-16T12:00:00.000Z");
}

#[test]
fn recall_is_served_from_memory() {
    let mut bench = Bench::new();
    let decision = bench.remember(
        "shop",
        "a",
        "Keep prices in cents because floats lose money",
    );
    decision.kind = Kind::Decision;
    decision.speaker = Some("user".to_owned());
    decision.session = "earlier".into();
    let previewed = bench
        .user()
        .preview(&PreviewRequest {
            trigger: PreviewTrigger::Start,
            session: None,
            tool_prefix: None,
            switch: RecallSwitch::On,
        })
        .unwrap();
    let text = previewed.text.unwrap();
    assert!(text.contains("Keep prices in cents"), "{text}");
}

#[test]
fn an_address_of_an_unknown_kind_is_named() {
    let bench = Bench::new();
    let app = bench.app(CallerKind::User, "", "punchcards:drawer");
    let error = app.search(&search("x")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Store);
    assert_eq!(
        error.to_string(),
        "the store failed: `punchcards:` is no kind of store; there are sqlite, memory"
    );
}

#[test]
fn nothing_stored_is_an_answer() {
    let bench = Bench::new();
    let app = bench.app(CallerKind::User, "", "memory:nothing");
    let found = serde_json::to_value(app.search(&search("x")).unwrap()).unwrap();
    assert_eq!(found, json!({ "ms": 0.0, "results": [] }));
    let error = app.show(&ShowRequest::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoDatabase);
}
