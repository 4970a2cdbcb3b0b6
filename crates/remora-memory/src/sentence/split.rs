//! Splits a block into sentences. Dots in file names, versions, addresses,
//! abbreviations and code spans do not end one; Chinese and Japanese stops do.

use remora_core::text::truncate_bytes;

/// Words whose dot ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "etc", "vs", "cf", "approx", "resp", "no", "mr", "mrs", "ms", "dr",
    "st", "fig", "sec", "ca", "z.b", "d.h", "bzw", "usw", "p.ej", "ej", "env", "dept", "inc", "al",
];

/// How many bytes an aside in brackets may have.
const MAX_ASIDE_BYTES: usize = 400;

/// The sentences of one block, trimmed, in order, none empty.
pub(crate) fn split_sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut code = false;
    let mut depth = 0usize;
    // Closing marks are skipped once, whether a sentence ends there or not: a long run
    // of full stops would otherwise take quadratic time.
    let mut resume = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => {
                // A backtick without a partner opens no code span.
                code = !code && text[at + 1..].contains('`');
            }
            _ if code => {}
            // A parenthesis that closes far away or never is no aside, within which a
            // sentence would not end.
            '(' | '（' if truncate_bytes(&text[at..], MAX_ASIDE_BYTES).contains([')', '）']) => {
                depth += 1;
            }
            ')' | '）' => depth = depth.saturating_sub(1),
            '\n' => {
                push_sentence(&mut out, &text[start..at]);
                start = at + 1;
                depth = 0;
            }
            '。' | '！' | '？' => {
                let end = skip_closing(text, at + c.len_utf8());
                resume = end;
                if depth == 0 {
                    push_sentence(&mut out, &text[start..end]);
                    start = end;
                }
            }
            '.' | '!' | '?' | '…' => {
                let after = at + c.len_utf8();
                let end = skip_closing(text, after);
                resume = end;
                let ends = text[end..]
                    .chars()
                    .next()
                    .is_none_or(|n| n.is_whitespace() || super::is_wide(n));
                if ends
                    && depth == 0
                    && !(c == '.' && is_abbreviation(&text[start..at], &text[end..]))
                {
                    push_sentence(&mut out, &text[start..end]);
                    start = end;
                }
            }
            _ => {}
        }
        while let Some((_, skipped)) = chars.next_if(|(next, _)| *next < resume) {
            if matches!(skipped, ')' | '）') {
                depth = depth.saturating_sub(1);
            }
        }
    }
    push_sentence(&mut out, &text[start..]);
    out
}

fn push_sentence<'a>(out: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        out.push(sentence);
    }
}

/// Skips further stops, quotes and emphasis that close with a sentence.
fn skip_closing(text: &str, from: usize) -> usize {
    let rest = text[from..].trim_start_matches([
        '.', '!', '?', '。', '！', '？', '"', '”', '’', '」', '』', '*', ')', '）',
    ]);
    text.len() - rest.len()
}

fn is_abbreviation(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"'))
        .next()
        .unwrap_or_default()
        .to_lowercase();
    // A number with a dot at the beginning of a block is a list number.
    if word.len() == before.trim_start().len() && word.bytes().all(|b| b.is_ascii_digit()) {
        return true;
    }
    let next_small = after
        .trim_start()
        .chars()
        .next()
        .is_some_and(char::is_lowercase);
    match word.as_str() {
        // "No. 7" counts, "no. do it" answers.
        "no" => after.trim_start().starts_with(|c: char| c.is_ascii_digit()),
        "etc" | "al" | "st" | "env" | "inc" | "sec" => next_small,
        word => ABBREVIATIONS.contains(&word),
    }
}
