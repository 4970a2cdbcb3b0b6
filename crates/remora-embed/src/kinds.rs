//! What a character is to the encoder's vocabulary: a letter, a gap, nothing, or
//! a word of its own. From a table, because the vocabulary was made with an
//! older Unicode than today's and has its own idea of punctuation.

static RUNS: &[u8] = include_bytes!("../../../assets/kinds.bin");

/// The kinds that matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Part of a word; also whatever is not known.
    Letter,
    /// As if it were not there; it does not even end a word.
    Dropped,
    /// Between words.
    White,
    /// A Chinese character: a word of its own.
    Ideograph,
    /// An accent, once it is apart from its letter: as if it were not there.
    Mark,
    /// Punctuation: a word of its own.
    Punctuation,
}

impl Kind {
    /// The kind of a character.
    pub(crate) fn of(c: char) -> Self {
        match c {
            '\t' | '\n' | '\r' | ' ' => Self::White,
            '0'..='9' | 'A'..='Z' | 'a'..='z' => Self::Letter,
            '\0'..='\x1f' | '\x7f' => Self::Dropped,
            '!'..='~' => Self::Punctuation,
            _ => Self::looked_up(c),
        }
    }

    fn looked_up(c: char) -> Self {
        let (runs, _) = RUNS.as_chunks::<4>();
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
    use super::Kind;

    #[test]
    fn the_short_cut_for_ascii_agrees_with_the_table() {
        for c in '\0'..='\x7f' {
            assert_eq!(Kind::of(c), Kind::looked_up(c), "{c:?}");
        }
    }

    #[test]
    fn kinds_of_some_characters() {
        let kinds = [
            ('\u{a0}', Kind::White),
            ('\u{200b}', Kind::Dropped),
            ('\u{fffd}', Kind::Dropped),
            ('\u{301}', Kind::Mark),
            ('\u{4e2d}', Kind::Ideograph),
            ('\u{3042}', Kind::Letter),
            ('\u{2014}', Kind::Punctuation),
            ('\u{3002}', Kind::Punctuation),
            ('\u{1f600}', Kind::Letter),
            ('\u{10fffd}', Kind::Dropped),
        ];
        for (c, kind) in kinds {
            assert_eq!(Kind::of(c), kind, "{c:?}");
        }
    }
}
