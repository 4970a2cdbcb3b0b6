//! Path rules: gitignore patterns with an anchor, as `Read(...)` and `Edit(...)`
//! use them. Case-insensitive. Pure: paths are compared as they are spelled,
//! links are not followed. The client's matcher is not git's; where they differ,
//! `cases/path-rules.json` records what the client does.

use std::path::Path;

use crate::wildcard::matches_wildcard;

/// The directories a pattern may be anchored at.
#[derive(Debug, Clone, Copy)]
pub struct PathBases<'a> {
    /// The user's home.
    pub home: &'a Path,
    /// Where the session started.
    pub start: &'a Path,
    /// The current directory, which follows `cd`.
    pub cwd: &'a Path,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Start,
    Cwd,
}

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathRule {
    text: String,
    anchor: Anchor,
    /// Lower-case segments; `None` when the pattern can match nothing this way.
    segments: Option<Vec<String>>,
    /// The first segment may match at any depth.
    floating: bool,
    /// Only what is inside matches, not the path itself.
    directory: bool,
}

impl PathRule {
    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Self {
        // As in gitignore, blanks at the end do not count unless the last is escaped.
        let trimmed = text.trim_end_matches(' ');
        let text = if trimmed.ends_with('\\') && trimmed.len() < text.len() {
            &text[..=trimmed.len()]
        } else {
            trimmed
        };
        let (anchor, rest) = if let Some(rest) = text.strip_prefix("//") {
            (Anchor::Root, format!("/{rest}"))
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Anchor::Home, format!("/{rest}"))
        } else if text.starts_with('/') {
            // The start directory for every layer; only permission lists move it
            // (`RuleText::anchor_dir`).
            (Anchor::Start, text.to_owned())
        } else {
            (
                Anchor::Cwd,
                text.strip_prefix("./").unwrap_or(text).to_owned(),
            )
        };
        let mut rule = Self {
            text: text.to_owned(),
            anchor,
            segments: None,
            floating: false,
            directory: rest.ends_with('/'),
        };
        let body = rest.trim_matches('/');
        // What the client never matches, although git would take some of it: negation,
        // comments, a `~` other than `~/`, and segments that would have to be resolved.
        let dead = body.is_empty()
            || rest.starts_with(['!', '#'])
            || body.starts_with('~')
            || body
                .split('/')
                .any(|s| s == ".." || s == "." || has_open_class(s));
        if !dead {
            // A slash in front or in the middle anchors the pattern, one at the end does not.
            rule.floating = !rest.trim_end_matches('/').contains('/');
            rule.segments = Some(
                body.split('/')
                    .filter(|s| !s.is_empty())
                    .map(str::to_lowercase)
                    .collect(),
            );
        }
        rule
    }

    /// Whether the pattern can match any path at all.
    pub(crate) fn is_dead(&self) -> bool {
        self.segments.is_none()
    }

    /// Tests an absolute path.
    pub(crate) fn matches(&self, path: &str, bases: PathBases<'_>) -> bool {
        // The client tests twice: first as plain text, case-sensitive and unanchored, which is
        // how `*.py` also reaches files outside the current directory.
        if path == self.text || (self.text.starts_with('*') && matches_wildcard(&self.text, path)) {
            return true;
        }
        let Some(segments) = &self.segments else {
            return false;
        };
        let base = match self.anchor {
            Anchor::Root => Path::new("/"),
            Anchor::Home => bases.home,
            Anchor::Start => bases.start,
            Anchor::Cwd => bases.cwd,
        };
        let path = normalise_path(path, bases);
        let Some(rest) = strip_base(&path, base) else {
            return false;
        };
        let lower = rest.to_lowercase();
        let parts: Vec<&str> = lower.split('/').filter(|p| !p.is_empty()).collect();
        // A rule that names a directory covers everything in it, so a match of
        // any leading part of the path counts.
        let shortest = usize::from(!parts.is_empty());
        let longest = if self.directory {
            parts.len().saturating_sub(1)
        } else {
            parts.len()
        };
        (shortest..=longest).any(|n| {
            let head = &parts[..n];
            // A bare name counts at any depth, so only the last part is compared.
            if self.floating && segments.len() == 1 && segments[0] != "**" {
                return head
                    .last()
                    .is_some_and(|name| matches_glob(&segments[0], name));
            }
            matches_segments(segments, head)
        })
    }
}

/// The path as an absolute one without `~`, `.` and `..`. Only the spelling is
/// looked at, not the disk.
pub(crate) fn normalise_path(path: &str, bases: PathBases<'_>) -> String {
    // In a call the path is absolute already; rules on shell lines see `~` and relative ones.
    let whole = if let Some(rest) = path.strip_prefix("~/") {
        bases.home.join(rest)
    } else {
        bases.cwd.join(path)
    };
    let mut out: Vec<&str> = Vec::new();
    let whole = whole.to_string_lossy();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    format!("/{}", out.join("/"))
}

/// The part of `path` below `base`; `None` when it is elsewhere.
fn strip_base<'a>(path: &'a str, base: &Path) -> Option<&'a str> {
    // A base that is not UTF-8 cannot be compared with the event's JSON text.
    let base = base.to_str()?.trim_end_matches('/');
    let rest = path.strip_prefix(base)?;
    if rest.is_empty() || base.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Segments against path parts; `**` takes any number of parts.
fn matches_segments(segments: &[String], parts: &[&str]) -> bool {
    // Greedy with one remembered `**`, so the work stays bounded.
    let (mut s, mut p) = (0, 0);
    let mut resume: Option<(usize, usize)> = None;
    loop {
        if s < segments.len() && segments[s] == "**" {
            // A closing `**` also takes the directory itself.
            if s + 1 == segments.len() {
                return true;
            }
            resume = Some((s + 1, p));
            s += 1;
            continue;
        }
        if s == segments.len() && p == parts.len() {
            return true;
        }
        if s < segments.len() && p < parts.len() && matches_glob(&segments[s], parts[p]) {
            s += 1;
            p += 1;
            continue;
        }
        match resume {
            Some((after, at)) if at < parts.len() => {
                resume = Some((after, at + 1));
                s = after;
                p = at + 1;
            }
            _ => return false,
        }
    }
}

enum GlobPiece {
    Char(char),
    AnyOne,
    Star,
    Class(Vec<(char, char)>),
    OpenClass,
}

fn parse_glob(pattern: &str) -> Vec<GlobPiece> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut pieces = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        i += 1;
        pieces.push(match c {
            // A backslash at the very end is literal.
            '\\' if i < chars.len() => {
                i += 1;
                GlobPiece::Char(chars[i - 1])
            }
            '*' => GlobPiece::Star,
            '?' => GlobPiece::AnyOne,
            '[' => match chars[i..].iter().position(|c| *c == ']').filter(|n| *n > 0) {
                Some(len) => {
                    let body = &chars[i..i + len];
                    i += len + 1;
                    parse_class(body)
                }
                None => GlobPiece::OpenClass,
            },
            other => GlobPiece::Char(other),
        });
    }
    pieces
}

/// `[ab]`, `[a-z]`. A leading `!` or `^` is a member like any other.
fn parse_class(body: &[char]) -> GlobPiece {
    let mut ranges = Vec::new();
    let mut i = 0;
    while i < body.len() {
        if i + 2 < body.len() && body[i + 1] == '-' {
            ranges.push((body[i], body[i + 2]));
            i += 3;
        } else {
            ranges.push((body[i], body[i]));
            i += 1;
        }
    }
    GlobPiece::Class(ranges)
}

/// A class that is never closed makes the whole pattern match nothing.
fn has_open_class(segment: &str) -> bool {
    parse_glob(segment)
        .iter()
        .any(|p| matches!(p, GlobPiece::OpenClass))
}

/// One segment against one name. `*` stays inside the segment.
fn matches_glob(pattern: &str, name: &str) -> bool {
    let pieces = parse_glob(pattern);
    let name: Vec<char> = name.chars().collect();
    let (mut s, mut p) = (0, 0);
    let mut resume = None;
    loop {
        let step = match pieces.get(s) {
            Some(GlobPiece::Star) => {
                resume = Some((s + 1, p));
                s += 1;
                continue;
            }
            None => p == name.len(),
            Some(piece) => name.get(p).is_some_and(|c| match piece {
                // Both sides were lower-cased, so this ignores case.
                GlobPiece::Char(want) => want == c,
                GlobPiece::AnyOne | GlobPiece::Star => true,
                GlobPiece::Class(ranges) => ranges.iter().any(|(a, b)| a <= c && c <= b),
                GlobPiece::OpenClass => false,
            }),
        };
        if step && s == pieces.len() {
            return true;
        }
        if step {
            s += 1;
            p += 1;
            continue;
        }
        match resume {
            Some((after, at)) if at < name.len() => {
                resume = Some((after, at + 1));
                s = after;
                p = at + 1;
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(rule: &str, path: &str) -> bool {
        let bases = PathBases {
            home: Path::new("/h"),
            start: Path::new("/h/app"),
            cwd: Path::new("/h/app/sub"),
        };
        PathRule::new(rule).matches(path, bases)
    }

    #[test]
    fn anchors_and_depth() {
        for (rule, path, expected) in [
            ("a.py", "/h/app/sub/x/a.py", true),
            ("a.py", "/h/app/a.py", false),
            ("src/a.py", "/h/app/sub/src/a.py", true),
            ("src/a.py", "/h/app/sub/x/src/a.py", false),
            ("/src/**", "/h/app/src/deep/a.py", true),
            ("/src/**", "/h/app/src", true),
            ("~/x", "/h/x/y", true),
            ("//h/app", "/h/app/z", true),
            ("*.py", "/elsewhere/a.py", true),
            ("SRC/", "/h/app/sub/src/a", true),
            ("src/", "/h/app/sub/src", false),
            ("!a", "/h/app/sub/a", false),
            ("[!a].py", "/h/app/sub/!.py", true),
            ("a\\ b", "/h/app/sub/a b", true),
            ("**/deep/a", "/h/app/sub/x/y/deep/a", true),
            ("..", "/h/app", false),
            ("[^a].py", "/h/app/sub/a.py", true),
            ("[^a].py", "/h/app/sub/b.py", false),
            ("[a", "/h/app/sub/[a", false),
            ("a.py ", "/h/app/sub/a.py", true),
            (" a.py", "/h/app/sub/a.py", false),
            ("./src", "/h/app/sub/x/src/a", true),
        ] {
            assert_eq!(hits(rule, path), expected, "{rule} on {path}");
        }
    }

    /// 115 patterns on 23 paths, as the client judged them.
    #[test]
    fn patterns_fit_as_with_the_client() {
        let book: serde_json::Value =
            serde_json::from_str(include_str!("../cases/path-rules.json")).unwrap();
        let project = Path::new("/t/project");
        let bases = PathBases {
            home: Path::new("/t/home"),
            start: project,
            cwd: project,
        };
        for row in book["paths"].as_array().unwrap() {
            let path = row["path"].as_str().unwrap();
            let ours: Vec<_> = book["patterns"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|p| PathRule::new(p.as_str().unwrap()).matches(path, bases))
                .collect();
            assert_eq!(
                ours,
                row["fit"].as_array().unwrap().iter().collect::<Vec<_>>(),
                "{path}"
            );
        }
    }

    #[test]
    fn wildcards_do_not_blow_up() {
        let pattern = format!("{}b", "*a".repeat(200));
        assert!(!matches_wildcard(&pattern, &"a".repeat(4000)));
        assert!(!matches_glob(&pattern, &"a".repeat(4000)));
    }
}
