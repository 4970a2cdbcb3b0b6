//! Sentences of languages written with spaces: splits them into words, finds where
//! clauses begin and matches the rule tables there.

use super::rules::{RulePosition, starting_with};
use super::{RuleMatch, Speaker, StatementKind, judge};

/// A word in lower case with its position in the sentence.
#[derive(Debug, Clone)]
pub(super) struct StatementWord {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
    /// In a code span or in quotation marks: not the speaker's own word, so no rule
    /// may match it.
    pub(super) quoted: bool,
    /// Written like a product's name, not like a word or a type of a program.
    pub(super) name: bool,
    /// The punctuation that follows, if it separates clauses.
    pub(super) after: Option<char>,
}

/// Whether a list separated by spaces contains a word.
pub(super) fn is_in_list(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|w| w == word)
}

/// The best rule that matches the sentence.
pub(super) fn find_best_hit(
    sentence: &str,
    next: Option<&str>,
    speaker: Speaker,
) -> Option<RuleMatch> {
    let list = split_words(sentence);
    let verdict = list.len() == 1 && is_in_list(&list[0].text, "wrong incorrect false");
    if (list.len() < 2 && !verdict) || judge::is_question(&list, sentence) {
        return None;
    }
    if speaker == Speaker::User && (names_choice(&list) || names_mistake(&list)) {
        return Some(RuleMatch {
            kind: StatementKind::Decision,
            confidence: 72,
            announces: false,
        });
    }
    let mut best: Option<RuleMatch> = None;
    let mut try_at = |start: usize, place: RulePosition| {
        for rule in starting_with(&list[start].text) {
            let here = match rule.at {
                RulePosition::Sentence => place == RulePosition::Sentence,
                RulePosition::Clause => place != RulePosition::Anywhere,
                RulePosition::Anywhere => true,
            };
            if !here || list[start].quoted || rule.speaker.is_some_and(|s| s != speaker) {
                continue;
            }
            let hit = match_pattern(rule.words, &list[start..])
                .and_then(|used| judge::check_rule(rule, &list, start, start + used, next));
            if let Some(hit) = hit
                && best.is_none_or(|b| b.confidence < hit.confidence)
            {
                best = Some(hit);
            }
        }
    };
    // After introductory words ("ok, so please ..") the next word still counts as the
    // beginning of the sentence or clause.
    let mut place = Some(RulePosition::Sentence);
    for at in 0..list.len() {
        if at > 0 && begins_clause(&list, at) {
            place = place
                .filter(|p| *p == RulePosition::Sentence)
                .or(Some(RulePosition::Clause));
        }
        try_at(at, place.unwrap_or(RulePosition::Anywhere));
        if !is_lead(&list[at]) {
            place = None;
        }
    }
    best
}

/// "Tabs it is."
fn names_choice(list: &[StatementWord]) -> bool {
    let [first @ .., it, is] = list else {
        return false;
    };
    let led = first.iter().filter(|w| !is_lead(w));
    let short = (1..=4).contains(&led.clone().count());
    let plain = led.clone().all(|w| {
        !is_in_list(
            &w.text,
            "what how where who that this which not as if because i know see the",
        )
    });
    it.text == "it" && is.text == "is" && short && plain
}

/// "JWT was a mistake."
fn names_mistake(list: &[StatementWord]) -> bool {
    let [first @ .., was, a, mistake] = list else {
        return false;
    };
    let short = (1..=2).contains(&first.len());
    let named = first.iter().all(|w| w.name && !w.quoted)
        && !first
            .iter()
            .any(|w| is_in_list(&w.text, "that this it which what my your his the"));
    let said = [was, a, mistake].map(|w| w.text.as_str());
    short && named && said == ["was", "a", "mistake"]
}

/// How many words the pattern matches at the front of the list. In a pattern `a|b`
/// is either word, `?a` an optional one, `_` any word and `~` up to four words.
fn match_pattern(pattern: &str, list: &[StatementWord]) -> Option<usize> {
    let (element, rest) = match pattern.split_once(' ') {
        Some((element, rest)) => (element, Some(rest)),
        None => (pattern, None),
    };
    let then = |used: usize| match rest {
        Some(rest) => match_pattern(rest, list.get(used..)?).map(|n| n + used),
        None => Some(used),
    };
    if element == "~" {
        return (0..=4.min(list.len())).find_map(then);
    }
    let (optional, names) = match element.strip_prefix('?') {
        Some(names) => (true, names),
        None => (false, element),
    };
    let here = list
        .first()
        .is_some_and(|w| names == "_" || (!w.quoted && names.split('|').any(|n| n == w.text)));
    if here && let Some(used) = then(1) {
        return Some(used);
    }
    if optional { then(0) } else { None }
}

/// The words of a sentence.
pub(super) fn split_words(sentence: &str) -> Vec<StatementWord> {
    let mut list: Vec<StatementWord> = Vec::new();
    let mut quote: Option<char> = None;
    let mut start: Option<usize> = None;
    let part =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '@' | '#' | '$' | '%' | '&' | '+');
    let mut chars = sentence.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, n)| *n);
        let inner = matches!(c, '\'' | '’' | '.' | '-' | ':' | ',') && start.is_some() && part(next)
            // A comma or a colon without a space stays within numbers and paths.
            && (!matches!(c, ',') || next.is_ascii_digit() && before.is_ascii_digit());
        let leads = matches!(c, '.' | '-') && start.is_none() && part(next) && before == ' ';
        if part(c)
            || inner
            || leads
            || (c == '-' && before == '-')
            || (c == '-' && next == '-' && before == ' ')
        {
            start.get_or_insert(at);
        } else {
            if let Some(from) = start.take() {
                list.push(build_word(sentence, from, at, quote.is_some()));
            }
            match (quote, c) {
                (Some(end), c) if c == end => quote = None,
                (None, '`' | '"' | '“' | '«' | '「') => {
                    let end = match c {
                        '“' => '”',
                        '«' => '»',
                        '「' => '」',
                        c => c,
                    };
                    // A quotation mark that is never closed opens nothing.
                    quote = sentence[at + c.len_utf8()..].contains(end).then_some(end);
                }
                // Inside a word it is an apostrophe.
                (None, '\'') if before == ' ' => {
                    quote = sentence[at + 1..].contains('\'').then_some('\'');
                }
                _ => {}
            }
            if quote.is_none()
                && matches!(c, ',' | ';' | ':' | '—' | '–' | '(' | '!' | '.' | '?')
                && let Some(last) = list.last_mut()
            {
                last.after.get_or_insert(c);
            }
            if quote.is_none()
                && c == '-'
                && next == ' '
                && let Some(last) = list.last_mut()
            {
                last.after.get_or_insert('—');
            }
        }
        before = c;
    }
    if let Some(from) = start {
        list.push(build_word(sentence, from, sentence.len(), quote.is_some()));
    }
    list
}

fn build_word(sentence: &str, start: usize, end: usize, quoted: bool) -> StatementWord {
    StatementWord {
        text: sentence[start..end].to_lowercase().replace('’', "'"),
        start,
        end,
        quoted,
        name: is_name(&sentence[start..end]),
        after: None,
    }
}

/// "JWT", "Celery" and "GraphQL", but not `UserService`.
fn is_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let hump = |part: &[u8]| {
        part[0].is_ascii_lowercase() && part[1].is_ascii_uppercase() && part[2].is_ascii_lowercase()
    };
    word.contains(char::is_uppercase) && !bytes.windows(3).any(hump)
}

/// Whether a clause begins at a word that is not the first.
fn begins_clause(list: &[StatementWord], at: usize) -> bool {
    let before = &list[at - 1];
    before.after.is_some()
        || (!before.quoted && is_in_list(&before.text, "and but so y pero et mais und aber"))
}

const LEAD_WORDS: &str = "ok okay yes yeah yep yup well so and but then also please pls hmm alright right great good cool \
    sure thanks hey hi fine btw fyi just now actually remember note important reminder rule finally oh ah anyway again \
    understood noted perfect nice therefore instead additionally ultimately eventually bitte gut por favor vale bueno \
    d'accord bon alors s'il te vous plaît ja sí oui kindly basically agreed team guys everyone";

fn is_lead(word: &StatementWord) -> bool {
    !word.quoted && is_in_list(&word.text, LEAD_WORDS)
}

/// Whether the sentence says what not to do.
pub(super) fn is_prohibition(sentence: &str) -> bool {
    split_words(sentence)
        .iter()
        .any(|w| !w.quoted && is_in_list(&w.text, "don't dont not never no stop quit avoid isn't"))
}

/// What kind of order a sentence is.
pub(super) enum Directive {
    /// An order to do this in place of what was said before.
    Instead,
    Plainly,
    Nothing,
}

pub(super) fn find_directive(sentence: &str) -> Directive {
    const DIRECTIVE_VERBS: &str =
        "use prefer write call put keep run take pick choose return reject raise";
    let list = split_words(sentence);
    let first = list.iter().find(|w| !is_lead(w));
    if !first.is_some_and(|w| is_in_list(&w.text, DIRECTIVE_VERBS)) {
        return Directive::Nothing;
    }
    if list.last().is_some_and(|w| w.text == "instead") {
        Directive::Instead
    } else {
        Directive::Plainly
    }
}

/// Whether the last word refers to something named before.
pub(super) fn ends_in_pronoun(sentence: &str) -> bool {
    let list = split_words(sentence);
    list.last()
        .is_some_and(|w| !w.quoted && is_in_list(&w.text, "it that this them these those"))
}

/// The sentence without introductory words.
pub(super) fn without_lead(text: &str) -> &str {
    const DROPPED_LEADS: &str = "ok okay yes yeah yep yup well so and but also hmm alright great cool sure thanks hey hi btw \
        fyi oh ah anyway no nope nah perfect nice right understood noted agreed please gut vale bueno bon alors ja nein \
        oui non sí then";
    /// How users say that they have said it before.
    const REMINDER_PHRASES: &str = "i told you|i already told you|i told you before|i said|i already said|as i said|like i said";
    /// These are introductory even without a comma.
    const FREE_LEADS: &str = "ok okay so and but please also btw yes well then";
    let list = split_words(text);
    let mut lead = list
        .iter()
        .enumerate()
        .take_while(|(at, w)| {
            let free = w.after.is_some() || is_in_list(&w.text, FREE_LEADS);
            let goes_on = list.get(at + 1).is_some_and(|n| n.text != "that");
            !w.quoted && free && is_in_list(&w.text, DROPPED_LEADS) && goes_on
        })
        .count();
    // "I told you:" is no part of the statement.
    let said = list[lead..].iter().position(|w| w.after.is_some());
    if let Some(at) = said.map(|at| lead + at)
        && matches!(list[at].after, Some(':' | ','))
        && at + 1 < list.len()
        && REMINDER_PHRASES.split('|').any(|phrase| {
            list[lead..=at]
                .iter()
                .map(|w| w.text.as_str())
                .eq(phrase.split(' '))
        })
    {
        lead = at + 1;
    }
    list.get(lead).filter(|_| lead > 0).map_or(text, |w| {
        // Opening marks before the first word belong to it.
        let from = text[..w.start].trim_end_matches(['`', '"', '“', '(']).len();
        &text[from..]
    })
}
