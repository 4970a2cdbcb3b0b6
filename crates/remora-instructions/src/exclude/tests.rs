//! Patterns as the client was seen to take them, from `cases/excludes`, and
//! hostile ones.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;

use super::Excludes;

fn cases(name: &str) -> Value {
    let path = format!("{}/cases/excludes/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A file system with two linked directories.
fn real(directory: &Path) -> Option<PathBuf> {
    let text = directory.to_str()?;
    if text.contains("nope") {
        return None;
    }
    let linked = text
        .replace("/home/dev/lnk", "/home/dev/real")
        .replace("/home/dev/odd", "/home/dev/a[b](c)");
    Some(PathBuf::from(linked))
}

fn hits(pattern: &str, path: &str) -> bool {
    Excludes::new([pattern.to_owned()], real)
        .find_match(Path::new(path))
        .is_some()
}

#[test]
fn names_are_hit_as_in_the_client() {
    let all = cases("names.json");
    let base = "/home/dev/app/.claude/rules/t/";
    for case in all["cases"].as_array().unwrap() {
        let pattern = format!("{base}{}", case["pattern"].as_str().unwrap());
        let names = all["names"].as_array().unwrap();
        let got: Vec<&Value> = names
            .iter()
            .filter(|name| hits(&pattern, &format!("{base}{}", name.as_str().unwrap())))
            .collect();
        let want: Vec<&Value> = case["hits"].as_array().unwrap().iter().collect();
        assert_eq!(got, want, "{pattern}");
    }
}

#[test]
fn paths_are_hit_as_in_the_client() {
    for case in cases("paths.json").as_array().unwrap() {
        let pattern = case["pattern"].as_str().unwrap();
        let path = case["path"].as_str().unwrap();
        assert_eq!(hits(pattern, path), case["hit"], "{case}");
    }
}

#[test]
fn the_first_pattern_that_hits_is_named() {
    let patterns = ["", "/a/*", "/a/b", "**"].map(str::to_owned);
    let excludes = Excludes::new(patterns, |_| None);
    assert_eq!(excludes.find_match(Path::new("/a/b")), Some("/a/*"));
    assert_eq!(excludes.find_match(Path::new("/c")), Some("**"));
    assert!(!excludes.is_empty());
    assert!(Excludes::new([String::new()], |_| None).is_empty());
}

#[test]
fn hostile_patterns_take_no_time() {
    let path = format!("/{}b/{}", "a".repeat(250), "dir/".repeat(40));
    let patterns = [
        "a*".repeat(200) + "c",
        "/**".repeat(3_000) + "/c",
        "+(a|".repeat(2_000) + "c",
        "*(".repeat(12) + "a" + &")".repeat(12) + "c",
        "/+(+(+(+(a)))+(*))c".to_owned(),
        "!(".repeat(3_000) + "a" + &")".repeat(3_000) + "c",
        "{a,".repeat(3_000),
        "{a,{b,".repeat(6) + "c" + &"}}".repeat(6),
        "(".repeat(15_000),
        "[".repeat(15_000),
        "!{".repeat(5_000),
        "{1..".repeat(3_000),
        "x".repeat(200_000),
    ];
    for pattern in patterns {
        let shown: String = pattern.chars().take(20).collect();
        assert!(!hits(&pattern, &path), "{shown}");
    }
    assert!(hits(&("/".to_owned() + &"a*".repeat(100)), &path[..200]));
}

proptest! {
    #[test]
    fn any_pattern_and_path_are_taken(pattern in any::<String>(), path in any::<String>()) {
        let _ = hits(&pattern, &path);
    }

    #[test]
    fn near_globs_are_taken(pattern in "[ab/*?!+@|,(){}\\[\\]^ \\\\\".:-]{0,20}", path in "(/[ab.]{1,3}){1,3}") {
        let _ = hits(&pattern, &path);
    }

    #[test]
    fn a_path_hits_itself_and_its_negation_does_not(path in "(/[a-z.]{1,6}){1,4}") {
        prop_assume!(!path.split('/').any(|name| matches!(name, "." | "..")));
        prop_assert!(hits(&path, &path));
        let negated = format!("!{path}");
        let beside = format!("{path}x");
        prop_assert!(!hits(&negated, &path));
        prop_assert!(hits(&negated, &beside));
        prop_assert!(hits("**", &path));
    }
}
