//! A small JavaScript regular-expression engine with a bounded number of steps.
//!
//! It answers what `new RegExp(pattern).test(subject)` answers (no flags, the web grammar of
//! Annex B, UTF-16 code units), but a pattern that backtracks without end stops with
//! [`BudgetUsedUp`] instead of hanging. ES2025 additions are included: modifier groups
//! `(?i:…)` and equal group names in different alternatives.

mod class;
mod compile;
mod escape;
mod exec;
mod node;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use compile::Program;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct JsRegex {
    program: Program,
}

impl JsRegex {
    /// Compiles `pattern` as `new RegExp(pattern)` does.
    ///
    /// The compiled form is proportional to the length of the pattern, however large its
    /// repeat counts are.
    ///
    /// # Errors
    ///
    /// [`SyntaxError`] where JavaScript throws one, and for groups nested more than 250 deep.
    pub(crate) fn new(pattern: &str) -> Result<Self, SyntaxError> {
        let parsed = parse::parse_pattern(pattern)?;
        Ok(Self {
            program: compile::compile_pattern(&parsed),
        })
    }

    /// Whether the pattern matches anywhere in `subject`, as `RegExp.prototype.test`.
    ///
    /// `budget` counts matcher steps over all start positions together.
    ///
    /// # Errors
    ///
    /// [`BudgetUsedUp`] if no answer was found within `budget` steps, or if more than about a
    /// million alternatives were open at once.
    pub(crate) fn is_match(&self, subject: &str, budget: u64) -> Result<bool, BudgetUsedUp> {
        let units: Vec<u16> = subject.encode_utf16().collect();
        exec::is_match(&self.program, &units, budget)
    }
}

/// Why a text is not a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    message: &'static str,
    position: usize,
}

impl SyntaxError {
    fn new(message: &'static str, position: usize) -> Self {
        Self { message, position }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.message, self.position)
    }
}

impl std::error::Error for SyntaxError {}

/// The match was given up: the step budget ran out before there was an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetUsedUp;

impl fmt::Display for BudgetUsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the step budget for matching is used up")
    }
}

impl std::error::Error for BudgetUsedUp {}
