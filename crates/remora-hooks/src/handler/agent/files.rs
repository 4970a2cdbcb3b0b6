//! The files a verifier may read: those of the project and the session's
//! transcript, never through a link that leads out, never what a rule denies.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use remora_core::Permission;
use remora_core::text::truncate_bytes;
use remora_files::{ReadError, list_directory, read_file, read_file_end};
use remora_js_regex::JsRegex;
use serde_json::{Map, json};

use super::super::HandlerCall;
use super::tools::{ToolOutput, display_path};
use crate::permissions::PermissionMode;

/// The longest file that is read whole; of a longer one its end.
const MAX_FILE_BYTES: u64 = 2 << 20;
/// Lines of one reading.
const MAX_LINES: usize = 2_000;
/// The longest line that is shown.
const MAX_LINE_BYTES: usize = 2_000;
/// What one reading or search may show.
const MAX_SHOWN_BYTES: usize = 30_000;
/// Files that one search looks at.
const MAX_FILES: usize = 20_000;
/// Entries of one folder that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// Matches and paths of one answer.
const MAX_FOUND: usize = 500;
/// Steps of a regular expression on one line.
const MAX_LINE_STEPS: u64 = 100_000;
/// The folder of the repository itself, which holds no project files.
const SKIPPED_FOLDER: &str = ".git";

/// Where a verifier may read.
pub(super) struct ReadableArea<'a> {
    call: &'a HandlerCall<'a>,
    cwd: PathBuf,
    /// Real paths.
    roots: Vec<PathBuf>,
    transcript: Option<PathBuf>,
    deadline: Instant,
}

type FileAnswer = Result<ToolOutput, String>;

impl<'a> ReadableArea<'a> {
    pub(super) fn new(call: &'a HandlerCall<'a>, deadline: Instant) -> Self {
        let project = call.places.project.as_path();
        let cwd = call.event.str_field("cwd").map_or(project, Path::new);
        let real = |path: &Path| path.canonicalize().ok();
        let root = real(project);
        // The current directory moves about inside the project; elsewhere it opens nothing.
        let inside = real(cwd).filter(|c| root.as_ref().is_some_and(|r| c.starts_with(r)));
        Self {
            call,
            cwd: inside.unwrap_or_else(|| project.to_path_buf()),
            roots: root.into_iter().collect(),
            transcript: call
                .event
                .str_field("transcript_path")
                .and_then(|path| real(Path::new(path))),
            deadline,
        }
    }

    /// The real path, if it may be read.
    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let real = self
            .cwd
            .join(path)
            .canonicalize()
            .map_err(|_| format!("{path}: no such file or folder"))?;
        let is_inside = self.roots.iter().any(|root| real.starts_with(root));
        if is_inside || self.transcript.as_ref() == Some(&real) {
            Ok(real)
        } else {
            Err(format!("{path} is outside the project"))
        }
    }

    /// Whether the rules let a verifier read the file. A search must not show what
    /// a reading would not.
    fn is_readable(&self, path: &Path) -> bool {
        let mut input = Map::new();
        input.insert("file_path".into(), display_path(path).into());
        let engine = self.call.engine;
        let bases = engine.path_bases(self.call.event);
        let decision =
            engine
                .permissions()
                .decide_call("Read", &input, PermissionMode::DontAsk, bases);
        decision.permission == Permission::Allow
    }

    pub(super) fn read_lines(
        &self,
        path: &str,
        offset: Option<u64>,
        limit: Option<u64>,
    ) -> FileAnswer {
        let real = self.resolve(path)?;
        let (text, is_end) = read_text(&real).map_err(|e| format!("{path}: {e}"))?;
        let first = usize::try_from(offset.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
        let limit = limit.map_or(MAX_LINES, |n| usize::try_from(n).unwrap_or(MAX_LINES));
        let total = text.lines().count();
        let mut shown = String::new();
        if is_end {
            shown.push_str("(the end of a long file; lines are counted from there)\n");
        }
        let mut plain = String::new();
        let mut lines = 0;
        let wanted = text.lines().enumerate().skip(first - 1);
        for (at, line) in wanted.take(limit.min(MAX_LINES)) {
            let line = truncate_bytes(line, MAX_LINE_BYTES);
            if shown.len() + line.len() > MAX_SHOWN_BYTES {
                shown.push_str("… there are more lines\n");
                break;
            }
            // Writing into a string cannot fail.
            let _ = writeln!(shown, "{}\t{line}", at + 1);
            plain.push_str(line);
            plain.push('\n');
            lines += 1;
        }
        let response = json!({
            "type": "text",
            "file": {
                "filePath": path,
                "content": plain,
                "numLines": lines,
                "startLine": first,
                "totalLines": total,
            },
        });
        Ok(ToolOutput::done(shown, response))
    }

    pub(super) fn search_lines(
        &self,
        pattern: &str,
        path: Option<&str>,
        glob: Option<&str>,
        ignores_case: bool,
    ) -> FileAnswer {
        let source = if ignores_case {
            format!("(?i:{pattern})")
        } else {
            pattern.to_owned()
        };
        let regex = JsRegex::new(&source).map_err(|e| format!("the pattern is not valid: {e}"))?;
        let base = self.resolve(path.unwrap_or("."))?;
        let fits = glob.map(GlobPattern::new).transpose()?;
        let mut shown = String::new();
        let mut names = Vec::new();
        let mut count = 0_usize;
        let is_complete = self.walk(&base, |file, relative| {
            if fits.as_ref().is_some_and(|glob| !glob.fits(relative)) {
                return true;
            }
            let Ok((text, _)) = read_text(file) else {
                return true;
            };
            let mut is_named = false;
            for (at, line) in text.lines().enumerate() {
                let line = truncate_bytes(line, MAX_LINE_BYTES);
                // A line on which the pattern blows up does not match.
                if !regex.is_match(line, MAX_LINE_STEPS).unwrap_or(false) {
                    continue;
                }
                if !is_named {
                    is_named = true;
                    names.push(relative.to_owned());
                }
                count += 1;
                let _ = writeln!(shown, "{relative}:{}:{line}", at + 1);
                if count >= MAX_FOUND || shown.len() > MAX_SHOWN_BYTES {
                    return false;
                }
            }
            true
        });
        if count == 0 {
            shown.push_str("No matches found\n");
        }
        if !is_complete {
            shown.push_str("… the search was not complete\n");
        }
        let response = json!({
            "mode": "content",
            "numFiles": names.len(),
            "filenames": names,
            "content": shown,
            "numLines": count,
        });
        Ok(ToolOutput::done(shown, response))
    }

    pub(super) fn list_files(&self, pattern: &str, path: Option<&str>) -> FileAnswer {
        let base = self.resolve(path.unwrap_or("."))?;
        let glob = GlobPattern::new(pattern)?;
        let mut names = Vec::new();
        let is_complete = self.walk(&base, |_, relative| {
            if glob.fits(relative) {
                names.push(relative.to_owned());
            }
            names.len() < MAX_FOUND
        });
        let mut shown = names.join("\n");
        if names.is_empty() {
            shown.push_str("No files found");
        }
        if !is_complete {
            shown.push_str("\n… there are more files");
        }
        let response = json!({
            "filenames": names,
            "durationMs": 0,
            "numFiles": names.len(),
            "truncated": !is_complete,
        });
        Ok(ToolOutput::done(shown, response))
    }

    /// Every readable file below `base` in the order of names, with its path from
    /// there. Links are not followed. Whether all were visited.
    fn walk(&self, base: &Path, mut visit: impl FnMut(&Path, &str) -> bool) -> bool {
        if base.is_file() {
            let name = base.file_name().map(|n| n.to_string_lossy().into_owned());
            return visit(base, &name.unwrap_or_default());
        }
        let mut waiting = vec![base.to_path_buf()];
        let mut seen = 0_usize;
        let mut is_complete = true;
        while let Some(folder) = waiting.pop() {
            let Ok(mut list) = list_directory(&folder, MAX_ENTRIES) else {
                continue;
            };
            is_complete &= !list.is_cut;
            list.sort();
            let mut folders = Vec::new();
            for entry in &list.entries {
                let path = entry.path();
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() && entry.file_name() != SKIPPED_FOLDER {
                    folders.push(path);
                } else if kind.is_file() {
                    seen += 1;
                    if seen > MAX_FILES || Instant::now() >= self.deadline {
                        return false;
                    }
                    let relative = path.strip_prefix(base).unwrap_or(&path);
                    let relative = display_path(relative);
                    if self.is_readable(&path) && !visit(&path, &relative) {
                        return false;
                    }
                }
            }
            waiting.extend(folders.into_iter().rev());
        }
        is_complete
    }
}

/// The text of a file, and whether it is only its end. What is not text is shown
/// with marks in its place.
fn read_text(path: &Path) -> Result<(String, bool), String> {
    let (bytes, is_end) = match read_file(path, MAX_FILE_BYTES) {
        Ok(bytes) => (bytes, false),
        Err(ReadError::TooLarge { .. }) => {
            let end = read_file_end(path, MAX_FILE_BYTES).map_err(|e| e.to_string())?;
            (end, true)
        }
        Err(error) => return Err(error.to_string()),
    };
    if bytes.iter().take(8192).any(|b| *b == 0) {
        return Err("it is not a text file".into());
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), is_end))
}

/// A pattern of paths.
struct GlobPattern {
    regex: JsRegex,
    /// Without a slash it is about the file's name, wherever the file is.
    is_name: bool,
}

impl GlobPattern {
    fn new(pattern: &str) -> Result<Self, String> {
        let mut source = String::from("^");
        let mut depth = 0_usize;
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            let mut taken = c.len_utf8();
            match c {
                '*' if rest.starts_with("**/") => {
                    source.push_str("(?:.*/)?");
                    taken = 3;
                }
                '*' if rest.starts_with("**") => {
                    source.push_str(".*");
                    taken = 2;
                }
                '*' => source.push_str("[^/]*"),
                '?' => source.push_str("[^/]"),
                '{' => {
                    depth += 1;
                    source.push_str("(?:");
                }
                '}' if depth > 0 => {
                    depth -= 1;
                    source.push(')');
                }
                ',' if depth > 0 => source.push('|'),
                c if c.is_ascii_punctuation() && c != '_' && c != '-' => {
                    source.push('\\');
                    source.push(c);
                }
                c => source.push(c),
            }
            rest = &rest[taken..];
        }
        source.push('$');
        let regex = JsRegex::new(&source).map_err(|_| format!("{pattern} is not a pattern"))?;
        Ok(Self {
            regex,
            is_name: !pattern.contains('/'),
        })
    }

    fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let subject = if self.is_name { name } else { path };
        self.regex
            .is_match(subject, MAX_LINE_STEPS)
            .unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_paths() {
        for (pattern, path, expected) in [
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "a.py", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/x/y/a.rs", true),
            ("**/*.{ts,js}", "a.js", true),
            ("**/*.{ts,js}", "x/a.jsx", false),
            ("a?c(1).txt", "abc(1).txt", true),
            ("{a", "{a", false),
            ("**", "x/y", true),
            ("x/**", "x/y", true),
        ] {
            let fits = GlobPattern::new(pattern).is_ok_and(|glob| glob.fits(path));
            assert_eq!(fits, expected, "{pattern} {path}");
        }
    }
}
