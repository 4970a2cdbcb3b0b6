//! Blocks as bytes: slots are used again, and no bytes are an error.

use remora_embed::Embedding;

use super::{ENTRY_BYTES, EncodedEntry, MAX_ENTRIES, SketchBlock, iter_entries};

fn meaning(n: i64) -> Embedding {
    let components: Vec<f32> = (0..384_i64)
        .map(|at| if (at * 7 + n) % 3 == 0 { 1.0 } else { -1.0 })
        .collect();
    Embedding::from_vector(&components)
}

fn items(data: &[u8]) -> Vec<i64> {
    iter_entries(data).map(|entry| entry.item).collect()
}

#[test]
fn a_full_block_fits_a_page() {
    let mut block = SketchBlock::default();
    for item in 1..=142 {
        assert!(block.write_entry(&EncodedEntry::new(item, 7, &meaning(item))));
    }
    assert!(!block.write_entry(&EncodedEntry::new(143, 7, &meaning(143))));
    assert_eq!(block.used_entries(), MAX_ENTRIES);
    // The header of a row with large numbers beside the blob takes 30 bytes.
    assert!(block.to_bytes().len() + 30 <= 8_157);
}

#[test]
fn an_entry_is_read_as_it_was_written() {
    let mut block = SketchBlock::default();
    block.write_entry(&EncodedEntry::new(i64::MAX, 16, &meaning(1)));
    let entry = iter_entries(block.to_bytes()).next().unwrap();
    assert_eq!((entry.item, entry.kind), (i64::MAX, 16));
    assert_eq!(entry.bits[..], meaning(1).to_sketch());
}

#[test]
fn an_item_has_one_entry() {
    let mut block = SketchBlock::default();
    for item in [5, 6, 5] {
        block.write_entry(&EncodedEntry::new(item, 7, &meaning(item)));
    }
    block.write_entry(&EncodedEntry::new(5, 8, &meaning(50)));
    let entry = iter_entries(block.to_bytes()).next().unwrap();
    assert_eq!((entry.item, entry.kind), (5, 8));
    assert_eq!(entry.bits[..], meaning(50).to_sketch());
    assert_eq!(items(block.to_bytes()), [5, 6]);
}

#[test]
fn free_slots_are_used_again() {
    let mut block = SketchBlock::default();
    for item in 1..=4 {
        block.write_entry(&EncodedEntry::new(item, 7, &meaning(item)));
    }
    block.clear(2);
    assert_eq!(items(block.to_bytes()), [1, 3, 4]);
    assert!(!block.contains_item(2));
    block.write_entry(&EncodedEntry::new(9, 7, &meaning(9)));
    assert_eq!(items(block.to_bytes()), [1, 9, 3, 4]);
    for item in [9, 3, 4] {
        block.clear(item);
    }
    assert_eq!(block.to_bytes().len(), ENTRY_BYTES);
    block.clear(77);
    assert_eq!(items(block.to_bytes()), [1]);
}

#[test]
fn a_vector_of_any_length_has_an_entry() {
    for dims in [0, 3, 8, 256, 384, 1_000] {
        let mut block = SketchBlock::default();
        block.write_entry(&EncodedEntry::new(
            1,
            7,
            &Embedding::from_vector(&vec![1.0; dims]),
        ));
        let entry = iter_entries(block.to_bytes()).next().unwrap();
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
    let mut block = SketchBlock::default();
    for item in 1..=3 {
        block.write_entry(&EncodedEntry::new(item, 7, &meaning(item)));
    }
    let whole = block.to_bytes().to_vec();
    for cut in 0..whole.len() {
        assert_eq!(items(&whole[..cut]).len(), cut / ENTRY_BYTES);
        assert_eq!(
            SketchBlock::new(&whole[..cut]).used_entries(),
            cut / ENTRY_BYTES
        );
    }
    let noise = vec![0xA5; 20_000];
    assert_eq!(SketchBlock::new(&noise).used_entries(), MAX_ENTRIES);
}
