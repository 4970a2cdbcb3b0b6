//! The same handler in several places: the client runs one copy, or each.

use std::collections::HashMap;
use std::path::Path;

use remora_core::EventName;
use remora_hooks::LayerSource;
use remora_hooks::inspect::handler_identity;

use super::entries::FoundHandler;
use super::{LintFile, LintFinding, rules};
use crate::document::Position;

/// A handler in force and where it stands.
#[derive(Debug)]
pub(super) struct PlacedHandler {
    pub(super) handler: FoundHandler,
    pub(super) file: LintFile,
    pub(super) position: Position,
}

impl PlacedHandler {
    /// Copies in one pool are merged, the last one stays: settings files share
    /// one, managed settings and each plugin have their own.
    fn pool(&self) -> (bool, Option<&Path>) {
        let managed = self.file.source == LayerSource::Policy;
        (managed, self.file.plugin_root.as_deref())
    }

    fn describe(&self) -> String {
        let Position { line, column } = self.position;
        format!("{}:{line}:{column}", self.file.path.display())
    }
}

/// What a copy is compared by: event, matcher and what the handler does.
type CopyKey<'a> = (EventName, &'a str, String);

/// Every copy but the one that runs.
pub(super) fn find_duplicates(all: &[PlacedHandler]) -> Vec<LintFinding> {
    let mut groups: HashMap<CopyKey<'_>, Vec<&PlacedHandler>> = HashMap::new();
    for placed in all {
        let handler = &placed.handler;
        let matcher = handler.matcher.as_deref().unwrap_or_default();
        let matcher = if matcher == "*" { "" } else { matcher };
        let key = (handler.event, matcher, handler_identity(&handler.config));
        groups.entry(key).or_default().push(placed);
    }
    let mut findings = Vec::new();
    for copies in groups.values().filter(|copies| copies.len() > 1) {
        for (at, copy) in copies.iter().enumerate() {
            let later = &copies[at + 1..];
            let keeper = later.iter().rfind(|other| other.pool() == copy.pool());
            let (message, advice) = match (keeper, later.last()) {
                (Some(keeper), _) => (
                    format!(
                        "the same handler stands in {}, which runs; this copy does not, nor does its timeout count",
                        keeper.describe()
                    ),
                    "keep one of the two",
                ),
                (None, Some(other)) => (
                    format!(
                        "the same handler stands in {} as well, and both run",
                        other.describe()
                    ),
                    "remove it from the settings if the other one is enough",
                ),
                (None, None) => continue,
            };
            findings.push(LintFinding {
                severity: rules::severity_of("duplicate-handler"),
                code: "duplicate-handler",
                file: copy.file.path.clone(),
                position: copy.position,
                key: copy.handler.path.to_string(),
                message,
                advice: advice.to_owned(),
            });
        }
    }
    findings
}
