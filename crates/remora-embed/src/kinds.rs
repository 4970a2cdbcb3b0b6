//! The class of a character for the encoder's tokenizer: a letter, white space,
//! nothing, or a word of its own. From a table, because the vocabulary was made
//! with an older Unicode and has its own idea of punctuation.

static CHAR_CLASS_RUNS: &[u8] = include_bytes!("../../../assets/kinds.bin");

/// The classes that the tokenizer distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// Part of a word; also every character the table does not know.
    Letter,
    /// Ignored; it does not even end a word.
    Dropped,
    /// Separates words.
    White,
    /// A Chinese character: a word of its own.
    Ideograph,
    /// An accent, once it is decomposed from its letter: ignored.
    Mark,
    /// Punctuation: a word of its own.
    Punctuation,
}

impl CharClass {
    /// The class of a character.
    pub(crate) fn from_char(c: char) -> Self {
        // ASCII without the table: a hook reads little else, and the table would be
        // one more page to map.
        match c {
            '\t' | '\n' | '\r' | ' ' => Self::White,
            '0'..='9' | 'A'..='Z' | 'a'..='z' => Self::Letter,
            '\0'..='\x1f' | '\x7f' => Self::Dropped,
            '!'..='~' => Self::Punctuation,
            _ => Self::looked_up(c),
        }
    }

    fn looked_up(c: char) -> Self {
        // Each run is one word: the class in the low byte, above it the code point
        // at which the run begins.
        let (runs, _) = CHAR_CLASS_RUNS.as_chunks::<4>();
        let runs_to = runs.partition_point(|run| u32::from_le_bytes(*run) >> 8 <= u32::from(c));
        let run = runs_to.checked_sub(1).and_then(|at| runs.get(at));
        match run.map(|[kind, ..]| *kind) {
            Some(1) => Self::Dropped,
            Some(2) => Self::White,
            Some(3) => Self::Ideograph,
            Some(4) => Self::Mark,
            Some(5) => Self::Punctuation,
            _ => Self::Letter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CharClass;

    #[test]
    fn the_short_cut_for_ascii_agrees_with_the_table() {
        for c in '\0'..='\x7f' {
            assert_eq!(CharClass::from_char(c), CharClass::looked_up(c), "{c:?}");
        }
    }

    #[test]
    fn kinds_of_some_characters() {
        let kinds = [
            ('\u{a0}', CharClass::White),
            ('\u{200b}', CharClass::Dropped),
            ('\u{fffd}', CharClass::Dropped),
            ('\u{301}', CharClass::Mark),
            ('\u{4e2d}', CharClass::Ideograph),
            ('\u{3042}', CharClass::Letter),
            ('\u{2014}', CharClass::Punctuation),
            ('\u{3002}', CharClass::Punctuation),
            ('\u{1f600}', CharClass::Letter),
            ('\u{10fffd}', CharClass::Dropped),
        ];
        for (c, kind) in kinds {
            assert_eq!(CharClass::from_char(c), kind, "{c:?}");
        }
    }
}
