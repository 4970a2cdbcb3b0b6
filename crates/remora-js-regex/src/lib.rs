//! JavaScript regular expressions, matched within a budget of steps.
//!
//! [`JsRegex`] answers what `new RegExp(pattern).test(subject)` answers in
//! ECMAScript 2025 (ECMA-262, 16th edition) without flags: the web grammar of
//! Annex B, UTF-16 code units, captures, back references, look-ahead and
//! look-behind, modifier groups `(?i:…)`, and equal group names in different
//! alternatives. A pattern that JavaScript refuses is a [`SyntaxError`]. Only
//! whether there is a match is computed, not where.
//!
//! The matcher backtracks, as the language demands, so a pattern of twenty
//! characters could keep it busy for years. Callers therefore pass the number
//! of steps that one match may take: about one for each instruction of the
//! compiled pattern that is tried, over all start positions together. What
//! needs more ends with [`BudgetUsedUp`], which is neither a match nor a
//! mismatch; the caller decides what it means.
//! Memory is bounded as well, whatever the budget.
//!
//! Known differences: groups may be nested 250 deep, and group names are made
//! of alphanumeric characters where the standard says `ID_Start` and
//! `ID_Continue`. `cases/node.json` holds answers of Node.js.
//!
//! It is a crate of its own because it knows nothing of hooks: no published
//! crate has both these semantics and a budget. It has no dependencies.
#![forbid(unsafe_code)]

mod class;
mod compile;
mod escape;
mod exec;
mod nesting;
mod node;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;

use compile::Program;
pub use nesting::has_nested_repeat;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct JsRegex {
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
    pub fn new(pattern: &str) -> Result<Self, SyntaxError> {
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
    pub fn is_match(&self, subject: &str, budget: u64) -> Result<bool, BudgetUsedUp> {
        let units: Vec<u16> = subject.encode_utf16().collect();
        exec::is_match(&self.program, &units, budget)
    }
}

/// Why a text is not a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
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
pub struct BudgetUsedUp;

impl fmt::Display for BudgetUsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the step budget for matching is used up")
    }
}

impl std::error::Error for BudgetUsedUp {}
