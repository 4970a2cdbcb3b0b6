//! Errors: a kind for programs, words without the options of any face, and hints.

use remora_app::search::{SearchNote, SearchRequest};
use remora_app::timeline::TimelineRequest;
use remora_app::{AppError, ErrorKind, Hint, ProjectChoice, RequestField, TimeSpanRequest};
use remora_core::record::Kind;

use crate::bench::Bench;

fn span(since: &str, until: &str) -> TimeSpanRequest {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    TimeSpanRequest {
        since: given(since),
        until: given(until),
    }
}

fn check(error: &AppError, kind: ErrorKind, words: &str, hints: &[Hint]) {
    assert_eq!(
        (error.kind, error.hints.as_slice()),
        (kind, hints),
        "{error}"
    );
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.to_string().contains("--"), "{error}");
}

#[test]
fn errors_are_typed_and_speak_of_no_option() {
    let mut bench = Bench::new();
    bench.remember("shop", "a", "A cart");
    let app = bench.user();
    let timeline = |request: TimelineRequest| app.timeline(&request).unwrap_err();
    let base = TimelineRequest::default;
    check(
        &timeline(TimelineRequest {
            span: span("nonsense", ""),
            ..base()
        }),
        ErrorKind::BadField(RequestField::Since),
        "since: `nonsense` is not a time",
        &[],
    );
    check(
        &timeline(TimelineRequest {
            span: span("today", "2020-01-01"),
            ..base()
        }),
        ErrorKind::EmptyTimeSpan,
        "since is later than until",
        &[],
    );
    check(
        &timeline(TimelineRequest {
            session: Some("nope".to_owned()),
            ..base()
        }),
        ErrorKind::NotFound,
        "`nope` is not a session",
        &[Hint::ListSessions],
    );
    check(
        &timeline(TimelineRequest {
            around: Some("99".to_owned()),
            ..base()
        }),
        ErrorKind::NotFound,
        "not found: `99`",
        &[Hint::SearchForNumbers],
    );
    check(
        &timeline(TimelineRequest {
            project: ProjectChoice::Named("shops".to_owned()),
            ..base()
        }),
        ErrorKind::NotFound,
        "did you mean",
        &[],
    );
    let mut nowhere = bench.user();
    nowhere.caller.directory = None;
    check(
        &nowhere.timeline(&base()).unwrap_err(),
        ErrorKind::BadRequest,
        "the current directory is gone",
        &[Hint::ChooseProject],
    );
}

#[test]
fn a_field_wins_over_the_same_filter_among_the_words() {
    let mut bench = Bench::new();
    bench.remember("shop", "a", "A cart").kind = Kind::Decision;
    let found = bench.user().search(&SearchRequest {
        query: "cart kind:fix since:2020-01-01 project:*".to_owned(),
        kinds: vec![Kind::Decision],
        span: span("2021-01-01", ""),
        project: ProjectChoice::Named("shop".to_owned()),
        limit: 9,
        ..SearchRequest::default()
    });
    let found = found.unwrap();
    assert_eq!(found.results.len(), 1);
    let notes = [
        RequestField::Since,
        RequestField::Kind,
        RequestField::Project,
    ];
    assert_eq!(found.notes, notes.map(SearchNote::FieldWins));
    assert_eq!(
        serde_json::to_value(&found.notes).unwrap()[1],
        "kind is given, so `kind:` does not count"
    );
}
