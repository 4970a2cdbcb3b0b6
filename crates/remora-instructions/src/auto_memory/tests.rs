//! The folder name and the cut, with the figures of the real client.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn cases(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases/auto_memory")
        .join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// `"- {n} xxx"` style texts: `[count, units, with]` lines of that many units.
fn lines(count: usize, units: usize) -> String {
    let line = |n: usize| {
        let head = format!("- {n} ");
        format!("{head}{}", "x".repeat(units - head.len()))
    };
    (1..=count).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn folder_names() {
    for case in cases("slugs.json") {
        let path = case["path"].as_str().unwrap();
        assert_eq!(slugify_path(path), case["slug"].as_str().unwrap(), "{path}");
    }
}

#[test]
fn what_is_within_the_limits_stays_whole() {
    for text in [
        String::new(),
        "- one".to_owned(),
        lines(200, 20),
        lines(125, 199) + "y",
        "é".repeat(25_000),
        "日".repeat(25_000),
        "😀".repeat(12_500),
    ] {
        let index = truncate_index(&text);
        assert_eq!((index.text.as_str(), index.cut), (text.as_str(), None));
    }
}

#[test]
fn lines_go_first() {
    let text = lines(272, 109);
    let index = truncate_index(&text);
    assert_eq!(index.text, lines(200, 109));
    assert_eq!((index.lines, index.units), (272, 272 * 110 - 1));
    let cut = index.cut.unwrap();
    assert_eq!((cut.line, cut.lines, cut.within), (201, 72, false));
    assert_eq!(cut.start, format!("- 201 {}", "x".repeat(74)));
}

#[test]
fn units_cut_at_a_line_end() {
    let index = truncate_index(&lines(128, 199));
    assert_eq!(index.text, lines(125, 199));
    assert_eq!(index.cut.unwrap().line, 126);
}

#[test]
fn one_huge_line_is_cut_within() {
    let index = truncate_index(&"😀".repeat(20_000));
    assert_eq!(index.text, "😀".repeat(12_500));
    let cut = index.cut.unwrap();
    assert_eq!((cut.line, cut.lines, cut.within), (1, 1, true));
    assert_eq!(cut.start, "😀".repeat(80));
}

#[test]
fn warnings_tell_how_much_and_where() {
    let said = |text: &str| truncate_index(text).render_warning().unwrap_or_default();
    assert_eq!(said("- one"), "");
    let by_lines = said(&lines(201, 20));
    assert!(by_lines.starts_with("> WARNING: this index is 201 lines long (limit 200) and was not loaded in full: 1 of 201 lines are missing, from line 201, which begins \"- 201 "), "{by_lines}");
    let by_units = said(&lines(130, 199));
    assert!(
        by_units.contains("25,999 characters long (limit 25,000)")
            && by_units.contains("5 of 130 lines are missing, from line 126"),
        "{by_units}"
    );
    let both = said(&lines(300, 199));
    assert!(
        both.contains("300 lines long (limit 200) and 59,999 characters long (limit 25,000)"),
        "{both}"
    );
    let within = said(&"x".repeat(30_000));
    assert!(within.contains("line 1 breaks off"), "{within}");
    assert!(!both.contains('\n'));
}

#[test]
fn writing_is_judged() {
    assert_eq!(judge_write(""), IndexSizeVerdict::Fits);
    assert_eq!(judge_write(&lines(180, 50)), IndexSizeVerdict::Fits);
    let near = judge_write(&lines(181, 50));
    assert!(
        matches!(near, IndexSizeVerdict::Near(size) if size.lines == 181),
        "{near:?}"
    );
    assert!(near.render_advice().unwrap().contains("181 of 200 lines"));
    assert!(matches!(
        judge_write(&lines(113, 199)),
        IndexSizeVerdict::Near(_)
    ));
    assert!(matches!(
        judge_write(&lines(200, 50)),
        IndexSizeVerdict::Near(_)
    ));
    let over = judge_write(&lines(201, 50));
    assert!(over.render_advice().unwrap().contains("about 140 lines"));
    let wide = judge_write(&lines(100, 300));
    assert_eq!(
        wide,
        IndexSizeVerdict::Over(IndexSize {
            lines: 100,
            units: 30_099,
            long_entries: 100
        })
    );
    assert!(
        wide.render_advice()
            .unwrap()
            .contains("100 entries are longer")
    );
}

proptest! {
    #[test]
    fn any_index_is_cut_to_a_prefix_within_the_limits(
        parts in prop::collection::vec(("[a-z😀é\r]{0,40}", 1_usize..120), 0..12),
        breaks in prop::bool::ANY,
    ) {
        let text = parts
            .iter()
            .map(|(part, times)| format!("{part}{}", if breaks { "\n" } else { "" }).repeat(*times))
            .collect::<String>();
        let index = truncate_index(&text);
        prop_assert!(text.starts_with(&index.text));
        prop_assert!(index.text.encode_utf16().count() <= MAX_INDEX_UTF16_UNITS);
        prop_assert!(count_lines(&index.text) <= MAX_INDEX_LINES);
        prop_assert_eq!(index.cut.is_some(), index.text.len() < text.len());
        let again = super::truncate_index(&index.text);
        prop_assert_eq!(&again.text, &index.text);
        prop_assert_eq!(again.cut, None);
        if let Some(warning) = index.render_warning() {
            prop_assert!(!warning.contains('\n') && warning.len() < 1_000);
        }
    }

    #[test]
    fn any_path_gives_one_safe_name(path in "\\PC{0,300}") {
        let name = slugify_path(&path);
        prop_assert!(name.len() <= 208);
        prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
        prop_assert_eq!(name, slugify_path(&path));
    }
}
