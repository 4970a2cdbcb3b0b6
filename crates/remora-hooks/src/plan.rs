//! Chooses and de-duplicates the handlers of one event. Pure: runs nothing,
//! reads nothing. `remora hooks explain` prints what it found.

use std::collections::HashMap;

use remora_core::{Event, EventName, HandlerKinds};
use serde_json::Value;

use crate::condition::{Condition, ConditionResult, ToolCallView};
use crate::config::{HandlerConfig, HandlerKind};
use crate::layers::{ConfiguredHandler, LayerSource, Layers};
use crate::matcher::{MatchResult, Matcher};
use crate::path_rule::PathBases;
use crate::permissions::Permissions;
use crate::trust::{EngineMode, Trust, held_back};

/// One entry, compiled once when the layers are loaded.
#[derive(Debug)]
pub(crate) struct CompiledHandler {
    matcher: Matcher,
    condition: Condition,
    /// Equal for handlers that do the same.
    identity: String,
}

impl CompiledHandler {
    pub(crate) fn new(entry: &ConfiguredHandler) -> Self {
        Self {
            matcher: Matcher::new(entry.matcher.as_deref(), entry.event.def()),
            condition: Condition::new(entry.config.condition.as_deref()),
            identity: handler_identity(&entry.config),
        }
    }

    /// Why the handler can never run, whatever the event holds.
    pub(crate) fn never_reason(&self, event: EventName) -> Option<String> {
        // The client accepts such a handler without a word and never runs it, which is hard
        // to find out by trying.
        if !event.def().has_tool && !matches!(self.condition, Condition::None) {
            return Some(
                "`if` needs a tool call, which this event does not have; the handler never runs"
                    .into(),
            );
        }
        match &self.matcher {
            Matcher::Invalid(_) => Some(self.matcher.to_description()),
            Matcher::Names(names) if names.is_empty() => Some(self.matcher.to_description()),
            _ => self.condition.never_reason(),
        }
    }
}

/// A handler that the session added to the settings, compiled.
#[derive(Debug)]
pub(crate) struct SessionHandler {
    pub(crate) entry: ConfiguredHandler,
    pub(crate) compiled: CompiledHandler,
}

/// What makes two handlers the same: what they do and when, not how long they
/// may take, nor where they were written. Follows the client: `timeout`,
/// `statusMessage`, `async` and `onFailure` do not count, blanks in the command do.
pub(crate) fn handler_identity(config: &HandlerConfig) -> String {
    let what = match &config.kind {
        HandlerKind::Command { command, args, .. } => serde_json::json!([command, args]),
        HandlerKind::Http { url, headers, .. } => serde_json::json!([url, headers]),
        HandlerKind::McpTool {
            server,
            tool,
            input,
        } => serde_json::json!([server, tool, input]),
        HandlerKind::Prompt { prompt, .. } | HandlerKind::Agent { prompt, .. } => {
            serde_json::json!(prompt)
        }
        HandlerKind::Callback { id } => serde_json::json!(id),
    };
    format!(
        "{}\0{what}\0{}",
        config.kind.as_str(),
        config.condition.as_deref().unwrap_or_default()
    )
}

/// Whether a handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanVerdict {
    /// It runs when the event happens.
    Runs,
    /// Trust or a switch keeps it back.
    HeldBack(&'static str),
    /// The event does not accept handlers of its kind.
    WrongKind,
    /// The matcher or the condition does not fit.
    Misses,
    /// The matcher could not be decided within its steps.
    Exhausted,
    /// The handler of that index does the same.
    Duplicate(usize),
    /// The host refuses the call before any hook.
    Refused,
}

/// One configured handler and what the plan made of it.
#[derive(Debug)]
pub struct PlannedHandler<'a> {
    /// The handler as it is configured.
    pub entry: &'a ConfiguredHandler,
    /// Whether it runs, or what keeps it from running.
    pub verdict: PlanVerdict,
    compiled: &'a CompiledHandler,
    finding: Option<ConditionResult>,
}

/// The handlers of one event.
#[derive(Debug)]
pub struct Plan<'a> {
    /// What was matched against.
    pub query: Option<&'a str>,
    /// Every handler configured for the event, in enumeration order.
    pub rows: Vec<PlannedHandler<'a>>,
    /// Why the host would not even announce the event.
    pub refused: Option<String>,
}

/// Everything a plan looks at.
pub(crate) struct PlanInputs<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) compiled: &'a [CompiledHandler],
    pub(crate) of_event: &'a [usize],
    /// Of this event alone; they come behind those of the settings.
    pub(crate) extra: &'a [&'a SessionHandler],
    pub(crate) permissions: &'a Permissions,
    pub(crate) trust: Trust,
    pub(crate) mode: EngineMode,
    pub(crate) bases: PathBases<'a>,
}

pub(crate) fn plan_event<'a>(event: &'a Event, inputs: &PlanInputs<'a>) -> Plan<'a> {
    let def = event.name.def();
    let query = event.subject_text();
    // One view for all conditions: a shell line is parsed once, and only if an `if` asks.
    let call = def.has_tool.then(|| ToolCallView::new(event, inputs.bases));
    let refused = find_refusal(event, inputs);
    let configured = inputs.of_event.iter().map(|&index| {
        let (entry, compiled) = (&inputs.layers.entries[index], &inputs.compiled[index]);
        (entry, compiled)
    });
    let added = inputs
        .extra
        .iter()
        .map(|added| (&added.entry, &added.compiled));
    let mut rows: Vec<PlannedHandler<'a>> = configured
        .chain(added)
        .map(|(entry, compiled)| {
            let (mut verdict, finding) =
                evaluate_handler(entry, compiled, query, call.as_ref(), inputs);
            // Each handler is still evaluated, so that `explain` can say which of them the refusal
            // kept from running.
            if refused.is_some() && verdict == PlanVerdict::Runs {
                verdict = PlanVerdict::Refused;
            }
            PlannedHandler {
                entry,
                verdict,
                compiled,
                finding,
            }
        })
        .collect();
    deduplicate_handlers(&mut rows);
    Plan {
        query,
        rows,
        refused,
    }
}

/// One handler by itself: matcher, trust, kind, condition.
fn evaluate_handler(
    entry: &ConfiguredHandler,
    compiled: &CompiledHandler,
    query: Option<&str>,
    call: Option<&ToolCallView<'_>>,
    inputs: &PlanInputs<'_>,
) -> (PlanVerdict, Option<ConditionResult>) {
    let def = entry.event.def();
    // The matcher comes first: a handler that would not have matched anyway must not be
    // reported as held back.
    match compiled.matcher.test_subject(query, def.has_tool) {
        MatchResult::No => return (PlanVerdict::Misses, None),
        MatchResult::Exhausted => return (PlanVerdict::Exhausted, None),
        MatchResult::Yes => {}
    }
    if let Some(why) = held_back(entry, inputs.layers, inputs.trust, inputs.mode) {
        return (PlanVerdict::HeldBack(why), None);
    }
    if !def.handlers.contains(kind_bit(&entry.config.kind)) {
        return (PlanVerdict::WrongKind, None);
    }
    if let Condition::None = compiled.condition {
        return (PlanVerdict::Runs, None);
    }
    let finding = compiled.condition.test_call(call);
    let verdict = if finding.holds {
        PlanVerdict::Runs
    } else {
        PlanVerdict::Misses
    };
    (verdict, Some(finding))
}

pub(crate) fn kind_bit(kind: &HandlerKind) -> HandlerKinds {
    match kind {
        // Every event takes commands, and so it takes callbacks.
        HandlerKind::Command { .. } | HandlerKind::Callback { .. } => HandlerKinds::COMMAND,
        HandlerKind::Http { .. } => HandlerKinds::HTTP,
        HandlerKind::McpTool { .. } => HandlerKinds::MCP_TOOL,
        HandlerKind::Prompt { .. } => HandlerKinds::PROMPT,
        HandlerKind::Agent { .. } => HandlerKinds::AGENT,
    }
}

/// Calls that never reach a hook: a tool or path that a deny rule covers, and
/// a shell line with control characters.
fn find_refusal(event: &Event, inputs: &PlanInputs<'_>) -> Option<String> {
    if event.name != EventName::PreToolUse {
        return None;
    }
    let tool = event.str_field("tool_name")?;
    let input = event.fields.get("tool_input").and_then(Value::as_object)?;
    // The client does not offer denied tools to the model at all and refuses denied paths
    // before it fires an event, so no hook sees either.
    if let Some(rule) = inputs.permissions.hidden_by(tool, input, inputs.bases) {
        return Some(format!(
            "{rule} covers the call, so it is refused before any hook"
        ));
    }
    let command = input
        .get("command")
        .and_then(Value::as_str)
        .filter(|_| tool == "Bash")?;
    // Newline and tab belong to ordinary scripts; the client refuses the others before
    // PreToolUse.
    let odd = command
        .chars()
        .find(|c| c.is_ascii_control() && !matches!(c, '\n' | '\t'))?;
    Some(format!(
        "the command holds a control character (0x{:02x}), so it is refused before any hook",
        odd as u32
    ))
}

/// Scope, plugin, whether it is managed, identity.
type DuplicateKey<'a> = (Option<&'a str>, Option<&'a std::path::Path>, bool, &'a str);

/// Keeps the last of equal handlers. Settings files share one pool, managed
/// settings have their own, and so has each plugin. A managed handler and
/// another one are merged only when their whole groups are equal. All of this
/// is the client's rule.
fn deduplicate_handlers(rows: &mut [PlannedHandler<'_>]) {
    let mut last: HashMap<DuplicateKey<'_>, usize> = HashMap::new();
    let mut twins = Vec::new();
    // From the end, because the last definition wins: its timeout is the one in force.
    for (at, row) in rows.iter().enumerate().rev() {
        // A copy that is held back or does not match must not displace one that runs.
        if row.verdict != PlanVerdict::Runs {
            continue;
        }
        let managed = row.entry.place.source == LayerSource::Policy;
        let plugin = row.entry.place.plugin.as_ref().map(|p| p.root.as_path());
        let identity = row.compiled.identity.as_str();
        // What a skill or an agent brings is its own copy.
        let scope = row.entry.scope.as_deref();
        if let Some(&keeper) = last.get(&(scope, plugin, managed, identity)) {
            twins.push((at, keeper));
            continue;
        }
        last.insert((scope, plugin, managed, identity), at);
        if managed
            && let Some(&other) = last.get(&(None, None, false, identity))
            && rows[other].entry.group == row.entry.group
        {
            // The managed copy stays, although it is enumerated first.
            twins.push((other, at));
        }
    }
    for (at, keeper) in twins {
        rows[at].verdict = PlanVerdict::Duplicate(keeper);
    }
}

impl PlannedHandler<'_> {
    /// The handler's stable id: layer, file order, event and position.
    pub fn id(&self) -> String {
        handler_id(self.entry)
    }

    /// Why it runs or not, in plain words.
    pub fn explain_verdict(&self, plan: &Plan<'_>) -> String {
        let reading = self.compiled.matcher.to_description();
        let query = plan.query.map_or_else(String::new, |q| format!(" \"{q}\""));
        let condition = self
            .finding
            .as_ref()
            .map_or_else(String::new, |f| format!("; {}", f.why));
        match &self.verdict {
            PlanVerdict::Runs => format!(
                "{reading}{}{condition}",
                format_match(&self.compiled.matcher, &query)
            ),
            PlanVerdict::HeldBack(why) => (*why).to_owned(),
            PlanVerdict::WrongKind => {
                format!(
                    "{} handlers do not run on {}",
                    self.entry.config.kind.as_str(),
                    self.entry.event
                )
            }
            PlanVerdict::Misses if self.finding.is_some() => {
                format!(
                    "{reading}{}{condition}",
                    format_match(&self.compiled.matcher, &query)
                )
            }
            PlanVerdict::Misses => match self.compiled.matcher {
                Matcher::Invalid(_) => reading,
                Matcher::Names(ref names) if names.is_empty() => reading,
                _ if plan.query.is_none() => {
                    format!("{reading}, and the event carries nothing to match")
                }
                _ => format!("{reading} and does not match{query}{}", self.matcher_hint()),
            },
            PlanVerdict::Exhausted => format!("{reading} and used up its steps on{query}"),
            PlanVerdict::Duplicate(keeper) => match plan.rows.get(*keeper) {
                Some(row) => format!(
                    "the same handler stands in {} ({}), which runs",
                    row.entry.place.describe(),
                    row.id()
                ),
                None => "the same handler runs already".into(),
            },
            PlanVerdict::Refused => plan.refused.clone().unwrap_or_default(),
        }
    }

    /// Why the handler can never run, whatever the event holds.
    pub fn never_reason(&self) -> Option<String> {
        self.compiled.never_reason(self.entry.event)
    }

    fn matcher_hint(&self) -> &'static str {
        match &self.entry.matcher {
            // The commonest mistake: `Bash(git.*)` is a valid expression on the tool's name, and
            // never true.
            Some(text) if text.contains('(') && self.entry.event.def().has_tool => {
                " (a matcher is tested on the tool's name; to look into the call use `if`)"
            }
            // A bare server name is an exact name, and no tool is called that.
            Some(text) if text.starts_with("mcp__") && !text[5..].contains("__") => {
                " (to match all tools of a server write `mcp__server__.*`)"
            }
            _ => "",
        }
    }
}

fn format_match(matcher: &Matcher, query: &str) -> String {
    match matcher {
        Matcher::All | Matcher::NoSubject => String::new(),
        _ => format!(" and matches{query}"),
    }
}

/// A handler's stable id. The first file of a layer is not numbered, which keeps
/// ids short in the usual case of one file per layer.
pub(crate) fn handler_id(entry: &ConfiguredHandler) -> String {
    let plugin = entry
        .place
        .plugin
        .as_ref()
        .map_or_else(String::new, |p| format!(":{}", p.name));
    let file = match entry.file_number {
        0 => String::new(),
        n => format!(".{}", n + 1),
    };
    let (group, index) = entry.position;
    if let Some(scope) = &entry.scope {
        return format!("{scope}/{}/{group}/{index}", entry.event);
    }
    format!(
        "{}{plugin}{file}/{}/{group}/{index}",
        entry.place.source.as_str(),
        entry.event
    )
}
