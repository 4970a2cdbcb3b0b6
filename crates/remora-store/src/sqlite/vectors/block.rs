//! A block of sketches: the signs of many vectors in one blob that fits a page.
//! Owns the bytes; knows nothing of tables. Whatever the bytes are, reading
//! them yields entries and never fails.

use remora_embed::Embedding;

/// How many bytes of signs an entry holds: a bit for each of 384 dimensions. Of
/// longer vectors only the first 384 dimensions are used to preselect.
pub(crate) const SIGN_BYTES: usize = 48;
/// The item's number, its kind, the signs.
const NUMBER_BYTES: usize = 8;
const ENTRY_BYTES: usize = NUMBER_BYTES + 1 + SIGN_BYTES;
/// How many entries a block holds. A row of 8,157 bytes still fits a page of
/// 8 KiB without an overflow page; the other columns take up to 30.
pub(crate) const MAX_ENTRIES: usize = 142;

/// An entry, borrowed from its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SketchEntry<'a> {
    pub(crate) item: i64,
    pub(crate) kind: u8,
    pub(crate) bits: &'a [u8; SIGN_BYTES],
}

/// The entries in use.
pub(crate) fn iter_entries(data: &[u8]) -> impl Iterator<Item = SketchEntry<'_>> {
    let (slots, _) = data.as_chunks::<ENTRY_BYTES>();
    slots.iter().filter_map(read_entry)
}

fn read_entry(slot: &[u8; ENTRY_BYTES]) -> Option<SketchEntry<'_>> {
    let (number, rest) = slot.split_first_chunk::<NUMBER_BYTES>()?;
    let (kind, bits) = rest.split_first()?;
    let item = i64::from_le_bytes(*number);
    let bits = bits.first_chunk::<SIGN_BYTES>()?;
    // Item ids start at 1, so 0 marks a free slot.
    (item != 0).then_some(SketchEntry {
        item,
        kind: *kind,
        bits,
    })
}

/// A block while it is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SketchBlock(Vec<[u8; ENTRY_BYTES]>);

impl SketchBlock {
    /// Reads as many whole entries as these bytes hold.
    pub(crate) fn new(data: &[u8]) -> Self {
        let (slots, _) = data.as_chunks::<ENTRY_BYTES>();
        Self(slots.iter().take(MAX_ENTRIES).copied().collect())
    }

    pub(crate) fn to_bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }

    /// How many entries are in use.
    pub(crate) fn used_entries(&self) -> usize {
        self.0.iter().filter_map(read_entry).count()
    }

    /// Writes the item's entry over its old one, or else into a free slot.
    /// Returns whether there was room.
    pub(crate) fn write_entry(&mut self, entry: &EncodedEntry) -> bool {
        let place = self.find_slot(entry.item()).or_else(|| self.find_slot(0));
        if let Some(old) = place.and_then(|at| self.0.get_mut(at)) {
            *old = entry.0;
            return true;
        }
        let room = self.0.len() < MAX_ENTRIES;
        if room {
            self.0.push(entry.0);
        }
        room
    }

    /// Whether the item has an entry here.
    pub(crate) fn contains_item(&self, item: i64) -> bool {
        self.find_slot(item).is_some()
    }

    /// Frees the item's slot.
    pub(crate) fn clear(&mut self, item: i64) {
        if let Some(slot) = self.find_slot(item).and_then(|at| self.0.get_mut(at)) {
            slot.fill(0);
        }
        // A slot in the middle stays as a hole, so that the others are not moved;
        // at the end it goes, so that an emptied block shrinks to nothing.
        while self.0.last().is_some_and(|slot| read_entry(slot).is_none()) {
            self.0.pop();
        }
    }

    fn find_slot(&self, item: i64) -> Option<usize> {
        let number = item.to_le_bytes();
        self.0.iter().position(|slot| slot.starts_with(&number))
    }
}

/// An entry as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncodedEntry([u8; ENTRY_BYTES]);

impl EncodedEntry {
    pub(crate) fn new(item: i64, kind: u8, meaning: &Embedding) -> Self {
        Self::from_signs(item, kind, meaning.to_sketch())
    }

    /// The entry that was read.
    pub(crate) fn copy_of(entry: &SketchEntry<'_>) -> Self {
        Self::from_signs(entry.item, entry.kind, entry.bits.iter().copied())
    }

    fn from_signs(item: i64, kind: u8, signs: impl IntoIterator<Item = u8>) -> Self {
        let mut slot = [0; ENTRY_BYTES];
        let head = item.to_le_bytes().into_iter().chain([kind]);
        for (to, from) in slot.iter_mut().zip(head.chain(signs)) {
            *to = from;
        }
        Self(slot)
    }

    pub(crate) fn item(&self) -> i64 {
        self.0.first_chunk().copied().map_or(0, i64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests;
