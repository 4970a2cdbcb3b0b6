//! What must hold for any text. What the pieces are is tested by the cases of
//! the tokens.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{MAX_CACHED_WORDS, Piece, PieceCache, PieceFinder, visit_word_pieces};
use crate::table::Table;

fn pieces(text: &str, find: &mut impl PieceFinder) -> Vec<Vec<Piece>> {
    let mut all = Vec::new();
    visit_word_pieces(text, find, |pieces| {
        all.push(pieces.to_vec());
        ControlFlow::Continue(())
    });
    all
}

fn spelled(text: &str) -> Vec<String> {
    let table = Table::built_in();
    let word = |at: &Piece| String::from_utf8_lossy(table.word_at(usize::from(*at))).into_owned();
    pieces(text, &mut { table })
        .iter()
        .map(|pieces| pieces.iter().map(word).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn words_are_spelled_by_their_longest_pieces() {
    assert_eq!(
        spelled("Embedding the naïve_café 中文 qzx\u{1f600}"),
        [
            "em ##bed ##ding",
            "the",
            "naive",
            "_",
            "cafe",
            "中",
            "文",
            ""
        ]
    );
}

#[test]
fn reading_stops_when_told() {
    let mut words = 0;
    visit_word_pieces("one two three four", &mut Table::built_in(), |_| {
        words += 1;
        if words == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(words, 2);
}

#[test]
fn a_memo_stays_bounded_and_right() {
    let table = Table::built_in();
    let mut memo = PieceCache::new(table);
    for number in 0..MAX_CACHED_WORDS + 10 {
        let text = format!("w{number}");
        let mut found = Vec::new();
        memo.find(&text, &mut found);
        assert!(!found.is_empty());
        assert!(memo.known.len() <= MAX_CACHED_WORDS);
    }
    assert_eq!(
        pieces("w7 hello", &mut memo),
        pieces("w7 hello", &mut { table })
    );
}

proptest! {
    #[test]
    fn any_text_is_read_and_a_memo_changes_nothing(text in any::<String>(), words in "[a-zA-Z0-9_ .é中\u{301}\u{200b}]{0,60}") {
        let table = Table::built_in();
        let mut memo = PieceCache::new(table);
        for text in [&text, &words] {
            let plain = pieces(text, &mut { table });
            prop_assert_eq!(&plain, &pieces(text, &mut memo));
            prop_assert_eq!(&plain, &pieces(text, &mut memo));
        }
    }

    #[test]
    fn gaps_part_texts(a in any::<String>(), b in any::<String>()) {
        let mut table = Table::built_in();
        let both = pieces(&format!("{a}\n{b}"), &mut table);
        let mut apart = pieces(&a, &mut table);
        apart.extend(pieces(&b, &mut table));
        prop_assert_eq!(both, apart);
    }
}
