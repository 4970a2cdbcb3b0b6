//! What a hit must not hold. Stricter than searching: leaving out
//! `parseRequest` keeps rows that only speak of parsing some request.

use std::collections::HashSet;

use super::super::holds_phrase;
use super::super::split::{Piece, Role, Splitter, composed, dense, pieces};
use super::super::stop::is_stop;
use super::{Group, MAX_PHRASE, Query, plain};

/// What came of a text that is to be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unwanted {
    /// Rows that hold this.
    Group(Group),
    /// A word that nearly every row holds: leaving it out would leave nothing.
    Stop,
    /// No word at all.
    Nothing,
}

impl Unwanted {
    /// A word as one term; anything else as a phrase.
    pub(crate) fn read(text: &str) -> Self {
        let text = composed(text);
        let mut splitter = Splitter::new();
        let mut found = Vec::new();
        pieces(&text, |piece| found.push(piece));
        let mut parts = Vec::new();
        let mut whole = None;
        for piece in &found {
            let take = &mut |term: &str, role| match role {
                Role::Part if parts.len() < MAX_PHRASE => parts.push(term.to_owned()),
                Role::Whole => whole = Some(term.to_owned()),
                Role::Part | Role::Piece => {}
            };
            match piece {
                Piece::Segment(segment) => splitter.segment(segment, take),
                Piece::Dense(run) => dense(run, take),
            }
        }
        match (parts.len(), found.as_slice()) {
            (0, _) | (_, []) => Self::Nothing,
            (1, [Piece::Segment(segment)]) if is_stop(&plain(segment)) => Self::Stop,
            (1, [piece]) => Self::Group(Group {
                open: matches!(piece, Piece::Dense(run) if run.chars().count() == 1),
                ways: vec![parts],
                phrase: false,
            }),
            // The compound itself, however it is joined, but not its parts
            // somewhere in the text.
            (_, [_]) if whole.is_some() => Self::Group(Group {
                ways: vec![whole.into_iter().collect()],
                phrase: false,
                open: false,
            }),
            _ => Self::Group(Group {
                ways: vec![parts],
                phrase: true,
                open: false,
            }),
        }
    }
}

impl Query {
    /// Whether a row with these texts may be a hit: it holds nothing that is
    /// to be left out. A phrase must stand within one of the texts.
    pub fn allows<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> bool {
        if self.without.is_empty() {
            return true;
        }
        let words: HashSet<&str> = self
            .without
            .iter()
            .filter(|group| group.phrase().is_none() && group.prefix().is_none())
            .filter_map(Group::stem)
            .collect();
        let beginnings: Vec<&str> = self.without.iter().filter_map(Group::prefix).collect();
        let mut splitter = Splitter::new();
        for text in texts {
            let mut held = false;
            splitter.each(text, |term, _| {
                held |= words.contains(term)
                    || beginnings
                        .iter()
                        .any(|beginning| term.starts_with(beginning));
            });
            let phrases = self.without.iter().filter_map(Group::phrase);
            if held || phrases.into_iter().any(|phrase| holds_phrase(text, phrase)) {
                return false;
            }
        }
        true
    }
}
