//! The statements of a review: of every layer and every memory, read once,
//! and found again by the words they share.

use std::ops::Range;

use remora_instructions::InstructionKind;
use remora_instructions::frontmatter::split_frontmatter;

use super::ReviewInput;
use remora_wording::{
    ComparableStatement, InstructionStatement, Relation, StatementIndex, parse_statements,
};

pub(super) use super::super::advice::days_of;

/// Statements that are compared at most; a project has hundreds.
const MAX_COMPARED_STATEMENTS: usize = 20_000;

/// Where a statement comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementSource {
    /// A layer, by its place in the material.
    Layer(usize),
    /// A memory, by its place in the material.
    Memory(usize),
}

#[derive(Debug)]
pub(super) struct ReviewStatement {
    pub(super) source: StatementSource,
    pub(super) statement: InstructionStatement,
    wording: ComparableStatement,
}

impl ReviewStatement {
    fn compare_with(&self, other: &Self) -> Relation {
        match self.wording.compare_with(&other.wording) {
            // Each may be right in its own area.
            Relation::Conflict(_) if !self.statement.has_same_subject(&other.statement) => {
                Relation::Apart
            }
            relation => relation,
        }
    }
}

#[derive(Debug)]
pub(super) struct ReviewStatements {
    pub(super) all: Vec<ReviewStatement>,
    index: StatementIndex,
    of_memories: Vec<Range<usize>>,
    relations: Vec<Vec<(usize, Relation)>>,
}

impl ReviewStatements {
    pub(super) fn from_input(material: &ReviewInput<'_>) -> Self {
        let mut facts = Self {
            all: Vec::new(),
            index: StatementIndex::default(),
            of_memories: Vec::new(),
            relations: Vec::new(),
        };
        for (at, layer) in material.layers.iter().enumerate() {
            // An index repeats what the memories say.
            if !matches!(
                layer.kind,
                InstructionKind::AutoMem | InstructionKind::TeamMem
            ) {
                facts.add_statements(StatementSource::Layer(at), layer.text);
            }
        }
        for (at, saved) in material.saved.iter().enumerate() {
            let start = facts.all.len();
            facts.add_statements(StatementSource::Memory(at), &saved.memory.body);
            facts.of_memories.push(start..facts.all.len());
        }
        facts.relations = (0..facts.all.len())
            .map(|at| facts.find_related(at))
            .collect();
        facts
    }

    fn add_statements(&mut self, source: StatementSource, text: &str) {
        for statement in parse_statements(text, split_frontmatter(text).1) {
            let wording = ComparableStatement::from_text(&statement.text);
            // Reasons repeat between memories without making them duplicates.
            if self.all.len() >= MAX_COMPARED_STATEMENTS
                || is_reason(&statement.text)
                || !wording.is_comparable()
            {
                continue;
            }
            self.index.add_statement(self.all.len(), &wording);
            self.all.push(ReviewStatement {
                source,
                statement,
                wording,
            });
        }
    }

    /// The statements of one memory, by their places.
    pub(super) fn of_memory(&self, memory: usize) -> Range<usize> {
        self.of_memories.get(memory).cloned().unwrap_or_default()
    }

    /// The statements related to one, by index, in order.
    pub(super) fn list_related(&self, at: usize) -> &[(usize, Relation)] {
        self.relations.get(at).map_or(&[], Vec::as_slice)
    }

    fn find_related(&self, at: usize) -> Vec<(usize, Relation)> {
        let fact = &self.all[at];
        let others = self.index.find_candidates(&fact.wording).into_iter();
        others
            .filter(|other| *other != at && self.all[*other].source != fact.source)
            .map(|other| (other, fact.compare_with(&self.all[other])))
            .filter(|(_, relation)| *relation != Relation::Apart)
            .collect()
    }
}

/// Why something is so, or how to go about it: not a fact of its own.
fn is_reason(text: &str) -> bool {
    let plain = text.trim_start_matches(['*', '_']).to_lowercase();
    ["why:", "why*", "how to apply", "reason:", "because "]
        .iter()
        .any(|start| plain.starts_with(start))
}

/// Words before a date that end something.
const END_WORDS: &[&str] = &[
    "until", "till", "through", "expires", "ends", "expiring", "ending",
];

/// The day on which a text says that it ends, if that day is past.
pub(super) fn find_past_end_date(body: &str, now: &str) -> Option<String> {
    let today = days_of(now)?;
    let words: Vec<String> = body
        .split_whitespace()
        .map(|word| {
            word.trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase()
        })
        .collect();
    let mut days = words.iter().enumerate().filter_map(|(at, word)| {
        let day = days_of(word).filter(|_| word.len() == 10)?;
        let before = &words[at.saturating_sub(3)..at];
        let ends = before.iter().any(|word| END_WORDS.contains(&word.as_str()));
        ends.then(|| (day, word.clone()))
    });
    // With several end dates, the memory holds until the last one.
    let first = days.next()?;
    let last = days.fold(
        first,
        |last, next| if next.0 > last.0 { next } else { last },
    );
    (last.0 < today).then_some(last.1)
}
