//! A few words for what an edit is about, from the changed lines.

use super::EditKind;
use super::patch::{LineRole, Patch};

const MAX_CONCEPTS: usize = 4;

/// A concept, and what in code speaks of it.
const CONCEPT_NEEDLES: &[(&str, &[&str])] = &[
    (
        "error handling",
        &[
            "Result<",
            "Err(",
            "catch",
            "except ",
            "rescue ",
            "raise ",
            "throw ",
            "unwrap",
            "map_err",
            "err != nil",
            "panic",
            "anyhow",
            "thiserror",
            "is None",
            "== null",
            "== nil",
            "NULL)",
            "let Some(",
            "Error(",
        ],
    ),
    (
        "async",
        &[
            "async ",
            "await",
            "tokio",
            "Promise",
            "asyncio",
            "goroutine",
            "go func",
            "spawn(",
            "suspend ",
        ],
    ),
    (
        "logging",
        &[
            "log::",
            "log.Print",
            "log.info",
            "log.error",
            "logger",
            "logging",
            "tracing::",
            "console.log",
            "println!",
            "info!(",
            "warn!(",
            "debug!(",
            "error!(",
            "slog",
        ],
    ),
    (
        "sql",
        &[
            " FROM ",
            " WHERE ",
            " JOIN ",
            " INTO ",
            " TABLE ",
            " table if ",
            "rusqlite",
            "sqlx",
        ],
    ),
    (
        "security",
        &[
            "password",
            "token",
            "secret",
            "sanitize",
            "escape_html",
            "csrf",
            "authoriz",
            "authentic",
            "oauth",
            "OAuth",
            "permission",
            "encrypt",
            "hmac",
            "sha256",
        ],
    ),
    (
        "performance",
        &[
            "cache",
            "with_capacity",
            "memo",
            "lru",
            "batch",
            "parallel",
            "rayon",
            "pool",
            "lazy",
            "buffer",
        ],
    ),
    (
        "types",
        &[
            "interface ",
            "type ",
            "struct ",
            "enum ",
            "trait ",
            "Optional[",
            "TypedDict",
            "dataclass",
        ],
    ),
];

/// Whether dependencies changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DependencyChange {
    Yes,
    No,
}

pub(super) fn find_concepts(
    patch: &Patch<'_>,
    packages: DependencyChange,
    kind: EditKind,
) -> Vec<String> {
    let mut found: Vec<&str> = Vec::new();
    match kind {
        EditKind::Test => found.push("test"),
        EditKind::Docs => found.push("docs"),
        EditKind::Config if packages == DependencyChange::No => found.push("configuration"),
        EditKind::Config => found.push("dependency"),
        _ => {}
    }
    // In prose and settings these words are mentioned, not used.
    if !matches!(kind, EditKind::Docs | EditKind::Config) {
        let lines = || {
            patch
                .lines
                .iter()
                // The needles are looked for in code alone, and in few lines:
                // concepts help search, they prove nothing.
                .filter(|l| l.role != LineRole::Comment)
                .take(200)
        };
        for (concept, needles) in CONCEPT_NEEDLES {
            if found.len() < MAX_CONCEPTS
                && lines().any(|l| needles.iter().any(|n| l.text.contains(n)))
            {
                found.push(concept);
            }
        }
    }
    found.into_iter().map(str::to_owned).collect()
}
