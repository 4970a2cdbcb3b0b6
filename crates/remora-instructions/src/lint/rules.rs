//! Rules that no file wakes, and heads that are not read as they were meant.

use std::ops::ControlFlow;
use std::path::Path;

use super::sheet::LintFile;
use super::{LintContext, LintFinding, Severity};
use crate::file::InstructionKind;
use crate::frontmatter;
use crate::rule;
use crate::walk;
use crate::why::waiting::WaitingRule;

/// Files of a project that are compared with a rule's patterns.
const MAX_SCANNED_FILES: usize = 50_000;
/// Keys of other tools' rule files, which mean nothing here.
const OTHER_KEYS: &[&str] = &["globs", "glob", "path", "Paths", "applyTo", "files"];

pub(super) fn check_rules(bench: &LintContext<'_>) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    for sheet in bench.sheets.iter().chain(&bench.waiting_sheets) {
        findings.extend(check_head(sheet));
    }
    let mut pending = Vec::new();
    for rule in &bench.waiting {
        let sheet = bench.waiting_sheets.iter().find(|s| s.path == rule.path);
        let line = sheet.and_then(|s| s.text.lines().position(|l| l.starts_with("paths")));
        let line = line.map_or(1, |at| at + 1);
        match find_dead_pattern(rule, bench.session.cwd()) {
            Some((severity, why)) => findings.push(
                LintFinding::new(
                    severity,
                    "rule-never-matches",
                    &rule.path,
                    why,
                    "write gitignore patterns, relative to the directory that holds `.claude`, such as src/**/*.ts",
                )
                .at_line(line),
            ),
            // The user's rules are for all projects, so one that matches nothing here is fine.
            None if rule.kind == InstructionKind::Project => pending.push((rule, line)),
            None => {}
        }
    }
    findings.extend(check_unmatched(pending, bench.session.cwd()));
    findings
}

/// Whether a file is one of the rules.
fn is_rule(path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .any(|dir| dir.ends_with(crate::names::RULES_DIR))
}

fn check_head(sheet: &LintFile) -> Option<LintFinding> {
    let broken = |message: String, advice: &str| {
        let code = "frontmatter-broken";
        let finding = LintFinding::new(Severity::Warning, code, &sheet.path, message, advice);
        Some(finding.at_line(1))
    };
    let rule = is_rule(&sheet.path);
    let Some(head) = sheet.head() else {
        return find_unclosed_head(&sheet.text, rule).and_then(|why| {
            broken(
                why.to_owned(),
                "begin the file with a line --- and close its head with another",
            )
        });
    };
    let entries = match frontmatter::parse_frontmatter(head) {
        Ok(entries) => entries,
        Err(why) => {
            let then = if rule {
                ", so the rule always applies"
            } else {
                ""
            };
            return broken(
                format!("the head is not read: {why}{then}"),
                "put quotes around values that hold any of : * { [ # &",
            );
        }
    };
    let has = |name: &str| entries.iter().any(|(key, _)| key == name);
    if !rule || has("paths") {
        return None;
    }
    let other = OTHER_KEYS.iter().find(|key| has(key))?;
    broken(
        format!("`{other}` means nothing in a rule, so the rule always applies"),
        "write `paths`",
    )
}

/// A head that is none.
fn find_unclosed_head(text: &str, rule: bool) -> Option<&'static str> {
    let keyed = |text: &str| {
        let mut lines = text.lines().take(20);
        lines.any(|line| {
            let (key, _) = line.split_once(':').unwrap_or_default();
            !key.is_empty()
                && key
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        })
    };
    let first = text.lines().next().unwrap_or_default();
    if first.trim_end() == "---" {
        let key_first = text.lines().nth(1).is_some_and(keyed);
        return key_first.then_some("the head is not closed by a line ---, so it is text");
    }
    let begins = text.trim_start().starts_with("---")
        && text.lines().take(20).any(|l| l.starts_with("paths:"));
    (rule && begins).then_some("the head does not begin on the first line, so it is text")
}

/// Why a rule, or one pattern of it, never matches.
fn find_dead_pattern(rule: &WaitingRule, cwd: &Path) -> Option<(Severity, String)> {
    if let Some(why) = rule.globs.never_matches() {
        return Some((
            Severity::Error,
            format!("no file can activate this rule: {why}"),
        ));
    }
    let absolute = |text: &&String| {
        let path = Path::new(text.as_str());
        path.starts_with(cwd) || (path.starts_with(&rule.base) && rule.base.parent().is_some())
    };
    let texts = rule.globs.texts();
    if let Some(text) = texts.iter().find(absolute) {
        let all = texts.iter().all(|text| absolute(&text));
        let severity = if all {
            Severity::Error
        } else {
            Severity::Warning
        };
        return Some((
            severity,
            format!("`{text}` is an absolute path, and such a pattern never matches"),
        ));
    }
    // One of several patterns may never match while the others do.
    let sheet = LintFile::read_file(&rule.path)?;
    let (_, warnings) = rule::parse_rule_scope(sheet.head());
    (!warnings.is_empty()).then(|| (Severity::Warning, warnings.join("; ")))
}

/// Rules that no file of the project wakes today.
fn check_unmatched(mut pending: Vec<(&WaitingRule, usize)>, cwd: &Path) -> Vec<LintFinding> {
    if pending.is_empty() {
        return Vec::new();
    }
    let mut left = MAX_SCANNED_FILES;
    // First the files of the repository, then also ignored ones: a rule may be about those,
    // but a `node_modules` must not use up the limit.
    for files in [walk::WalkFilter::NotIgnored, walk::WalkFilter::All] {
        walk::walk_files(cwd, files, |path| {
            if pending.is_empty() || left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            remove_matched(&mut pending, path);
            ControlFlow::Continue(())
        });
    }
    let cut = left == 0;
    pending
        .into_iter()
        .map(|(rule, line)| {
            let patterns: Vec<String> = rule
                .globs
                .texts()
                .iter()
                .take(5)
                .map(|t| format!("`{t}`"))
                .collect();
            let (severity, message) = if cut {
                let message = format!(
                    "none of the first {MAX_SCANNED_FILES} files matches {} (there are more)",
                    patterns.join(", ")
                );
                (Severity::Note, message)
            } else {
                let message = format!(
                    "no file below {} matches {}",
                    cwd.display(),
                    patterns.join(", ")
                );
                (Severity::Warning, message)
            };
            let advice = format!(
                "fix `paths`, which starts at {}, or remove the rule",
                rule.base.display()
            );
            LintFinding::new(severity, "rule-never-matches", &rule.path, message, advice)
                .at_line(line)
        })
        .collect()
}

fn remove_matched(pending: &mut Vec<(&WaitingRule, usize)>, file: &Path) {
    pending.retain(|(rule, _)| {
        let Ok(relative) = file.strip_prefix(&rule.base) else {
            return true;
        };
        // No copy, unless the name is not UTF-8: this runs for every file of the tree.
        !rule.globs.matches(&relative.to_string_lossy())
    });
}
