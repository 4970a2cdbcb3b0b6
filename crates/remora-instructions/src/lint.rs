//! What should be fixed in instruction files: imports that lead nowhere, rules
//! that never match, files that are never read, lines that contradict each
//! other. Reads and reports; changes nothing.

mod contradiction;
mod files;
mod imports;
mod memory;
mod rules;
pub(crate) mod sheet;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Instructions;
use crate::start::LoadContext;
use crate::why::waiting::{self, WaitingRule};
use contradiction::ComparedText;
use sheet::LintFile;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Instructions that someone wrote do not reach the model.
    Error,
    /// Probably not what was meant.
    Warning,
    /// Worth knowing, nothing to fix.
    Note,
}

impl Severity {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Something to fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// How much it matters.
    pub severity: Severity,
    /// What kind it is, in kebab case.
    pub code: &'static str,
    /// The file to fix.
    pub path: PathBuf,
    /// The line in it, from 1.
    pub line: Option<usize>,
    /// What is wrong, as one sentence.
    pub message: String,
    /// What the user can do about it.
    pub advice: String,
}

impl LintFinding {
    fn new(
        severity: Severity,
        code: &'static str,
        path: impl Into<PathBuf>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            code,
            path: path.into(),
            line: None,
            message: message.into(),
            advice: advice.into(),
        }
    }

    fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }
}

/// What all checks look at.
struct LintContext<'a> {
    session: &'a Instructions,
    /// Loaded files that may import, as they are on the disk.
    sheets: Vec<LintFile>,
    /// Rules that wait for a file.
    waiting: Vec<WaitingRule>,
    /// Their sheets, in the same order where they can be read.
    waiting_sheets: Vec<LintFile>,
}

impl Instructions {
    /// Everything that should be fixed, the gravest first.
    pub fn lint(&self) -> Vec<LintFinding> {
        let mut findings = files::check_settings(&self.context);
        findings.extend(files::check_limits(&self.context));
        if self.context.disabled_by().is_none() {
            // A context of its own: listing all rules must not change what the session has loaded.
            let mut context =
                LoadContext::new(self.context.places.clone(), self.context.options.clone());
            let waiting = waiting::list_waiting_rules(&mut context, &self.below_cwd());
            let bench = LintContext {
                session: self,
                sheets: LintFile::read_loaded(self.start.files.iter().chain(&self.later)),
                waiting_sheets: waiting
                    .iter()
                    .filter_map(|rule| LintFile::read_file(&rule.path))
                    .collect(),
                waiting,
            };
            findings.extend(imports::check_imports(&bench));
            findings.extend(rules::check_rules(&bench));
            findings.extend(files::check_files(&bench));
            findings.extend(memory::check_memory_indexes(&bench));
            findings.extend(check_contradictions(&bench));
        }
        let key = |f: &LintFinding| {
            (
                f.severity,
                f.path.clone(),
                f.line,
                f.code,
                f.message.clone(),
            )
        };
        findings.sort_by_cached_key(key);
        findings.dedup();
        findings
    }

    /// Directories below the working directory that the session touched.
    fn below_cwd(&self) -> Vec<PathBuf> {
        let triggers = self.later.iter().filter_map(|file| file.trigger.as_deref());
        let mut dirs: Vec<PathBuf> = triggers
            .flat_map(|file| file.ancestors().skip(1))
            .filter(|dir| dir.starts_with(self.cwd()) && *dir != self.cwd())
            .map(Path::to_path_buf)
            .collect();
        dirs.sort();
        dirs.dedup();
        dirs
    }
}

/// Lines of files that are in the prompt at the same time.
fn check_contradictions(bench: &LintContext<'_>) -> Vec<LintFinding> {
    /// A text with the way back to its lines.
    struct Document {
        path: PathBuf,
        body: String,
        first: usize,
        group: usize,
    }
    let mut documents = Vec::new();
    for file in bench.session.start() {
        // The file is read again, because the loaded content has lost its line numbers. A text
        // from settings has no file.
        let sheet = LintFile::read_file(&file.path);
        documents.push(match sheet {
            Some(sheet) => Document {
                body: without_comments(sheet.body()),
                first: sheet.file_line(0),
                path: file.path.clone(),
                group: 0,
            },
            None => Document {
                body: file.content.clone(),
                first: 0,
                path: file.path.clone(),
                group: 0,
            },
        });
    }
    // Two rules are certainly in a prompt together only if they wait for the same files.
    let mut groups: BTreeMap<(&Path, &[String]), usize> = BTreeMap::new();
    for rule in &bench.waiting {
        let Some(sheet) = bench.waiting_sheets.iter().find(|s| s.path == rule.path) else {
            continue;
        };
        let next = groups.len() + 1;
        let group = *groups
            .entry((&rule.base, rule.globs.texts()))
            .or_insert(next);
        documents.push(Document {
            body: without_comments(sheet.body()),
            first: sheet.file_line(0),
            path: rule.path.clone(),
            group,
        });
    }
    let names: Vec<String> = documents
        .iter()
        .map(|d| {
            d.path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let texts: Vec<ComparedText<'_>> = documents
        .iter()
        .zip(&names)
        .map(|(document, name)| ComparedText {
            name,
            body: &document.body,
            group: document.group,
        })
        .collect();
    let clashes = contradiction::find_conflicts(&texts).into_iter();
    clashes
        .map(|clash| {
            let (first, second) = (&documents[clash.first.text], &documents[clash.second.text]);
            LintFinding::new(
                Severity::Warning,
                "contradiction",
                &second.path,
                format!(
                    "\"{}\" contradicts \"{}\" in {} line {}: {}",
                    clash.second.words,
                    clash.first.words,
                    first.path.display(),
                    first.first + clash.first.line,
                    clash.about
                ),
                "keep one of the two, or say where each holds",
            )
            .at_line(second.first + clash.second.line)
        })
        .collect()
}

/// A text with its comments blanked, line for line.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!--") {
        let end = rest[at..]
            .find("-->")
            .map_or(rest.len(), |end| at + end + 3);
        out.push_str(&rest[..at]);
        out.extend(rest[at..end].chars().filter(|c| *c == '\n'));
        rest = &rest[end..];
    }
    out + rest
}
