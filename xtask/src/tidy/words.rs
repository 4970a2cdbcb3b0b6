//! What may be said where in Rust files.

use std::collections::BTreeSet;

use super::Complaint;
use super::source::RustSource;
use super::tree::{SourceFile, SourceTree};

/// The three products that do not know each other.
const SIBLING_CRATES: &[&str] = &["remora-hooks", "remora-instructions", "remora-memory"];

const PROVIDER_NAMES: &[&str] = &["anthropic", "openai", "ollama"];
const PROVIDER_HOSTS: &[&str] = &["api.anthropic.com", "api.openai.com"];

/// Beginnings of statements, as one writes them in a literal.
const SQL_PREFIXES: &[&str] = &[
    "SELECT ",
    "INSERT INTO ",
    "INSERT OR ",
    "DELETE FROM ",
    "CREATE TABLE ",
    "CREATE INDEX ",
    "CREATE UNIQUE INDEX ",
    "CREATE VIRTUAL TABLE ",
    "CREATE TRIGGER ",
    "ALTER TABLE ",
    "DROP TABLE ",
    "PRAGMA ",
];

/// What reads or changes the state of the process.
const ENVIRONMENT_CALLS: &[&str] = &[
    "env::var",
    "env::var_os",
    "env::vars",
    "env::vars_os",
    "env::set_var",
    "env::remove_var",
    "env::args",
    "env::args_os",
    "env::current_dir",
    "env::set_current_dir",
    "env::home_dir",
    "env::temp_dir",
];

/// What makes a value depend on more than its arguments.
const EFFECT_CALLS: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "SystemTime::now",
    "Instant::now",
    "RandomState",
];

/// More distinct event names than this in one file is a second table.
const MAX_EVENT_NAMES: usize = 20;

pub(super) fn check_siblings(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in &tree.files {
        let Some(own) = file
            .crate_name()
            .filter(|name| SIBLING_CRATES.contains(name))
        else {
            continue;
        };
        for other in SIBLING_CRATES.iter().filter(|name| **name != own) {
            for spelling in [(*other).to_owned(), other.replace('-', "_")] {
                for (at, _) in file.text.match_indices(&spelling) {
                    complaints.push(Complaint::at_offset(
                        file,
                        at,
                        format!("do not mention {other} here; let the two meet in remora-cli"),
                    ));
                }
            }
        }
    }
    complaints
}

pub(super) fn check_vocabulary(tree: &SourceTree) -> Vec<Complaint> {
    in_code(
        tree,
        EFFECT_CALLS,
        |file| file.crate_name() == Some("remora-core"),
        |word| format!("`{word}` does not belong in the vocabulary; take the value as an argument"),
    )
}

pub(super) fn check_environment(tree: &SourceTree) -> Vec<Complaint> {
    // An example is a program of its own, as the binary is.
    let here = |file: &SourceFile| {
        !matches!(file.crate_name(), None | Some("remora-cli")) && !file.path.contains("/examples/")
    };
    in_code(tree, ENVIRONMENT_CALLS, here, |word| {
        format!("`{word}` belongs in remora-cli; take the value as an argument")
    })
}

pub(super) fn check_providers(tree: &SourceTree) -> Vec<Complaint> {
    in_strings(
        tree,
        |file| file.crate_name().is_some() && !file.path.starts_with("crates/remora-model/"),
        |text| {
            PROVIDER_NAMES.contains(&text) || PROVIDER_HOSTS.iter().any(|host| text.contains(host))
        },
        "a model provider belongs in remora-model; use the Model port, or its names",
    )
}

pub(super) fn check_options(tree: &SourceTree) -> Vec<Complaint> {
    in_strings(
        tree,
        |file| file.crate_name() == Some("remora-app"),
        |text| {
            let mut words = text.split(|c: char| c.is_whitespace() || c == '`' || c == '(');
            words.any(|word| {
                let name = word.strip_prefix("--");
                name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
            })
        },
        "say it with an `ErrorKind` or a `Hint`; remora-cli names the option",
    )
}

pub(super) fn check_sql(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = in_strings(
        tree,
        |file| file.crate_name().is_some_and(|name| name != "remora-store"),
        |text| {
            let text = text.trim_start();
            SQL_PREFIXES.iter().any(|start| text.starts_with(start))
                || (text.starts_with("UPDATE ") && text.contains(" SET "))
        },
        "SQL belongs in remora-store; add a method to the port",
    );
    for file in &tree.files {
        if file.has_extension("sql") && file.crate_name() != Some("remora-store") {
            complaints.push(Complaint::for_path(
                &file.path,
                "move this file to remora-store",
            ));
        }
    }
    complaints
}

pub(super) fn check_connections(tree: &SourceTree) -> Vec<Complaint> {
    let words = &["Connection::open", "Connection::open_with_flags"];
    let here = |file: &SourceFile| file.crate_name().is_some() && file.name() != "connect.rs";
    in_code(tree, words, here, |_| {
        "open the connection in connect.rs and take it as an argument".to_owned()
    })
}

pub(super) fn memory_types(tree: &SourceTree) -> Vec<Complaint> {
    let here = |file: &SourceFile| file.crate_name() == Some("remora-memory");
    in_code(tree, &["Serialize", "Deserialize"], here, |word| {
        format!("do not derive `{word}` here; types that cross a process live in remora-core")
    })
}

pub(super) fn check_events(tree: &SourceTree) -> Vec<Complaint> {
    const EVENT_NAME_PREFIX: &str = "EventName::";
    let mut complaints = Vec::new();
    for (file, source) in tree.rust_files() {
        // What is registered with an agent is opted into, event by event.
        let registers =
            file.crate_name() == Some("remora-agents") && file.name() == "registration.rs";
        if registers || matches!(file.crate_name(), None | Some("remora-core")) {
            continue;
        }
        let found = source.find(EVENT_NAME_PREFIX);
        let named: BTreeSet<&str> = found
            .iter()
            .map(|at| {
                let rest = &source.code[at + EVENT_NAME_PREFIX.len()..];
                let end = rest.find(|c: char| !c.is_alphanumeric());
                &rest[..end.unwrap_or(rest.len())]
            })
            .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
            .collect();
        if named.len() > MAX_EVENT_NAMES {
            complaints.push(Complaint::at_offset(
                file,
                found[0],
                format!(
                    "{} events are listed here; put what differs into the table in remora-core and ask `def()`",
                    named.len()
                ),
            ));
        }
    }
    complaints
}

/// Tests count here, too.
pub(super) fn check_unfinished(tree: &SourceTree) -> Vec<Complaint> {
    const UNFINISHED_WORDS: &[(&str, &str)] = &[
        ("todo!", "finish it, or leave it out"),
        ("unimplemented!", "finish it, or leave it out"),
        ("#[ignore", "make the test run everywhere, or remove it"),
        ("#[allow(", "use #[expect(.., reason = \"..\")]"),
        ("#![allow(", "use #![expect(.., reason = \"..\")]"),
    ];
    let mut complaints = Vec::new();
    for (file, source) in tree.rust_files() {
        for (word, advice) in UNFINISHED_WORDS {
            for at in source.find(word) {
                complaints.push(Complaint::at_offset(
                    file,
                    at,
                    format!("`{word}`: {advice}"),
                ));
            }
        }
    }
    complaints
}

pub(super) fn check_exceptions(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in tree.rust_files() {
        for word in ["#[expect(", "#![expect("] {
            for at in source.find(word) {
                let end = source.code[at..]
                    .find(")]")
                    .map_or(source.code.len(), |n| at + n);
                if !source.code[at..end].contains("reason") {
                    complaints.push(Complaint::at_offset(file, at, "add `reason = \"..\"`"));
                }
            }
        }
    }
    complaints
}

pub(super) fn check_sleeps(tree: &SourceTree) -> Vec<Complaint> {
    in_code(
        tree,
        &["thread::sleep"],
        |_| true,
        |_| "wait on a condition with a deadline instead of sleeping".to_owned(),
    )
}

/// Words in code that is not a test's, in the files chosen by `here`.
fn in_code(
    tree: &SourceTree,
    words: &[&str],
    here: impl Fn(&SourceFile) -> bool,
    advice: impl Fn(&str) -> String,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in shipped_files(tree).filter(|(file, _)| here(file)) {
        for word in words {
            for at in source.find(word) {
                if !source.in_tests(at) {
                    complaints.push(Complaint::at_offset(file, at, advice(word)));
                }
            }
        }
    }
    complaints
}

/// String literals outside tests, in the files chosen by `here`.
fn in_strings(
    tree: &SourceTree,
    here: impl Fn(&SourceFile) -> bool,
    wrong: impl Fn(&str) -> bool,
    advice: &str,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in shipped_files(tree).filter(|(file, _)| here(file)) {
        for (at, text) in &source.strings {
            if wrong(text) && !source.in_tests(*at) {
                complaints.push(Complaint::at_offset(file, *at, advice));
            }
        }
    }
    complaints
}

pub(super) fn shipped_files(tree: &SourceTree) -> impl Iterator<Item = (&SourceFile, &RustSource)> {
    tree.rust_files().filter(|(file, _)| !file.only_tests())
}
