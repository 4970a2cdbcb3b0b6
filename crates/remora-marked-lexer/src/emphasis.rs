//! Emphasis: finds the run of stars or underscores that closes an opening
//! run. The runs of a text are sorted out once; each search walks over them.

use super::chars::{is_punctuation, is_space};

/// What a run can do, by the characters around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunRole {
    Closes,
    Opens,
    Both,
}

#[derive(Clone, Copy, Debug)]
struct MarkRun {
    at: usize,
    len: usize,
    role: RunRole,
}

/// The runs of a masked text.
pub(super) struct EmphasisRuns {
    masked: String,
    stars: Vec<MarkRun>,
    lows: Vec<MarkRun>,
}

/// The runs of one mark. Nothing behind the last one that closes matters.
fn drop_unclosable(mut runs: Vec<MarkRun>) -> Vec<MarkRun> {
    let last = runs.iter().rposition(|run| run.role != RunRole::Opens);
    runs.truncate(last.map_or(0, |last| last + 1));
    runs
}

impl EmphasisRuns {
    pub(super) fn new(masked: String) -> EmphasisRuns {
        EmphasisRuns {
            stars: drop_unclosable(find_runs(&masked, b'*')),
            lows: drop_unclosable(find_runs(&masked, b'_')),
            masked,
        }
    }

    /// For a run of `open` marks that ends at `from`: where the emphasis
    /// ends, and how many marks close it.
    pub(super) fn close(
        &self,
        mark: u8,
        from: usize,
        open: usize,
        pay: &mut impl FnMut(usize) -> bool,
    ) -> Option<(usize, usize)> {
        let (runs, other) = match mark {
            b'*' => (&self.stars, b'_'),
            _ => (&self.lows, b'*'),
        };
        // Without a later run that closes, a search could only fail.
        if runs.last().is_none_or(|last| last.at <= from) {
            return None;
        }
        let start =
            find_orphan_end(&self.masked[from..], mark, other).map_or(from, |skip| from + skip);
        let first = runs.partition_point(|run| run.at <= start);
        let mut total = open;
        let mut middle = 0;
        for run in &runs[first..] {
            if !pay(1) {
                return None;
            }
            if run.role == RunRole::Opens {
                total += run.len;
                continue;
            }
            // CommonMark's rule of three: runs that can both open and close do not pair if their
            // lengths add up to a multiple of three.
            if run.role == RunRole::Both
                && !open.is_multiple_of(3)
                && (open + run.len).is_multiple_of(3)
            {
                middle += run.len;
                continue;
            }
            if run.len < total {
                total -= run.len;
                continue;
            }
            let len = run.len.min(total + middle);
            return Some((run.at + len, len));
        }
        None
    }
}

/// All runs of `mark` that can open or close something.
fn find_runs(masked: &str, mark: u8) -> Vec<MarkRun> {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(step) = masked[at..].find(char::from(mark)) {
        at += step;
        let len = super::line::count_marks(&masked[at..], mark);
        let before = masked[..at].chars().next_back();
        let after = masked[at + len..].chars().next();
        if let Some(role) = before.and_then(|before| classify_run(before, after, mark)) {
            runs.push(MarkRun { at, len, role });
        }
        at += len;
    }
    runs
}

fn classify_run(before: char, after: Option<char>, mark: u8) -> Option<RunRole> {
    let plain = |c: char| !is_space(c) && !is_punctuation(c);
    let Some(after) = after else {
        return (!is_space(before)).then_some(RunRole::Closes);
    };
    match (plain(before), plain(after)) {
        // Underscores inside a word are part of it: `snake_case_name.md` stays whole.
        (true, true) => (mark == b'*').then_some(RunRole::Both),
        (true, false) => Some(RunRole::Closes),
        (false, true) => Some(RunRole::Opens),
        (false, false) => match (is_space(before), is_space(after)) {
            (true, true) => None,
            (true, false) => Some(RunRole::Opens),
            (false, true) => Some(RunRole::Closes),
            (false, false) => Some(RunRole::Both),
        },
    }
}

/// A single mark of the one kind between double marks of the other kind is
/// passed over, when it comes first. Gives the place behind it.
fn find_orphan_end(text: &str, mark: u8, other: u8) -> Option<usize> {
    let (mark, other) = (char::from(mark), char::from(other));
    let next = |from: usize| text[from..].find([mark, other]).map(|at| from + at);
    let double = |at: &usize| text[*at..].starts_with(other) && text[at + 1..].starts_with(other);
    let first = next(0).filter(double)?;
    let single = next(first + 2).filter(|at| text[*at..].starts_with(mark))?;
    next(single + 1).filter(double)
}
