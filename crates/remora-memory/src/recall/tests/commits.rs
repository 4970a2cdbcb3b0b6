//! Commits as recall sees them: a reason outlives its lines, but not its revert.

use remora_core::ids::SessionId;

use super::*;
use crate::recall::freshness::{Freshness, FreshnessChecker};
use crate::recall::item_line::render_full;
use crate::recall::reader::RecallReader;

fn commit(detail: serde_json::Value) -> Item {
    Item {
        kind: Kind::Commit,
        text: "SQLite has one writer anyway.".into(),
        facts: vec!["PR #12".into()],
        files_modified: vec!["src/db.rs".into()],
        session: SessionId::default(),
        detail: Some(detail.into()),
        ..item("c", "Queue writes in one thread (#12)")
    }
}

#[test]
fn a_commit_tells_its_reason_whatever_became_of_its_files_and_nothing_once_reverted() {
    let mut world = World::default();
    world.files.insert("src/db.rs".into(), FileStatus::Gone);
    let scene = RecallContext {
        project: &"project".into(),
        branch: Some("main"),
        session: &"now".into(),
        now: 0,
        changed: &[],
        embedding: None,
        details: "`show 12`",
        disk: &world,
        given: &world,
        limits: RecallLimits {
            start_tokens: 2_000,
            index_rows: 50,
            summaries: 10,
            prompt_tokens: 300,
        },
    };
    let store = RecallReader::new(&world.store, Some("project"), 0).unwrap();
    let mut checker = FreshnessChecker::new(&store, &scene);
    let kept = commit(json!({ "commit": "ab12ab12ab" }));
    assert_eq!(checker.check_item(&kept), Freshness::Holds);
    let text = render_full(&kept, Freshness::Holds, &scene);
    // Anybody may have written it.
    assert!(text.starts_with("#0~ "), "{text}");
    assert!(
        text.ends_with("\n  SQLite has one writer anyway."),
        "{text}"
    );
    let reverted = commit(json!({ "commit": "ab12ab12ab", "reverted_by": "cd34cd34cd" }));
    assert_eq!(checker.check_item(&reverted), Freshness::Gone);
    let bare = Item {
        text: String::new(),
        facts: vec!["reverts Use a pool".into()],
        ..kept
    };
    let text = render_full(&bare, Freshness::Holds, &scene);
    assert!(text.ends_with("\n  reverts Use a pool"), "{text}");
}
