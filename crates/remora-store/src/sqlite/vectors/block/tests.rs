//! Blocks as bytes: slots are used again, and no bytes are an error.

use remora_embed::Meaning;

use super::{Block, ENTRY, SLOTS, entries};

fn meaning(n: i64) -> Meaning {
    let components: Vec<f32> = (0..384_i64)
        .map(|at| if (at * 7 + n) % 3 == 0 { 1.0 } else { -1.0 })
        .collect();
    Meaning::of(&components)
}

fn items(data: &[u8]) -> Vec<i64> {
    entries(data).map(|entry| entry.item).collect()
}

#[test]
fn a_full_block_fits_a_page() {
    let mut block = Block::default();
    for item in 1..=142 {
        assert!(block.put(item, 7, &meaning(item)));
    }
    assert!(!block.put(143, 7, &meaning(143)));
    assert_eq!(block.used(), SLOTS);
    // The header of a row with large numbers beside the blob takes 30 bytes.
    assert!(block.to_bytes().len() + 30 <= 8_157);
}

#[test]
fn an_entry_is_read_as_it_was_written() {
    let mut block = Block::default();
    block.put(i64::MAX, 16, &meaning(1));
    let entry = entries(block.to_bytes()).next().unwrap();
    assert_eq!((entry.item, entry.kind), (i64::MAX, 16));
    assert_eq!(entry.bits[..], meaning(1).sketch());
}

#[test]
fn an_item_has_one_entry() {
    let mut block = Block::default();
    for item in [5, 6, 5] {
        block.put(item, 7, &meaning(item));
    }
    block.put(5, 8, &meaning(50));
    let entry = entries(block.to_bytes()).next().unwrap();
    assert_eq!((entry.item, entry.kind), (5, 8));
    assert_eq!(entry.bits[..], meaning(50).sketch());
    assert_eq!(items(block.to_bytes()), [5, 6]);
}

#[test]
fn free_slots_are_used_again() {
    let mut block = Block::default();
    for item in 1..=4 {
        block.put(item, 7, &meaning(item));
    }
    block.clear(2);
    assert_eq!(items(block.to_bytes()), [1, 3, 4]);
    assert!(!block.holds(2));
    block.put(9, 7, &meaning(9));
    assert_eq!(items(block.to_bytes()), [1, 9, 3, 4]);
    for item in [9, 3, 4] {
        block.clear(item);
    }
    assert_eq!(block.to_bytes().len(), ENTRY);
    block.clear(77);
    assert_eq!(items(block.to_bytes()), [1]);
}

#[test]
fn a_vector_of_any_length_has_an_entry() {
    for dims in [0, 3, 8, 256, 384, 1_000] {
        let mut block = Block::default();
        block.put(1, 7, &Meaning::of(&vec![1.0; dims]));
        let entry = entries(block.to_bytes()).next().unwrap();
        let set: usize = entry
            .bits
            .iter()
            .map(|byte| byte.count_ones() as usize)
            .sum();
        assert_eq!(set, dims.min(384));
    }
}

#[test]
fn any_bytes_are_a_block() {
    let mut block = Block::default();
    for item in 1..=3 {
        block.put(item, 7, &meaning(item));
    }
    let whole = block.to_bytes().to_vec();
    for cut in 0..whole.len() {
        assert_eq!(items(&whole[..cut]).len(), cut / ENTRY);
        assert_eq!(Block::new(&whole[..cut]).used(), cut / ENTRY);
    }
    let noise = vec![0xA5; 20_000];
    assert_eq!(Block::new(&noise).used(), SLOTS);
}
