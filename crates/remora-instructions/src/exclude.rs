//! Which instruction files `claudeMdExcludes` keeps out. Each pattern counts
//! for itself; which layers it may not touch is decided elsewhere. The file
//! system is asked only through the function handed in.

mod glob;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::rule::machine::{CaseSensitivity, PatternMachine};

/// Patterns longer than this match nothing; no path is that long.
const MAX_PATTERN_BYTES: usize = 4 * 1024;
/// The characters that end the plain part of a pattern.
const WILDCARDS: &[char] = &['*', '?', '[', '{'];
/// The characters that mean something in a pattern.
const PATTERN_METACHARACTERS: &[char] = &[
    '*', '?', '[', ']', '{', '}', '(', ')', '!', '+', '@', '|', ',', '\\', '"',
];

/// The patterns of all settings, each on its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Excludes {
    patterns: Vec<ExcludePattern>,
}

#[derive(Debug, Clone)]
struct ExcludePattern {
    text: String,
    /// As written, and with its directory resolved where that differs.
    machines: Vec<PatternMachine>,
}

impl Excludes {
    /// Compiles the patterns. `real_directory` returns the real path of a
    /// directory, if it exists.
    pub(crate) fn new(
        patterns: impl IntoIterator<Item = String>,
        real_directory: impl Fn(&Path) -> Option<PathBuf>,
    ) -> Self {
        let patterns = patterns
            .into_iter()
            .filter(|text| !text.is_empty() && text.len() <= MAX_PATTERN_BYTES)
            .map(|text| {
                // The client takes every backslash for a slash, so a pattern
                // cannot escape anything.
                let slashed = text.replace('\\', "/");
                let resolved = resolve_pattern(&slashed, &real_directory);
                let machines = [Some(slashed.as_str()), resolved.as_deref()]
                    .into_iter()
                    .flatten()
                    .map(|text| {
                        PatternMachine::new(&glob::parse_glob(text), CaseSensitivity::Matters)
                    })
                    .collect();
                ExcludePattern { text, machines }
            })
            .collect();
        Self { patterns }
    }

    /// The first pattern that keeps an absolute path out.
    pub(crate) fn find_match(&self, path: &Path) -> Option<&str> {
        let path = path.to_string_lossy();
        let chars: Vec<char> = path.chars().collect();
        self.patterns
            .iter()
            // As in picomatch, a pattern that equals the path matches before it is read as a glob.
            .find(|p| p.text == path || p.machines.iter().any(|m| m.fits_text(&chars)))
            .map(|p| p.text.as_str())
    }

    /// Whether nothing can be kept out.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }
}

/// The pattern with the directory before its first wildcard resolved: `.`,
/// `..` and linked directories. The name behind it stays as it is, so a link
/// to a file is not followed; in `/a/link/*` that name is `link`.
fn resolve_pattern(
    text: &str,
    real_directory: impl Fn(&Path) -> Option<PathBuf>,
) -> Option<String> {
    if !text.starts_with('/') {
        return None;
    }
    let plain = &text[..text.find(WILDCARDS).unwrap_or(text.len())];
    let (directory, _) = plain.trim_end_matches('/').rsplit_once('/')?;
    let tidy = normalise_directory(directory);
    let real = real_directory(Path::new(&tidy));
    let real = real.as_deref().and_then(Path::to_str).unwrap_or(&tidy);
    let real = real.trim_end_matches('/');
    if real == directory {
        return None;
    }
    let mut resolved = String::with_capacity(text.len());
    for c in real.chars() {
        // The real directory is a path, not a pattern.
        if PATTERN_METACHARACTERS.contains(&c) {
            resolved.push('\\');
        }
        resolved.push(c);
    }
    resolved.push_str(&text[directory.len()..]);
    Some(resolved)
}

/// An absolute directory without `.`, `..` and double slashes, by its text
/// alone: the client looks for links only afterwards.
fn normalise_directory(directory: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in directory.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}
