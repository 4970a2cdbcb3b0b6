//! Understands what a shell command printed, without a model: which tool it
//! was, what failed, where, how many and which test. Recognises a tool by the
//! marks of its own output first and by the command line second; a text that
//! no reader knows, or knows only in another language, gives nothing. Pure:
//! no clock, no files, linear in the text, every part of a [`CommandReading`] bounded.

mod cargo_packages;
mod cargo_test;
mod cc;
mod command;
mod compact;
mod docker;
mod draft;
mod eslint;
mod git_branch;
mod git_commit;
mod git_conflict;
mod git_list;
mod git_status;
mod git_sync;
mod go;
mod gradle;
mod javac;
mod jest;
mod make;
mod marks;
mod maven;
mod mocha;
mod mypy;
mod nextest;
mod node_test;
mod npm;
mod pip;
mod pytest;
mod ruff;
mod rustc;
mod services;
mod shown_file;
mod system_packages;
mod text;
mod trace;
mod trace_frames;
mod tsc;
mod unittest;
mod unwrap;
mod vitest;
mod yarn;

pub(crate) use command::{
    added_to, bypasses_check, can_change_state, drop_privileges, drops_option, is_git_form,
    may_change_state, only_looks, settings_of, takes_in,
};
pub use command::{describe_command, same_command_key};
pub use compact::compact_output;
pub use shown_file::shown_file;
pub(crate) use text::strip_control_codes;
pub(crate) use unwrap::strip_runner_prefixes;

use remora_shell::lenient::CommandLine;

use draft::{CommandDraft, CommandOutput};
use marks::OutputFamily;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandOutcome {
    /// It did what it was asked.
    Passed,
    /// It did not.
    Failed,
    /// Neither the output nor the host says.
    Unclear,
}

/// One thing that is wrong, as precisely as the output says it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The source file, as the tool wrote it.
    pub file: Option<String>,
    /// Counted from one.
    pub line: Option<u32>,
    /// The tool's own code: `E0502`, `TS2345`, `no-unused-vars`, `F401`.
    pub code: Option<String>,
    /// The failing test, the function or the symbol.
    pub subject: Option<String>,
    /// What the tool said, in one line.
    pub message: String,
}

/// What an output says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReading {
    /// The tool, as users name it: `cargo test`, `git commit`.
    pub tool: &'static str,
    /// What the output says, else what the host said.
    pub outcome: CommandOutcome,
    /// One line of at most 120 characters.
    pub title: String,
    /// At most 12 short lines: counts, then each failure with its place.
    pub facts: Vec<String>,
    /// At most 20.
    pub problems: Vec<Problem>,
    /// The files of the problems, each once.
    pub files: Vec<String>,
    /// A few words that the reading is about.
    pub concepts: Vec<String>,
    /// The output in at most 1,500 characters.
    pub compact: String,
}

type OutputParser = fn(&CommandOutput<'_>) -> Option<CommandDraft>;

/// In the order of [`OutputFamily`]; the first that fits gives the title unless a
/// later one failed.
const OUTPUT_PARSERS: &[(OutputFamily, OutputParser)] = &[
    (OutputFamily::CargoTest, cargo_test::parse_output),
    (OutputFamily::Nextest, nextest::parse_output),
    (OutputFamily::Pytest, pytest::parse_output),
    (OutputFamily::Unittest, unittest::parse_output),
    (OutputFamily::Jest, jest::parse_output),
    (OutputFamily::Vitest, vitest::parse_output),
    (OutputFamily::Mocha, mocha::parse_output),
    (OutputFamily::NodeTest, node_test::parse_output),
    (OutputFamily::GoTest, go::read_tests),
    (OutputFamily::Maven, maven::parse_output),
    (OutputFamily::Gradle, gradle::parse_output),
    (OutputFamily::Rustc, rustc::parse_output),
    (OutputFamily::Tsc, tsc::parse_output),
    (OutputFamily::Eslint, eslint::parse_output),
    (OutputFamily::Ruff, ruff::parse_output),
    (OutputFamily::Mypy, mypy::parse_output),
    (OutputFamily::Javac, javac::parse_output),
    (OutputFamily::GoBuild, go::read_build),
    (OutputFamily::Cc, cc::parse_output),
    (OutputFamily::Docker, docker::parse_output),
    (OutputFamily::Terraform, services::read_terraform),
    (OutputFamily::Kubectl, services::read_kubectl),
    (OutputFamily::Database, services::read_database),
    (OutputFamily::Npm, npm::parse_output),
    (OutputFamily::Yarn, yarn::parse_output),
    (OutputFamily::Pip, pip::parse_output),
    (OutputFamily::CargoPackages, cargo_packages::parse_output),
    (OutputFamily::System, system_packages::parse_output),
    (OutputFamily::GoGet, go::read_get),
    (OutputFamily::GitConflict, git_conflict::parse_output),
    (OutputFamily::GitCommit, git_commit::parse_output),
    (OutputFamily::GitSync, git_sync::parse_output),
    (OutputFamily::GitBranch, git_branch::parse_output),
    (OutputFamily::GitStatus, git_status::parse_output),
    (OutputFamily::GitList, git_list::parse_output),
    (OutputFamily::Make, make::parse_output),
];

/// Reads what a command printed. `outcome` is what the host says of its exit
/// code; a text that begins with `Exit code N` says it too. `None` when
/// nothing known is recognised.
pub fn read_output(command: &str, output: &str, outcome: CommandOutcome) -> Option<CommandReading> {
    if output.is_empty() {
        return None;
    }
    // In this order: bounding first keeps the cost of the rest independent of
    // the output's size.
    let bounded = text::bound_text(output);
    let plain = text::strip_control_codes(&bounded);
    let (body, host) = without_exit_code(&plain, outcome);
    let command = CommandLine::parse(command);
    let sight = classify_origin(&command);
    // `cat tests/output.txt` shows marks of a run that did not happen now.
    if sight == OutputOrigin::Source {
        return None;
    }
    let found = marks::find_families(body, &command);
    if found == 0 {
        return None;
    }
    let doc = CommandOutput {
        text: body,
        lines: body.lines().collect(),
        command: &command,
        host,
    };
    let mut drafts: Vec<CommandDraft> = OUTPUT_PARSERS
        .iter()
        .filter(|(family, _)| found & marks::family_bit(*family) != 0)
        .filter(|(family, _)| sight != OutputOrigin::History || is_git(*family))
        .filter_map(|(_, read)| read(&doc))
        .collect();
    // A trace inside the output of a tool that already reported the failure
    // says nothing new; a passing tool may print one on purpose.
    let has_problems = drafts.iter().any(|d| !d.problems.is_empty());
    let passed = host == CommandOutcome::Passed && !drafts.is_empty();
    if found & marks::family_bit(OutputFamily::Trace) != 0
        && !has_problems
        && !passed
        && sight != OutputOrigin::History
    {
        drafts.extend(trace::parse_output(&doc));
    }
    let main = drafts
        .iter()
        // The failure names the whole command line, whichever tool of it
        // printed first.
        .position(CommandDraft::has_failed)
        .unwrap_or(0);
    if main >= drafts.len() {
        return None;
    }
    let mut reading = drafts.remove(main);
    for other in &drafts {
        reading.merge_draft(other);
    }
    Some(reading.into_reading(&doc))
}

/// A failed call's text begins with its exit code.
fn without_exit_code(text: &str, outcome: CommandOutcome) -> (&str, CommandOutcome) {
    let Some((code, rest)) = text.strip_prefix("Exit code ").and_then(text::parse_number) else {
        return (text, outcome);
    };
    if !(rest.is_empty() || rest.starts_with('\n')) {
        return (text, outcome);
    }
    let body = rest.strip_prefix('\n').unwrap_or(rest);
    let said = if code == 0 {
        CommandOutcome::Passed
    } else {
        CommandOutcome::Failed
    };
    (
        body,
        // The host's own word counts more than a line that a program may print
        // as well.
        if outcome == CommandOutcome::Unclear {
            said
        } else {
            outcome
        },
    )
}

/// Where the text comes from: marks in a file that is only shown are not a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputOrigin {
    Run,
    /// `git show` and the like: only what git itself says counts.
    History,
    Source,
}

fn classify_origin(command: &CommandLine) -> OutputOrigin {
    let mut sight = None;
    for part in command.working_parts() {
        let this = match part.program() {
            "cat" | "head" | "tail" | "sed" | "less" | "bat" | "nl" | "more" => {
                // A log is what a tool printed, only later.
                if part.arguments().any(is_log) {
                    return OutputOrigin::Run;
                }
                OutputOrigin::Source
            }
            "gh" if part.starts_with_words(&["gh", "run"]) => return OutputOrigin::Run,
            "grep" | "egrep" | "rg" | "ag" | "find" | "fd" | "ls" | "tree" | "wc" | "jq"
            | "awk" | "diff" | "curl" | "gh" => OutputOrigin::Source,
            "echo" | "printf" | "sleep" => continue,
            "git" => match part.verb_words().next() {
                Some("show" | "diff" | "log" | "blame" | "reflog") => OutputOrigin::History,
                Some("grep") => OutputOrigin::Source,
                _ => return OutputOrigin::Run,
            },
            _ => return OutputOrigin::Run,
        };
        if sight != Some(OutputOrigin::History) {
            sight = Some(this);
        }
    }
    sight.unwrap_or(OutputOrigin::Run)
}

/// Files that hold what a tool printed earlier.
fn is_log(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".log", ".out", ".err", ".output"]
        .iter()
        .any(|end| name.ends_with(end))
        || path.starts_with("/tmp/") && text::is_kind(name, &["txt"])
}

fn is_git(family: OutputFamily) -> bool {
    matches!(
        family,
        OutputFamily::GitConflict
            | OutputFamily::GitSync
            | OutputFamily::GitCommit
            | OutputFamily::GitBranch
            | OutputFamily::GitStatus
            | OutputFamily::GitList
    )
}

#[cfg(test)]
mod tests;
