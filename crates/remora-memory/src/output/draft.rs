//! What a reader of one tool works on and what it hands back, with every limit
//! of a [`CommandReading`] kept in one place.

use remora_shell::lenient::CommandLine;

use super::{CommandOutcome, CommandReading, Problem, compact, text};

const MAX_FACTS: usize = 12;
const MAX_PROBLEMS: usize = 20;
const MAX_FILES: usize = 20;
const MAX_CONCEPTS: usize = 6;
const MAX_TITLE_CHARS: usize = 120;
const MAX_FACT_CHARS: usize = 200;
const MAX_MESSAGE_CHARS: usize = 300;
const MAX_NAME_CHARS: usize = 160;
const MAX_COMPACT_CHARS: usize = 1_500;
/// Lines kept in the compact form around each problem.
const PROBLEM_CONTEXT_LINES: usize = 6;

/// An output, plain and in lines, and the command that printed it.
pub(super) struct CommandOutput<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
    pub(super) command: &'a CommandLine,
    pub(super) host: CommandOutcome,
}

impl CommandOutput<'_> {
    pub(super) fn line_at(&self, at: usize) -> &str {
        self.lines.get(at).copied().unwrap_or_default()
    }
}

/// A reading in the making.
pub(super) struct CommandDraft {
    pub(super) tool: &'static str,
    /// What the output itself says; `None` leaves it to the host.
    pub(super) verdict: Option<CommandOutcome>,
    pub(super) title: String,
    pub(super) facts: Vec<String>,
    pub(super) problems: Vec<Problem>,
    pub(super) concepts: Vec<&'static str>,
    keep: Vec<(usize, usize)>,
}

impl CommandDraft {
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

    /// A run that passed, in these words.
    pub(super) fn passed(tool: &'static str, concept: &'static str, title: String) -> Self {
        let mut draft = Self::new(tool);
        draft.verdict = Some(CommandOutcome::Passed);
        draft.add_concept(concept);
        draft.title = title;
        draft
    }

    /// A run that failed with one message, about a subject if it names one.
    pub(super) fn failed(
        tool: &'static str,
        concept: &'static str,
        at: usize,
        message: &str,
        subject: Option<&str>,
    ) -> Self {
        let mut draft = Self::new(tool);
        draft.verdict = Some(CommandOutcome::Failed);
        draft.add_concept(concept);
        draft.title = format!("{tool}: {message}");
        let mut problem = Problem::new(message);
        problem.subject = subject.map(str::to_owned);
        draft.add_problem(at, problem);
        draft
    }

    pub(super) fn add_fact(&mut self, fact: impl AsRef<str>) {
        if self.facts.len() >= MAX_FACTS {
            return;
        }
        let fact = text::truncate_chars(&text::collapse_whitespace(fact.as_ref()), MAX_FACT_CHARS);
        if !fact.is_empty() && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// A problem found at a line of the output; the same one twice is one.
    pub(super) fn add_problem(&mut self, at: usize, mut problem: Problem) {
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        problem.message = text::truncate_chars(
            &text::collapse_whitespace(&problem.message),
            MAX_MESSAGE_CHARS,
        );
        for name in [&mut problem.file, &mut problem.code, &mut problem.subject] {
            *name = name
                .take()
                .map(|n| text::truncate_chars(&n, MAX_NAME_CHARS))
                .filter(|n| !n.is_empty());
        }
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
            self.keep_lines(at, at + PROBLEM_CONTEXT_LINES);
        }
    }

    /// No further problem will be taken, so none needs to be looked for.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Lines that the compact form should show.
    pub(super) fn keep_lines(&mut self, from: usize, to: usize) {
        // A bound of its own: readers keep summary lines besides their
        // problems.
        if self.keep.len() < 2 * MAX_PROBLEMS {
            self.keep.push((from, to));
        }
    }

    pub(super) fn add_concept(&mut self, concept: &'static str) {
        if self.concepts.len() < MAX_CONCEPTS && !self.concepts.contains(&concept) {
            self.concepts.push(concept);
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.verdict == Some(CommandOutcome::Failed)
    }

    /// What another tool of the same command line said, behind the first.
    pub(super) fn merge_draft(&mut self, other: &CommandDraft) {
        self.add_fact(&other.title);
        if other.has_failed() {
            for fact in other.facts.iter().take(3) {
                self.add_fact(fact);
            }
        }
        for concept in &other.concepts {
            self.add_concept(concept);
        }
        // What ran the failed tool only repeats that it failed.
        let repeats =
            matches!(other.tool, "make" | "just" | "npm run") && !self.problems.is_empty();
        for problem in other.problems.iter().filter(|_| !repeats) {
            if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(problem) {
                self.problems.push(problem.clone());
            }
        }
        self.keep.extend(other.keep.iter().take(MAX_PROBLEMS));
        if other.has_failed() {
            self.verdict = Some(CommandOutcome::Failed);
        }
    }

    pub(super) fn into_reading(mut self, doc: &CommandOutput<'_>) -> CommandReading {
        let outcome = match (self.verdict, doc.host) {
            // A failure on either side counts: behind `| tail` a failed run
            // exits with 0.
            (Some(CommandOutcome::Failed), _) | (_, CommandOutcome::Failed) => {
                CommandOutcome::Failed
            }
            (Some(own), _) => own,
            (None, host) => host,
        };
        // The tool passed and the line failed: what failed may be another part
        // of it, so both are said.
        if self.verdict == Some(CommandOutcome::Passed) && doc.host == CommandOutcome::Failed {
            self.title = format!(
                "{}; the command failed",
                text::truncate_chars(&self.title, MAX_TITLE_CHARS - 20)
            );
        }
        if self.facts.is_empty() {
            for at in 0..self.problems.len().min(MAX_FACTS) {
                let fact = self.problems[at].to_text();
                self.add_fact(fact);
            }
        }
        let mut files: Vec<String> = Vec::new();
        for file in self.problems.iter().filter_map(|p| p.file.as_ref()) {
            if files.len() < MAX_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
        CommandReading {
            tool: self.tool,
            outcome,
            title: text::truncate_chars(&text::collapse_whitespace(&self.title), MAX_TITLE_CHARS),
            facts: self.facts,
            problems: self.problems,
            files,
            concepts: self.concepts.iter().map(|c| (*c).to_owned()).collect(),
            compact: compact::compact_around(&doc.lines, &self.keep, MAX_COMPACT_CHARS),
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

    pub(super) fn with_location(mut self, file: &str, line: impl Into<Option<u32>>) -> Self {
        let file = file.trim();
        let file = file.strip_prefix("./").unwrap_or(file);
        if !file.is_empty() {
            self.file = Some(file.to_owned());
            self.line = line.into();
        }
        self
    }

    pub(super) fn with_code(mut self, code: &str) -> Self {
        self.code = Some(code.trim().to_owned()).filter(|c| !c.is_empty());
        self
    }

    pub(super) fn with_subject(mut self, subject: &str) -> Self {
        self.subject = Some(subject.trim().to_owned()).filter(|s| !s.is_empty());
        self
    }

    /// `src/store.rs:88`, as far as known.
    pub(super) fn format_location(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }

    /// The place for a title: of an absolute path only the end.
    pub(super) fn short_place(&self) -> Option<String> {
        let place = self.format_location()?;
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
    pub(super) fn to_text(&self) -> String {
        let code = self
            .code
            .as_ref()
            .filter(|c| !self.message.contains(c.as_str()));
        let name = code.map(|c| format!("{c} ")).unwrap_or_default();
        match self.format_location() {
            Some(place) => format!("{name}{place}: {}", self.message),
            None => format!("{name}{}", self.message),
        }
    }

    /// One line about a failing test: its name, what it said, where.
    pub(super) fn told_as_test(&self) -> String {
        let subject = self.subject.as_deref().unwrap_or("a test");
        let message = text::truncate_chars(&self.message, 120);
        let place = self.format_location().filter(|p| p != subject);
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
pub(super) struct TestCounts {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
}

impl TestCounts {
    /// The counts of a line such as `Tests: 1 failed, 2 todo, 3 passed`.
    pub(super) fn parse_line(line: &str) -> Self {
        let count = |what: &str| text::count_of(line, what).unwrap_or(0);
        Self {
            passed: count("passed"),
            failed: count("failed"),
            skipped: count("skipped") + count("todo"),
        }
    }
}

impl CommandDraft {
    /// Title, count fact, verdict and facts of a test run. The failing tests
    /// are the problems that the draft holds.
    pub(super) fn apply_test_counts(&mut self, counts: TestCounts) {
        self.add_concept("test");
        let named = text::to_count(self.problems.len());
        // Counts may be cut off while the failing tests are named.
        let failed = counts.failed.max(named);
        let total = counts.passed.saturating_add(failed);
        self.verdict = Some(if failed > 0 {
            CommandOutcome::Failed
        } else {
            CommandOutcome::Passed
        });
        let head = match (failed, total) {
            (0, _) => format!(
                "{}: {} passed",
                self.tool,
                text::format_count_u32(counts.passed, "test")
            ),
            (1, 1) => format!("{}: 1 test failed", self.tool),
            (f, t) if f == t => format!(
                "{}: {} failed",
                self.tool,
                text::format_count_u32(f, "test")
            ),
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
                .take(MAX_FACTS)
                .map(Problem::told_as_test),
        );
        facts.append(&mut self.facts);
        for fact in facts {
            self.add_fact(fact);
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
            let room = MAX_TITLE_CHARS
                .saturating_sub(self.title.chars().count() + names.chars().count() + 8);
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
                let room = MAX_TITLE_CHARS.saturating_sub(self.title.chars().count() + 4);
                names = text::truncate_chars(only, room);
            }
        } else if shown < subjects.len() {
            names.push_str(", …");
        }
        if !names.is_empty() {
            self.title = format!("{} ({names})", self.title);
        }
    }

    /// Title and verdict of a compiler or linter: the first error and how many.
    pub(super) fn apply_diagnostics(&mut self, errors: u32, warnings: u32) {
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
            (0, w) => text::format_count_u32(w, "warning"),
            (e, 0) => text::format_count_u32(e, "error"),
            (e, w) => format!(
                "{}, {}",
                text::format_count_u32(e, "error"),
                text::format_count_u32(w, "warning")
            ),
        };
        self.title = match (errors + warnings, first) {
            (0, _) => format!("{}: no problems", self.tool),
            (1, Some(first)) if errors == 1 => format!("{}: {first}", self.tool),
            (_, Some(first)) => format!("{}: {count}; first {first}", self.tool),
            (_, None) => format!("{}: {count}", self.tool),
        };
        self.verdict = Some(if errors > 0 {
            CommandOutcome::Failed
        } else {
            CommandOutcome::Passed
        });
        let mut facts = Vec::new();
        if errors + warnings > 1 {
            facts.push(count);
        }
        facts.extend(self.problems.iter().take(MAX_FACTS).map(Problem::to_text));
        facts.append(&mut self.facts);
        for fact in facts {
            self.add_fact(fact);
        }
    }
}
