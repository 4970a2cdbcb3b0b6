//! Three words of a row that do not stand beside each other, in another order
//! than the row has them, find it among a thousand rows, in every script.

use std::collections::HashMap;

use remora_core::record::Item;
use remora_memory::store::{Batch, Filter, ItemWrite, Store};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_memory::words::Query;
use remora_store::{Access, open_store};

const ROWS: usize = 1_000;
/// A row is found if it is among so many.
const TOP: usize = 20;

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

fn lists() -> HashMap<String, Vec<String>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/any-order.txt");
    std::fs::read_to_string(file)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (script, words) = line.split_once(':').unwrap();
            let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            words.sort_unstable();
            words.dedup();
            (script.to_owned(), words)
        })
        .collect()
}

/// How many of a thousand rows of these words are found.
fn found(scripts: &[&str], gap: &str) -> usize {
    let lists = lists();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let rows: Vec<Vec<&String>> = (0..ROWS)
        .map(|_| {
            // Longer rows of so few words would often hold another row's three.
            let length = 9 + dice.below(16);
            (0..length)
                .map(|n| {
                    // In turns, so that words of two scripts may touch.
                    let words = &lists[scripts[n % scripts.len()]];
                    &words[dice.below(words.len())]
                })
                .collect()
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let store = open_store(&folder.path().join("remora.db"), Access::Write, LOOK_TOOLS).unwrap();
    let items = rows.iter().enumerate().map(|(n, row)| {
        let text: Vec<&str> = row.iter().map(|word| word.as_str()).collect();
        ItemWrite::Add(Item {
            text: text.join(gap),
            ..item(&format!("u{n}"), &format!("row {n}"))
        })
    });
    let items = items.collect();
    let batch = Batch {
        items,
        ..Batch::default()
    };
    store.apply(&batch).unwrap();
    let mut found = 0;
    for (n, row) in rows.iter().enumerate() {
        let third = row.len() / 3;
        let pick = |dice: &mut Dice, part: usize| row[part * third + dice.below(third - 1)];
        let asked = [2, 0, 1]
            .map(|part| pick(&mut dice, part).as_str())
            .join(" ");
        let hits = store
            .search(&Query::parse(&asked), &Filter::default(), TOP)
            .unwrap();
        let uid = format!("u{n}");
        found += usize::from(hits.iter().any(|hit| hit.item.uid == uid));
    }
    found
}

#[test]
fn words_in_any_order_find_their_row() {
    let mixed = ["english", "chinese", "japanese", "korean"];
    for (scripts, gap) in [
        (&["english"][..], " "),
        (&["chinese"], ""),
        (&["japanese"], ""),
        (&["korean"], " "),
        (&mixed, " "),
        (&["english", "chinese"], ""),
        (&["japanese", "english"], ""),
    ] {
        let found = found(scripts, gap);
        assert!(found * 100 >= ROWS * 98, "{scripts:?}: {found} of {ROWS}");
    }
}
