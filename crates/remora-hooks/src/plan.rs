//! Chooses and de-duplicates the handlers of one event. Pure: runs nothing,
//! reads nothing. `remora hooks explain` prints what it found.

use std::collections::HashMap;

use remora_protocol::{Event, EventName, HandlerKinds};
use serde_json::Value;

use crate::condition::{Call, Condition, Finding};
use crate::config::Kind;
use crate::layers::{Entry, Layers, Source};
use crate::matcher::{Fit, Matcher};
use crate::path_rule::Bases;
use crate::permissions::Permissions;
use crate::trust::{Mode, Trust, held_back};

/// One entry, compiled once when the layers are loaded.
#[derive(Debug)]
pub(crate) struct Compiled {
    matcher: Matcher,
    condition: Condition,
    /// Equal for handlers that do the same.
    identity: String,
}

impl Compiled {
    pub(crate) fn new(entry: &Entry) -> Self {
        Self {
            matcher: Matcher::new(entry.matcher.as_deref(), entry.event.def()),
            condition: Condition::new(entry.config.condition.as_deref()),
            identity: identity(entry),
        }
    }

    /// Why the handler can never run, whatever the event holds.
    pub(crate) fn never(&self, event: EventName) -> Option<String> {
        if !event.def().has_tool && !matches!(self.condition, Condition::None) {
            return Some(
                "`if` needs a tool call, which this event does not have; the handler never runs"
                    .into(),
            );
        }
        match &self.matcher {
            Matcher::Invalid(_) => Some(self.matcher.reading()),
            Matcher::Names(names) if names.is_empty() => Some(self.matcher.reading()),
            _ => self.condition.never(),
        }
    }
}

/// What makes two handlers the same: what they do and when, not how long they
/// may take, nor where they were written.
fn identity(entry: &Entry) -> String {
    let what = match &entry.config.kind {
        Kind::Command { command, args, .. } => serde_json::json!([command, args]),
        Kind::Http { url, headers, .. } => serde_json::json!([url, headers]),
        Kind::McpTool {
            server,
            tool,
            input,
        } => serde_json::json!([server, tool, input]),
        Kind::Prompt { prompt } | Kind::Agent { prompt } => serde_json::json!(prompt),
    };
    format!(
        "{}\0{what}\0{}",
        entry.config.kind.as_str(),
        entry.config.condition.as_deref().unwrap_or_default()
    )
}

/// Whether a handler runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Runs,
    /// Trust or a switch keeps it back.
    HeldBack(&'static str),
    /// Its kind has no place on this event.
    WrongKind,
    /// The matcher or the condition does not fit.
    Misses,
    /// The matcher could not be decided within its steps.
    Exhausted,
    /// The row of that index does the same.
    Duplicate(usize),
    /// The host refuses the call before any hook.
    Refused,
}

/// One configured handler and what the plan made of it.
#[derive(Debug)]
pub struct Row<'a> {
    /// The handler.
    pub entry: &'a Entry,
    /// Whether it runs.
    pub verdict: Verdict,
    compiled: &'a Compiled,
    finding: Option<Finding>,
}

/// The handlers of one event.
#[derive(Debug)]
pub struct Plan<'a> {
    /// What was matched against.
    pub query: Option<&'a str>,
    /// Every handler configured for the event, in enumeration order.
    pub rows: Vec<Row<'a>>,
    /// Why the host would not even announce the event.
    pub refused: Option<String>,
}

/// Everything a plan looks at.
pub(crate) struct Inputs<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) compiled: &'a [Compiled],
    pub(crate) of_event: &'a [usize],
    pub(crate) permissions: &'a Permissions,
    pub(crate) trust: Trust,
    pub(crate) mode: Mode,
    pub(crate) bases: Bases<'a>,
}

pub(crate) fn plan<'a>(event: &'a Event, inputs: &Inputs<'a>) -> Plan<'a> {
    let def = event.name.def();
    let query = event.query();
    let call = def.has_tool.then(|| Call::new(event, inputs.bases));
    let refused = refused(event, inputs);
    let mut rows: Vec<Row<'a>> = inputs
        .of_event
        .iter()
        .map(|&index| {
            let (entry, compiled) = (&inputs.layers.entries[index], &inputs.compiled[index]);
            let (mut verdict, finding) = judge(entry, compiled, query, call.as_ref(), inputs);
            if refused.is_some() && verdict == Verdict::Runs {
                verdict = Verdict::Refused;
            }
            Row {
                entry,
                verdict,
                compiled,
                finding,
            }
        })
        .collect();
    deduplicate(&mut rows);
    Plan {
        query,
        rows,
        refused,
    }
}

/// One handler by itself: matcher, trust, kind, condition.
fn judge(
    entry: &Entry,
    compiled: &Compiled,
    query: Option<&str>,
    call: Option<&Call<'_>>,
    inputs: &Inputs<'_>,
) -> (Verdict, Option<Finding>) {
    let def = entry.event.def();
    match compiled.matcher.test(query, def.has_tool) {
        Fit::No => return (Verdict::Misses, None),
        Fit::Exhausted => return (Verdict::Exhausted, None),
        Fit::Yes => {}
    }
    if let Some(why) = held_back(entry, inputs.layers, inputs.trust, inputs.mode) {
        return (Verdict::HeldBack(why), None);
    }
    if !def.handlers.contains(kind_bit(&entry.config.kind)) {
        return (Verdict::WrongKind, None);
    }
    if let Condition::None = compiled.condition {
        return (Verdict::Runs, None);
    }
    let finding = compiled.condition.test(call);
    let verdict = if finding.holds {
        Verdict::Runs
    } else {
        Verdict::Misses
    };
    (verdict, Some(finding))
}

fn kind_bit(kind: &Kind) -> HandlerKinds {
    match kind {
        Kind::Command { .. } => HandlerKinds::COMMAND,
        Kind::Http { .. } => HandlerKinds::HTTP,
        Kind::McpTool { .. } => HandlerKinds::MCP_TOOL,
        Kind::Prompt { .. } => HandlerKinds::PROMPT,
        Kind::Agent { .. } => HandlerKinds::AGENT,
    }
}

/// Calls that never reach a hook: a tool or path that a deny rule covers, and
/// a shell line with control characters.
fn refused(event: &Event, inputs: &Inputs<'_>) -> Option<String> {
    if event.name != EventName::PreToolUse {
        return None;
    }
    let tool = event.str("tool_name")?;
    let input = event.fields.get("tool_input").and_then(Value::as_object)?;
    if let Some(rule) = inputs.permissions.hidden_by(tool, input, inputs.bases) {
        return Some(format!(
            "{rule} covers the call, so it is refused before any hook"
        ));
    }
    let command = input
        .get("command")
        .and_then(Value::as_str)
        .filter(|_| tool == "Bash")?;
    let odd = command
        .chars()
        .find(|c| c.is_ascii_control() && !matches!(c, '\n' | '\t'))?;
    Some(format!(
        "the command holds a control character (0x{:02x}), so it is refused before any hook",
        odd as u32
    ))
}

/// The last of equal handlers stays. Settings files share one pool, managed
/// settings have their own, and so has each plugin. A managed handler and
/// another one are merged only when their whole groups are equal.
fn deduplicate(rows: &mut [Row<'_>]) {
    let mut last: HashMap<(Option<&std::path::Path>, bool, &str), usize> = HashMap::new();
    let mut twins = Vec::new();
    for (at, row) in rows.iter().enumerate().rev() {
        if row.verdict != Verdict::Runs {
            continue;
        }
        let managed = row.entry.place.source == Source::Policy;
        let plugin = row.entry.place.plugin.as_ref().map(|p| p.root.as_path());
        let identity = row.compiled.identity.as_str();
        if let Some(&keeper) = last.get(&(plugin, managed, identity)) {
            twins.push((at, keeper));
            continue;
        }
        last.insert((plugin, managed, identity), at);
        if managed
            && let Some(&other) = last.get(&(None, false, identity))
            && rows[other].entry.group == row.entry.group
        {
            twins.push((other, at));
        }
    }
    for (at, keeper) in twins {
        rows[at].verdict = Verdict::Duplicate(keeper);
    }
}

impl Row<'_> {
    /// The handler's stable id: layer, file order, event and position.
    pub fn id(&self) -> String {
        id(self.entry)
    }

    /// Why it runs or not, in plain words.
    pub fn why(&self, plan: &Plan<'_>) -> String {
        let reading = self.compiled.matcher.reading();
        let query = plan.query.map_or_else(String::new, |q| format!(" \"{q}\""));
        let condition = self
            .finding
            .as_ref()
            .map_or_else(String::new, |f| format!("; {}", f.why));
        match &self.verdict {
            Verdict::Runs => format!(
                "{reading}{}{condition}",
                fitting(&self.compiled.matcher, &query)
            ),
            Verdict::HeldBack(why) => (*why).to_owned(),
            Verdict::WrongKind => {
                format!(
                    "{} handlers do not run on {}",
                    self.entry.config.kind.as_str(),
                    self.entry.event
                )
            }
            Verdict::Misses if self.finding.is_some() => {
                format!(
                    "{reading}{}{condition}",
                    fitting(&self.compiled.matcher, &query)
                )
            }
            Verdict::Misses => match self.compiled.matcher {
                Matcher::Invalid(_) => reading,
                Matcher::Names(ref names) if names.is_empty() => reading,
                _ if plan.query.is_none() => {
                    format!("{reading}, and the event carries nothing to match")
                }
                _ => format!("{reading} and does not match{query}{}", self.hint()),
            },
            Verdict::Exhausted => format!("{reading} and used up its steps on{query}"),
            Verdict::Duplicate(keeper) => match plan.rows.get(*keeper) {
                Some(row) => format!(
                    "the same handler stands in {} ({}), which runs",
                    row.entry.place.describe(),
                    row.id()
                ),
                None => "the same handler runs already".into(),
            },
            Verdict::Refused => plan.refused.clone().unwrap_or_default(),
        }
    }

    /// The matcher was fine but an entry that can never run deserves a word.
    pub fn never(&self) -> Option<String> {
        self.compiled.never(self.entry.event)
    }

    fn hint(&self) -> &'static str {
        match &self.entry.matcher {
            Some(text) if text.contains('(') && self.entry.event.def().has_tool => {
                " (a matcher is tested on the tool's name; to look into the call use `if`)"
            }
            Some(text) if text.starts_with("mcp__") && !text[5..].contains("__") => {
                " (to match all tools of a server write `mcp__server__.*`)"
            }
            _ => "",
        }
    }
}

fn fitting(matcher: &Matcher, query: &str) -> String {
    match matcher {
        Matcher::All | Matcher::NoSubject => String::new(),
        _ => format!(" and matches{query}"),
    }
}

/// A handler's stable id. The first file of a layer is not numbered.
pub(crate) fn id(entry: &Entry) -> String {
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
    format!(
        "{}{plugin}{file}/{}/{group}/{index}",
        entry.place.source.as_str(),
        entry.event
    )
}
