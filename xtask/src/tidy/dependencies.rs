//! Who may depend on whom, read from the manifests.

use super::Complaint;
use super::tree::{Package, SourceTree};

/// A dependency and the only packages that may ask for it.
const RESTRICTED_DEPENDENCIES: &[(&str, &[&str], &str)] = &[
    (
        "tokio",
        &["remora-server"],
        "only the worker has a runtime; block in a thread instead",
    ),
    (
        "rmcp",
        &["remora-server"],
        "the protocol is the server's; implement its `Library` instead",
    ),
    (
        "clap",
        &["remora-cli"],
        "only the binary reads arguments; take a struct instead",
    ),
    (
        "clap_mangen",
        &["remora-cli"],
        "manual pages are made from the binary's arguments",
    ),
    (
        "clap_complete",
        &["remora-cli", "xtask"],
        "completions belong to the binary",
    ),
    (
        "ratatui",
        &["remora-hooks-ui", "remora-cli"],
        "screens are crates of their own; the binary alone has the terminal",
    ),
    (
        "notify",
        &["remora-watch"],
        "a hook never watches files; hosts that do take the crate for it",
    ),
    (
        "rusqlite",
        &["remora-store"],
        "go through the store's port instead",
    ),
    (
        "anyhow",
        &["xtask"],
        "libraries and the binary have typed errors",
    ),
];

/// A package and what it must never ask for.
const FORBIDDEN_DEPENDENCIES: &[(&str, &str, &str)] = &[(
    "remora-client",
    "regex",
    "building one costs more than the whole process may",
)];

/// The vocabulary's dependencies, all of them.
const VOCABULARY_DEPENDENCIES: &[&str] = &["serde", "serde_json", "thiserror"];

/// Our crates and which of ours each may use. The binary may use any.
const CRATE_DIRECTIONS: &[(&str, &[&str])] = &[
    ("remora-core", &[]),
    ("remora-files", &[]),
    ("remora-git", &["remora-core", "remora-files"]),
    ("remora-shell", &[]),
    ("remora-js-regex", &[]),
    ("remora-marked-lexer", &[]),
    ("remora-http", &[]),
    ("remora-wording", &["remora-core"]),
    (
        "remora-hooks",
        &[
            "remora-core",
            "remora-files",
            "remora-http",
            "remora-js-regex",
            "remora-shell",
        ],
    ),
    (
        "remora-model",
        &["remora-core", "remora-files", "remora-http"],
    ),
    (
        "remora-hook-tools",
        &[
            "remora-core",
            "remora-files",
            "remora-hooks",
            "remora-shell",
        ],
    ),
    ("remora-watch", &["remora-core", "remora-hooks"]),
    (
        "remora-hooks-ui",
        &["remora-core", "remora-hook-tools", "remora-hooks"],
    ),
    (
        "remora-hooks-rpc",
        &["remora-core", "remora-hooks", "remora-watch"],
    ),
    (
        "remora-instructions",
        &[
            "remora-core",
            "remora-files",
            "remora-marked-lexer",
            "remora-wording",
        ],
    ),
    (
        "remora-notes",
        &[
            "remora-core",
            "remora-files",
            "remora-git",
            "remora-instructions",
            "remora-wording",
        ],
    ),
    ("remora-agents", &["remora-core", "remora-files"]),
    ("remora-client", &["remora-core", "remora-files"]),
    ("remora-embed", &[]),
    ("remora-redact", &["remora-core"]),
    (
        "remora-memory",
        &[
            "remora-core",
            "remora-embed",
            "remora-redact",
            "remora-shell",
        ],
    ),
    (
        "remora-store",
        &["remora-core", "remora-embed", "remora-memory"],
    ),
    (
        "remora-server",
        &[
            "remora-core",
            "remora-agents",
            "remora-client",
            "remora-embed",
            "remora-files",
            "remora-git",
            "remora-http",
            "remora-memory",
            "remora-redact",
            "remora-store",
        ],
    ),
    // The use cases, over everything that they put together. Faces are above.
    (
        "remora-app",
        &[
            "remora-core",
            "remora-agents",
            "remora-client",
            "remora-embed",
            "remora-files",
            "remora-instructions",
            "remora-memory",
            // The words of its settings.
            "remora-model",
            "remora-notes",
            "remora-redact",
            "remora-server",
            "remora-store",
        ],
    ),
];

/// Which of ours the tests of a crate may use besides.
const TEST_DIRECTIONS: &[(&str, &str)] = &[
    // Its cases hold what clients send.
    ("remora-memory", "remora-agents"),
    ("remora-redact", "remora-agents"),
];

const UNRESTRICTED_CRATES: &[&str] = &["remora-cli", "xtask"];

/// What tests alone ask for does not count: it is not in what people run.
pub(super) fn check_firewalls(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in &tree.packages {
        let name = package.name.as_str();
        for wanted in package.dependencies.iter().filter(|d| !d.only_tests) {
            let wanted = wanted.name.as_str();
            for (heavy, allowed, advice) in RESTRICTED_DEPENDENCIES {
                if wanted == *heavy && !allowed.contains(&name) {
                    complaints.push(complain_about(
                        package,
                        &format!("remove `{heavy}`: {advice}"),
                    ));
                }
            }
            for (barred, heavy, advice) in FORBIDDEN_DEPENDENCIES {
                if wanted == *heavy && name == *barred {
                    complaints.push(complain_about(
                        package,
                        &format!("remove `{heavy}`: {advice}"),
                    ));
                }
            }
            if name == "remora-core" && !VOCABULARY_DEPENDENCIES.contains(&wanted) {
                complaints.push(complain_about(
                    package,
                    &format!(
                        "remove `{wanted}`: the vocabulary uses {} and nothing else",
                        VOCABULARY_DEPENDENCIES.join(", ")
                    ),
                ));
            }
        }
    }
    complaints
}

/// Here tests count too: a test that needs a sibling belongs to the binary.
pub(super) fn check_directions(tree: &SourceTree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in &tree.packages {
        if UNRESTRICTED_CRATES.contains(&package.name.as_str()) {
            continue;
        }
        let Some((_, allowed)) = CRATE_DIRECTIONS
            .iter()
            .find(|(name, _)| *name == package.name)
        else {
            complaints.push(complain_about(
                package,
                "a new crate needs its reason in lib.rs and a row in DIRECTIONS of xtask's dependencies.rs",
            ));
            continue;
        };
        for wanted in &package.dependencies {
            let ours = wanted.name.starts_with("remora-") || wanted.name == "xtask";
            let pair = (package.name.as_str(), wanted.name.as_str());
            if wanted.only_tests && TEST_DIRECTIONS.contains(&pair) {
                continue;
            }
            if ours && wanted.name != package.name && !allowed.contains(&wanted.name.as_str()) {
                complaints.push(complain_about(
                    package,
                    &format!(
                        "remove `{}`: dependencies point down only; let the two meet in remora-cli",
                        wanted.name
                    ),
                ));
            }
        }
    }
    complaints
}

pub(super) fn check_sources(tree: &SourceTree) -> Vec<Complaint> {
    let Some(lock) = tree.find_file("Cargo.lock") else {
        return vec![Complaint::for_path(
            "Cargo.lock",
            "commit the lock file: the binary is built from it",
        )];
    };
    // Whatever the first registry is, all others are forks or mirrors.
    let registry = lock
        .text
        .lines()
        .find(|line| line.starts_with("source = \"registry+"));
    let mut offset = 0;
    let mut complaints = Vec::new();
    for line in lock.text.split_inclusive('\n') {
        if line.starts_with("source = ") && Some(line.trim_end()) != registry {
            complaints.push(Complaint::at_offset(
                lock,
                offset,
                "use a release from the one registry instead of a fork or a mirror",
            ));
        }
        offset += line.len();
    }
    complaints
}

fn complain_about(package: &Package, advice: &str) -> Complaint {
    let folder = match package.name.as_str() {
        "xtask" => "xtask".to_owned(),
        name => format!("crates/{name}"),
    };
    Complaint::for_path(format!("{folder}/Cargo.toml"), advice)
}
