//! Choosing by signs: fits against a plain computation, and the best of many.

use remora_embed::Embedding;

use super::super::block::{EncodedEntry, SketchBlock, iter_entries};
use super::{SignSums, TopItems};

/// Numbers without a pattern, the same in every run.
fn noise(seed: i64, count: usize) -> Vec<f32> {
    let mut state = seed.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state >> 56).map_or(0.0, |byte| f32::from(byte) - 127.5)
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn a_fit_is_the_sum_of_the_steps() {
    for dims in [0, 5, 8, 13, 256, 384, 500] {
        let meaning = Embedding::from_vector(&noise(1, dims));
        let mut block = SketchBlock::default();
        block.write_entry(&EncodedEntry::new(
            1,
            7,
            &Embedding::from_vector(&noise(2, dims)),
        ));
        let bits = *iter_entries(block.to_bytes()).next().unwrap().bits;
        let bytes = meaning.to_bytes();
        let step = |byte: &u8| ((f32::from(byte.cast_signed()) / 16.0 + 0.5).floor()).min(7.0);
        let expected: f32 = bytes[4..]
            .iter()
            .take(384)
            .enumerate()
            .filter(|(at, _)| bits[at / 8] & (1 << (at % 8)) != 0)
            .map(|(_, byte)| step(byte))
            .sum();
        let found = SignSums::new(&meaning).score_signs(&bits);
        assert!(
            (f64::from(found) - f64::from(expected)).abs() < 0.5,
            "{dims}"
        );
        // Signs that no such vector has are not an error.
        SignSums::new(&meaning).score_signs(&[0xFF; 48]);
    }
}

#[test]
fn the_best_are_kept_in_bounded_memory() {
    for most in [1, 7, 100] {
        let scores: Vec<(i32, i64)> = (1..=5_000_i64)
            .map(|item| (i32::try_from(item * 7_919 % 613).unwrap(), item))
            .collect();
        let mut best = TopItems::new(most);
        for (score, item) in &scores {
            best.offer_item(*score, *item);
            assert!(best.gathered.len() < most * 2);
        }
        let mut sorted = scores;
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let mut expected: Vec<i64> = sorted.iter().take(most).map(|(_, item)| *item).collect();
        let mut found = best.into_items();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[test]
fn fewer_than_wanted_are_all_kept() {
    let mut best = TopItems::new(10);
    for item in [3, 1, 2] {
        best.offer_item(0, item);
    }
    let mut found = best.into_items();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3]);
}
