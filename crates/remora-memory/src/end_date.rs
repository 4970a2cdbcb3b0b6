//! When a statement stops to hold, if it says so itself: "until 2026-10-01",
//! "bis Freitag", "10月1日まで". Told after that day it would mislead.
//!
//! A missed end costs little: the words still name their day. A wrong one takes
//! away what is in force, so an end counts only where it clearly governs the
//! whole statement, and of two readings of a day the later one does.
//!
//! Pure: relative days are counted from when the words were said.

mod day;
mod wide;

use std::borrow::Cow;

use remora_core::record::{Item, Kind};
use remora_core::time::format_date;

use crate::overrides::CLAIM_KINDS;
use crate::words::BytePairs;
use day::Day;

const DAY_MS: i64 = 86_400_000;
/// Days are counted in UTC; one is over everywhere half a day later.
const MAX_ZONE_OFFSET_MS: i64 = 12 * 3_600_000;
/// A longer sentence is no statement.
const MAX_SENTENCE_BYTES: usize = 600;

/// What stands before the day, in one word.
const END_CUES: &[&str] = &[
    "until", "till", "til", "through", "thru", "bis", "hasta", "jusqu'au", "jusqu'à", "jusqu'en",
    "até",
];
/// Words after a day that only say why.
const REASON_WORDS: &[&str] = &[
    "because", "since", "as", "due", "so", "weil", "da", "denn", "damit", "wegen", "porque", "ya",
    "pues", "car", "parce", "puisque", "afin", "porquê",
];
/// Words after a day that say where or for whom, within the same clause.
const PLACE_WORDS: &[&str] = &[
    "for", "on", "in", "at", "to", "with", "für", "im", "auf", "mit", "en", "para", "por", "con",
    "pour", "dans", "avec", "sur",
];
/// What begins a sentence without being a clause of its own.
const LEAD_WORDS: &[&str] = &[
    "for",
    "in",
    "on",
    "at",
    "with",
    "für",
    "im",
    "auf",
    "en",
    "para",
    "pour",
    "dans",
    "ok",
    "okay",
    "so",
    "note",
    "remember",
    "decision",
    "important",
    "please",
    "also",
    "actually",
    "no",
    "yes",
    "bitte",
    "merke",
    "wichtig",
    "nota",
    "note",
];
/// What makes the end one of two parts, of which the other goes on.
const JOINING_WORDS: &[&str] = &[
    "and",
    "or",
    "but",
    "while",
    "whereas",
    "unless",
    "if",
    "then",
    "after",
    "afterwards",
    "afterward",
    "thereafter",
    "und",
    "oder",
    "aber",
    "sondern",
    "während",
    "falls",
    "dann",
    "danach",
    "ab",
    "anschließend",
    "y",
    "o",
    "pero",
    "mientras",
    "si",
    "luego",
    "después",
    "entonces",
    "et",
    "ou",
    "mais",
    "tandis",
    "puis",
    "ensuite",
    "après",
];
/// What makes it no end at all: "at least until Friday".
const OPEN_END_WORDS: &[&str] = &["least", "mindestens", "menos", "moins"];
/// What makes the end that of a part: "rows that were written until 2026".
const RELATIVE_PRONOUNS: &[&str] = &[
    "that", "which", "who", "whose", "where", "welche", "welcher", "welches", "que", "qui", "dont",
];
/// Behind these, they begin what was decided.
const SAYING_WORDS: &[&str] = &[
    "decided",
    "agreed",
    "said",
    "means",
    "remember",
    "note",
    "sure",
    "ensure",
    "so",
    "beschlossen",
    "vereinbart",
    "entschieden",
    "decidimos",
    "decidido",
    "acordamos",
    "acordado",
    "décidé",
    "convenu",
];
/// Directly before "bis" they begin a part: "alle bis Freitag erstellten Konten".
const DETERMINERS: &[&str] = &[
    "der", "die", "das", "den", "dem", "des", "alle", "allen", "ein", "eine", "einen", "einem",
];
/// What comes back every week has no end.
const REPETITION_WORDS: &[&str] = &[
    "every", "each", "always", "weekly", "jede", "jeden", "jeder", "jedes", "immer", "cada",
    "siempre", "chaque", "toujours",
];
/// How sentences of a memory begin that only say why, or how.
const REASON_LABELS: &[&str] = &[
    "why",
    "reason",
    "because",
    "how to apply",
    "warum",
    "grund",
    "por qué",
    "pourquoi",
    "raison",
];

/// The last day of what a text states, as `2026-10-01`, if that day is over.
pub fn ended_on(text: &str, said: i64, now: i64) -> Option<String> {
    let end = last_day(text, said)?;
    let over = (end + 1).saturating_mul(DAY_MS) + MAX_ZONE_OFFSET_MS;
    (now >= over).then(|| format_date(end.saturating_mul(DAY_MS)))
}

/// A text without the sentences whose last day is over.
pub(crate) fn without_ended(text: &str, said: i64, now: i64) -> Cow<'_, str> {
    if !may_name_end(text) {
        return Cow::Borrowed(text);
    }
    let has_ended = |sentence: &&str| ended_on(sentence, said, now).is_some();
    let mut all = text.lines().flat_map(split_into_sentences);
    if !all.any(|sentence| has_ended(&sentence)) {
        return Cow::Borrowed(text);
    }
    let lines = text.lines().map(|line| {
        let kept = split_into_sentences(line).filter(|sentence| !has_ended(sentence));
        kept.collect::<String>().trim().to_owned()
    });
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    Cow::Owned(lines.join("\n"))
}

/// The same of a row: of what it states, or of a saved memory.
pub fn item_ended_on(item: &Item, now: i64) -> Option<String> {
    let text = match item.kind {
        Kind::Memory => &item.text,
        kind if CLAIM_KINDS.contains(&kind) => &item.title,
        _ => return None,
    };
    ended_on(text, item.time.max(item.last_time), now)
}

/// The last day, in days since 1970, on which a text holds; `None` unless each of
/// its sentences names an end.
fn last_day(text: &str, said: i64) -> Option<i64> {
    // Most texts have no cue, so no sentence of theirs has. In other scripts a
    // cue may begin where a sentence does, in the middle of a word.
    if text.is_ascii() && !may_name_end(text) {
        return None;
    }
    let said = said.div_euclid(DAY_MS);
    let mut last = None;
    for sentence in find_stating_sentences(text) {
        let day = sentence_end(sentence, said).filter(|day| *day >= said)?;
        last = last.max(Some(day));
    }
    last
}

/// Sentences that state something.
fn find_stating_sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parts = lines.flat_map(split_into_sentences).map(|part| {
        let part = part.trim();
        part.trim_start_matches(['-', '*', '+', '>', ' ', '_'])
    });
    parts.filter(|part| part.contains(char::is_alphanumeric) && !is_reason(part))
}

fn split_into_sentences(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split_inclusive(['。', '！', '？']);
    parts.flat_map(split_at_stops)
}

/// A line at the full stops that end a sentence; the one of "1. Oktober" does not.
fn split_at_stops(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, _) in line.match_indices(['.', '!', '?', ';']) {
        let after = &line[at + 1..];
        let word = line[from..at].rsplit(char::is_whitespace).next();
        let is_ordinal = word.is_some_and(|word| {
            word.len() <= 2 && !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
        });
        if after.starts_with(char::is_whitespace) && !is_ordinal {
            parts.push(&line[from..=at]);
            from = at + 1;
        }
    }
    parts.push(&line[from..]);
    parts
}

fn is_reason(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    REASON_LABELS.iter().any(|label| {
        let rest = lower.strip_prefix(label);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

fn sentence_end(sentence: &str, said: i64) -> Option<i64> {
    if sentence.len() > MAX_SENTENCE_BYTES || sentence.trim_end().ends_with(['?', '？']) {
        return None;
    }
    if !may_name_end(sentence) {
        return None;
    }
    if !sentence.is_ascii()
        && let Some(end) = wide::sentence_end(sentence, said)
    {
        return Some(end);
    }
    let words = read_words(sentence);
    (0..words.len()).find_map(|at| clause_end(&words, at, said))
}

/// Whether there is a cue: most texts hold none, which is seen without reading
/// their sentences.
fn may_name_end(text: &str) -> bool {
    let pairs = BytePairs::of(text);
    let mut cues = END_CUES.iter().chain(&["after", "jusqu"]);
    let mut words = text.split_whitespace().map(trim_punctuation);
    cues.any(|cue| pairs.may_hold(cue))
        && words.any(|word| word.eq_ignore_ascii_case("after") || is_cue(word))
        || !text.is_ascii() && wide::may_name_end(text)
}

fn is_cue(word: &str) -> bool {
    let is = |cue: &&str| cue.len() == word.len() && cue.eq_ignore_ascii_case(word);
    // Its apostrophe is written in two ways.
    let is_french = || word.starts_with("jusqu") || word.starts_with("Jusqu");
    END_CUES.iter().any(is) || is_french()
}

/// A word as it stands in a sentence.
#[derive(Debug)]
struct SentenceWord<'a> {
    /// Without the punctuation around it.
    raw: &'a str,
    lower: String,
    /// What stands before it: a bracket, a quote, an option's hyphens.
    before: &'a str,
    /// Whether a clause ends behind it.
    closes: bool,
    /// Whether a colon does.
    introduces: bool,
}

fn trim_punctuation(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn read_words(sentence: &str) -> Vec<SentenceWord<'_>> {
    let mut words: Vec<SentenceWord<'_>> = Vec::new();
    for whole in sentence.split_whitespace() {
        let raw = trim_punctuation(whole);
        if raw.is_empty() {
            // A dash between two clauses.
            if let Some(last) = words.last_mut() {
                last.closes = true;
            }
            continue;
        }
        let start = raw.as_ptr().addr() - whole.as_ptr().addr();
        let after = &whole[start + raw.len()..];
        let is_ordinal = after == "." && raw.len() <= 2 && raw.bytes().all(|b| b.is_ascii_digit());
        words.push(SentenceWord {
            raw,
            lower: raw.replace('’', "'").to_lowercase(),
            before: &whole[..start],
            closes: !is_ordinal && after.contains([',', ';', ':', '.', '!', ')', '…', '—']),
            introduces: after.contains(':'),
        });
    }
    words
}

/// The end that a cue at this word names for the whole sentence.
fn clause_end(words: &[SentenceWord<'_>], at: usize, said: i64) -> Option<i64> {
    let word = &words[at];
    let is_option = word.before.contains(['-', '`', '/', '=']);
    let not_after = word.lower == "not" && words.get(at + 1).is_some_and(|w| w.lower == "after");
    if is_option || word.closes || !(not_after || END_CUES.contains(&word.lower.as_str())) {
        return None;
    }
    let behind_cue = at + 1 + usize::from(not_after);
    let (found, next) = day::read_day(&words[behind_cue..], said)?;
    let (before, rest) = (&words[..at], &words[behind_cue + next..]);
    let date_closes = words[behind_cue + next - 1].closes;
    let is_leading = before.last().is_none_or(|word| word.introduces);
    let governs = if is_leading {
        is_one_clause(rest)
    } else {
        follows_one_clause(before, word) && adds_no_clause(rest, date_closes, &word.lower)
    };
    (governs && !is_range(before, &found) && !is_repeating(words, &found)).then_some(found.number)
}

/// Whether what follows a leading end is one clause, and so wholly under it.
fn is_one_clause(rest: &[SentenceWord<'_>]) -> bool {
    let joins = rest.iter().any(|word| is_in(JOINING_WORDS, word));
    let breaks = rest.iter().enumerate().any(|(at, word)| {
        let reason = rest
            .get(at + 1)
            .is_none_or(|next| is_in(REASON_WORDS, next));
        word.closes && !reason
    });
    !rest.is_empty() && !joins && !breaks
}

/// Whether what stands before an end is one clause that it can govern.
fn follows_one_clause(before: &[SentenceWord<'_>], cue: &SentenceWord<'_>) -> bool {
    let Some(last) = before.last() else {
        return true;
    };
    let attributive = cue.lower == "bis" && is_in(DETERMINERS, last);
    if is_in(OPEN_END_WORDS, last)
        || attributive
        || before.iter().any(|word| is_in(JOINING_WORDS, word))
    {
        return false;
    }
    let is_relative = |at: usize| {
        let said = at.checked_sub(1).map(|at| &before[at]);
        is_in(RELATIVE_PRONOUNS, &before[at]) && !said.is_some_and(|said| is_in(SAYING_WORDS, said))
    };
    if (0..before.len()).any(is_relative) {
        return false;
    }
    let Some(comma) = before.iter().rposition(|word| word.closes) else {
        return true;
    };
    let clause = &before[..=comma];
    // "Use the old one, but only until Friday": the comma is before the cue.
    let leads = is_in(LEAD_WORDS, &clause[0]) && clause.len() <= 4;
    let introduces = clause[comma].introduces || is_in(SAYING_WORDS, &clause[comma]);
    leads || introduces || comma + 1 == before.len()
}

/// Whether what stands behind an end leaves it the end of everything.
fn adds_no_clause(rest: &[SentenceWord<'_>], date_closes: bool, cue: &str) -> bool {
    let Some(first) = rest.first() else {
        return true;
    };
    if is_in(REASON_WORDS, first) || first.before.contains(['(', '[']) {
        return true;
    }
    // In German what is done may come behind the day.
    let goes_on = cue == "bis" || is_in(PLACE_WORDS, first);
    !date_closes && goes_on && is_one_clause(rest)
}

/// "Monday through Friday" and "March until October" are ranges.
fn is_range(before: &[SentenceWord<'_>], found: &Day) -> bool {
    let from = before.last().map(|word| word.lower.as_str());
    from.is_some_and(|from| {
        found.is_weekday && day::is_weekday(from) || found.is_month && day::is_month(from)
    })
}

fn is_repeating(words: &[SentenceWord<'_>], found: &Day) -> bool {
    (found.is_weekday || found.is_relative)
        && words.iter().any(|word| is_in(REPETITION_WORDS, word))
}

fn is_in(list: &[&str], word: &SentenceWord<'_>) -> bool {
    list.contains(&word.lower.as_str())
}

#[cfg(test)]
mod tests;
