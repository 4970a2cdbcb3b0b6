//! Commas and braces: expands one text of `paths` into its patterns.
//! Plain about nesting, as the client is: a group ends at the first `}`.
//! Never makes more than the budget of one rule file allows.

use crate::frontmatter::is_blank;

/// How many patterns the braces of one rule file may expand to.
const MAX_PATTERNS: usize = 1_000;
/// How many bytes it may take to spell them out.
const MAX_EXPANDED_BYTES: usize = 4 * 1024 * 1024;

/// What is left for one rule file.
#[derive(Debug)]
pub(super) struct BraceBudget {
    patterns: usize,
    bytes: usize,
}

impl Default for BraceBudget {
    fn default() -> Self {
        Self {
            patterns: MAX_PATTERNS,
            bytes: MAX_EXPANDED_BYTES,
        }
    }
}

/// Splits at commas outside braces; trimmed, the empty ones left out.
pub(super) fn split_patterns(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i64;
    text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(|part| part.trim_matches(is_blank))
    .filter(|part| !part.is_empty())
}

/// Expands the braces of a pattern, or nothing if the budget does not allow it.
/// A pattern without braces costs nothing.
pub(super) fn expand_braces(pattern: &str, budget: &mut BraceBudget) -> Option<Vec<String>> {
    if find_group(pattern).is_none() {
        return Some(vec![pattern.to_owned()]);
    }
    let mut done = Vec::new();
    let mut bytes = budget.bytes;
    let mut open = vec![pattern.to_owned()];
    while let Some(text) = open.pop() {
        let Some((before, inside, after)) = find_group(&text) else {
            bytes = bytes.checked_sub(pattern.len())?;
            done.push(text);
            if done.len() > budget.patterns {
                return None;
            }
            continue;
        };
        bytes = bytes.checked_sub(text.len())?;
        // Each part becomes at least one pattern, so this can stop before allocating them.
        if open.len() + inside.split(',').count() > budget.patterns {
            return None;
        }
        let parts = inside.rsplit(',').map(|part| part.trim_matches(is_blank));
        open.extend(parts.map(|part| [before, part, after].concat()));
    }
    budget.bytes = bytes;
    budget.patterns -= done.len();
    Some(done)
}

/// The first group: the text before, inside and after it. `{}` is no group.
fn find_group(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    (!inside.is_empty()).then_some((before, inside, after))
}
