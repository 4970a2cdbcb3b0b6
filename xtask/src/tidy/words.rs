//! What may be said where in Rust files.

use std::collections::BTreeSet;

use super::Complaint;
use super::source::Source;
use super::tree::{File, Tree};

/// The three products that do not know each other.
const SIBLINGS: &[&str] = &["remora-hooks", "remora-instructions", "remora-memory"];

/// Ids that mean nothing but a product.
const PRODUCTS: &[&str] = &["claude-code", "gemini-cli"];
/// Ids that are also plain words: only a literal of exactly this text counts.
const PRODUCT_WORDS: &[&str] = &["codex", "cursor", "opencode"];

const PROVIDERS: &[&str] = &["anthropic", "openai", "ollama"];
const PROVIDER_HOSTS: &[&str] = &["api.anthropic.com", "api.openai.com"];

/// Beginnings of statements, as one writes them in a literal.
const SQL: &[&str] = &[
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
const ENVIRONMENT: &[&str] = &[
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
const EFFECTS: &[&str] = &[
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
const MOST_EVENTS: usize = 20;

pub(super) fn siblings(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in &tree.files {
        let Some(own) = file.krate().filter(|name| SIBLINGS.contains(name)) else {
            continue;
        };
        for other in SIBLINGS.iter().filter(|name| **name != own) {
            for spelling in [(*other).to_owned(), other.replace('-', "_")] {
                for (at, _) in file.text.match_indices(&spelling) {
                    complaints.push(Complaint::at(
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

pub(super) fn vocabulary(tree: &Tree) -> Vec<Complaint> {
    in_code(
        tree,
        EFFECTS,
        |file| file.krate() == Some("remora-protocol"),
        |word| format!("`{word}` does not belong in the vocabulary; take the value as an argument"),
    )
}

pub(super) fn environment(tree: &Tree) -> Vec<Complaint> {
    let here = |file: &File| !matches!(file.krate(), None | Some("remora-cli"));
    in_code(tree, ENVIRONMENT, here, |word| {
        format!("`{word}` belongs in remora-cli; take the value as an argument")
    })
}

pub(super) fn products(tree: &Tree) -> Vec<Complaint> {
    in_strings(
        tree,
        |file| file.krate().is_some_and(|name| name != "remora-agents"),
        |text| PRODUCT_WORDS.contains(&text) || PRODUCTS.iter().any(|id| names_product(text, id)),
        "an agent's id belongs in remora-agents; look it up in AGENTS",
    )
}

/// Whether `id` stands alone in the text; part of a path it is a place that a
/// format fixes.
fn names_product(text: &str, id: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '-' | '_' | '.' | '@');
    text.match_indices(id).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(part)
            && !text[at + id.len()..].chars().next().is_some_and(part)
    })
}

pub(super) fn providers(tree: &Tree) -> Vec<Complaint> {
    in_strings(
        tree,
        |file| file.krate().is_some() && !file.path.starts_with("crates/remora-server/src/model/"),
        |text| PROVIDERS.contains(&text) || PROVIDER_HOSTS.iter().any(|host| text.contains(host)),
        "a model provider belongs in remora-server's model folder; use the Model port",
    )
}

pub(super) fn sql(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = in_strings(
        tree,
        |file| file.krate().is_some_and(|name| name != "remora-store"),
        |text| {
            let text = text.trim_start();
            SQL.iter().any(|start| text.starts_with(start))
                || (text.starts_with("UPDATE ") && text.contains(" SET "))
        },
        "SQL belongs in remora-store; add a method to the port",
    );
    for file in &tree.files {
        if file.ends("sql") && file.krate() != Some("remora-store") {
            complaints.push(Complaint::of(&file.path, "move this file to remora-store"));
        }
    }
    complaints
}

pub(super) fn connections(tree: &Tree) -> Vec<Complaint> {
    let words = &["Connection::open", "Connection::open_with_flags"];
    let here = |file: &File| file.krate().is_some() && file.name() != "connect.rs";
    in_code(tree, words, here, |_| {
        "open the connection in connect.rs and take it as an argument".to_owned()
    })
}

pub(super) fn memory_types(tree: &Tree) -> Vec<Complaint> {
    let here = |file: &File| file.krate() == Some("remora-memory");
    in_code(tree, &["Serialize", "Deserialize"], here, |word| {
        format!("do not derive `{word}` here; types that cross a process live in remora-protocol")
    })
}

pub(super) fn events(tree: &Tree) -> Vec<Complaint> {
    const WORD: &str = "EventName::";
    let mut complaints = Vec::new();
    for (file, source) in tree.rust() {
        if matches!(file.krate(), None | Some("remora-protocol")) {
            continue;
        }
        let found = source.find(WORD);
        let named: BTreeSet<&str> = found
            .iter()
            .map(|at| {
                let rest = &source.code[at + WORD.len()..];
                let end = rest.find(|c: char| !c.is_alphanumeric());
                &rest[..end.unwrap_or(rest.len())]
            })
            .filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
            .collect();
        if named.len() > MOST_EVENTS {
            complaints.push(Complaint::at(
                file,
                found[0],
                format!(
                    "{} events are listed here; put what differs into the table in remora-protocol and ask `def()`",
                    named.len()
                ),
            ));
        }
    }
    complaints
}

/// Tests count here, too.
pub(super) fn unfinished(tree: &Tree) -> Vec<Complaint> {
    const WORDS: &[(&str, &str)] = &[
        ("todo!", "finish it, or leave it out"),
        ("unimplemented!", "finish it, or leave it out"),
        ("#[ignore", "make the test run everywhere, or remove it"),
        ("#[allow(", "use #[expect(.., reason = \"..\")]"),
        ("#![allow(", "use #![expect(.., reason = \"..\")]"),
    ];
    let mut complaints = Vec::new();
    for (file, source) in tree.rust() {
        for (word, advice) in WORDS {
            for at in source.find(word) {
                complaints.push(Complaint::at(file, at, format!("`{word}`: {advice}")));
            }
        }
    }
    complaints
}

pub(super) fn exceptions(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in tree.rust() {
        for word in ["#[expect(", "#![expect("] {
            for at in source.find(word) {
                let end = source.code[at..]
                    .find(")]")
                    .map_or(source.code.len(), |n| at + n);
                if !source.code[at..end].contains("reason") {
                    complaints.push(Complaint::at(file, at, "add `reason = \"..\"`"));
                }
            }
        }
    }
    complaints
}

pub(super) fn sleeps(tree: &Tree) -> Vec<Complaint> {
    in_code(
        tree,
        &["thread::sleep"],
        |_| true,
        |_| "wait on a condition with a deadline instead of sleeping".to_owned(),
    )
}

/// Words in code that is not a test's, in the files chosen by `here`.
fn in_code(
    tree: &Tree,
    words: &[&str],
    here: impl Fn(&File) -> bool,
    advice: impl Fn(&str) -> String,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in shipped(tree).filter(|(file, _)| here(file)) {
        for word in words {
            for at in source.find(word) {
                if !source.in_tests(at) {
                    complaints.push(Complaint::at(file, at, advice(word)));
                }
            }
        }
    }
    complaints
}

/// String literals outside tests, in the files chosen by `here`.
fn in_strings(
    tree: &Tree,
    here: impl Fn(&File) -> bool,
    wrong: impl Fn(&str) -> bool,
    advice: &str,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (file, source) in shipped(tree).filter(|(file, _)| here(file)) {
        for (at, text) in &source.strings {
            if wrong(text) && !source.in_tests(*at) {
                complaints.push(Complaint::at(file, *at, advice));
            }
        }
    }
    complaints
}

fn shipped(tree: &Tree) -> impl Iterator<Item = (&File, &Source)> {
    tree.rust().filter(|(file, _)| !file.only_tests())
}
