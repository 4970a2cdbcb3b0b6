//! The static table in the binary: words in bytewise order, and a row of numbers
//! for each. Read in place, so that a process that looks up ten words touches
//! the pages of ten words. Knows nothing of how a text is split.

use std::cmp::Ordering;

static STATIC_TABLE: &[u8] = include_bytes!("../../../assets/static128.bin");
static PIECE_IDS: &[u8] = include_bytes!("../../../assets/pieces.bin");

/// The prefix of pieces that continue a word.
const CONTINUATION_PREFIX: &[u8] = b"##";

/// Where in a word a piece occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PiecePosition {
    /// At its beginning.
    First,
    /// After another piece.
    Later,
}

/// The parts of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    offsets: &'static [[u8; 4]],
    scales: &'static [[u8; 4]],
    words: &'static [u8],
    rows: &'static [u8],
    ids: &'static [[u8; 2]],
    dims: usize,
}

/// A row: the vector is `scale` times `steps`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRow {
    pub(crate) scale: f32,
    pub(crate) steps: &'static [u8],
}

impl Table {
    /// The table of the binary. A broken one is empty, so that every text has no
    /// embedding; a test keeps it whole.
    pub(crate) fn built_in() -> Self {
        Self::parse_bytes(STATIC_TABLE, PIECE_IDS).unwrap_or(Self {
            offsets: &[],
            scales: &[],
            words: &[],
            rows: &[],
            ids: &[],
            dims: 0,
        })
    }

    fn parse_bytes(bytes: &'static [u8], ids: &'static [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<12>()?;
        let ([count, dims, word_bytes], []) = head.as_chunks::<4>() else {
            return None;
        };
        let count = decode_u32(*count);
        let dims = decode_u32(*dims);
        let (offsets, rest) = rest.split_at_checked(count.checked_add(1)?.checked_mul(4)?)?;
        let (scales, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let (words, rows) = rest.split_at_checked(decode_u32(*word_bytes))?;
        (rows.len() == count.checked_mul(dims)? && ids.len() == count.checked_mul(2)?).then_some(
            Self {
                offsets: offsets.as_chunks().0,
                scales: scales.as_chunks().0,
                words,
                rows,
                ids: ids.as_chunks().0,
                dims,
            },
        )
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// How many numbers a row has.
    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// The word at an index; empty beyond the end.
    pub(crate) fn word_at(&self, at: usize) -> &'static [u8] {
        let ends = self.offsets.get(at).zip(self.offsets.get(at + 1));
        ends.and_then(|(from, to)| self.words.get(decode_u32(*from)..decode_u32(*to)))
            .unwrap_or_default()
    }

    /// The row of a word.
    pub(crate) fn row_at(&self, at: usize) -> Option<TableRow> {
        let scale = f32::from_le_bytes(*self.scales.get(at)?);
        let from = at.checked_mul(self.dims)?;
        let steps = self.rows.get(from..from.checked_add(self.dims)?)?;
        Some(TableRow { scale, steps })
    }

    /// The id of a word in the encoder's vocabulary, which is not in bytewise
    /// order.
    pub(crate) fn id(&self, at: usize) -> Option<u16> {
        self.ids.get(at).map(|id| u16::from_le_bytes(*id))
    }

    /// The longest word that `text` begins with, and its length in `text`.
    ///
    /// In bytewise order, everything between a prefix of `text` and `text` itself
    /// begins with that prefix. So the word before `text` either is the answer or
    /// bounds its length: what the two share.
    pub(crate) fn find_longest_prefix(
        &self,
        text: &str,
        place: PiecePosition,
    ) -> Option<(usize, usize)> {
        let mut text = text;
        let mut end = self.len();
        while !text.is_empty() {
            end = self.upper_bound(text.as_bytes(), place, end);
            let before = end.checked_sub(1)?;
            let word = self.stem_at(before, place)?;
            let shared = common_prefix_len(word, text.as_bytes());
            if shared == word.len() && shared > 0 {
                return Some((before, shared));
            }
            text = &text[..text.floor_char_boundary(shared)];
        }
        None
    }

    /// How many of the first `end` words come before `text` or are `text`.
    fn upper_bound(&self, text: &[u8], place: PiecePosition, end: usize) -> usize {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low.midpoint(high);
            let word = self.word_at(middle);
            let order = match (place, word.strip_prefix(CONTINUATION_PREFIX)) {
                (PiecePosition::First, _) => word.cmp(text),
                (PiecePosition::Later, Some(stem)) => stem.cmp(text),
                // Continuations are one block of the table; this word lies outside it.
                (PiecePosition::Later, None) => word.cmp(CONTINUATION_PREFIX),
            };
            if order == Ordering::Greater {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// The characters of a word without its prefix; `None` if it cannot occur at this
    /// position.
    fn stem_at(&self, at: usize, place: PiecePosition) -> Option<&'static [u8]> {
        match place {
            PiecePosition::First => Some(self.word_at(at)),
            PiecePosition::Later => self.word_at(at).strip_prefix(CONTINUATION_PREFIX),
        }
    }
}

/// The length of the common prefix, in bytes.
fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn decode_u32(bytes: [u8; 4]) -> usize {
    usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
