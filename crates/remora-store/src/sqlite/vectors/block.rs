//! A block of sketches: the signs of many vectors in one blob that fits a page.
//! Owns the bytes; knows nothing of tables. Whatever the bytes are, reading
//! them gives entries and never fails.

use remora_embed::Meaning;

/// How many bytes of signs an entry holds: a bit for each of 384 dimensions.
/// Longer vectors are told by their beginning.
pub(crate) const BITS: usize = 48;
/// The item's number, its kind, the signs.
const NUMBER: usize = 8;
const ENTRY: usize = NUMBER + 1 + BITS;
/// How many entries a block holds. A row of 8,157 bytes still lies within a
/// page of 8 KiB; the columns beside the blob take up to 30.
pub(crate) const SLOTS: usize = 142;

/// An entry, read where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) item: i64,
    pub(crate) kind: u8,
    pub(crate) bits: &'a [u8; BITS],
}

/// The entries in use.
pub(crate) fn entries(data: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let (slots, _) = data.as_chunks::<ENTRY>();
    slots.iter().filter_map(read)
}

fn read(slot: &[u8; ENTRY]) -> Option<Entry<'_>> {
    let (number, rest) = slot.split_first_chunk::<NUMBER>()?;
    let (kind, bits) = rest.split_first()?;
    let item = i64::from_le_bytes(*number);
    let bits = bits.first_chunk::<BITS>()?;
    // Rows are counted from one, so that nothing but a free slot has 0.
    (item != 0).then_some(Entry {
        item,
        kind: *kind,
        bits,
    })
}

/// A block while it is changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Block(Vec<[u8; ENTRY]>);

impl Block {
    /// Takes what can be read of these bytes.
    pub(crate) fn new(data: &[u8]) -> Self {
        let (slots, _) = data.as_chunks::<ENTRY>();
        Self(slots.iter().take(SLOTS).copied().collect())
    }

    pub(crate) fn to_bytes(&self) -> &[u8] {
        self.0.as_flattened()
    }

    /// How many entries are in use.
    pub(crate) fn used(&self) -> usize {
        self.0.iter().filter_map(read).count()
    }

    /// Writes the item's entry over its old one, or else into a free slot.
    /// Tells whether there was room.
    pub(crate) fn put(&mut self, item: i64, kind: u8, meaning: &Meaning) -> bool {
        let slot = entry(item, kind, meaning);
        let place = self.place(item).or_else(|| self.place(0));
        if let Some(old) = place.and_then(|at| self.0.get_mut(at)) {
            *old = slot;
            return true;
        }
        let room = self.0.len() < SLOTS;
        if room {
            self.0.push(slot);
        }
        room
    }

    /// Whether the item has an entry here.
    pub(crate) fn holds(&self, item: i64) -> bool {
        self.place(item).is_some()
    }

    /// Frees the item's slot.
    pub(crate) fn clear(&mut self, item: i64) {
        if let Some(slot) = self.place(item).and_then(|at| self.0.get_mut(at)) {
            slot.fill(0);
        }
        while self.0.last().is_some_and(|slot| read(slot).is_none()) {
            self.0.pop();
        }
    }

    fn place(&self, item: i64) -> Option<usize> {
        let number = item.to_le_bytes();
        self.0.iter().position(|slot| slot.starts_with(&number))
    }
}

fn entry(item: i64, kind: u8, meaning: &Meaning) -> [u8; ENTRY] {
    let mut slot = [0; ENTRY];
    let head = item.to_le_bytes().into_iter().chain([kind]);
    for (to, from) in slot.iter_mut().zip(head.chain(meaning.sketch())) {
        *to = from;
    }
    slot
}

#[cfg(test)]
mod tests;
