//! Characters: which belong to words, which scripts are written without spaces,
//! and how a character is folded to one without case and accent.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

/// The role of a character in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharRole {
    /// A letter, digit or mark of a script with spaces between words.
    Word,
    /// A character of a script that is written without spaces.
    Dense,
    /// Anything else.
    Gap,
}

/// The role of this character in a word.
pub(super) fn classify_char(c: char) -> CharRole {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() {
            CharRole::Word
        } else {
            CharRole::Gap
        };
    }
    if is_dense(c) {
        CharRole::Dense
    } else if c.is_alphanumeric() || is_combining_mark(c) {
        CharRole::Word
    } else {
        CharRole::Gap
    }
}

/// Chinese, Japanese and Korean, and the scripts of South-East Asia.
fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0E01}'..='\u{0E4E}' // Thai
        | '\u{0E81}'..='\u{0ECD}' // Lao
        | '\u{1000}'..='\u{109F}' // Myanmar
        | '\u{1100}'..='\u{11FF}' // Hangul letters
        | '\u{1780}'..='\u{17D3}' // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{3096}' // Hiragana
        | '\u{3099}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}' // Katakana
        | '\u{30FC}'..='\u{30FF}'
        | '\u{3105}'..='\u{312F}' // Bopomofo
        | '\u{3131}'..='\u{318E}'
        | '\u{31A0}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' // Han
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' // Hangul syllables
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
        && (c.is_alphanumeric() || is_combining_mark(c))
}

/// Whether normalisation leaves a character as it is and never joins it to the one
/// before. Runs of such characters, nearly all text, skip the normaliser.
fn is_settled(c: char) -> bool {
    c.is_ascii() || matches!(c, '\u{4E00}'..='\u{9FFF}')
}

/// Full-width letters, ligatures and loose accents in their usual form.
pub(super) fn compose_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c| !is_settled(c)) {
        // A combining mark may join the character before it, which therefore belongs to
        // the part that is normalised.
        let from = rest[..at].char_indices().next_back();
        let from = from.map_or(at, |(from, _)| from);
        let len = rest[at..].find(is_settled);
        let end = len.map_or(rest.len(), |len| at + len);
        out.push_str(&rest[..from]);
        out.extend(rest[from..end].nfkc());
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Appends the character without case and accent.
pub(super) fn push_folded(out: &mut String, c: char) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    // Only scripts whose accents people leave out when they type; elsewhere a mark
    // makes another letter.
    let accented =
        matches!(c, '\u{00C0}'..='\u{024F}' | '\u{0370}'..='\u{04FF}' | '\u{1E00}'..='\u{1FFF}');
    for low in c.to_lowercase() {
        match low {
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            _ if accented => decompose_canonical(low, |part| {
                if !is_combining_mark(part) {
                    out.push(part);
                }
            }),
            // A lone dot above is what is left of a Turkish capital i.
            '\u{0307}' => {}
            _ => out.push(low),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_composed_as_if_in_one_go() {
        for text in [
            "e\u{301}a",
            "已完\u{301}成，Ｏ\u{308}k…",
            "\u{301}",
            "한\u{11A8}a",
        ] {
            assert_eq!(
                compose_text(text),
                text.nfkc().collect::<String>(),
                "{text:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_composed_as_if_in_one_go(text in "([a-c，ｅ完…\u{301}\u{327}ﬁ한]|\\PC){0,24}") {
            prop_assert_eq!(compose_text(&text), text.nfkc().collect::<String>());
        }
    }
}
