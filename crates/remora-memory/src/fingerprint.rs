//! A short name for an error that stays the same in another run, checkout or line,
//! and differs for another test, code or symbol. Stable across versions and
//! platforms: a change of the normalisation or of the hash makes every stored
//! fingerprint useless. The messages of the error are stored with it, so that
//! `skeleton` can recognise it elsewhere.

mod matchers;
mod normal;
mod pairs;
mod phrases;
mod skeleton;
mod table;

pub(crate) use skeleton::{MessageLikeness, MessageSkeleton, MessageStrength};

use remora_core::hash::stable_hash;
use remora_core::text::cut_chars;

use matchers::{ErrorLineRole, read_line};
use pairs::{BytePairs, holds_phrase};

use crate::output::{self, CommandOutcome, CommandReading, Problem};

/// Problems that count; an error is identified by its first few.
const MAX_PROBLEMS: usize = 3;
/// Bytes of one message.
const MAX_MESSAGE_BYTES: usize = 240;
/// Lines without any word for an error that may describe one.
const MAX_PLAIN_LINES: usize = 2;
/// Bytes that a truncated message must have to find the rest of it.
const MIN_TRUNCATED_BYTES: usize = 12;
/// Lines of an unknown text that are read, and those that may count.
const MAX_SCANNED_LINES: usize = 400;
const MAX_DISTINCTIVE_LINES: usize = 40;
/// Lines after a headline among which the message is searched for.
const MAX_HEADLINE_DISTANCE_LINES: usize = 8;
/// Characters of normalised text that are hashed.
const MAX_NORMALIZED_CHARS: usize = 600;

/// The fingerprint and the text it was computed from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ErrorFingerprint {
    /// Sixteen hexadecimal digits.
    pub id: String,
    /// Tool, codes, subjects and messages, normalised.
    pub normal: String,
}

/// What the output of a failing command says about its error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorSigns {
    /// The fingerprint.
    pub(crate) print: Option<String>,
    /// Its messages, the most distinctive first.
    pub(crate) says: Vec<String>,
    /// The best line as printed, of output that no reader recognises.
    pub(crate) line: Option<String>,
}

/// The signs of an error, searched for behind the prefixes of whatever ran the
/// tool. `reading` is how the output was read.
pub(crate) fn error_signs(
    command: &str,
    printed: &str,
    reading: Option<&CommandReading>,
) -> ErrorSigns {
    // A CI log or a container adds a time and a name to every line; behind them is
    // the output that a reader recognises.
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
    // A recognised tool that names no problem has not said what went wrong.
    let is_silent = reading.is_some() && problems.is_empty() && says.is_empty();
    let print = make_print(tool, problems, &inner, &telling).filter(|_| !is_silent);
    ErrorSigns {
        print: print.map(|print| print.id),
        says,
        line: telling.best_line().map(str::to_owned),
    }
}

/// The problems with messages completed from the text where a tool's summary
/// truncated them: `Error 111 c...`. The width of a terminal must not change a
/// fingerprint.
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

/// Whether no reader recognises the tool, or only that of a runner does.
fn tool_is_unread(reading: Option<&CommandReading>) -> bool {
    reading.is_none_or(|reading| !reading.problems.is_empty())
}

/// Whether a problem only says that a runner's command failed.
fn is_runner(problem: &Problem) -> bool {
    skeleton::is_runner(&problem.message)
        || problem.code.as_deref().is_some_and(skeleton::is_runner)
}

/// The fingerprint of what a tool reported, or of the lines of a text that are about
/// an error. `None` if nothing identifies it, as when a runner only says that its
/// command failed.
pub fn fingerprint_error(tool: &str, problems: &[Problem], text: &str) -> Option<ErrorFingerprint> {
    make_print(tool, problems, text, &read_lines(text))
}

fn make_print(
    tool: &str,
    problems: &[Problem],
    text: &str,
    telling: &DistinctiveLines,
) -> Option<ErrorFingerprint> {
    // A cause is the same whichever tool met it, and what the tool reports then may
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
        // The name of a test or package alone identifies no error: it breaks in many
        // ways.
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

/// The messages of an error: codes and texts without the files, tests and symbols
/// around them, normalised.
fn collect_messages(problems: &[Problem], telling: &DistinctiveLines) -> Vec<String> {
    if !telling.roots.is_empty() {
        return telling.roots.clone();
    }
    let said = |problem: &Problem| {
        let code = problem.code.as_deref().unwrap_or_default();
        // Where the table knows the message, its words replace the tool's own code: the
        // same error of another tool has another code.
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
    // What a test run printed besides its failures may belong to any of its tests,
    // except for lines that the table knows.
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

/// Whether a reader names the tests that failed: each has its own way to break.
fn has_subjects(problems: &[Problem]) -> bool {
    let mut own = problems.iter().filter(|problem| !is_runner(problem));
    own.any(|problem| problem.subject.is_some())
}

/// Whether a reader names what failed, but for none of it why.
fn names_only(problems: &[Problem]) -> bool {
    let mut own = problems.iter().filter(|problem| !is_runner(problem));
    let says = |problem: &Problem| problem.code.is_some() || !problem.message.trim().is_empty();
    has_subjects(problems) && !own.any(says)
}

/// Whether the line of a test also says what was wrong.
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

/// The lines of a text that distinguish its error from others.
#[derive(Debug, Default)]
struct DistinctiveLines {
    /// Root causes, in the words of the table.
    roots: Vec<String>,
    /// The first of them, as printed.
    root_line: Option<String>,
    /// Lines about an error, the most distinctive first.
    lines: Vec<DistinctiveLine>,
    /// Names of tests that failed.
    tests: Vec<String>,
    /// Lines that say something without any word for an error, in order.
    plain: Vec<DistinctiveLine>,
}

#[derive(Debug)]
struct DistinctiveLine {
    /// Whether the table knows it; such lines come before those that only contain a
    /// word for an error.
    is_known: bool,
    strength: MessageStrength,
    /// As printed.
    raw: String,
    /// The same, normalised.
    printed: String,
    /// Its message, normalised.
    said: String,
}

impl DistinctiveLines {
    /// Uses the last lines that say something if none is about an error.
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

/// Reads the lines of output that no reader recognises.
fn read_lines(text: &str) -> DistinctiveLines {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.starts_with("Exit code "))
        .collect();
    // From the end, where tools report what failed.
    let from = lines.len().saturating_sub(MAX_SCANNED_LINES);
    let mut telling = DistinctiveLines::default();
    // A headline that says too little is held back until a line says more.
    let mut head: Option<(String, usize)> = None;
    for line in &lines[from..] {
        let line = &strip_carets(line);
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
        // What ends in a colon is said in the next line.
        let is_heading = !is_known && announced.is_none() && said.ends_with(':');
        if is_heading {
            said = last_clause(&said).to_owned();
        }
        let speaks = speaks_of_error(line) || skeleton::begins_with_code(&said);
        if !is_known && announced.is_none() && (is_place || !speaks) {
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
        let tells = skeleton.strength > MessageStrength::Nothing;
        if announced.is_none() && (is_heading && tells || skeleton.is_weak()) {
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
    // The sort is stable, so the first of the strongest stays first: what follows it
    // is often its echo.
    let order = |line: &DistinctiveLine| std::cmp::Reverse((line.is_known, line.strength));
    telling.lines.sort_by_key(order);
    telling.lines.truncate(MAX_PROBLEMS);
    telling.roots.truncate(MAX_PROBLEMS);
    telling.tests.truncate(MAX_PROBLEMS);
    telling
}

/// A line that says enough by itself although it contains no word for an error.
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

/// The label behind the carets under a piece of source: `^--^ SC2086: Double quote`.
/// Carets alone stay as they are.
fn strip_carets(line: &str) -> &str {
    let label = line.trim_start_matches(['^', '~', '-']).trim_start();
    if line.starts_with('^') && label.contains(' ') {
        label
    } else {
        line
    }
}

/// The last clause of a heading, with its colon.
fn last_clause(heading: &str) -> &str {
    let bare = heading.strip_suffix(':').unwrap_or(heading);
    let start = bare.rfind(": ").map_or(0, |at| at + 2);
    &heading[start..]
}

fn push_once(list: &mut Vec<String>, text: String) {
    if !text.is_empty() && !list.contains(&text) {
        list.push(text);
    }
}

/// Whether it is a source location or an excerpt: `14: acl = x`, `12 | let a`.
fn is_place(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].trim_start();
    digits > 0 && rest.starts_with([':', '|']) || line.starts_with(['|', '^', '#', '@', '>', '~'])
}

/// Whether it is a line of source code that a tool shows, which may well contain
/// words for errors.
fn is_code(line: &str) -> bool {
    line.ends_with(['{', '}', ';']) || line.contains(" := ") || line.contains("func(")
}

fn speaks_of_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    holds_phrase(&lower, BytePairs::from_text(&lower), phrases::ERROR_PHRASES)
}

/// The last line of a text, unless it only says how a run ended.
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

/// A hash with a final mix, so that similar texts have different ids.
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = stable_hash(bytes);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;
