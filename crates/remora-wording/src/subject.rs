//! What a heading is about: a language or part of a project, or something
//! else. English only.

use super::words::{List, is_empty, split_tokens, stem_word};

/// What one word of a heading names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadingSubject {
    /// A language or a part of a project: a rule under it holds there only.
    Area(String),
    /// Anything else that says something.
    Topic(String),
}

static AREA_WORDS: List = List::new(&[
    "android angular api apis backend bash cli client css database db desktop doc docs docker",
    "documentation e2e example frontend go golang graphql html infra integration ios java",
    "javascript js json kotlin legacy makefile markdown migration mobile php production python",
    "react ruby rust schema script server shell sql staging svelte swift terraform test testing",
    "toml tsx typescript ts ui vue web yaml c++ c# elixir scala haskell deployment",
]);

/// Headings that say nothing about what is below them.
static PLAIN_HEADING_WORDS: List = List::new(&[
    "agent basic best build claude code coding command contributing convention development do",
    "dont format formatting general guide guideline important instruction key layout linting",
    "main must not overview policy practice preference project quality reminder requirement rule",
    "setup standard style working workflow note dependency package memory global personal",
]);

/// What the words of a text name.
pub(crate) fn parse_subjects(text: &str) -> Vec<HeadingSubject> {
    let stems = split_tokens(text)
        .into_iter()
        .map(|token| stem_word(&token.text));
    stems
        // Numbers of sections are no subject.
        .filter(|stem| stem.chars().any(char::is_alphabetic))
        .filter_map(|stem| {
            if AREA_WORDS.contains_stem(&stem) {
                Some(HeadingSubject::Area(stem))
            } else if is_empty(&stem) || PLAIN_HEADING_WORDS.contains_stem(&stem) {
                None
            } else {
                Some(HeadingSubject::Topic(stem))
            }
        })
        .collect()
}
