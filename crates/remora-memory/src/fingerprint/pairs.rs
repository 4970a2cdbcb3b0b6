//! Pairs of adjacent letters of a text as bits: they show without a search that a
//! text cannot contain another. Of some five hundred phrases and patterns nearly
//! all need a pair that a line does not have.

/// The pairs of a text, each as one of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BytePairs(u128);

impl BytePairs {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn from_text(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut pairs = Self::NONE;
        let mut at = 1;
        while at < bytes.len() {
            pairs = pairs.with_pair(bytes[at - 1], bytes[at]);
            at += 1;
        }
        pairs
    }

    pub(super) const fn with_pair(self, first: u8, second: u8) -> Self {
        // Odd factors, so that every letter changes the result.
        let mixed = first.wrapping_mul(37).wrapping_add(second.wrapping_mul(11));
        Self(self.0 | 1 << (mixed % 128))
    }

    /// Whether a text with these pairs may contain one with those; `false` is
    /// certain.
    pub(super) const fn may_hold(self, those: Self) -> bool {
        those.0 & !self.0 == 0
    }
}

/// A phrase to search for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phrase {
    text: &'static str,
    pairs: BytePairs,
}

/// Phrases with their pairs, computed at compile time.
pub(super) const fn index_phrases<const N: usize>(texts: [&'static str; N]) -> [Phrase; N] {
    let mut phrases = [Phrase {
        text: "",
        pairs: BytePairs::NONE,
    }; N];
    let mut at = 0;
    while at < N {
        phrases[at] = Phrase {
            text: texts[at],
            pairs: BytePairs::from_text(texts[at]),
        };
        at += 1;
    }
    phrases
}

/// Whether a text with these pairs contains one of the phrases.
pub(super) fn holds_phrase(text: &str, pairs: BytePairs, phrases: &[Phrase]) -> bool {
    let mut likely = phrases.iter().filter(|phrase| pairs.may_hold(phrase.pairs));
    likely.any(|phrase| text.contains(phrase.text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BytePairs, holds_phrase, index_phrases};

    static PHRASES: [super::Phrase; 3] = index_phrases(["build failed", "é→", "x"]);

    #[test]
    fn most_phrases_are_left_out_without_a_look() {
        let pairs = BytePairs::from_text("expected `u32`, found `&str`");
        assert!(!pairs.may_hold(BytePairs::from_text("permission denied")));
        assert!(!holds_phrase(
            "permission",
            BytePairs::from_text("perm"),
            &PHRASES
        ));
        assert!(holds_phrase(
            "a é→ b",
            BytePairs::from_text("a é→ b"),
            &PHRASES
        ));
    }

    proptest! {
        #[test]
        fn a_text_may_hold_each_of_its_parts(
            before in "[a-zé→ '0-9]{0,20}",
            part in "[a-zé→ '0-9]{0,20}",
            after in "[a-zé→ '0-9]{0,20}",
        ) {
            let whole = BytePairs::from_text(&format!("{before}{part}{after}"));
            prop_assert!(whole.may_hold(BytePairs::from_text(&part)));
        }
    }
}
