//! Whether two messages are of the same error. A message is split into its skeleton
//! (a code, or the words that are always the same) and the names in it. A
//! distinctive skeleton is enough; for one that many errors share the names must be
//! the same too; a message that only says that something failed matches nothing.

use std::collections::BTreeSet;

use super::matchers::{ErrorLineRole, read_line};
use super::normal;
use super::pairs::{BytePairs, holds_phrase};
use super::phrases::{
    COMMON_CODES, COMMON_ERROR_WORDS, COMPARISON_PHRASES, COUNT_WORDS, EMPTY_CODES, NAMING_PHRASES,
    RUNNER_STARTS, SYSTEM_CODES, WRAPPER_PHRASES,
};

/// Bytes of a message that are compared.
const MAX_COMPARED_BYTES: usize = 400;
/// Words that a message without any name must have to be compared.
const MIN_NAMELESS_WORDS: usize = 4;
/// Words from which on two messages may differ in a few.
const MIN_LONG_MESSAGE_WORDS: usize = 8;
/// Content words without which a message is identified by its names.
const MIN_CONTENT_WORDS: usize = 3;
/// Content words with which two messages that are otherwise equal say something.
const MIN_SHARED_CONTENT_WORDS: usize = 2;
/// How many words a code of its own is worth in a message.
const CODE_WORDS: usize = 3;
/// Underscores that make a word in capitals a code, such as `TOO_MANY_PARTS`: with
/// one it may as well be a variable.
const MIN_CODE_UNDERSCORES: usize = 2;
/// Content words with which a message is identified whatever it names.
const MIN_NAMED_CONTENT_WORDS: usize = 5;

/// How far two messages agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageLikeness {
    Other,
    /// The same words about something else: another module, table or file.
    OtherNames,
    Same,
}

/// How well a message distinguishes its error from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MessageStrength {
    /// Not at all: it only says that something failed, or that values differ.
    Nothing,
    /// Together with the names in it.
    Named,
    /// By itself.
    Telling,
}

/// A message, split into codes, words and names.
#[derive(Debug)]
pub(crate) struct MessageSkeleton {
    codes: BTreeSet<String>,
    words: Vec<String>,
    names: BTreeSet<String>,
    /// Whether the name in it is all that identifies the error.
    named: bool,
    /// Whether the table has reworded it: an equal message may then have other
    /// letters.
    is_reworded: bool,
    /// How well it distinguishes its error.
    pub(crate) strength: MessageStrength,
}

impl MessageSkeleton {
    /// Splits a message, as printed or as stored.
    pub(crate) fn from_message(message: &str) -> Self {
        let end = message.floor_char_boundary(MAX_COMPARED_BYTES);
        let read = read_line(&message[..end]);
        let text = normal::normalise_text(&read.text);
        let mut parts = Self {
            codes: BTreeSet::new(),
            words: Vec::new(),
            names: BTreeSet::new(),
            named: false,
            is_reworded: read.role != ErrorLineRole::Unknown,
            strength: MessageStrength::Nothing,
        };
        let unquoted = parts.take_quoted(&text);
        for (at, raw) in unquoted.split_whitespace().enumerate() {
            parts.take_word(raw, at == 0);
        }
        parts.drop_echo();
        let lower = text.to_lowercase();
        let pairs = BytePairs::from_text(&lower);
        parts.named = holds_phrase(&lower, pairs, NAMING_PHRASES);
        parts.strength = match read.role {
            ErrorLineRole::Unknown | ErrorLineRole::Says | ErrorLineRole::Root => {
                parts.measure_strength(&lower, pairs)
            }
            ErrorLineRole::Noise
            | ErrorLineRole::Head
            | ErrorLineRole::Local
            | ErrorLineRole::Test => MessageStrength::Nothing,
        };
        parts
    }

    /// Moves quoted text to the names and returns the rest.
    fn take_quoted(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('\'') {
            let begins = rest[..open]
                .chars()
                .next_back()
                .is_none_or(|c| !c.is_alphanumeric());
            let body = &rest[open + 1..];
            let close = body.match_indices('\'').find(|(at, _)| {
                let after = body[at + 1..].chars().next();
                *at > 0 && after.is_none_or(|c| !c.is_alphanumeric())
            });
            match close {
                Some((at, _)) if begins => {
                    out.push_str(&rest[..open]);
                    out.push(' ');
                    self.names.insert(body[..at].to_lowercase());
                    rest = &body[at + 1..];
                }
                _ => {
                    out.push_str(&rest[..=open]);
                    rest = body;
                }
            }
        }
        out.push_str(rest);
        out
    }

    fn take_word(&mut self, raw: &str, first: bool) {
        if let Some(code) = code_of(raw, first) {
            self.codes.insert(code);
            return;
        }
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '<' && c != '>');
        if !word.contains(char::is_alphabetic) || word.starts_with('<') && word.ends_with('>') {
            return;
        }
        // The class of an exception counts without its package.
        if is_class(word) {
            let class = word.rsplit(['.', ':']).next().unwrap_or(word);
            self.words.push(class.to_lowercase());
            return;
        }
        if is_name(word) {
            self.names.insert(word.to_lowercase());
            return;
        }
        let letters: String = word
            .replace("<n>", "")
            .replace("<id>", "")
            .replace("<tmp>", "")
            .chars()
            .filter(|c| c.is_alphabetic() || *c == '-')
            .collect();
        let letters = letters.trim_matches('-').to_lowercase();
        if !letters.is_empty() {
            self.words.push(letters);
        }
    }

    /// Removes a class that is both the code and the beginning of the message.
    fn drop_echo(&mut self) {
        for length in 1..=3 {
            let echo = self.words.get(length..2 * length);
            if echo.is_some_and(|echo| *echo == self.words[..length]) {
                self.words.drain(..length);
                return;
            }
        }
    }

    /// Whether anything in it can be recognised again.
    pub(crate) fn can_tell(&self) -> bool {
        let content = self.words.iter().filter(|word| is_content(word)).count();
        match self.strength {
            MessageStrength::Nothing => false,
            MessageStrength::Named => !self.names.is_empty() || content > 1,
            MessageStrength::Telling => true,
        }
    }

    /// Whether it has a name, a code or a word that not every error has.
    pub(super) fn says_anything(&self) -> bool {
        let has_words = self.words.iter().any(|word| is_content(word));
        self.strength == MessageStrength::Telling
            || self.strength == MessageStrength::Named
                && (has_words || !self.names.is_empty() || !self.codes.is_empty())
    }

    /// Whether it says enough to be recognised again although no word is about an
    /// error.
    pub(super) fn says_much(&self) -> bool {
        let content = self.words.iter().filter(|word| is_content(word)).count();
        self.strength == MessageStrength::Telling && content > MIN_CONTENT_WORDS
            || self.strength == MessageStrength::Named
                && !self.names.is_empty()
                && content >= MIN_CONTENT_WORDS
    }

    /// Whether it only announces an error: no name, and too few words.
    pub(super) fn is_weak(&self) -> bool {
        let content = self.words.iter().filter(|word| is_content(word)).count();
        self.strength == MessageStrength::Named
            && self.names.is_empty()
            && content < MIN_CONTENT_WORDS
    }

    fn measure_strength(&self, lower: &str, pairs: BytePairs) -> MessageStrength {
        let own = |code: &String| !COMMON_CODES.contains(&code.as_str());
        let telling_code = self.codes.iter().any(own);
        let empty = self.codes.iter().any(|c| EMPTY_CODES.contains(&c.as_str()));
        let compares = || holds_phrase(lower, pairs, COMPARISON_PHRASES) || is_comparison(lower);
        if empty || !telling_code && (is_runner_message(lower, pairs) || compares()) {
            return MessageStrength::Nothing;
        }
        if telling_code {
            return MessageStrength::Telling;
        }
        let content = self.words.iter().filter(|word| is_content(word)).count();
        let named = self.named && !self.names.is_empty() || !self.codes.is_empty();
        let wanted = match self.names.len() {
            0 => MIN_CONTENT_WORDS,
            _ => MIN_NAMED_CONTENT_WORDS,
        };
        if !named && content >= wanted {
            MessageStrength::Telling
        } else {
            MessageStrength::Named
        }
    }

    /// Whether both are the same error.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.compare(other) == MessageLikeness::Same
    }

    /// How far two messages agree.
    pub(crate) fn compare(&self, other: &Self) -> MessageLikeness {
        if self.agrees(other) {
            return MessageLikeness::Same;
        }
        // What the table writes as `named:` is known by its name alone.
        let is_by_name = self.words.first().is_some_and(|word| word == "named");
        let weaker = self.strength.min(other.strength);
        if weaker == MessageStrength::Nothing || self.codes != other.codes || is_by_name {
            return MessageLikeness::Other;
        }
        let (mine, theirs) = (self.words_without_class(), other.words_without_class());
        // A name without the letters of one, such as that of a package or a branch.
        let differing = mine.iter().zip(theirs).filter(|(one, other)| one != other);
        let shared = mine.iter().zip(theirs).filter(|(one, other)| one == other);
        let content = shared.filter(|(word, _)| is_content(word)).count();
        let wanted = match differing.count() {
            0 => MIN_SHARED_CONTENT_WORDS,
            1 => MIN_CONTENT_WORDS,
            _ => usize::MAX,
        };
        if mine.len() == theirs.len() && content >= wanted {
            MessageLikeness::OtherNames
        } else {
            MessageLikeness::Other
        }
    }

    /// The class of an exception differs between libraries that say the same.
    fn words_without_class(&self) -> &[String] {
        match self.words.split_first() {
            Some((first, rest)) if is_class_word(first) => rest,
            _ => &self.words,
        }
    }

    fn agrees(&self, other: &Self) -> bool {
        let weaker = self.strength.min(other.strength);
        // A code on one side only, or different ones, are different errors whatever the
        // words.
        let coded = !self.codes.is_empty() || !other.codes.is_empty();
        let share = self.codes.intersection(&other.codes).next().is_some();
        if weaker == MessageStrength::Nothing || coded && !share {
            return false;
        }
        let equal = self.words == other.words;
        // The weaker message decides: it must be identified by what it has.
        if weaker == MessageStrength::Named {
            let named = !self.names.is_empty() && self.names == other.names;
            return equal && (named || !coded && self.is_plain() && other.is_plain());
        }
        let run = common_run(&self.words, &other.words);
        let shorter = self.words.len().min(other.words.len());
        if coded {
            return run.len() * 2 >= shorter;
        }
        let content = run.iter().filter(|word| is_content(word)).count();
        equal
            || content >= MIN_CONTENT_WORDS && run.len() * 10 >= shorter * 6
            || self.is_near(other)
    }

    /// How much it says: telling words, names, and codes of its own.
    pub(crate) fn specificity(&self) -> usize {
        let content = self.words.iter().filter(|word| is_content(word)).count();
        let own = |code: &&String| !COMMON_CODES.contains(&code.as_str());
        content + self.names.len() + CODE_WORDS * self.codes.iter().filter(own).count()
    }

    /// A quick test by the letters of a message whether it can be the same error:
    /// most are not, and splitting one costs twenty times as much.
    pub(crate) fn sieve(&self) -> Sieve<'_> {
        // The letters do not show how the table rewords a message.
        if self.is_reworded {
            return Sieve::Open;
        }
        if !self.codes.is_empty() {
            return Sieve::AnyCode(&self.codes);
        }
        let words = self.words.iter().map(String::as_str);
        Sieve::Words(words.filter(|word| is_content(word)).collect())
    }

    /// A query for messages of the same error: the longest words, which are mostly
    /// the rarest.
    pub(crate) fn longest_words(&self, count: usize) -> String {
        let mut words: Vec<&String> = self.codes.iter().chain(&self.words).collect();
        // Names differ between equal errors, unless they are what identifies them.
        if self.strength == MessageStrength::Named {
            words.extend(&self.names);
        }
        words.retain(|word| is_content(word));
        words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        words.dedup();
        words.truncate(count);
        let words: Vec<&str> = words.into_iter().map(String::as_str).collect();
        words.join(" ")
    }

    /// A message without any name that says a little.
    fn is_plain(&self) -> bool {
        let content = self.words.iter().filter(|word| is_content(word)).count();
        self.names.is_empty() && self.words.len() >= MIN_NAMELESS_WORDS && content > 1
    }

    /// Whether two long messages differ only in a word or two, such as left and
    /// right, or first and second.
    fn is_near(&self, other: &Self) -> bool {
        let longer = self.words.len().max(other.words.len());
        let shared = self.words.iter().filter(|w| other.words.contains(w));
        let shared: Vec<&String> = shared.collect();
        let content = shared.iter().filter(|word| is_content(word)).count();
        self.words.first() == other.words.first()
            && longer >= MIN_LONG_MESSAGE_WORDS
            && content > MIN_CONTENT_WORDS
            && shared.len() * 10 >= longer * 8
    }
}

/// Whether a line only says that a command has failed.
pub(super) fn is_runner(message: &str) -> bool {
    let lower = message.to_lowercase();
    is_runner_message(&lower, BytePairs::from_text(&lower))
}

fn is_runner_message(lower: &str, pairs: BytePairs) -> bool {
    let begins = |start: &&str| lower.trim_start().starts_with(start);
    holds_phrase(lower, pairs, WRAPPER_PHRASES)
        || is_progress_count(lower)
        || is_count_summary(lower)
        || RUNNER_STARTS.iter().any(begins) && lower.split(' ').count() < 5
}

/// `3 of 9 ...`: the progress of a runner.
fn is_progress_count(lower: &str) -> bool {
    let mut words = lower.split_whitespace();
    let is_number = |word: Option<&str>| {
        word.is_some_and(|w| w == "<n>" || w.bytes().all(|b| b.is_ascii_digit()))
    };
    is_number(words.next()) && words.next() == Some("of") && is_number(words.next())
}

/// `Failed: Total 31, Failed 1, Passed 30`, `web1 : ok=3 changed=1 failed=1`: how many
/// of what, and at most the name of where.
fn is_count_summary(lower: &str) -> bool {
    let parts = lower.split(|c: char| !c.is_alphanumeric());
    let (mut numbers, mut counted, mut others) = (0, 0, 0);
    for part in parts.filter(|part| !part.is_empty()) {
        if part == "n" || part.bytes().all(|b| b.is_ascii_digit()) {
            numbers += 1;
        } else if COUNT_WORDS.contains(&part) {
            counted += 1;
        } else {
            others += 1;
        }
    }
    numbers > 1 && counted > 2 && others < 2
}

/// `expected 10 to be 12`, `got 3, want 4`, `expected 2, received 3`; within one
/// sentence.
fn is_comparison(lower: &str) -> bool {
    lower.split(". ").any(compares_values)
}

fn compares_values(lower: &str) -> bool {
    let has = |word: &str| lower.contains(word);
    has("got ") && has("want")
        || has("expected")
            && [
                " to be ",
                " to equal",
                " to have",
                " received",
                " actual",
                "but got",
            ]
            .iter()
            .any(|word| has(word))
}

/// Whether a message begins with the code of a rule: `SC2086 (info): Double quote`.
pub(super) fn begins_with_code(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words
        .next()
        .is_some_and(|word| code_of(word, false).is_some())
        && words.next().is_some()
}

/// The code, if this word is one. The first word of a stored message may be the name
/// of a lint rule.
fn code_of(raw: &str, first: bool) -> Option<String> {
    let word = raw
        .strip_prefix("error[")
        .or_else(|| raw.strip_prefix("warning["))
        .unwrap_or(raw);
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = word.len() - letters;
    // One letter with two digits is as often a name.
    let least_digits = if letters > 1 { 2 } else { 3 };
    let numbered = (1..=4).contains(&letters)
        && (least_digits..=5).contains(&digits)
        && word.as_bytes()[letters..].iter().all(u8::is_ascii_digit);
    let named = (word.starts_with("ERR_") || word.matches('_').count() >= MIN_CODE_UNDERSCORES)
        && word
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let system = SYSTEM_CODES.contains(&word) || EMPTY_CODES.contains(&word);
    let rule = first
        && raw.contains(['-', '/', ':'])
        && raw.len() > 4
        && !raw.ends_with(':')
        && !raw.contains('.')
        && !is_package(raw)
        && raw
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-/:_@".contains(&b));
    if rule {
        return Some(raw.to_owned());
    }
    (numbered || named || system).then(|| word.to_owned())
}

/// `@prisma/client`, which is no rule's name as `@stylistic/max-len` is.
fn is_package(word: &str) -> bool {
    let name = word.strip_prefix('@').and_then(|word| word.split_once('/'));
    name.is_some_and(|(_, name)| !name.contains(['-', '/', ':']))
}

/// `TypeError`, `pandas.errors.MergeError`, `java.lang.IllegalStateException`.
fn is_class(word: &str) -> bool {
    let last = word.rsplit(['.', ':']).next().unwrap_or(word);
    (last.ends_with("Error") || last.ends_with("Exception"))
        && last.len() > 5
        && last.starts_with(|c: char| c.is_ascii_uppercase())
}

fn is_class_word(word: &str) -> bool {
    word.len() > 7 && (word.ends_with("error") || word.ends_with("exception"))
}

/// Identifiers, files and addresses, which differ between projects.
fn is_name(word: &str) -> bool {
    word.contains(['_', '/', '\\', '@', '=', '#', '{', '}', '+'])
        || word.contains("::")
        || word.contains("()")
        || is_camel(word)
        || word
            .trim_end_matches('.')
            .find('.')
            .is_some_and(|at| at > 0 && !word.contains("<n>"))
}

/// `policyId`, `NodeList`: letters that only a program's names have.
fn is_camel(word: &str) -> bool {
    let pairs = word.as_bytes().windows(2);
    pairs
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count()
        > 0
}

/// See [`MessageSkeleton::sieve`].
#[derive(Debug)]
pub(crate) enum Sieve<'s> {
    Open,
    /// A message of the same error contains one of these.
    AnyCode(&'s BTreeSet<String>),
    /// It contains as many of these as two skeletons must share.
    Words(Vec<&'s str>),
}

impl Sieve<'_> {
    /// Whether a message may be the same error; never false for one that is.
    pub(crate) fn may_hold(&self, message: &str) -> bool {
        match self {
            Self::Open => true,
            Self::AnyCode(codes) => codes.iter().any(|code| message.contains(code.as_str())),
            Self::Words(words) => {
                let wanted = words.len().min(MIN_CONTENT_WORDS);
                let letters = letters_of(message);
                let held = words.iter().filter(|word| letters.contains(**word));
                held.take(wanted).count() == wanted
            }
        }
    }
}

/// The letters of a message in lower case, with spaces and hyphens and nothing else:
/// each word of its skeleton is a substring.
fn letters_of(message: &str) -> String {
    let mut letters = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(c) = rest.chars().next() {
        // Placeholders contain letters that are not part of the message.
        let placeholder = ["<n>", "<id>", "<tmp>"]
            .iter()
            .find(|p| c == '<' && rest.starts_with(**p));
        rest = &rest[placeholder.map_or(c.len_utf8(), |p| p.len())..];
        if placeholder.is_some() {
            continue;
        }
        if c.is_ascii() {
            if c.is_ascii_alphabetic() || c == '-' || c.is_ascii_whitespace() {
                letters.push(c.to_ascii_lowercase());
            }
        } else if c.is_alphabetic() || c.is_whitespace() {
            letters.extend(c.to_lowercase());
        }
    }
    letters
}

fn is_content(word: &str) -> bool {
    word.len() > 2 && !COMMON_ERROR_WORDS.contains(&word) && !is_class_word(word)
}

/// The longest run of words that both contain.
fn common_run<'a>(one: &'a [String], other: &[String]) -> &'a [String] {
    let mut best: &[String] = &[];
    for start in 0..one.len() {
        for begin in 0..other.len() {
            let pairs = one[start..].iter().zip(&other[begin..]);
            let length = pairs.take_while(|(a, b)| a == b).count();
            if length > best.len() {
                best = &one[start..start + length];
            }
        }
    }
    best
}
