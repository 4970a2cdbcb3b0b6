//! What the user chose by saying only "option B" or "the second one": the agent's
//! last message lists the options.

use remora_core::detail::ItemDetail;
use remora_core::record::Item;
use std::borrow::Cow;

use super::words::{is_in_list, split_words};
use super::{MAX_STATEMENT_CHARS, Speaker, Statement, StatementKind};
use crate::sentence;

/// One of the options that a message offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedChoice {
    /// A letter or a number, as it was written.
    pub(crate) label: String,
    pub(crate) text: String,
}

impl OfferedChoice {
    /// Whether a line of the message offers it. The stored text may be truncated.
    pub(crate) fn is_in(&self, line: &str) -> bool {
        line.contains(self.text.trim_end_matches('…'))
    }

    /// Label and text, as they are stored.
    pub(crate) fn as_pair(&self) -> (&str, &str) {
        (&self.label, &self.text)
    }

    /// What choosing it states.
    pub(crate) fn as_statement(&self) -> Statement {
        let text = format!("Option {}: {}", self.label, self.text);
        Statement {
            kind: StatementKind::Decision,
            text: sentence::one_line(&text, MAX_STATEMENT_CHARS),
            reason: None,
            subject: None,
            confidence: 85,
            on_purpose: false,
        }
    }
}

/// What a prompt states: the option it chooses, or else its own statements.
pub(crate) fn stated_in(prompt: &str, offered: &[OfferedChoice]) -> Vec<Statement> {
    match find_selected_choice(prompt, offered) {
        Some(choice) => vec![choice.as_statement()],
        None => super::find_statements(prompt, Speaker::User),
    }
}

/// The options that were stored with a summary.
pub(crate) fn read_offered(summary: &Item) -> Vec<OfferedChoice> {
    let choice = |(label, text): (&str, &str)| OfferedChoice {
        label: label.to_owned(),
        text: text.to_owned(),
    };
    let pairs = summary.detail.iter().flat_map(ItemDetail::list_offered);
    pairs.map(choice).collect()
}

/// Words of an answer that only chooses.
const MAX_ANSWER_WORDS: usize = 8;
/// Characters of a choice that are kept.
const MAX_CHOICE_CHARS: usize = 200;
const ORDINAL_WORDS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
/// Words that an answer may have besides the choice. Any other word makes it more
/// than a choice.
const FILLER_WORDS: &str = "ok okay yes yeah yep sure please pls let's lets go with do take use i'll i i'd we we'll pick \
    choose like prefer for the one option number variant approach it is sounds good then thanks a das die der wir \
    nehmen nimm bitte ja opción la vamos con";

/// The options that a message offers, if it asks for a choice: a numbered list of
/// what was done is no offer.
pub(crate) fn parse_offered_choices(message: &str) -> Vec<OfferedChoice> {
    let lower = message.to_lowercase();
    let asks = [
        "option", "which", "prefer", "choose", "should i", "shall i", "welche", "soll ich",
    ];
    if !message.contains('?') && !lower.contains("option")
        || !asks.iter().any(|ask| lower.contains(ask))
    {
        return Vec::new();
    }
    let mut found: Vec<OfferedChoice> = Vec::new();
    for (label, text) in message.lines().flat_map(labelled_parts) {
        let due = |list: &[OfferedChoice]| {
            let nth = u8::try_from(list.len()).unwrap_or(u8::MAX);
            label == char::from(b'A'.saturating_add(nth)).to_string()
                || label == (list.len() + 1).to_string()
        };
        // A second list replaces the one before: the user answers the last.
        if !due(&found) && due(&[]) {
            found.clear();
        }
        if due(&found) {
            let text = sentence::one_line(&sentence::strip_markup(text), MAX_CHOICE_CHARS);
            found.push(OfferedChoice { label, text });
        }
    }
    if found.len() < 2 {
        found.clear();
    }
    found
}

/// A message without the options and what it says about each: nothing of that is
/// concluded before the user chooses.
pub(crate) fn without_offered(message: &str) -> Cow<'_, str> {
    if parse_offered_choices(message).is_empty() {
        return Cow::Borrowed(message);
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut within = OfferPart::Nothing;
    let mut after_blank = false;
    for line in message.lines() {
        let parts = labelled_parts(line);
        let bare = line.trim();
        let is_listed =
            line.starts_with(char::is_whitespace) || bare.starts_with(['-', '*', '•', '|']);
        if let Some((_, first)) = parts.first() {
            let is_title = bare.starts_with('#') || bare.starts_with("**") && bare.ends_with("**");
            within = if is_title {
                OfferPart::Section
            } else {
                OfferPart::Item
            };
            if parts.len() > 1 {
                // Keeps what precedes and follows the options of a paragraph.
                let offset = |part: &str| part.as_ptr().addr() - line.as_ptr().addr();
                let start = line[..offset(first)]
                    .find("ption")
                    .map_or(0, |at| at.saturating_sub(1));
                let end = parts
                    .last()
                    .map_or(line.len(), |(_, last)| offset(last) + last.len());
                kept.extend([&line[..start], &line[end..]]);
                within = OfferPart::Nothing;
            }
        } else if bare.is_empty() {
            after_blank = true;
            kept.push(line);
            continue;
        } else {
            let goes_on = match within {
                OfferPart::Nothing => false,
                OfferPart::Item => is_listed || !after_blank,
                OfferPart::Section => !bare.starts_with('#') && !bare.ends_with(['?', '？']),
            };
            if !goes_on {
                within = OfferPart::Nothing;
                kept.push(line);
            }
        }
        after_blank = false;
    }
    Cow::Owned(kept.join("\n"))
}

/// Which part of an offer a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OfferPart {
    Nothing,
    /// An item of a list, which ends with its paragraph.
    Item,
    /// A heading, which ends with the next one or with the question.
    Section,
}

/// The options that a line offers: one at its beginning, or several in a paragraph
/// ("Option A: .. Option B: ..").
fn labelled_parts(line: &str) -> Vec<(String, &str)> {
    let mut starts: Vec<usize> = Vec::new();
    for (at, _) in line.match_indices("ption ") {
        let is_word = at > 0 && matches!(line.as_bytes()[at - 1], b'O' | b'o');
        let alone = at < 2 || !line.as_bytes()[at - 2].is_ascii_alphanumeric();
        if is_word && alone && parse_label(&line[at - 1..]).is_some() {
            starts.push(at - 1);
        }
    }
    if starts.len() < 2 {
        return parse_label(line).into_iter().collect();
    }
    let ends = starts[1..].iter().copied().chain([line.len()]);
    let parts = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &line[*start..end]);
    let labelled = parts.filter_map(parse_label).map(|(label, text)| {
        // The question after the last option is not part of it.
        let asks = sentence::split_sentences(text)
            .into_iter()
            .find(|said| said.ends_with(['?', '？']));
        let asks = asks.and_then(|asks| text.find(asks)).unwrap_or(text.len());
        (label, text[..asks].trim_end())
    });
    labelled.collect()
}

/// "- **Option B:** use a queue", "2) use a queue", "B. use a queue".
fn parse_label(line: &str) -> Option<(String, &str)> {
    let marks = |c: char| c.is_whitespace() || "-*•#(_".contains(c);
    let line = line.trim_start_matches(marks);
    let rest = ["Option ", "option ", "OPTION "]
        .iter()
        .find_map(|name| line.strip_prefix(name));
    let body = rest.unwrap_or(line);
    let length = match body.as_bytes() {
        [b'A'..=b'H' | b'1'..=b'9', ..] | [b'a'..=b'h', b')', ..] => 1,
        _ => return None,
    };
    let (label, rest) = body.split_at(length);
    let label = label.to_ascii_uppercase();
    let text = rest.trim_start_matches(|c: char| "*_)".contains(c) || c == '.' || c == ':');
    let marked = text.len() < rest.len();
    let dash = rest.trim_start().starts_with(['—', '–', '-']);
    let text = text
        .trim_start_matches(|c: char| c.is_whitespace() || "—–-:*_".contains(c))
        .trim();
    ((marked || dash) && !text.is_empty()).then_some((label, text))
}

/// The option that an answer chooses; `None` if it names several or says more.
pub(crate) fn find_selected_choice<'a>(
    answer: &str,
    offered: &'a [OfferedChoice],
) -> Option<&'a OfferedChoice> {
    let list = split_words(answer);
    if offered.is_empty()
        || list.is_empty()
        || list.len() > MAX_ANSWER_WORDS
        || answer.contains('?')
    {
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
        let nth = ORDINAL_WORDS
            .iter()
            .position(|ordinal| *ordinal == word.text);
        let final_one = (word.text == "last").then(|| offered.len() - 1);
        match label.filter(|_| !article).or(nth).or(final_one) {
            Some(_) if chosen.is_some() => return None,
            Some(nth) => chosen = Some(nth),
            None if is_in_list(&word.text, FILLER_WORDS) => {}
            None => return None,
        }
    }
    offered.get(chosen?)
}

#[cfg(test)]
mod tests {
    use super::{find_selected_choice, parse_offered_choices};

    const MESSAGE: &str = "There are two ways:\n\n- **Option A:** keep the queue in SQLite\n- **Option B:** move it to \
        Redis, with one more service to run\n\nWhich one do you prefer?";

    #[test]
    fn a_short_answer_names_what_was_offered() {
        let choices = parse_offered_choices(MESSAGE);
        let text = |answer: &str| {
            find_selected_choice(answer, &choices).map(|choice| choice.text.as_str())
        };
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
    fn what_is_offered_is_told_from_what_is_said() {
        let cases = [
            (MESSAGE, "There are two ways:\n\n\nWhich one do you prefer?"),
            (
                "Both work. Option A: keep SQLite because nothing runs. Option B: use Redis instead. Which one?",
                "Both work. \n Which one?",
            ),
            (
                "Two ways.\n\n### Option A: SQLite\n\nOne file.\n\n- Pros: no server\n\n### Option B: Redis\n\nFast.\n\n\
                 Which do you want?",
                "Two ways.\n\n\n\n\n\n\nWhich do you want?",
            ),
            (
                "Which do you want?\n1. a lock file\n   - no daemon\n2. an advisory lock\n\nI would take the first.",
                "Which do you want?\n\nI would take the first.",
            ),
            (
                "I fixed the lock. Should I push?",
                "I fixed the lock. Should I push?",
            ),
        ];
        for (message, rest) in cases {
            assert_eq!(super::without_offered(message), rest, "{message}");
        }
        let choices = parse_offered_choices("(a) a lock file\n(b) an advisory lock\nWhich?");
        assert_eq!(
            find_selected_choice("b", &choices).map(|choice| choice.text.as_str()),
            Some("an advisory lock")
        );
    }

    #[test]
    fn numbered_steps_that_were_done_are_no_offer() {
        assert_eq!(
            parse_offered_choices("Done:\n1. added the flag\n2. wrote the test\n\nAll green."),
            []
        );
        let choices =
            parse_offered_choices("Which do you want?\n1. a lock file\n2. an advisory lock");
        let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(labels, ["1", "2"]);
    }
}
