//! `remora prune`: what is old goes, from database and archive; what a person
//! decided stays.

use insta::assert_snapshot;
use serde_json::Value;

use crate::rebuild::{exported, remember};
use crate::sandbox::Sandbox;

/// Many old rows, one new one, one old decision.
fn fill(sandbox: &Sandbox) {
    // What so many rows mean takes a while to work out, and nobody asks.
    sandbox.write("home/.remora/config.toml", "search.model = \"off\"\n");
    let text = "All about sails, ropes and the weather at sea. ".repeat(20);
    let mut lines: Vec<String> = (0..2000)
        .map(|n| {
            format!(r#"{{"id":"{n}","conv":"sea","session":"sea:{}","timestamp":{},"text":"{n} {text}"}}"#, n % 9, 1_600_000_000 + n * 60)
        })
        .collect();
    lines.push(r#"{"id":"new","conv":"sea","timestamp":"2099-01-01","text":"fresh"}"#.to_owned());
    lines.push(r#"{"item":{"id":9000,"uid":"d","kind":"decision","title":"Sail at night","time":1600000000000,"last_time":1600000000000,"project":"sea","session":"s","agent":"x"}}"#.to_owned());
    let done = sandbox
        .remora(&["import", "jsonl", "-"])
        .stdin(lines.join("\n"))
        .go();
    assert_eq!(done.code, Some(0), "{done}");
}

fn titles(sandbox: &Sandbox) -> Vec<String> {
    exported(sandbox)
        .iter()
        .filter_map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            Some(line.get("item")?["title"].as_str()?.to_owned())
        })
        .collect()
}

fn bytes(sandbox: &Sandbox) -> u64 {
    sandbox
        .path("home/.remora/remora.db")
        .metadata()
        .unwrap()
        .len()
}

#[test]
fn without_a_limit_nothing_goes() {
    let sandbox = Sandbox::new();
    fill(&sandbox);
    let before = exported(&sandbox);
    assert_snapshot!(sandbox.remora(&["prune"]).go(), @r"
    $ remora prune
    nothing is set to be removed: use --older-than or --max-mb, or `remora config set retention.days 90`
    exit 0
    ");
    assert_eq!(exported(&sandbox), before);
}

#[test]
fn the_old_goes_and_the_file_shrinks() {
    let sandbox = Sandbox::new();
    fill(&sandbox);
    let (size, before) = (bytes(&sandbox), exported(&sandbox));
    let dry = sandbox
        .remora(&["prune", "--older-than", "2024-01-01T00:00:00Z", "--dry-run"])
        .go();
    assert_snapshot!(dry, @r"
    $ remora prune --older-than 2024-01-01T00:00:00Z --dry-run
    would remove 2,000 items and 0 archived events from before 2024-01-01T00:00:00.000Z
    exit 0
    ");
    assert_eq!(exported(&sandbox), before);
    let (_, value) = sandbox
        .remora(&["prune", "--older-than", "2024-01-01T00:00:00Z"])
        .json();
    assert_eq!(value["rows"], 2000);
    assert_eq!(titles(&sandbox), ["Sail at night", "fresh"]);
    assert!(bytes(&sandbox) < size / 4, "{size} -> {}", bytes(&sandbox));
    let all = sandbox
        .remora(&["prune", "--older-than", "1d", "--everything"])
        .json()
        .1;
    assert_eq!(all["rows"], 1);
    assert_eq!(titles(&sandbox), ["fresh"]);
}

#[test]
fn the_configuration_decides_when_no_flag_does() {
    let sandbox = Sandbox::new();
    fill(&sandbox);
    let set = sandbox
        .remora(&["config", "set", "retention.days", "90"])
        .go();
    assert_eq!(set.code, Some(0), "{set}");
    assert_eq!(sandbox.remora(&["prune"]).json().1["rows"], 2000);
}

#[test]
fn the_oldest_go_until_the_database_is_small_enough() {
    let sandbox = Sandbox::new();
    fill(&sandbox);
    let size = bytes(&sandbox);
    assert!(size > 2 * 1_048_576, "{size}");
    let (done, value) = sandbox.remora(&["prune", "--max-mb", "1"]).json();
    assert_eq!(done.code, Some(0), "{done}");
    let rows = value["rows"].as_u64().unwrap();
    assert!((500..2000).contains(&rows), "{value}");
    assert!(bytes(&sandbox) <= 1_048_576, "{}", bytes(&sandbox));
    // The newest of the old ones are the ones that stay.
    let left = titles(&sandbox);
    assert!(
        left.iter().any(|title| title.starts_with("1999 ")),
        "{left:#?}"
    );
    assert!(
        !left.iter().any(|title| title.starts_with("0 ")),
        "{left:#?}"
    );
}

#[test]
fn the_archive_forgets_too_so_a_rebuild_brings_nothing_back() {
    let sandbox = Sandbox::new();
    remember(&sandbox);
    assert!(
        exported(&sandbox)
            .iter()
            .any(|line| line.starts_with("{\"raw\""))
    );
    let done = sandbox
        .remora(&["prune", "--older-than", "0m", "--everything"])
        .go();
    assert_eq!(done.code, Some(0), "{done}");
    let rebuilt = sandbox.remora(&["rebuild"]).go();
    assert_eq!(rebuilt.code, Some(0), "{rebuilt}");
    let left = exported(&sandbox);
    let bad = left
        .iter()
        .find(|line| line.starts_with("{\"raw\"") || line.starts_with("{\"item\""));
    assert_eq!(bad, None);
}

#[test]
fn bad_words_are_told() {
    let sandbox = Sandbox::new();
    fill(&sandbox);
    let age = sandbox.remora(&["prune", "--older-than", "ages"]).go();
    let later = sandbox
        .remora(&["prune", "--older-than", "2999-01-01"])
        .go();
    let size = sandbox.remora(&["prune", "--max-mb", "-1"]).go();
    assert_snapshot!(format!("{age}\n{later}\n{size}"), @r"
    $ remora prune --older-than ages
    stderr: remora: --older-than: `ages` is not an age; try 90d, 12w, 6mo or 2026-01-31
    exit 1
    $ remora prune --older-than 2999-01-01
    stderr: remora: --older-than: that is in the future
    exit 1
    $ remora prune --max-mb -1
    stderr: error: unexpected argument '-1' found
    stderr: 
    stderr: Usage: remora prune [OPTIONS]
    stderr: 
    stderr: For more information, try '--help'.
    exit 1
    ");
}
