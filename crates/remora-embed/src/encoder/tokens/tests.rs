//! Tokens as the tokenizer that belongs to the encoder gives them: the cases
//! are its answers.

use super::{END_TOKEN, Tokens};
use crate::MAX_TOKENS;

/// `\u{..}` as the character that it stands for.
fn plain(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        let code = u32::from_str_radix(code, 16).unwrap();
        plain.push(char::from_u32(code).unwrap());
        plain += rest;
    }
    plain
}

#[test]
fn texts_have_the_tokens_of_the_cases() {
    let cases = include_str!("../../../cases/pieces.tsv");
    let mut count = 0;
    for line in cases.lines() {
        let (text, tokens) = line.split_once('\t').unwrap();
        let tokens: Vec<u16> = tokens.split(' ').map(|id| id.parse().unwrap()).collect();
        assert_eq!(Tokens::from_text(&plain(text), 1000).0, tokens, "{text}");
        count += 1;
    }
    assert!(count >= 50, "only {count} cases were read");
}

#[test]
fn a_long_text_is_cut_and_closed() {
    let whole = Tokens::from_text(&"tokenization ".repeat(200), 1000);
    let cut = Tokens::from_text(&"tokenization ".repeat(200), MAX_TOKENS);
    assert_eq!(cut.0.len(), MAX_TOKENS);
    assert_eq!(cut.0.last(), Some(&END_TOKEN));
    assert_eq!(cut.0[..MAX_TOKENS - 1], whole.0[..MAX_TOKENS - 1]);
}

#[test]
fn a_text_of_gaps_has_only_the_markers() {
    assert_eq!(
        Tokens::from_text(&" ".repeat(1 << 20), MAX_TOKENS).0,
        [101, 102]
    );
}
