//! The lines under the title: all that was done, one thing a line.

use super::FACT_CAP;
use super::cut::one_line;
use super::detail::{self, Details};
use super::imports::told;
use super::story::{Stated, Story};
use super::wording::{describe, named};
use crate::symbols::{Nature, Symbol, SymbolKind};

/// The longest fact, in characters.
const FACT_LENGTH: usize = 160;

pub(super) fn write(story: &Story<'_>, details: &[Details]) -> Vec<String> {
    let mut facts = Facts::default();
    for each in &story.dependencies {
        facts.say(&describe(each));
    }
    for (from, to) in &story.renamed {
        facts.say(&format!(
            "renamed {} {} to {}",
            from.kind.word(),
            named(from),
            named(to)
        ));
    }
    if let Some((from, to, count)) = story.replaced
        && story.renamed.is_empty()
        && count > 1
        && story.language.nature() == Nature::Code
    {
        facts.say(&format!("renamed `{from}` to `{to}` in {count} lines"));
    }
    for each in &story.added {
        facts.say(&declared("added", each));
    }
    for each in &story.removed {
        facts.say(&format!(
            "removed {} {}",
            each.symbol.kind.word(),
            named(&each.symbol)
        ));
    }
    let renaming = story.replaced.is_some_and(|(_, _, count)| count > 1);
    let quiet = renaming && story.language.nature() == Nature::Code;
    for each in story.signatures.iter().filter(|_| !quiet) {
        let (old, new) = (detail::code(each.old, 70), detail::code(each.new, 70));
        facts.say(&format!(
            "signature of {}: `{old}` -> `{new}`",
            named(&each.symbol)
        ));
    }
    for each in story.values.iter().filter(|_| !quiet) {
        facts.say(&format!(
            "{} {}: {}",
            each.symbol.kind.word(),
            named(&each.symbol),
            detail::value(each)
        ));
    }
    for (group, detail) in story.groups.iter().zip(details) {
        let place = group
            .symbol
            .as_ref()
            .map_or_else(|| "top level".to_owned(), named);
        if let Some(case) = &detail.handled {
            facts.say(&format!("{place} handles {case}"));
        }
        if quiet {
            continue;
        }
        for line in detail.lines.iter().take(4) {
            facts.say(&format!("{place}: {line}"));
        }
        if detail.formatting {
            facts.say(&format!("{place}: formatting only"));
        }
    }
    for each in &story.moved {
        facts.say(&format!("moved {} {}", each.kind.word(), named(each)));
    }
    for (holder, _) in &story.documented {
        if let Some(symbol) = holder {
            facts.say(&format!("documented {}", named(symbol)));
        }
    }
    for each in &story.imported {
        facts.say(&format!("imports {}", told(each, 90)));
    }
    for each in &story.unimported {
        facts.say(&format!("no longer imports {}", told(each, 90)));
    }
    facts.lines
}

#[derive(Default)]
struct Facts {
    lines: Vec<String>,
}

impl Facts {
    fn say(&mut self, line: &str) {
        let line = one_line(line, FACT_LENGTH);
        if self.lines.len() < FACT_CAP && !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

fn declared(verb: &str, each: &Stated<'_>) -> String {
    let symbol = &each.symbol;
    let head = format!("{verb} {} {}", symbol.kind.word(), named(symbol));
    let value = detail::value_of(symbol.kind, each.text);
    match symbol.kind {
        SymbolKind::Function | SymbolKind::Impl => {
            format!("{head}: `{}`", detail::code(each.text, 100))
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
pub(super) fn symbols(story: &Story<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut take = |symbol: &Symbol| {
        let name = one_line(&symbol.name, 120);
        if found.len() < 24 && !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    };
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
    let code = story.language.nature() == Nature::Code;
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
