//! Which words of an item are indexed and how much each of them weighs there.
//! The weights are stored as bytes in the item's own row, so that ranking needs
//! one read per candidate and no counting over the whole index.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use crate::words::{TermRole, TermSplitter};
use remora_core::hash::stable_hash;
use remora_core::record::Item;
use remora_core::text::truncate_bytes;

/// How much a word counts by where it occurs.
const TITLE_WEIGHT: f32 = 1.0;
const FACT_WEIGHT: f32 = 1.0;
const CONCEPT_WEIGHT: f32 = 1.0;
const FILE_WEIGHT: f32 = 1.0;
const TEXT_WEIGHT: f32 = 1.0;

/// The length of the lead, in bytes: words beyond it are indexed apart, so that a
/// common word far down does not make every long text a match.
const MAX_LEAD_BYTES: usize = 600;
/// The prefix of terms that occur only beyond the lead. No word begins with it.
pub const BEYOND_LEAD_PREFIX: &str = "_t";
/// How much of a text is indexed, in bytes.
const MAX_INDEXED_BYTES: usize = 24 * 1024;

/// An item's words, ready to be stored.
#[derive(Debug, Default)]
pub(crate) struct WeightedTerms {
    /// Every term of the lead once, separated by spaces; then, marked as such,
    /// those that stand only beyond it.
    pub(crate) terms: String,
    /// Their weights; see [`PackedWeights`].
    pub(crate) vec: Vec<u8>,
    /// How many words there are, by weight.
    pub(crate) words: u16,
}

/// A hash of a term. It is part of the stored weights: changing it invalidates
/// every row.
pub fn hash_term(term: &str) -> u64 {
    let hash = stable_hash(term.as_bytes());
    // The upper bits of this hash are poor for short terms.
    (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The 20 bits of a hash that the weights keep: with 4 bits of weight an entry has
/// three bytes. A collision gives a candidate a little weight it should not have.
pub fn shorten_hash(hash: u64) -> u32 {
    u32::try_from(hash >> 44).unwrap_or_default()
}

/// Weighs the words of an item.
pub(crate) fn compute_term_weights(item: &Item, splitter: &mut TermSplitter) -> WeightedTerms {
    let mut scale = TermCollector::new(splitter);
    scale.add_text(&item.title, TITLE_WEIGHT);
    for fact in &item.facts {
        scale.add_text(fact, FACT_WEIGHT);
    }
    for concept in &item.concepts {
        scale.add_text(concept, CONCEPT_WEIGHT);
    }
    for file in item.files_read.iter().chain(&item.files_modified) {
        scale.add_text(file, FILE_WEIGHT);
    }
    let lead = leading_text(&item.text);
    scale.add_text(lead, TEXT_WEIGHT);
    // Indexed, but not weighed: the speaker is a column, and ranking adds the name
    // by itself.
    if let Some(speaker) = &item.speaker {
        scale.list_terms(speaker);
    }
    let mut weighed = scale.into_weighted_terms();
    let most = &item.text[..find_word_end(&item.text, MAX_INDEXED_BYTES)];
    if most.len() > lead.len() {
        let mut known: HashSet<u64, BuildHasherDefault<IdentityHasher>> =
            weighed.terms.split(' ').map(hash_term).collect();
        let terms = &mut weighed.terms;
        splitter.for_each_term(&most[lead.len()..], |term, _| {
            if known.insert(hash_term(term)) {
                terms.push(' ');
                terms.push_str(BEYOND_LEAD_PREFIX);
                terms.push_str(term);
            }
        });
    }
    weighed
}

/// The lead: what a long text is about is mostly said at its beginning.
fn leading_text(text: &str) -> &str {
    &text[..find_word_end(text, MAX_LEAD_BYTES)]
}

/// The end of a word near this byte, so that no word is split. In a text without
/// spaces it is the nearest character boundary.
fn find_word_end(text: &str, at: usize) -> usize {
    if text.len() <= at {
        return text.len();
    }
    let space = truncate_bytes(text, at).rfind(char::is_whitespace);
    match space {
        Some(space) if space > at / 2 => space,
        _ => text.floor_char_boundary(at),
    }
}

struct TermCollector<'s> {
    splitter: &'s mut TermSplitter,
    terms: String,
    weights: HashMap<u64, f32, BuildHasherDefault<IdentityHasher>>,
    words: f32,
}

impl<'s> TermCollector<'s> {
    fn new(splitter: &'s mut TermSplitter) -> Self {
        Self {
            splitter,
            terms: String::new(),
            weights: HashMap::default(),
            words: 0.0,
        }
    }

    fn add_text(&mut self, text: &str, weight: f32) {
        self.splitter.for_each_term(text, |term, role| {
            if role == TermRole::Part {
                self.words += weight;
            }
            let slot = self.weights.entry(hash_term(term)).or_insert(0.0);
            if *slot == 0.0 {
                if !self.terms.is_empty() {
                    self.terms.push(' ');
                }
                self.terms.push_str(term);
            }
            *slot += weight;
        });
    }

    /// Lists the terms of a text without weighing them.
    fn list_terms(&mut self, text: &str) {
        self.splitter.for_each_term(text, |term, _| {
            if !self.weights.contains_key(&hash_term(term)) {
                if !self.terms.is_empty() {
                    self.terms.push(' ');
                }
                self.terms.push_str(term);
            }
        });
    }

    fn into_weighted_terms(self) -> WeightedTerms {
        let mut entries: Vec<u32> = self
            .weights
            .iter()
            .map(|(hash, weight)| shorten_hash(*hash) << 4 | find_weight_level(*weight))
            .collect();
        entries.sort_unstable();
        let words = to_count(self.words);
        let mut vec = Vec::with_capacity(2 + entries.len() * 3);
        vec.extend_from_slice(&words.to_le_bytes());
        for entry in entries {
            vec.extend_from_slice(&entry.to_be_bytes()[1..]);
        }
        WeightedTerms {
            terms: self.terms,
            vec,
            words,
        }
    }
}

/// Keys that are term hashes need no second hash. Ids are spread by one
/// multiplication: the map also uses the high bits, which are zero in small ids.
#[derive(Debug, Default)]
pub struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write_i64(&mut self, value: i64) {
        self.0 = value.cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such a cast saturates, which is what a count of words should do"
)]
fn to_count(words: f32) -> u16 {
    words.round() as u16
}

/// Sixteen levels that fit four bits, each about a third above the one before.
/// Stored rows hold the index: never change a level.
const WEIGHT_LEVELS: [f32; 16] = [
    0.2, 0.45, 0.75, 1.0, 1.35, 1.8, 2.4, 3.2, 4.2, 5.6, 7.5, 10.0, 14.0, 20.0, 30.0, 50.0,
];

fn find_weight_level(weight: f32) -> u32 {
    let above = WEIGHT_LEVELS
        .iter()
        .position(|step| *step >= weight)
        .unwrap_or(WEIGHT_LEVELS.len() - 1);
    let nearest = match above.checked_sub(1) {
        Some(below) if weight - WEIGHT_LEVELS[below] < WEIGHT_LEVELS[above] - weight => below,
        _ => above,
    };
    u32::try_from(nearest).unwrap_or_default()
}

/// The weights of one item: two bytes for its length in words, then three bytes
/// per term, sorted: 20 bits of the term's hash and 4 bits of its weight.
#[derive(Debug, Clone, Copy)]
pub struct PackedWeights<'a>(pub &'a [u8]);

impl PackedWeights<'_> {
    /// How many words the item has, by weight.
    pub fn word_count(self) -> u16 {
        match self.0 {
            [low, high, ..] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        }
    }

    /// The weight of the term in this item; 0 if it does not occur.
    pub fn term_weight(self, short: u32) -> f32 {
        let (entries, _) = self.0.get(2..).unwrap_or_default().as_chunks::<3>();
        let read = |entry: &[u8; 3]| u32::from_be_bytes([0, entry[0], entry[1], entry[2]]);
        let at = entries.partition_point(|entry| read(entry) >> 4 < short);
        match entries.get(at).map(read) {
            Some(entry) if entry >> 4 == short => WEIGHT_LEVELS[(entry & 15) as usize],
            _ => 0.0,
        }
    }
}
