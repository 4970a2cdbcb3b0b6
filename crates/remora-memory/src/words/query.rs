//! A query as groups of terms. Nothing that is typed is an error: only words and
//! "quoted phrases" have a meaning, everything else separates words. The language
//! of the search box (`-word`, `file:` and the like) is not parsed here but by
//! `ask`: a prompt must never exclude anything by accident.

mod unwanted;

use std::collections::HashSet;

use remora_core::record::Kind;
use remora_core::text::truncate_bytes;
use remora_embed::Embedding;

use crate::prompt_embedding::PromptEmbedding;
use crate::rank::{RANK_WEIGHTS, RankWeights};

use super::fold;
use super::split::{
    TermRole, TermSplitter, TextPiece, for_each_piece, split_dense_run, to_composed,
};
use super::stop::is_stop;
pub(crate) use unwanted::ExcludedText;

/// How many words of a query count. Also the number of bits by which the store
/// marks words that name a speaker.
const MAX_GROUPS: usize = 32;
/// How much of a query is read, in bytes.
pub(crate) const MAX_QUERY_BYTES: usize = 64 * 1024;
/// How many words and phrases may be excluded.
const MAX_EXCLUDED_GROUPS: usize = 16;
/// How many words of a phrase count.
const MAX_PHRASE_WORDS: usize = 16;

/// One word of a query, or one phrase.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TermGroup {
    ways: Vec<Vec<String>>,
    phrase: bool,
    open: bool,
}

impl TermGroup {
    /// The ways to contain the word: any one of them, with all of its terms. The
    /// whole form comes first.
    pub fn ways(&self) -> &[Vec<String>] {
        &self.ways
    }

    /// The terms that must follow each other, if this is a phrase.
    pub fn phrase(&self) -> Option<&[String]> {
        self.phrase
            .then(|| self.ways.first().map(Vec::as_slice))
            .flatten()
    }

    /// The beginning of a term, if every term that begins so contains the word: a
    /// single character of a script that is indexed by pairs.
    pub fn prefix(&self) -> Option<&str> {
        self.open.then(|| self.stem()).flatten()
    }

    /// The only term, if there is just one: a search without matches may take it as
    /// the beginning of a word.
    pub fn stem(&self) -> Option<&str> {
        match self.ways.as_slice() {
            [way] if way.len() == 1 => way.first().map(String::as_str),
            _ => None,
        }
    }

    fn from_term(term: String) -> Self {
        Self {
            ways: vec![vec![term]],
            phrase: false,
            open: false,
        }
    }

    /// Guesses how rare a word is without the index: longer and more code-like ones
    /// are rarer. Decides which words of a long query count.
    fn estimate_rarity(&self) -> usize {
        let whole = self
            .ways
            .first()
            .map_or(0, |way| way.iter().map(|t| t.chars().count()).sum());
        let digits = self
            .ways
            .iter()
            .flatten()
            .any(|t| t.bytes().any(|b| b.is_ascii_digit()));
        let dense = self.stem().is_some_and(|t| !t.is_ascii());
        whole
            + 8 * usize::from(self.ways.len() > 1 || self.phrase)
            + 4 * usize::from(digits)
            + 3 * usize::from(dense)
    }
}

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    groups: Vec<TermGroup>,
    without: Vec<TermGroup>,
    favours: Vec<Kind>,
    blank: bool,
    text: String,
    embedding: Option<PromptEmbedding>,
    weights: Option<RankWeights>,
    effort: SearchEffort,
}

/// How much of a store a search reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchEffort {
    /// Enough to find nearly everything.
    #[default]
    Whole,
    /// Enough to find the best, for a hook.
    Quick,
}

impl Query {
    /// Reads plain words and "quoted phrases".
    pub fn parse(text: &str) -> Self {
        Self::parse_with_literal(text, "")
    }

    /// As [`Query::parse`], followed by words in which quotes mean nothing.
    pub(crate) fn parse_with_literal(text: &str, literal: &str) -> Self {
        let text = truncate_bytes(text, MAX_QUERY_BYTES).trim();
        let literal = truncate_bytes(literal, MAX_QUERY_BYTES).trim();
        let mut reader = QueryParser {
            splitter: TermSplitter::new(),
            groups: Vec::new(),
            stops: Vec::new(),
            seen: HashSet::new(),
        };
        let composed_text = to_composed(text);
        let parts: Vec<&str> = composed_text.split(is_quote).collect();
        let last = parts.len() - 1;
        for (at, part) in parts.into_iter().enumerate() {
            // Odd parts are between two quotes; a quote that is never closed is ignored.
            if at % 2 == 1 && at < last {
                reader.parse_phrase(part);
            } else {
                reader.parse_words(part);
            }
        }
        reader.parse_words(&to_composed(literal));
        // "Who are they?" has stop words only and still asks for something.
        let mut groups = if reader.groups.is_empty() {
            reader.stops
        } else {
            reader.groups
        };
        // The rarest are kept, in the order typed.
        if groups.len() > MAX_GROUPS {
            let mut order: Vec<usize> = (0..groups.len()).collect();
            order.sort_by_key(|at| std::cmp::Reverse(groups[*at].estimate_rarity()));
            let keep: HashSet<usize> = order.into_iter().take(MAX_GROUPS).collect();
            let mut at = 0;
            groups.retain(|_| {
                at += 1;
                keep.contains(&(at - 1))
            });
        }
        let gap = if text.is_empty() || literal.is_empty() {
            ""
        } else {
            " "
        };
        Self {
            groups,
            blank: text.is_empty() && literal.is_empty(),
            text: [text, gap, literal].concat(),
            ..Self::default()
        }
    }

    /// Excludes items that contain any of these.
    pub(crate) fn leaving_out(mut self, groups: Vec<TermGroup>) -> Self {
        for group in groups {
            if self.without.len() < MAX_EXCLUDED_GROUPS && !self.without.contains(&group) {
                self.without.push(group);
            }
        }
        self
    }

    /// Drops words that too many items contain to tell them apart, unless there are
    /// no others.
    pub(crate) fn without_common_words(mut self, common: impl Fn(&str) -> bool) -> Self {
        let tells = |group: &TermGroup| !group.stem().is_some_and(&common);
        if self.groups.iter().any(tells) {
            self.groups.retain(tells);
        }
        self
    }

    /// Searches with the effort of a hook.
    #[must_use]
    pub fn with_quick_effort(self) -> Self {
        Self {
            effort: SearchEffort::Quick,
            ..self
        }
    }

    /// How much of the store is read.
    pub fn effort(&self) -> SearchEffort {
        self.effort
    }

    /// Prefers items of these kinds.
    pub(crate) fn with_favoured_kinds(self, favours: Vec<Kind>) -> Self {
        Self { favours, ..self }
    }

    /// Adds the embedding of the text, for the full tier.
    #[must_use]
    pub fn with_meaning(self, meaning: Embedding) -> Self {
        Self {
            embedding: Some(PromptEmbedding::from_embedding(meaning)),
            ..self
        }
    }

    /// Adds the embedding of a prompt, if one was requested; it may still be on its
    /// way.
    pub(crate) fn with_embedding(self, embedding: Option<&PromptEmbedding>) -> Self {
        Self {
            embedding: embedding.cloned(),
            ..self
        }
    }

    /// Searches with other weights, to measure what each of them brings.
    #[must_use]
    pub fn with_weights(self, weights: RankWeights) -> Self {
        Self {
            weights: Some(weights),
            ..self
        }
    }

    /// How much each part of a score counts.
    pub fn weights(&self) -> &RankWeights {
        self.weights.as_ref().unwrap_or(&RANK_WEIGHTS)
    }

    /// The words and phrases, in the order typed, each once.
    pub fn groups(&self) -> &[TermGroup] {
        &self.groups
    }

    /// The words and phrases that a hit must not contain; [`Query::allows_texts`]
    /// tests them. They count in a blank query too.
    pub fn excluded_groups(&self) -> &[TermGroup] {
        &self.without
    }

    /// Kinds that fit the question better than others; they exclude nothing.
    pub fn favoured_kinds(&self) -> &[Kind] {
        &self.favours
    }

    /// The query as it was typed, without filters and exclusions: the text that is
    /// embedded.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The embedding of the text, if there is one. Waits for one that is still on
    /// its way, so a search that can do without must not call this.
    pub fn text_embedding(&self) -> Option<&Embedding> {
        self.embedding.as_ref()?.get()
    }

    /// Whether nothing was typed at all. A text without any word, such as
    /// `***`, is not blank: it asks for something that nothing holds.
    pub fn is_blank(&self) -> bool {
        self.groups.is_empty() && self.blank
    }
}

/// The quotes around phrases; any of them closes any other.
pub(crate) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201C}' | '\u{201D}' | '\u{201E}')
}

struct QueryParser {
    splitter: TermSplitter,
    groups: Vec<TermGroup>,
    stops: Vec<TermGroup>,
    seen: HashSet<TermGroup>,
}

impl QueryParser {
    fn add_group(&mut self, group: TermGroup, stop: bool) {
        if self.seen.insert(group.clone()) {
            if stop {
                &mut self.stops
            } else {
                &mut self.groups
            }
            .push(group);
        }
    }

    fn parse_words(&mut self, text: &str) {
        let mut found = Vec::new();
        for_each_piece(text, |piece| found.push(piece));
        for piece in found {
            match piece {
                TextPiece::Segment(segment) => self.parse_segment(segment),
                TextPiece::Dense(run) => self.parse_dense_run(run),
            }
        }
    }

    fn parse_segment(&mut self, segment: &str) {
        let mut parts = Vec::new();
        let mut whole = None;
        self.splitter
            .split_segment(segment, &mut |term, role| match role {
                TermRole::Part => parts.push(term.to_owned()),
                TermRole::Whole => whole = Some(term.to_owned()),
                TermRole::Piece => {}
            });
        if parts.len() < 2 {
            for term in parts {
                let stop = is_stop(&fold_word(segment));
                self.add_group(TermGroup::from_term(term), stop);
            }
            return;
        }
        let ways = whole
            .map(|term| vec![term])
            .into_iter()
            .chain([parts])
            .collect();
        self.add_group(
            TermGroup {
                ways,
                phrase: false,
                open: false,
            },
            false,
        );
    }

    fn parse_dense_run(&mut self, run: &str) {
        let mut terms = Vec::new();
        split_dense_run(run, &mut |term, role| {
            if role == TermRole::Part {
                terms.push(term.to_owned());
            }
        });
        for term in terms {
            let stop = is_stop(&term);
            let open = term.chars().count() == 1;
            self.add_group(
                TermGroup {
                    open,
                    ..TermGroup::from_term(term)
                },
                stop,
            );
        }
    }

    fn parse_phrase(&mut self, text: &str) {
        let mut terms = Vec::new();
        let splitter = &mut self.splitter;
        for_each_piece(text, |piece| {
            let take = &mut |term: &str, role| {
                if role == TermRole::Part && terms.len() < MAX_PHRASE_WORDS {
                    terms.push(term.to_owned());
                }
            };
            match piece {
                TextPiece::Segment(segment) => splitter.split_segment(segment, take),
                TextPiece::Dense(run) => split_dense_run(run, take),
            }
        });
        // A phrase of one word is a word.
        if terms.len() < 2 {
            self.parse_words(text);
        } else {
            self.add_group(
                TermGroup {
                    ways: vec![terms],
                    phrase: true,
                    open: false,
                },
                false,
            );
        }
    }
}

/// The word without case, accents and apostrophes, but with its ending.
fn fold_word(segment: &str) -> String {
    let segment = segment
        .strip_suffix("'s")
        .or_else(|| segment.strip_suffix("\u{2019}s"))
        .unwrap_or(segment);
    let mut out = String::new();
    for c in segment.chars().filter(|c| c.is_alphanumeric()) {
        fold::push_folded(&mut out, c);
    }
    out
}
