//! What is told of a memory, from files and findings.

use std::fs;

use remora_notes::check::{Claim, Confidence, Tense};

use super::*;

fn finding(verdict: ClaimVerdict, evidence: &str, now: Option<&str>) -> ClaimFinding {
    ClaimFinding {
        claim: Claim {
            kind: ClaimKind::Path,
            text: "src/a.rs".to_owned(),
            line: 1,
            sense: Tense::Stated,
            weight: Confidence::Firm,
            of: None,
        },
        verdict,
        evidence: evidence.to_owned(),
        now: now.map(str::to_owned),
    }
}

#[test]
fn only_what_no_longer_holds_is_in_doubt() {
    let told = |verdict, evidence, now| format_doubt(&finding(verdict, evidence, now));
    assert_eq!(told(ClaimVerdict::Holds, "src/a.rs", None), None);
    assert_eq!(told(ClaimVerdict::CannotTell, "", None), None);
    assert_eq!(
        told(ClaimVerdict::Gone, "deleted in 1a2b3c4 (2026-10-01)", None).as_deref(),
        Some("src/a.rs is gone since 2026-10-01")
    );
    assert_eq!(
        told(ClaimVerdict::Gone, "deleted (some day)", None).as_deref(),
        Some("src/a.rs is gone")
    );
    assert_eq!(
        told(ClaimVerdict::Moved, "renamed", Some("lib/a.rs")).as_deref(),
        Some("src/a.rs is now lib/a.rs")
    );
    let long = told(ClaimVerdict::Moved, "", Some(&"ü".repeat(300))).unwrap();
    assert_eq!(long.chars().count(), MAX_DOUBT_CHARS);
}

#[test]
fn moments_are_read_as_people_write_them() {
    assert_eq!(
        parse_timestamp("2026-11-15T10:00:00Z"),
        Some(1_794_736_800_000)
    );
    assert_eq!(parse_timestamp(" 2026-11-15 "), Some(1_794_700_800_000));
    assert_eq!(parse_timestamp("last week"), None);
}

#[test]
fn files_are_those_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::write(root.join("src/a.rs"), "").unwrap();
    fs::write(root.join("src/deep/b.rs"), "").unwrap();
    let body = format!(
        "See `src/a.rs` and `./src/a.rs`, `{}`, not `src/gone.rs`, `src/deep` or `../x.rs`.",
        root.join("src/deep/b.rs").display()
    );
    assert_eq!(list_named_files(&body, root), ["src/a.rs", "src/deep/b.rs"]);
}
