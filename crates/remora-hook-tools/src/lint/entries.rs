//! The entries of one document: events, groups, matchers, conditions, handlers.

use remora_core::text::{SwapCost, edit_distance};
use remora_core::{EventName, json_type_name};
use remora_hooks::inspect::{self, EntryProblem, MatcherReading, MatcherVerdict, WrittenMatcher};
use remora_hooks::{HandlerConfig, LayerSource};
use serde_json::{Map, Value};

use super::script::ScriptCache;
use super::{FileReport, Surroundings, command, describe_void, script};
use crate::document::KeyPath;

/// The keys of a group.
const GROUP_KEYS: &[&str] = &["matcher", "hooks"];
/// Tools that hooks are commonly written for; only a name that differs from one of
/// these by its capitals alone is remarked upon.
const COMMON_TOOLS: &[&str] = &[
    "Agent",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "Skill",
    "WebFetch",
    "WebSearch",
    "Write",
];
/// How many letters a mistyped key may differ by.
const MAX_KEY_DISTANCE: usize = 2;

/// A handler that is in force, for the comparison between files.
#[derive(Debug)]
pub(super) struct FoundHandler {
    pub(super) path: KeyPath,
    pub(super) event: EventName,
    pub(super) matcher: Option<String>,
    pub(super) config: HandlerConfig,
}

/// Looks through the hooks of one document.
pub(super) fn check_document(
    report: &mut FileReport<'_>,
    around: &Surroundings<'_>,
    scripts: &mut ScriptCache,
) -> Vec<FoundHandler> {
    let document = report.document;
    let root = KeyPath::default();
    let Value::Object(top) = document.value() else {
        let found = json_type_name(document.value());
        report.add(
            "malformed-entry",
            &root,
            format!(
                "the file must hold a JSON object, found {found}; {}",
                describe_void(report.file.source)
            ),
            "write {\"hooks\": {…}}",
        );
        return Vec::new();
    };
    for path in document.repeated_keys() {
        report.add(
            "repeated-key",
            &path,
            format!("`{path}` is written twice; the client reads the last one only"),
            "keep one of the two",
        );
    }
    let Some((hooks, path)) = find_hooks(top, report) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, list) in hooks {
        let path = path.key(name);
        let Some(event) = EventName::parse(name) else {
            let advice = match EventName::find(name) {
                Err(error) => error.to_string(),
                Ok(_) => String::new(),
            };
            let advice = advice.split_once("; ").map_or_else(
                || "names are case-sensitive, as in `PreToolUse`".to_owned(),
                |(_, hint)| hint.to_owned(),
            );
            report.add(
                "unknown-event",
                &path,
                format!("no event is called `{name}`; the client ignores what is under it"),
                advice,
            );
            continue;
        };
        let list = match list {
            // The client takes it for an absent event.
            Value::Null => continue,
            Value::Array(list) => list,
            other => {
                let problem = format!("must be a list of groups, found {}", json_type_name(other));
                report_malformed(report, event, &path, &problem);
                continue;
            }
        };
        for (index, group) in list.iter().enumerate() {
            check_group(
                report,
                event,
                group,
                &path.index(index),
                around,
                scripts,
                &mut found,
            );
        }
    }
    found
}

/// The object that holds the events, and where it is.
fn find_hooks<'a>(
    top: &'a Map<String, Value>,
    report: &mut FileReport<'_>,
) -> Option<(&'a Map<String, Value>, KeyPath)> {
    let path = KeyPath::default().key("hooks");
    let plugin = report.file.source == LayerSource::Plugin;
    let Some(hooks) = top.get("hooks") else {
        if plugin && !report.file.is_manifest() {
            report.add(
                "malformed-entry",
                &KeyPath::default(),
                "there is no `hooks` key, so the plugin has no hooks",
                "wrap the events in {\"hooks\": {…}}",
            );
        }
        return None;
    };
    match hooks {
        Value::Object(hooks) => {
            // A manifest's own hooks come with and without their wrapper.
            if let (true, Some(Value::Object(inner))) =
                (report.file.is_manifest(), hooks.get("hooks"))
            {
                return Some((inner, path.key("hooks")));
            }
            Some((hooks, path))
        }
        // A manifest may name files instead.
        Value::String(_) | Value::Array(_) if report.file.is_manifest() => None,
        other => {
            report.add(
                "malformed-entry",
                &path,
                format!(
                    "`hooks` must be an object, found {}; no hook of the file runs",
                    json_type_name(other)
                ),
                "write {\"EventName\": [{\"hooks\": […]}]}",
            );
            None
        }
    }
}

fn check_group(
    report: &mut FileReport<'_>,
    event: EventName,
    group: &Value,
    path: &KeyPath,
    around: &Surroundings<'_>,
    scripts: &mut ScriptCache,
    found: &mut Vec<FoundHandler>,
) {
    let matcher = match inspect::read_group(group) {
        Ok(matcher) => matcher,
        Err(EntryProblem { field, problem }) => {
            let problem = match &field {
                Some(field) => format!("`{field}` {problem}"),
                None => problem,
            };
            report_malformed(report, event, &path.field(field.as_deref()), &problem);
            return;
        }
    };
    for key in group.as_object().into_iter().flatten().map(|(key, _)| key) {
        if key == "if" {
            report.add(
                "group-condition",
                &path.key(key),
                "`if` beside `hooks` is ignored: a condition belongs to a handler",
                "move it into each handler of the group",
            );
        } else if !GROUP_KEYS.contains(&key.as_str()) {
            report_unknown_key(report, path, key, GROUP_KEYS, "a group");
        }
    }
    let written = WrittenMatcher::new(matcher, event);
    check_matcher(report, event, matcher, &written, &path.key("matcher"));
    let handlers = group.get("hooks").and_then(Value::as_array);
    for (index, entry) in handlers.into_iter().flatten().enumerate() {
        let path = path.key("hooks").index(index);
        let config = match inspect::read_handler(entry) {
            Ok(config) => config,
            Err(EntryProblem { field, problem }) => {
                let problem = match &field {
                    Some(field) => format!("`{field}` {problem}"),
                    None => problem,
                };
                report_malformed(report, event, &path.field(field.as_deref()), &problem);
                continue;
            }
        };
        for key in entry.as_object().into_iter().flatten().map(|(key, _)| key) {
            if !inspect::HANDLER_KEYS.contains(&key.as_str()) {
                report_unknown_key(report, &path, key, inspect::HANDLER_KEYS, "a handler");
            }
        }
        check_handler(report, event, &config, &written, &path);
        command::check_command(report, entry, &config, &path, around, scripts);
        script::check_answers(report, event, &config, &path, around, scripts);
        found.push(FoundHandler {
            path,
            event,
            matcher: matcher.map(str::to_owned),
            config,
        });
    }
}

fn report_malformed(report: &mut FileReport<'_>, event: EventName, path: &KeyPath, problem: &str) {
    let cost = if inspect::voids_the_file(event) {
        format!(
            "under {event} one malformed entry costs the file: {}",
            describe_void(report.file.source)
        )
    } else {
        "the client drops this entry without a word; the rest of the file stays in force".to_owned()
    };
    report.add(
        "malformed-entry",
        path,
        format!("{problem}; {cost}"),
        "correct the entry; `remora hooks add` writes well-formed ones",
    );
}

fn report_unknown_key(
    report: &mut FileReport<'_>,
    path: &KeyPath,
    key: &str,
    known: &[&str],
    place: &str,
) {
    let folded = key.to_lowercase();
    let near = known
        .iter()
        .filter_map(|k| {
            let far = edit_distance(&folded, &k.to_lowercase(), SwapCost::One, MAX_KEY_DISTANCE)?;
            Some((far, *k))
        })
        .min();
    let advice = match near {
        Some((_, near)) => format!("did you mean `{near}`?"),
        None => format!("the keys of {place} are {}", known.join(", ")),
    };
    report.add(
        "unknown-key",
        &path.key(key),
        format!("`{key}` means nothing in {place}; the client ignores it"),
        advice,
    );
}

fn check_matcher(
    report: &mut FileReport<'_>,
    event: EventName,
    text: Option<&str>,
    written: &WrittenMatcher,
    path: &KeyPath,
) {
    let Some(text) = text else { return };
    let has_tool = event.def().has_tool;
    match written.reading() {
        MatcherReading::Ignored => report.add(
            "ignored-matcher",
            path,
            format!("{event} has nothing to match, so the matcher is ignored"),
            "leave it out",
        ),
        MatcherReading::Invalid(reason) => report.add(
            "invalid-regex",
            path,
            format!("the matcher is no valid JavaScript expression ({reason}) and never matches"),
            match text {
                _ if text.contains("(?i)") => {
                    "flags cannot be written in an expression; write `[Bb]ash`"
                }
                _ if text.starts_with('*') => "for everything write `*` alone or leave it out",
                _ => "correct the expression; names are separated by `|`",
            },
        ),
        MatcherReading::Names(names) if names.is_empty() => report.add(
            "empty-matcher",
            path,
            "the matcher holds only separators and never matches",
            "for everything write `*` or leave it out",
        ),
        MatcherReading::Names(names) if has_tool => {
            for name in &names {
                check_tool_name(report, name, path);
            }
        }
        MatcherReading::All | MatcherReading::Names(_) => {}
        MatcherReading::Regex => check_expression(report, has_tool, text, written, path),
    }
}

fn check_tool_name(report: &mut FileReport<'_>, name: &str, path: &KeyPath) {
    if let Some(server) = name.strip_prefix("mcp__")
        && !server.contains("__")
    {
        report.add(
            "server-without-tool",
            path,
            format!("`{name}` is an exact name, and no tool is called that"),
            format!("to match all tools of the server write `{name}__.*`"),
        );
    }
    let folded = name.to_lowercase();
    if let Some(tool) = COMMON_TOOLS
        .iter()
        .find(|tool| **tool != name && tool.to_lowercase() == folded)
    {
        report.add(
            "matcher-case",
            path,
            format!("`{name}` matches no tool: names are case-sensitive"),
            format!("write `{tool}`"),
        );
    }
}

fn check_expression(
    report: &mut FileReport<'_>,
    has_tool: bool,
    text: &str,
    written: &WrittenMatcher,
    path: &KeyPath,
) {
    if written.has_nested_repeat() {
        // Two subjects that such expressions are known to be slow on.
        let slow = ["a", "_"].iter().any(|letter| {
            let subject = format!("{}!", letter.repeat(64));
            written.test_subject(&subject) == MatcherVerdict::Exhausted
        });
        let (code, message) = if slow {
            (
                "slow-regex",
                "the matcher takes exponential time on long names: the client hangs on it",
            )
        } else {
            (
                "nested-repeat",
                "the matcher repeats what is repeated already, which can take exponential time",
            )
        };
        report.add(code, path, message, "repeat once: `a+` instead of `(a+)+`");
    }
    // `Bash(git *)`: a condition, written where only the tool's name is tested.
    if has_tool
        && let Some((name, _)) = text.split_once('(')
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && written.test_subject(name) == MatcherVerdict::Misses
    {
        report.add(
            "call-in-matcher",
            path,
            "a matcher is tested on the tool's name, not on the call; this one never matches",
            format!("write \"matcher\": \"{name}\" and, in the handler, \"if\": \"{text}\""),
        );
    }
}

fn check_handler(
    report: &mut FileReport<'_>,
    event: EventName,
    config: &HandlerConfig,
    written: &WrittenMatcher,
    path: &KeyPath,
) {
    if !inspect::accepts_kind(event, &config.kind) {
        let kind = config.kind.as_str();
        report.add(
            "refused-kind",
            &path.key("type"),
            format!("{event} runs no {kind} handlers; this one never runs"),
            "use a command handler",
        );
    }
    if let Some(condition) = &config.condition {
        let path = path.key("if");
        if !event.def().has_tool {
            report.add(
                "condition-without-tool",
                &path,
                format!("{event} has no tool call to test, so the handler never runs"),
                "remove `if` and decide in the hook",
            );
        } else if let Some(why) = inspect::find_dead_condition(condition) {
            report.add(
                "dead-condition",
                &path,
                why,
                "a condition is one rule, `Tool` or `Tool(pattern)`, with patterns for Bash and for files",
            );
        } else if let Some(tool) = inspect::condition_tool(condition)
            && written.test_subject(tool) == MatcherVerdict::Misses
        {
            report.add(
                "condition-misses-matcher",
                &path,
                format!("the condition is about {tool}, which the matcher does not take; the handler never runs"),
                format!("let the matcher take {tool}"),
            );
        }
    }
    check_timeout(report, config, path);
}

/// Seconds that people write when they think of milliseconds: round thousands,
/// or more than any hook is waited for.
fn check_timeout(report: &mut FileReport<'_>, config: &HandlerConfig, path: &KeyPath) {
    let Some(timeout) = config.timeout else {
        return;
    };
    let seconds = timeout.as_secs();
    if seconds >= 10_000 || (seconds >= 1_000 && seconds.is_multiple_of(500)) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a number of seconds that a user wrote"
        )]
        let meant = seconds as f64 / 1000.0;
        report.add(
            "timeout-in-milliseconds",
            &path.key("timeout"),
            format!(
                "a timeout counts seconds: {seconds} are {}",
                describe_seconds(seconds)
            ),
            format!("for {seconds} ms write {meant}"),
        );
    }
}

fn describe_seconds(seconds: u64) -> String {
    match seconds {
        0..7200 => format!("{} minutes", seconds / 60),
        7200..172_800 => format!("{} hours", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
