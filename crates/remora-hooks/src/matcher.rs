//! A matcher, compiled once: everything, a list of names, or a regular
//! expression. A list never builds an expression.

use remora_protocol::{EventDef, MatcherStyle, Subject};

use crate::js_regex::JsRegex;

/// Steps one expression may take on one subject. Far above what a sane matcher
/// needs and far below what a person would notice.
const BUDGET: u64 = 1_000_000;

/// Old names that still mean a tool: (name today, name of old).
pub(crate) const ALIASES: [(&str, &str); 2] = [("Agent", "Task"), ("ListAgents", "ListPeers")];

/// A compiled matcher.
#[derive(Debug)]
pub(crate) enum Matcher {
    /// Absent, empty or `*`.
    All,
    /// The event has nothing to match.
    NoSubject,
    /// Exact names; empty when only separators were written.
    Names(Vec<String>),
    /// Unanchored.
    Regex(JsRegex),
    /// Not a valid expression, with the reason.
    Invalid(String),
}

/// What a test found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Yes,
    No,
    /// The expression used up its steps.
    Exhausted,
}

impl Matcher {
    pub(crate) fn new(text: Option<&str>, def: &EventDef) -> Self {
        let Some(text) = text.filter(|t| !t.is_empty() && *t != "*") else {
            return Self::All;
        };
        if def.subject == Subject::None {
            return Self::NoSubject;
        }
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
                .filter(|p| !p.is_empty());
            return Self::Names(names.map(str::to_owned).collect());
        }
        match JsRegex::new(text) {
            Ok(regex) => Self::Regex(regex),
            Err(error) => Self::Invalid(error.to_string()),
        }
    }

    /// Tests the subject and, for tools, its old names: one fit is enough.
    pub(crate) fn test(&self, query: Option<&str>, has_tool: bool) -> Fit {
        match self {
            Self::All | Self::NoSubject => return Fit::Yes,
            Self::Invalid(_) => return Fit::No,
            Self::Names(_) | Self::Regex(_) => {}
        }
        let Some(query) = query else { return Fit::No };
        let first = self.test_one(query);
        if first != Fit::No || !has_tool {
            return first;
        }
        ALIASES
            .iter()
            .filter(|(now, _)| *now == query)
            .map(|(_, old)| self.test_one(old))
            .next()
            .unwrap_or(Fit::No)
    }

    fn test_one(&self, subject: &str) -> Fit {
        match self {
            Self::Names(names) if names.iter().any(|n| n == subject) => Fit::Yes,
            Self::Regex(regex) => match regex.is_match(subject, BUDGET) {
                Ok(true) => Fit::Yes,
                Ok(false) => Fit::No,
                Err(_) => Fit::Exhausted,
            },
            _ => Fit::No,
        }
    }

    /// How the text was read, for people.
    pub(crate) fn reading(&self) -> String {
        match self {
            Self::All => "the matcher takes everything".into(),
            Self::NoSubject => "this event has nothing to match, so the matcher is ignored".into(),
            Self::Names(names) if names.is_empty() => {
                "the matcher holds only separators and takes nothing".into()
            }
            Self::Names(names) => format!(
                "the matcher is the exact name{} {}",
                plural(names),
                names.join(", ")
            ),
            Self::Regex(_) => "the matcher is an unanchored JavaScript regular expression".into(),
            Self::Invalid(reason) => format!(
                "the matcher is not a valid regular expression ({reason}) and never matches"
            ),
        }
    }
}

fn plural(list: &[String]) -> &'static str {
    if list.len() == 1 { "" } else { "s" }
}
