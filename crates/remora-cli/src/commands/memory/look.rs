//! `remora memory list`, `show` and `path`: what is saved, and where.

use remora_instructions::memories::check::{self, Cached, Verdict};
use remora_instructions::memories::folder::{Folder, Listing};
use remora_instructions::memories::{Author, Memory, Scope, Type};
use serde_json::{Value, json};

use super::accept::Accepted;
use super::check::{cache, findings_json};
use super::{Shelf, as_json, ended_on};
use crate::args::{MemoryList, MemoryPath, MemoryShow};
use crate::commands::show::lines::{fit, flat, hang, line_width, width};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(super) fn list(args: &MemoryList, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let cached = cache(&shelf.data.paths, &shelf.root);
    let accepted = Accepted::load(&shelf.data.paths);
    let wanted = args.kind.map(Type::from);
    let keep = |memory: &Memory| {
        wanted.is_none_or(|kind| memory.kind == Some(kind)) && (!args.core || memory.is_core())
    };
    let mut all: Vec<(&Folder, Listing)> = Vec::new();
    for folder in shelf.folders(&args.whose) {
        let mut listing = folder.list()?;
        listing.memories.retain(keep);
        listing
            .memories
            .sort_by(|a, b| (a.priority, &a.uri.name).cmp(&(b.priority, &b.uri.name)));
        all.push((folder, listing));
    }
    if args.place.json {
        let memories = all.iter().flat_map(|(_, listing)| &listing.memories);
        let memories: Vec<Value> = memories
            .map(|memory| {
                let mut value = as_json(memory);
                value["check"] = json!(last(&cached, memory).map(Verdict::word));
                value["accepted"] = json!(accepted.holds(&shelf.root, memory));
                value
            })
            .collect();
        let warnings: Vec<&String> = all.iter().flat_map(|(_, l)| &l.warnings).collect();
        out.json(&json!({ "memories": memories, "warnings": warnings }))?;
        return Ok(Exit::GoOn);
    }
    let mut first = true;
    let (mut from_repository, mut from_agents) = (0, 0);
    for (folder, listing) in &all {
        if listing.memories.is_empty() && listing.warnings.is_empty() {
            continue;
        }
        if !first {
            out.text("\n")?;
        }
        first = false;
        let waits = |memory: &Memory| !accepted.holds(&shelf.root, memory);
        section(folder, listing, &cached, &waits, out)?;
        let waiting = listing.memories.iter().filter(|m| waits(m)).count();
        match folder.scope() {
            Scope::Team => from_repository += waiting,
            Scope::Project | Scope::User => from_agents += waiting,
        }
    }
    let mut gap = "\n";
    for (waiting, from) in [
        (from_repository, "from this repository"),
        (from_agents, "from an agent"),
    ] {
        let memories = match waiting {
            0 => continue,
            1 => "1 memory is".to_owned(),
            n => format!("{n} memories are"),
        };
        out.text(&format!(
            "{gap}{memories} {from}, not from you: `remora memory show NAME`, then \
             `remora memory accept NAME`\n"
        ))?;
        gap = "";
    }
    if first {
        out.text("nothing is saved here; `remora remember \"...\"` saves a fact\n")?;
    }
    Ok(Exit::GoOn)
}

fn section(
    folder: &Folder,
    listing: &Listing,
    cached: &Cached,
    waits: &dyn Fn(&Memory) -> bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let scope = out.paint(Style::Bold, folder.scope().as_str());
    let place = visible(&folder.dir().display().to_string());
    let place = out.paint(Style::Dim, &place);
    out.text(&format!("{scope}  {place}\n"))?;
    let longest = listing
        .memories
        .iter()
        .map(|memory| width(memory.uri.name.as_str()))
        .max()
        .unwrap_or_default()
        .min(40);
    for memory in &listing.memories {
        let name = fit(&flat(memory.uri.name.as_str()), longest);
        let gap = " ".repeat(longest - width(&name).min(longest));
        let kind = memory.kind.map_or("-", Type::as_str);
        let core = if memory.is_core() { "*" } else { " " };
        let verdict = match last(cached, memory) {
            Some(Verdict::Gone) => out.paint(Style::Red, "[gone] "),
            Some(Verdict::Moved) => out.paint(Style::Yellow, "[moved] "),
            _ => String::new(),
        };
        let waiting = if waits(memory) {
            let mark = match memory.author {
                Author::Agent => "[~ by an agent] ",
                Author::User => "[not accepted] ",
            };
            out.paint(Style::Yellow, mark)
        } else {
            String::new()
        };
        let ended = match ended_on(memory) {
            Some(_) => out.paint(Style::Dim, "[ended] "),
            None => String::new(),
        };
        let used = longest + 18;
        let hook = fit(
            &flat(&memory.hook()),
            line_width().saturating_sub(used).max(24),
        );
        let name = out.paint(Style::Cyan, &name);
        let core = out.paint(Style::Yellow, core);
        out.text(&format!(
            "  {name}{gap} {core} {kind:<9} {waiting}{ended}{verdict}{hook}\n"
        ))?;
    }
    for warning in &listing.warnings {
        let mark = out.paint(Style::Yellow, "!");
        out.text(&format!("{mark} {}\n", visible(warning)))?;
    }
    Ok(())
}

/// What the last check said, however long ago.
fn last(cached: &Cached, memory: &Memory) -> Option<Verdict> {
    cached
        .last(&memory.body)
        .map(|findings| check::overall(&findings))
}

pub(super) fn show(args: &MemoryShow, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let cached = cache(&shelf.data.paths, &shelf.root);
    let accepted = Accepted::load(&shelf.data.paths);
    let mut memories = Vec::new();
    for name in &args.names {
        memories.push(shelf.find(name, &args.whose)?.1);
    }
    if args.place.json {
        let memories: Vec<Value> = memories
            .iter()
            .map(|memory| {
                let mut value = as_json(memory);
                value["body"] = json!(memory.body);
                value["links"] = json!(memory.links);
                value["accepted"] = json!(accepted.holds(&shelf.root, memory));
                value["check"] = json!(last(&cached, memory).map(Verdict::word));
                let findings = cached.last(&memory.body).unwrap_or_default();
                value["findings"] = findings_json(&findings);
                value
            })
            .collect();
        out.json(&json!({ "memories": memories }))?;
        return Ok(Exit::GoOn);
    }
    for (at, memory) in memories.iter().enumerate() {
        if at > 0 {
            out.text("\n")?;
        }
        say(memory, &cached, accepted.holds(&shelf.root, memory), out)?;
    }
    Ok(Exit::GoOn)
}

fn say(memory: &Memory, cached: &Cached, accepted: bool, out: &mut Output) -> Result<(), CliError> {
    let uri = out.paint(Style::Cyan, &memory.uri.to_string());
    let title = out.paint(Style::Bold, &flat(&memory.title));
    out.text(&format!("{uri}\n{title}\n"))?;
    let kind = memory.kind.map_or("none", Type::as_str);
    let core = if memory.is_core() { ", core" } else { "" };
    let mut fields = vec![
        ("type", kind.to_owned()),
        ("priority", format!("{}{core}", memory.priority)),
    ];
    if !accepted {
        fields.push(("from", format!("{}, not accepted", origin_of(memory))));
    }
    fields.extend(memory.description.clone().map(|text| ("about", text)));
    fields.extend(memory.modified.clone().map(|text| ("modified", text)));
    fields.extend(ended_on(memory).map(|day| ("ended", format!("{day}, by its own words"))));
    if !memory.links.is_empty() {
        fields.push(("links", memory.links.join(", ")));
    }
    fields.push(("file", memory.path.display().to_string()));
    let findings = cached.last(&memory.body).unwrap_or_default();
    if let Some(verdict) = last(cached, memory) {
        fields.push(("check", verdict.word().to_owned()));
    }
    for (name, value) in fields {
        let lead = format!("  {name:<9} ");
        let text = hang(&lead, &flat(&value));
        let painted = out.paint(Style::Dim, &lead);
        out.text(&text.replacen(&lead, &painted, 1))?;
    }
    super::check::troubles(&findings, out)?;
    for warning in &memory.warnings {
        let mark = out.paint(Style::Yellow, "!");
        out.text(&format!("{mark} {}\n", visible(warning)))?;
    }
    if !memory.body.is_empty() {
        out.text("\n")?;
        for line in memory.body.lines() {
            let line = visible(line.trim_end());
            out.text(format!("  {line}").trim_end())?;
            out.text("\n")?;
        }
    }
    Ok(())
}

/// Whose words a memory holds that the user has not accepted.
pub(in crate::commands) fn origin_of(memory: &Memory) -> &'static str {
    match memory.author {
        Author::Agent => "an agent, not from the user",
        Author::User => "this repository, not from the user",
    }
}

pub(super) fn path(args: &MemoryPath, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    if let Some(name) = &args.name {
        let (_, memory) = shelf.find(name, &args.whose)?;
        if args.place.json {
            out.json(&json!({ "uri": memory.uri.to_string(), "path": memory.path }))?;
        } else {
            out.text(&format!(
                "{}\n",
                visible(&memory.path.display().to_string())
            ))?;
        }
        return Ok(Exit::GoOn);
    }
    if args.place.json {
        let mut value = json!({});
        for folder in shelf.folders(&args.whose) {
            value[folder.scope().as_str()] = json!({
                "path": folder.dir(),
                "index": folder.index_path(),
                "exists": folder.exists(),
            });
        }
        out.json(&value)?;
        return Ok(Exit::GoOn);
    }
    let one = args.whose.scope().is_some();
    for folder in shelf.folders(&args.whose) {
        let place = visible(&folder.dir().display().to_string());
        let there = if folder.exists() {
            ""
        } else {
            " (not there yet)"
        };
        if one {
            out.text(&format!("{place}\n"))?;
        } else {
            out.text(&format!("{:<8} {place}{there}\n", folder.scope().as_str()))?;
        }
    }
    Ok(Exit::GoOn)
}

/// Whether a scope's memories are about the checkout.
pub(super) fn is_about_the_tree(scope: Scope) -> bool {
    scope != Scope::User
}
