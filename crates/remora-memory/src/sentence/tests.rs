//! Holds blocks, sentences and plain words against whole expected values.

use proptest::prelude::*;

use super::{
    BlockKind, Checkbox, MarkdownBlock, is_machine_line, is_not_spoken, one_line, parse_blocks,
    split_sentences, strip_markup, without_tagged,
};

fn block(kind: BlockKind, text: &str, apart: bool) -> MarkdownBlock {
    MarkdownBlock {
        kind,
        text: text.to_owned(),
        apart,
    }
}

#[test]
fn dots_within_words_end_no_sentence() {
    let cases: &[(&str, &[&str])] = &[
        (
            "See src/lib.rs. It is long.",
            &["See src/lib.rs.", "It is long."],
        ),
        (
            "Use e.g. serde 1.0.2 or i.e. nothing. Done",
            &["Use e.g. serde 1.0.2 or i.e. nothing.", "Done"],
        ),
        (
            "Read https://example.org/a.b?c=d. Then go!",
            &["Read https://example.org/a.b?c=d.", "Then go!"],
        ),
        ("Call `a. b. c`. Fine", &["Call `a. b. c`.", "Fine"]),
        (
            "决定了。用 SQLite！好吗？好",
            &["决定了。", "用 SQLite！", "好吗？", "好"],
        ),
        (
            "He said \"stop.\" Then left",
            &["He said \"stop.\"", "Then left"],
        ),
        (
            "It works (mostly. Not always) now. Yes",
            &["It works (mostly. Not always) now.", "Yes"],
        ),
        ("Wait... what?! ok", &["Wait...", "what?!", "ok"]),
        ("1. first", &["1. first"]),
        (
            "tabs, spaces, etc. are fine. Next",
            &["tabs, spaces, etc. are fine.", "Next"],
        ),
        ("one `tick. Two", &["one `tick.", "Two"]),
        (" . … !", &[]),
    ];
    for (text, wanted) in cases {
        assert_eq!(split_sentences(text), *wanted, "{text}");
    }
}

#[test]
fn markdown_becomes_blocks_without_code_tables_and_quotes() {
    let text = "# Title #\n\nA long paragraph line that was wrapped by an editor at some\npoint goes on here.\nShort line\nAnother line\n\n- [x] done\n  - nested one\n    goes on\n* [ ] open\n1. first\n\n```rust\nlet x = 1;\n```\n~~~\nnever closed? no\n~~~\n> quoted\n| a | b |\n---\nlast\n";
    let item = |depth, mark| BlockKind::Item { depth, mark };
    assert_eq!(
        parse_blocks(text),
        [
            block(BlockKind::Heading, "Title", true),
            block(
                BlockKind::Paragraph,
                "A long paragraph line that was wrapped by an editor at some point goes on here.",
                true
            ),
            block(BlockKind::Paragraph, "Short line", false),
            block(BlockKind::Paragraph, "Another line", false),
            block(item(0, Checkbox::Checked), "done", true),
            block(item(1, Checkbox::None), "nested one goes on", false),
            block(item(0, Checkbox::Unchecked), "open", false),
            block(item(0, Checkbox::None), "first", false),
            block(BlockKind::Paragraph, "last", true),
        ]
    );
}

#[test]
fn marks_go_and_words_stay() {
    let cases = [
        ("**bold** and *it* and `co*de`", "bold and it and co*de"),
        ("[text](http://x.y/z) ![alt](img.png)", "text alt"),
        (
            "snake_case and _em_ and __init__.py",
            "snake_case and em and __init__.py",
        ),
        ("a * b, 2*3", "a * b, 2*3"),
        (
            "**very *much* so.** And ***more***",
            "very much so. And more",
        ),
        (
            "**`--json`** and **--all**: (_so_)",
            "--json and --all: (so)",
        ),
        ("_All of it is meant._", "All of it is meant."),
        ("这是**重点**内容", "这是重点内容"),
        ("[**a** label](u)", "a label"),
        (
            "the prefix app_, a leading _ such as _load_config, foo_",
            "the prefix app_, a leading _ such as _load_config, foo_",
        ),
        ("_load and app_", "_load and app_"),
        ("**__DEV__**", "__DEV__"),
        (
            "dunder __all__ or __init__.py, never __FILE__",
            "dunder __all__ or __init__.py, never __FILE__",
        ),
        (
            "*args and **kwargs, char *p, char *q",
            "*args and **kwargs, char *p, char *q",
        ),
        (
            "src/**, src/*.rs, *.py, **/*.ts and docs/*",
            "src/**, src/*.rs, *.py, **/*.ts and docs/*",
        ),
        ("HEAD~~ and ~/x", "HEAD~~ and ~/x"),
        ("<b>fat</b> Vec<String> a < b", "fat Vec<String> a < b"),
        ("~~old~~ new \\* star", "old new * star"),
        ("[not a link] (x)", "[not a link] (x)"),
        ("an open ` tick", "an open  tick"),
    ];
    for (text, wanted) in cases {
        assert_eq!(strip_markup(text), wanted, "{text}");
    }
}

#[test]
fn machine_lines_are_told_from_prose() {
    let machine = [
        "error[E0308]: mismatched types",
        "2026-01-02T10:11:12Z INFO started",
        "    at foo (/app/x.js:1:2)",
        "$ cargo test",
        "fn main() {",
        "let x = foo(1);",
        "src/main.rs:10:5: unused variable",
        "test a::b ... ok",
        "+++ b/src/lib.rs",
        "File \"x.py\", line 3, in f",
        "==== 12/45 [====>    ] 33%",
        "SELECT id FROM t WHERE a = 1",
        "npm ERR! code 1",
    ];
    let prose = [
        "always run the tests",
        "Use `foo(1)` here",
        "The class hierarchy is too deep",
        "不是 3000，是 8080",
        "return early where you can",
        "Update the docs",
        "public functions need docs",
        "Port 8080, not 3000.",
        "select the second option",
        "Running the tests takes long",
    ];
    let wrong: Vec<&str> = machine
        .into_iter()
        .filter(|l| !is_machine_line(l))
        .chain(prose.into_iter().filter(|l| is_machine_line(l)))
        .collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

#[test]
fn tagged_passages_are_not_spoken() {
    assert!(is_not_spoken("  <task-notification>\nx"));
    assert!(!is_not_spoken("look at <task-notification>"));
    assert_eq!(without_tagged("a\n<doc id=\"1\">\nb\n</doc>\nc"), "a\n\nc");
    assert_eq!(
        without_tagged("a\n<log>never </x> closed\nb"),
        "a\n<log>never </x> closed\nb"
    );
    assert_eq!(without_tagged("<b>mine</b>"), "<b>mine</b>");
}

#[test]
fn lines_are_cut_between_words() {
    assert_eq!(one_line("  a\n b\t c ", 10), "a b c");
    assert_eq!(one_line("one two three four", 12), "one two…");
    assert_eq!(one_line("abcdefghijkl", 5), "abcd…");
    assert_eq!(one_line("数据库我们决定用它", 5), "数据库我…");
}

proptest! {
    #[test]
    fn sentences_lose_nothing_but_space(text in any::<String>()) {
        let letters = |t: &str| t.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(split_sentences(&text).iter().map(|s| letters(s)).collect::<String>(), letters(&text));
    }

    #[test]
    fn a_line_is_never_too_long(text in any::<String>(), limit in 1usize..80) {
        let line = one_line(&text, limit);
        prop_assert!(line.chars().count() <= limit && !line.contains('\n'));
    }
}
