//! The lines under the title: all that was done, one thing a line.

use super::MAX_FACTS;
use super::cut::one_line;
use super::detail::{self, GroupDetails};
use super::imports::format_import;
use super::story::{ChangedDeclaration, EditSummary};
use super::wording::{describe_dependency, format_symbol};
use crate::symbols::{FilePurpose, Symbol, SymbolKind};

/// The longest fact, in characters.
const MAX_FACT_CHARS: usize = 160;

pub(super) fn render_facts(story: &EditSummary<'_>, details: &[GroupDetails]) -> Vec<String> {
    let mut facts = FactList::default();
    for each in &story.dependencies {
        facts.add_fact(&describe_dependency(each));
    }
    for (from, to) in &story.renamed {
        facts.add_fact(&format!(
            "renamed {} {} to {}",
            from.kind.as_str(),
            format_symbol(from),
            format_symbol(to)
        ));
    }
    if let Some((from, to, count)) = story.replaced
        && story.renamed.is_empty()
        && count > 1
        && story.language.file_purpose() == FilePurpose::Code
    {
        facts.add_fact(&format!("renamed `{from}` to `{to}` in {count} lines"));
    }
    for each in &story.added {
        facts.add_fact(&describe_declaration("added", each));
    }
    for each in &story.removed {
        facts.add_fact(&format!(
            "removed {} {}",
            each.symbol.kind.as_str(),
            format_symbol(&each.symbol)
        ));
    }
    // One renaming changes signatures and lines everywhere: the fact above
    // tells it once.
    let renaming = story.replaced.is_some_and(|(_, _, count)| count > 1);
    let quiet = renaming && story.language.file_purpose() == FilePurpose::Code;
    for each in story.signatures.iter().filter(|_| !quiet) {
        let (old, new) = (
            detail::format_code(each.old, 70),
            detail::format_code(each.new, 70),
        );
        facts.add_fact(&format!(
            "signature of {}: `{old}` -> `{new}`",
            format_symbol(&each.symbol)
        ));
    }
    for each in story.values.iter().filter(|_| !quiet) {
        facts.add_fact(&format!(
            "{} {}: {}",
            each.symbol.kind.as_str(),
            format_symbol(&each.symbol),
            detail::describe_value(each)
        ));
    }
    for (group, detail) in story.groups.iter().zip(details) {
        let place = group
            .symbol
            .as_ref()
            .map_or_else(|| "top level".to_owned(), format_symbol);
        if let Some(case) = &detail.handled {
            facts.add_fact(&format!("{place} handles {case}"));
        }
        if quiet {
            continue;
        }
        // A large function must not take the room of all the others.
        for line in detail.lines.iter().take(4) {
            facts.add_fact(&format!("{place}: {line}"));
        }
        if detail.formatting {
            facts.add_fact(&format!("{place}: formatting only"));
        }
    }
    for each in &story.moved {
        facts.add_fact(&format!(
            "moved {} {}",
            each.kind.as_str(),
            format_symbol(each)
        ));
    }
    for (holder, _) in &story.documented {
        if let Some(symbol) = holder {
            facts.add_fact(&format!("documented {}", format_symbol(symbol)));
        }
    }
    for each in &story.imported {
        facts.add_fact(&format!("imports {}", format_import(each, 90)));
    }
    for each in &story.unimported {
        facts.add_fact(&format!("no longer imports {}", format_import(each, 90)));
    }
    facts.lines
}

#[derive(Default)]
struct FactList {
    lines: Vec<String>,
}

impl FactList {
    fn add_fact(&mut self, line: &str) {
        let line = one_line(line, MAX_FACT_CHARS);
        if self.lines.len() < MAX_FACTS && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

fn describe_declaration(verb: &str, each: &ChangedDeclaration<'_>) -> String {
    let symbol = &each.symbol;
    let head = format!("{verb} {} {}", symbol.kind.as_str(), format_symbol(symbol));
    let value = detail::value_of(symbol.kind, each.text);
    match symbol.kind {
        SymbolKind::Function | SymbolKind::Impl => {
            format!("{head}: `{}`", detail::format_code(each.text, 100))
        }
        SymbolKind::Key | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Column
            if !value.is_empty() =>
        {
            format!("{head} = {}", one_line(value, 80))
        }
        _ => head,
    }
}

/// The names of all that was touched, each once, in order of weight.
pub(super) fn list_touched_symbols(story: &EditSummary<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut take = |symbol: &Symbol| {
        let name = one_line(&symbol.name, 120);
        if found.len() < 24 && !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    };
    // Best first: the list is cut, and search weighs what it names.
    story.added.iter().for_each(|s| take(&s.symbol));
    story.renamed.iter().for_each(|(from, to)| {
        take(to);
        take(from);
    });
    story
        .signatures
        .iter()
        .chain(&story.values)
        .for_each(|s| take(&s.symbol));
    story
        .groups
        .iter()
        .filter_map(|g| g.symbol.as_ref())
        .for_each(&mut take);
    story.removed.iter().for_each(|s| take(&s.symbol));
    story.moved.iter().for_each(&mut take);
    story
        .documented
        .iter()
        .filter_map(|(s, _)| s.as_ref())
        .for_each(&mut take);
    story
        .comments
        .iter()
        .filter_map(|(s, _)| s.as_ref())
        .for_each(&mut take);
    let code = story.language.file_purpose() == FilePurpose::Code;
    let packages = story.dependencies.iter().map(|d| d.name.as_str());
    let swapped = story
        .replaced
        .filter(|(_, _, count)| *count > 1 && code)
        .into_iter();
    let swapped = swapped.flat_map(|(from, to, _)| [to, from]);
    for each in packages.chain(swapped) {
        let name = one_line(each, 120);
        if found.len() < 24 && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
