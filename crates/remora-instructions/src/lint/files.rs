//! Files as a whole: not read, read twice, too long, or misspelled; and what
//! settings say about them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{LintContext, LintFinding, Severity};
use crate::file::{LoadedFile, SkipReason};
use crate::names::{self, key};
use crate::start::LoadContext;
use crate::why::right_case;

/// Characters above which a file is reported as long: it is in every prompt.
const MAX_FILE_CHARS: usize = 40_000;
/// Entries of a folder that are searched for misspelled names.
const MAX_SCANNED_ENTRIES: usize = 5_000;
/// Lines that two files must have to be compared.
const MIN_COMPARED_LINES: usize = 5;
/// Shorter lines, such as `}` or a heading, are in two files by accident.
const MIN_LINE_BYTES: usize = 12;

pub(super) fn check_files(bench: &LintContext<'_>) -> Vec<LintFinding> {
    let session = bench.session;
    let files: Vec<&LoadedFile> = session.start.files.iter().chain(&session.later).collect();
    let mut findings = check_length(&files);
    findings.extend(check_duplicates(&files));
    findings.extend(check_misspelled_names(&session.context));
    let repository = session.context.repository.as_ref();
    let root = repository.map_or(session.cwd(), |r| r.root.as_path());
    for skipped in session.skipped() {
        // Files above the project belong to someone else, and this project cannot fix them.
        if let SkipReason::ShadowedBy(by) = &skipped.why
            && skipped.path.starts_with(root)
        {
            findings.push(LintFinding::new(
                Severity::Warning,
                "shadowed-file",
                &skipped.path,
                format!("is not read, because {} is loaded", by.display()),
                format!(
                    "write @{} in it, or set `{}` to claude-md-and-agents-md",
                    format_relative_path(&skipped.path, by.parent()),
                    key::INSTRUCTION_FILES
                ),
            ));
        }
    }
    findings
}

fn format_relative_path(path: &Path, folder: Option<&Path>) -> String {
    let short = folder.and_then(|folder| path.strip_prefix(folder).ok());
    short.unwrap_or(path).display().to_string()
}

fn check_length(files: &[&LoadedFile]) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for file in files {
        let characters = file.content.chars().count();
        if characters > MAX_FILE_CHARS {
            findings.push(LintFinding::new(
                Severity::Warning,
                "too-long",
                &file.path,
                format!(
                    "holds {characters} characters (about {} tokens), more than {MAX_FILE_CHARS}",
                    file.estimate_tokens()
                ),
                "keep what is always needed, and move the rest into rules with `paths`",
            ));
        }
    }
    findings
}

/// Files that say the same.
fn check_duplicates(files: &[&LoadedFile]) -> Vec<LintFinding> {
    let lines: Vec<Vec<String>> = files
        .iter()
        .map(|file| normalise_lines(&file.content))
        .collect();
    let mut findings = Vec::new();
    // Whole files first, by hash; then shared lines through the files that hold each line.
    let mut whole: HashMap<&[String], usize> = HashMap::new();
    let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
    let sets: Vec<HashSet<&str>> = lines
        .iter()
        .map(|lines| {
            lines
                .iter()
                .map(String::as_str)
                .filter(|l| l.len() >= MIN_LINE_BYTES)
                .collect()
        })
        .collect();
    for (at, file) in files.iter().enumerate() {
        if let Some(first) = whole.get(lines[at].as_slice()) {
            findings.push(LintFinding::new(
                Severity::Warning,
                "duplicate-file",
                &file.path,
                format!("says the same as {}", files[*first].path.display()),
                "keep one of the two, and import it where it is needed",
            ));
            continue;
        }
        whole.insert(&lines[at], at);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for line in &sets[at] {
            let before = holders.entry(line).or_default();
            for other in before.iter() {
                *shared.entry(*other).or_default() += 1;
            }
            // A line of many files says nothing about two of them, and comparing all pairs
            // would be quadratic.
            if before.len() < 32 {
                before.push(at);
            }
        }
        let most = shared
            .into_iter()
            .max_by_key(|(other, count)| (*count, usize::MAX - other));
        let Some((other, count)) = most else {
            continue;
        };
        let all = sets[at].len() + sets[other].len() - count;
        if sets[at].len().min(sets[other].len()) >= MIN_COMPARED_LINES && count * 10 >= all * 7 {
            findings.push(LintFinding::new(
                Severity::Note,
                "duplicate-file",
                &file.path,
                format!(
                    "shares {count} of {all} lines with {}",
                    files[other].path.display()
                ),
                "keep the common lines in one file, and import it where it is needed",
            ));
        }
    }
    findings
}

fn normalise_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ").to_lowercase()
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// Names that differ from ours only in case, where ours are looked for.
fn check_misspelled_names(context: &LoadContext) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for dir in context.walk_directories() {
        let folder = dir.join(names::SETTINGS_DIR);
        findings.extend(wrong_names(&dir));
        findings.extend(wrong_names(&folder));
        findings.extend(wrong_rules(&folder.join(names::RULES_DIR)));
    }
    let config = context.places.config_dir();
    if !context
        .loader
        .cwd
        // On a walk through the home the user's folder was looked at already.
        .starts_with(config.parent().unwrap_or(&config))
    {
        findings.extend(wrong_names(&config));
        findings.extend(wrong_rules(&config.join(names::RULES_DIR)));
    }
    findings
}

fn list_entries(dir: &Path) -> Vec<(PathBuf, String)> {
    let list = fs::read_dir(dir).into_iter().flatten().flatten();
    list.take(MAX_SCANNED_ENTRIES)
        .map(|entry| {
            (
                entry.path(),
                entry.file_name().to_string_lossy().into_owned(),
            )
        })
        .collect()
}

fn wrong_case(path: &Path, right: &str) -> LintFinding {
    LintFinding::new(
        Severity::Error,
        "wrong-case",
        path,
        "is not read: its name is in the wrong case",
        format!("rename it to {right}"),
    )
}

fn wrong_names(dir: &Path) -> Vec<LintFinding> {
    let in_settings = dir.ends_with(names::SETTINGS_DIR);
    let mut findings = Vec::new();
    for (path, name) in list_entries(dir) {
        let folder = [names::SETTINGS_DIR, names::RULES_DIR]
            .into_iter()
            .find(|right| right.eq_ignore_ascii_case(&name) && *right != name)
            .filter(|right| (*right == names::RULES_DIR) == in_settings && path.is_dir());
        let file = right_case(&name).filter(|_| path.is_file());
        if let Some(right) = file.or(folder)
            && !is_same_file(&path, &dir.join(right))
        {
            findings.push(wrong_case(&path, right));
        }
    }
    findings
}

fn wrong_rules(dir: &Path) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for (path, name) in list_entries(dir) {
        if let Some((stem, ending)) = name.rsplit_once('.')
            && ending.eq_ignore_ascii_case("md")
            && ending != "md"
        {
            findings.push(wrong_case(&path, &format!("{stem}.md")));
        }
    }
    findings
}

/// Some file systems ignore case; then both names are one file, and it is read.
fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// What a load left out because there was too much of it.
pub(super) fn check_limits(context: &LoadContext) -> Vec<LintFinding> {
    let warnings = context.loader.budget.warnings();
    warnings
        .map(|warning| {
            let (source, message) = warning.split_once(": ").unwrap_or(("", warning));
            let advice = "name fewer files, or remove what was not meant";
            LintFinding::new(Severity::Warning, "limit-reached", source, message, advice)
        })
        .collect()
}

/// What is wrong in settings files.
pub(super) fn check_settings(context: &LoadContext) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for warning in &context.settings.warnings {
        let (source, message) = warning.split_once(": ").unwrap_or(("", warning));
        let names = [key::INSTRUCTION_FILES, key::INSTRUCTION_FILES_OLD];
        let mode = names
            .iter()
            .any(|name| message.starts_with(&format!("`{name}`")));
        let (code, advice) = if mode {
            (
                "unknown-agents-mode",
                "write one of these four words; until then the default holds",
            )
        } else {
            (
                "settings-broken",
                "fix the file; nothing in it counts until then",
            )
        };
        findings.push(LintFinding::new(
            Severity::Error,
            code,
            source,
            message,
            advice,
        ));
    }
    for pattern in &context.settings.excludes {
        let text = pattern.value.trim_start_matches('!');
        // Anything else begins a relative path or `~/`, which never equals an absolute one.
        if !text.starts_with(['/', '*', '{', '[', '?', '@', '+', '(']) {
            findings.push(LintFinding::new(
                Severity::Warning,
                "exclude-never-matches",
                &pattern.source,
                format!(
                    "`{}` in `{}` matches nothing: patterns are compared with absolute paths",
                    pattern.value,
                    key::EXCLUDES
                ),
                format!(
                    "write an absolute path, or **/{}",
                    text.trim_start_matches("./").trim_start_matches("~/")
                ),
            ));
        }
    }
    findings
}
