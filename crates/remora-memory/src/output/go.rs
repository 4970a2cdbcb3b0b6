//! Go: tests in both forms, the compiler, vet, and modules.

use std::collections::HashSet;

use serde_json::Value;

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::{CommandOutcome, Problem, text};

/// What lines of a test run say, in whichever form they came.
#[derive(Default)]
struct GoTestRun {
    passed: u32,
    skipped: u32,
    packages_ok: u32,
    packages_failed: u32,
    broken: Vec<String>,
    failures: Vec<GoTestFailure>,
}

struct GoTestFailure {
    at: usize,
    name: String,
    place: Option<(String, u32)>,
    message: String,
}

pub(super) fn read_tests(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let tests = if doc
        .lines
        .iter()
        .any(|l| l.starts_with('{') && l.contains("\"Action\":\""))
    {
        from_json(doc)?
    } else {
        from_text(doc)
    };
    if tests.passed == 0
        && tests.packages_ok == 0
        && tests.packages_failed == 0
        && tests.failures.is_empty()
    {
        return None;
    }
    let mut draft = CommandDraft::new("go test");
    // A parent fails with its subtests; only the innermost says why.
    let parents: HashSet<String> = tests
        .failures
        .iter()
        .filter_map(|f| f.name.rsplit_once('/').map(|(parent, _)| parent.to_owned()))
        .collect();
    let mut leaves = 0_u32;
    for failure in tests.failures {
        if parents.contains(&failure.name) {
            continue;
        }
        leaves += 1;
        let mut problem = Problem::new(failure.message).with_subject(&failure.name);
        if let Some((file, line)) = failure.place {
            problem = problem.with_location(&file, line);
        }
        draft.add_problem(failure.at, problem);
    }
    for (at, problem) in compile_errors(doc) {
        draft.add_problem(at, problem);
        draft.add_concept("compile error");
    }
    broken_packages(doc, &mut draft, tests.packages_failed, &tests.broken);
    // A package can fail without a failing test, as when it does not build or
    // panics.
    let failed = text::to_count(draft.problems.len())
        .max(leaves)
        .max(tests.packages_failed.min(1));
    if tests.passed == 0 && failed == 0 {
        // Without -v only the packages are counted.
        draft.add_concept("test");
        draft.verdict = Some(CommandOutcome::Passed);
        draft.title = format!(
            "go test: {} passed",
            text::format_count_u32(tests.packages_ok, "package")
        );
        return Some(draft);
    }
    let quiet = tests.passed == 0;
    draft.apply_test_counts(TestCounts {
        passed: tests.passed,
        failed,
        skipped: tests.skipped,
    });
    if quiet || draft.concepts.contains(&"compile error") {
        let facts = std::mem::take(&mut draft.facts);
        draft.add_fact(format!(
            "{} ok, {} failed",
            text::format_count_u32(tests.packages_ok, "package"),
            tests.packages_failed
        ));
        let built: Vec<String> = draft.problems.iter().map(Problem::to_text).collect();
        let parts = if draft.concepts.contains(&"compile error") {
            &built
        } else {
            &facts[1..]
        };
        for fact in parts {
            draft.add_fact(fact);
        }
    }
    if draft.concepts.contains(&"compile error") {
        let first = draft
            .problems
            .first()
            .map(Problem::to_text)
            .unwrap_or_default();
        draft.title = format!(
            "go test: the build failed, {}: {first}",
            text::format_count(draft.problems.len(), "error")
        );
    }
    Some(draft)
}

/// A package that failed without naming a test.
fn broken_packages(
    doc: &CommandOutput<'_>,
    draft: &mut CommandDraft,
    failed: u32,
    broken: &[String],
) {
    if draft.problems.is_empty() && failed > 0 {
        let what = if broken.is_empty() {
            "a package failed"
        } else {
            "the build failed"
        };
        for package in broken.iter().take(5) {
            draft.add_problem(
                doc.lines.len().saturating_sub(1),
                Problem::new(what).with_subject(package),
            );
        }
        if broken.is_empty() {
            draft.verdict = Some(CommandOutcome::Failed);
        }
    }
}

fn from_text(doc: &CommandOutput<'_>) -> GoTestRun {
    let mut tests = GoTestRun::default();
    let mut open: Option<usize> = None;
    let mut logged: Option<(String, u32, String)> = None;
    for (at, line) in doc.lines.iter().copied().enumerate() {
        let t = line.trim_start();
        if let Some(rest) = t.strip_prefix("--- FAIL: ") {
            let name = rest.split(" (").next().unwrap_or(rest);
            // Under -v the log lines stand in front of the result.
            let (place, message) = match logged.take() {
                Some((file, line, message)) => (Some((file, line)), message),
                None => (None, String::new()),
            };
            tests.failures.push(GoTestFailure {
                at,
                name: name.to_owned(),
                place,
                message,
            });
            open = Some(tests.failures.len() - 1);
        } else if t.starts_with("--- PASS: ") {
            tests.passed += 1;
            open = None;
            logged = None;
        } else if t.starts_with("--- SKIP: ") {
            tests.skipped += 1;
            open = None;
            logged = None;
        } else if line.starts_with("ok  \t") {
            tests.packages_ok += 1;
            open = None;
        } else if let Some(rest) = line.strip_prefix("FAIL\t") {
            tests.packages_failed += 1;
            if rest.contains("[build failed]") || rest.contains("[setup failed]") {
                tests
                    .broken
                    .push(rest.split(" [").next().unwrap_or(rest).to_owned());
            }
            open = None;
        } else if t.starts_with("=== ") {
            logged = None;
        } else if let Some(found) = line
            .starts_with("    ")
            .then(|| text::parse_location(t))
            .flatten()
            && text::is_kind(found.file, &["go"])
        {
            let said = found.rest.trim();
            match open.map(|o| &mut tests.failures[o]) {
                Some(failure) if failure.place.is_none() => {
                    failure.place = Some((found.file.to_owned(), found.line));
                    said.clone_into(&mut failure.message);
                }
                Some(_) => {}
                None => logged = Some((found.file.to_owned(), found.line, said.to_owned())),
            }
        } else if let Some(failure) = open.map(|o| &mut tests.failures[o])
            && line.starts_with("        ")
            && !t.starts_with("Error Trace:")
            && !t.starts_with("Test:")
            && failure.message.len() < 160
            && failure.place.is_some()
        {
            let gap = if failure.message.is_empty() { "" } else { " " };
            failure.message = format!("{}{gap}{}", failure.message, text::collapse_whitespace(t));
        }
    }
    tests
}

/// `go test -json`: one object a line.
fn from_json(doc: &CommandOutput<'_>) -> Option<GoTestRun> {
    let mut tests = GoTestRun::default();
    let mut known = false;
    let mut output: Vec<(String, String)> = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        if !line.starts_with('{') {
            continue;
        }
        let Ok(Value::Object(entry)) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let get = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let (action, package, test) = (get("Action"), get("Package"), get("Test"));
        known |= !package.is_empty();
        match (action, test) {
            ("pass", "") => tests.packages_ok += 1,
            ("fail", "") => {
                tests.packages_failed += 1;
                if entry.contains_key("FailedBuild") {
                    tests.broken.push(package.to_owned());
                }
            }
            ("pass", _) => tests.passed += 1,
            ("skip", test) if !test.is_empty() => tests.skipped += 1,
            ("fail", test) => {
                let said = output
                    .iter()
                    // Each failure looks through the output, so both are
                    // bounded.
                    .take(if tests.failures.len() < 40 { 2_000 } else { 0 })
                    .find_map(|(t, line)| {
                        let found = (t == test)
                            .then(|| text::parse_location(line.trim_start()))
                            .flatten()?;
                        text::is_kind(found.file, &["go"]).then(|| {
                            (
                                found.file.to_owned(),
                                found.line,
                                found.rest.trim().to_owned(),
                            )
                        })
                    });
                let (place, message) = match said {
                    Some((file, line, message)) => (Some((file, line)), message),
                    None => (None, String::new()),
                };
                tests.failures.push(GoTestFailure {
                    at,
                    name: test.to_owned(),
                    place,
                    message,
                });
            }
            ("output", test) if !test.is_empty() && output.len() < 2_000 => {
                output.push((test.to_owned(), get("Output").to_owned()));
            }
            _ => {}
        }
    }
    known.then_some(tests)
}

/// `./main.go:10:2: undefined: foo`, as the compiler and vet print it.
fn compile_errors(doc: &CommandOutput<'_>) -> Vec<(usize, Problem)> {
    let mut found = Vec::new();
    // `file.go:3:` also begins lines of grep and of log output.
    let headed = doc.lines.iter().any(|l| l.starts_with("# ")) || doc.command.runs_program(&["go"]);
    for (at, line) in doc.lines.iter().enumerate() {
        if line.starts_with([' ', '\t']) || !headed {
            continue;
        }
        let line = line.strip_prefix("vet: ").unwrap_or(line);
        let Some(place) = text::parse_location(line)
            .filter(|p| text::is_kind(p.file, &["go"]) && !p.rest.trim().is_empty())
        else {
            continue;
        };
        let message = place.rest.trim();
        let mut problem = Problem::new(message).with_location(place.file, place.line);
        problem.subject = message
            .strip_prefix("undefined: ")
            .or_else(|| message.strip_prefix("declared and not used: "))
            .map(str::to_owned)
            .or_else(|| text::find_quoted(message).map(str::to_owned));
        found.push((at, problem));
    }
    found
}

pub(super) fn read_build(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    // A test run tells its own build failures.
    if doc
        .lines
        .iter()
        .any(|l| l.starts_with("FAIL\t") || l.starts_with("ok  \t") || l.starts_with("goroutine "))
    {
        return None;
    }
    let errors = compile_errors(doc);
    if errors.is_empty() {
        return None;
    }
    let vet = doc.command.runs_program(&["go", "vet"]);
    let linter = doc.command.runs_program(&["golangci-lint"]);
    let mut draft = CommandDraft::new(if vet {
        "go vet"
    } else if linter {
        "golangci-lint"
    } else {
        "go build"
    });
    draft.add_concept(if vet || linter {
        "lint"
    } else {
        "compile error"
    });
    let count = text::to_count(errors.len());
    for (at, mut problem) in errors {
        if linter
            && let Some((message, code)) = problem
                .message
                .rsplit_once(" (")
                .filter(|(_, c)| c.ends_with(')'))
        {
            problem.code = Some(code.trim_end_matches(')').to_owned());
            problem.message.truncate(message.len());
        }
        if ["cannot use", "mismatched types", "has no field or method"]
            .iter()
            .any(|w| problem.message.contains(w))
        {
            draft.add_concept("type error");
        }
        draft.add_problem(at, problem);
    }
    draft.apply_diagnostics(count, 0);
    Some(draft)
}

/// `go get`, `go mod tidy`.
pub(super) fn read_get(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let mut draft = CommandDraft::new("go get");
    let mut added = Vec::new();
    let mut changed = Vec::new();
    let mut known = false;
    for (at, line) in doc.lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix("go: ") else {
            continue;
        };
        if let Some(what) = rest.strip_prefix("added ") {
            added.push(what);
        } else if let Some(what) = rest
            .strip_prefix("upgraded ")
            .or_else(|| rest.strip_prefix("downgraded "))
        {
            changed.push(what);
        } else if let Some(what) = rest.strip_prefix("removed ") {
            changed.push(what);
        } else if rest.starts_with("downloading ") || rest.starts_with("finding ") {
            known = true;
        } else if [
            "not found",
            "no matching versions",
            "unknown revision",
            "invalid",
            "cannot find",
            "no required module",
            "errors parsing",
            "does not contain package",
            "updates to go.mod",
        ]
        .iter()
        .any(|w| rest.contains(w))
        {
            let subject = rest
                .split([' ', ':'])
                .find(|w| w.contains('.'))
                .unwrap_or_default();
            draft.add_problem(at, Problem::new(rest).with_subject(subject));
        }
    }
    draft.add_concept("dependency");
    if !draft.problems.is_empty() {
        draft.verdict = Some(CommandOutcome::Failed);
        draft.title = format!("go get: {}", draft.problems[0].message);
        return Some(draft);
    }
    if added.is_empty() && changed.is_empty() {
        let _ = known;
        return None;
    }
    let mut parts = Vec::new();
    if !added.is_empty() {
        parts.push(format!("added {}", format_names(&added)));
    }
    if !changed.is_empty() {
        parts.push(format!("changed {}", format_names(&changed)));
    }
    draft.verdict = Some(CommandOutcome::Passed);
    draft.title = format!("go get: {}", parts.join(", "));
    for what in added.iter().chain(&changed) {
        draft.add_fact(what);
    }
    Some(draft)
}

fn format_names(list: &[&str]) -> String {
    match list {
        [one] => (*one).to_owned(),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
        [] => String::new(),
    }
}
