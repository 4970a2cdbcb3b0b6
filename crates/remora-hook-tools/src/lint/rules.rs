//! The rules by their codes: one table for severities, SARIF and documentation.

use super::Severity;

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LintRule {
    /// Stable.
    pub code: &'static str,
    /// How bad its findings are.
    pub severity: Severity,
    /// What it finds.
    pub doc: &'static str,
}

macro_rules! rules {
    ($($severity:ident $code:literal $doc:literal)*) => {
        /// Every rule of the linter.
        pub const LINT_RULES: &[LintRule] = &[$(LintRule {
            code: $code,
            severity: Severity::$severity,
            doc: $doc,
        },)*];
    };
}

rules! {
    Error "invalid-json" "The file is not strict JSON; the client ignores all of it."
    Error "unreadable-file" "The file cannot be read."
    Error "unknown-event" "No event has that name; its hooks never run."
    Error "malformed-entry" "An entry that the client drops, alone or with its whole file."
    Warning "repeated-key" "A key that an object holds twice; the last one counts."
    Warning "unknown-key" "A key that means nothing here."
    Warning "group-condition" "An `if` beside `hooks`; only a handler's own counts."
    Error "invalid-regex" "A matcher that is no valid JavaScript expression; it never matches."
    Error "slow-regex" "A matcher that takes exponential time on some names."
    Warning "nested-repeat" "A matcher that repeats a repetition, which may take exponential time."
    Error "empty-matcher" "A matcher of separators alone; it never matches."
    Error "call-in-matcher" "A matcher that looks into the call, as in `Bash(git *)`; it never matches."
    Error "server-without-tool" "A matcher that names an MCP server and no tool; it never matches."
    Error "matcher-case" "A matcher that differs from a tool's name by its capitals; it never matches."
    Note "ignored-matcher" "A matcher on an event that has nothing to match."
    Error "condition-without-tool" "An `if` on an event without a tool call; the handler never runs."
    Error "dead-condition" "An `if` that can never hold."
    Error "condition-misses-matcher" "An `if` about a tool that the matcher does not take."
    Error "refused-kind" "A kind of handler that the event does not run."
    Warning "timeout-in-milliseconds" "A timeout that looks like milliseconds; it counts seconds."
    Error "script-missing" "A script that does not exist."
    Error "script-not-executable" "A script that is run by itself and is not executable."
    Warning "program-missing" "A program that is not found in PATH."
    Warning "relative-script" "A script named by a relative path; hooks run in the session's current directory."
    Warning "unquoted-variable" "A folder's variable outside double quotes; a blank in the folder's name breaks the command."
    Error "unexpanded-variable" "A variable that nothing fills in where it stands."
    Error "plugin-variable" "A plugin's variable in a handler that is not a plugin's; the handler never runs."
    Error "secret-in-command" "A secret in settings."
    Warning "stop-without-guard" "A stop hook that can block and never looks at `stop_hook_active`."
    Warning "text-before-json" "A hook that prints text before its JSON; the JSON is then plain text."
    Warning "duplicate-handler" "A handler that another layer defines as well."
}

pub(super) fn severity_of(code: &str) -> Severity {
    let rule = LINT_RULES.iter().find(|rule| rule.code == code);
    rule.map_or(Severity::Error, |rule| rule.severity)
}
