//! What a case expects, and how that differs from what happened. Pure, but for
//! files that a case asks for.

use std::fmt::Display;
use std::path::Path;

use remora_core::Permission;
use remora_files::read_text;
use remora_hooks::{HandlerReport, HandlerStatus, Report};
use serde::Serialize;
use serde_json::{Map, Value};

use super::read::{check_keys, join, wrong_type};

/// The longest file that a case may look into.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// The keys of `expect`.
pub(crate) const EXPECT_KEYS: &[&str] = &[
    "blocked",
    "allowed",
    "stopped",
    "failed",
    "permission",
    "final",
    "reason",
    "stop_reason",
    "context",
    "message",
    "stderr",
    "ran",
    "not_ran",
    "updated_input",
    "env",
    "files",
    "outcome",
];
/// What `permission` and `final` may be.
pub(crate) const PERMISSIONS: &[&str] = &["allow", "deny", "ask", "defer", "none"];

/// One thing that was not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The key of `expect`.
    pub key: String,
    /// What it asks for.
    pub expected: String,
    /// What there was.
    pub found: String,
}

/// The keys of one `expect`, checked for their types.
#[derive(Debug, Clone)]
pub(crate) struct Expectations {
    wanted: Map<String, Value>,
}

impl Expectations {
    pub(super) fn read(map: &Map<String, Value>, at: &str) -> Result<Self, String> {
        check_keys(map, &[EXPECT_KEYS], at)?;
        if map.is_empty() {
            return Err(format!("`{at}` expects nothing"));
        }
        for (key, value) in map {
            let (fits, wanted) = match key.as_str() {
                "blocked" | "allowed" | "stopped" | "failed" => {
                    (value.is_boolean(), "true or false")
                }
                "permission" | "final" => (
                    value.as_str().is_some_and(|t| PERMISSIONS.contains(&t)),
                    "one of allow, deny, ask, defer, none",
                ),
                "ran" | "not_ran" => (
                    texts_of(value).is_some() || (key == "ran" && value.is_u64()),
                    "a number, a text or a list of texts",
                ),
                "updated_input" => (value.is_object() || value.is_null(), "an object or null"),
                "env" | "files" | "outcome" => (value.is_object(), "an object"),
                _ => (
                    value.is_null() || texts_of(value).is_some(),
                    "a text, a list of texts, or null for none",
                ),
            };
            if !fits {
                return Err(wrong_type(&join(at, key), wanted, value));
            }
        }
        Ok(Self {
            wanted: map.clone(),
        })
    }

    /// Everything that is not as expected, in the order of the case.
    pub(super) fn compare(&self, report: &Report, project: &Path) -> Vec<Mismatch> {
        let mut comparison = Comparison {
            report,
            project,
            mismatches: Vec::new(),
        };
        for (key, wanted) in &self.wanted {
            comparison.compare_key(key, wanted);
        }
        comparison.mismatches
    }
}

/// A text, or a list of texts.
fn texts_of(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(list) => list.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

struct Comparison<'a> {
    report: &'a Report,
    project: &'a Path,
    mismatches: Vec<Mismatch>,
}

impl Comparison<'_> {
    fn differ(&mut self, key: &str, expected: impl Display, found: impl Display) {
        self.mismatches.push(Mismatch {
            key: key.to_owned(),
            expected: expected.to_string(),
            found: found.to_string(),
        });
    }

    fn compare_key(&mut self, key: &str, wanted: &Value) {
        let outcome = &self.report.outcome;
        let ran = || {
            let handlers = self.report.handlers.iter();
            handlers.filter(|h| h.status != HandlerStatus::Skipped)
        };
        let flag = match key {
            "blocked" => Some(outcome.blocked),
            "allowed" => Some(is_allowed(self.report)),
            "stopped" => Some(!outcome.go_on),
            "failed" => Some(
                ran().any(|h| matches!(h.status, HandlerStatus::Error | HandlerStatus::Timeout)),
            ),
            _ => None,
        };
        if let Some(flag) = flag {
            if wanted.as_bool() != Some(flag) {
                self.differ(key, wanted, flag);
            }
            return;
        }
        match key {
            "permission" => self.compare_permission(key, wanted, outcome.permission),
            "final" => self.compare_permission(key, wanted, outcome.final_decision),
            "reason" => self.compare_texts(key, wanted, outcome.reason.as_slice()),
            "stop_reason" => self.compare_texts(key, wanted, outcome.stop_reason.as_slice()),
            "context" => self.compare_texts(key, wanted, &outcome.context),
            "message" => self.compare_texts(key, wanted, &outcome.messages),
            "stderr" => {
                let texts: Vec<String> = ran()
                    .map(|h| h.stderr.clone())
                    .filter(|text| !text.trim().is_empty())
                    .collect();
                self.compare_texts(key, wanted, &texts);
            }
            "ran" | "not_ran" => {
                let ran: Vec<&HandlerReport> = ran().collect();
                self.compare_ran(key, wanted, &ran);
            }
            "updated_input" => {
                let found = outcome.updated_input.clone().map(Value::Object);
                let fits = match (wanted, &found) {
                    (Value::Null, found) => found.is_none(),
                    (Value::Object(wanted), Some(found)) => {
                        wanted.iter().all(|(k, v)| found.get(k) == Some(v))
                    }
                    _ => false,
                };
                if !fits {
                    self.differ(key, wanted, found.unwrap_or_default());
                }
            }
            "env" => {
                let env = Value::Object(outcome.env.clone());
                self.compare_members(key, wanted, &env);
            }
            "outcome" => {
                let found = serde_json::to_value(outcome).unwrap_or_default();
                self.compare_members(key, wanted, &found);
            }
            "files" => self.compare_files(wanted),
            _ => {}
        }
    }

    fn compare_permission(&mut self, key: &str, wanted: &Value, found: Option<Permission>) {
        let found = found.map_or("none", Permission::as_str);
        if wanted != found {
            self.differ(key, wanted.as_str().unwrap_or_default(), found);
        }
    }

    /// Each wanted text is part of one of those there are; `null` wants none.
    fn compare_texts(&mut self, key: &str, wanted: &Value, found: &[String]) {
        let shown = || match found {
            [] => "none".to_owned(),
            found => found.join("\n"),
        };
        if wanted.is_null() {
            if !found.is_empty() {
                self.differ(key, "none", shown());
            }
            return;
        }
        for part in texts_of(wanted).unwrap_or_default() {
            if !found.iter().any(|text| text.contains(part)) {
                self.differ(key, format!("…{part}…"), shown());
            }
        }
    }

    fn compare_ran(&mut self, key: &str, wanted: &Value, ran: &[&HandlerReport]) {
        let shown = || match ran {
            [] => "no handler ran".to_owned(),
            ran => ran
                .iter()
                .map(|h| h.info.label.as_str())
                .collect::<Vec<_>>()
                .join("\n"),
        };
        if let Some(number) = wanted.as_u64() {
            if number != ran.len() as u64 {
                self.differ(key, wanted, format!("{}\n{}", ran.len(), shown()));
            }
            return;
        }
        for part in texts_of(wanted).unwrap_or_default() {
            let one = ran
                .iter()
                .any(|h| h.info.id == part || h.info.label.contains(part));
            if one != (key == "ran") {
                self.differ(key, part, shown());
            }
        }
    }

    /// Each wanted member is there and equal; there may be others.
    fn compare_members(&mut self, key: &str, wanted: &Value, found: &Value) {
        for (member, value) in wanted.as_object().into_iter().flatten() {
            let there = found.get(member).unwrap_or(&Value::Null);
            if there != value {
                self.differ(&join(key, member), show_value(value), show_value(there));
            }
        }
    }

    fn compare_files(&mut self, wanted: &Value) {
        for (name, part) in wanted.as_object().into_iter().flatten() {
            let text = read_text(&self.project.join(name), MAX_FILE_BYTES).ok();
            let fits = match (part.as_str(), &text) {
                (None, text) => text.is_none(),
                (Some(part), Some(text)) => text.contains(part),
                (Some(_), None) => false,
            };
            if !fits {
                let expected = part
                    .as_str()
                    .map_or("no such file".to_owned(), |part| format!("…{part}…"));
                let found = text.unwrap_or_else(|| "no such file".to_owned());
                self.differ(&join("files", name), expected, found);
            }
        }
    }
}

fn show_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// No hook objects: nothing is blocked, denied, put to the user or stopped.
fn is_allowed(report: &Report) -> bool {
    let outcome = &report.outcome;
    let asked = matches!(
        outcome.permission,
        Some(Permission::Deny | Permission::Ask | Permission::Defer)
    );
    !outcome.blocked && outcome.go_on && !asked
}
