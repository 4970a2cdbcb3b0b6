//! What somebody chose who only says "option B" or "the second one": the agent's
//! last message lists what there was.

use serde_json::{Value, json};

use super::words::{among, words};
use super::{LONGEST, Statement, StatementKind};
use crate::sentence;

/// One of the ways that a message offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// A letter or a number, as it was written.
    pub(crate) label: String,
    pub(crate) text: String,
}

impl Choice {
    /// What choosing it states.
    pub(crate) fn as_statement(&self) -> Statement {
        let text = format!("Option {}: {}", self.label, self.text);
        Statement {
            kind: StatementKind::Decision,
            text: sentence::one_line(&text, LONGEST),
            reason: None,
            subject: None,
            confidence: 85,
            on_purpose: false,
        }
    }
}

/// As it is stored with the message's summary.
pub(crate) fn to_json(offered: &[Choice]) -> Value {
    let pair = |choice: &Choice| json!([choice.label, choice.text]);
    offered.iter().map(pair).collect()
}

/// What was stored.
pub(crate) fn from_json(stored: &Value) -> Vec<Choice> {
    let choice = |pair: &Value| {
        let [label, text] =
            [0, 1].map(|at| pair.get(at).and_then(Value::as_str).map(str::to_owned));
        Some(Choice {
            label: label?,
            text: text?,
        })
    };
    let pairs = stored.as_array().map(Vec::as_slice).unwrap_or_default();
    pairs.iter().filter_map(choice).collect()
}

/// Words of an answer that only chooses.
const MAX_WORDS: usize = 8;
/// Characters of a choice that are kept.
const MAX_CHOICE_CHARS: usize = 200;
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
/// What an answer may hold besides the choice.
const FILLING: &str = "ok okay yes yeah yep sure please pls let's lets go with do take use i'll i i'd we we'll pick \
    choose like prefer for the one option number variant approach it is sounds good then thanks a das die der wir \
    nehmen nimm bitte ja opción la vamos con";

/// The ways that a message offers, if it asks for a choice.
pub(crate) fn offered(message: &str) -> Vec<Choice> {
    let lower = message.to_lowercase();
    let asks = [
        "option", "which", "prefer", "choose", "should i", "shall i", "welche", "soll ich",
    ];
    if !message.contains('?') && !lower.contains("option")
        || !asks.iter().any(|ask| lower.contains(ask))
    {
        return Vec::new();
    }
    let mut found: Vec<Choice> = Vec::new();
    for line in message.lines() {
        let Some((label, text)) = labelled(line) else {
            continue;
        };
        let due = |list: &[Choice]| {
            let nth = u8::try_from(list.len()).unwrap_or(u8::MAX);
            label == char::from(b'A'.saturating_add(nth)).to_string()
                || label == (list.len() + 1).to_string()
        };
        // A list that begins anew takes the place of the one before.
        if !due(&found) && due(&[]) {
            found.clear();
        }
        if due(&found) {
            let text = sentence::one_line(&sentence::plain(text), MAX_CHOICE_CHARS);
            found.push(Choice { label, text });
        }
    }
    if found.len() < 2 {
        found.clear();
    }
    found
}

/// "- **Option B:** use a queue", "2) use a queue", "B. use a queue".
fn labelled(line: &str) -> Option<(String, &str)> {
    let marks = |c: char| c.is_whitespace() || "-*•#(_".contains(c);
    let line = line.trim_start_matches(marks);
    let rest = ["Option ", "option ", "OPTION "]
        .iter()
        .find_map(|name| line.strip_prefix(name));
    let body = rest.unwrap_or(line);
    let length = match body.as_bytes() {
        [b'A'..=b'H' | b'1'..=b'9', ..] => 1,
        _ => return None,
    };
    let (label, rest) = body.split_at(length);
    let text = rest.trim_start_matches(|c: char| "*_)".contains(c) || c == '.' || c == ':');
    let marked = text.len() < rest.len();
    let dash = rest.trim_start().starts_with(['—', '–', '-']);
    let text = text
        .trim_start_matches(|c: char| c.is_whitespace() || "—–-:*_".contains(c))
        .trim();
    ((marked || dash) && !text.is_empty()).then(|| (label.to_owned(), text))
}

/// What an answer chooses of what was offered.
pub(crate) fn chosen<'a>(answer: &str, offered: &'a [Choice]) -> Option<&'a Choice> {
    let list = words(answer);
    if offered.is_empty() || list.is_empty() || list.len() > MAX_WORDS || answer.contains('?') {
        return None;
    }
    let mut chosen = None;
    for (at, word) in list.iter().enumerate() {
        let label = offered
            .iter()
            .position(|choice| choice.label.eq_ignore_ascii_case(&word.text));
        // "a" is mostly an article.
        let article =
            word.text == "a" && at + 1 < list.len() && at > 0 && list[at - 1].text != "option";
        let nth = ORDINALS.iter().position(|ordinal| *ordinal == word.text);
        let final_one = (word.text == "last").then(|| offered.len() - 1);
        match label.filter(|_| !article).or(nth).or(final_one) {
            Some(_) if chosen.is_some() => return None,
            Some(nth) => chosen = Some(nth),
            None if among(&word.text, FILLING) => {}
            None => return None,
        }
    }
    offered.get(chosen?)
}

#[cfg(test)]
mod tests {
    use super::{chosen, offered};

    const MESSAGE: &str = "There are two ways:\n\n- **Option A:** keep the queue in SQLite\n- **Option B:** move it to \
        Redis, with one more service to run\n\nWhich one do you prefer?";

    #[test]
    fn a_short_answer_names_what_was_offered() {
        let choices = offered(MESSAGE);
        let text = |answer: &str| chosen(answer, &choices).map(|choice| choice.text.as_str());
        let (a, b) = (
            "keep the queue in SQLite",
            "move it to Redis, with one more service to run",
        );
        let cases = [
            ("option B", Some(b)),
            ("B please", Some(b)),
            ("ok, let's go with the second one", Some(b)),
            ("a", Some(a)),
            ("the first", Some(a)),
            ("option A or option B?", None),
            ("run the tests first and then commit", None),
            ("yes", None),
        ];
        for (answer, wanted) in cases {
            assert_eq!(text(answer), wanted, "{answer}");
        }
    }

    #[test]
    fn numbered_steps_that_were_done_are_no_offer() {
        assert_eq!(
            offered("Done:\n1. added the flag\n2. wrote the test\n\nAll green."),
            []
        );
        let choices = offered("Which do you want?\n1. a lock file\n2. an advisory lock");
        let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(labels, ["1", "2"]);
    }
}
