//! Recognises what a message contains without anybody having said it: logs, lines of
//! code, command output, tagged machine text. Errs towards keeping words.

/// Beginnings of prompts that the client or a hook wrote, not the user.
const UNSPOKEN_OPENINGS: &[&str] = &[
    "<task-notification",
    "<system-reminder",
    "<command-message",
    "<command-name",
    "<local-command",
    "<bash-",
    "<user-prompt-submit-hook",
    "stop hook feedback",
    "caveat: the messages below",
    "this session is being continued from a previous",
    "[request interrupted",
];

/// Tags that users write around their own words.
const USER_TAGS: &[&str] = &[
    "b", "i", "p", "em", "strong", "br", "details", "summary", "div", "span", "u", "kbd", "sub",
    "sup",
];

/// Whether the whole prompt was written by a machine.
pub(crate) fn is_not_spoken(text: &str) -> bool {
    let head: String = text
        .trim_start()
        .chars()
        .take(64)
        .collect::<String>()
        .to_lowercase();
    UNSPOKEN_OPENINGS
        .iter()
        .any(|opening| head.starts_with(opening))
}

/// The text without passages between tags that begin a line, such as pasted
/// notifications and documents.
pub(crate) fn without_tagged(text: &str) -> String {
    // Nothing is closed, so nothing is tagged; most texts end here.
    if !text.contains("</") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut closing: Option<String> = None;
    let mut held = String::new();
    for line in text.split_inclusive('\n') {
        match &closing {
            Some(end) => {
                held.push_str(line);
                if let Some(at) = line.find(end.as_str()) {
                    out.push_str(&line[at + end.len()..]);
                    closing = None;
                    held.clear();
                }
            }
            None => match opening_tag(line) {
                Some(name) => {
                    let end = format!("</{name}>");
                    if let Some(at) = line.find(&end) {
                        out.push_str(&line[at + end.len()..]);
                    } else {
                        closing = Some(end);
                        line.clone_into(&mut held);
                    }
                }
                None => out.push_str(line),
            },
        }
    }
    // A tag that is never closed was none, so its text stays.
    out.push_str(&held);
    out
}

fn opening_tag(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('<')?;
    let length = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'))
        .count();
    let name = &rest[..length];
    let ended = rest[length..].starts_with(['>', ' ', '\n', '\r']);
    (ended && !name.is_empty() && !USER_TAGS.contains(&name)).then_some(name)
}

/// Removes terminal escape sequences and other control characters.
pub(super) fn without_escapes(line: &str) -> String {
    if !line.contains(|c: char| c.is_control() && c != '\t') {
        return line.to_owned();
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            if chars.clone().next() == Some('[') {
                chars.next();
                // A sequence ends with its first letter or `~`.
                for c in chars.by_ref() {
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
            }
        } else if c == '\t' || !c.is_control() {
            out.push(c);
        }
    }
    out
}

/// Whether a line is output or code rather than something a user wrote.
pub(crate) fn is_machine_line(line: &str) -> bool {
    let line = line.trim();
    starts_like_output(line) || looks_like_code(line) || is_mostly_symbols(line)
}

fn starts_like_output(line: &str) -> bool {
    const OUTPUT_STARTS: &str = "error[|error:|warning:|error TS|Error:|TypeError|ValueError|KeyError|SyntaxError\
|ReferenceError|ImportError|ModuleNotFoundError|AssertionError|RuntimeError|AttributeError\
|panic:|thread '|Traceback|Exception in thread|Caused by:|npm ERR!|npm error|FAILED \
|PASSED |FAIL |PASS |ok  \t|--- FAIL|=== RUN|goroutine |$ |% |❯ |PS C:|C:\\|#!/|diff --git\
|@@ |+++ |-->|= note:|= help:|fatal:|remote:|Compiling |Finished `|Running `|test result:\
|E   |⎿|INFO|WARN|DEBUG|ERROR|TRACE|FATAL|[INFO|[WARN|[DEBUG|[ERROR|[info|[warn|[error\
|[debug|java.|org.|com.|at com.|at org.|at java.";
    if OUTPUT_STARTS
        .split('|')
        .any(|start| line.starts_with(start))
    {
        return true;
    }
    let counted =
        line.starts_with("running ") && line.as_bytes().get(8).is_some_and(u8::is_ascii_digit);
    // The margin that compilers print next to a line of source.
    let margin = line
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start()
        .starts_with("| ")
        && line.starts_with(|c: char| c.is_ascii_digit());
    let blob = line.starts_with("index ") && line.contains("..");
    let starts_with_time = {
        let mut digits = 0;
        let mut marks = 0;
        for b in line.bytes().skip_while(|b| *b == b'[').take(19) {
            match b {
                b'0'..=b'9' => digits += 1,
                b'-' | b':' | b'/' | b'T' | b'.' => marks += 1,
                b' ' if digits >= 6 => {}
                _ => break,
            }
        }
        digits >= 6 && marks >= 2
    };
    let frame = line.starts_with("at ")
        && (line.contains(".js:")
            || line.contains(".ts:")
            || line.contains(".java:")
            || line.contains(".rs:")
            || line.contains("node:"))
        || line.starts_with("File \"") && line.contains(", line ");
    let test = line.starts_with("test ") && line.contains(" ... ");
    starts_with_time || counted || margin || blob || frame || test || has_location(line)
}

/// `src/main.rs:10:5: message`, as compilers and linters print it.
fn has_location(line: &str) -> bool {
    let Some(first) = line.split_whitespace().next() else {
        return false;
    };
    let mut parts = first.split(':');
    let path = parts.next().unwrap_or_default();
    let numbers = parts
        .take_while(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        .count();
    numbers >= 1 && first.ends_with(':') && path.contains('.') && !path.contains("//")
}

fn looks_like_code(line: &str) -> bool {
    const CODE_STARTS: &[&str] = &[
        "fn ",
        "pub fn ",
        "pub struct ",
        "pub enum ",
        "impl ",
        "use std",
        "use crate",
        "#include",
        "#[",
        "#!",
        "import {",
        "import * ",
        "export const",
        "export default",
        "export function",
        "const ",
        "let mut ",
        "def ",
        "async def",
        "class ",
        "public ",
        "private ",
        "protected ",
        "func ",
        "package ",
        "SELECT",
        "INSERT",
        "CREATE TABLE",
        "UPDATE ",
        "DELETE FROM",
        "//",
        "/*",
        "<!--",
        "{",
        "}",
        "]",
        "return ",
        "@Override",
        "elif ",
        "else:",
        "else {",
    ];
    // Prose may begin with such a word too; code also has punctuation of its own.
    let marked = line.contains(['(', '{', ';', '=', '<']) || line.ends_with(':');
    if CODE_STARTS.iter().any(|start| line.starts_with(start))
        && (marked || line.len() < 3 || line.starts_with("//") || line.starts_with("/*"))
    {
        return true;
    }
    line.ends_with(['{', '}'])
        || line.ends_with(");")
        || (line.ends_with(';') && line.contains(['=', '(']))
}

fn is_mostly_symbols(line: &str) -> bool {
    let (mut words, mut others, mut all) = (0usize, 0usize, 0usize);
    for c in line.chars().take(400) {
        all += 1;
        if super::is_wide(c) {
            words += 2;
        } else if c.is_alphabetic() {
            words += 1;
        } else if !c.is_whitespace() && !c.is_ascii_digit() {
            others += 1;
        }
    }
    all >= 12 && others > words
}
