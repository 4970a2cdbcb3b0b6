//! A short name for an error that stays the same in another run, another
//! checkout and another line, and differs for another test, code or symbol.
//! Stable across versions and platforms: a change of the normalising or of
//! the hash makes every stored fingerprint useless.

mod normal;

use crate::output::Problem;

/// Problems that take part; an error is known by its first few.
const PROBLEMS: usize = 3;
/// Bytes of one message.
const MESSAGE: usize = 240;
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

/// The fingerprint of what a tool reported, or of the last lines of a text
/// that nobody could read. `None` when there is nothing to tell it by.
pub fn fingerprint(tool: &str, problems: &[Problem], text: &str) -> Option<Fingerprint> {
    let mut lines: Vec<String> = problems
        .iter()
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
pub fn messages(problems: &[Problem], text: &str) -> Vec<String> {
    let said = |problem: &Problem| {
        let code = problem.code.as_deref().unwrap_or_default();
        let message = normal::normalise(&problem.message);
        format!("{code} {message}").trim().to_owned()
    };
    let mut lines: Vec<String> = problems.iter().map(said).collect();
    if lines.is_empty() {
        lines = telling_lines(text);
    }
    lines.retain(|line| !line.is_empty());
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

/// Of an unknown text the lines that speak of an error, else its last line.
fn telling_lines(text: &str) -> Vec<String> {
    const WORDS: &[&str] = &[
        "error",
        "fail",
        "exception",
        "panic",
        "fatal",
        "cannot",
        "not found",
        "denied",
        "refused",
    ];
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Exit code "))
        .collect();
    let from = lines.len().saturating_sub(200);
    let mut told: Vec<String> = Vec::new();
    for line in &lines[from..] {
        let lower = line.to_lowercase();
        if WORDS.iter().any(|w| lower.contains(w)) {
            let line = normal::normalise(line);
            if !line.is_empty() && !told.contains(&line) {
                told.push(line);
            }
            if told.len() == PROBLEMS {
                break;
            }
        }
    }
    if told.is_empty() {
        let last = lines.last().filter(|l| l.chars().any(char::is_alphabetic));
        told.extend(last.map(|l| normal::normalise(l)));
    }
    told
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
