use remora_core::record::Item;

use super::*;

fn read(message: &str) -> Option<CommitMessage> {
    read_message(message, false)
}

fn told(title: &str, text: &str, facts: &[&str]) -> CommitMessage {
    CommitMessage {
        title: title.to_owned(),
        text: text.to_owned(),
        facts: facts.iter().map(|&fact| fact.to_owned()).collect(),
    }
}

#[test]
fn a_body_is_kept_without_what_names_people() {
    let message = "Queue writes in one thread\n\n\
        SQLite has one writer anyway, so waiting in our own\nqueue is cheaper than its lock.\n\n\n\
        BREAKING CHANGE: the pool is gone\n\n\
        Co-authored-by: Ada <ada@example.com>\n  (and others)\n\
        Signed-off-by: Grace <grace@example.com>\nChange-Id: I0123\n";
    let text = "SQLite has one writer anyway, so waiting in our own\n\
        queue is cheaper than its lock.\n\nBREAKING CHANGE: the pool is gone";
    assert_eq!(
        read(message),
        Some(told("Queue writes in one thread", text, &[]))
    );
}

#[test]
fn what_says_no_more_than_its_subject_is_left_out() {
    for message in [
        "",
        "\n\n",
        "Fix a typo",
        "Fix a typo\n\nSigned-off-by: Ada <ada@example.com>",
        "Fix a typo\n\nFixes #12",
        "Use a pool (#12)",
        "Use a pool (#12)\n\nCo-authored-by: Ada <ada@example.com>",
        "wip\n\nmore wip",
        "Bump serde from 1.0.1 to 1.0.2\n\nBumps [serde](https://example.com) from 1.0.1 to 1.0.2.\n",
    ] {
        assert_eq!(read(message), None, "{message:?}");
    }
    for message in [
        "Merge branch 'topic'",
        "Merge branch 'topic' into main\n\nConflicts:\n\tsrc/a.rs\n\tsrc/b.rs\n",
        "Merge pull request #7 from acme/topic",
        "Merge pull request #7 from acme/topic\n\nUse a pool",
    ] {
        assert_eq!(read_message(message, true), None, "{message:?}");
    }
}

#[test]
fn references_are_facts_and_count_with_a_few_words() {
    assert_eq!(
        read("Use a pool (#12)\n\nConnections leaked. Fixes #9 and #10, closes acme/app#11\n"),
        Some(told(
            "Use a pool (#12)",
            "Connections leaked. Fixes #9 and #10, closes acme/app#11",
            &["PR #12", "closes #9", "closes #10", "closes acme/app#11"]
        ))
    );
    assert_eq!(
        read(
            "Use a pool\n\nLeaks, see https://h.org/acme/app/issues/5#c and https://h.org/a/-/merge_requests/6"
        ),
        Some(told(
            "Use a pool",
            "Leaks, see https://h.org/acme/app/issues/5#c and https://h.org/a/-/merge_requests/6",
            &["issue #5", "MR !6"]
        ))
    );
    assert_eq!(
        read_message(
            "Merge pull request #7 from acme/topic\n\nUse a pool\n\nThe old one leaked connections.",
            true
        ),
        Some(told(
            "Use a pool",
            "The old one leaked connections.",
            &["PR #7"]
        ))
    );
}

#[test]
fn scripts_without_spaces_say_something_too() {
    assert!(read("修正\n\n接続が漏れるためプールを使う。").is_some());
    assert!(read("修正\n\n了解").is_none());
}

#[test]
fn control_characters_and_long_texts_do_no_harm() {
    let message = format!("a\u{1b}[2Jb\n\nwhy \u{7}it is so{}", "x".repeat(100_000));
    let message = read(&message).unwrap();
    assert_eq!(message.title, "a[2Jb");
    assert!(message.text.starts_with("why it is so"));
    let item = item("aa11", 1, message, &[]);
    assert_eq!(item.text.len(), MAX_TEXT_BYTES);
}

fn item(hash: &str, time: i64, message: CommitMessage, reverts: &[&str]) -> Item {
    let commit = Commit {
        hash: hash.repeat(10),
        time,
        is_merge: false,
        message: String::new(),
    };
    let reverts: Vec<String> = reverts.iter().map(|&hash| hash.to_owned()).collect();
    commit_item(
        &commit,
        message,
        &reverts,
        &"p".into(),
        format!("commit-{hash}").into(),
    )
}

fn made(hash: &str, time: i64, message: &str) -> Item {
    let hashes = reverted_hashes(message);
    let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
    item(hash, time, read(message).unwrap(), &hashes)
}

#[test]
fn a_revert_without_a_body_is_kept_and_names_what_it_took_back() {
    let hash = "ab12".repeat(10);
    let message = format!("Revert \"Use a pool\"\n\nThis reverts commit {hash}.\n");
    assert_eq!(
        read(&message),
        Some(told("Revert \"Use a pool\"", "", &["reverts Use a pool"]))
    );
    assert_eq!(reverted_hashes(&message), [hash]);
    assert_eq!(
        reverted_hashes("This partially reverts commit ab12ab12."),
        Vec::<String>::new()
    );
    assert_eq!(
        reverted_hashes("as abcdef12 did, it reverts commit ab12ab12"),
        Vec::<String>::new()
    );
}

#[test]
fn a_reverted_commit_is_marked_until_its_revert_is_reverted() {
    let pool = made("ab12", 1, "Use a pool\n\nThe old way leaked connections.");
    let other = made("cd34", 2, "Use threads\n\nThe loop was never idle.");
    let short = "ab12ab12";
    let revert = made(
        "ef56",
        3,
        &format!("Revert \"Use a pool\"\n\nThis reverts commit {short}.\n\nIt deadlocked."),
    );
    let mut items = vec![revert, other, pool];
    assert_eq!(mark_reverts(&mut items), [2]);
    let by = |items: &[Item]| -> Vec<Option<String>> {
        items
            .iter()
            .map(|item| reverted_by(item).map(str::to_owned))
            .collect()
    };
    assert_eq!(by(&items), [None, None, Some("ef56ef56ef".to_owned())]);
    assert_eq!(mark_reverts(&mut items), Vec::<usize>::new());
    let again = made(
        "0a78",
        4,
        "Reapply \"Use a pool\"\n\nThis reverts commit ef56ef56ef56.",
    );
    items.push(again);
    assert_eq!(mark_reverts(&mut items), [0, 2]);
    assert_eq!(
        by(&items),
        [Some("0a780a780a".to_owned()), None, None, None]
    );
}

#[test]
fn a_revert_without_a_known_hash_is_matched_by_subject() {
    let why = "\n\nThe old way leaked connections.";
    let first = made("ab12", 1, &format!("Use a pool (#1){why}"));
    let second = made("cd34", 2, &format!("Use a pool (#1){why}"));
    let later = made("ef56", 9, &format!("Use a pool (#1){why}"));
    let revert = made(
        "0a78",
        3,
        "Revert \"Use a pool (#1)\" (#2)\n\nReverts acme/app#1",
    );
    let mut items = vec![first, second, later, revert];
    assert_eq!(mark_reverts(&mut items), [1]);
    // Subjects that go round in a circle end.
    let mut items = vec![
        made("ab12", 1, "Revert \"Revert \"a\"\"\n\nno good reason"),
        made("cd34", 1, "Revert \"a\"\n\nno good reason"),
    ];
    items[1].detail = Some(serde_json::json!({ "commit": "x", "reverts": ["ab12ab12"] }).into());
    mark_reverts(&mut items);
}
