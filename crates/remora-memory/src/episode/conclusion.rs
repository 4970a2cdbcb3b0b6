//! Which sentences of a message conclude something: a reason, a contrast, a
//! measurement, what was tried, kept or reverted. Word lists, no model: they only
//! order sentences, so a miss costs a rank and never the sentence itself.

use crate::sentence::{self, cut_sentence};
use crate::summary::{reports_red_run, request::is_trivial};
use crate::words::{BytePairs, TermSplitter, is_stop};

/// Sentences that a checkpoint stores as its conclusion.
const MAX_CONCLUSIONS: usize = 4;
/// Characters of one of them.
const MAX_SENTENCE_CHARS: usize = 280;
/// The weight from which a sentence is a conclusion.
const MIN_SENTENCE_WEIGHT: f64 = 1.0;

/// Words that give a reason.
const REASON_WORDS: &[&str] = &[
    "because",
    ", so ",
    "; so ",
    "since",
    "otherwise",
    "due to",
    "so that",
    "caused by",
    "root cause",
    "turned out",
    "the reason",
    "reason:",
    "which means",
    "that is why",
    "that's why",
    "to avoid",
    "would have",
    "weil",
    "denn",
    "damit",
    "sonst",
    "porque",
    "para que",
    "parce que",
    "car ",
    "因为",
    "所以",
    "原因",
    "ため",
    "ので",
];
/// Words that contrast one thing with another.
const CONTRAST_WORDS: &[&str] = &[
    "instead",
    "rather than",
    "no longer",
    "never",
    "only",
    "not ",
    "n't ",
    "without",
    "unlike",
    "but ",
    "except",
    "still",
    "nicht",
    "kein",
    "statt",
    "nunca",
    "sin ",
    "pas ",
    "不",
    "没有",
    "而不是",
    "ではなく",
    "しない",
];
/// Words about a choice, an attempt or its end.
const CHOICE_WORDS: &[&str] = &[
    "decided",
    "chose",
    "choose",
    "switched",
    "kept",
    "keep",
    "dropped",
    "replaced",
    "tried",
    "reverted",
    "rejected",
    "thrown away",
    "ruled out",
    "rule",
    "must",
    "always",
    "from now on",
    "going forward",
    "settled",
    "agreed",
    "recap",
    "policy",
    "amended",
    "supersed",
    "fixed",
    "breaks",
    "broke",
    "moved to",
    "pinned",
    "requires",
    "needs",
    "entschieden",
    "immer",
    "decidimos",
    "siempre",
    "toujours",
    "决定",
    "必须",
    "总是",
    "改用",
    "必ず",
    "決め",
];
/// Words of a progress report or an offer: true for a moment, useless later.
const PROGRESS_WORDS: &[&str] = &[
    "tests pass",
    "test passes",
    "all green",
    "is green",
    "all pass",
    "committed as",
    "pushed",
    "here is",
    "here's",
    "i've updated",
    "i updated",
    "summary of",
    "what changed",
    "no response requested",
    "otherwise unchanged",
    "i'd recommend",
    "i'd also recommend",
    "let me know",
    "want me to",
    "shall i",
    "should i",
    "would you like",
    "say so",
    "if you want",
    "happy to",
    "done.",
    "erledigt",
    "listo",
    "fait.",
    "完成了",
    "需要我",
];

/// The weight of a sentence as a conclusion, whatever it is about. A question never
/// reaches the minimum.
pub(crate) fn weigh_sentence(sentence: &str) -> f64 {
    let lower = sentence.to_lowercase();
    let pairs = BytePairs::of(&lower);
    let holds = |cue: &&str| pairs.may_hold(cue) && lower.contains(cue);
    let any = |cues: &[&str]| cues.iter().any(holds);
    let flag = |is: bool, worth: f64| if is { worth } else { 0.0 };
    let asks = sentence.ends_with(['?', '？']);
    flag(any(REASON_WORDS), 2.0)
        + flag(any(CONTRAST_WORDS), 1.0)
        + flag(any(CHOICE_WORDS), 1.0)
        + flag(has_measure(&lower), 1.0)
        - flag(any(PROGRESS_WORDS) || reports_red_run(sentence), 1.5)
        - flag(asks, 3.0)
}

/// Whether it contains a measurement: a number with a unit or a percentage, or a
/// change of a number.
fn has_measure(lower: &str) -> bool {
    const UNIT_WORDS: &[&str] = &[
        "%", "ms", "s", "sec", "seconds", "min", "minutes", "h", "hours", "days", "kb", "mb", "gb",
        "x", "times", "tokens", "rows", "rps", "fps", "mib", "gib", "kib", "px", "per",
    ];
    if !lower.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let mut words = lower.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if !word.bytes().any(|b| b.is_ascii_digit()) {
            continue;
        }
        let word = word.trim_matches(|c: char| "(),.;:~≈<>≤≥*".contains(c));
        let digits = word
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'.' || *b == b',')
            .count();
        if digits == 0 {
            continue;
        }
        let rest = &word[digits..];
        let next = words
            .peek()
            .map_or("", |next| next.trim_matches(|c: char| "(),.;:".contains(c)));
        if UNIT_WORDS.contains(&rest)
            || rest.is_empty() && (UNIT_WORDS.contains(&next) || next == "→")
        {
            return true;
        }
    }
    false
}

/// The sentences of the lines, without headings and fragments.
fn sentences_of(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .flat_map(|line| {
            let text = line.strip_prefix("- ").unwrap_or(line);
            // A heading says nothing by itself.
            let said = sentence::split_sentences(text).into_iter();
            said.map(str::trim)
                .filter(|s| !s.ends_with([':', '：']) && s.chars().count() >= 8)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The sentences that conclude something, in the order they were said; if none
/// does, the first one that is no progress report.
pub(crate) fn extract_conclusions(lines: &[String]) -> Vec<String> {
    let mut all = sentences_of(lines);
    all.retain(|sentence| !is_trivial(sentence));
    let mut weighed: Vec<(usize, f64)> = all
        .iter()
        .map(|sentence| weigh_sentence(sentence))
        .enumerate()
        .filter(|(_, weight)| *weight >= MIN_SENTENCE_WEIGHT)
        .collect();
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weighed.truncate(MAX_CONCLUSIONS);
    let mut places: Vec<usize> = weighed.into_iter().map(|(place, _)| place).collect();
    if places.is_empty() {
        let tells = |sentence: &String| weigh_sentence(sentence) >= 0.0;
        places.extend(all.iter().position(tells));
    }
    places.sort_unstable();
    let kept = places
        .into_iter()
        .map(|at| cut_sentence(&all[at], MAX_SENTENCE_CHARS));
    kept.collect()
}

/// Joins sentences to one text; one that ends without punctuation, as list items
/// do, is followed by a semicolon.
pub(crate) fn join_sentences(sentences: &[String]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        if text.ends_with(|c: char| c.is_alphanumeric() || ")`\"'".contains(c)) {
            text.push(';');
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    text
}

/// How many characters of sentences fit, by their weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CharBudget {
    /// Characters of sentences that share words or conclude something.
    pub(crate) max_chars: usize,
    /// Other sentences are added only up to this many characters.
    pub(crate) filled_chars: usize,
}

/// Selects the sentences of the lines that say most about these words: those that
/// share words with them, then those that conclude something, then the others. They
/// are returned in the order they were said.
pub(crate) fn rank_sentences(lines: &[String], about: &str, room: CharBudget) -> Vec<String> {
    let max_sentence = MAX_SENTENCE_CHARS.max(room.max_chars * 2 / 3);
    let mut splitter = TermSplitter::default();
    let mut asked: Vec<String> = Vec::new();
    splitter.for_each_term(about, |term, _| {
        if !is_stop(term) && !asked.iter().any(|known| known == term) {
            asked.push(term.to_owned());
        }
    });
    let mut all = sentences_of(lines);
    all.retain(|sentence| !is_trivial(sentence));
    let mut weighed: Vec<(usize, f64)> = Vec::new();
    for (place, sentence) in all.iter().enumerate() {
        let mut shared: Vec<String> = Vec::new();
        splitter.for_each_term(sentence, |term, _| {
            if asked.iter().any(|word| word == term) && !shared.iter().any(|word| word == term) {
                shared.push(term.to_owned());
            }
        });
        #[expect(clippy::cast_precision_loss, reason = "a few words")]
        let shared = shared.len() as f64;
        weighed.push((place, 1.5 * shared.min(4.0) + weigh_sentence(sentence)));
    }
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut places: Vec<usize> = Vec::new();
    let mut used = 0;
    for (place, weight) in weighed {
        let length = all[place].chars().count().min(max_sentence) + 1;
        let most = if weight < MIN_SENTENCE_WEIGHT {
            room.filled_chars
        } else {
            room.max_chars
        };
        // An offer or a question concludes nothing, but a card needs one sentence.
        if !places.is_empty() && (used + length > most || weight < 0.0) {
            continue;
        }
        used += length;
        places.push(place);
    }
    places.sort_unstable();
    let kept = places
        .into_iter()
        .map(|at| cut_sentence(&all[at], max_sentence));
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        super::super::read_message(text)
    }

    #[test]
    fn reasons_contrasts_and_measures_come_before_progress() {
        let message = "First cut of the reader is on the branch. All 12 tests pass.\n\n\
            **quick-xml, not roxmltree.** roxmltree builds the whole tree, and 200 MB took 1.9 GB of memory.\n\n\
            - Names are copied because an event borrows the buffer.\n\nWant me to add a benchmark?";
        assert_eq!(
            extract_conclusions(&lines(message)),
            [
                "quick-xml, not roxmltree.",
                "roxmltree builds the whole tree, and 200 MB took 1.9 GB of memory.",
                "Names are copied because an event borrows the buffer.",
            ]
        );
    }

    #[test]
    fn a_message_that_concludes_nothing_gives_its_first_sentence() {
        let said = lines("The budget flag is parsed. Next comes the export.");
        assert_eq!(extract_conclusions(&said), ["The budget flag is parsed."]);
    }

    #[test]
    fn an_offer_or_what_did_not_change_is_no_conclusion() {
        let said =
            lines("Done. New subject: gitproto: trim docs. Branch state otherwise unchanged.");
        assert_eq!(
            extract_conclusions(&said),
            ["New subject: gitproto: trim docs."]
        );
        assert_eq!(
            extract_conclusions(&lines("No response requested.")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn what_is_asked_for_comes_first() {
        let said = lines(
            "Rename done, history kept.\n\nrayon: tried and thrown away. 40 s → 37 s only, because the ledger is read again.\n\n\
             The flake is gone since the watcher polls.",
        );
        let room = |max_chars| CharBudget {
            max_chars,
            filled_chars: 0,
        };
        let told = rank_sentences(&said, "why does the watcher poll", room(60));
        assert_eq!(told, ["The flake is gone since the watcher polls."]);
        let told = rank_sentences(&said, "could we use rayon", room(90));
        assert_eq!(
            told,
            [
                "rayon: tried and thrown away.",
                "40 s → 37 s only, because the ledger is read again."
            ]
        );
    }
}
