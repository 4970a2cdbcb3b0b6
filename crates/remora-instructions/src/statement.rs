//! Markdown as single statements: list items and sentences with their lines
//! and what the headings above them are about, without code, tables, headings,
//! comments and pictures. Pure.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::frontmatter;
use crate::wording::subject::{self, Subject};

/// The longest text that counts as one statement, in characters.
const LONGEST: usize = 400;
/// Statements of one text that are looked at.
const MOST: usize = 5_000;

/// Ends of words that do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g.", "(e.g.", "i.e.", "(i.e.", "etc.", "vs.", "approx.", "no.", "cf.",
];

/// One thing that a text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The line it begins on, from 1.
    pub(crate) line: usize,
    /// Its words on one line, without list marks.
    pub(crate) text: String,
    /// What it is about, by its headings.
    pub(crate) scope: Rc<Scope>,
}

/// What a statement is about, by its headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Languages and parts of a project.
    areas: BTreeSet<String>,
    /// Other words of the headings, below the title.
    topics: BTreeSet<String>,
    /// The headings themselves.
    headings: Vec<String>,
}

impl Statement {
    /// Whether two statements speak of the same thing, as far as headings and
    /// the languages and parts tell that they name.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let (one, two) = (&self.scope, &other.scope);
        let topics =
            one.topics.is_empty() || two.topics.is_empty() || !one.topics.is_disjoint(&two.topics);
        topics && (one.areas == two.areas || self.areas() == other.areas())
    }

    /// Whether they stand under the same headings.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.scope.headings == other.scope.headings
    }

    /// The areas of its headings and of its own words.
    fn areas(&self) -> BTreeSet<String> {
        let mut areas = self.scope.areas.clone();
        areas.extend(areas_of(&self.text));
        areas
    }
}

fn areas_of(text: &str) -> impl Iterator<Item = String> {
    subject::of(text)
        .into_iter()
        .filter_map(|subject| match subject {
            Subject::Area(area) => Some(area),
            Subject::Topic(_) => None,
        })
}

/// All statements of a file, in order.
pub(crate) fn statements(text: &str) -> Vec<Statement> {
    let (_, body) = frontmatter::split(text);
    let before = text[..text.len() - body.len()].matches('\n').count();
    let mut found = statements_of_body(body, "");
    for statement in &mut found {
        statement.line += before;
    }
    found
}

/// All statements of a text without frontmatter, in order. `name` is the
/// file's, which may name a language, too.
pub(crate) fn statements_of_body(body: &str, name: &str) -> Vec<Statement> {
    let mut reader = Reader {
        base: areas_of(name).collect(),
        ..Reader::default()
    };
    reader.enter();
    for (at, line) in body.lines().enumerate() {
        reader.line(at + 1, line);
        if reader.found.len() >= MOST {
            break;
        }
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
    /// The mark of an open fence, and how long it is.
    fence: Option<(char, usize)>,
    comment: bool,
    /// Areas that the file's name tells of.
    base: BTreeSet<String>,
    /// The open headings and their levels.
    headings: Vec<(usize, String)>,
    scope: Rc<Scope>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
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
            self.flush();
            self.fence = Some((mark, run));
        } else if text.starts_with("<!--") {
            self.flush();
            self.comment = !text.contains("-->");
        } else if mark == '#' && run <= 6 && (run == text.len() || text[run..].starts_with(' ')) {
            self.flush();
            self.heading(run, text[run..].trim());
        } else if is_underline(text) && self.starts.len() == 1 {
            // A line of these under a single line makes that a heading.
            let heading = std::mem::take(&mut self.paragraph);
            self.starts.clear();
            self.heading(if mark == '=' { 1 } else { 2 }, &heading);
        } else if text.is_empty()
            || matches!(mark, '|' | '<')
            || is_rule(text)
            || is_reference(text)
            || is_picture(text)
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
            let text = text.trim_start_matches(['>', ' ']);
            self.begin(number, item(text).unwrap_or(text));
        }
    }

    fn begin(&mut self, line: usize, text: &str) {
        self.starts.push((0, line));
        self.paragraph.push_str(text);
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.headings.retain(|(above, _)| *above < level);
        self.headings.push((level, text.to_owned()));
        self.enter();
    }

    /// Works out what the open headings are about.
    fn enter(&mut self) {
        let mut scope = Scope {
            areas: self.base.clone(),
            ..Scope::default()
        };
        for (level, heading) in &self.headings {
            for subject in subject::of(heading) {
                match subject {
                    Subject::Area(area) => {
                        scope.areas.insert(area);
                    }
                    // The title names the project.
                    Subject::Topic(topic) if *level > 1 => {
                        scope.topics.insert(topic);
                    }
                    Subject::Topic(_) => {}
                }
            }
            scope.headings.push(heading.clone());
        }
        self.scope = Rc::new(scope);
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
