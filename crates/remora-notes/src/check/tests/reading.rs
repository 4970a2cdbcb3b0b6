//! How the tree is read: with and without git, changed files, the cache.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::super::{
    CheckCache, ClaimFinding, ClaimVerdict, Git, TreeEvidence, TreeListing, WantedNames, check_all,
    check_memory, combine_verdicts,
};
use super::lines::words;
use super::sandbox::{fresh, git, shared, write};

fn findings(root: &Path, memory: &str, how: &Git) -> Vec<ClaimFinding> {
    let mut wanted = WantedNames::default();
    wanted.add_body(memory);
    check_memory(
        memory,
        &TreeEvidence::from_listing(
            &TreeListing::list_files(root, &[]),
            &wanted,
            how,
            &mut |_, _| {},
        ),
    )
}

fn one(root: &Path, memory: &str) -> (ClaimVerdict, String) {
    let mut found = findings(root, memory, &Git::default());
    assert_eq!(found.len(), 1, "{found:?}");
    let finding = found.remove(0);
    (finding.verdict, finding.evidence)
}

#[test]
fn a_rename_names_its_commit_and_the_new_place() {
    let found = findings(
        &shared(),
        "It is in `crates/engine/src/planner.rs`.",
        &Git::default(),
    );
    assert_eq!(
        found[0].now.as_deref(),
        Some("crates/engine/src/route/plan.rs")
    );
    let (head, tail) = found[0].evidence.split_once(" in ").unwrap();
    assert_eq!(head, "renamed to crates/engine/src/route/plan.rs");
    assert!(tail.len() > 15 && tail.ends_with(')'), "{tail}");
}

#[test]
fn a_removed_symbol_names_the_commit_that_removed_it() {
    let (verdict, evidence) = one(&shared(), "The rows are counted by `rowsOf`.");
    assert_eq!(verdict, ClaimVerdict::Gone);
    assert!(evidence.contains("last line removed in "), "{evidence}");
}

#[test]
fn a_found_symbol_names_its_definition() {
    let found = one(&shared(), "Lines are read by `parse_line`.");
    assert_eq!(
        found,
        (
            ClaimVerdict::Holds,
            "crates/engine/src/parser.rs:4".to_owned()
        )
    );
}

#[test]
fn without_git_nothing_fails() {
    let how = Git {
        program: None,
        ..Git::default()
    };
    let memory =
        "`crates/engine/src/parser.rs`, `crates/engine/src/legacy.rs`, `crates/ghost/src/x_y.rs`";
    let found = findings(&shared(), memory, &how);
    assert_eq!(
        words(&found),
        [
            "path holds crates/engine/src/parser.rs",
            "path gone crates/engine/src/legacy.rs",
            "path cannot-tell crates/ghost/src/x_y.rs",
        ]
    );
    assert_eq!(
        found[1].evidence,
        "not in crates/engine/src/; no history to ask"
    );
}

#[test]
fn git_is_stopped_at_its_limit_and_that_is_said() {
    let how = Git {
        limit: Duration::ZERO,
        ..Git::default()
    };
    let found = findings(&shared(), "It is in `crates/ghost/src/weekly.rs`.", &how);
    assert_eq!(found[0].verdict, ClaimVerdict::CannotTell);
    assert!(
        found[0].evidence.contains("took too long"),
        "{}",
        found[0].evidence
    );
}

#[test]
fn a_folder_without_git_is_read_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "src/lib.rs", "pub fn kept_name() {}\n");
    let found = findings(
        folder.path(),
        "`kept_name` and `lost_name` in `src/lib.rs`.",
        &Git::default(),
    );
    assert_eq!(
        words(&found),
        [
            "symbol holds kept_name",
            "symbol gone lost_name",
            "path holds src/lib.rs"
        ]
    );
}

#[test]
fn changes_that_are_not_committed_count() {
    let folder = fresh();
    let root = folder.path();
    fs::remove_file(root.join("crates/cli/src/report.rs")).unwrap();
    git(
        root,
        &["mv", "web/src/hooks/useCart.ts", "web/src/hooks/cart.ts"],
    );
    let (verdict, evidence) = one(root, "Reports: `crates/cli/src/report.rs`.");
    assert_eq!(
        (verdict, evidence.as_str()),
        (
            ClaimVerdict::Gone,
            "deleted in the changes not yet committed"
        )
    );
    let (verdict, evidence) = one(root, "Carts: `web/src/hooks/useCart.ts`.");
    assert_eq!(verdict, ClaimVerdict::Moved);
    assert_eq!(
        evidence,
        "renamed to web/src/hooks/cart.ts in the changes not yet committed"
    );
    let (verdict, evidence) = one(root, "They come from `monthly_report`.");
    assert_eq!(verdict, ClaimVerdict::Gone);
    assert!(
        evidence.ends_with("the changes not yet committed"),
        "{evidence}"
    );
}

#[test]
fn what_is_on_another_branch_is_not_gone() {
    let folder = fresh();
    let root = folder.path();
    git(root, &["checkout", "-q", "-b", "other"]);
    write(
        root,
        "crates/cli/src/branchy.rs",
        "pub fn on_the_branch() {}\n",
    );
    git(root, &["add", "crates/cli/src/branchy.rs"]);
    git(root, &["commit", "-q", "-m", "third"]);
    git(root, &["checkout", "-q", "main"]);
    let (verdict, evidence) = one(root, "See `crates/cli/src/branchy.rs`.");
    assert_eq!(verdict, ClaimVerdict::CannotTell);
    assert!(evidence.ends_with("on another branch"), "{evidence}");
}

#[test]
fn a_second_checkout_and_folders_set_apart_do_not_count() {
    let folder = fresh();
    let root = folder.path();
    write(
        root,
        "copies/w/.git",
        "gitdir: /somewhere/.git/worktrees/w\n",
    );
    write(root, "copies/w/a.rs", "fn only_in_copy() {}\n");
    write(root, "notes-of-ours/m.rs", "fn only_in_notes() {}\n");
    let files = TreeListing::list_files(root, &[root.join("notes-of-ours")]);
    let mut wanted = WantedNames::default();
    let memory = "The functions `only_in_copy` and function `only_in_notes`.";
    wanted.add_body(memory);
    let tree = TreeEvidence::from_listing(&files, &wanted, &Git::default(), &mut |_, _| {});
    let verdicts: Vec<ClaimVerdict> = check_memory(memory, &tree)
        .iter()
        .map(|f| f.verdict)
        .collect();
    assert_eq!(verdicts, [ClaimVerdict::Gone, ClaimVerdict::Gone]);
}

#[test]
fn binary_and_large_files_are_left_out_and_counted() {
    let folder = fresh();
    let root = folder.path();
    fs::write(root.join("a.bin"), b"\0 hidden_in_binary \0").unwrap();
    write(
        root,
        "big.rs",
        &format!("fn hidden_in_large() {{}}\n{}", "// x\n".repeat(500_000)),
    );
    let (verdict, evidence) = one(root, "It calls `hidden_in_large()`.");
    assert_eq!(verdict, ClaimVerdict::Gone);
    assert!(evidence.ends_with("(1 too large to read)"), "{evidence}");
    assert_eq!(
        one(root, "It calls `hidden_in_binary()`.").0,
        ClaimVerdict::Gone
    );
}

#[test]
fn the_fingerprint_sees_every_change_of_files() {
    let folder = fresh();
    let root = folder.path();
    let now = || TreeListing::list_files(root, &[]).fingerprint();
    let mut seen = vec![now()];
    assert_eq!(now(), seen[0], "nothing changed");
    fs::write(root.join("dist/bundle.js"), "ignored").unwrap();
    assert_eq!(now(), seen[0], "ignored files do not count");
    write(root, "web/src/draft.ts", "export const draftOnly = 2;\n");
    seen.push(now());
    write(root, "web/src/untracked.ts", "x");
    seen.push(now());
    fs::remove_file(root.join("web/src/untracked.ts")).unwrap();
    fs::remove_file(root.join("Makefile")).unwrap();
    seen.push(now());
    git(root, &["commit", "-q", "--allow-empty", "-m", "third"]);
    seen.push(now());
    let mut different = seen.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), seen.len());
}

#[test]
fn the_cache_answers_until_something_changes() {
    let folder = fresh();
    let root = folder.path();
    let bodies = [
        "Uses `parse_line`.",
        "Made: `dist/bundle.js`.",
        "Nothing here.",
    ];
    let mut cached = CheckCache::default();
    let ask = |cached: &mut CheckCache| {
        let mut read = 0;
        let files = TreeListing::list_files(root, &[]);
        let all = check_all(&files, &bodies, &Git::default(), cached, &mut |done, _| {
            read = done;
        });
        (
            all.iter().map(|f| combine_verdicts(f)).collect::<Vec<_>>(),
            read > 0,
        )
    };
    let first = vec![
        ClaimVerdict::Holds,
        ClaimVerdict::Holds,
        ClaimVerdict::CannotTell,
    ];
    assert_eq!(ask(&mut cached), (first.clone(), true));
    let mut kept = CheckCache::load(&cached.save());
    assert_eq!(kept, cached);
    assert_eq!(
        ask(&mut kept),
        (first.clone(), false),
        "read from the cache"
    );

    fs::remove_file(root.join("dist/bundle.js")).unwrap();
    let second = vec![
        ClaimVerdict::Holds,
        ClaimVerdict::CannotTell,
        ClaimVerdict::CannotTell,
    ];
    assert_eq!(
        ask(&mut kept).0,
        second,
        "an ignored file is asked for by name"
    );

    let parser = root.join("crates/engine/src/parser.rs");
    let text = fs::read_to_string(&parser)
        .unwrap()
        .replace("parse_line", "read_line");
    fs::write(parser, text).unwrap();
    assert_eq!(
        kept.last_findings(bodies[0]).map(|f| combine_verdicts(&f)),
        Some(ClaimVerdict::Holds),
        "as of then"
    );
    assert_eq!(ask(&mut kept).0[0], ClaimVerdict::Gone);
}

#[test]
fn a_damaged_cache_is_none() {
    let folder = fresh();
    let files = TreeListing::list_files(folder.path(), &[]);
    let mut cached = CheckCache::default();
    let _ = check_all(
        &files,
        &["`parse_line`"],
        &Git::default(),
        &mut cached,
        &mut |_, _| {},
    );
    let good = cached.save();
    assert_eq!(
        CheckCache::load(&good[..good.len() - 3]),
        CheckCache::default()
    );
    let other = String::from_utf8(good)
        .unwrap()
        .replace("\"version\":1", "\"version\":0");
    assert_eq!(CheckCache::load(other.as_bytes()), CheckCache::default());
    let mixed = other
        .replace("\"version\":0", "\"version\":1")
        .replace("\"claim\":0", "\"claim\":7");
    assert_eq!(
        CheckCache::load(mixed.as_bytes()).get("`parse_line`", &files),
        None
    );
}

#[test]
fn progress_ends_at_the_number_of_files() {
    let files = TreeListing::list_files(&shared(), &[]);
    let mut wanted = WantedNames::default();
    wanted.add_body("`parse_line`");
    let mut last = (0, 0);
    let _ = TreeEvidence::from_listing(&files, &wanted, &Git::default(), &mut |done, all| {
        last = (done, all);
    });
    assert_eq!(last, (files.len(), files.len()));
}

#[test]
fn the_strongest_finding_decides() {
    let root = shared();
    let all = |memory: &str| combine_verdicts(&findings(&root, memory, &Git::default()));
    assert_eq!(all("Nothing is named."), ClaimVerdict::CannotTell);
    assert_eq!(all("`parse_line`"), ClaimVerdict::Holds);
    assert_eq!(all("`PAYMENTS_TOKEN`"), ClaimVerdict::CannotTell);
    assert_eq!(
        all("`parse_line` and `PAYMENTS_TOKEN`"),
        ClaimVerdict::Holds
    );
    assert_eq!(
        all("`PAYMENTS_TOKEN` and `crates/engine/src/planner.rs`"),
        ClaimVerdict::Moved
    );
    assert_eq!(
        all("`crates/engine/src/planner.rs` and `rowsOf`"),
        ClaimVerdict::Gone
    );
}
