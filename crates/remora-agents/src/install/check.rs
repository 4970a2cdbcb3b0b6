//! What in a settings file the client will refuse, in plain words. Simple checks
//! only: they explain why hooks would not run, and hold nothing back.

use remora_core::EventName;

use super::span::{Node, NodeData};
use super::spec::SettingsRules;

/// What a mistake costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemImpact {
    /// No hook of the file runs.
    WholeFile,
    /// The entry alone is ignored.
    Entry,
}

/// A mistake in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// One sentence: where, what and what follows of it.
    pub text: String,
    /// Whether it voids the entry or the whole file.
    pub impact: ProblemImpact,
}

/// Every mistake, in the order of the file.
pub(super) fn check_settings(root: &Node, rules: &SettingsRules) -> Vec<SettingsProblem> {
    let mut warnings = Vec::new();
    if let Some(known) = rules.root_keys {
        let members = root.members().iter().map(|member| member.key.as_str());
        warnings.extend(members.filter(|key| !known.contains(key)).map(|key| {
            let place = format!("`{key}`");
            describe_problem(
                &place,
                "is not a key of this file",
                ProblemImpact::WholeFile,
            )
        }));
    }
    match root.get("disableAllHooks").map(|node| &node.data) {
        None | Some(NodeData::Bool(false)) => {}
        Some(NodeData::Bool(true)) => {
            warnings.push(SettingsProblem {
                text: "`disableAllHooks` is true: no hook of this file will run".to_owned(),
                impact: ProblemImpact::WholeFile,
            });
        }
        Some(_) => warnings.push(describe_problem(
            "`disableAllHooks`",
            "must be true or false",
            ProblemImpact::WholeFile,
        )),
    }
    for member in root.get("hooks").map_or(&[][..], Node::members) {
        // The client skips names that it does not know, with all below them.
        let Some(event) = EventName::parse(&member.key) else {
            continue;
        };
        let place = format!("hooks.{}", member.key);
        let cost = if (rules.drops_file)(event) {
            ProblemImpact::WholeFile
        } else {
            ProblemImpact::Entry
        };
        match &member.value.data {
            NodeData::List(groups) => {
                for (at, group) in groups.iter().enumerate() {
                    check_group(&mut warnings, &format!("{place}[{at}]"), group, cost, rules);
                }
            }
            // The client takes `null` for an event without hooks.
            NodeData::Null => {}
            _ => warnings.push(describe_problem(
                &format!("`{place}`"),
                "must be a list",
                cost,
            )),
        }
    }
    warnings
}

fn describe_problem(place: &str, problem: &str, impact: ProblemImpact) -> SettingsProblem {
    let effect = match impact {
        ProblemImpact::WholeFile => "the client ignores this whole file until that is fixed",
        ProblemImpact::Entry => "the client ignores it",
    };
    SettingsProblem {
        text: format!("{place} {problem}; {effect}"),
        impact,
    }
}

fn check_group(
    warnings: &mut Vec<SettingsProblem>,
    place: &str,
    group: &Node,
    cost: ProblemImpact,
    rules: &SettingsRules,
) {
    let mut warn = |place: &str, problem: &str| {
        warnings.push(describe_problem(&format!("`{place}`"), problem, cost));
    };
    if !group.is_object() {
        return warn(place, "must be an object with a `hooks` list");
    }
    if group
        .get("matcher")
        .is_some_and(|node| node.as_text().is_none())
    {
        warn(&format!("{place}.matcher"), "must be a string");
    }
    let Some(handlers) = group.get("hooks").and_then(Node::as_list) else {
        return warn(&format!("{place}.hooks"), "must be a list");
    };
    for (at, handler) in handlers.iter().enumerate() {
        if let Some(problem) = handler_problem(handler, rules) {
            warn(&format!("{place}.hooks[{at}]"), &problem);
        }
    }
}

fn handler_problem(handler: &Node, rules: &SettingsRules) -> Option<String> {
    if !handler.is_object() {
        return Some("must be an object".to_owned());
    }
    let named = handler.get("type").and_then(Node::as_text);
    let known = rules
        .handler_types
        .iter()
        .find(|(name, _)| Some(*name) == named);
    let Some((_, key)) = known else {
        let known: Vec<&str> = rules.handler_types.iter().map(|(name, _)| *name).collect();
        let known = join_alternatives(&known);
        return Some(match named {
            Some(other) => format!("has the `type` {other}, not {known}"),
            None => format!("needs a `type`: {known}"),
        });
    };
    if handler.get(key).and_then(Node::as_text).is_none() {
        return Some(format!("needs a `{key}` string"));
    }
    value_problem(handler).map(str::to_owned)
}

/// `a, b or c`.
fn join_alternatives(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

fn value_problem(handler: &Node) -> Option<&'static str> {
    let wrong = |key: &str| {
        handler
            .get(key)
            .is_some_and(|node| node.as_text().is_none())
    };
    if let Some(timeout) = handler.get("timeout")
        && !matches!(timeout.data, NodeData::Number(seconds) if seconds > 0.0)
    {
        return Some("has a `timeout` that is not a number above 0");
    }
    let args = handler.get("args").map(|node| node.as_list());
    if args.is_some_and(|list| list.is_none_or(|all| all.iter().any(|arg| arg.as_text().is_none())))
    {
        return Some("has `args` that are not a list of strings");
    }
    if wrong("if") {
        return Some("has an `if` that is not a string");
    }
    if handler
        .get("shell")
        .is_some_and(|node| !matches!(node.as_text(), Some("bash" | "powershell")))
    {
        return Some("has a `shell` other than bash or powershell");
    }
    None
}
