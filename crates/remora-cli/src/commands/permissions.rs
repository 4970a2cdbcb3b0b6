//! `remora permissions`: what was asked, what was answered, and the rules that
//! would spare the question. Nothing is granted and no file is written.

mod known;
mod programs;
mod requests;
mod rule;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use remora_core::Permission;
use remora_core::time::format_rfc3339;
use remora_hooks::RuleSubject;
use remora_memory::store::{Filter, Store};
use serde_json::{Value, json};

use crate::args::PermissionsArgs;
use crate::commands::data::DataDir;
use crate::commands::parts;
use crate::commands::show::lines::{
    TimeFormatter, flatten_text, format_count, hang_text, line_width, truncate_columns,
};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible, print_note};
use known::CurrentRules;
use remora_app::TimeSpanRequest;
use requests::{AnswerStats, PermissionRequests};

/// Groups that are shown of each sort.
const MAX_SHOWN_GROUPS: usize = 20;
/// Calls of a group that are held against today's rules.
const MAX_COMPARED_CALLS: usize = 50;
/// Calls that are listed of a group in JSON.
const MAX_EXAMPLE_CALLS: usize = 3;

/// Calls that one rule would cover, or one call that none does.
#[derive(Debug)]
struct CallGroup {
    /// The rule, or the call itself.
    name: String,
    tally: AnswerStats,
    calls: Vec<String>,
    advice: RuleAdvice,
    /// Which rule of today's settings covers it.
    existing: Option<String>,
}

/// What to make of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RuleAdvice {
    Allow,
    Deny,
    /// No rule, and why.
    None(String),
}

/// A rule in the making.
#[derive(Debug, Default)]
struct RuleDraft {
    tally: AnswerStats,
    calls: Vec<String>,
    /// Why no rule can be written.
    no_rule: Option<&'static str>,
    risk: Option<String>,
}

pub(super) fn run(args: &PermissionsArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let span = TimeSpanRequest {
        since: args.since.clone(),
        until: None,
    }
    .resolve(&data.app.clock.now())?;
    // What one agent asks is worded by its own rules; those of others would only
    // look alike.
    let spec = remora_agents::permission_agent();
    let mut filter = Filter {
        since: span.since,
        agent: spec.map(|spec| spec.name.into()),
        ..Filter::default()
    };
    let mut calls = BTreeMap::new();
    let mut root = None;
    if let Some(store) = data.app.open_store()? {
        filter.project =
            data.app
                .read_limits()?
                .resolve_project(&data.app, &*store, &args.place.to_choice())?;
        root = match &filter.project {
            Some(key) => find_checkout(&data, &*store, key)?,
            None => None,
        };
        let mut asked = PermissionRequests::default();
        parts::visit_events(&*store, &filter, &mut |row| {
            asked.record_event(&row);
            Ok(())
        })?;
        calls = asked.into_calls();
    }
    let known = CurrentRules::load(&data, root, filter.project.is_none());
    if let Some(trouble) = known.load_error() {
        print_note(&format!("rules in place are not known: {trouble}"));
    }
    let groups = group_calls(calls, args.at_least, &known);
    if args.json {
        out.print_json(&as_json(&groups, &known, span.since))?;
    } else {
        print_groups(&groups, &known, &filter, out)?;
    }
    Ok(Exit::GoOn)
}

/// The checkout of a project: the one of the working directory, else the one seen last.
fn find_checkout(
    data: &DataDir,
    store: &dyn Store,
    key: &str,
) -> Result<Option<PathBuf>, CliError> {
    if let Some(here) = data.environment.directory() {
        let place = data.app.locate_folder(here);
        if place.project.key == key {
            return Ok(Some(PathBuf::from(place.project.root)));
        }
    }
    let seen = store.list_projects()?.into_iter().find(|p| p.key == key);
    Ok(seen.map(|project| PathBuf::from(project.root)))
}

fn group_calls(
    calls: BTreeMap<String, AnswerStats>,
    at_least: u32,
    known: &CurrentRules,
) -> Vec<CallGroup> {
    let mut drafts: BTreeMap<String, RuleDraft> = BTreeMap::new();
    // What was never allowed is refused as it was asked, without its like.
    let suggested: Vec<_> = calls.keys().map(|call| rule::suggest_rule(call)).collect();
    let mut liked = BTreeSet::new();
    for (suggested, tally) in suggested.iter().zip(calls.values()) {
        if let (Ok(suggested), 1..) = (suggested, tally.allowed) {
            liked.insert(suggested.rule.clone());
        }
    }
    for ((call, tally), suggested) in calls.into_iter().zip(suggested) {
        let risk = suggested.as_ref().ok().and_then(|s| s.risk.clone());
        let rule = suggested.and_then(|suggested| {
            let (rule, list) = match suggested.risk {
                None if liked.contains(&suggested.rule) => (suggested.rule, Permission::Allow),
                _ => (
                    suggested.exact.ok_or("a rule cannot say it exactly")?,
                    Permission::Deny,
                ),
            };
            // A rule that would not apply to the very call it comes from must not be
            // proposed.
            if known.would_cover(&rule, list, &call) {
                Ok(rule)
            } else {
                Err("a rule for it would not cover all that it runs")
            }
        });
        let (name, no_rule) = match rule {
            Ok(rule) => (rule, None),
            Err(why) => (call.clone(), Some(why)),
        };
        let draft = drafts.entry(name).or_default();
        draft.tally.add_counts(&tally);
        draft.no_rule = no_rule;
        draft.risk = risk;
        draft.calls.push(call);
    }
    let mut groups: Vec<CallGroup> = drafts
        .into_iter()
        .map(|(name, draft)| {
            let existing = find_existing_rule(&draft, known);
            let advice = match &existing {
                Some(why) => RuleAdvice::None(format!("{why} today")),
                None => choose_advice(&draft, at_least, known),
            };
            CallGroup {
                name,
                tally: draft.tally,
                calls: draft.calls,
                advice,
                existing,
            }
        })
        .collect();
    groups.sort_by(|a, b| {
        let key = |group: &CallGroup| std::cmp::Reverse(group.tally.request_count());
        (key(a), &a.name).cmp(&(key(b), &b.name))
    });
    groups
}

/// Settings may have changed since; what they cover today needs no new rule.
fn find_existing_rule(draft: &RuleDraft, known: &CurrentRules) -> Option<String> {
    let calls = draft.calls.iter().take(MAX_COMPARED_CALLS);
    let rules: Option<Vec<String>> = calls.map(|call| known.rule_for(call)).collect();
    // All calls must be covered; one that is not still needs the rule.
    rules?.pop()
}

fn choose_advice(draft: &RuleDraft, at_least: u32, known: &CurrentRules) -> RuleAdvice {
    let tally = &draft.tally;
    let (yes, no) = (tally.allowed, tally.refused);
    let none = |why: &str| RuleAdvice::None(why.to_owned());
    let of_files = draft
        .calls
        .iter()
        .map(|call| rule::split_call(call))
        .any(|(tool, text)| text.is_some() && RuleSubject::of_tool(tool).is_file());
    match (yes, no, tally.denied) {
        (0, 0, 0) => none("not answered"),
        (1.., 1.., _) => none("allowed and refused: it depends"),
        (1.., 0, 1..) => none("allowed by you, refused by the client"),
        (0, 0, _) => none("the client itself refuses it"),
        _ if yes + no < at_least => RuleAdvice::None(format!("fewer than {at_least} answers")),
        (1.., ..) if draft.risk.is_some() => none(draft.risk.as_deref().unwrap_or_default()),
        _ if draft.no_rule.is_some() => none(draft.no_rule.unwrap_or_default()),
        _ if of_files && known.is_of_all() => {
            none("files differ from project to project; look without --all")
        }
        (0, ..) => RuleAdvice::Deny,
        _ => RuleAdvice::Allow,
    }
}

fn list_proposed_rules(groups: &[CallGroup], wanted: &RuleAdvice) -> Vec<String> {
    let fits = groups.iter().filter(|group| group.advice == *wanted);
    let mut rules: Vec<String> = fits.map(|group| group.name.clone()).collect();
    rules.sort_unstable();
    rules
}

/// What is to be pasted; `None` without any rule.
fn build_snippet(groups: &[CallGroup]) -> Option<Value> {
    let (allow, deny) = (
        list_proposed_rules(groups, &RuleAdvice::Allow),
        list_proposed_rules(groups, &RuleAdvice::Deny),
    );
    let mut lists = serde_json::Map::new();
    for (name, rules) in [("allow", allow), ("deny", deny)] {
        if !rules.is_empty() {
            lists.insert(name.to_owned(), json!(rules));
        }
    }
    (!lists.is_empty()).then(|| json!({ "permissions": lists }))
}

fn as_json(groups: &[CallGroup], known: &CurrentRules, since: Option<i64>) -> Value {
    let one = |group: &CallGroup| {
        let tally = &group.tally;
        let (advice, why) = match &group.advice {
            RuleAdvice::Allow => ("allow", None),
            RuleAdvice::Deny => ("deny", None),
            RuleAdvice::None(why) => ("none", Some(why)),
        };
        let examples = group.calls.iter().take(MAX_EXAMPLE_CALLS);
        let examples = examples.map(|call| escape_invisible(call));
        json!({
            "rule": escape_invisible(&group.name),
            "allowed": tally.allowed,
            "refused": tally.refused,
            "denied_by_client": tally.denied,
            "unanswered": tally.unanswered,
            "first": format_rfc3339(tally.first),
            "last": format_rfc3339(tally.last),
            "reason": tally.reason.as_deref().map(escape_invisible),
            "calls": group.calls.len(),
            "examples": examples.collect::<Vec<_>>(),
            "advice": advice,
            "why": why,
            "existing": group.existing,
        })
    };
    json!({
        "since": since.map(format_rfc3339),
        "groups": groups.iter().map(one).collect::<Vec<_>>(),
        "paste": build_snippet(groups),
        "file": known.file(),
    })
}

fn print_groups(
    groups: &[CallGroup],
    known: &CurrentRules,
    filter: &Filter,
    out: &mut Output,
) -> Result<(), CliError> {
    if groups.is_empty() {
        let elsewhere = match &filter.project {
            Some(_) => "; `--all` looks in every project",
            None => "",
        };
        return out.print_text(&format!("nothing was asked{elsewhere}\n"));
    }
    let of = |pick: fn(&AnswerStats) -> bool| -> Vec<&CallGroup> {
        groups.iter().filter(|group| pick(&group.tally)).collect()
    };
    let sorts = [
        (
            "Always allowed",
            of(|t| t.allowed > 0 && t.refused + t.denied == 0),
        ),
        ("Always refused", of(|t| t.refused > 0 && t.allowed == 0)),
        (
            "Now and then",
            of(|t| t.allowed > 0 && t.refused + t.denied > 0),
        ),
        (
            "Refused by the client",
            of(|t| t.denied > 0 && t.allowed + t.refused == 0),
        ),
        (
            "Without an answer",
            of(|t| t.allowed + t.refused + t.denied == 0),
        ),
    ];
    let local = TimeFormatter::new();
    for (title, groups) in sorts.iter().filter(|(_, groups)| !groups.is_empty()) {
        out.print_text(&format!("{}\n", out.paint(Style::Bold, title)))?;
        for group in groups.iter().take(MAX_SHOWN_GROUPS) {
            print_group(group, &local, out)?;
        }
        if groups.len() > MAX_SHOWN_GROUPS {
            let more = groups.len() - MAX_SHOWN_GROUPS;
            out.print_text(&format!("  and {more} more; `--json` has all\n"))?;
        }
        out.print_text("\n")?;
    }
    match build_snippet(groups) {
        None => out.print_text("No rule is proposed.\n"),
        Some(value) => {
            let file = flatten_text(&known.file().display().to_string());
            let lead = "Nothing was granted. To be asked less, add these rules to the lists in:";
            out.print_text(&format!("{lead}\n  {file}\n\n"))?;
            out.print_text(&format!("{value:#}\n"))
        }
    }
}

fn print_group(group: &CallGroup, local: &TimeFormatter, out: &mut Output) -> Result<(), CliError> {
    let tally = &group.tally;
    let name = truncate_columns(
        &flatten_text(&escape_invisible(&group.name)),
        line_width() - 8,
    );
    let style = match group.advice {
        RuleAdvice::Allow => Style::Green,
        RuleAdvice::Deny => Style::Red,
        RuleAdvice::None(_) => Style::Plain,
    };
    out.print_text(&format!("  {}\n", out.paint(style, &name)))?;
    let mut parts = Vec::new();
    for (n, word) in [
        (tally.allowed, "allowed"),
        (tally.refused, "refused"),
        (tally.denied, "denied by the client"),
        (tally.unanswered, "without an answer"),
    ] {
        if n > 0 {
            parts.push(format!(
                "{word} {}",
                format_count(n.into(), "time", "times")
            ));
        }
    }
    let (first, last) = (local.format_day(tally.first), local.format_day(tally.last));
    parts.push(if first == last {
        first
    } else {
        format!("{first} to {last}")
    });
    if let Some(reason) = &tally.reason {
        parts.push(format!("\"{}\"", flatten_text(&escape_invisible(reason))));
    }
    let mut text = parts.join(", ");
    match &group.advice {
        RuleAdvice::Allow => text.push_str("; rule below"),
        RuleAdvice::Deny => text.push_str("; deny rule below"),
        RuleAdvice::None(why) => {
            text.push_str("; no rule: ");
            text.push_str(&flatten_text(why));
        }
    }
    let told = hang_text("      ", &text);
    out.print_text(&out.paint(Style::Dim, &told))
}
