//! Markdown as single statements: list items and sentences with their lines,
//! without code, tables, headings and comments. Pure.

#[cfg(test)]
mod tests;

use crate::frontmatter;

/// The longest text that counts as one statement, in characters.
const LONGEST: usize = 400;

/// Ends of words that do not end a sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "etc.", "vs.", "approx.", "no.", "cf."];

/// One thing that a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its words on one line, without list marks.
    pub text: String,
}

/// All statements of a text, in order.
pub fn statements(text: &str) -> Vec<Statement> {
    let (_, body) = frontmatter::split(text);
    let before = text[..text.len() - body.len()].matches('\n').count();
    let mut reader = Reader::default();
    for (at, line) in body.lines().enumerate() {
        reader.line(before + at + 1, line);
    }
    reader.flush();
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<Statement>,
    paragraph: String,
    /// Where each line of the paragraph begins, and its number.
    starts: Vec<(usize, usize)>,
    fence: Option<&'static str>,
    comment: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim();
        if let Some(fence) = self.fence {
            if text.starts_with(fence) {
                self.fence = None;
            }
            return;
        }
        if self.comment {
            self.comment = !text.contains("-->");
            return;
        }
        if let Some(fence) = ["```", "~~~"]
            .into_iter()
            .find(|fence| text.starts_with(fence))
        {
            self.flush();
            self.fence = Some(fence);
        } else if text.starts_with("<!--") {
            self.flush();
            self.comment = !text.contains("-->");
        } else if text.is_empty()
            || text.starts_with(['#', '|', '<'])
            || is_rule(text)
            || is_reference(text)
        {
            self.flush();
        } else if let Some(item) = item(text) {
            self.flush();
            self.begin(number, item);
        } else if !self.starts.is_empty() {
            self.paragraph.push(' ');
            self.starts.push((self.paragraph.len(), number));
            self.paragraph.push_str(text);
        } else if !line.starts_with("    ") && !line.starts_with('\t') {
            self.begin(number, text.trim_start_matches(['>', ' ']));
        }
    }

    fn begin(&mut self, line: usize, text: &str) {
        self.starts.push((0, line));
        self.paragraph.push_str(text);
    }

    fn flush(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let starts = std::mem::take(&mut self.starts);
        for (at, sentence) in sentences(&paragraph) {
            // What leads up to a list says nothing by itself.
            let whole = !sentence.ends_with(':');
            if whole && sentence.chars().nth(LONGEST).is_none() {
                let before = starts.partition_point(|(start, _)| *start <= at);
                self.found.push(Statement {
                    line: before.checked_sub(1).map_or(1, |last| starts[last].1),
                    text: sentence.to_owned(),
                });
            }
        }
    }
}

fn is_rule(text: &str) -> bool {
    text.len() >= 3
        && text
            .bytes()
            .all(|byte| matches!(byte, b'-' | b'*' | b'_' | b'='))
}

/// `[name]: target`, the other half of a link.
fn is_reference(text: &str) -> bool {
    text.strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .is_some_and(|(_, rest)| rest.starts_with(':'))
}

/// What stands behind a list mark, and behind a box to tick.
fn item(text: &str) -> Option<&str> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = if (1..=4).contains(&digits) {
        text[digits..].strip_prefix(['.', ')'])?
    } else {
        text.strip_prefix(['-', '*', '+'])?
    };
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let ticked = ["[ ] ", "[x] ", "[X] "]
        .into_iter()
        .find_map(|mark| rest.strip_prefix(mark));
    Some(ticked.unwrap_or(rest))
}

/// Cuts a paragraph where a sentence ends and another begins; with the place
/// of each.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut take = |from: usize, to: usize| {
        let sentence = text[from..to].trim_start();
        let at = to - sentence.len();
        let sentence = sentence.trim_end();
        if !sentence.is_empty() {
            found.push((at, sentence));
        }
    };
    for (at, mark) in text.match_indices(['.', '!', '?', '。']) {
        let end = at + mark.len();
        let after = &text[end..];
        let upper = after
            .trim_start()
            .chars()
            .next()
            .is_none_or(|c| !c.is_lowercase());
        let ends = mark == "。" || (after.starts_with(char::is_whitespace) && upper);
        if ends && !is_short(&text[start..end]) {
            take(start, end);
            start = end;
        }
    }
    take(start, text.len());
    found
}

/// Whether a text ends with an abbreviation.
fn is_short(text: &str) -> bool {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}
