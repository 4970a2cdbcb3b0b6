//! The tree is tidy, and every check notices when it is not.

use super::tree::{Dependency, Package};
use super::*;

#[test]
fn the_tree_is_tidy() {
    let report = render_report(&SourceTree::read_from(&tree::workspace_root()).unwrap());
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn every_check_has_a_case_and_every_case_a_check() {
    let mut cases: Vec<_> = cases().into_iter().map(|case| case.check).collect();
    cases.dedup();
    let mut checks: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
    cases.sort_unstable();
    checks.sort_unstable();
    assert_eq!(cases, checks);
}

#[test]
fn every_check_complains_about_its_fault_and_about_nothing_else() {
    for Case { check, good, bad } in cases() {
        let run = CHECKS.iter().find(|c| c.name == check).unwrap().run;
        assert_eq!(run(&good), [], "{check}: the good tree");
        for (at, tree) in bad {
            let found: Vec<_> = run(&tree)
                .iter()
                .map(|complaint| format!("{}:{}", complaint.path, complaint.line))
                .collect();
            assert_eq!(found, [at], "{check}");
        }
    }
}

#[test]
fn a_long_file_needs_an_entry_and_an_entry_needs_a_long_file() {
    let table = ("crates/remora-hooks/src/table.rs", "a table");
    let long = files(&[(table.0, &"//! x\n".repeat(601))]);
    let short = files(&[(table.0, "//! x\n")]);
    assert_eq!(shape::size_with(&long, &[table]), []);
    assert_eq!(shape::size_with(&long, &[]).len(), 1);
    assert_eq!(shape::size_with(&short, &[table]).len(), 1);
    assert_eq!(shape::size_with(&SourceTree::default(), &[table]).len(), 1);
}

#[test]
fn the_report_names_check_reason_place_and_advice() {
    let report = render_report(&files(&[(
        "crates/remora-hooks/src/run.rs",
        "//! x\nfn f() { todo!() }",
    )]));
    assert!(
        report.contains(
            "nothing is left unfinished or silenced (a skipped test or a silenced lint is a fault nobody sees)\n  crates/remora-hooks/src/run.rs:2: `todo!`: finish it, or leave it out\n"
        ),
        "{report}"
    );
}

/// A check, a tree it likes, and trees with one fault each.
struct Case {
    check: &'static str,
    good: SourceTree,
    bad: Vec<(String, SourceTree)>,
}

/// A tree of one file, and where the complaint must point.
fn fault(path: &str, line: usize, text: &str) -> (String, SourceTree) {
    (format!("{path}:{line}"), files(&[(path, text)]))
}

/// A tree of packages, and whose manifest the complaint must name.
fn asks(name: &str, wanted: &[&str]) -> (String, SourceTree) {
    let folder = if name == "xtask" {
        String::new()
    } else {
        "crates/".to_owned()
    };
    (
        format!("{folder}{name}/Cargo.toml:1"),
        packages(&[(name, wanted)]),
    )
}

fn files(files: &[(&str, &str)]) -> SourceTree {
    SourceTree {
        files: files
            .iter()
            .map(|(path, text)| SourceFile::new(path, text))
            .collect(),
        packages: Vec::new(),
    }
}

fn only(path: &str, text: &str) -> SourceTree {
    files(&[(path, text)])
}

fn packages(packages: &[(&str, &[&str])]) -> SourceTree {
    let dependency = |name: &&str| Dependency {
        name: name.trim_start_matches("dev:").to_owned(),
        only_tests: name.starts_with("dev:"),
    };
    SourceTree {
        files: Vec::new(),
        packages: packages
            .iter()
            .map(|(name, wanted)| Package {
                name: (*name).to_owned(),
                dependencies: wanted.iter().map(dependency).collect(),
            })
            .collect(),
    }
}

fn cases() -> Vec<Case> {
    let mut cases = dependency_cases();
    cases.extend(place_cases());
    cases.extend(single_place_cases());
    cases.extend(client_cases());
    cases.extend(client_place_cases());
    cases.push(client_exception_case());
    cases.extend(memory_cases());
    cases.extend(habit_cases());
    cases.extend(shape_cases());
    cases.extend(document_cases());
    cases.extend(glossary_cases());
    cases
}

fn dependency_cases() -> Vec<Case> {
    let lock = |source: &str| {
        files(&[(
            "Cargo.lock",
            &format!("[[package]]\nname = \"x\"\nsource = \"{source}\"\n"),
        )])
    };
    vec![
        Case {
            check: "heavy dependencies stay behind their crate",
            good: packages(&[
                ("remora-server", &["tokio"]),
                ("remora-cli", &["clap"]),
                ("remora-store", &["rusqlite"]),
                (
                    "remora-core",
                    &["serde", "serde_json", "thiserror", "dev:proptest"],
                ),
                ("remora-hooks", &["regex"]),
            ]),
            bad: vec![
                asks("remora-hooks", &["tokio"]),
                asks("remora-server", &["clap"]),
                asks("xtask", &["rusqlite"]),
                asks("remora-client", &["regex"]),
                asks("remora-core", &["serde", "libc"]),
                asks("remora-hooks", &["anyhow", "dev:anyhow"]),
            ],
        },
        Case {
            check: "crates depend downwards only",
            good: packages(&[
                ("remora-cli", &["remora-hooks", "remora-memory"]),
                ("remora-hooks", &["remora-core", "serde"]),
                ("remora-store", &["remora-memory"]),
                ("remora-core", &["dev:remora-core"]),
                ("remora-memory", &["dev:remora-agents"]),
            ]),
            bad: vec![
                asks("remora-hooks", &["dev:remora-memory"]),
                asks("remora-memory", &["remora-agents"]),
                asks("remora-core", &["remora-hooks"]),
                asks("remora-tenth", &[]),
            ],
        },
        Case {
            check: "dependencies come from one registry",
            good: lock("registry+https://registry.example/index"),
            bad: vec![
                (
                    "Cargo.lock:3".to_owned(),
                    lock("git+https://example.org/x?rev=1#1"),
                ),
                ("Cargo.lock:1".to_owned(), SourceTree::default()),
            ],
        },
    ]
}

fn place_cases() -> Vec<Case> {
    vec![
        Case {
            check: "siblings do not mention each other",
            good: files(&[
                (
                    "crates/remora-cli/src/main.rs",
                    "use remora_hooks::Engine; use remora_memory::Memory;",
                ),
                ("crates/remora-hooks/src/lib.rs", "//! `remora-hooks`"),
            ]),
            bad: vec![
                fault(
                    "crates/remora-hooks/src/lib.rs",
                    2,
                    "//! x\n// as remora-memory does",
                ),
                fault(
                    "crates/remora-memory/src/lib.rs",
                    1,
                    "use remora_instructions::X;",
                ),
            ],
        },
        Case {
            check: "the vocabulary does nothing",
            good: files(&[
                (
                    "crates/remora-core/src/event.rs",
                    "// std::fs is not used\nuse std::fmt;",
                ),
                ("crates/remora-core/tests/it/main.rs", "use std::fs;"),
                ("crates/remora-hooks/src/run.rs", "use std::fs;"),
            ]),
            bad: vec![fault(
                "crates/remora-core/src/event.rs",
                2,
                "//! x\nlet t = SystemTime::now();",
            )],
        },
        Case {
            check: "the environment is read in one crate",
            good: files(&[
                ("crates/remora-cli/src/main.rs", "std::env::var(\"X\")"),
                ("xtask/src/main.rs", "std::env::args()"),
                (
                    "crates/remora-hooks/tests/it/main.rs",
                    "std::env::current_dir()",
                ),
                (
                    "crates/remora-hooks/src/run.rs",
                    "#[cfg(test)] mod tests { fn f() { std::env::temp_dir(); } }",
                ),
            ]),
            bad: vec![
                fault(
                    "crates/remora-hooks/src/run.rs",
                    1,
                    "let x = std::env::var(\"X\");",
                ),
                fault(
                    "crates/remora-hooks/src/run.rs",
                    1,
                    "let x = env::current_dir();",
                ),
            ],
        },
    ]
}

fn single_place_cases() -> Vec<Case> {
    vec![
        Case {
            check: "use cases know no options of the command line",
            good: files(&[
                (
                    "crates/remora-app/src/scope.rs",
                    "// --all\n\"a -- b, -- \"",
                ),
                ("crates/remora-cli/src/error.rs", "\"use --project\""),
            ]),
            bad: vec![fault(
                "crates/remora-app/src/scope.rs",
                1,
                "\"none here; use --all\"",
            )],
        },
        Case {
            check: "model providers live in one crate",
            good: files(&[
                (
                    "crates/remora-model/src/wire/openai.rs",
                    "\"https://api.openai.com/v1\"",
                ),
                ("crates/remora-hooks/src/names.rs", "\"ANTHROPIC_\""),
            ]),
            bad: vec![fault(
                "crates/remora-memory/src/distill.rs",
                1,
                "if name == \"openai\" {}",
            )],
        },
    ]
}

// Files whose right to a client's words is tried.
const HOOK: &str = "crates/remora-cli/src/hook.rs";
const ADAPTER: &str = "crates/remora-agents/src/codex.rs";
const ENGINE: &str = "crates/remora-hooks/src/plan.rs";
const ENGINE_NAMES: &str = "crates/remora-hooks/src/names.rs";
const EVENT_TABLE: &str = "crates/remora-core/src/event.rs";
const PLAYER: &str = "xtask/src/client.rs";
const CLI_TESTS: &str = "crates/remora-cli/tests/it/main.rs";

fn client_cases() -> Vec<Case> {
    vec![
        Case {
            check: "product ids live in remora-agents",
            good: files(&[
                (ADAPTER, "const NAME: &str = \"codex\";"),
                (
                    ENGINE_NAMES,
                    "// claude-code\nconst PLACE: &str = \"/etc/claude-code\";",
                ),
                (
                    HOOK,
                    "// of Codex\nlet x = \"move the cursor\"; let y = \"claude-mem\";",
                ),
                (CLI_TESTS, "let x = \"claude-code\";"),
            ]),
            bad: vec![
                fault(HOOK, 1, "if agent == \"cursor\" {}"),
                fault(HOOK, 1, "help = \"for claude-code only\""),
                fault(HOOK, 2, "\nlet x = \"Restart Codex, then\";"),
                fault(HOOK, 1, "let x = \"as Claude does\";"),
                fault(ENGINE, 1, "if agent == \"codex\" {}"),
            ],
        },
        Case {
            check: "clients' tools are named by their adapters",
            good: files(&[
                (ADAPTER, "\"apply_patch\""),
                (ENGINE, "tool == \"Bash\""),
                (EVENT_TABLE, "r#\"{\"tool_name\":\"Bash\"}\"#"),
                (PLAYER, "\"Bash\""),
                (CLI_TESTS, "\"Bash\""),
                (
                    HOOK,
                    "// Bash\n\"Read the guide: a Task (or two), reWrite(x), MultiEditor\"",
                ),
                (
                    "crates/remora-server/src/worker.rs",
                    "#[cfg(test)] mod tests { const X: &str = \"Bash\"; }",
                ),
            ]),
            bad: vec![
                fault(HOOK, 2, "\nif tool == \"Read\" {}"),
                fault(HOOK, 1, "format!(\"Bash({text})\")"),
                fault(HOOK, 1, "r#\"{\"x\":\"Edit\"}\"#"),
                fault(HOOK, 1, "\"{\\\"x\\\":\\\"Edit\\\"}\""),
                fault(HOOK, 1, "\"the path of a NotebookEdit call\""),
                fault("crates/remora-memory/src/edit.rs", 1, "\"apply_patch\""),
            ],
        },
        Case {
            check: "clients' fields are named by their adapters",
            good: files(&[
                (ADAPTER, "\"turn_id\""),
                (ENGINE, "\"tool_input\""),
                (EVENT_TABLE, "\"hook_event_name\""),
                (PLAYER, "\"tool_name\""),
                (HOOK, "let tool_name = \"my_tool_names\";"),
            ]),
            bad: vec![
                fault(HOOK, 1, "event.str_field(\"session_id\")"),
                fault(
                    "crates/remora-server/src/ignore.rs",
                    2,
                    "\nr#\"{\"file_path\":1}\"#",
                ),
                fault("crates/remora-core/src/record.rs", 1, "\"tool_use_id\""),
            ],
        },
    ]
}

fn client_place_cases() -> Vec<Case> {
    vec![
        Case {
            check: "clients' variables are named by their adapters",
            good: files(&[
                (ADAPTER, "\"CODEX_HOME\""),
                (ENGINE_NAMES, "\"CLAUDE_PROJECT_DIR\""),
                (
                    "crates/remora-instructions/src/names.rs",
                    "\"CLAUDE_CODE_X\"",
                ),
                (HOOK, "// CLAUDE_X\n\"REMORA_HOME, NOT_CLAUDE_X\""),
            ]),
            bad: vec![
                fault(HOOK, 1, "environment.get(\"CLAUDE_PROJECT_DIR\")"),
                fault(HOOK, 1, "\"set CODEX_HOME=x\""),
                fault(ENGINE, 1, "\"CLAUDECODE\""),
                fault(
                    "crates/remora-instructions/src/file.rs",
                    1,
                    "\"CLAUDE_CODE_X=1\"",
                ),
            ],
        },
        Case {
            check: "clients' files are named by their adapters",
            good: files(&[
                (ADAPTER, "\".codex/config.toml\""),
                (ENGINE_NAMES, "\".claude.json\""),
                ("crates/remora-instructions/src/why.rs", "\"in CLAUDE.md\""),
                (HOOK, "// CLAUDE.md\n\"AGENTS.md\""),
            ]),
            bad: vec![
                fault(HOOK, 1, "root.join(\".claude/settings.json\")"),
                fault(HOOK, 1, "\"in ~/.codex\""),
                fault(HOOK, 1, "\"stands in the CLAUDE.md of each folder\""),
                fault(ENGINE, 1, "\"/etc/claude-code\""),
            ],
        },
    ]
}

/// Every row of exceptions is said somewhere; without one of its words, or its
/// file, it must go.
fn client_exception_case() -> Case {
    let path_of = |row: &str| match row {
        file if SourceFile::new(file, "").has_extension("rs") => file.to_owned(),
        folder if folder.ends_with('/') => format!("{folder}x.rs"),
        start => format!("{start}.rs"),
    };
    let tree_with = |row: usize, word: usize| {
        let rows = clients::EXCEPTIONS.iter().enumerate();
        let sources = rows.map(|(i, exception)| {
            let words = match exception.words {
                [] => &["tool_name"],
                words => words,
            };
            let said = words.iter().enumerate();
            let said = said.filter(|(j, _)| (i, *j) != (row, word));
            let said: Vec<_> = said.map(|(_, word)| word).collect();
            SourceFile::new(&path_of(exception.path), &format!("{said:?}"))
        });
        SourceTree {
            files: sources.collect(),
            packages: Vec::new(),
        }
    };
    let rows = clients::EXCEPTIONS.iter().enumerate();
    let bad = rows.flat_map(|(row, exception)| {
        (0..exception.words.len().max(1))
            .map(move |word| (format!("{}:1", exception.path), tree_with(row, word)))
    });
    Case {
        check: "exceptions for clients' words are needed",
        good: tree_with(usize::MAX, 0),
        bad: bad.collect(),
    }
}

fn memory_cases() -> Vec<Case> {
    vec![
        Case {
            check: "SQL lives in remora-store",
            good: files(&[
                (
                    "crates/remora-store/src/sqlite/read.rs",
                    "\"SELECT id FROM memory\"",
                ),
                (
                    "crates/remora-store/migrations/sqlite/0001_init.sql",
                    "CREATE TABLE x (y);",
                ),
                (
                    "crates/remora-memory/src/search.rs",
                    "// SELECT\nlet x = \"the SELECT statement\";",
                ),
            ]),
            bad: vec![
                fault(
                    "crates/remora-memory/src/search.rs",
                    2,
                    "//! x\nlet q = \"SELECT id FROM memory\";",
                ),
                fault(
                    "crates/remora-memory/src/search.rs",
                    1,
                    "r#\"UPDATE memory SET x = 1\"#",
                ),
                fault("docs/x.sql", 1, ""),
            ],
        },
        Case {
            check: "connections are opened in connect.rs",
            good: files(&[(
                "crates/remora-store/src/sqlite/connect.rs",
                "Connection::open(path)",
            )]),
            bad: vec![fault(
                "crates/remora-store/src/sqlite.rs",
                1,
                "Connection::open(path)",
            )],
        },
        Case {
            check: "memory's own types stay off the wire",
            good: files(&[(
                "crates/remora-core/src/record.rs",
                "#[derive(Serialize)] struct X;",
            )]),
            bad: vec![fault(
                "crates/remora-memory/src/layer.rs",
                1,
                "#[derive(Serialize)] struct X;",
            )],
        },
    ]
}

fn habit_cases() -> Vec<Case> {
    const MERGE: &str = "crates/remora-hooks/src/merge.rs";
    let events = |count: usize| -> String {
        let arms: Vec<_> = (0..count)
            .map(|i| format!("EventName::E{i} => {i}, EventName::E{i} => 0,"))
            .collect();
        arms.join("\n")
    };
    vec![
        Case {
            check: "events are listed in one file",
            good: files(&[
                ("crates/remora-core/src/event.rs", &events(33)),
                ("crates/remora-hooks/src/merge.rs", &events(20)),
                (
                    "crates/remora-agents/src/some_agent/registration.rs",
                    &events(22),
                ),
            ]),
            bad: vec![
                fault(MERGE, 1, &events(21)),
                fault("crates/remora-hooks/src/registration.rs", 1, &events(21)),
            ],
        },
        Case {
            check: "nothing is left unfinished or silenced",
            good: only(
                MERGE,
                "//! no todo!() here\nlet x = \"#[ignore]\"; #[expect(dead_code, reason = \"x\")] fn f() {}",
            ),
            bad: vec![
                fault(MERGE, 2, "\ntodo!()"),
                fault(MERGE, 1, "unimplemented!(\"x\")"),
                fault(MERGE, 1, "#[test] #[ignore = \"slow\"] fn f() {}"),
                fault(MERGE, 1, "#[allow(dead_code)] fn f() {}"),
                fault(MERGE, 1, "#![allow(dead_code)]"),
            ],
        },
        Case {
            check: "exceptions give their reason",
            good: only(
                MERGE,
                "#[expect(\n    dead_code,\n    reason = \"x\"\n)]\nfn f() {}",
            ),
            bad: vec![
                fault(MERGE, 2, "\n#[expect(dead_code)] fn f() {}"),
                fault(MERGE, 1, "#![expect(dead_code)] // reason"),
            ],
        },
        Case {
            check: "nobody sleeps",
            good: files(&[
                ("crates/remora-hooks/tests/it/main.rs", "thread::sleep(x)"),
                ("crates/remora-hooks/benches/run.rs", "thread::sleep(x)"),
            ]),
            bad: vec![
                fault(MERGE, 1, "std::thread::sleep(x)"),
                fault("xtask/src/main.rs", 1, "thread::sleep(x)"),
            ],
        },
    ]
}

fn shape_cases() -> Vec<Case> {
    const RUN: &str = "crates/remora-hooks/src/run.rs";
    const SQLITE: &str = "crates/remora-store/migrations/sqlite/0001_init.sql";
    const POSTGRES: &str = "crates/remora-store/migrations/postgres/0001_init.sql";
    let tests = format!(
        "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
        "//! x\n".repeat(600),
        "fn f() {}\n".repeat(300)
    );
    let with_size = |size: u64| {
        let mut tree = files(&[("fixtures/hooks/recorded.json", "")]);
        tree.files[0].size = size;
        tree
    };
    vec![
        Case {
            check: "files stay small",
            good: files(&[
                (RUN, &tests),
                (
                    "crates/remora-hooks/src/run/tests.rs",
                    &"fn f() {}\n".repeat(900),
                ),
            ]),
            bad: vec![fault(RUN, 1, &"//! x\n".repeat(601))],
        },
        Case {
            check: "files say what they own",
            good: files(&[
                (RUN, "//! Runs a plan."),
                ("crates/remora-hooks/src/run/tests.rs", "use super::*;"),
            ]),
            bad: vec![
                fault(RUN, 1, "use std::fmt;"),
                fault("xtask/src/main.rs", 1, ""),
            ],
        },
        Case {
            check: "files are named after what they own",
            good: files(&[(RUN, ""), ("docs/common.md", "")]),
            bad: vec![
                fault("crates/remora-hooks/src/run/mod.rs", 1, ""),
                fault("crates/remora-hooks/src/utils.rs", 1, ""),
                fault("crates/remora-hooks/tests/common/sandbox.rs", 1, ""),
            ],
        },
        Case {
            check: "fixtures stay small",
            good: with_size(4 * 1024 * 1024),
            bad: vec![(
                "fixtures/hooks/recorded.json:1".to_owned(),
                with_size(4 * 1024 * 1024 + 1),
            )],
        },
        Case {
            check: "migrations carry the same numbers everywhere",
            good: files(&[(SQLITE, ""), (POSTGRES, "")]),
            bad: vec![
                (
                    "crates/remora-store/migrations/sqlite/0002_more.sql:1".to_owned(),
                    files(&[
                        (SQLITE, ""),
                        (POSTGRES, ""),
                        ("crates/remora-store/migrations/postgres/0002_more.sql", ""),
                    ]),
                ),
                (
                    "crates/remora-store/migrations/*/0003_more.sql:1".to_owned(),
                    files(&[
                        (SQLITE, ""),
                        ("crates/remora-store/migrations/sqlite/0003_more.sql", ""),
                    ]),
                ),
            ],
        },
    ]
}

fn glossary_cases() -> Vec<Case> {
    const RUN: &str = "crates/remora-hooks/src/run.rs";
    vec![
        Case {
            check: "the glossary names what exists",
            good: files(&[
                (
                    "docs/glossary.md",
                    "**item** - `Item`, `Kind::is_said`, `Kind::{Fix, Note}`, `#12`, `spool`.",
                ),
                (RUN, "struct Item; fn is_said() {} enum Kind { Fix, Note }"),
            ]),
            bad: vec![
                ("docs/glossary.md:1".to_owned(), only(RUN, "")),
                (
                    "docs/glossary.md:2".to_owned(),
                    files(&[
                        ("docs/glossary.md", "`Item`\n`Gone`"),
                        (RUN, "struct Item;"),
                    ]),
                ),
                (
                    "docs/glossary.md:1".to_owned(),
                    files(&[
                        ("docs/glossary.md", "`Kind::{Fix, Gone}`"),
                        (RUN, "enum Kind { Fix }"),
                    ]),
                ),
            ],
        },
        Case {
            check: "code speaks the words of the glossary",
            good: files(&[
                (RUN, "struct Injection; fn told_at() {} // a fn told"),
                (
                    "crates/remora-hooks/src/plan.rs",
                    "struct Plan { #[serde(rename = \"given\")] pub(crate) rows: Map<A, fn() -> told>, x: (given, B) }\n\
                     enum Kind<T> { Named { told: T }, Other(moment) }",
                ),
                (
                    "crates/remora-memory/src/rank.rs",
                    "pub struct Weights { pub gist: f64 }",
                ),
            ]),
            bad: vec![
                (
                    format!("{RUN}:2"),
                    only(
                        RUN,
                        "pub struct X<T> {\n    pub(in crate::a) told: Vec<T>,\n}",
                    ),
                ),
                (
                    format!("{RUN}:3"),
                    only(RUN, "struct X {\n    a: HashMap<A, B>,\n    given: u8,\n}"),
                ),
                (
                    format!("{RUN}:1"),
                    only(RUN, "enum X { A { b: u8 }, Person }"),
                ),
                (format!("{RUN}:1"), only(RUN, "pub struct Given;")),
                (
                    format!("{RUN}:2"),
                    only(RUN, "impl X {\n    fn told(&self) {}\n}"),
                ),
            ],
        },
    ]
}

fn document_cases() -> Vec<Case> {
    const RUN: &str = "crates/remora-hooks/src/run.rs";
    let readme = "```\ncargo run --release -- demo\ncargo test\n```\n";
    let script = "cargo test\ncargo run --release -- demo\n";
    let linked = |target: &str| {
        let mut tree = files(&[("AGENTS.md", "x"), ("CLAUDE.md", "")]);
        tree.files[1].link = Some(target.to_owned());
        tree
    };
    let on = |folder: &str| files(&[("docs/x.md", &format!("a\nsee `/{folder}/x`"))]);
    vec![
        Case {
            check: "the map shows every crate",
            good: files(&[("ARCHITECTURE.md", "`remora-hooks` runs"), (RUN, "")]),
            bad: vec![
                (
                    "ARCHITECTURE.md:1".to_owned(),
                    files(&[("ARCHITECTURE.md", "remora-hooks"), (RUN, "")]),
                ),
                ("ARCHITECTURE.md:1".to_owned(), only(RUN, "")),
            ],
        },
        Case {
            check: "documents name what exists",
            good: files(&[
                (
                    "ARCHITECTURE.md",
                    "`run.rs`, `remora-hooks/src/run.rs`, `src/`, `.claude/x.json`, `a + b`, `x.y()`\n```\n`gone.rs`\n```\n",
                ),
                (RUN, ""),
            ]),
            bad: vec![
                (
                    "ARCHITECTURE.md:2".to_owned(),
                    files(&[("ARCHITECTURE.md", "`x`\n`gone.rs`"), (RUN, "")]),
                ),
                (
                    "CONTRIBUTING.md:1".to_owned(),
                    files(&[("CONTRIBUTING.md", "`gone/`"), (RUN, "")]),
                ),
                (
                    "AGENTS.md:1".to_owned(),
                    files(&[("AGENTS.md", "`un.rs`"), (RUN, "")]),
                ),
            ],
        },
        Case {
            check: "the README's commands are the ones we run",
            good: files(&[("README.md", readme), (".ci/run", script)]),
            bad: vec![
                (
                    "README.md:1".to_owned(),
                    files(&[
                        (
                            "README.md",
                            "cargo run --release -- demo\ncargo nextest run",
                        ),
                        (".ci/run", script),
                    ]),
                ),
                (
                    ".ci/run:1".to_owned(),
                    files(&[
                        ("README.md", readme),
                        (
                            ".ci/run",
                            "cargo test --workspace\ncargo run --release -- demo",
                        ),
                    ]),
                ),
            ],
        },
        Case {
            check: "one page for everyone who works here",
            good: linked("AGENTS.md"),
            bad: vec![
                ("CLAUDE.md:1".to_owned(), linked("README.md")),
                (
                    "CLAUDE.md:1".to_owned(),
                    files(&[("AGENTS.md", "x"), ("CLAUDE.md", "more rules")]),
                ),
                (
                    "AGENTS.md:1".to_owned(),
                    files(&[("CLAUDE.md", "AGENTS.md")]),
                ),
            ],
        },
        Case {
            check: "no paths of one machine",
            good: files(&[(
                "docs/x.md",
                "/home/dev/app, src/work/x, ~/work/x, https://example.org/root/x",
            )]),
            bad: vec![
                ("docs/x.md:2".to_owned(), on("work")),
                ("docs/x.md:2".to_owned(), on("root")),
            ],
        },
    ]
}
