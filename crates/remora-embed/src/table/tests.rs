//! The table of the binary, and finding in it.

use proptest::prelude::*;

use super::{PiecePosition, Table};

/// The same by trying every length.
fn slowly(table: &Table, text: &str, place: PiecePosition) -> Option<(usize, usize)> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
    ends.push(text.len());
    ends.into_iter()
        .rev()
        .filter(|end| *end > 0)
        .find_map(|end| {
            let word = match place {
                PiecePosition::First => text[..end].to_owned(),
                PiecePosition::Later => format!("##{}", &text[..end]),
            };
            let at = (0..table.len())
                .collect::<Vec<_>>()
                .binary_search_by(|at| table.word_at(*at).cmp(word.as_bytes()))
                .ok()?;
            Some((at, end))
        })
}

#[test]
fn the_table_is_whole_and_in_order() {
    let table = Table::built_in();
    assert_eq!(
        (table.len(), table.dims()),
        (30_522, crate::STATIC_EMBEDDING_DIMS)
    );
    for at in 1..table.len() {
        assert!(table.word_at(at - 1) < table.word_at(at), "{at}");
    }
    let mut ids: Vec<u16> = (0..table.len()).filter_map(|at| table.id(at)).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..30_522));
    assert!(table.row_at(table.len() - 1).is_some());
    assert!(table.row_at(table.len()).is_none());
    assert_eq!(table.word_at(table.len()), b"");
}

#[test]
fn every_word_is_found_where_it_stands() {
    let table = Table::built_in();
    for at in 0..table.len() {
        let word = std::str::from_utf8(table.word_at(at)).unwrap();
        let (text, place) = match word.strip_prefix("##") {
            Some(stem) if !stem.is_empty() => (stem, PiecePosition::Later),
            _ => (word, PiecePosition::First),
        };
        assert_eq!(
            table.find_longest_prefix(text, place),
            Some((at, text.len())),
            "{word}"
        );
    }
}

#[test]
fn broken_tables_are_refused() {
    for bytes in [&b""[..], b"short", &[0xff; 12], &[1; 64]] {
        let bytes: &'static [u8] = bytes.to_vec().leak();
        assert!(Table::parse_bytes(bytes, &[]).is_none());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_longest_word_is_found(text in "([a-z]{1,12}|[a-zß-ÿа-яあ-ん가-힣]{1,6})") {
        let table = Table::built_in();
        for place in [PiecePosition::First, PiecePosition::Later] {
            prop_assert_eq!(table.find_longest_prefix(&text, place), slowly(&table, &text, place));
        }
    }
}
