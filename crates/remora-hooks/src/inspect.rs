//! Single entries of a settings document, judged as loading judges them: what
//! tools for authors of hooks ask, so that they never have an opinion of their
//! own.

use std::path::PathBuf;

use remora_core::EventName;
use remora_js_regex::has_nested_repeat;
use serde_json::Value;

use crate::condition::{self, Condition};
use crate::config::check;
use crate::config::{HandlerConfig, HandlerKind};
use crate::layers::{self, LayerSource, SettingsPaths};
use crate::matcher::{MatchResult, Matcher};
use crate::plan;

/// Why an entry is malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryProblem {
    /// The field at fault; `None` for the entry itself.
    pub field: Option<String>,
    /// What is wrong with it.
    pub problem: String,
}

impl From<check::Problem> for EntryProblem {
    fn from((field, problem): check::Problem) -> Self {
        let field = field.trim_start_matches('.');
        Self {
            field: (!field.is_empty()).then(|| field.to_owned()),
            problem,
        }
    }
}

/// The keys of a handler that mean something.
pub const HANDLER_KEYS: &[&str] = &check::KNOWN_KEYS;

/// Reads one handler.
pub fn read_handler(entry: &Value) -> Result<HandlerConfig, EntryProblem> {
    Ok(check::read_handler(entry)?.0)
}

/// Reads the matcher of a group and checks that it has a list of handlers.
pub fn read_group(group: &Value) -> Result<Option<&str>, EntryProblem> {
    Ok(check::group_parts(group)?.0)
}

/// The settings files of a session, plugins aside, in enumeration order: also
/// those that are not there.
pub fn list_settings_files(places: &SettingsPaths) -> Vec<(LayerSource, PathBuf)> {
    layers::list_settings_files(places)
}

/// Whether one malformed entry under the event voids its whole file.
pub fn voids_the_file(event: EventName) -> bool {
    check::voids_the_file(event)
}

/// Whether handlers of that kind run on the event.
pub fn accepts_kind(event: EventName, kind: &HandlerKind) -> bool {
    event.def().handlers.contains(plan::kind_bit(kind))
}

/// Equal for handlers that do the same: the client runs one of them.
pub fn handler_identity(config: &HandlerConfig) -> String {
    plan::handler_identity(config)
}

/// Why the `if` can never hold, whatever the call.
pub fn find_dead_condition(text: &str) -> Option<String> {
    Condition::new(Some(text)).never_reason()
}

/// The tool that an `if` is about, by its current name.
pub fn condition_tool(text: &str) -> Option<&str> {
    condition::split_rule(text).map(|(tool, _)| condition::current_name(tool))
}

/// How a matcher is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatcherReading {
    /// It takes everything.
    All,
    /// The event has nothing to match.
    Ignored,
    /// Exact names; none if only separators were written.
    Names(Vec<String>),
    /// An unanchored JavaScript expression.
    Regex,
    /// Not a valid expression, with the reason.
    Invalid(String),
}

/// What a matcher says of one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherVerdict {
    /// It fits.
    Fits,
    /// It does not.
    Misses,
    /// The expression used up its steps.
    Exhausted,
}

/// A matcher as written for an event.
#[derive(Debug)]
pub struct WrittenMatcher {
    event: EventName,
    text: Option<String>,
    compiled: Matcher,
}

impl WrittenMatcher {
    /// Reads the text.
    pub fn new(text: Option<&str>, event: EventName) -> Self {
        Self {
            event,
            text: text.map(str::to_owned),
            compiled: Matcher::new(text, event.def()),
        }
    }

    /// How the text is read.
    pub fn reading(&self) -> MatcherReading {
        match &self.compiled {
            Matcher::All => MatcherReading::All,
            Matcher::NoSubject => MatcherReading::Ignored,
            Matcher::Names(names) => MatcherReading::Names(names.clone()),
            Matcher::Regex(_) => MatcherReading::Regex,
            Matcher::Invalid(reason) => MatcherReading::Invalid(reason.clone()),
        }
    }

    /// Tests a subject, and for tools its former names.
    pub fn test_subject(&self, subject: &str) -> MatcherVerdict {
        let has_tool = self.event.def().has_tool;
        match self.compiled.test_subject(Some(subject), has_tool) {
            MatchResult::Yes => MatcherVerdict::Fits,
            MatchResult::No => MatcherVerdict::Misses,
            MatchResult::Exhausted => MatcherVerdict::Exhausted,
        }
    }

    /// Whether an expression repeats what already repeats without limit.
    pub fn has_nested_repeat(&self) -> bool {
        matches!(self.compiled, Matcher::Regex(_))
            && has_nested_repeat(self.text.as_deref().unwrap_or_default()).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_names_the_field_at_fault() {
        let problem = read_handler(&json!({"type": "command", "command": "x", "timeout": 0}));
        let problem = problem.unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("timeout"));
        assert_eq!(read_handler(&json!(7)).unwrap_err().field, None);
    }

    #[test]
    fn a_slow_expression_is_given_up() {
        let matcher = WrittenMatcher::new(Some("^(a+)+$"), EventName::PreToolUse);
        assert!(matcher.has_nested_repeat());
        let subject = format!("{}!", "a".repeat(64));
        assert_eq!(matcher.test_subject(&subject), MatcherVerdict::Exhausted);
    }
}
