//! `remora memory list`, `show` and `path`: what is saved, and where.

use remora_notes::check::{self, CheckCache, ClaimVerdict};
use remora_notes::folder::{MemoryFolder, MemoryListing};
use remora_notes::{Memory, MemoryAuthor, MemoryScope, MemoryType};
use serde_json::{Value, json};

use super::accept::AcceptedMemories;
use super::check::{findings_json, load_check_cache};
use super::{MemoryWorkspace, as_json, ended_on};
use crate::args::{MemoryListArgs, MemoryPathArgs, MemoryShowArgs};
use crate::commands::show::lines::{
    flatten_text, hang_text, line_width, text_width, truncate_columns,
};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

pub(super) fn run_list(args: &MemoryListArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let cached = load_check_cache(&shelf.data.app.paths, &shelf.root);
    let accepted = AcceptedMemories::load(&shelf.data.app.paths);
    let wanted = args.kind.map(MemoryType::from);
    let keep = |memory: &Memory| {
        wanted.is_none_or(|kind| memory.kind == Some(kind)) && (!args.core || memory.is_core())
    };
    let mut all: Vec<(&MemoryFolder, MemoryListing)> = Vec::new();
    for folder in shelf.list_folders(&args.whose) {
        let mut listing = folder.list_memories()?;
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
                value["check"] =
                    json!(find_last_verdict(&cached, memory).map(ClaimVerdict::as_str));
                value["accepted"] = json!(accepted.is_accepted(&shelf.root, memory));
                value
            })
            .collect();
        let warnings: Vec<&String> = all.iter().flat_map(|(_, l)| &l.warnings).collect();
        out.print_json(&json!({ "memories": memories, "warnings": warnings }))?;
        return Ok(Exit::GoOn);
    }
    let mut first = true;
    let (mut from_repository, mut from_agents) = (0, 0);
    for (folder, listing) in &all {
        if listing.memories.is_empty() && listing.warnings.is_empty() {
            continue;
        }
        if !first {
            out.print_text("\n")?;
        }
        first = false;
        let waits = |memory: &Memory| !accepted.is_accepted(&shelf.root, memory);
        print_section(folder, listing, &cached, &waits, out)?;
        let waiting = listing.memories.iter().filter(|m| waits(m)).count();
        match folder.scope() {
            MemoryScope::Team => from_repository += waiting,
            MemoryScope::Project | MemoryScope::User => from_agents += waiting,
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
        out.print_text(&format!(
            "{gap}{memories} {from}, not from you: `remora memory show NAME`, then \
             `remora memory accept NAME`\n"
        ))?;
        gap = "";
    }
    if first {
        out.print_text("nothing is saved here; `remora remember \"...\"` saves a fact\n")?;
    }
    Ok(Exit::GoOn)
}

fn print_section(
    folder: &MemoryFolder,
    listing: &MemoryListing,
    cached: &CheckCache,
    waits: &dyn Fn(&Memory) -> bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let scope = out.paint(Style::Bold, folder.scope().as_str());
    let place = escape_invisible(&folder.dir().display().to_string());
    let place = out.paint(Style::Dim, &place);
    out.print_text(&format!("{scope}  {place}\n"))?;
    let longest = listing
        .memories
        .iter()
        .map(|memory| text_width(memory.uri.name.as_str()))
        .max()
        .unwrap_or_default()
        .min(40);
    for memory in &listing.memories {
        let name = truncate_columns(&flatten_text(memory.uri.name.as_str()), longest);
        let gap = " ".repeat(longest - text_width(&name).min(longest));
        let kind = memory.kind.map_or("-", MemoryType::as_str);
        let core = if memory.is_core() { "*" } else { " " };
        let verdict = match find_last_verdict(cached, memory) {
            Some(ClaimVerdict::Gone) => out.paint(Style::Red, "[gone] "),
            Some(ClaimVerdict::Moved) => out.paint(Style::Yellow, "[moved] "),
            _ => String::new(),
        };
        let waiting = if waits(memory) {
            let mark = match memory.author {
                MemoryAuthor::Agent => "[~ by an agent] ",
                MemoryAuthor::User => "[not accepted] ",
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
        let hook = truncate_columns(
            &flatten_text(&memory.index_summary()),
            line_width().saturating_sub(used).max(24),
        );
        let name = out.paint(Style::Cyan, &name);
        let core = out.paint(Style::Yellow, core);
        out.print_text(&format!(
            "  {name}{gap} {core} {kind:<9} {waiting}{ended}{verdict}{hook}\n"
        ))?;
    }
    for warning in &listing.warnings {
        let mark = out.paint(Style::Yellow, "!");
        out.print_text(&format!("{mark} {}\n", escape_invisible(warning)))?;
    }
    Ok(())
}

/// What the last check said, however long ago.
fn find_last_verdict(cached: &CheckCache, memory: &Memory) -> Option<ClaimVerdict> {
    cached
        .last_findings(&memory.body)
        .map(|findings| check::combine_verdicts(&findings))
}

pub(super) fn run_show(args: &MemoryShowArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let cached = load_check_cache(&shelf.data.app.paths, &shelf.root);
    let accepted = AcceptedMemories::load(&shelf.data.app.paths);
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
                value["accepted"] = json!(accepted.is_accepted(&shelf.root, memory));
                value["check"] =
                    json!(find_last_verdict(&cached, memory).map(ClaimVerdict::as_str));
                let findings = cached.last_findings(&memory.body).unwrap_or_default();
                value["findings"] = findings_json(&findings);
                value
            })
            .collect();
        out.print_json(&json!({ "memories": memories }))?;
        return Ok(Exit::GoOn);
    }
    for (at, memory) in memories.iter().enumerate() {
        if at > 0 {
            out.print_text("\n")?;
        }
        print_memory(
            memory,
            &cached,
            accepted.is_accepted(&shelf.root, memory),
            out,
        )?;
    }
    Ok(Exit::GoOn)
}

fn print_memory(
    memory: &Memory,
    cached: &CheckCache,
    accepted: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    let uri = out.paint(Style::Cyan, &memory.uri.to_string());
    let title = out.paint(Style::Bold, &flatten_text(&memory.title));
    out.print_text(&format!("{uri}\n{title}\n"))?;
    let kind = memory.kind.map_or("none", MemoryType::as_str);
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
    let findings = cached.last_findings(&memory.body).unwrap_or_default();
    if let Some(verdict) = find_last_verdict(cached, memory) {
        fields.push(("check", verdict.as_str().to_owned()));
    }
    for (name, value) in fields {
        let lead = format!("  {name:<9} ");
        let text = hang_text(&lead, &flatten_text(&value));
        let painted = out.paint(Style::Dim, &lead);
        out.print_text(&text.replacen(&lead, &painted, 1))?;
    }
    super::check::print_problems(&findings, out)?;
    for warning in &memory.warnings {
        let mark = out.paint(Style::Yellow, "!");
        out.print_text(&format!("{mark} {}\n", escape_invisible(warning)))?;
    }
    if !memory.body.is_empty() {
        out.print_text("\n")?;
        for line in memory.body.lines() {
            let line = escape_invisible(line.trim_end());
            out.print_text(format!("  {line}").trim_end())?;
            out.print_text("\n")?;
        }
    }
    Ok(())
}

/// Whose words a memory holds that the user has not accepted.
pub(in crate::commands) fn origin_of(memory: &Memory) -> &'static str {
    match memory.author {
        MemoryAuthor::Agent => "an agent, not from the user",
        MemoryAuthor::User => "this repository, not from the user",
    }
}

pub(super) fn run_path(args: &MemoryPathArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    if let Some(name) = &args.name {
        let (_, memory) = shelf.find(name, &args.whose)?;
        if args.place.json {
            out.print_json(&json!({ "uri": memory.uri.to_string(), "path": memory.path }))?;
        } else {
            out.print_text(&format!(
                "{}\n",
                escape_invisible(&memory.path.display().to_string())
            ))?;
        }
        return Ok(Exit::GoOn);
    }
    if args.place.json {
        let mut value = json!({});
        for folder in shelf.list_folders(&args.whose) {
            value[folder.scope().as_str()] = json!({
                "path": folder.dir(),
                "index": folder.index_path(),
                "exists": folder.exists(),
            });
        }
        out.print_json(&value)?;
        return Ok(Exit::GoOn);
    }
    let one = args.whose.memory_scope().is_some();
    for folder in shelf.list_folders(&args.whose) {
        let place = escape_invisible(&folder.dir().display().to_string());
        let there = if folder.exists() {
            ""
        } else {
            " (not there yet)"
        };
        if one {
            out.print_text(&format!("{place}\n"))?;
        } else {
            out.print_text(&format!("{:<8} {place}{there}\n", folder.scope().as_str()))?;
        }
    }
    Ok(Exit::GoOn)
}

/// Whether a scope's memories are about the checkout.
pub(super) fn is_about_the_tree(scope: MemoryScope) -> bool {
    scope != MemoryScope::User
}
