//! Stack traces of Rust, Python, JavaScript, Java and Go: why the program
//! stopped and the first frame of its own code.

use super::draft::{CommandDraft, CommandOutput};
use super::trace_frames::{
    self, is_python_library, java_frame, js_frame, own_java_frame, own_js_frame, python_frame,
};
use super::{CommandOutcome, Problem, text};

/// The last trace of the text that any of the languages knows.
pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // Node last: Java's `at` frames and the `Error:` lines of other languages
    // fit its reader as well.
    parse_rust_trace(doc)
        .or_else(|| parse_python_trace(doc))
        .or_else(|| parse_go_trace(doc))
        .or_else(|| parse_java_trace(doc))
        .or_else(|| parse_node_trace(doc))
}

fn build_draft(tool: &'static str, at: usize, kind: &str, problem: Problem) -> CommandDraft {
    let mut draft = CommandDraft::new(tool);
    draft.verdict = Some(CommandOutcome::Failed);
    let place = problem
        .short_place()
        .map(|p| format!(" in {p}"))
        .unwrap_or_default();
    let function = problem
        .subject
        .as_ref()
        .filter(|_| place.is_empty())
        .map(|f| format!(" in {f}"))
        .unwrap_or_default();
    draft.title = if problem.message.is_empty() {
        format!("{kind}{place}{function}")
    } else {
        format!("{kind}{place}{function}: {}", problem.message)
    };
    draft.add_concept("crash");
    draft.add_fact(problem.to_text());
    if let Some(function) = &problem.subject {
        draft.add_fact(format!("in {function}"));
    }
    draft.add_problem(at, problem);
    draft
}

fn parse_rust_trace(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let panic = trace_frames::rust_panic(&doc.lines)?;
    let mut problem = Problem::new(panic.message);
    if let Some((file, line)) = &panic.place {
        problem = problem.with_location(file, *line);
    }
    // The place of a panic inside the standard library is not the fault's.
    let frame = backtrace_frame(doc, panic.at);
    let outside = panic
        .place
        .as_ref()
        .is_none_or(|(file, _)| is_rust_library(file));
    if let Some((function, file, line)) = frame {
        if outside && !file.is_empty() {
            problem = problem.with_location(&file, line);
        }
        problem = problem.with_subject(&function);
    }
    let mut draft = build_draft("stack trace (rust)", panic.at, "Rust panic", problem);
    if panic.thread != "main" && !panic.thread.starts_with('<') {
        draft.add_fact(format!("thread {}", panic.thread));
    }
    draft.add_concept("panic");
    Some(draft)
}

fn is_rust_library(file: &str) -> bool {
    file.starts_with("/rustc/")
        || file.contains("/.cargo/registry/")
        || file.contains("/rustlib/src/")
}

/// The first frame of a backtrace that is neither the runtime nor a library.
fn backtrace_frame(doc: &CommandOutput<'_>, from: usize) -> Option<(String, String, u32)> {
    let start = from
        + doc
            .lines
            .get(from..)?
            .iter()
            .take(40)
            .position(|l| l.starts_with("stack backtrace:"))?;
    let mut function: Option<&str> = None;
    for line in doc.lines.iter().skip(start + 1).take(120) {
        let t = line.trim_start();
        if let Some(place) = t.strip_prefix("at ") {
            let found = text::parse_location(place);
            if let (Some(function), Some(found)) = (function.take(), found)
                && !is_rust_library(found.file)
            {
                return Some((function.to_owned(), found.file.to_owned(), found.line));
            }
        } else if let Some((_, rest)) = text::parse_number(t).filter(|(_, r)| r.starts_with(": ")) {
            let name = rest[2..].trim();
            let runtime = [
                "std::",
                "core::",
                "<core::",
                "<std::",
                "alloc::",
                "rust_begin_unwind",
                "__",
                "_start",
                "<alloc::",
            ];
            function = (!runtime.iter().any(|r| name.starts_with(r))).then_some(name);
        }
    }
    None
}

fn parse_python_trace(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let start = doc
        .lines
        .iter()
        // The last one is what ended the program; earlier ones are its causes
        // or were caught.
        .rposition(|l| l.ends_with("Traceback (most recent call last):"));
    let Some(start) = start else {
        return python_syntax(doc);
    };
    let first = doc
        .lines
        .iter()
        .position(|l| l.ends_with("Traceback (most recent call last):"))?;
    let (end, message) = python_end(doc, start)?;
    let problem = python_problem(doc, start, end, message);
    let mut draft = build_draft("stack trace (python)", start, "Python", problem);
    let kind = message.split([':', ' ']).next().unwrap_or_default();
    draft.title = format_title("Python", kind, &draft.problems[0], message);
    draft.keep_lines(end, end + 1);
    if first != start
        && doc.lines[first..start]
            .iter()
            .any(|l| l.contains("direct cause of") || l.contains("During handling of"))
        && let Some((_, cause)) = python_end(doc, first)
    {
        draft.add_fact(format!("caused by {cause}"));
        draft.keep_lines(first, first + 4);
    }
    if message.starts_with("ModuleNotFoundError") || message.starts_with("ImportError") {
        draft.add_concept("missing module");
    }
    Some(draft)
}

/// A program that does not parse has a place but no trace.
fn python_syntax(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let end = doc.lines.iter().rposition(|l| {
        ["SyntaxError: ", "IndentationError: ", "TabError: "]
            .iter()
            .any(|e| l.starts_with(e))
    })?;
    let start = doc.lines[..end]
        .iter()
        .rposition(|l| python_frame(l).is_some())?;
    // Too far apart to belong together.
    if end - start > 6 {
        return None;
    }
    let message = doc.lines[end];
    let problem = python_problem(doc, start, end, message);
    let mut draft = build_draft("stack trace (python)", start, "Python", problem);
    draft.title = format_title("Python", "SyntaxError", &draft.problems[0], message);
    Some(draft)
}

fn format_title(language: &str, kind: &str, problem: &Problem, message: &str) -> String {
    let place = problem
        .short_place()
        .map(|p| format!(" in {p}"))
        .unwrap_or_default();
    let said = message
        .strip_prefix(kind)
        .unwrap_or(message)
        .trim_start_matches(':')
        .trim();
    let kind = kind.rsplit(['.', '$']).next().unwrap_or(kind);
    if said.is_empty() {
        format!("{language} {kind}{place}")
    } else {
        format!("{language} {kind}{place}: {said}")
    }
}

/// The line that names the exception: the first one that is not indented.
fn python_end<'a>(doc: &'a CommandOutput<'_>, start: usize) -> Option<(usize, &'a str)> {
    let indent = doc.lines[start].find("Traceback")?;
    // What announces it on the same line is no indentation of what follows.
    let before = &doc.lines[start][..indent];
    let announced = before.contains(|c: char| !matches!(c, ' ' | '\t' | '|' | '+'));
    let indent = if announced { 0 } else { indent };
    doc.lines
        .iter()
        .enumerate()
        .skip(start + 1)
        .take(400)
        .find_map(|(at, line)| {
            let text = line.get(indent..)?;
            (!text.is_empty() && !text.starts_with([' ', '\t', '|', '+'])).then_some((at, text))
        })
}

fn python_problem(doc: &CommandOutput<'_>, start: usize, end: usize, message: &str) -> Problem {
    let frames: Vec<_> = doc.lines[start..end.max(start)]
        .iter()
        .filter_map(|l| python_frame(l))
        .collect();
    let own = frames
        .iter()
        .rev()
        .find(|f| !is_python_library(&f.file))
        .or(frames.last());
    let mut problem =
        Problem::new(message).with_code(message.split([':', ' ']).next().unwrap_or_default());
    if let Some(frame) = own {
        // `<string>` and `<stdin>` are no files.
        if !frame.file.starts_with('<') {
            problem = problem.with_location(&frame.file, frame.line);
        }
        if frame.function != "<module>" {
            problem = problem.with_subject(&frame.function);
        }
    }
    problem
}

fn parse_go_trace(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let at = doc
        .lines
        .iter()
        .position(|l| l.starts_with("panic: ") || l.starts_with("fatal error: "))?;
    let message = doc.lines[at].split_once(": ").map_or("", |(_, m)| m);
    let running = at
        + doc.lines[at..]
            .iter()
            .take(20)
            .position(|l| l.starts_with("goroutine "))?;
    let mut problem = Problem::new(message);
    let mut function = "";
    for line in doc.lines.iter().skip(running + 1).take(60) {
        if line.is_empty() {
            break;
        }
        let Some(place) = line.strip_prefix('\t') else {
            function = line.rfind('(').map_or(*line, |at| &line[..at]);
            continue;
        };
        let library = ["/go/src/", "/libexec/src/", "/pkg/mod/", "/usr/lib/go"]
            .iter()
            .any(|l| place.contains(l));
        if let Some(found) = text::parse_location(place).filter(|_| {
            !library && !function.starts_with("panic") && !function.starts_with("runtime.")
        }) {
            problem = problem
                .with_location(found.file, found.line)
                .with_subject(function);
            break;
        }
    }
    let mut draft = build_draft("stack trace (go)", at, "Go panic", problem);
    draft.add_concept("panic");
    Some(draft)
}

fn parse_java_trace(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let at = doc.lines.iter().enumerate().position(|(at, line)| {
        !line.starts_with([' ', '\t'])
            && java_frame(doc.line_at(at + 1)).is_some()
            && java_kind(line).is_some()
    })?;
    let (kind, said) = java_kind(doc.lines[at])?;
    let lines = doc.lines.get(at + 1..)?;
    let end = lines
        .iter()
        .position(|l| {
            !(l.trim_start().starts_with("at ")
                || l.trim_start().starts_with("... ")
                || l.starts_with("Caused by: ")
                || l.trim_start().starts_with("Suppressed: "))
        })
        .unwrap_or(lines.len());
    let lines = &lines[..end];
    // The innermost cause is why it happened.
    let cause = lines.iter().rposition(|l| l.starts_with("Caused by: "));
    let (kind, said, frames) =
        match cause.and_then(|c| java_kind(&lines[c]["Caused by: ".len()..]).map(|k| (c, k))) {
            Some((c, (kind, said))) => (kind, said, &lines[c + 1..]),
            None => (kind, said, lines),
        };
    let message = if said.is_empty() {
        kind.to_owned()
    } else {
        format!("{kind}: {said}")
    };
    let mut problem =
        Problem::new(message.as_str()).with_code(kind.rsplit('.').next().unwrap_or(kind));
    if let Some(frame) = own_java_frame(frames).or_else(|| own_java_frame(lines)) {
        problem = problem
            .with_location(&frame.file, frame.line)
            .with_subject(&frame.function);
    }
    let mut draft = build_draft("stack trace (java)", at, "Java", problem);
    draft.title = format_title("Java", kind, &draft.problems[0], &message);
    if let Some(cause) = cause {
        let outer = doc.lines[at]
            .strip_prefix("Exception in thread ")
            .unwrap_or(doc.lines[at]);
        draft.add_fact(format!(
            "thrown as {}",
            outer.split_once("\" ").map_or(outer, |(_, k)| k)
        ));
        draft.keep_lines(at + 1 + cause, at + 3 + cause);
    }
    Some(draft)
}

/// `java.lang.IllegalStateException: msg` into name and message.
fn java_kind(line: &str) -> Option<(&str, &str)> {
    let line = match line.strip_prefix("Exception in thread \"") {
        Some(rest) => rest.split_once("\" ")?.1,
        None => line,
    };
    let (kind, said) = line
        .split_once(": ")
        .unwrap_or((line.trim_end_matches(':'), ""));
    let named = kind.contains('.')
        && kind
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'$'));
    let last = kind.rsplit(['.', '$']).next()?;
    (named && last.starts_with(|c: char| c.is_ascii_uppercase())).then_some((kind, said))
}

fn parse_node_trace(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let at = doc
        .lines
        .iter()
        .enumerate()
        .position(|(at, line)| is_js_error(line) && followed_by_frame(doc, at))?;
    let line = doc.lines[at].trim_start();
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let (kind, said) = line.split_once(": ").unwrap_or((line, ""));
    let name = kind.split(' ').next().unwrap_or(kind);
    let mut problem = Problem::new(line);
    let code = doc
        .lines
        .iter()
        .skip(at + 1)
        .take(40)
        .find_map(|l| l.trim().strip_prefix("code: '")?.split('\'').next());
    let bracketed = kind.split_once('[').and_then(|(_, c)| c.split(']').next());
    problem = problem.with_code(bracketed.or(code).unwrap_or(name));
    let frames = doc.lines.get(at + 1..).unwrap_or_default();
    if let Some(frame) = own_js_frame(frames) {
        problem = problem.with_location(&frame.file, frame.line);
        if !frame.function.contains('<') {
            problem = problem.with_subject(&frame.function);
        }
    } else if let Some(found) = doc.lines[..at]
        .iter()
        .rev()
        .take(6)
        .find_map(|l| text::parse_location(l).filter(|p| p.rest.is_empty()))
    {
        problem = problem.with_location(found.file, found.line);
    }
    let mut draft = build_draft("stack trace (node)", at, "Node", problem);
    draft.title = format_title("Node", name, &draft.problems[0], &format!("{name}: {said}"));
    if line.contains("Cannot find module") || line.contains("Cannot find package") {
        draft.add_concept("missing module");
    }
    if let Some(cause) = frames
        .iter()
        .take(40)
        .find_map(|l| l.trim().strip_prefix("[cause]: "))
    {
        draft.add_fact(format!("caused by {cause}"));
    }
    Some(draft)
}

fn is_js_error(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let kind = line.split([':', ' ']).next().unwrap_or_default();
    (kind.ends_with("Error") || kind.ends_with("Exception"))
        && kind.len() <= 60
        && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Messages may have several lines before the first frame.
fn followed_by_frame(doc: &CommandOutput<'_>, at: usize) -> bool {
    doc.lines
        .iter()
        .skip(at + 1)
        .take(6)
        .any(|l| js_frame(l).is_some())
}
