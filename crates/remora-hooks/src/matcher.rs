//! A matcher, compiled once: everything, a list of names, or a regular
//! expression. A list never builds an expression.

use remora_core::{EventDef, MatcherStyle, Subject};
use remora_js_regex::JsRegex;

/// Steps one expression may take on one subject. Far above what a sane matcher
/// needs and far below what a user would notice. The bound is there because
/// settings come with repositories that others wrote.
const MAX_REGEX_STEPS: u64 = 1_000_000;

/// Former names that still mean a tool: (current name, former name).
pub(crate) const TOOL_ALIASES: [(&str, &str); 2] = [("Agent", "Task"), ("ListAgents", "ListPeers")];

/// A compiled matcher.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// Absent, empty or `*`.
    All,
    /// The event has nothing to match.
    NoSubject,
    /// Exact names; empty when only separators were written.
    Names(Vec<String>),
    /// A JavaScript expression, not anchored.
    Regex(JsRegex),
    /// Not a valid expression, with the reason.
    Invalid(String),
}

/// What a test found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchResult {
    Yes,
    No,
    /// The expression used up its steps.
    Exhausted,
}

impl Matcher {
    pub(crate) fn new(text: Option<&str>, def: &EventDef) -> Self {
        // `**` or `*|Write` are not "everything" but invalid expressions, so only these spellings.
        let Some(text) = text.filter(|t| !t.is_empty() && *t != "*") else {
            return Self::All;
        };
        // Before the text is read: an invalid expression does not matter where it is ignored.
        if def.subject == Subject::None {
            return Self::NoSubject;
        }
        // One character outside this set turns the whole text into an expression, in which
        // blanks and commas are literal. Tabs and non-ASCII letters are outside.
        let (plain, separators): (fn(char) -> bool, &[char]) = match def.style {
            MatcherStyle::Wide => (
                |c| c.is_ascii_alphanumeric() || "_- ,|".contains(c),
                &['|', ','],
            ),
            MatcherStyle::Narrow => (
                |c| c.is_ascii_alphanumeric() || c == '_' || c == '|',
                &['|'],
            ),
        };
        if text.chars().all(plain) {
            let names = text
                .split(separators)
                .map(str::trim)
                // `Write|` is the name alone; `|` leaves an empty list, which takes nothing.
                .filter(|p| !p.is_empty());
            return Self::Names(names.map(str::to_owned).collect());
        }
        match JsRegex::new(text) {
            Ok(regex) => Self::Regex(regex),
            Err(error) => Self::Invalid(error.to_string()),
        }
    }

    /// Tests the subject and, for tools, its former names: one fit is enough. So
    /// even `^(?!Agent$).*` matches the Agent tool, through `Task`, as in the client.
    pub(crate) fn test_subject(&self, query: Option<&str>, has_tool: bool) -> MatchResult {
        match self {
            Self::All | Self::NoSubject => return MatchResult::Yes,
            Self::Invalid(_) => return MatchResult::No,
            Self::Names(_) | Self::Regex(_) => {}
        }
        // Without a subject only a matcher that takes everything fires.
        let Some(query) = query else {
            return MatchResult::No;
        };
        let first = self.test_one(query);
        if first != MatchResult::No || !has_tool {
            return first;
        }
        TOOL_ALIASES
            .iter()
            .filter(|(now, _)| *now == query)
            .map(|(_, old)| self.test_one(old))
            .next()
            .unwrap_or(MatchResult::No)
    }

    fn test_one(&self, subject: &str) -> MatchResult {
        match self {
            Self::Names(names) if names.iter().any(|n| n == subject) => MatchResult::Yes,
            Self::Regex(regex) => match regex.is_match(subject, MAX_REGEX_STEPS) {
                Ok(true) => MatchResult::Yes,
                Ok(false) => MatchResult::No,
                Err(_) => MatchResult::Exhausted,
            },
            _ => MatchResult::No,
        }
    }

    /// How the text was read, in words for the user.
    pub(crate) fn to_description(&self) -> String {
        match self {
            Self::All => "the matcher takes everything".into(),
            Self::NoSubject => "this event has nothing to match, so the matcher is ignored".into(),
            Self::Names(names) if names.is_empty() => {
                "the matcher holds only separators and takes nothing".into()
            }
            Self::Names(names) => format!(
                "the matcher is the exact name{} {}",
                plural_suffix(names),
                names.join(", ")
            ),
            Self::Regex(_) => "the matcher is an unanchored JavaScript regular expression".into(),
            Self::Invalid(reason) => format!(
                "the matcher is not a valid regular expression ({reason}) and never matches"
            ),
        }
    }
}

fn plural_suffix(list: &[String]) -> &'static str {
    if list.len() == 1 { "" } else { "s" }
}
