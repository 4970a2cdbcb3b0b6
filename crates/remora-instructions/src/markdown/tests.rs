//! Runs the cases under `cases/markdown`, and shows that no text makes the
//! reader panic, loop or lose what it must keep.

use std::path::Path;

use proptest::prelude::*;
use serde::Deserialize;

use super::{decode_text, find_near_imports, parse_markdown};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageCase {
    name: String,
    body: String,
    /// Path and line of each import, in order.
    imports: Vec<(String, usize)>,
    /// The cleaned text; the body itself when it is left out.
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MissCase {
    name: String,
    body: String,
    /// Line, path and reason of each miss, in order.
    misses: Vec<(usize, String, String)>,
}

fn cases<T: serde::de::DeserializeOwned>(file: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/markdown");
    let text = std::fs::read_to_string(path.join(file)).unwrap();
    let cases: Vec<T> = serde_json::from_str(&text).unwrap();
    assert!(!cases.is_empty(), "{file} holds no case");
    cases
}

fn check_pages(file: &str) {
    for case in cases::<PageCase>(file) {
        let page = parse_markdown(&case.body);
        let imports: Vec<(String, usize)> = page
            .imports
            .into_iter()
            .map(|import| (import.path, import.line))
            .collect();
        assert_eq!(imports, case.imports, "imports of {}", case.name);
        let text = case.text.unwrap_or(case.body);
        assert_eq!(page.text, text, "text of {}", case.name);
    }
}

#[test]
fn imports() {
    check_pages("imports.json");
}

#[test]
fn comments() {
    check_pages("comments.json");
}

#[test]
fn marks_that_import_nothing() {
    for case in cases::<MissCase>("misses.json") {
        let found: Vec<(usize, String, String)> = find_near_imports(&case.body)
            .into_iter()
            .map(|miss| (miss.line, miss.token, format!("{:?}", miss.why)))
            .collect();
        assert_eq!(found, case.misses, "{}", case.name);
    }
}

#[test]
fn bytes_become_text() {
    assert_eq!(decode_text(b"\xef\xbb\xbfa\r\nb\rc\n"), "\u{feff}a\nb\nc\n");
    assert_eq!(super::trim_text("\u{feff} a\n"), "a");
    assert_eq!(decode_text(b"a\xffb\r"), "a\u{fffd}b\n");
    assert_eq!(decode_text(b""), "");
}

/// Texts that cost a careless reader more than their length. Without the
/// bounds each of these takes minutes.
#[test]
fn hostile_texts_end_soon() {
    let units = [
        ">",
        "> ",
        "- ",
        "1. ",
        "[",
        "![",
        "[a](b",
        "[`",
        "`",
        "``",
        "*",
        "*a ",
        "a**b",
        "_*",
        "<",
        "<!--",
        "x <!-- ",
        "<?",
        "<a b=\"",
        "\\",
        "(@",
        "@",
        "@a\\ ",
        "> - a\nb\n",
        "> > a\nb\n",
        "- a\n",
        "[r]: <\n",
        "a\n",
        "> - a\n#b\n",
        "\u{2028}*a",
        "|",
        "<div>\n",
    ];
    for unit in units {
        let text = format!("@a.md {}\n@b.md", unit.repeat(100_000 / unit.len()));
        let page = parse_markdown(&text);
        assert!(page.text.len() <= text.len(), "{unit:?}");
        assert!(find_near_imports(&text).len() <= text.len(), "{unit:?}");
    }
}

#[test]
fn deep_containers_keep_their_text() {
    let text = format!("{}@a.md <!-- c -->", "> ".repeat(500));
    assert_eq!(parse_markdown(&text).text, text);
}

/// Texts made from what matters to the reader.
fn markdown() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "@a.md",
        " @b/c.md ",
        "text",
        "\n",
        "\n",
        "\n\n",
        " ",
        "  ",
        "    ",
        "\t",
        "`",
        "```",
        "~~~",
        "- ",
        "* ",
        "1. ",
        "> ",
        "<!-- ",
        " -->",
        "<!-- x -->",
        "<div>",
        "</div>",
        "<pre>",
        "<b>",
        "<?",
        "[",
        "](",
        ")",
        "[r]: u\n",
        "[r]",
        "![",
        "*",
        "**",
        "_",
        "~~",
        "\\",
        "\\@",
        "\\ ",
        "# ",
        "===",
        "---",
        "| a |",
        "&amp;",
        "#x",
        "é",
        "日",
        "😀",
        "\u{2028}",
        "\u{a0}",
        "\"",
        "'",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        parse_markdown(&text);
        find_near_imports(&text);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = decode_text(&bytes);
        prop_assert!(!text.contains('\r'));
        parse_markdown(&text);
    }

    #[test]
    fn lines_are_those_of_the_text(text in markdown()) {
        let lines = text.split('\n').count();
        for import in parse_markdown(&text).imports {
            prop_assert!((1..=lines).contains(&import.line));
            prop_assert!(!import.path.is_empty() && !import.path.contains('#'));
        }
        for miss in find_near_imports(&text) {
            prop_assert!((1..=lines).contains(&miss.line));
        }
    }

    #[test]
    fn a_text_without_comments_stays(text in markdown()) {
        prop_assume!(!text.contains("<!--"));
        prop_assert_eq!(parse_markdown(&text).text, text);
    }

    #[test]
    fn code_stays(text in "[ -~]{0,60}", comment in "[a-z @.]{0,20}") {
        prop_assume!(!text.contains('`'));
        let body = format!("```\n{text}\n<!-- {comment} -->\n```\n");
        let page = parse_markdown(&body);
        prop_assert_eq!(page.text, body);
        prop_assert_eq!(page.imports, vec![]);
    }

    #[test]
    fn a_comment_between_paragraphs_goes(
        before in "[a-z ]{1,30}", inside in "[a-z @.\n]{0,30}", after in "[a-z ]{1,30}",
    ) {
        prop_assume!(!before.trim().is_empty() && !after.trim().is_empty());
        let (before, after) = (before.trim(), after.trim());
        let page = parse_markdown(&format!("{before}\n\n<!-- {inside} -->\n\n{after}\n"));
        prop_assert_eq!(&page.text, &format!("{before}\n\n{after}\n"));
        prop_assert_eq!(parse_markdown(&page.text).text, page.text);
        prop_assert_eq!(page.imports, vec![]);
    }
}
