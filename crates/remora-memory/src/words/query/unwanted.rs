//! What a hit must not contain. Stricter than searching: excluding `parseRequest`
//! keeps items that only mention parsing some request.

use std::collections::HashSet;

use super::super::holds_phrase;
use super::super::split::{
    TermRole, TermSplitter, TextPiece, for_each_piece, split_dense_run, to_composed,
};
use super::super::stop::is_stop;
use super::{MAX_PHRASE_WORDS, Query, TermGroup, fold_word};

/// A text that is to be excluded, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExcludedText {
    /// Excludes items that contain this.
    Group(TermGroup),
    /// A word that nearly every item contains: excluding it would leave nothing.
    Stop,
    /// No word at all.
    Nothing,
}

impl ExcludedText {
    /// A word as one term; anything else as a phrase.
    pub(crate) fn from_text(text: &str) -> Self {
        let text = to_composed(text);
        let mut splitter = TermSplitter::new();
        let mut found = Vec::new();
        for_each_piece(&text, |piece| found.push(piece));
        let mut parts = Vec::new();
        let mut whole = None;
        for piece in &found {
            let take = &mut |term: &str, role| match role {
                TermRole::Part if parts.len() < MAX_PHRASE_WORDS => parts.push(term.to_owned()),
                TermRole::Whole => whole = Some(term.to_owned()),
                TermRole::Part | TermRole::Piece => {}
            };
            match piece {
                TextPiece::Segment(segment) => splitter.split_segment(segment, take),
                TextPiece::Dense(run) => split_dense_run(run, take),
            }
        }
        match (parts.len(), found.as_slice()) {
            (0, _) | (_, []) => Self::Nothing,
            (1, [TextPiece::Segment(segment)]) if is_stop(&fold_word(segment)) => Self::Stop,
            (1, [piece]) => Self::Group(TermGroup {
                open: matches!(piece, TextPiece::Dense(run) if run.chars().count() == 1),
                ways: vec![parts],
                phrase: false,
            }),
            // The compound itself, however it is joined, but not its parts spread over
            // the text.
            (_, [_]) if whole.is_some() => Self::Group(TermGroup {
                ways: vec![whole.into_iter().collect()],
                phrase: false,
                open: false,
            }),
            _ => Self::Group(TermGroup {
                ways: vec![parts],
                phrase: true,
                open: false,
            }),
        }
    }
}

impl Query {
    /// Whether an item with these texts may be a hit: it contains nothing excluded.
    /// A phrase must be within one of the texts.
    pub fn allows_texts<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> bool {
        if self.without.is_empty() {
            return true;
        }
        let words: HashSet<&str> = self
            .without
            .iter()
            .filter(|group| group.phrase().is_none() && group.prefix().is_none())
            .filter_map(TermGroup::stem)
            .collect();
        let beginnings: Vec<&str> = self.without.iter().filter_map(TermGroup::prefix).collect();
        let mut splitter = TermSplitter::new();
        for text in texts {
            let mut held = false;
            splitter.for_each_term(text, |term, _| {
                held |= words.contains(term)
                    || beginnings
                        .iter()
                        .any(|beginning| term.starts_with(beginning));
            });
            let phrases = self.without.iter().filter_map(TermGroup::phrase);
            if held || phrases.into_iter().any(|phrase| holds_phrase(text, phrase)) {
                return false;
            }
        }
        true
    }
}
