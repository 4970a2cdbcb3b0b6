//! Indexes of saved memories, and the memories that instruction files name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{LintContext, LintFinding, Severity};
use crate::auto_memory::{IndexSizeVerdict, judge_write, parse_link_target};
use crate::memory_uri::MemoryUri;
use crate::{disk, frontmatter, markdown, names, near};

/// Memory files of a folder that are read.
const MAX_TOPIC_FILES: usize = 20_000;

pub(super) fn check_memory_indexes(bench: &LintContext<'_>) -> Vec<LintFinding> {
    let context = &bench.session.context;
    let mut findings = Vec::new();
    if context.memory_off().is_none() {
        findings.extend(check_folder(
            &context.memory_folder(),
            "remora memory index",
        ));
    }
    if context.options.sources.project {
        findings.extend(check_folder(
            &context.team_folder(),
            "remora memory index --team",
        ));
    }
    findings.extend(check_references(bench));
    findings
}

fn check_folder(dir: &Path, command: &str) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    let index = dir.join(names::MEMORY_INDEX_FILE);
    let text = disk::read_bytes(&index)
        .map(|bytes| markdown::decode_text(&bytes))
        .unwrap_or_default();
    findings.extend(check_index_size(&index, &text));
    let mut pointed: BTreeSet<String> = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        for target in list_linked_files(line) {
            if !dir.join(&target).exists() {
                findings.push(
                    LintFinding::new(
                        Severity::Warning,
                        "index-dead-link",
                        &index,
                        format!("points to {target}, which does not exist"),
                        format!("fix the line, or let `{command}` remove it"),
                    )
                    .at_line(at + 1),
                );
            }
            pointed.insert(target);
        }
    }
    let list = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut topics: Vec<String> = list
        .take(MAX_TOPIC_FILES)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            name.strip_suffix(".md").is_some()
                && !name.starts_with('.')
                && name != names::MEMORY_INDEX_FILE
        })
        // Lines in other words count as well: `pointed` has every link, not only list items.
        .filter(|name| !pointed.contains(name))
        .collect();
    topics.sort();
    findings.extend(topics.into_iter().map(|name| {
        LintFinding::new(
            Severity::Warning,
            "orphan-memory",
            dir.join(&name),
            format!(
                "no line of {} points to it, so no session will find it",
                names::MEMORY_INDEX_FILE
            ),
            format!("let `{command}` add the line"),
        )
    }));
    findings
}

/// Judges the size of an index, cleaned and trimmed as in a prompt: comments do
/// not count there.
fn check_index_size(index: &Path, text: &str) -> Option<LintFinding> {
    let (_, body) = frontmatter::split_frontmatter(text);
    let page = markdown::parse_markdown(body);
    let (severity, code, size) = match judge_write(page.text.trim()) {
        IndexSizeVerdict::Fits => return None,
        IndexSizeVerdict::Near(size) => (Severity::Note, "index-near-limit", size),
        IndexSizeVerdict::Over(size) => (Severity::Error, "index-over-limit", size),
    };
    let what = match severity {
        Severity::Error => "is over its limit, and the rest reaches no model",
        _ => "is close to its limit",
    };
    Some(LintFinding::new(
        severity,
        code,
        index,
        format!(
            "the index {what}: {} of {} lines, {} of {} characters",
            size.lines,
            crate::auto_memory::MAX_INDEX_LINES,
            size.units,
            crate::auto_memory::MAX_INDEX_UTF16_UNITS
        ),
        format!(
            "bring it down to about {} lines: one short line a memory, details in its file",
            crate::auto_memory::TARGET_INDEX_LINES
        ),
    ))
}

/// Files of the same folder that a line links to.
fn list_linked_files(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, mark) in line.match_indices("](") {
        let Some(target) = parse_link_target(&line[at + mark.len()..]) else {
            continue;
        };
        // An index may also link to pages; only files of this folder can be missing.
        let local = !target.contains("://") && !target.starts_with("mailto:");
        if local && Path::new(&target).extension().is_some_and(|e| e == "md") {
            found.push(target);
        }
    }
    for (at, mark) in line.match_indices("[[") {
        let name = line[at + mark.len()..]
            .split("]]")
            .next()
            .unwrap_or_default();
        if line[at..].contains("]]") && !name.is_empty() && !name.contains(['/', '[', '|']) {
            found.push(format!("{}.md", name.trim_end_matches(".md")));
        }
    }
    found
}

/// `memory://` that leads nowhere.
fn check_references(bench: &LintContext<'_>) -> Vec<LintFinding> {
    let context = &bench.session.context;
    let mut findings = Vec::new();
    for sheet in &bench.sheets {
        for found in MemoryUri::all_in(sheet.body()) {
            let folder = context.folder_of(found.scope);
            let Some(path) = folder.map(|dir| dir.join(found.name.file_name())) else {
                continue;
            };
            if path.is_file() {
                continue;
            }
            let uri = found.to_string();
            // The parsed address has no position, so its line is searched for.
            let line = sheet.body().lines().position(|line| line.contains(&uri));
            let advice = match near::find_nearest_path(&path) {
                Some(near) => format!(
                    "did you mean {}?",
                    near.file_stem().unwrap_or_default().display()
                ),
                None => {
                    "save such a memory with `remora memory add`, or take the name away".to_owned()
                }
            };
            let finding = LintFinding::new(
                Severity::Error,
                "dead-memory-reference",
                &sheet.path,
                format!("{uri} leads to {}, which does not exist", path.display()),
                advice,
            );
            findings.push(finding.at_line(sheet.file_line(line.unwrap_or_default() + 1)));
        }
    }
    findings
}
