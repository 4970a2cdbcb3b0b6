//! In which sense a sentence names something: as being there, as having been
//! there, or as neither. Reads a bounded piece of text around the name, so a
//! long line stays cheap. When in doubt it is not stated: a false alarm is
//! worse than a missed one.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Tense, known};

/// How far around a name the sentence is read.
const CONTEXT_BYTES: usize = 240;

/// After these words a thing is spoken of as gone.
static PAST_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set(
        "removed remove removing deleted delete deleting dropped formerly previously renamed \
     replaced replaces replacing retired obsolete gone superseded supersedes eliminated ripped \
     migrated moved",
    )
});
/// After these it is spoken of as wrong, wished for, possible or elsewhere.
static HYPOTHETICAL_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set(
        "not never copy copies avoid avoids without deprecated legacy if unless until will would create creates \
     creating generate generates generated e.g eg example instance like planned maybe might \
     could propose proposed new write writes output outputs prefer put prefers old former stop \
     ban banned forbid forbidden cannot nor no rather instead upstream elsewhere introduce \
     hypothetical someday future todo unlike abandoned unused dead",
    )
});
/// Verbs that begin a new piece of advice after a comma or a name.
static ADVICE_VERBS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| known::parse_word_set("use call run see prefer it now we the is"));

/// The sense of the name at `start..end` of the text; both are boundaries of
/// characters.
pub(super) fn find_tense(text: &str, start: usize, end: usize) -> Tense {
    let ahead = find_tense_before(
        &text[text.floor_char_boundary(start.saturating_sub(CONTEXT_BYTES))..start],
    );
    if ahead != Tense::Stated {
        return ahead;
    }
    find_tense_after(&text[end..text.ceil_char_boundary(end.saturating_add(CONTEXT_BYTES))])
}

/// The tense that a heading or the line before a list implies for what follows.
pub(super) fn of_lead(line: &str) -> Tense {
    let line = &line[line.floor_char_boundary(line.len().saturating_sub(CONTEXT_BYTES))..];
    match find_tense_before(line) {
        Tense::Open if !split_words(line).iter().any(|w| is_firm_no(&w.text)) => Tense::Stated,
        sense => sense,
    }
}

/// A heading such as "New cart" says nothing about its items; "Never" does.
fn is_firm_no(word: &str) -> bool {
    word.ends_with("n't")
        || matches!(
            word,
            "not"
                | "never"
                | "avoid"
                | "deprecated"
                | "legacy"
                | "example"
                | "e.g"
                | "forbidden"
                | "banned"
                | "planned"
                | "unused"
        )
}

/// What the words next to a name say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AdjacentToken {
    /// A thing outside the code, such as a table or a channel.
    Thing,
    /// A part of the code, such as a function.
    Part,
    Nothing,
}

/// Looks at the word before and the word after.
pub(super) fn find_adjacent_token(text: &str, start: usize, end: usize) -> AdjacentToken {
    let ahead = &text[text.floor_char_boundary(start.saturating_sub(60))..start];
    let behind = &text[end..text.ceil_char_boundary(end.saturating_add(40))];
    let filler = |w: &&str| {
        !matches!(
            w.to_lowercase().as_str(),
            "the" | "a" | "an" | "our" | "named" | "called"
        )
    };
    let last = ahead
        .split_whitespace()
        .rev()
        .find(filler)
        .filter(|w| !w.ends_with(['.', ';', ',']));
    let first = behind
        .strip_prefix(' ')
        .and_then(|b| b.split_whitespace().next());
    let mut found = AdjacentToken::Nothing;
    for word in [last, first].into_iter().flatten() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if known::is_thing(word) {
            return AdjacentToken::Thing;
        }
        if known::is_part(word) {
            found = AdjacentToken::Part;
        }
    }
    found
}

/// One word of a sentence; code is one word without letters.
struct SentenceWord {
    text: String,
    /// The sentence or the item ends after it.
    ends: bool,
    /// A comma or a colon follows.
    pauses: bool,
    code: bool,
}

/// Splits into words; blank lines and new list items end a sentence.
fn split_words(text: &str) -> Vec<SentenceWord> {
    let mut list: Vec<SentenceWord> = Vec::new();
    let mut code = false;
    let mut lines = text.split('\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let start = line.trim_start();
        // The last line is cut off where the name begins, so being empty means nothing.
        let item = (start.is_empty() && lines.peek().is_some())
            || start.starts_with(['-', '*', '+', '#', '>', '|'])
            || start
                .split_once(['.', ')'])
                .is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if number > 0 && item {
            code = false;
            if let Some(last) = list.last_mut() {
                last.ends = true;
            }
        }
        for raw in line.split_whitespace() {
            let marks = raw.matches('`').count();
            let inside = code || marks > 0;
            if marks % 2 == 1 {
                code = !code;
            }
            let tail = raw.trim_end_matches(['"', '\'', ')', '*', '_', '`']);
            let dash = matches!(raw, "-" | "–" | "—" | "--");
            let short = matches!(tail, "e.g." | "i.e." | "etc." | "vs.");
            list.push(SentenceWord {
                ends: (dash || tail.ends_with([';', '!', '?']) || (tail.ends_with('.') && !short))
                    && !code,
                pauses: tail.ends_with([',', ':']) || raw.ends_with(')'),
                text: if inside {
                    String::new()
                } else {
                    raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '→'))
                        .replace('’', "'")
                        .to_lowercase()
                },
                code: inside,
            });
        }
    }
    list
}

fn find_tense_before(text: &str) -> Tense {
    // Struck-through text says that it no longer holds.
    if text.matches("~~").count() % 2 == 1 {
        return Tense::Past;
    }
    let sentence = split_words(text);
    let mut sense = Tense::Stated;
    // After "renamed" and the like, until its "to".
    let mut turning = false;
    for (at, word) in sentence.iter().enumerate() {
        let earlier = at.checked_sub(1).map(|i| &sentence[i]);
        let last = earlier.map_or("", |w| w.text.as_str());
        let fresh = earlier.is_none_or(|w| w.pauses || w.code);
        let name = word.text.as_str();
        match name {
            // These begin a clause of its own.
            "but" | "because" | "since" | "so" | "now" => sense = Tense::Stated,
            "longer" if last == "no" => sense = Tense::Past,
            "to" if last == "used" => sense = Tense::Past,
            // The target of "renamed to", "replaced by" or "moved into" exists.
            "to" | "into" | "as" | "with" | "by" | "favour" | "favor" | "→"
                if turning && sense == Tense::Past =>
            {
                sense = Tense::Stated;
                turning = false;
            }
            "no" if matches!(last, "is" | "there's" | "are" | "was") => sense = Tense::Past,
            "such" | "than" if sense == Tense::Stated => sense = Tense::Open,
            _ if is_away(&sentence, at) => sense = sense.max(Tense::Open),
            _ if ADVICE_VERBS.contains(name)
                && fresh
                && sense != Tense::Stated
                && earlier.is_some() =>
            {
                sense = Tense::Stated;
            }
            _ if PAST_WORDS.contains(name) => {
                sense = Tense::Past;
                turning = matches!(
                    name,
                    "renamed"
                        | "replaced"
                        | "moved"
                        | "migrated"
                        | "superseded"
                        | "deleted"
                        | "removed"
                        | "dropped"
                );
            }
            _ if sense == Tense::Stated
                && (HYPOTHETICAL_WORDS.contains(name) || name.ends_with("n't")) =>
            {
                sense = Tense::Open;
            }
            _ => {}
        }
        if word.ends {
            sense = Tense::Stated;
            turning = false;
        }
    }
    sense
}

/// Whether the word at this place sends the reader elsewhere: "the infra
/// repo", "on the server".
fn is_away(sentence: &[SentenceWord], at: usize) -> bool {
    let earlier = |back: usize| {
        at.checked_sub(back)
            .map_or("", |i| sentence[i].text.as_str())
    };
    match sentence[at].text.as_str() {
        "repo" | "repository" | "codebase" => {
            at > 0
                && !matches!(
                    earlier(1),
                    "this" | "our" | "the" | "main" | "in" | "whole" | "entire" | "same"
                )
        }
        "server" | "laptop" | "machine" | "host" => (1..=3).any(|back| earlier(back) == "on"),
        _ => false,
    }
}

/// Words that may separate the two verbs of "was long removed".
static ADVERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    known::parse_word_set("now since recently already long finally completely just later")
});

fn find_tense_after(text: &str) -> Tense {
    let text = text.trim_start_matches(['`', '*', '_', '"', '\'', ')']);
    let sentence = split_words(text);
    // Behind a comma the sentence goes on about something else, mostly.
    if text.starts_with(',') {
        let next = sentence.iter().find(|w| w.code || !w.text.is_empty());
        let goes_on = |w: &SentenceWord| {
            w.code
                || matches!(
                    w.text.as_str(),
                    "which" | "that" | "and" | "or" | "now" | "formerly"
                )
        };
        if !next.is_some_and(goes_on) {
            return Tense::Stated;
        }
    }
    let mut last = "";
    // Further away a verb rarely belongs to the name.
    for (at, word) in sentence.iter().take(14).enumerate() {
        let name = word.text.as_str();
        let denied = last == "not" || last.ends_with("n't");
        // The verb belongs to the next name, unless "and" joins the two.
        if word.code && at > 0 && !matches!(last, "and" | "or" | "") {
            break;
        }
        match name {
            "instead" | "rather" | "but" | "because" | "if" | "when" => break,
            _ if is_away(&sentence, at) => return Tense::Open,
            "longer" if last == "no" => return Tense::Past,
            "exist" | "exists" | "existed" if denied => return Tense::Past,
            "to" if last == "used" => return Tense::Past,
            "a" | "an" | "the" | "ours" | "our" | "part" | "here" | "used" | "there" | "needed"
            | "available" | "supported" | "allowed" | "yet"
                if denied =>
            {
                return Tense::Open;
            }
            "deprecated" | "obsolete" | "legacy" | "forbidden" | "banned" | "planned"
            | "unused" | "dead" | "outdated" | "upstream" | "elsewhere" | "may" | "might"
            | "could" | "later" | "will" | "would" | "ever" | "never" | "anymore" | "→" => {
                return Tense::Open;
            }
            "" if at == 0 && text.trim_start().starts_with(['-', '=', '→']) => {
                return Tense::Open;
            }
            _ if PAST_WORDS.contains(name) => {
                let passive = matches!(
                    last,
                    "was" | "were" | "is" | "are" | "been" | "got" | "being" | "be"
                );
                if passive || (at == 0 && text.trim_start().starts_with('(')) {
                    return Tense::Past;
                }
            }
            _ => {}
        }
        if word.ends {
            break;
        }
        if !ADVERBS.contains(name) {
            last = name;
        }
    }
    Tense::Stated
}
