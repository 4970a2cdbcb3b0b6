//! The statements of a review: of every layer and every memory, read once,
//! and found again by the words they share.

use std::ops::Range;

use crate::file::Kind;

use super::Material;
use crate::statement::{Statement, statements};
use crate::wording::{Index, Relation, Wording};

pub(super) use super::super::advice::days_of;

/// Statements that are compared at most; a project has hundreds.
const MOST: usize = 20_000;

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A layer, by its place in the material.
    Layer(usize),
    /// A memory, by its place in the material.
    Memory(usize),
}

#[derive(Debug)]
pub(super) struct Fact {
    pub(super) source: Source,
    pub(super) statement: Statement,
    wording: Wording,
}

impl Fact {
    fn relation(&self, other: &Self) -> Relation {
        match self.wording.relation(&other.wording) {
            // Each may be right where it holds.
            Relation::Conflict(_) if !self.statement.meets(&other.statement) => Relation::Apart,
            relation => relation,
        }
    }
}

#[derive(Debug)]
pub(super) struct Facts {
    pub(super) all: Vec<Fact>,
    index: Index,
    of_memories: Vec<Range<usize>>,
    relations: Vec<Vec<(usize, Relation)>>,
}

impl Facts {
    pub(super) fn read(material: &Material<'_>) -> Self {
        let mut facts = Self {
            all: Vec::new(),
            index: Index::default(),
            of_memories: Vec::new(),
            relations: Vec::new(),
        };
        for (at, layer) in material.layers.iter().enumerate() {
            // An index repeats what the memories say.
            if !matches!(layer.kind, Kind::AutoMem | Kind::TeamMem) {
                facts.add(Source::Layer(at), layer.text);
            }
        }
        for (at, saved) in material.saved.iter().enumerate() {
            let start = facts.all.len();
            facts.add(Source::Memory(at), &saved.memory.body);
            facts.of_memories.push(start..facts.all.len());
        }
        facts.relations = (0..facts.all.len()).map(|at| facts.relate(at)).collect();
        facts
    }

    fn add(&mut self, source: Source, text: &str) {
        for statement in statements(text) {
            let wording = Wording::read(&statement.text);
            if self.all.len() >= MOST || is_reason(&statement.text) || !wording.is_telling() {
                continue;
            }
            self.index.add(self.all.len(), &wording);
            self.all.push(Fact {
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

    /// What stands in some relation to a statement: other places, in order.
    pub(super) fn related(&self, at: usize) -> &[(usize, Relation)] {
        self.relations.get(at).map_or(&[], Vec::as_slice)
    }

    fn relate(&self, at: usize) -> Vec<(usize, Relation)> {
        let fact = &self.all[at];
        let others = self.index.near(&fact.wording).into_iter();
        others
            .filter(|other| *other != at && self.all[*other].source != fact.source)
            .map(|other| (other, fact.relation(&self.all[other])))
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
const ENDS: &[&str] = &[
    "until", "till", "through", "expires", "ends", "expiring", "ending",
];

/// The day on which a text says that it ends, if that day is past.
pub(super) fn ended(body: &str, now: &str) -> Option<String> {
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
        let ends = before.iter().any(|word| ENDS.contains(&word.as_str()));
        ends.then(|| (day, word.clone()))
    });
    // As long as one of several ends lies ahead, it holds.
    let first = days.next()?;
    let last = days.fold(
        first,
        |last, next| if next.0 > last.0 { next } else { last },
    );
    (last.0 < today).then_some(last.1)
}
