//! Indexes of saved memories, and the memories that instruction files name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{Bench, Finding, Severity};
use crate::auto_memory::{Judgement, judge_write};
use crate::memories::{Uri, pointer};
use crate::{disk, frontmatter, markdown, names, near};

/// Topic files of a folder that are looked at.
const MOST: usize = 20_000;

pub(super) fn check(bench: &Bench<'_>) -> Vec<Finding> {
    let scene = &bench.session.scene;
    let mut findings = Vec::new();
    if scene.memory_off().is_none() {
        findings.extend(folder(&scene.memory_folder(), "remora memory index"));
    }
    if scene.options.sources.project {
        findings.extend(folder(&scene.team_folder(), "remora memory index --team"));
    }
    findings.extend(references(bench));
    findings
}

fn folder(dir: &Path, command: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let index = dir.join(names::INDEX);
    let text = disk::read(&index)
        .map(|bytes| markdown::decode(&bytes))
        .unwrap_or_default();
    findings.extend(size(&index, &text));
    let mut pointed: BTreeSet<String> = BTreeSet::new();
    for (at, line) in text.lines().enumerate() {
        for target in links(line) {
            if !dir.join(&target).exists() {
                findings.push(
                    Finding::new(
                        Severity::Warning,
                        "index-dead-link",
                        &index,
                        format!("points to {target}, which does not exist"),
                        format!("mend the line, or let `{command}` take it away"),
                    )
                    .at(at + 1),
                );
            }
            pointed.insert(target);
        }
    }
    let list = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut topics: Vec<String> = list
        .take(MOST)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            name.strip_suffix(".md").is_some() && !name.starts_with('.') && name != names::INDEX
        })
        .filter(|name| !pointed.contains(name))
        .collect();
    topics.sort();
    findings.extend(topics.into_iter().map(|name| {
        Finding::new(
            Severity::Warning,
            "orphan-memory",
            dir.join(&name),
            format!(
                "no line of {} points to it, so nobody will find it",
                names::INDEX
            ),
            format!("let `{command}` add the line"),
        )
    }));
    findings
}

/// Cleaned and trimmed as in a prompt, then judged.
fn size(index: &Path, text: &str) -> Option<Finding> {
    let (_, body) = frontmatter::split(text);
    let page = markdown::read(body);
    let (severity, code, size) = match judge_write(page.text.trim()) {
        Judgement::Fits => return None,
        Judgement::Near(size) => (Severity::Note, "index-near-limit", size),
        Judgement::Over(size) => (Severity::Error, "index-over-limit", size),
    };
    let what = match severity {
        Severity::Error => "is over its limit, and the rest reaches no model",
        _ => "is close to its limit",
    };
    Some(Finding::new(
        severity,
        code,
        index,
        format!(
            "the index {what}: {} of {} lines, {} of {} characters",
            size.lines,
            crate::auto_memory::LINES,
            size.units,
            crate::auto_memory::UNITS
        ),
        format!(
            "bring it down to about {} lines: one short line a memory, details in its file",
            crate::auto_memory::TARGET_LINES
        ),
    ))
}

/// Files of the same folder that a line links to.
fn links(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, mark) in line.match_indices("](") {
        let Some(target) = pointer::target(&line[at + mark.len()..]) else {
            continue;
        };
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
fn references(bench: &Bench<'_>) -> Vec<Finding> {
    let scene = &bench.session.scene;
    let mut findings = Vec::new();
    for sheet in &bench.sheets {
        for found in Uri::all_in(sheet.body()) {
            let folder = scene.folder_of(found.scope);
            let Some(path) = folder.map(|dir| dir.join(found.name.file())) else {
                continue;
            };
            if path.is_file() {
                continue;
            }
            let uri = found.to_string();
            let line = sheet.body().lines().position(|line| line.contains(&uri));
            let advice = match near::nearest(&path) {
                Some(near) => format!(
                    "did you mean {}?",
                    near.file_stem().unwrap_or_default().display()
                ),
                None => {
                    "save such a memory with `remora memory add`, or take the name away".to_owned()
                }
            };
            let finding = Finding::new(
                Severity::Error,
                "dead-memory-reference",
                &sheet.path,
                format!("{uri} leads to {}, which does not exist", path.display()),
                advice,
            );
            findings.push(finding.at(sheet.line(line.unwrap_or_default() + 1)));
        }
    }
    findings
}
