//! Any text and any bytes: no panic, bounded results, the same every time.

use proptest::prelude::*;

use super::super::{CheckCache, list_claims};

/// Pieces that the rules look at, to be put together in any order.
const PIECES: &[&str] = &[
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\r\n",
    " ",
    "--",
    "--flag-name",
    "src/a.rs",
    "a::b",
    "x()",
    "<",
    ">",
    "{",
    "}",
    "](",
    "[[",
    "@",
    "$HOME",
    "#",
    "- ",
    "1. ",
    "not ",
    "removed ",
    "cargo xtask ",
    "npm run ",
    "make ",
    "cd ",
    "é",
    "日本",
    "\u{1b}[31m",
    "\u{0}",
    "…",
    ":12",
    "*",
    "**/",
    "~",
    "/",
    ".",
    "..",
    "'",
    "\"",
    "---\n",
    "=",
    "&&",
    "→",
];

fn puzzle() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..80).prop_map(|list| list.concat())
}

fn holds_together(text: &str) {
    let found = list_claims(text);
    assert!(found.len() <= 400);
    let lines = text.split('\n').count();
    for claim in &found {
        assert!(
            !claim.text.is_empty() && claim.text.len() < 400,
            "{claim:?}"
        );
        assert!((1..=lines).contains(&claim.line), "{claim:?}");
    }
    assert_eq!(found, list_claims(text));
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        holds_together(&text);
    }

    #[test]
    fn any_mixture_is_read(text in puzzle()) {
        holds_together(&text);
    }

    #[test]
    fn any_bytes_are_a_cache(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(CheckCache::load(&bytes), CheckCache::default());
    }
}

/// Each of these would take minutes if anything were worse than linear.
#[test]
fn long_lines_of_anything_are_read_in_one_go() {
    for piece in [
        "`",
        "`a",
        "``` `` ",
        "`a_b` ",
        "a/",
        "--x ",
        "(",
        "not `x_y` ",
        "a.b() ",
        "\n`",
        "cargo run -p x && ",
    ] {
        assert!(list_claims(&piece.repeat((1 << 18) / piece.len())).len() < 2);
    }
    let many: Vec<String> = (0..20_000).map(|n| format!("`name_{n}`")).collect();
    assert_eq!(list_claims(&many.join(" ")).len(), 400);
}
