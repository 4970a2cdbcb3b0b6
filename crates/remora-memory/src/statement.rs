//! Finds statements of the user or the agent: decisions, preferences and
//! corrections, with their reasons. Word rules decide where one matches, a small
//! classifier elsewhere (see `model`, docs/design/0025); a question, a step to
//! take now or pasted output is no statement. When in doubt it finds nothing: a
//! wrong memory does more harm than none.

mod features;
#[cfg(any(test, feature = "testing"))]
pub mod fitting;
mod han;
mod judge;
mod model;
pub(crate) mod options;
mod purpose;
mod reason;
mod rules;
mod words;

use remora_core::text::truncate_bytes;

use crate::sentence::{self, BlockKind};
use model::StatementClass;
use words::Directive;

/// Whose words are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// The user.
    User,
    /// The agent.
    Assistant,
}

/// The kind of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatementKind {
    /// A choice that was made.
    Decision,
    /// How things should be done from now on.
    Preference,
    /// What was wrong, and what holds instead.
    Correction,
}

/// One statement that can be read without its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its kind.
    pub kind: StatementKind,
    /// The sentence itself, at most 300 characters.
    pub text: String,
    /// Why, in the speaker's words, at most 300 characters.
    pub reason: Option<String>,
    /// The sentence before, where this one says only "it".
    pub subject: Option<String>,
    /// Confidence, 0 to 100.
    pub confidence: u8,
    /// Whether the user asked for it to be remembered.
    pub on_purpose: bool,
}

impl Statement {
    /// The sentence with its subject.
    pub(crate) fn to_text(&self) -> String {
        match &self.subject {
            Some(subject) => {
                sentence::one_line(&format!("{} ({subject})", self.text), MAX_STATEMENT_CHARS)
            }
            None => self.text.clone(),
        }
    }
}

/// The most statements that one text yields.
pub const MAX_STATEMENTS_PER_TEXT: usize = 8;
/// The most characters of a statement and of its reason.
pub const MAX_STATEMENT_CHARS: usize = 300;

/// Characters of the sentence that is a statement's subject.
const MAX_SUBJECT_CHARS: usize = 120;
/// Sentences longer than this are data, lists or pasted prose.
const MAX_SENTENCE_CHARS: usize = 900;
/// Of longer texts only the two ends are read: users write before and after what
/// they paste, and what they paste is not their word.
const MAX_END_BYTES: usize = 8_000;
const MIN_CONFIDENCE_PERCENT: u8 = 50;
/// The model's confidence stays below that of a clear rule, which comes first.
const MAX_MODEL_CONFIDENCE_PERCENT: u8 = 90;
/// Words that a sentence must have for the model: the structure of a few words
/// ("Question number 12") says nothing about what they mean.
const MIN_MODEL_WORDS: usize = 4;

/// A rule that matched a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RuleMatch {
    kind: StatementKind,
    confidence: u8,
    /// Whether the sentence only announces what the next one says.
    announces: bool,
}

/// What is searched for in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatementScope {
    /// All statements.
    Everything,
    /// What the user asks to be remembered; needs neither model nor rules.
    OnPurpose,
}

/// Finds the statements of a text, the most certain first.
pub fn find_statements(text: &str, speaker: Speaker) -> Vec<Statement> {
    find_wanted(text, speaker, StatementScope::Everything)
}

/// Finds what the user asks to be remembered. Cheap enough for a hook: the model
/// is not read.
pub(crate) fn find_on_purpose(prompt: &str) -> Vec<Statement> {
    find_wanted(prompt, Speaker::User, StatementScope::OnPurpose)
}

fn find_wanted(text: &str, speaker: Speaker, wanted: StatementScope) -> Vec<Statement> {
    // What the client submits in the user's place is not the user's word.
    if sentence::is_not_spoken(text) {
        return Vec::new();
    }
    let blocks: Vec<(bool, String)> = select_ends(text)
        .into_iter()
        .flat_map(|part| sentence::parse_blocks(&sentence::without_tagged(part)))
        // Before splitting, which would separate an opening mark from its closing one.
        .map(|block| {
            let item = matches!(block.kind, BlockKind::Item { .. });
            (item, sentence::without_emphasis(&block.text))
        })
        .collect();
    let sentences = blocks
        .iter()
        .map(|(_, text)| sentence::split_sentences(text));
    let sentences: Vec<Vec<&str>> = sentences.collect();
    let count = sentences.iter().map(Vec::len).sum();
    let mut place = 0;
    let mut found: Vec<Statement> = Vec::new();
    // After "Remember:" each item of the list below is meant.
    let mut announced = false;
    for ((item, _), sentences) in blocks.iter().zip(&sentences) {
        let block = SentenceBlock::from_sentences(sentences, (place, count), speaker);
        announced = match (announced && *item, sentences.first()) {
            (true, Some(first)) => {
                add_statement(&mut found, kept_on_purpose(first, None));
                true
            }
            _ => block.find(wanted, &mut found),
        };
        place += sentences.len();
    }
    // What the user asked to be remembered comes before what only sounds like a rule.
    found.sort_by_key(|s| std::cmp::Reverse((s.on_purpose, s.confidence)));
    found.truncate(MAX_STATEMENTS_PER_TEXT);
    found
}

/// The sentences of one block, and their halves.
struct SentenceBlock<'a> {
    sentences: &'a [&'a str],
    /// Each with the index of its sentence.
    halves: Vec<(usize, SentenceUnit<'a>)>,
    /// The index of the first sentence in the text, and how many the text has.
    place: (usize, usize),
    speaker: Speaker,
}

impl<'a> SentenceBlock<'a> {
    fn from_sentences(sentences: &'a [&'a str], place: (usize, usize), speaker: Speaker) -> Self {
        let halves = sentences.iter().enumerate();
        let halves =
            halves.flat_map(|(at, text)| split_units(text).into_iter().map(move |unit| (at, unit)));
        Self {
            sentences,
            halves: halves.collect(),
            place,
            speaker,
        }
    }

    fn half_at(&self, at: usize) -> Option<&SentenceUnit<'a>> {
        self.halves.get(at).map(|(_, unit)| unit)
    }

    fn text_before(&self, half: usize) -> Option<&'a str> {
        let before = half.checked_sub(1)?;
        self.half_at(before).map(|unit| unit.text)
    }

    /// Adds the statements of this block and returns whether its last sentence only
    /// announces what is to be remembered.
    fn find(&self, wanted: StatementScope, found: &mut Vec<Statement>) -> bool {
        let mut announces = false;
        // The first half that is not part of an earlier statement.
        let mut free = 0;
        for (at, text) in self.sentences.iter().enumerate() {
            let own = self.halves.iter().enumerate();
            let own = own.filter(|(half, (of, _))| *of == at && *half >= free);
            let own: Vec<usize> = own.map(|(half, _)| half).collect();
            let Some(last) = own.last() else { continue };
            let next = self.half_at(last + 1);
            if self.speaker == Speaker::User
                && let Some(kept) = purpose::find_kept_text(text)
            {
                let next_said = next.map(|unit| unit.text);
                if let Some(said) = Some(kept).filter(|kept| !kept.is_empty()).or(next_said) {
                    add_statement(found, kept_on_purpose(said, next_said));
                    free = last + if kept.is_empty() { 2 } else { 1 };
                } else {
                    announces = true;
                }
                continue;
            }
            if wanted == StatementScope::Everything {
                self.find_in_sentence(at, &own, &mut free, found);
            }
        }
        announces
    }

    /// By the word rules where one matches, otherwise by the model. Rules come first
    /// because the model, fitted to few short sentences, misjudges orders such as
    /// "Always run the tests."
    fn find_in_sentence(
        &self,
        at: usize,
        own: &[usize],
        free: &mut usize,
        found: &mut Vec<Statement>,
    ) {
        let text = self.sentences[at];
        let next_of = |half: usize| self.half_at(half + 1);
        let hits: Vec<(usize, RuleMatch)> = own
            .iter()
            .filter_map(|half| {
                let next = next_of(*half).map(|unit| unit.text);
                Some((
                    *half,
                    match_rules(self.half_at(*half)?.text, next, self.speaker)?,
                ))
            })
            .collect();
        let mut any = false;
        for (half, hit) in hits {
            let Some(unit) = self.half_at(half).filter(|_| half >= *free) else {
                continue;
            };
            if let Some((mut statement, along)) =
                read_statement(unit, next_of(half), hit, self.speaker)
            {
                statement.subject = find_subject(&statement.text, self.text_before(half));
                add_statement(found, statement);
                *free = half + if along { 2 } else { 1 };
                any = true;
            }
        }
        // A sentence with a question mark needs a rule to count.
        let asks = text.trim_end().ends_with(['?', '？']);
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            return;
        };
        let says_enough = text.split_whitespace().nth(MIN_MODEL_WORDS - 1).is_some()
            || text.chars().any(sentence::is_wide);
        if any || asks || !says_enough || !is_bounded(text) {
            return;
        }
        let reading = self.read_model(text, at);
        if reading.probability < model::threshold_for(self.speaker) {
            return;
        }
        let whole = SentenceUnit {
            text,
            joined: false,
        };
        if let Some(mut statement) = read_by_model(&whole, next_of(*last), reading, self.speaker) {
            statement.subject = find_subject(&statement.text, self.text_before(*first));
            add_statement(found, statement);
        }
    }

    fn read_model(&self, text: &str, at: usize) -> model::SentencePrediction {
        let sentence = features::SentenceContext {
            text,
            speaker: self.speaker,
            place: (self.place.0 + at, self.place.1),
            hit: None,
        };
        model::predict_sentence(&sentence)
    }
}

/// The statement of a sentence that no word rule matches.
fn read_by_model(
    unit: &SentenceUnit<'_>,
    next: Option<&SentenceUnit<'_>>,
    reading: model::SentencePrediction,
    speaker: Speaker,
) -> Option<Statement> {
    let kind = match reading.sort {
        StatementClass::Kind(kind) => kind,
        // No kind of its own: readers disagree where a fact ends and a rule begins, and
        // recall would treat both alike.
        StatementClass::Fact => StatementKind::Decision,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a probability: 0 to 100"
    )]
    let confidence = ((reading.probability * 100.0) as u8)
        .clamp(MIN_CONFIDENCE_PERCENT, MAX_MODEL_CONFIDENCE_PERCENT);
    let hit = RuleMatch {
        kind,
        confidence,
        announces: false,
    };
    let (statement, _) = read_statement(unit, next, hit, speaker)?;
    // A fact without a reason stays in the text of its turn, where search finds it;
    // what an agent found out is in the summary.
    let is_cause = reason::is_cause(unit.text);
    let counts = match speaker {
        Speaker::User => {
            reading.sort != StatementClass::Fact || statement.reason.is_some() || is_cause
        }
        // What went wrong, and why, is no choice, whatever the model says.
        Speaker::Assistant => {
            reading.sort != StatementClass::Fact && !is_cause && !reason::is_failure(unit.text)
        }
    };
    counts.then_some(statement)
}

/// The statement of what the user asked to be remembered.
fn kept_on_purpose(said: &str, next: Option<&str>) -> Statement {
    let (body, why) = reason::split_reason(said);
    let why = why.or_else(|| next.and_then(reason::find_following_reason));
    let why = why.map(|why| {
        sentence::one_line(
            trim_punctuation(&sentence::strip_markup(why)),
            MAX_STATEMENT_CHARS,
        )
    });
    // Kept in any case: the rules only choose the kind.
    let kind =
        match_rules(said, None, Speaker::User).map_or(StatementKind::Preference, |hit| hit.kind);
    Statement {
        kind,
        text: sentence::one_line(
            &format_statement(&sentence::strip_markup(body)),
            MAX_STATEMENT_CHARS,
        ),
        reason: why.filter(|why| !why.is_empty()),
        subject: None,
        confidence: 99,
        on_purpose: true,
    }
}

/// The text, or of a long one both ends, cut at line breaks.
fn select_ends(text: &str) -> Vec<&str> {
    if text.len() <= 2 * MAX_END_BYTES {
        return vec![text];
    }
    let head = truncate_bytes(text, MAX_END_BYTES);
    let tail = &text[truncate_bytes(text, text.len() - MAX_END_BYTES).len()..];
    vec![
        head.rfind('\n').map_or(head, |at| &head[..at]),
        tail.find('\n').map_or(tail, |at| &tail[at..]),
    ]
}

/// A sentence, or one of the halves that a semicolon joins.
struct SentenceUnit<'a> {
    text: &'a str,
    /// Whether a semicolon joins it to the half before.
    joined: bool,
}

fn split_units(block: &str) -> Vec<SentenceUnit<'_>> {
    let halves = |sentence| {
        let halves = str::split(sentence, "; ").flat_map(|s| s.split('；'));
        let halves = halves.map(str::trim).filter(|s| !s.is_empty());
        halves.enumerate().map(|(at, text)| SentenceUnit {
            text,
            joined: at > 0,
        })
    };
    let sentences = sentence::split_sentences(block).into_iter();
    sentences.flat_map(halves).collect()
}

/// Whether it is short enough to be a sentence and not data. Bytes are compared
/// first, because counting characters of pasted data takes time.
fn is_bounded(unit: &str) -> bool {
    unit.len() <= 4 * MAX_SENTENCE_CHARS && unit.chars().count() <= MAX_SENTENCE_CHARS
}

/// The best rule for a sentence; none for data.
fn match_rules(unit: &str, next: Option<&str>, speaker: Speaker) -> Option<RuleMatch> {
    if !is_bounded(unit) {
        return None;
    }
    let wide = unit.chars().filter(|c| sentence::is_wide(*c)).count();
    if wide >= 2 {
        han::find_best_hit(unit, next, speaker)
    } else {
        words::find_best_hit(unit, next, speaker)
    }
}

/// The statement of a sentence, and whether the next one is part of it.
fn read_statement(
    unit: &SentenceUnit<'_>,
    next: Option<&SentenceUnit<'_>>,
    hit: RuleMatch,
    speaker: Speaker,
) -> Option<(Statement, bool)> {
    let follows = next.map(|unit| unit.text);
    let (body, why) = reason::split_reason(unit.text);
    let mut text = sentence::strip_markup(body);
    let mut why = why.map(sentence::strip_markup);
    let mut along = hit.announces;
    if hit.announces
        && let Some(next) = follows
    {
        let (body, reason) = reason::split_reason(next);
        text = format!(
            "{}: {}",
            trim_punctuation(&text),
            sentence::strip_markup(body)
        );
        why = why.or(reason.map(sentence::strip_markup));
    } else if let Some(next) = next.filter(|next| says_instead(unit, next, speaker)) {
        let (body, reason) = reason::split_reason(next.text);
        let body = sentence::strip_markup(words::without_lead(body));
        text = format!(
            "{}; {}",
            trim_punctuation(&text),
            lowercase_first(trim_punctuation(&body))
        );
        why = why.or(reason.map(sentence::strip_markup));
        along = true;
    } else if why.is_none() {
        why = follows
            .and_then(reason::find_following_reason)
            .map(sentence::strip_markup);
    }
    let text = sentence::one_line(&format_statement(&text), MAX_STATEMENT_CHARS);
    let reason = why
        .map(|w| sentence::one_line(trim_punctuation(&w), MAX_STATEMENT_CHARS))
        .filter(|w| !w.is_empty());
    let sure = hit.confidence + if reason.is_some() { 8 } else { 0 };
    (sure >= MIN_CONFIDENCE_PERCENT && text.chars().count() >= 4).then(|| {
        (
            Statement {
                kind: hit.kind,
                text,
                reason,
                subject: None,
                confidence: sure.min(99),
                on_purpose: false,
            },
            along,
        )
    })
}

/// Whether the next sentence says what to do where this one says what not to:
/// "don't use print; use the logger".
fn says_instead(unit: &SentenceUnit<'_>, next: &SentenceUnit<'_>, speaker: Speaker) -> bool {
    let (body, _) = reason::split_reason(next.text);
    let own = || match_rules(next.text, None, speaker).is_some();
    words::is_prohibition(unit.text)
        && match words::find_directive(body) {
            Directive::Instead => true,
            Directive::Plainly => next.joined && !own(),
            Directive::Nothing => false,
        }
}

/// The subject of a statement that only says "it": the sentence before.
fn find_subject(text: &str, before: Option<&str>) -> Option<String> {
    let before = before.filter(|_| words::ends_in_pronoun(text))?;
    let subject = sentence::one_line(
        trim_punctuation(&sentence::strip_markup(before)),
        MAX_SUBJECT_CHARS,
    );
    (!subject.is_empty()).then_some(subject)
}

/// The text without punctuation at its ends.
fn trim_punctuation(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ".,;:!。，；：！—–-".contains(c))
}

/// The text with a lower-case first letter, to continue a sentence.
fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    first.chain(chars).collect()
}

/// The text without its number in a list.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    let rest = rest
        .strip_prefix(['.', ')'])
        .filter(|_| (1..=2).contains(&digits));
    rest.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(text)
}

/// The text without introductory words, with a capital letter unless it begins with
/// a name such as `fooBar`.
fn format_statement(text: &str) -> String {
    let text = trim_punctuation(words::without_lead(han::without_lead(trim_punctuation(
        without_number(text),
    ))));
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first)
            if first_word
                .chars()
                .all(|c| c.is_alphabetic() || "'’,".contains(c)) =>
        {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Adds a statement unless the text has the same one already; the more certain one
/// stays.
fn add_statement(found: &mut Vec<Statement>, new: Statement) {
    let key = |s: &Statement| -> String {
        s.text
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let same = key(&new);
    match found
        .iter_mut()
        .find(|s| s.kind == new.kind && key(s) == same)
    {
        Some(old) if old.confidence < new.confidence => *old = new,
        Some(_) => {}
        None => found.push(new),
    }
}

#[cfg(test)]
mod tests;
