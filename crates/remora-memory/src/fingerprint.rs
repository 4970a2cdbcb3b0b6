//! A short name for an error that stays the same in another run, another
//! checkout and another line, and differs for another test, code or symbol.
//! Stable across versions and platforms: a change of the normalising or of
//! the hash makes every stored fingerprint useless. What the error says is kept
//! beside it, so that `skeleton` can know it again in another place.

mod matchers;
mod normal;
mod pairs;
mod phrases;
mod skeleton;
mod table;

pub(crate) use skeleton::{MessageSkeleton, MessageStrength};

use remora_core::hash::stable_hash;
use remora_core::text::cut_chars;

use matchers::{ErrorLineRole, read_line};
use pairs::{BytePairs, holds_phrase};

use crate::output::{self, CommandOutcome, CommandReading, Problem};

/// Problems that take part; an error is known by its first few.
const MAX_PROBLEMS: usize = 3;
/// Bytes of one message.
const MAX_MESSAGE_BYTES: usize = 240;
/// Lines without any word for trouble that may tell an error.
const MAX_PLAIN_LINES: usize = 2;
/// Bytes from which the beginning of a message is enough to find the rest.
const MIN_TRUNCATED_BYTES: usize = 12;
/// Lines of an unknown text that are looked at, and those that may tell.
const MAX_SCANNED_LINES: usize = 400;
const MAX_DISTINCTIVE_LINES: usize = 40;
/// Lines behind a headline among which the message is looked for.
const MAX_HEADLINE_DISTANCE_LINES: usize = 8;
/// Characters of normalised text that take part.
const MAX_NORMALIZED_CHARS: usize = 600;

/// An error's name and what it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ErrorFingerprint {
    /// Sixteen hexadecimal digits.
    pub id: String,
    /// Tool, codes, subjects and messages with everything accidental removed.
    pub normal: String,
}

/// What a failing command tells of its error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorSigns {
    /// The fingerprint.
    pub(crate) print: Option<String>,
    /// What it says, wherever it says it; the most telling first.
    pub(crate) says: Vec<String>,
    /// The line that says it best, as printed, of a text that no reader knows.
    pub(crate) line: Option<String>,
}

/// The signs of an error, looked for behind whatever ran the tool. `reading` is
/// what the output was read as.
pub(crate) fn error_signs(
    command: &str,
    printed: &str,
    reading: Option<&CommandReading>,
) -> ErrorSigns {
    let plain = output::strip_control_codes(printed);
    let inner = output::strip_runner_prefixes(&plain);
    let behind = match &inner {
        std::borrow::Cow::Owned(inner) => {
            output::read_output(command, inner, CommandOutcome::Failed)
        }
        std::borrow::Cow::Borrowed(_) => None,
    };
    let tells = |reading: &&CommandReading| reading.problems.iter().any(|p| !is_runner(p));
    let reading = behind.as_ref().filter(tells).or(reading);
    let (tool, problems) = match reading {
        Some(reading) => (reading.tool, complete_messages(&reading.problems, &inner)),
        None => ("", Vec::new()),
    };
    let problems = problems.as_slice();
    let mut telling = read_lines(&inner);
    if problems.iter().all(is_runner) && tool_is_unread(reading) {
        telling.take_plain_lines();
    }
    let says = collect_messages(problems, &telling);
    // A tool that is known and names no fault has not said what went wrong.
    let is_silent = reading.is_some() && problems.is_empty() && says.is_empty();
    let print = make_print(tool, problems, &inner, &telling).filter(|_| !is_silent);
    ErrorSigns {
        print: print.map(|print| print.id),
        says,
        line: telling.best_line().map(str::to_owned),
    }
}

/// The problems with their messages as the text has them where a summary cut
/// them short: `Error 111 c...`.
fn complete_messages(problems: &[Problem], text: &str) -> Vec<Problem> {
    let complete = |problem: &Problem| {
        let cut = ["...", "…"]
            .iter()
            .find_map(|end| problem.message.strip_suffix(end));
        let whole = cut
            .filter(|cut| cut.len() > MIN_TRUNCATED_BYTES)
            .and_then(|cut| {
                let mut rests = text.lines().filter_map(|line| {
                    let at = line.find(cut)?;
                    Some(line[at..].trim())
                });
                rests.find(|rest| rest.len() > problem.message.len())
            });
        Problem {
            message: whole.unwrap_or(&problem.message).to_owned(),
            ..problem.clone()
        }
    };
    problems.iter().map(complete).collect()
}

/// Whether no reader knows the tool, but for that of a runner.
fn tool_is_unread(reading: Option<&CommandReading>) -> bool {
    reading.is_none_or(|reading| !reading.problems.is_empty())
}

/// Whether a problem is only that of whatever ran the tool that failed.
fn is_runner(problem: &Problem) -> bool {
    skeleton::is_runner(&problem.message)
        || problem.code.as_deref().is_some_and(skeleton::is_runner)
}

/// The fingerprint of what a tool reported, or of the lines of a text that speak
/// of an error. `None` when there is nothing to tell it by, as when a runner
/// says no more than that its command failed.
pub fn fingerprint_error(tool: &str, problems: &[Problem], text: &str) -> Option<ErrorFingerprint> {
    make_print(tool, problems, text, &read_lines(text))
}

fn make_print(
    tool: &str,
    problems: &[Problem],
    text: &str,
    telling: &DistinctiveLines,
) -> Option<ErrorFingerprint> {
    // A cause is the same whichever tool met it; what the tool then reported may
    // be the same for another cause.
    let is_caused = !telling.roots.is_empty() && !has_subjects(problems);
    let tool = if is_caused { "" } else { tool };
    let mut lines: Vec<String> = if is_caused {
        telling.roots.clone()
    } else {
        let own = problems.iter().filter(|problem| !is_runner(problem));
        own.map(problem_line).filter(|l| !l.is_empty()).collect()
    };
    // Tools that work in parallel report in any order.
    lines.sort();
    lines.dedup();
    lines.truncate(MAX_PROBLEMS);
    let is_bare = !is_caused && names_only(problems);
    if is_bare && telling.lines.is_empty() {
        // The same test, or the same package, breaks in many ways.
        return None;
    }
    if lines.is_empty() || is_bare {
        let printed = telling.lines.iter().map(|line| line.printed.clone());
        lines.extend(printed);
    }
    if lines.is_empty() {
        let tests = telling.tests.iter().filter(|test| tells_difference(test));
        lines.extend(tests.map(|test| format!("test {test}")));
    }
    if lines.is_empty() && telling.tests.is_empty() {
        lines.extend(last_line(text));
    }
    if lines.is_empty() {
        return None;
    }
    let tool = normal::normalise_text(tool);
    let mut normal = format!("{tool}\n{}", lines.join("\n"));
    if let Some(start) = cut_chars(&normal, MAX_NORMALIZED_CHARS) {
        normal.truncate(start.len());
    }
    Some(ErrorFingerprint {
        id: format!("{:016x}", hash_bytes(normal.as_bytes())),
        normal,
    })
}

/// What an error says, wherever it says it: codes and messages without files,
/// tests and symbols around them, and without everything accidental.
fn collect_messages(problems: &[Problem], telling: &DistinctiveLines) -> Vec<String> {
    if !telling.roots.is_empty() {
        return telling.roots.clone();
    }
    let said = |problem: &Problem| {
        let code = problem.code.as_deref().unwrap_or_default();
        // A row of the table says it without the tool's own code.
        let read = read_line(&problem.message);
        let code = match read.role {
            ErrorLineRole::Says | ErrorLineRole::Root => "",
            _ => code,
        };
        let text = match read.role {
            ErrorLineRole::Says | ErrorLineRole::Root | ErrorLineRole::Unknown => &read.text,
            _ => &problem.message,
        };
        let message = normal::normalise_text(text);
        format!("{code} {message}").trim().to_owned()
    };
    let inner = problems.iter().filter(|problem| !is_runner(problem));
    let mut lines: Vec<String> = inner.map(said).filter(|line| !line.is_empty()).collect();
    // What a test run printed beside its failures belongs to any of its tests,
    // but for lines that a row of the table knows.
    let read = !lines.is_empty();
    lines.retain(|line| MessageSkeleton::from_message(line).strength > MessageStrength::Nothing);
    if lines.is_empty() {
        let told = telling.lines.iter().filter(|line| !read || line.is_known);
        lines = told.map(|line| line.said.clone()).collect();
    }
    lines
        .sort_by_cached_key(|line| std::cmp::Reverse(MessageSkeleton::from_message(line).strength));
    lines.dedup();
    lines.truncate(MAX_PROBLEMS);
    for line in &mut lines {
        line.truncate(line.floor_char_boundary(MAX_MESSAGE_BYTES));
    }
    lines
}

/// Whether a reader says which tests failed: each has its own way to break.
fn has_subjects(problems: &[Problem]) -> bool {
    let mut own = problems.iter().filter(|problem| !is_runner(problem));
    own.any(|problem| problem.subject.is_some())
}

/// Whether a reader names what failed, and of none of it why.
fn names_only(problems: &[Problem]) -> bool {
    let mut own = problems.iter().filter(|problem| !is_runner(problem));
    let says = |problem: &Problem| problem.code.is_some() || !problem.message.trim().is_empty();
    has_subjects(problems) && !own.any(says)
}

/// Whether the line of a test goes on with what was not as it should be.
fn tells_difference(test: &str) -> bool {
    test.contains("failed: ")
}

fn problem_line(problem: &Problem) -> String {
    let file = problem
        .file
        .as_deref()
        .map(normal::file_name)
        .unwrap_or_default();
    let code = problem.code.as_deref().unwrap_or_default();
    let subject = problem
        .subject
        .as_deref()
        .map(normal::normalise_subject)
        .unwrap_or_default();
    let message = normal::normalise_text(&problem.message);
    [file, code, &subject, &message]
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Of a text the lines that tell an error from others.
#[derive(Debug, Default)]
struct DistinctiveLines {
    /// Causes of whatever else was printed, in the words of the table.
    roots: Vec<String>,
    /// The first of them, as printed.
    root_line: Option<String>,
    /// Lines that speak of an error, the most telling first.
    lines: Vec<DistinctiveLine>,
    /// Names of tests that failed.
    tests: Vec<String>,
    /// Lines that say something without any word for trouble, in their order.
    plain: Vec<DistinctiveLine>,
}

#[derive(Debug)]
struct DistinctiveLine {
    /// Those that a row of the table knows come before those that have a word
    /// for trouble in them.
    is_known: bool,
    strength: MessageStrength,
    /// As printed.
    raw: String,
    /// The same without everything accidental.
    printed: String,
    /// What it says.
    said: String,
}

impl DistinctiveLines {
    /// Where no line speaks of an error, the last ones that say something do.
    fn take_plain_lines(&mut self) {
        if self.roots.is_empty() && self.lines.is_empty() && self.tests.is_empty() {
            let from = self.plain.len().saturating_sub(MAX_PLAIN_LINES);
            self.lines = self.plain.split_off(from);
        }
    }

    fn best_line(&self) -> Option<&str> {
        let line = self.lines.first().map(|line| line.raw.as_str());
        self.root_line.as_deref().or(line)
    }
}

/// Reads the lines of a text that no reader knows.
fn read_lines(text: &str) -> DistinctiveLines {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Exit code "))
        .collect();
    let from = lines.len().saturating_sub(MAX_SCANNED_LINES);
    let mut telling = DistinctiveLines::default();
    // A headline that says too little waits for the line that says more.
    let mut head: Option<(String, usize)> = None;
    for line in &lines[from..] {
        let read = read_line(line);
        head.take_if(|(_, left)| {
            *left -= 1;
            *left == 0
        });
        match read.role {
            ErrorLineRole::Noise | ErrorLineRole::Local => continue,
            ErrorLineRole::Test => {
                push_once(&mut telling.tests, normal::normalise_subject(&read.text));
                continue;
            }
            ErrorLineRole::Head => {
                head = Some((String::new(), MAX_HEADLINE_DISTANCE_LINES));
                continue;
            }
            ErrorLineRole::Root => {
                push_once(&mut telling.roots, normal::normalise_text(&read.text));
                telling.root_line.get_or_insert_with(|| (*line).to_owned());
                continue;
            }
            ErrorLineRole::Says | ErrorLineRole::Unknown => {}
        }
        let is_known = read.role == ErrorLineRole::Says;
        let is_place = is_place(line) || is_code(line);
        let mut said = read.text;
        let announced = if is_place { None } else { head.take() };
        if !is_known && announced.is_none() && (is_place || !speaks_of_error(line)) {
            telling.plain.extend(read_plain_line(line));
            continue;
        }
        if let Some((before, _)) = &announced {
            let weak = normal::normalise_text(before);
            telling.lines.retain(|line| line.said != weak);
            if !is_known {
                said = [before.as_str(), &said].join(" ");
            }
        }
        let skeleton = MessageSkeleton::from_message(&said);
        if announced.is_none() && skeleton.is_weak() {
            head = Some((said.clone(), MAX_HEADLINE_DISTANCE_LINES));
        }
        let line = DistinctiveLine {
            is_known: is_known || announced.is_some(),
            strength: skeleton.strength,
            raw: (*line).to_owned(),
            printed: normal::normalise_text(line),
            said: normal::normalise_text(&said),
        };
        let known = telling.lines.iter().any(|other| other.said == line.said);
        if skeleton.can_tell() && !line.printed.is_empty() && !known {
            telling.lines.push(line);
        }
        if telling.lines.len() == MAX_DISTINCTIVE_LINES {
            break;
        }
    }
    // The first of the strongest: what follows is often its echo.
    let order = |line: &DistinctiveLine| std::cmp::Reverse((line.is_known, line.strength));
    telling.lines.sort_by_key(order);
    telling.lines.truncate(MAX_PROBLEMS);
    telling.roots.truncate(MAX_PROBLEMS);
    telling.tests.truncate(MAX_PROBLEMS);
    telling
}

/// A line that says something by itself, though no word in it is for trouble.
fn read_plain_line(line: &str) -> Option<DistinctiveLine> {
    let text = line.strip_prefix("> ").unwrap_or(line);
    let skeleton = MessageSkeleton::from_message(text);
    let said = normal::normalise_text(text);
    let is_heading = text.ends_with(':');
    let tells = skeleton.says_much() && !is_heading && !is_place(text) && !is_code(text);
    tells.then(|| DistinctiveLine {
        is_known: false,
        strength: skeleton.strength,
        raw: line.to_owned(),
        printed: said.clone(),
        said,
    })
}

fn push_once(list: &mut Vec<String>, text: String) {
    if !text.is_empty() && !list.contains(&text) {
        list.push(text);
    }
}

/// Where something stands, or an excerpt of it: `14: acl = x`, `12 | let a`.
fn is_place(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].trim_start();
    digits > 0 && rest.starts_with([':', '|']) || line.starts_with(['|', '^', '#', '@', '>', '~'])
}

/// A line of a program that a tool shows, which may well speak of errors.
fn is_code(line: &str) -> bool {
    line.ends_with(['{', '}', ';']) || line.contains(" := ") || line.contains("func(")
}

fn speaks_of_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    holds_phrase(&lower, BytePairs::from_text(&lower), phrases::ERROR_PHRASES)
}

/// The last line of a text that does not speak of an error, unless it only says
/// how a run ended.
fn last_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let last = lines.next_back()?;
    let said = normal::normalise_text(last);
    let tells = last.chars().any(char::is_alphabetic)
        && !last.starts_with("Exit code ")
        && !skeleton::is_runner(&said)
        && MessageSkeleton::from_message(last).says_anything();
    tells.then_some(said)
}

/// A hash, finished by a mix so that close texts have distant names.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = stable_hash(bytes);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;
