//! `remora permissions`: what was asked, what was answered, and the rules that
//! would spare the question. Nothing is granted and no file is written.

mod asked;
mod known;
mod programs;
mod rule;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use remora_memory::store::{Filter, Store};
use remora_protocol::Permission;
use remora_protocol::time::rfc3339;
use serde_json::{Value, json};

use crate::args::{Permissions, Span};
use crate::commands::data::Data;
use crate::commands::parts;
use crate::commands::reader::Reader;
use crate::commands::search::when;
use crate::commands::show::lines::{Local, count, fit, flat, hang, line_width};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, note, visible};
use asked::{Asked, Tally};
use known::Known;

/// Groups that are shown of each sort.
const SHOWN: usize = 20;
/// Calls of a group that are held against today's rules.
const COMPARED: usize = 50;
/// Calls that are told of a group in JSON.
const EXAMPLES: usize = 3;

/// Calls that one rule would cover, or one call that none does.
#[derive(Debug)]
struct Group {
    /// The rule, or the call itself.
    name: String,
    tally: Tally,
    calls: Vec<String>,
    advice: Advice,
    /// Which rule of today's settings covers it.
    existing: Option<String>,
}

/// What to make of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Advice {
    Allow,
    Deny,
    /// No rule, and why.
    None(String),
}

/// A rule in the making.
#[derive(Debug, Default)]
struct Draft {
    tally: Tally,
    calls: Vec<String>,
    /// Why no rule can be written.
    no_rule: Option<&'static str>,
    risk: Option<String>,
}

pub(super) fn run(args: &Permissions, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let span = when::span(&Span {
        since: args.since.clone(),
        until: None,
    })?;
    let mut filter = Filter {
        since: span.since,
        ..Filter::default()
    };
    let mut calls = BTreeMap::new();
    let mut root = None;
    if let Some(store) = data.store()? {
        filter.project = Reader::of(&data)?.project(&data, &store, &args.place)?;
        root = match &filter.project {
            Some(key) => folder(&data, &store, key)?,
            None => None,
        };
        let mut asked = Asked::default();
        parts::ledger(&store, &filter, &mut |row| {
            asked.take(&row);
            Ok(())
        })?;
        calls = asked.finish();
    }
    let known = Known::load(&data, root, filter.project.is_none());
    if let Some(trouble) = known.trouble() {
        note(&format!("rules in place are not known: {trouble}"));
    }
    let groups = groups(calls, args.at_least, &known);
    if args.json {
        out.json(&as_json(&groups, &known, span.since))?;
    } else {
        say(&groups, &known, &filter, out)?;
    }
    Ok(Exit::GoOn)
}

/// The checkout of a project: the one we stand in, else the one seen last.
fn folder(data: &Data, store: &dyn Store, key: &str) -> Result<Option<PathBuf>, CliError> {
    if let Some(here) = data.environment.directory() {
        let place = data.locate(here);
        if place.project.key == key {
            return Ok(Some(PathBuf::from(place.project.root)));
        }
    }
    let seen = store.projects()?.into_iter().find(|p| p.key == key);
    Ok(seen.map(|project| PathBuf::from(project.root)))
}

fn groups(calls: BTreeMap<String, Tally>, at_least: u32, known: &Known) -> Vec<Group> {
    let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
    // What was never allowed is refused as it was asked, without its like.
    let suggested: Vec<_> = calls.keys().map(|call| rule::suggest(call)).collect();
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
        draft.tally.add(&tally);
        draft.no_rule = no_rule;
        draft.risk = risk;
        draft.calls.push(call);
    }
    let mut groups: Vec<Group> = drafts
        .into_iter()
        .map(|(name, draft)| {
            let existing = existing(&draft, known);
            let advice = match &existing {
                Some(why) => Advice::None(format!("{why} today")),
                None => advice(&draft, at_least, known),
            };
            Group {
                name,
                tally: draft.tally,
                calls: draft.calls,
                advice,
                existing,
            }
        })
        .collect();
    groups.sort_by(|a, b| {
        let key = |group: &Group| std::cmp::Reverse(group.tally.asked());
        (key(a), &a.name).cmp(&(key(b), &b.name))
    });
    groups
}

/// Settings may have changed since; what they cover today needs no new rule.
fn existing(draft: &Draft, known: &Known) -> Option<String> {
    let calls = draft.calls.iter().take(COMPARED);
    let rules: Option<Vec<String>> = calls.map(|call| known.rule_for(call)).collect();
    rules?.pop()
}

fn advice(draft: &Draft, at_least: u32, known: &Known) -> Advice {
    let tally = &draft.tally;
    let (yes, no) = (tally.allowed, tally.refused);
    let none = |why: &str| Advice::None(why.to_owned());
    let of_files = draft
        .calls
        .iter()
        .any(|call| matches!(rule::split(call), (tool, Some(_)) if known::is_of_files(tool)));
    match (yes, no, tally.denied) {
        (0, 0, 0) => none("nobody answered"),
        (1.., 1.., _) => none("allowed and refused: it depends"),
        (1.., 0, 1..) => none("allowed by you, refused by the client"),
        (0, 0, _) => none("the client itself refuses it"),
        _ if yes + no < at_least => Advice::None(format!("fewer than {at_least} answers")),
        (1.., ..) if draft.risk.is_some() => none(draft.risk.as_deref().unwrap_or_default()),
        _ if draft.no_rule.is_some() => none(draft.no_rule.unwrap_or_default()),
        _ if of_files && known.is_of_all() => {
            none("files differ from project to project; look without --all")
        }
        (0, ..) => Advice::Deny,
        _ => Advice::Allow,
    }
}

fn proposed(groups: &[Group], wanted: &Advice) -> Vec<String> {
    let fits = groups.iter().filter(|group| group.advice == *wanted);
    let mut rules: Vec<String> = fits.map(|group| group.name.clone()).collect();
    rules.sort_unstable();
    rules
}

/// What is to be pasted; `None` without any rule.
fn snippet(groups: &[Group]) -> Option<Value> {
    let (allow, deny) = (
        proposed(groups, &Advice::Allow),
        proposed(groups, &Advice::Deny),
    );
    let mut lists = serde_json::Map::new();
    for (name, rules) in [("allow", allow), ("deny", deny)] {
        if !rules.is_empty() {
            lists.insert(name.to_owned(), json!(rules));
        }
    }
    (!lists.is_empty()).then(|| json!({ "permissions": lists }))
}

fn as_json(groups: &[Group], known: &Known, since: Option<i64>) -> Value {
    let one = |group: &Group| {
        let tally = &group.tally;
        let (advice, why) = match &group.advice {
            Advice::Allow => ("allow", None),
            Advice::Deny => ("deny", None),
            Advice::None(why) => ("none", Some(why)),
        };
        let examples = group.calls.iter().take(EXAMPLES);
        let examples = examples.map(|call| visible(call));
        json!({
            "rule": visible(&group.name),
            "allowed": tally.allowed,
            "refused": tally.refused,
            "denied_by_client": tally.denied,
            "unanswered": tally.unanswered,
            "first": rfc3339(tally.first),
            "last": rfc3339(tally.last),
            "reason": tally.reason.as_deref().map(visible),
            "calls": group.calls.len(),
            "examples": examples.collect::<Vec<_>>(),
            "advice": advice,
            "why": why,
            "existing": group.existing,
        })
    };
    json!({
        "since": since.map(rfc3339),
        "groups": groups.iter().map(one).collect::<Vec<_>>(),
        "paste": snippet(groups),
        "file": known.file(),
    })
}

fn say(groups: &[Group], known: &Known, filter: &Filter, out: &mut Output) -> Result<(), CliError> {
    if groups.is_empty() {
        let elsewhere = match &filter.project {
            Some(_) => "; `--all` looks in every project",
            None => "",
        };
        return out.text(&format!("nothing was asked{elsewhere}\n"));
    }
    let of = |pick: fn(&Tally) -> bool| -> Vec<&Group> {
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
    let local = Local::new();
    for (title, groups) in sorts.iter().filter(|(_, groups)| !groups.is_empty()) {
        out.text(&format!("{}\n", out.paint(Style::Bold, title)))?;
        for group in groups.iter().take(SHOWN) {
            line(group, &local, out)?;
        }
        if groups.len() > SHOWN {
            let more = groups.len() - SHOWN;
            out.text(&format!("  and {more} more; `--json` has all\n"))?;
        }
        out.text("\n")?;
    }
    match snippet(groups) {
        None => out.text("No rule is proposed.\n"),
        Some(value) => {
            let file = flat(&known.file().display().to_string());
            let lead = "Nothing was granted. To be asked less, add these rules to the lists in:";
            out.text(&format!("{lead}\n  {file}\n\n"))?;
            out.text(&format!("{value:#}\n"))
        }
    }
}

fn line(group: &Group, local: &Local, out: &mut Output) -> Result<(), CliError> {
    let tally = &group.tally;
    let name = fit(&flat(&visible(&group.name)), line_width() - 8);
    let style = match group.advice {
        Advice::Allow => Style::Green,
        Advice::Deny => Style::Red,
        Advice::None(_) => Style::Plain,
    };
    out.text(&format!("  {}\n", out.paint(style, &name)))?;
    let mut parts = Vec::new();
    for (n, word) in [
        (tally.allowed, "allowed"),
        (tally.refused, "refused"),
        (tally.denied, "denied by the client"),
        (tally.unanswered, "without an answer"),
    ] {
        if n > 0 {
            parts.push(format!("{word} {}", count(n.into(), "time", "times")));
        }
    }
    let (first, last) = (local.day(tally.first), local.day(tally.last));
    parts.push(if first == last {
        first
    } else {
        format!("{first} to {last}")
    });
    if let Some(reason) = &tally.reason {
        parts.push(format!("\"{}\"", flat(&visible(reason))));
    }
    let mut text = parts.join(", ");
    match &group.advice {
        Advice::Allow => text.push_str("; rule below"),
        Advice::Deny => text.push_str("; deny rule below"),
        Advice::None(why) => {
            text.push_str("; no rule: ");
            text.push_str(&flat(why));
        }
    }
    let told = hang("      ", &text);
    out.text(&out.paint(Style::Dim, &told))
}
