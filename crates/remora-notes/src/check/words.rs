//! Looks for all wanted words in all files in one pass, on several threads.
//! A word counts only as a whole; files that are binary or too large are
//! left out. The result does not depend on which thread was faster.

use std::collections::HashMap;
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

use remora_files::open_regular;

use super::files::{TreeFile, count_workers};
use super::known;

/// Larger files are data or generated.
pub(super) const MAX_FILE_BYTES: usize = 2 << 20;
/// Files between two reports of progress.
const PROGRESS_STEP_FILES: usize = 256;
/// Bits of the first, coarse filter; it fits into the innermost cache.
const FILTER_BITS: u32 = 17;

/// How a word occurs in the text, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchContext {
    /// Declared here as a type or a module.
    Typed,
    /// Declared here as anything else, or a key of configuration.
    Defined,
    /// In code or configuration.
    Used,
    /// In prose only, which also speaks of things that are gone or only planned.
    Prose,
}

/// A place: how, in which file (by its number), on which line.
type MatchLocation = (MatchContext, usize, usize);

/// What was found of one word.
#[derive(Debug, Clone, Default)]
pub(super) struct WordHit {
    pub(super) place: Option<MatchLocation>,
    /// As a flag: after two dashes, in quotes, or as a declared field.
    pub(super) flag: Option<MatchLocation>,
}

impl WordHit {
    fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [(&mut self.place, other.place), (&mut self.flag, other.flag)] {
            *mine = match (*mine, theirs) {
                // The minimum, by context, file and line, whatever thread found it first.
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
}

/// What the pass found.
#[derive(Debug, Default)]
pub(super) struct WordScan {
    pub(super) hits: HashMap<String, WordHit>,
    /// Files left out because of their size.
    pub(super) too_large: usize,
    pub(super) read: usize,
}

/// The words to look for. A word that ends in an underscore also matches all
/// capital words with that prefix.
pub(super) fn find_words(
    root: &Path,
    entries: &[TreeFile],
    words: &[String],
    progress: &mut dyn FnMut(usize, usize),
) -> WordScan {
    let table = WordTable::new(words);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut found = WordScan::default();
    if words.is_empty() {
        return found;
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count_workers())
            .map(|_| {
                let (sender, table, next) = (sender.clone(), &table, &next);
                scope.spawn(move || scan_files(root, entries, table, next, &sender))
            })
            .collect();
        drop(sender);
        let mut done = 0;
        for count in receiver {
            done += count;
            progress(done, entries.len());
        }
        let mut all = vec![WordHit::default(); words.len()];
        for (hits, read, large) in threads.into_iter().filter_map(|t| t.join().ok()) {
            found.read += read;
            found.too_large += large;
            for (mine, theirs) in all.iter_mut().zip(hits) {
                mine.merge(&theirs);
            }
        }
        found.hits = words
            .iter()
            .cloned()
            .zip(all)
            .filter(|(_, h)| h.place.is_some())
            .collect();
    });
    found
}

fn scan_files(
    root: &Path,
    entries: &[TreeFile],
    table: &WordTable<'_>,
    next: &AtomicUsize,
    sender: &Sender<usize>,
) -> (Vec<WordHit>, usize, usize) {
    let mut hits = vec![WordHit::default(); table.words.len()];
    let mut buffer = vec![0; MAX_FILE_BYTES];
    let (mut read, mut large) = (0, 0);
    loop {
        // Threads take files in steps from one counter: sizes differ too much for equal shares.
        let from = next.fetch_add(PROGRESS_STEP_FILES, Ordering::Relaxed);
        if from >= entries.len() {
            return (hits, read, large);
        }
        let to = entries.len().min(from + PROGRESS_STEP_FILES);
        for (number, entry) in entries.iter().enumerate().take(to).skip(from) {
            if entry.size > MAX_FILE_BYTES as u64 {
                large += 1;
            } else if entry.regular
                && let Some(bytes) = read_into_buffer(&root.join(&entry.path), &mut buffer)
            {
                read += 1;
                let scan = FileScan {
                    bytes,
                    file: number,
                    prose: known::is_prose(&entry.path),
                    table,
                };
                scan.scan_words(&mut hits);
            }
        }
        // Fails only if the receiver is gone, and then progress does not matter.
        let _ = sender.send(to - from);
    }
}

/// Reads a text file into the buffer, in as few calls as possible: there are
/// many small files. One that grew too large meanwhile is cut.
fn read_into_buffer<'a>(path: &Path, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut file = open_regular(path).ok()?;
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    let bytes = &buffer[..length];
    // A NUL near the beginning marks a binary file, as in git.
    let head = &bytes[..length.min(8192)];
    (!head.contains(&0)).then_some(bytes)
}

/// Wanted words behind a coarse filter, in a table of their own: nearly every
/// word of every file is asked for, so this decides how long the pass takes.
struct WordTable<'a> {
    filter: Vec<u64>,
    /// Numbers of words, by the upper bits of their key; collisions go on to
    /// the next slot.
    slots: Vec<Option<(u64, u32)>>,
    words: &'a [String],
    shift: u32,
    families: bool,
}

impl<'a> WordTable<'a> {
    fn new(words: &'a [String]) -> Self {
        // At most half full.
        let bits = (words.len() * 2)
            .next_power_of_two()
            .trailing_zeros()
            .max(4);
        let mut table = Self {
            filter: vec![0u64; 1 << (FILTER_BITS - 6)],
            slots: vec![None; 1 << bits],
            words,
            shift: 64 - bits,
            families: words.iter().any(|w| w.ends_with('_')),
        };
        for (number, word) in (0u32..).zip(words) {
            let key = hash_word(word.as_bytes());
            let (slot, bit) = filter_place(key);
            table.filter[slot] |= bit;
            let mut at = table.start(key);
            while table.slots[at].is_some() {
                // Half of the slots are empty, so this ends soon.
                at = (at + 1) % table.slots.len();
            }
            table.slots[at] = Some((key, number));
        }
        table
    }

    fn start(&self, key: u64) -> usize {
        usize::try_from(key >> self.shift).unwrap_or(0)
    }

    fn find_number(&self, word: &[u8]) -> Option<usize> {
        let key = hash_word(word);
        let (slot, bit) = filter_place(key);
        // Nearly every word ends here, without touching the table.
        if self.filter[slot] & bit == 0 {
            return None;
        }
        let mut at = self.start(key);
        while let Some((other, number)) = self.slots[at] {
            let number = number as usize;
            if other == key && self.words[number].as_bytes() == word {
                return Some(number);
            }
            at = (at + 1) % self.slots.len();
        }
        None
    }
}

fn hash_word(word: &[u8]) -> u64 {
    let (head, tail) = match (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => (
            word.iter().fold(0, |value, b| value << 8 | u64::from(*b)),
            0,
        ),
    };
    let mixed =
        (head ^ tail.rotate_left(31) ^ word.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn filter_place(key: u64) -> (usize, u64) {
    let index = key & ((1 << FILTER_BITS) - 1);
    (usize::try_from(index >> 6).unwrap_or(0), 1 << (index & 63))
}

/// Bytes that words consist of; beyond ASCII everything does.
static IS_WORD_BYTE: LazyLock<[bool; 256]> = LazyLock::new(|| {
    let mut table = [false; 256];
    for (byte, known) in (0..=u8::MAX).zip(&mut table) {
        *known = byte >= 128 || byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    }
    table
});

/// One file being read.
struct FileScan<'a> {
    bytes: &'a [u8],
    file: usize,
    prose: bool,
    table: &'a WordTable<'a>,
}

impl FileScan<'_> {
    fn scan_words(&self, hits: &mut [WordHit]) {
        let bytes = self.bytes;
        let in_word: &[bool; 256] = &IS_WORD_BYTE;
        let mut at = 0;
        while at < bytes.len() {
            if !in_word[usize::from(bytes[at])] {
                at += 1;
                continue;
            }
            let start = at;
            let mut dashed = false;
            while at < bytes.len() && in_word[usize::from(bytes[at])] {
                dashed |= bytes[at] == b'-';
                at += 1;
            }
            // `dry-run` is a flag, and `dry` and `run` are words of it.
            if dashed {
                self.scan_dashed(start, at, hits);
            } else {
                self.scan_word(start, at, hits);
            }
        }
    }

    /// A run with dashes is one word, and each of its parts is.
    fn scan_dashed(&self, start: usize, end: usize, hits: &mut [WordHit]) {
        let run = &self.bytes[start..end];
        let lead = run.iter().take_while(|b| **b == b'-').count();
        let tail = run.iter().rev().take_while(|b| **b == b'-').count();
        if lead + tail >= run.len() {
            return;
        }
        let (from, to) = (start + lead, end - tail);
        self.scan_word(from, to, hits);
        let mut part = from;
        for at in from..=to {
            if at == to || self.bytes[at] == b'-' {
                if part < at && (part, at) != (from, to) {
                    self.scan_word(part, at, hits);
                }
                part = at + 1;
            }
        }
    }

    fn scan_word(&self, start: usize, end: usize, hits: &mut [WordHit]) {
        let word = &self.bytes[start..end];
        if let Some(number) = self.table.find_number(word) {
            self.record_match(start, end, &mut hits[number]);
        }
        // `$name` is `name` in a shell, and a name of its own elsewhere.
        if word[0] == b'$' && word.len() > 1 {
            self.scan_word(start + 1, end, hits);
        }
        if self.table.families
            && word[0].is_ascii_uppercase()
            && let Some(bar) = word.iter().position(|b| *b == b'_')
            && bar + 1 < word.len()
            && let Some(number) = self.table.find_number(&word[..=bar])
        {
            self.record_match(start, end, &mut hits[number]);
        }
    }

    fn record_match(&self, start: usize, end: usize, hit: &mut WordHit) {
        let least = if self.prose {
            MatchContext::Prose
        } else {
            MatchContext::Typed
        };
        // `least` is the best that this file can offer. A word that has as much already is not
        // classified again: common words occur thousands of times.
        let wanted =
            |place: Option<MatchLocation>| place.is_none_or(|(context, ..)| context > least);
        if wanted(hit.place) {
            let context = self.classify_match(start, end);
            if hit.place.is_none_or(|(before, ..)| context < before) {
                hit.place = Some((context, self.file, self.line_at(start)));
            }
        }
        if wanted(hit.flag) && self.is_flag(start, end) {
            hit.flag = Some((least, self.file, self.line_at(start)));
        }
    }

    fn line_at(&self, at: usize) -> usize {
        self.bytes[..at].split(|b| *b == b'\n').count()
    }

    fn classify_match(&self, start: usize, end: usize) -> MatchContext {
        if self.prose {
            return MatchContext::Prose;
        }
        let head = &self.bytes[start.saturating_sub(24)..start];
        let head = head.trim_ascii_end();
        let word = head
            .rsplit(|b| !b.is_ascii_alphanumeric() && *b != b'_' && *b != b'!')
            .next();
        let types: &[&[u8]] = &[
            b"struct",
            b"enum",
            b"trait",
            b"type",
            b"mod",
            b"class",
            b"interface",
            b"module",
            b"namespace",
            b"record",
            b"object",
            b"union",
        ];
        let others: &[&[u8]] = &[
            b"fn",
            b"macro_rules!",
            b"def",
            b"function",
            b"func",
            b"const",
            b"let",
            b"var",
            b"static",
            b"val",
            b"mut",
        ];
        let first = self.bytes[..start]
            .iter()
            .rev()
            .take(80)
            .find(|b| !matches!(**b, b' ' | b'\t' | b'"'));
        let key = first.is_none_or(|b| *b == b'\n')
            && matches!(
                self.bytes[end..]
                    .iter()
                    .find(|b| **b != b' ' && **b != b'"'),
                Some(b':' | b'=')
            );
        match word {
            Some(word) if types.contains(&word) && head.len() < start.min(24) => {
                MatchContext::Typed
            }
            Some(word) if others.contains(&word) && head.len() < start.min(24) => {
                MatchContext::Defined
            }
            _ if key => MatchContext::Defined,
            _ => MatchContext::Used,
        }
    }

    fn is_flag(&self, start: usize, end: usize) -> bool {
        let before = |back: usize| start.checked_sub(back).map(|i| self.bytes[i]);
        let after = self.bytes.get(end).copied();
        let quoted = matches!((before(1), after), (Some(a @ (b'"' | b'\'')), Some(b)) if a == b);
        // A field of declared arguments: `dry_run: bool`, not a path's `a::b`.
        let field = after == Some(b':')
            && self.bytes.get(end + 1) == Some(&b' ')
            && matches!(before(1), Some(b' ' | b'\t' | b'\n'));
        (before(1) == Some(b'-') && before(2) == Some(b'-')) || quoted || field
    }
}
