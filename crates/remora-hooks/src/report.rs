//! What ran, for how long, and what it said: the JSON of `remora hooks run`
//! and `remora hooks explain`. Field names are stable.

use remora_core::Outcome;
use serde::Serialize;
use serde_json::Value;

use crate::answer::HandlerStatus;
use crate::layers::{ConfiguredHandler, LayerSource};
use crate::plan::{self, Plan, PlanVerdict, PlannedHandler};

/// What is known of a handler before it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandlerInfo {
    /// Stable: layer, event and position.
    pub id: String,
    /// The layer that it is configured in.
    pub source: LayerSource,
    /// The file; `null` for JSON on the command line.
    pub file: Option<String>,
    /// The name of its plugin, in the plugin layer.
    pub plugin: Option<String>,
    /// The matcher as it is written.
    pub matcher: Option<String>,
    /// The `if` text.
    #[serde(rename = "if")]
    pub condition: Option<String>,
    /// Its kind, by the name in settings.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The status message, else what the handler does.
    pub label: String,
    /// Its time limit in seconds.
    pub timeout: f64,
}

impl HandlerInfo {
    /// Describes a configured handler.
    pub fn new(entry: &ConfiguredHandler) -> Self {
        let config = &entry.config;
        Self {
            id: plan::handler_id(entry),
            source: entry.place.source,
            file: entry.place.file.as_ref().map(|f| f.display().to_string()),
            plugin: entry.place.plugin.as_ref().map(|p| p.name.clone()),
            matcher: entry.matcher.clone(),
            condition: config.condition.clone(),
            kind: config.kind.as_str(),
            label: config.label(),
            timeout: crate::run::time_limit(entry).as_secs_f64(),
        }
    }
}

/// One handler of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandlerReport {
    /// The handler that the entry is about.
    #[serde(flatten)]
    pub info: HandlerInfo,
    /// What became of it.
    pub status: HandlerStatus,
    /// Why, in plain words.
    pub why: String,
    /// Its exit code; `null` when it did not exit by itself.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// Standard output, cut if it is very long.
    pub stdout: String,
    /// Standard error, cut if it is very long.
    pub stderr: String,
    /// The object it answered with.
    pub answer: Option<Value>,
}

/// The whole of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The event's name on the wire.
    pub event: &'static str,
    /// What was matched against.
    pub query: Option<String>,
    /// What the user should fix.
    pub warnings: Vec<String>,
    /// Handlers that ran, and those whose matcher fits but did not.
    pub handlers: Vec<HandlerReport>,
    /// What all answers mean together.
    pub outcome: Outcome,
}

/// One handler of an explanation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedHandler {
    /// The handler that the entry is about.
    #[serde(flatten)]
    pub info: HandlerInfo,
    /// Whether it would run.
    pub matches: bool,
    /// Why, in plain words.
    pub why: String,
    /// Why it can never run, whatever the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never: Option<String>,
}

/// The whole of an explanation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The event's name on the wire.
    pub event: &'static str,
    /// What was matched against.
    pub query: Option<String>,
    /// What the user should fix.
    pub warnings: Vec<String>,
    /// Every handler configured for the event.
    pub handlers: Vec<ExplainedHandler>,
}

impl Explanation {
    pub(crate) fn new(event: &'static str, plan: &Plan<'_>, warnings: Vec<String>) -> Self {
        let explain = |row: &PlannedHandler<'_>| ExplainedHandler {
            info: HandlerInfo::new(row.entry),
            matches: row.verdict == PlanVerdict::Runs,
            why: row.explain_verdict(plan),
            never: row.never_reason(),
        };
        Self {
            event,
            query: plan.query.map(str::to_owned),
            warnings,
            handlers: plan.rows.iter().map(explain).collect(),
        }
    }
}
