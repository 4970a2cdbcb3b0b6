//! Understands what a shell command printed, without a model: which tool it
//! was, what failed, where, how many and which test. Recognises a tool by the
//! marks of its own output first and by the command line second; a text that
//! no reader knows, or knows only in another language, gives nothing. Pure:
//! no clock, no files, linear in the text, every part of a [`Reading`] bounded.

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
mod shell;
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
    acts, added_to, bypasses_check, drops_option, is_git_form, only_looks, settings_of, takes_in,
};
pub use command::{describe_command, same_command_key};
pub use compact::compact;
pub(crate) use text::plain;
pub(crate) use unwrap::unwrap;

use serde_json::Value;

use draft::{Doc, Draft};
use marks::Family;
use shell::Command;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It did what it was asked.
    Passed,
    /// It did not.
    Failed,
    /// Nobody said.
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
pub struct Reading {
    /// The tool, as a person would name it: `cargo test`, `git commit`.
    pub tool: &'static str,
    /// What the output says, else what the host said.
    pub outcome: Outcome,
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

type Reader = fn(&Doc<'_>) -> Option<Draft>;

/// In the order of [`Family`]; the first that fits gives the title unless a
/// later one failed.
const READERS: &[(Family, Reader)] = &[
    (Family::CargoTest, cargo_test::read),
    (Family::Nextest, nextest::read),
    (Family::Pytest, pytest::read),
    (Family::Unittest, unittest::read),
    (Family::Jest, jest::read),
    (Family::Vitest, vitest::read),
    (Family::Mocha, mocha::read),
    (Family::NodeTest, node_test::read),
    (Family::GoTest, go::read_tests),
    (Family::Maven, maven::read),
    (Family::Gradle, gradle::read),
    (Family::Rustc, rustc::read),
    (Family::Tsc, tsc::read),
    (Family::Eslint, eslint::read),
    (Family::Ruff, ruff::read),
    (Family::Mypy, mypy::read),
    (Family::Javac, javac::read),
    (Family::GoBuild, go::read_build),
    (Family::Cc, cc::read),
    (Family::Docker, docker::read),
    (Family::Terraform, services::read_terraform),
    (Family::Kubectl, services::read_kubectl),
    (Family::Database, services::read_database),
    (Family::Npm, npm::read),
    (Family::Yarn, yarn::read),
    (Family::Pip, pip::read),
    (Family::CargoPackages, cargo_packages::read),
    (Family::System, system_packages::read),
    (Family::GoGet, go::read_get),
    (Family::GitConflict, git_conflict::read),
    (Family::GitCommit, git_commit::read),
    (Family::GitSync, git_sync::read),
    (Family::GitBranch, git_branch::read),
    (Family::GitStatus, git_status::read),
    (Family::GitList, git_list::read),
    (Family::Make, make::read),
];

/// Reads what a command printed. `outcome` is what the host says of its exit
/// code; a text that begins with `Exit code N` says it too. `None` when
/// nothing known is recognised.
pub fn read(command: &str, output: &str, outcome: Outcome) -> Option<Reading> {
    if output.is_empty() {
        return None;
    }
    let bounded = text::bounded(output);
    let plain = text::plain(&bounded);
    let (body, host) = without_exit_code(&plain, outcome);
    let command = Command::parse(command);
    let sight = sight(&command);
    if sight == Sight::Source {
        return None;
    }
    let found = marks::of(body, &command);
    if found == 0 {
        return None;
    }
    let doc = Doc {
        text: body,
        lines: body.lines().collect(),
        command: &command,
        host,
    };
    let mut drafts: Vec<Draft> = READERS
        .iter()
        .filter(|(family, _)| found & marks::bit(*family) != 0)
        .filter(|(family, _)| sight != Sight::History || is_git(*family))
        .filter_map(|(_, read)| read(&doc))
        .collect();
    // A trace inside the output of a tool that already told the failure says
    // nothing new; a passing tool may print one on purpose.
    let told = drafts.iter().any(|d| !d.problems.is_empty());
    let passed = host == Outcome::Passed && !drafts.is_empty();
    if found & marks::bit(Family::Trace) != 0 && !told && !passed && sight != Sight::History {
        drafts.extend(trace::read(&doc));
    }
    let main = drafts.iter().position(Draft::failed).unwrap_or(0);
    if main >= drafts.len() {
        return None;
    }
    let mut reading = drafts.remove(main);
    for other in &drafts {
        reading.also(other);
    }
    Some(reading.finish(&doc))
}

/// What a shell's call printed, by the tool's response.
pub fn printed_output(response: &Value) -> String {
    let part = |name: &str| response.get(name).and_then(Value::as_str).unwrap_or("");
    match (response, part("stdout"), part("stderr")) {
        (Value::String(text), ..) => text.clone(),
        (_, out, "") => out.to_owned(),
        (_, "", err) => err.to_owned(),
        (_, out, err) => format!("{out}\n{err}"),
    }
}

/// A failed call's text begins with its exit code.
fn without_exit_code(text: &str, outcome: Outcome) -> (&str, Outcome) {
    let Some((code, rest)) = text.strip_prefix("Exit code ").and_then(text::number) else {
        return (text, outcome);
    };
    if !(rest.is_empty() || rest.starts_with('\n')) {
        return (text, outcome);
    }
    let body = rest.strip_prefix('\n').unwrap_or(rest);
    let said = if code == 0 {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    (
        body,
        if outcome == Outcome::Unclear {
            said
        } else {
            outcome
        },
    )
}

/// Where the text comes from: marks in a file that is only shown are not a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Run,
    /// `git show` and the like: only what git itself says counts.
    History,
    Source,
}

fn sight(command: &Command) -> Sight {
    let mut sight = None;
    for part in command.work() {
        let this = match part.program() {
            "cat" | "head" | "tail" | "sed" | "less" | "bat" | "nl" | "more" => {
                if part.arguments().any(is_log) {
                    return Sight::Run;
                }
                Sight::Source
            }
            "gh" if part.begins(&["gh", "run"]) => return Sight::Run,
            "grep" | "egrep" | "rg" | "ag" | "find" | "fd" | "ls" | "tree" | "wc" | "jq"
            | "awk" | "diff" | "curl" | "gh" => Sight::Source,
            "echo" | "printf" | "sleep" => continue,
            "git" => match part.verbs().next() {
                Some("show" | "diff" | "log" | "blame" | "reflog") => Sight::History,
                Some("grep") => Sight::Source,
                _ => return Sight::Run,
            },
            _ => return Sight::Run,
        };
        if sight != Some(Sight::History) {
            sight = Some(this);
        }
    }
    sight.unwrap_or(Sight::Run)
}

/// Files that hold what a tool printed earlier.
fn is_log(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".log", ".out", ".err", ".output"]
        .iter()
        .any(|end| name.ends_with(end))
        || path.starts_with("/tmp/") && text::is_kind(name, &["txt"])
}

fn is_git(family: Family) -> bool {
    matches!(
        family,
        Family::GitConflict
            | Family::GitSync
            | Family::GitCommit
            | Family::GitBranch
            | Family::GitStatus
            | Family::GitList
    )
}

#[cfg(test)]
mod tests;
