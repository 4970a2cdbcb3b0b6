//! Reads the parts of stack traces that several tools print: panics of Rust,
//! frames of JavaScript, Java and Python. Finds the frame that is the
//! reader's own code, not a library's.

use super::text;

/// Why a program stopped, and where in its own code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RustPanic {
    pub(super) message: String,
    pub(super) place: Option<(String, u32)>,
    pub(super) thread: String,
    pub(super) at: usize,
}

/// The first `thread 'x' panicked at` of a text, in both of its forms.
pub(super) fn rust_panic(lines: &[&str]) -> Option<RustPanic> {
    let (at, head, tail) = lines.iter().enumerate().find_map(|(at, line)| {
        let (head, tail) = line.split_once(" panicked at ")?;
        let thread = head.find("thread '")?;
        Some((at, &head[thread + "thread '".len()..], tail))
    })?;
    let thread = head.split('\'').next().unwrap_or_default().to_owned();
    // Until 1.72 the message stood first, in quotes, on one line with the place.
    if let Some(quoted) = tail.strip_prefix('\'') {
        let (message, place) = quoted.rsplit_once("', ").unwrap_or((quoted, ""));
        return Some(RustPanic {
            message: message.to_owned(),
            place: text::parse_location(place).map(|p| (p.file.to_owned(), p.line)),
            thread,
            at,
        });
    }
    let place = text::parse_location(tail).map(|p| (p.file.to_owned(), p.line));
    let mut message = String::new();
    for line in lines.get(at + 1..).unwrap_or_default().iter().take(8) {
        let line = line.trim();
        if line.starts_with("note: run with")
            || line.starts_with("stack backtrace:")
            || line.starts_with("thread '")
        {
            break;
        }
        if line.is_empty() {
            if message.is_empty() {
                continue;
            }
            break;
        }
        // The two sides of an assertion belong to its message, prose does not.
        if !message.is_empty() {
            if !(line.starts_with("left:") || line.starts_with("right:")) {
                continue;
            }
            message.push_str(", ");
        }
        message.push_str(line);
    }
    Some(RustPanic {
        message,
        place,
        thread,
        at,
    })
}

/// One frame: function, file and line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StackFrame {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// `at fn (file:line:col)` or `at file:line:col` of JavaScript.
pub(super) fn js_frame(line: &str) -> Option<StackFrame> {
    let rest = line.trim_start().strip_prefix("at ")?;
    let (function, place) = match rest.rsplit_once(" (") {
        Some((function, place)) => (function, place.split(')').next().unwrap_or(place)),
        None => ("", rest.trim_end_matches([' ', '{'])),
    };
    let place = place.strip_prefix("file://").unwrap_or(place);
    let place = place.strip_prefix("async ").unwrap_or(place);
    let found = text::parse_location(place)?;
    Some(StackFrame {
        function: function.trim_start_matches("async ").to_owned(),
        file: found.file.to_owned(),
        line: found.line,
    })
}

/// The first frame outside of the runtime and of installed packages.
pub(super) fn own_js_frame(lines: &[&str]) -> Option<StackFrame> {
    lines.iter().take(60).filter_map(|l| js_frame(l)).find(|f| {
        !(f.file.contains("node_modules")
            || f.file.starts_with("node:")
            || f.file.starts_with("internal/"))
    })
}

/// `at com.example.Store.open(Store.java:31)`.
pub(super) fn java_frame(line: &str) -> Option<StackFrame> {
    let rest = line.trim_start().strip_prefix("at ")?;
    let (function, place) = rest.split_once('(')?;
    let (file, line) = place.split(')').next()?.split_once(':')?;
    let (line, _) = text::parse_number(line)?;
    // `java.base/java.util...` names the module first.
    let function = function.rsplit('/').next().unwrap_or(function);
    Some(StackFrame {
        function: function.to_owned(),
        file: file.to_owned(),
        line,
    })
}

const JAVA_LIBRARIES: &[&str] = &[
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "org.junit.",
    "org.opentest4j.",
    "org.assertj.",
    "org.hamcrest.",
    "org.apache.maven.",
    "org.gradle.",
    "org.mockito.",
    "org.springframework.",
    "kotlin.",
    "scala.",
    "jakarta.",
];

/// The first frame outside of the libraries that every trace goes through.
pub(super) fn own_java_frame(lines: &[&str]) -> Option<StackFrame> {
    let mut first = None;
    for frame in lines.iter().take(80).filter_map(|l| java_frame(l)) {
        if !JAVA_LIBRARIES.iter().any(|l| frame.function.starts_with(l)) {
            return Some(frame);
        }
        // A trace of libraries alone still has a place to begin at.
        first.get_or_insert(frame);
    }
    first
}

/// `File "x.py", line 3, in f` of Python.
pub(super) fn python_frame(line: &str) -> Option<StackFrame> {
    let rest = line.trim_start().strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (line, rest) = text::parse_number(rest)?;
    let function = rest.strip_prefix(", in ").unwrap_or_default().trim();
    Some(StackFrame {
        function: function.to_owned(),
        file: file.to_owned(),
        line,
    })
}

/// Installed or built into the interpreter.
pub(super) fn is_python_library(file: &str) -> bool {
    file.starts_with('<')
        || ["site-packages", "dist-packages", "/lib/python3", "\\Lib\\"]
            .iter()
            .any(|p| file.contains(p))
}
