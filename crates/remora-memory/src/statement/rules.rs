//! The table of word rules, parsed once from `rules.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Speaker, StatementKind};

/// What a rule requires besides its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleNeed {
    /// Nothing more: the words are enough.
    Whole,
    /// Something must follow.
    More,
    /// A reason, or something that was not chosen.
    Why,
    /// Something lasting: no word about now, and more than "that" follows.
    Lasting,
    /// A verb that is more than a look around or one step.
    Weight,
    /// A statement of what is, either here or in the next sentence.
    Fact,
    /// A contrast with what was not meant.
    Contrast,
    /// A colon after the words, and something after that.
    Label,
    /// A mark that the habit is general.
    Habit,
    /// Something that is given up for good, not what a program drops.
    Gone,
    /// The name of a tool or a way of working, not a part of the code.
    Thing,
}

/// Where a rule may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RulePosition {
    Sentence,
    Clause,
    Anywhere,
}

/// A pattern of words that make a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatementRule {
    pub(super) kind: StatementKind,
    pub(super) speaker: Option<Speaker>,
    pub(super) confidence: u8,
    pub(super) at: RulePosition,
    pub(super) need: RuleNeed,
    pub(super) words: &'static str,
}

const RULE_TABLE: &str = include_str!("rules.txt");

static RULES_BY_FIRST_WORD: LazyLock<HashMap<&'static str, Vec<StatementRule>>> =
    LazyLock::new(|| {
        let mut index: HashMap<&'static str, Vec<StatementRule>> = HashMap::new();
        for line in RULE_TABLE.lines() {
            let first = parse_rule(line)
                .map_or("", |rule| rule.words.split(' ').next().unwrap_or_default());
            for word in first.split('|') {
                if let Some(rule) = parse_rule(line) {
                    index.entry(word).or_default().push(rule);
                }
            }
        }
        index
    });

/// The rules that begin with a word. Indexed by it, because every word of every
/// sentence is looked up.
pub(super) fn starting_with(word: &str) -> &'static [StatementRule] {
    RULES_BY_FIRST_WORD.get(word).map_or(&[], Vec::as_slice)
}

/// Parses one line of the table; `None` for comments and for anything else.
fn parse_rule(line: &'static str) -> Option<StatementRule> {
    let mut rest = line;
    let mut cell = || {
        let (cell, tail) = rest.trim_start().split_once(' ')?;
        rest = tail;
        Some(cell)
    };
    let kind = match cell()? {
        "decision" => StatementKind::Decision,
        "preference" => StatementKind::Preference,
        "correction" => StatementKind::Correction,
        _ => return None,
    };
    let speaker = match cell()? {
        "any" => None,
        "user" => Some(Speaker::User),
        "assistant" => Some(Speaker::Assistant),
        _ => return None,
    };
    let confidence = cell()?.parse().ok()?;
    let at = match cell()? {
        "sentence" => RulePosition::Sentence,
        "clause" => RulePosition::Clause,
        "anywhere" => RulePosition::Anywhere,
        _ => return None,
    };
    let need = match cell()? {
        "whole" => RuleNeed::Whole,
        "more" => RuleNeed::More,
        "why" => RuleNeed::Why,
        "lasting" => RuleNeed::Lasting,
        "weight" => RuleNeed::Weight,
        "fact" => RuleNeed::Fact,
        "contrast" => RuleNeed::Contrast,
        "label" => RuleNeed::Label,
        "habit" => RuleNeed::Habit,
        "gone" => RuleNeed::Gone,
        "thing" => RuleNeed::Thing,
        _ => return None,
    };
    let words = rest.trim();
    (!words.is_empty()).then_some(StatementRule {
        kind,
        speaker,
        confidence,
        at,
        need,
        words,
    })
}

#[cfg(test)]
mod tests {
    use super::{RULE_TABLE, parse_rule};

    #[test]
    fn every_line_of_the_table_is_a_rule() {
        let broken: Vec<&str> = RULE_TABLE
            .lines()
            .filter(|l| !l.starts_with('#') && !l.is_empty())
            .filter(|l| {
                parse_rule(l).is_none_or(|rule| {
                    let mut elements = rule.words.split(' ');
                    // Rules are looked up by their first word.
                    let first = elements.next().unwrap_or_default();
                    first.contains(['?', '_', '~'])
                        || elements.any(|e| {
                            e.is_empty() || e.get(1..).is_some_and(|rest| rest.contains('?'))
                        })
                })
            })
            .collect();
        assert_eq!(broken, Vec::<&str>::new());
    }
}
