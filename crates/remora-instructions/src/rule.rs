//! When a rule file applies: reads `paths` out of its frontmatter and matches
//! touched files against it. Must not touch the file system.

mod brace;
mod gitignore;
pub(crate) mod machine;

#[cfg(test)]
mod tests;

use remora_core::text::cut_chars;

use crate::frontmatter::{self, FrontmatterValue};
use brace::BraceBudget;
use gitignore::{IgnorePatterns, NeverMatchReason};

/// When a rule is in the prompt.
#[derive(Debug, Clone)]
pub(crate) enum RuleScope {
    /// From the start.
    Always,
    /// From the first touched file that matches.
    On(Globs),
}

/// The patterns of one rule file.
#[derive(Debug, Clone)]
pub(crate) struct Globs {
    texts: Vec<String>,
    patterns: IgnorePatterns,
}

/// Reads the frontmatter of a rule file. The second part is for the user: what
/// was not understood, and what can never match.
pub(crate) fn parse_rule_scope(front: Option<&str>) -> (RuleScope, Vec<String>) {
    let Some(front) = front else {
        return (RuleScope::Always, Vec::new());
    };
    let entries = match frontmatter::parse_frontmatter(front) {
        Ok(entries) => entries,
        // As in the client, a head that cannot be read makes the rule unconditional.
        Err(error) => {
            return (
                RuleScope::Always,
                vec![format!("{error}; the rule always applies")],
            );
        }
    };
    let Some((_, value)) = entries.iter().find(|(key, _)| key == "paths") else {
        return (RuleScope::Always, Vec::new());
    };
    let mut warnings = Vec::new();
    let texts = expand_patterns(value, &mut warnings);
    // Also true for no pattern at all: `paths: []` or a number is no condition.
    if texts.iter().all(|text| text == "**") {
        return (RuleScope::Always, warnings);
    }
    let globs = Globs::new(texts);
    warnings.extend(
        globs
            .texts
            .iter()
            .filter_map(|text| explain_dead_pattern(text)),
    );
    (RuleScope::On(globs), warnings)
}

impl Globs {
    fn new(texts: Vec<String>) -> Self {
        let patterns = IgnorePatterns::new(texts.iter().map(String::as_str));
        Self { texts, patterns }
    }

    /// Whether a file wakes the rule: its path below the base, with slashes.
    pub(crate) fn matches(&self, relative: &str) -> bool {
        self.patterns.matches(relative)
    }

    /// The patterns as the client reports them: braces spelled out, a
    /// trailing `/**` cut off.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Why no file can ever activate the rule, if that shows in the patterns.
    pub(crate) fn never_matches(&self) -> Option<String> {
        let why: Vec<String> = self
            .texts
            .iter()
            .map(|text| {
                let only_negated = || text.starts_with('!').then(|| only_negative(text));
                explain_dead_pattern(text).or_else(only_negated)
            })
            .collect::<Option<_>>()?;
        Some(why.join("; "))
    }
}

/// The patterns of `paths`, in the client's order: commas, braces, the cut of
/// a trailing `/**`.
fn expand_patterns(value: &FrontmatterValue, warnings: &mut Vec<String>) -> Vec<String> {
    let mut strings = Vec::new();
    collect_strings(value, &mut strings);
    let mut budget = BraceBudget::default();
    let mut texts = Vec::new();
    for pattern in strings.into_iter().flat_map(brace::split_patterns) {
        let expanded = brace::expand_braces(pattern, &mut budget).unwrap_or_else(|| {
            warnings.push(format!(
                "pattern {} is over the brace budget of its file and matches nothing",
                quote_pattern(pattern)
            ));
            vec![pattern.to_owned()]
        });
        texts.extend(expanded.into_iter().filter_map(|mut text| {
            // This makes `docs/**` the name `docs`, which matches at any depth. Odd, but the client
            // does it.
            if text.ends_with("/**") {
                text.truncate(text.len() - 3);
            }
            (!text.is_empty()).then_some(text)
        }));
    }
    texts
}

/// The strings of a text or list; lists in lists count, nothing else does.
fn collect_strings<'a>(value: &'a FrontmatterValue, into: &mut Vec<&'a str>) {
    match value {
        FrontmatterValue::Text(text) => into.push(text),
        FrontmatterValue::List(items) => items.iter().for_each(|item| collect_strings(item, into)),
        FrontmatterValue::Map(_)
        | FrontmatterValue::Null
        | FrontmatterValue::Bool(_)
        | FrontmatterValue::Number(_) => {}
    }
}

/// Why one pattern can never match, in words for the user.
fn explain_dead_pattern(text: &str) -> Option<String> {
    let name = quote_pattern(text);
    let body = text.strip_prefix('!').unwrap_or(text);
    let why = match gitignore::find_never_match_reason(text) {
        Some(NeverMatchReason::Comment) => "begins with # and is a comment",
        Some(NeverMatchReason::Empty) => "names nothing",
        Some(NeverMatchReason::Backslash) => "ends in a backslash",
        Some(NeverMatchReason::Bracket) => "has a [ that cannot be read as a set",
        Some(NeverMatchReason::Long) => "is longer than any path",
        None if body.starts_with("./") => "begins with ./, which is never part of a path,",
        None if body == ".." || body.starts_with("../") => "leaves the directory of the rules",
        None if body == "~" || body.starts_with("~/") => "begins with ~, which is not expanded,",
        None => return None,
    };
    Some(format!("pattern {name} {why} and matches nothing"))
}

fn only_negative(text: &str) -> String {
    format!(
        "pattern {} only takes back what others match",
        quote_pattern(text)
    )
}

/// A pattern in quotes, cut if it is too long to read.
fn quote_pattern(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 80;
    match cut_chars(text, MAX_QUOTED_CHARS) {
        Some(start) => format!("{start:?}..."),
        None => format!("{text:?}"),
    }
}
