//! What a reader of one tool works on and what it hands back, with every limit
//! of a [`Reading`] kept in one place.

use super::shell::Command;
use super::{Outcome, Problem, Reading, compact, text};

const MOST_FACTS: usize = 12;
const MOST_PROBLEMS: usize = 20;
const MOST_FILES: usize = 20;
const MOST_CONCEPTS: usize = 6;
const TITLE: usize = 120;
const FACT: usize = 200;
const MESSAGE: usize = 300;
const NAME: usize = 160;
const COMPACT: usize = 1_500;
/// Lines kept in the compact form around each problem.
const AROUND: usize = 6;

/// An output, plain and in lines, and the command that printed it.
pub(super) struct Doc<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
    pub(super) command: &'a Command,
    pub(super) host: Outcome,
}

impl Doc<'_> {
    pub(super) fn line(&self, at: usize) -> &str {
        self.lines.get(at).copied().unwrap_or_default()
    }
}

/// A reading in the making.
pub(super) struct Draft {
    pub(super) tool: &'static str,
    /// What the output itself says; `None` leaves it to the host.
    pub(super) verdict: Option<Outcome>,
    pub(super) title: String,
    pub(super) facts: Vec<String>,
    pub(super) problems: Vec<Problem>,
    pub(super) concepts: Vec<&'static str>,
    keep: Vec<(usize, usize)>,
}

impl Draft {
    pub(super) fn new(tool: &'static str) -> Self {
        Self {
            tool,
            verdict: None,
            title: String::new(),
            facts: Vec::new(),
            problems: Vec::new(),
            concepts: Vec::new(),
            keep: Vec::new(),
        }
    }

    pub(super) fn fact(&mut self, fact: impl AsRef<str>) {
        if self.facts.len() >= MOST_FACTS {
            return;
        }
        let fact = text::cut(&text::squeeze(fact.as_ref()), FACT);
        if !fact.is_empty() && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// A problem found at a line of the output; the same one twice is one.
    pub(super) fn problem(&mut self, at: usize, mut problem: Problem) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        problem.message = text::cut(&text::squeeze(&problem.message), MESSAGE);
        for name in [&mut problem.file, &mut problem.code, &mut problem.subject] {
            *name = name
                .take()
                .map(|n| text::cut(&n, NAME))
                .filter(|n| !n.is_empty());
        }
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
            self.keep(at, at + AROUND);
        }
    }

    /// No further problem will be taken, so none needs to be looked for.
    pub(super) fn full(&self) -> bool {
        self.problems.len() >= MOST_PROBLEMS
    }

    /// Lines that the compact form should show.
    pub(super) fn keep(&mut self, from: usize, to: usize) {
        if self.keep.len() < 2 * MOST_PROBLEMS {
            self.keep.push((from, to));
        }
    }

    pub(super) fn concept(&mut self, concept: &'static str) {
        if self.concepts.len() < MOST_CONCEPTS && !self.concepts.contains(&concept) {
            self.concepts.push(concept);
        }
    }

    pub(super) fn failed(&self) -> bool {
        self.verdict == Some(Outcome::Failed)
    }

    /// What another tool of the same command line said, behind the first.
    pub(super) fn also(&mut self, other: &Draft) {
        self.fact(&other.title);
        if other.failed() {
            for fact in other.facts.iter().take(3) {
                self.fact(fact);
            }
        }
        for concept in &other.concepts {
            self.concept(concept);
        }
        // What ran the failed tool only repeats that it failed.
        let repeats =
            matches!(other.tool, "make" | "just" | "npm run") && !self.problems.is_empty();
        for problem in other.problems.iter().filter(|_| !repeats) {
            if self.problems.len() < MOST_PROBLEMS && !self.problems.contains(problem) {
                self.problems.push(problem.clone());
            }
        }
        self.keep.extend(other.keep.iter().take(MOST_PROBLEMS));
        if other.failed() {
            self.verdict = Some(Outcome::Failed);
        }
    }

    pub(super) fn finish(mut self, doc: &Doc<'_>) -> Reading {
        let outcome = match (self.verdict, doc.host) {
            (Some(Outcome::Failed), _) | (_, Outcome::Failed) => Outcome::Failed,
            (Some(own), _) => own,
            (None, host) => host,
        };
        if self.verdict == Some(Outcome::Passed) && doc.host == Outcome::Failed {
            self.title = format!("{}; the command failed", text::cut(&self.title, TITLE - 20));
        }
        if self.facts.is_empty() {
            for at in 0..self.problems.len().min(MOST_FACTS) {
                let fact = self.problems[at].told();
                self.fact(fact);
            }
        }
        let mut files: Vec<String> = Vec::new();
        for file in self.problems.iter().filter_map(|p| p.file.as_ref()) {
            if files.len() < MOST_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
        Reading {
            tool: self.tool,
            outcome,
            title: text::cut(&text::squeeze(&self.title), TITLE),
            facts: self.facts,
            problems: self.problems,
            files,
            concepts: self.concepts.iter().map(|c| (*c).to_owned()).collect(),
            compact: compact::around(&doc.lines, &self.keep, COMPACT),
        }
    }
}

impl Problem {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            file: None,
            line: None,
            code: None,
            subject: None,
            message: message.into(),
        }
    }

    pub(super) fn at(mut self, file: &str, line: impl Into<Option<u32>>) -> Self {
        let file = file.trim();
        let file = file.strip_prefix("./").unwrap_or(file);
        if !file.is_empty() {
            self.file = Some(file.to_owned());
            self.line = line.into();
        }
        self
    }

    pub(super) fn code(mut self, code: &str) -> Self {
        self.code = Some(code.trim().to_owned()).filter(|c| !c.is_empty());
        self
    }

    pub(super) fn subject(mut self, subject: &str) -> Self {
        self.subject = Some(subject.trim().to_owned()).filter(|s| !s.is_empty());
        self
    }

    /// `src/store.rs:88`, as far as known.
    pub(super) fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }

    /// The place for a title: of an absolute path only the end.
    pub(super) fn short_place(&self) -> Option<String> {
        let place = self.place()?;
        if !(place.starts_with('/') || place.contains(":\\")) {
            return Some(place);
        }
        let end = place
            .rmatch_indices(['/', '\\'])
            .nth(1)
            .map_or(0, |(at, _)| at + 1);
        Some(place[end..].to_owned())
    }

    /// One line: code, subject, place, message.
    pub(super) fn told(&self) -> String {
        let code = self
            .code
            .as_ref()
            .filter(|c| !self.message.contains(c.as_str()));
        let name = code.map(|c| format!("{c} ")).unwrap_or_default();
        match self.place() {
            Some(place) => format!("{name}{place}: {}", self.message),
            None => format!("{name}{}", self.message),
        }
    }

    /// One line about a failing test: its name, what it said, where.
    pub(super) fn told_as_test(&self) -> String {
        let subject = self.subject.as_deref().unwrap_or("a test");
        let message = text::cut(&self.message, 120);
        let place = self.place().filter(|p| p != subject);
        match (place, message.is_empty()) {
            (Some(place), false) => format!("{subject}: {message} ({place})"),
            (Some(place), true) => format!("{subject} ({place})"),
            (None, false) => format!("{subject}: {message}"),
            (None, true) => subject.to_owned(),
        }
    }
}

/// How many tests did what.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
}

impl Draft {
    /// Title, count fact, verdict and facts of a test run. The failing tests
    /// are the problems that the draft holds.
    pub(super) fn tests(&mut self, counts: Counts) {
        self.concept("test");
        let named = text::len(self.problems.len());
        let failed = counts.failed.max(named);
        let total = counts.passed.saturating_add(failed);
        self.verdict = Some(if failed > 0 {
            Outcome::Failed
        } else {
            Outcome::Passed
        });
        let head = match (failed, total) {
            (0, _) => format!(
                "{}: {} passed",
                self.tool,
                text::many(counts.passed, "test")
            ),
            (1, 1) => format!("{}: 1 test failed", self.tool),
            (f, t) if f == t => format!("{}: {} failed", self.tool, text::many(f, "test")),
            (f, t) => format!("{}: {f} of {t} tests failed", self.tool),
        };
        let extra =
            (failed == 0 && counts.skipped > 0).then(|| format!(" ({} skipped)", counts.skipped));
        self.title = head + &extra.unwrap_or_default();
        self.name_subjects();
        let mut facts = vec![format!(
            "{} passed, {failed} failed{}",
            counts.passed,
            if counts.skipped > 0 {
                format!(", {} skipped", counts.skipped)
            } else {
                String::new()
            }
        )];
        facts.extend(
            self.problems
                .iter()
                .take(MOST_FACTS)
                .map(Problem::told_as_test),
        );
        facts.append(&mut self.facts);
        for fact in facts {
            self.fact(fact);
        }
    }

    /// The names of the failing tests behind the title, as many as fit whole.
    fn name_subjects(&mut self) {
        let mut names = String::new();
        let mut shown = 0;
        let subjects: Vec<&str> = self
            .problems
            .iter()
            .filter_map(|p| p.subject.as_deref())
            .collect();
        for subject in &subjects {
            let room = TITLE.saturating_sub(self.title.chars().count() + names.chars().count() + 8);
            if subject.chars().count() > room {
                break;
            }
            if shown > 0 {
                names.push_str(", ");
            }
            names.push_str(subject);
            shown += 1;
        }
        if shown == 0 {
            if let [only] = subjects[..] {
                let room = TITLE.saturating_sub(self.title.chars().count() + 4);
                names = text::cut(only, room);
            }
        } else if shown < subjects.len() {
            names.push_str(", …");
        }
        if !names.is_empty() {
            self.title = format!("{} ({names})", self.title);
        }
    }

    /// Title and verdict of a compiler or linter: the first error and how many.
    pub(super) fn diagnosed(&mut self, errors: u32, warnings: u32) {
        let first = self.problems.first().map(|p| {
            let said = p.message.trim_end_matches('.');
            match (&p.code, p.short_place()) {
                (Some(code), Some(place)) => format!("{code} in {place}: {said}"),
                (Some(code), None) => format!("{code}: {said}"),
                (None, Some(place)) => format!("{place}: {said}"),
                (None, None) => said.to_owned(),
            }
        });
        let count = match (errors, warnings) {
            (0, w) => text::many(w, "warning"),
            (e, 0) => text::many(e, "error"),
            (e, w) => format!("{}, {}", text::many(e, "error"), text::many(w, "warning")),
        };
        self.title = match (errors + warnings, first) {
            (0, _) => format!("{}: no problems", self.tool),
            (1, Some(first)) if errors == 1 => format!("{}: {first}", self.tool),
            (_, Some(first)) => format!("{}: {count}; first {first}", self.tool),
            (_, None) => format!("{}: {count}", self.tool),
        };
        self.verdict = Some(if errors > 0 {
            Outcome::Failed
        } else {
            Outcome::Passed
        });
        let mut facts = Vec::new();
        if errors + warnings > 1 {
            facts.push(count);
        }
        facts.extend(self.problems.iter().take(MOST_FACTS).map(Problem::told));
        facts.append(&mut self.facts);
        for fact in facts {
            self.fact(fact);
        }
    }
}
