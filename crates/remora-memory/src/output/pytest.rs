//! pytest, in its long, short and quiet forms.

use super::draft::{CommandDraft, CommandOutput, TestCounts};
use super::{CommandOutcome, Problem, text};

pub(super) fn parse_output(doc: &CommandOutput<'_>) -> Option<CommandDraft> {
    let closing = doc.lines.iter().rposition(|l| is_closing(l));
    let summary = doc
        .lines
        .iter()
        .position(|l| is_rule(l, "short test summary info"));
    if closing.is_none()
        && summary.is_none()
        && !doc.lines.iter().any(|l| is_rule(l, "test session starts"))
    {
        return None;
    }
    let mut draft = CommandDraft::new("pytest");
    let sections = parse_sections(doc);
    let mut collecting = false;
    // Above the summary, captured output of tests may hold the same words.
    for (at, line) in doc.lines.iter().enumerate().skip(summary.unwrap_or(0)) {
        let Some(rest) = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "))
        else {
            continue;
        };
        let (id, said) = rest.split_once(" - ").unwrap_or((rest, ""));
        if !(id.contains("::") || text::is_kind(id.trim_end(), &["py"])) {
            continue;
        }
        if draft.is_full() {
            break;
        }
        collecting |= line.starts_with("ERROR ") && !id.contains("::");
        let problem = build_problem(&sections, id.trim(), said);
        draft.add_problem(at, problem);
    }
    if draft.problems.is_empty() {
        for section in &sections {
            draft.add_problem(section.at, section.to_problem());
            collecting |= section.name.starts_with("ERROR collecting ");
        }
    }
    let mut counts = TestCounts::default();
    let mut errors = 0;
    if let Some(at) = closing {
        let line = doc.lines[at];
        counts.passed = text::count_of(line, "passed").unwrap_or(0)
            + text::count_of(line, "xpassed").unwrap_or(0);
        counts.failed = text::count_of(line, "failed").unwrap_or(0);
        errors = text::count_of(line, "error").unwrap_or(0);
        counts.skipped = text::count_of(line, "skipped").unwrap_or(0);
        draft.keep_lines(at, at + 1);
        if line.contains("no tests ran") || counts.passed + counts.failed + errors == 0 {
            draft.add_concept("test");
            draft.title = match counts.skipped {
                0 => "pytest: no tests ran".to_owned(),
                n => format!(
                    "pytest: {} skipped, none ran",
                    text::format_count_u32(n, "test")
                ),
            };
            // Only the host can tell: pytest exits with 5 when it collected
            // nothing.
            draft.verdict = (doc.host == CommandOutcome::Failed).then_some(CommandOutcome::Failed);
            return Some(draft);
        }
    } else if draft.problems.is_empty() {
        return None;
    }
    counts.failed += errors;
    let subjects = draft.problems.len();
    draft.apply_test_counts(counts);
    if collecting && counts.passed == 0 && errors > 0 {
        let first = draft.problems.first().map(|p| {
            let file = p
                .format_location()
                .map(|f| format!(" in {f}"))
                .unwrap_or_default();
            format!("{file}: {}", p.message)
        });
        draft.title = format!(
            "pytest: {} while collecting tests{}",
            text::format_count_u32(errors, "error"),
            first.unwrap_or_default()
        );
        draft.add_concept("collection error");
        if let Some(fact) = draft.facts.first_mut() {
            *fact = format!(
                "{} while collecting {}",
                text::format_count_u32(errors, "error"),
                text::format_count(subjects, "file")
            );
        }
    }
    if draft
        .problems
        .iter()
        .any(|p| p.message.contains("ModuleNotFoundError") || p.message.contains("ImportError"))
    {
        draft.add_concept("missing module");
    }
    Some(draft)
}

/// A line of `=` around a heading.
fn is_rule(line: &str, heading: &str) -> bool {
    line.starts_with("===") && line.trim_matches(['=', ' ']) == heading
}

/// `3 failed, 1 passed in 0.12s`, with or without the rule around it.
fn is_closing(line: &str) -> bool {
    let line = line.trim_matches(['=', ' ']);
    let Some((counts, time)) = line.split_once(" in ") else {
        return false;
    };
    let time = time.split(' ').next().unwrap_or_default();
    if !(time.ends_with('s') && time.starts_with(|c: char| c.is_ascii_digit())) {
        return false;
    }
    counts == "no tests ran"
        || counts.split(", ").all(|part| {
            text::parse_number(part).is_some_and(|(_, word)| {
                matches!(
                    word.trim(),
                    "passed"
                        | "failed"
                        | "error"
                        | "errors"
                        | "skipped"
                        | "xfailed"
                        | "xpassed"
                        | "deselected"
                        | "warning"
                        | "warnings"
                        | "rerun"
                )
            })
        })
}

/// The report of one test: `____ name ____` down to the next rule.
struct ReportSection<'a> {
    name: &'a str,
    at: usize,
    said: &'a str,
    file: Option<(&'a str, u32)>,
}

impl ReportSection<'_> {
    fn to_problem(&self) -> Problem {
        let name = self
            .name
            .strip_prefix("ERROR collecting ")
            .unwrap_or(self.name);
        let problem = Problem::new(self.said).with_subject(name);
        match self.file {
            Some((file, line)) => problem.with_location(file, line),
            None => problem,
        }
    }
}

fn parse_sections<'a>(doc: &'a CommandOutput<'_>) -> Vec<ReportSection<'a>> {
    let mut sections: Vec<ReportSection<'a>> = Vec::new();
    for (at, line) in doc.lines.iter().enumerate() {
        if line.starts_with("===") {
            if !is_rule(line, "FAILURES") && !is_rule(line, "ERRORS") && sections.len() > 40 {
                break;
            }
        } else if line.starts_with("__") && line.ends_with("__") {
            let name = line.trim_matches(['_', ' ']);
            if !name.is_empty() {
                sections.push(ReportSection {
                    name,
                    at,
                    said: "",
                    file: None,
                });
            }
        } else if let Some(section) = sections.last_mut() {
            if section.said.is_empty()
                && let Some(said) = line.strip_prefix("E  ")
            {
                section.said = said.trim();
            } else if section.file.is_none_or(|_| !section.said.is_empty())
                && let Some(found) = text::parse_location(line)
                && text::is_kind(found.file, &["py"])
                // Prefer the test's own file: the last place of a section may
                // be in a helper.
                && (section.file.is_none() || is_test(found.file))
            {
                section.file = Some((found.file, found.line));
            }
        }
    }
    sections
}

fn is_test(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.starts_with("test_") || name.ends_with("_test.py")
}

fn build_problem(sections: &[ReportSection<'_>], id: &str, said: &str) -> Problem {
    let (file, test) = id.split_once("::").unwrap_or((id, ""));
    let name = test.replace("::", ".");
    let section = sections.iter().find(|s| {
        if test.is_empty() {
            s.name.strip_prefix("ERROR collecting ") == Some(file)
        } else {
            s.name == name || s.name.strip_prefix("ERROR at setup of ") == Some(name.as_str())
        }
    });
    let message = match section {
        // pytest cuts the summary to the width of the terminal; the section has
        // the whole message.
        Some(s) if said.is_empty() || said.ends_with("...") => s.said,
        _ => said,
    };
    let subject = if test.is_empty() { file } else { test };
    let line = section
        .and_then(|s| s.file)
        .filter(|(f, _)| *f == file || file.ends_with(f))
        .map(|(_, l)| l);
    Problem::new(message)
        .with_subject(subject)
        .with_location(file, line)
}
