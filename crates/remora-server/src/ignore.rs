//! Which files are not captured: the user's own patterns, and the
//! `.remoraignore` of a project, which can only switch capture off.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use remora_core::agent_event::EventHeader;
use remora_files::read_file;

const IGNORE_FILE_NAME: &str = ".remoraignore";
/// What the file may hold. Making patterns ready costs far more than reading
/// them, so there is a limit to each.
const MAX_IGNORE_BYTES: u64 = 256 * 1024;
const MAX_PATTERNS: usize = 1_000;
const MAX_PATTERN_BYTES: usize = 1_000;
/// No system opens a longer path; only this much of one is matched, because
/// matching asks about every parent folder.
const MAX_PATH_BYTES: usize = 4096;

/// What is wrong with a pattern of `capture.ignore`, if anything is. A pattern
/// that cannot be read matches nothing.
pub fn pattern_fault(pattern: &str) -> Option<String> {
    let fault = GitignoreBuilder::new("").add_line(None, pattern).err()?;
    Some(fault.to_string())
}

/// The patterns of a project's file that count. One that is no regular file,
/// or is too large, says nothing; `doctor` says so.
fn project_patterns(file: &Path) -> Vec<String> {
    let text = read_file(file, MAX_IGNORE_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let patterns = text.trim_start_matches('\u{feff}').lines();
    patterns
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .filter(|line| line.len() <= MAX_PATTERN_BYTES)
        .take(MAX_PATTERNS)
        .map(str::to_owned)
        .collect()
}

/// What of a project's `.remoraignore` does not count, if anything: it cannot
/// be read, or holds too much.
pub fn ignore_file_fault(root: &Path) -> Option<String> {
    let file = root.join(IGNORE_FILE_NAME);
    let text = match read_file(&file, MAX_IGNORE_BYTES) {
        Ok(text) => text,
        Err(error) if error.is_missing() => return None,
        Err(error) => return Some(format!("{}: {error}; none of it counts", file.display())),
    };
    let text = String::from_utf8_lossy(&text);
    let patterns = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let (short, long): (Vec<&str>, Vec<&str>) =
        patterns.partition(|line| line.len() <= MAX_PATTERN_BYTES);
    if short.len() > MAX_PATTERNS {
        return Some(format!(
            "{}: holds {} patterns; only the first {MAX_PATTERNS} count",
            file.display(),
            short.len()
        ));
    }
    (!long.is_empty()).then(|| {
        format!(
            "{}: patterns longer than {MAX_PATTERN_BYTES} bytes do not count",
            file.display()
        )
    })
}

/// The patterns, by project; read again when the project's file changes.
#[derive(Debug)]
pub(crate) struct ProjectIgnores {
    own: Vec<String>,
    projects: HashMap<PathBuf, (Option<SystemTime>, Gitignore)>,
}

impl ProjectIgnores {
    pub(crate) fn new(own: Vec<String>) -> Self {
        Self {
            own,
            projects: HashMap::new(),
        }
    }

    /// Whether the event is about a file, or happened in a folder, that is not
    /// to be captured.
    pub(crate) fn ignores_event(&mut self, header: &EventHeader<'_>, root: &str) -> bool {
        let cwd = PathBuf::from(header.cwd);
        let files = header.paths.iter().map(|path| cwd.join(path));
        // Without a project the user's own patterns count from the top.
        let root = resolve_dots(Path::new(if root.is_empty() { "/" } else { root }));
        let patterns = self.load_patterns(&root);
        if patterns.is_empty() {
            return false;
        }
        let hit = |path: &Path, is_dir: bool| {
            path_below(&root, path).is_some_and(|path| {
                patterns
                    .matched_path_or_any_parents(&path, is_dir)
                    .is_ignore()
            })
        };
        files.into_iter().any(|file| hit(&file, false)) || hit(&cwd, true)
    }

    /// Whether a file, as seen from a project's root, is not to be captured.
    pub(crate) fn ignores_file(&mut self, root: &Path, file: &str) -> bool {
        let root = resolve_dots(root);
        let path = path_below(&root, &root.join(file));
        let patterns = self.load_patterns(&root);
        path.is_some_and(|path| {
            let matched = patterns.matched_path_or_any_parents(&path, false);
            matched.is_ignore()
        })
    }

    fn load_patterns(&mut self, root: &Path) -> &Gitignore {
        let file = root.join(IGNORE_FILE_NAME);
        let stamp = fs::metadata(&file).and_then(|m| m.modified()).ok();
        let fresh = self.projects.get(root).is_some_and(|(at, _)| *at == stamp);
        if !fresh {
            let mut builder = GitignoreBuilder::new(root);
            for line in &self.own {
                // What is no pattern matches nothing; `doctor` names it.
                let _ = builder.add_line(None, line);
            }
            for line in project_patterns(&file) {
                let _ = builder.add_line(None, &line);
            }
            let patterns = builder.build().unwrap_or_else(|_| Gitignore::empty());
            self.projects.insert(root.to_path_buf(), (stamp, patterns));
        }
        &self.projects[root].1
    }
}

/// The path as seen from `root`, if it lies below it. The matcher asserts that
/// what it is asked about is relative, which `ROOT//file` is not after the root
/// is taken off byte by byte, so nothing else may be handed to it.
fn path_below(root: &Path, path: &Path) -> Option<PathBuf> {
    let path = resolve_dots(path);
    let below = path.strip_prefix(root).ok()?;
    (below.is_relative() && !below.as_os_str().is_empty()).then(|| below.to_path_buf())
}

/// Without `.`, `..` and doubled slashes, by the text alone; the file may be
/// long gone. Cut at [`MAX_PATH_BYTES`].
fn resolve_dots(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                resolved.push(part);
            }
        }
        if resolved.as_os_str().len() > MAX_PATH_BYTES {
            resolved.pop();
            break;
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use remora_core::EventName;

    use super::*;

    fn header_of<'a>(cwd: &'a str, path: &'a str) -> EventHeader<'a> {
        EventHeader {
            name: EventName::PostToolUse,
            session: None,
            cwd,
            turn: None,
            call: None,
            subagent: None,
            paths: vec![path],
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_named() {
        assert_eq!(pattern_fault("*.key"), None);
        assert!(pattern_fault("[z-a]").is_some_and(|fault| fault.contains("[z-a]")));
    }

    #[test]
    fn own_and_project_patterns_hide_files_and_folders() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_str().unwrap();
        fs::write(dir.path().join(IGNORE_FILE_NAME), "notes/\n*.key\n").unwrap();
        let mut ignores = ProjectIgnores::new(vec!["/private".into()]);
        let mut hidden = |cwd: &str, path: &str| ignores.ignores_event(&header_of(cwd, path), root);
        assert!(hidden(root, &format!("{root}/notes/a.md")));
        assert!(hidden(root, "deep/x.key"));
        assert!(hidden(root, "private/x"));
        assert!(hidden(&format!("{root}/notes"), "/elsewhere"));
        assert!(!hidden(root, "src/main.rs"));
        assert!(!hidden(root, "/outside/x.key"));
    }

    fn ask(root: &str, cwd: &str, path: &str) -> bool {
        let mut ignores = ProjectIgnores::new(vec!["*.key".into(), "hidden/".into()]);
        ignores.ignores_event(&header_of(cwd, path), root)
    }

    #[test]
    fn a_path_is_matched_however_it_is_spelled() {
        for path in [
            "/there//a.key",
            "//there/a.key",
            "/there/./a.key",
            "/there/x/../a.key",
            "/elsewhere/../there/a.key",
            "/there/hidden//a",
            "a.key",
            "./a.key",
            "x//../hidden/./b",
        ] {
            assert!(ask("/there", "/there", path), "{path}");
            assert!(ask("/there/", "/there//", path), "{path}");
        }
        for path in [
            "/there/../a.key",
            "/there//a.rs",
            "../a.key",
            "/thereers/a.key",
        ] {
            assert!(!ask("/there", "/there", path), "{path}");
        }
    }

    #[test]
    fn no_path_is_too_odd_to_be_asked_about() {
        let deep = "a/".repeat(50_000);
        let long = "a".repeat(1 << 17);
        let odd = [
            "",
            "/",
            "//",
            ".",
            "..",
            "../..",
            "/..",
            "\0",
            "/there/\0//x",
            "/there\0//x",
            "a//",
            "/there//",
            "/there//..//",
            "\n",
            "C:\\x",
            "~",
            &deep,
            &long,
        ];
        for root in [
            "", "/", "/there", "/there//", "there", ".", "..", "\0", "./there",
        ] {
            for cwd in odd {
                for path in odd.iter().filter(|p| p.len() < 64 || cwd.len() < 64) {
                    ask(root, cwd, path);
                    ask(root, root, &format!("{root}//{path}"));
                }
            }
        }
    }

    #[test]
    fn without_a_project_own_patterns_still_count() {
        assert!(ask("", "/anywhere", "/anywhere//a.key"));
        assert!(!ask("", "/anywhere", "/anywhere/a.rs"));
    }

    #[test]
    fn a_file_that_never_ends_or_holds_too_much_costs_little_and_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let file = root.join(IGNORE_FILE_NAME);
        assert_eq!(ignore_file_fault(root), None);
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(
            ProjectIgnores::new(Vec::new())
                .load_patterns(root)
                .is_empty()
        );
        assert!(ignore_file_fault(root).is_some_and(|text| text.contains("none of it counts")));
        fs::remove_file(&file).unwrap();
        let many: Vec<String> = (0..5_000).map(|n| format!("d{n}/**")).collect();
        fs::write(&file, many.join("\n")).unwrap();
        assert_eq!(project_patterns(&file).len(), MAX_PATTERNS);
        assert!(ignore_file_fault(root).is_some_and(|text| text.contains("5000 patterns")));
        fs::write(&file, format!("{}\n*.key\n", "x".repeat(2_000))).unwrap();
        assert_eq!(project_patterns(&file), ["*.key"]);
        assert!(ignore_file_fault(root).is_some_and(|text| text.contains("longer than")));
    }
}
