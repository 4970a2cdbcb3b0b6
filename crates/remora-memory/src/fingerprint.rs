//! A short name for an error that stays the same in another run, another
//! checkout and another line, and differs for another test, code or symbol.
//! Stable across versions and platforms: a change of the normalising or of
//! the hash makes every stored fingerprint useless. What the error says is kept
//! beside it, so that `skeleton` can know it again in another place.

mod normal;
mod phrases;
mod skeleton;

pub(crate) use skeleton::{Skeleton, Strength};

use crate::output::{self, Outcome, Problem, Reading};

/// Problems that take part; an error is known by its first few.
const PROBLEMS: usize = 3;
/// Bytes of one message.
const MESSAGE: usize = 240;
/// Lines of an unknown text that are looked at, and those that may tell.
const LINES: usize = 400;
const TELLING: usize = 40;
/// Characters of normalised text that take part.
const LONGEST: usize = 600;

/// An error's name and what it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fingerprint {
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
}

/// The signs of an error, looked for behind whatever ran the tool. `reading` is
/// what the output was read as.
pub(crate) fn error_signs(command: &str, printed: &str, reading: Option<&Reading>) -> ErrorSigns {
    let inner = output::unwrap(printed);
    let behind = match &inner {
        std::borrow::Cow::Owned(inner) => output::read(command, inner, Outcome::Failed),
        std::borrow::Cow::Borrowed(_) => None,
    };
    let tells = |reading: &&Reading| reading.problems.iter().any(|p| !is_runner(p));
    let reading = behind.as_ref().filter(tells).or(reading);
    let (tool, problems) = match reading {
        Some(reading) => (reading.tool, reading.problems.as_slice()),
        None => ("", [].as_slice()),
    };
    ErrorSigns {
        print: fingerprint(tool, problems, &inner).map(|print| print.id),
        says: messages(problems, &inner),
    }
}

/// Whether a problem is only that of whatever ran the tool that failed.
fn is_runner(problem: &Problem) -> bool {
    skeleton::is_runner(&problem.message)
        || problem.code.as_deref().is_some_and(skeleton::is_runner)
}

/// The fingerprint of what a tool reported, or of the lines of a text that speak
/// of an error. `None` when there is nothing to tell it by, as when a runner
/// says no more than that its command failed.
pub fn fingerprint(tool: &str, problems: &[Problem], text: &str) -> Option<Fingerprint> {
    let mut lines: Vec<String> = problems
        .iter()
        .filter(|problem| !is_runner(problem))
        .map(problem_line)
        .filter(|l| !l.is_empty())
        .collect();
    // Tools that work in parallel report in any order.
    lines.sort();
    lines.dedup();
    lines.truncate(PROBLEMS);
    if lines.is_empty() {
        lines = telling_lines(text);
    }
    if lines.is_empty() {
        lines.extend(last_line(text));
    }
    if lines.is_empty() {
        return None;
    }
    let tool = normal::normalise(tool);
    let mut normal = format!("{tool}\n{}", lines.join("\n"));
    if let Some((end, _)) = normal.char_indices().nth(LONGEST) {
        normal.truncate(end);
    }
    Some(Fingerprint {
        id: format!("{:016x}", hash(normal.as_bytes())),
        normal,
    })
}

/// What an error says, wherever it says it: codes and messages without files,
/// tests and symbols around them, and without everything accidental.
fn messages(problems: &[Problem], text: &str) -> Vec<String> {
    let said = |problem: &Problem| {
        let code = problem.code.as_deref().unwrap_or_default();
        let message = normal::normalise(&problem.message);
        format!("{code} {message}").trim().to_owned()
    };
    let inner = problems.iter().filter(|problem| !is_runner(problem));
    let mut lines: Vec<String> = inner.map(said).filter(|line| !line.is_empty()).collect();
    // What a test run printed beside its failures belongs to any of its tests.
    let read = !lines.is_empty();
    lines.retain(|line| Skeleton::of(line).strength > Strength::Nothing);
    if !read {
        lines = telling_lines(text);
    }
    lines.sort_by_key(|line| std::cmp::Reverse(Skeleton::of(line).strength));
    lines.dedup();
    lines.truncate(PROBLEMS);
    for line in &mut lines {
        line.truncate(line.floor_char_boundary(MESSAGE));
    }
    lines
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
        .map(normal::subject)
        .unwrap_or_default();
    let message = normal::normalise(&problem.message);
    [file, code, &subject, &message]
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Of an unknown text the lines that speak of an error and tell it from others.
fn telling_lines(text: &str) -> Vec<String> {
    const WORDS: &[&str] = &[
        "error",
        "fail",
        "exception",
        "panic",
        "fatal",
        "cannot",
        "could not",
        "can't",
        "not found",
        "no such",
        "denied",
        "refused",
        "rejected",
        "invalid",
        "missing",
        "unable",
        "unknown",
        "undefined",
        "unexpected",
        "not allowed",
        "forbidden",
        "race",
        "err_",
    ];
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Exit code "))
        .collect();
    let from = lines.len().saturating_sub(LINES);
    let mut told: Vec<(Strength, String)> = Vec::new();
    for line in &lines[from..] {
        let lower = line.to_lowercase();
        if !WORDS.iter().any(|w| lower.contains(w)) {
            continue;
        }
        let skeleton = Skeleton::of(line);
        let line = normal::normalise(line);
        let known = told.iter().any(|(_, other)| *other == line);
        if skeleton.can_tell() && !line.is_empty() && !known {
            told.push((skeleton.strength, line));
        }
        if told.len() == TELLING {
            break;
        }
    }
    // The first of the strongest: what follows is often its echo.
    told.sort_by_key(|(strength, _)| std::cmp::Reverse(*strength));
    told.truncate(PROBLEMS);
    told.into_iter().map(|(_, line)| line).collect()
}

/// The last line of a text that does not speak of an error, unless it only says
/// how a run ended.
fn last_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let last = lines.next_back()?;
    let tells = last.chars().any(char::is_alphabetic)
        && !last.starts_with("Exit code ")
        && !skeleton::is_runner(last)
        && Skeleton::of(last).strength > Strength::Nothing;
    tells.then(|| normal::normalise(last))
}

/// FNV-1a, 64 bits, finished by a mix so that close texts have distant names.
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash ^= u64::from(*byte);
        hash = hash.wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;
