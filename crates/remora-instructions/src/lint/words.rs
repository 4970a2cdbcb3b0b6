//! Words as contradictions compare them: stems, and the small closed lists
//! that say what a word does in a rule. English only.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A word of a sentence, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// It stands in a code span, so it is a name and does nothing else.
    pub(super) code: bool,
}

/// A list of words, kept as stems.
pub(super) struct List {
    words: &'static [&'static str],
    stems: OnceLock<HashSet<String>>,
}

impl List {
    /// Words, several to a text.
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        Self {
            words,
            stems: OnceLock::new(),
        }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        let stems = self.stems.get_or_init(|| {
            let words = self.words.iter().flat_map(|words| words.split(' '));
            words.map(stem).collect()
        });
        stems.contains(word)
    }
}

/// Languages and parts of a project: a rule under such a heading holds there
/// only.
pub(super) static AREAS: List = List::new(&[
    "android angular api apis backend bash cli client css database db desktop doc docs docker",
    "documentation e2e example frontend go golang graphql html infra integration ios java",
    "javascript js json kotlin legacy makefile markdown migration mobile php production python",
    "react ruby rust schema script server shell sql staging svelte swift terraform test testing",
    "toml tsx typescript ts ui vue web yaml c++ c# elixir scala haskell deployment",
]);

/// Headings that say nothing about what is below them.
pub(super) static PLAIN_HEADINGS: List = List::new(&[
    "agent basic best build claude code coding command contributing convention development do",
    "dont format formatting general guide guideline important instruction key layout linting",
    "main must not overview policy practice preference project quality reminder requirement rule",
    "setup standard style working workflow note dependency package memory global personal",
]);

/// Words without weight of their own.
static EMPTY: List = List::new(&[
    "a all also always an and any anything are as at b be been being by can could do does each",
    "either ensure every everything everywhere explicitly for from generally has have here i in",
    "into is it its just let make may me must my need of on onto or our please possible",
    "project really repo repository require required shall should simply sure that the there",
    "these this those to us usually via want we will with would you your strictly only new",
    "their them they strongly preferred allowed ok okay fine codebase does did",
]);

/// Words that need another one to say what they are of.
pub(super) static VAGUE: List = List::new(&[
    "default defaults value type size count total number range limit version length level width",
    "height maximum minimum min max amount rate",
]);

/// Whether a stem is one of them.
pub(super) fn is_empty(stem: &str) -> bool {
    EMPTY.has(stem)
}

/// The words of a text. A comma is a word of its own; other marks only part.
pub(super) fn split(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut word = String::new();
    let mut code = false;
    for c in text.chars() {
        match c {
            // Emphasis may stand in the middle of a word.
            '*' => {}
            '\u{2019}' => word.push('\''),
            '_' | '-' | '/' | '\'' | '+' | '#' | '%' | ':' | '.' | ',' => word.push(c),
            c if c.is_alphanumeric() => word.extend(c.to_lowercase()),
            _ => {
                end(&mut word, code, &mut words);
                code ^= c == '`';
            }
        }
    }
    end(&mut word, code, &mut words);
    words
}

fn end(word: &mut String, code: bool, words: &mut Vec<Word>) {
    let marks = ['.', '-', '/', '\'', '_', ':', ','];
    let comma = word.ends_with(',');
    let text = word.trim_matches(marks).to_owned();
    word.clear();
    if !text.is_empty() {
        words.push(Word { text, code });
    }
    if comma && !code {
        let text = ",".to_owned();
        words.push(Word { text, code });
    }
}

/// The stems of a text's words that carry weight.
pub(super) fn stems(text: &str) -> Vec<String> {
    let words = split(text).into_iter();
    words
        .map(|word| stem(&word.text))
        .filter(|stem| stem.chars().any(char::is_alphabetic) && !is_empty(stem))
        .collect()
}

/// A word without its ending. Crude, but the same for both sides.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.contains(['_', '/', '.']) {
        return word.to_owned();
    }
    let text = word
        .strip_suffix("'s")
        .unwrap_or(word)
        .trim_end_matches('\'');
    let mut done = if text.len() > 4 && text.ends_with("ies") {
        format!("{}y", &text[..text.len() - 3])
    } else if text.len() > 3
        && text.ends_with('s')
        && !text.ends_with("ss")
        && !text.ends_with("us")
    {
        text[..text.len() - 1].to_owned()
    } else {
        text.to_owned()
    };
    for ending in ["ation", "ing", "ion", "ed"] {
        if done.len() >= ending.len() + 3 && done.ends_with(ending) {
            done.truncate(done.len() - ending.len());
            let mut last = done.bytes().rev();
            let (one, two) = (last.next(), last.next());
            if one == two && !matches!(one, Some(b's' | b'l' | b'e' | b'o')) {
                done.pop();
            }
            break;
        }
    }
    if done.len() > 2 && done.ends_with('e') {
        done.pop();
    }
    done
}
