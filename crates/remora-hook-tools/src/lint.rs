//! What is wrong, or likely not meant, in the hooks of settings files.
//!
//! The engine is asked wherever it knows the answer; the rest are habits that
//! break hooks in use. Scripts that hooks name are read, never run.

mod command;
mod duplicates;
mod entries;
mod rules;
mod sarif;
mod script;
mod words;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use remora_hooks::LayerSource;
use serde::Serialize;

use crate::document::{Document, KeyPath, Position};
use crate::edit::HandlerPlace;
use crate::names;

pub use command::list_scripts;
pub use rules::{LINT_RULES, LintRule};
pub use sarif::write_sarif;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something does not run, or not as written.
    Error,
    /// It runs, and likely not as meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One thing to fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LintFinding {
    /// How bad it is.
    pub severity: Severity,
    /// The rule that found it; stable.
    pub code: &'static str,
    /// The settings file.
    pub file: PathBuf,
    /// Where in it.
    #[serde(flatten)]
    pub position: Position,
    /// The way to the value at fault.
    pub key: String,
    /// What is wrong, and what it does.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

/// A settings file to look at.
#[derive(Debug, Clone)]
pub struct LintFile {
    /// The layer it belongs to.
    pub source: LayerSource,
    /// Where it is.
    pub path: PathBuf,
    /// The folder of its plugin, in the plugin layer.
    pub plugin_root: Option<PathBuf>,
    /// What it holds.
    pub text: String,
}

impl LintFile {
    /// Which layer a file belongs to, judged by its name and place. `config_dir`
    /// is the user's settings folder.
    pub fn guess_source(path: &Path, config_dir: &Path) -> (LayerSource, Option<PathBuf>) {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        match name {
            names::LOCAL_SETTINGS_NAME => (LayerSource::Local, None),
            names::MANAGED_SETTINGS_NAME => (LayerSource::Policy, None),
            names::PLUGIN_HOOKS_NAME | names::PLUGIN_MANIFEST_NAME => {
                (LayerSource::Plugin, folder.parent().map(Path::to_path_buf))
            }
            _ if folder == config_dir => (LayerSource::User, None),
            _ => (LayerSource::Project, None),
        }
    }

    fn is_manifest(&self) -> bool {
        self.source == LayerSource::Plugin
            && self.path.file_name() == Some(OsStr::new(names::PLUGIN_MANIFEST_NAME))
    }
}

/// What hooks would find around them.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Where a session starts.
    pub project: &'a Path,
    /// The user's home directory.
    pub home: &'a Path,
    /// Where programs are looked for, as in `PATH`; without it none is missed.
    pub search_path: Option<&'a OsStr>,
    /// What kind of secret a text holds, if any.
    pub find_secret: &'a dyn Fn(&str) -> Option<String>,
}

/// Looks through the files, in the order of their layers.
pub fn lint_files(files: &[LintFile], around: &Surroundings<'_>) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    let mut scripts = script::ScriptCache::default();
    let mut seen = Vec::new();
    for file in files {
        let document = match Document::parse(&file.text) {
            Ok(document) => document,
            Err(error) => {
                findings.push(LintFinding {
                    severity: Severity::Error,
                    code: "invalid-json",
                    file: file.path.clone(),
                    position: error.position,
                    key: String::new(),
                    message: format!("{}; {}", error.problem, describe_void(file.source)),
                    advice: "write strict JSON: no comments, no trailing commas".to_owned(),
                });
                continue;
            }
        };
        let mut report = FileReport {
            file,
            document: &document,
            findings: Vec::new(),
        };
        let found = entries::check_document(&mut report, around, &mut scripts);
        seen.extend(found.into_iter().map(|handler| {
            let position = document.position(&handler.path);
            duplicates::PlacedHandler {
                handler,
                file: file.clone_without_text(),
                position,
            }
        }));
        findings.append(&mut report.findings);
    }
    findings.extend(duplicates::find_duplicates(&seen));
    let order = |file: &Path| files.iter().position(|f| f.path == file);
    findings.sort_by_cached_key(|f| (order(&f.file), f.position, f.severity, f.code));
    findings
}

/// What is found of one handler and of the matcher of its group.
pub fn lint_handler(
    file: LintFile,
    place: &HandlerPlace,
    around: &Surroundings<'_>,
) -> Vec<LintFinding> {
    let mut findings = lint_files(&[file], around);
    findings.retain(|finding| concerns(finding, place));
    findings
}

/// Whether a finding of the handler's file is about the handler, or about the
/// matcher of its group.
pub fn concerns(finding: &LintFinding, place: &HandlerPlace) -> bool {
    finding.key.starts_with(&place.path().to_string())
        || finding.key == place.group_path().key("matcher").to_string()
}

impl LintFile {
    fn clone_without_text(&self) -> Self {
        Self {
            source: self.source,
            path: self.path.clone(),
            plugin_root: self.plugin_root.clone(),
            text: String::new(),
        }
    }
}

/// What the client does with a file that is void.
fn describe_void(source: LayerSource) -> &'static str {
    match source {
        LayerSource::Policy => "with a void managed file the client refuses to start",
        LayerSource::Plugin => "none of the plugin's hooks run",
        _ => {
            "the client ignores the whole file: none of its hooks, permissions or other settings count"
        }
    }
}

/// The findings of one file as they are made.
struct FileReport<'a> {
    file: &'a LintFile,
    document: &'a Document,
    findings: Vec<LintFinding>,
}

impl FileReport<'_> {
    fn add(
        &mut self,
        code: &'static str,
        path: &KeyPath,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.findings.push(LintFinding {
            severity: rules::severity_of(code),
            code,
            file: self.file.path.clone(),
            position: self.document.position(path),
            key: path.to_string(),
            message: message.into(),
            advice: advice.into(),
        });
    }
}

#[cfg(test)]
mod tests;
