//! The invariants of ARCHITECTURE.md as code.
//!
//! Each check is a function over the `Tree` and one row in `CHECKS`; every row
//! has a case in `tidy/tests.rs` that shows it can fail. Rules that the
//! compiler or clippy can hold do not belong here.

mod clients;
mod dependencies;
mod documents;
mod shape;
mod source;
#[cfg(test)]
mod tests;
mod tree;
mod words;

use std::fmt;
use std::io::Write as _;

use anyhow::bail;

use self::tree::{SourceFile, SourceTree};

/// What is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    path: String,
    line: usize,
    advice: String,
}

impl Complaint {
    /// About a place in a file, by byte offset.
    fn at_offset(file: &SourceFile, offset: usize, advice: impl Into<String>) -> Self {
        Self {
            path: file.path.clone(),
            line: source::line_of(&file.text, offset),
            advice: advice.into(),
        }
    }

    /// About a file as a whole, or one that is missing.
    fn for_path(path: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: 1,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.advice)
    }
}

/// A rule, and why we have it.
struct TidyCheck {
    name: &'static str,
    reason: &'static str,
    run: fn(&SourceTree) -> Vec<Complaint>,
}

const CHECKS: &[TidyCheck] = &[
    TidyCheck {
        name: "heavy dependencies stay behind their crate",
        reason: "a short-lived process must not pay for a runtime, a parser or a database",
        run: dependencies::check_firewalls,
    },
    TidyCheck {
        name: "crates depend downwards only",
        reason: "the three products meet in the vocabulary and in the binary, nowhere else",
        run: dependencies::check_directions,
    },
    TidyCheck {
        name: "dependencies come from one registry",
        reason: "anyone can build the lock file as it is",
        run: dependencies::check_sources,
    },
    TidyCheck {
        name: "siblings do not mention each other",
        reason: "each of the three products can be embedded and understood alone",
        run: words::check_siblings,
    },
    TidyCheck {
        name: "the vocabulary does nothing",
        reason: "values are the same in every process, whatever the clock or the disk says",
        run: words::check_vocabulary,
    },
    TidyCheck {
        name: "the environment is read in one crate",
        reason: "what a library does follows from its arguments",
        run: words::check_environment,
    },
    TidyCheck {
        name: "product ids live in remora-agents",
        reason: "an agent is added in one place",
        run: clients::check_products,
    },
    TidyCheck {
        name: "clients' tools are named by their adapters",
        reason: "behind the adapters a call is a ToolCall, whoever made it",
        run: clients::check_tools,
    },
    TidyCheck {
        name: "clients' fields are named by their adapters",
        reason: "behind the adapters nobody sees a payload",
        run: clients::check_fields,
    },
    TidyCheck {
        name: "clients' variables are named by their adapters",
        reason: "what a session's environment says is asked of its agent",
        run: clients::check_variables,
    },
    TidyCheck {
        name: "clients' files are named by their adapters",
        reason: "where a client keeps things is asked of its agent",
        run: clients::check_files,
    },
    TidyCheck {
        name: "exceptions for clients' words are needed",
        reason: "a row that nothing needs hides the next word that slips in",
        run: clients::check_exceptions,
    },
    TidyCheck {
        name: "model providers live in one crate",
        reason: "a provider is added in one place",
        run: words::check_providers,
    },
    TidyCheck {
        name: "use cases know no options of the command line",
        reason: "every face puts errors and notes in its own words",
        run: words::check_options,
    },
    TidyCheck {
        name: "SQL lives in remora-store",
        reason: "a backend is changed in one place",
        run: words::check_sql,
    },
    TidyCheck {
        name: "connections are opened in connect.rs",
        reason: "pragmas and timeouts are set once for every connection",
        run: words::check_connections,
    },
    TidyCheck {
        name: "memory's own types stay off the wire",
        reason: "what crosses a process is a type of the vocabulary",
        run: words::memory_types,
    },
    TidyCheck {
        name: "events are listed in one file",
        reason: "a new event touches the table, a payload and a fixture",
        run: words::check_events,
    },
    TidyCheck {
        name: "nothing is left unfinished or silenced",
        reason: "a skipped test or a silenced lint is a fault nobody sees",
        run: words::check_unfinished,
    },
    TidyCheck {
        name: "exceptions give their reason",
        reason: "an exception without a reason is never removed",
        run: words::check_exceptions,
    },
    TidyCheck {
        name: "nobody sleeps",
        reason: "a sleep is either too short or too long; wait on a condition with a deadline",
        run: words::check_sleeps,
    },
    TidyCheck {
        name: "files stay small",
        reason: "the file that attracts everything is stopped on its first day",
        run: shape::check_size,
    },
    TidyCheck {
        name: "files say what they own",
        reason: "a reader learns a file's duty, and its limits, from its first lines",
        run: shape::check_headers,
    },
    TidyCheck {
        name: "files are named after what they own",
        reason: "a name that could hold anything soon does",
        run: shape::check_names,
    },
    TidyCheck {
        name: "fixtures stay small",
        reason: "everyone who clones the repository carries them",
        run: shape::check_fixtures,
    },
    TidyCheck {
        name: "migrations carry the same numbers everywhere",
        reason: "two backends with the same number have the same schema",
        run: shape::check_migrations,
    },
    TidyCheck {
        name: "the map shows every crate",
        reason: "ARCHITECTURE.md is where people start",
        run: documents::check_map,
    },
    TidyCheck {
        name: "documents name what exists",
        reason: "a document that drifts is worse than none",
        run: documents::check_names,
    },
    TidyCheck {
        name: "the glossary names what exists",
        reason: "who looks a word up finds the code that carries it",
        run: documents::check_glossary,
    },
    TidyCheck {
        name: "code speaks the words of the glossary",
        reason: "who searches with the field's words finds the room",
        run: documents::check_retired_names,
    },
    TidyCheck {
        name: "the README's commands are the ones we run",
        reason: "a newcomer's first two commands must be the best tested ones",
        run: documents::check_commands,
    },
    TidyCheck {
        name: "one page for everyone who works here",
        reason: "two copies of the rules become two sets of rules",
        run: documents::one_page,
    },
    TidyCheck {
        name: "no paths of one machine",
        reason: "the repository means the same wherever it lies",
        run: documents::machine_paths,
    },
];

/// Prints every complaint and fails if there is one.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some(extra) = args.first() {
        bail!("tidy takes no arguments, got `{extra}`");
    }
    let report = render_report(&SourceTree::read_from(&tree::workspace_root())?);
    if !report.is_empty() {
        bail!("the tree is not tidy\n\n{report}");
    }
    writeln!(std::io::stdout(), "tidy: {} checks passed", CHECKS.len())?;
    Ok(())
}

/// All complaints as text, grouped by check; empty if there are none.
fn render_report(tree: &SourceTree) -> String {
    let mut groups = Vec::new();
    for check in CHECKS {
        let complaints = (check.run)(tree);
        if !complaints.is_empty() {
            let lines: Vec<_> = complaints.iter().map(|c| format!("  {c}\n")).collect();
            groups.push(format!(
                "{} ({})\n{}",
                check.name,
                check.reason,
                lines.concat()
            ));
        }
    }
    groups.join("\n")
}
