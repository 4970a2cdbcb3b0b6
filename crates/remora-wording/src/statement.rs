//! Markdown as single statements: list items and sentences with their lines
//! and what the headings above them are about, without code, tables, headings,
//! comments and pictures. Pure.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::subject::{self, HeadingSubject};

/// The longest text that counts as one statement, in characters.
const MAX_STATEMENT_CHARS: usize = 400;
/// Statements that are read from one text.
const MAX_STATEMENTS: usize = 5_000;

/// Ends of words that do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g.", "(e.g.", "i.e.", "(i.e.", "etc.", "vs.", "approx.", "no.", "cf.",
];

/// One thing that a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionStatement {
    /// The line it begins on, from 1.
    pub line: usize,
    /// Its words on one line, without list marks.
    pub text: String,
    /// What it is about, by its headings.
    pub scope: Rc<HeadingScope>,
}

/// What a statement is about, by its headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadingScope {
    /// Languages and parts of a project.
    areas: BTreeSet<String>,
    /// Other words of the headings, below the title.
    topics: BTreeSet<String>,
    /// The headings themselves.
    headings: Vec<String>,
}

impl InstructionStatement {
    /// Whether two statements are about the same thing, judging by their headings and
    /// by the languages and parts of the project that they name.
    pub fn has_same_subject(&self, other: &Self) -> bool {
        let (one, two) = (&self.scope, &other.scope);
        // Statements without a topic may be about anything, so they are compared with all.
        let topics =
            one.topics.is_empty() || two.topics.is_empty() || !one.topics.is_disjoint(&two.topics);
        topics && (one.areas == two.areas || self.collect_areas() == other.collect_areas())
    }

    /// Whether they are under the same headings.
    pub fn shares_headings(&self, other: &Self) -> bool {
        self.scope.headings == other.scope.headings
    }

    /// The areas of its headings and of its own words.
    fn collect_areas(&self) -> BTreeSet<String> {
        let mut areas = self.scope.areas.clone();
        areas.extend(areas_of(&self.text));
        areas
    }
}

fn areas_of(text: &str) -> impl Iterator<Item = String> {
    subject::parse_subjects(text)
        .into_iter()
        .filter_map(|subject| match subject {
            HeadingSubject::Area(area) => Some(area),
            HeadingSubject::Topic(_) => None,
        })
}

/// All statements of a file, in order. `body` is the end of its text, behind
/// the frontmatter; lines are those of the file.
pub fn parse_statements(text: &str, body: &str) -> Vec<InstructionStatement> {
    let before = text[..text.len() - body.len()].matches('\n').count();
    let mut found = statements_of_body(body, "");
    for statement in &mut found {
        statement.line += before;
    }
    found
}

/// All statements of a text without frontmatter, in order. `name` is the
/// file's, which may name a language, too.
pub fn statements_of_body(body: &str, name: &str) -> Vec<InstructionStatement> {
    let mut reader = StatementParser {
        base: areas_of(name).collect(),
        ..StatementParser::default()
    };
    reader.update_scope();
    for (at, line) in body.lines().enumerate() {
        reader.parse_line(at + 1, line);
        if reader.found.len() >= MAX_STATEMENTS {
            break;
        }
    }
    reader.flush_paragraph();
    reader.found
}

#[derive(Default)]
struct StatementParser {
    found: Vec<InstructionStatement>,
    paragraph: String,
    /// Where each line of the paragraph begins, and its number.
    starts: Vec<(usize, usize)>,
    /// The mark of an open fence, and how long it is.
    fence: Option<(char, usize)>,
    comment: bool,
    /// Areas that the file's name implies.
    base: BTreeSet<String>,
    /// The open headings and their levels.
    headings: Vec<(usize, String)>,
    scope: Rc<HeadingScope>,
}

impl StatementParser {
    fn parse_line(&mut self, number: usize, line: &str) {
        let text = line.trim();
        let mark = text.chars().next().unwrap_or(' ');
        let run = text.chars().take_while(|c| *c == mark).count();
        if let Some((open, count)) = self.fence {
            if mark == open && run >= count && run == text.len() {
                self.fence = None;
            }
            return;
        }
        if self.comment {
            self.comment = !text.contains("-->");
            return;
        }
        if matches!(mark, '`' | '~') && run >= 3 {
            self.flush_paragraph();
            self.fence = Some((mark, run));
        } else if text.starts_with("<!--") {
            self.flush_paragraph();
            self.comment = !text.contains("-->");
        } else if mark == '#' && run <= 6 && (run == text.len() || text[run..].starts_with(' ')) {
            self.flush_paragraph();
            self.push_heading(run, text[run..].trim());
        } else if is_underline(text) && self.starts.len() == 1 {
            // A setext heading. Below several lines it would be a rule or an accident.
            let heading = std::mem::take(&mut self.paragraph);
            self.starts.clear();
            self.push_heading(if mark == '=' { 1 } else { 2 }, &heading);
        } else if text.is_empty()
            || matches!(mark, '|' | '<')
            || is_rule(text)
            || is_reference(text)
            || is_picture(text)
        {
            self.flush_paragraph();
        } else if let Some(item) = strip_list_mark(text) {
            self.flush_paragraph();
            self.begin_paragraph(number, item);
        } else if !self.starts.is_empty() {
            self.paragraph.push(' ');
            self.starts.push((self.paragraph.len(), number));
            self.paragraph.push_str(text);
        } else if !line.starts_with("    ") && !line.starts_with('\t') {
            let text = text.trim_start_matches(['>', ' ']);
            self.begin_paragraph(number, strip_list_mark(text).unwrap_or(text));
        }
    }

    fn begin_paragraph(&mut self, line: usize, text: &str) {
        self.starts.push((0, line));
        self.paragraph.push_str(text);
    }

    fn push_heading(&mut self, level: usize, text: &str) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, text.to_owned()));
        self.update_scope();
    }

    /// Works out what the open headings are about.
    fn update_scope(&mut self) {
        let mut scope = HeadingScope {
            areas: self.base.clone(),
            ..HeadingScope::default()
        };
        for (level, heading) in &self.headings {
            for subject in subject::parse_subjects(heading) {
                match subject {
                    HeadingSubject::Area(area) => {
                        scope.areas.insert(area);
                    }
                    // A title names the project, not what the statements below it are about.
                    HeadingSubject::Topic(topic) if *level > 1 => {
                        scope.topics.insert(topic);
                    }
                    HeadingSubject::Topic(_) => {}
                }
            }
            scope.headings.push(heading.clone());
        }
        self.scope = Rc::new(scope);
    }

    fn flush_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let starts = std::mem::take(&mut self.starts);
        for (at, sentence) in split_sentences(&paragraph) {
            // A sentence that ends in a colon only introduces a list.
            let whole = !sentence.ends_with(':');
            if whole && sentence.chars().nth(MAX_STATEMENT_CHARS).is_none() {
                let before = starts.partition_point(|(start, _)| *start <= at);
                self.found.push(InstructionStatement {
                    line: before.checked_sub(1).map_or(1, |last| starts[last].1),
                    text: sentence.to_owned(),
                    scope: Rc::clone(&self.scope),
                });
            }
        }
    }
}

fn is_underline(text: &str) -> bool {
    !text.is_empty()
        && (text.bytes().all(|byte| byte == b'=') || text.bytes().all(|byte| byte == b'-'))
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

/// Badges and pictures say nothing.
fn is_picture(text: &str) -> bool {
    text.starts_with("[![") || text.starts_with("![")
}

/// The text after a list mark and after a box to tick.
fn strip_list_mark(text: &str) -> Option<&str> {
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
fn split_sentences(text: &str) -> Vec<(usize, &str)> {
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
