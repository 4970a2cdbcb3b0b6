//! Imports that lead nowhere, in a circle, outside, or were not meant; and
//! what was meant as one but is none.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::sheet::{self, Named, PUNCTUATION, Sheet};
use super::{Bench, Finding, Severity};
use crate::file::Why;
use crate::import;
use crate::markdown::MissKind;
use crate::near::nearest;

/// Names without an ending that people import on purpose.
const KNOWN: &[&str] = &[
    "makefile",
    "justfile",
    "dockerfile",
    "readme",
    "license",
    "procfile",
];
/// Words before an `@` that speaks to a person.
const MENTIONS: &[&str] = &[
    "by",
    "cc",
    "ask",
    "ping",
    "owner",
    "owners",
    "thanks",
    "contact",
    "author",
    "reviewer",
    "maintainer",
];

pub(super) fn check(bench: &Bench<'_>) -> Vec<Finding> {
    let home = &bench.session.scene.places.home;
    let all = bench.session.start.files.iter().chain(&bench.session.later);
    let loaded: HashSet<PathBuf> = all
        .filter_map(|file| fs::canonicalize(&file.path).ok())
        .collect();
    let mut findings = Vec::new();
    let mut graph: BTreeMap<PathBuf, Vec<(PathBuf, usize)>> = BTreeMap::new();
    for sheet in bench.sheets.iter().chain(&bench.waiting_sheets) {
        let mut told: BTreeSet<(usize, String)> = BTreeSet::new();
        for named in sheet.imports(home) {
            if let Ok(real) = fs::canonicalize(&named.target) {
                graph
                    .entry(sheet.path.clone())
                    .or_default()
                    .push((real, named.line));
            }
            if let Some(finding) = judge(bench, sheet, &named, home) {
                told.insert(key(&named));
                findings.push(finding.at(named.line));
            }
        }
        for (named, why) in sheet.misses(home) {
            let real = fs::canonicalize(&named.target)
                .ok()
                .filter(|real| real.is_file());
            // What is there by another line needs no second import.
            let wanted = real.is_some_and(|real| !loaded.contains(&real));
            if wanted
                && !told.contains(&key(&named))
                && let Some(finding) = missed(sheet, &named, why)
            {
                findings.push(finding.at(named.line));
            }
        }
    }
    findings.extend(circles(&graph));
    findings
}

/// One import of a line, whatever stands behind its name.
fn key(named: &Named) -> (usize, String) {
    let name = named.token.trim_end_matches(PUNCTUATION);
    (named.line, name.to_owned())
}

fn judge(bench: &Bench<'_>, sheet: &Sheet, named: &Named, home: &Path) -> Option<Finding> {
    let token = &named.token;
    let target = named.target.display();
    let error = |code, message: String, advice: String| {
        Some(Finding::new(
            Severity::Error,
            code,
            &sheet.path,
            message,
            advice,
        ))
    };
    let warning = |code, message: String, advice: String| {
        Some(Finding::new(
            Severity::Warning,
            code,
            &sheet.path,
            message,
            advice,
        ))
    };
    let Ok(about) = fs::metadata(&named.target) else {
        let bare = token.trim_end_matches(PUNCTUATION);
        let meant = import::resolve(bare, &sheet.folder, home);
        if bare != token && !bare.is_empty() && meant.is_file() {
            return error(
                "punctuation-import",
                format!("@{token} imports nothing: the mark at its end counts as part of the name"),
                format!("write @{bare} with a blank behind it"),
            );
        }
        if !is_meant(token, &sheet.folder) {
            return None;
        }
        let advice = match nearest(&named.target) {
            Some(near) => format!("did you mean {}?", near.display()),
            None => "mend the path, or take the @ away".to_owned(),
        };
        return error(
            "dead-import",
            format!("@{token} leads to {target}, which does not exist"),
            advice,
        );
    };
    if about.is_dir() {
        let explicit = token.contains('/');
        return explicit.then(|| {
            Finding::new(
                Severity::Warning,
                "dead-import",
                &sheet.path,
                format!("@{token} leads to a directory, and only files are imported"),
                "name the files in it one by one",
            )
        });
    }
    if let Some(ending) = import::extension(&named.target).filter(|e| !import::is_text(e)) {
        return warning(
            "dead-import",
            format!("@{token} imports nothing: `.{ending}` files are not imported"),
            "give the file a name that ends in .md or .txt, or take the @ away".to_owned(),
        );
    }
    let skipped = bench
        .session
        .skipped()
        .find(|s| s.path == named.target && s.parent.as_ref() == Some(&sheet.path));
    match skipped.map(|s| &s.why) {
        Some(Why::External) => warning(
            "external-import",
            format!("@{token} leads outside the working directory and is held back"),
            "approve it with `remora instructions approve` and in the client, or move the file into the project".to_owned(),
        ),
        Some(Why::TooDeep) => warning(
            "deep-import",
            format!("@{token} is more than four imports away from the first file and is not loaded"),
            "import it from a file that is nearer to the first one".to_owned(),
        ),
        _ if is_accident(sheet, named) => warning(
            "accidental-import",
            format!("@{token} looks like a mention or a decorator, but it imports {target}"),
            format!("write `@{token}` in backticks if it is not meant as an import"),
        ),
        _ => None,
    }
}

/// Whether a name that leads nowhere was meant as a path: people, decorators
/// and packages also begin with an `@`.
fn is_meant(token: &str, folder: &Path) -> bool {
    if ["./", "../", "~/", "/"]
        .iter()
        .any(|start| token.starts_with(start))
    {
        return true;
    }
    let name = token.rsplit('/').next().unwrap_or_default();
    let ending = import::extension(Path::new(name));
    if ending.is_some_and(|ending| import::is_text(&ending) && ending.len() > 1) {
        // `@Component.ts` in prose is rare; `@app.py` less so.
        return !token.contains(['(', '@', '=']);
    }
    match token.split_once('/') {
        Some((first, rest)) => !rest.is_empty() && folder.join(first).is_dir(),
        None => false,
    }
}

/// Whether an import that works looks as if nobody wanted it.
fn is_accident(sheet: &Sheet, named: &Named) -> bool {
    let token = named.token.as_str();
    if token.contains('@') {
        return true;
    }
    let line = sheet
        .text
        .lines()
        .nth(named.line.saturating_sub(1))
        .unwrap_or_default();
    let before = line.split(&format!("@{token}")).next().unwrap_or_default();
    let word = before
        .trim_end()
        .rsplit([' ', '('])
        .next()
        .unwrap_or_default();
    let word = word.trim_end_matches(':').to_lowercase();
    if MENTIONS.contains(&word.as_str()) {
        return true;
    }
    let explicit = token.contains('.') || token.starts_with(['/', '~']);
    if explicit {
        return false;
    }
    // `@types/node` is a package, `@alice` a person; `@README` is meant.
    let first = token.chars().next().unwrap_or_default();
    let known = KNOWN.contains(&token.to_lowercase().as_str());
    !known && first.is_lowercase() && token.matches('/').count() < 2
}

fn missed(sheet: &Sheet, named: &Named, why: MissKind) -> Option<Finding> {
    let (severity, code) = match why {
        MissKind::Escaped => return None,
        MissKind::InCode | MissKind::InComment | MissKind::InHtml => {
            (Severity::Note, "code-import")
        }
        MissKind::AfterPunctuation | MissKind::TrailingPunctuation => {
            (Severity::Error, "punctuation-import")
        }
        MissKind::BrokenByEmphasis | MissKind::FirstCharacter => (Severity::Error, "dead-import"),
    };
    let message = format!(
        "@{} imports nothing: it {}",
        named.token,
        sheet::reason(why)
    );
    Some(Finding::new(
        severity,
        code,
        &sheet.path,
        message,
        sheet::mend(why),
    ))
}

/// Circles of imports, each told once, where it closes.
fn circles(graph: &BTreeMap<PathBuf, Vec<(PathBuf, usize)>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut done: BTreeSet<&Path> = BTreeSet::new();
    for start in graph.keys() {
        // The way to where we are, each with the next import to follow.
        let mut way: Vec<(&Path, usize)> = vec![(start, 0)];
        while let Some((file, next)) = way.last_mut() {
            let imports = graph.get(*file).map(Vec::as_slice).unwrap_or_default();
            let Some((target, line)) = imports.get(*next) else {
                done.insert(file);
                way.pop();
                continue;
            };
            *next += 1;
            let from = *file;
            if let Some(at) = way.iter().position(|(file, _)| *file == target.as_path()) {
                let names: Vec<String> = way[at..]
                    .iter()
                    .map(|(file, _)| file.display().to_string())
                    .collect();
                let message = if names.len() == 1 {
                    "the file imports itself".to_owned()
                } else {
                    format!(
                        "imports go in a circle: {} -> {}",
                        names.join(" -> "),
                        names[0]
                    )
                };
                let advice = "each file is loaded once, so this import does nothing: take it away";
                let finding =
                    Finding::new(Severity::Warning, "cyclic-import", from, message, advice);
                findings.push(finding.at(*line));
            } else if !done.contains(target.as_path()) && graph.contains_key(target) {
                way.push((target, 0));
            }
        }
    }
    findings
}
