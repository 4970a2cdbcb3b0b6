//! What an edit changes, as lines. One stretch of lines changes in an edit of
//! ours; what is the same before and after it is found from both ends.

/// Lines shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineChange {
    /// It stays, and is shown for orientation.
    Kept,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

/// The lines that change and a few around them.
pub fn diff_lines<'a>(before: &'a str, after: &'a str) -> Vec<(LineChange, &'a str)> {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let least = old.len().min(new.len());
    let head = (0..least).take_while(|at| old[*at] == new[*at]).count();
    let tail = (0..least - head)
        .take_while(|at| old[old.len() - 1 - at] == new[new.len() - 1 - at])
        .count();
    let mark = |change, lines: &[&'a str]| -> Vec<(LineChange, &'a str)> {
        lines.iter().map(|line| (change, *line)).collect()
    };
    let after_change = &old[old.len() - tail..];
    let shown_after = &after_change[..tail.min(CONTEXT_LINES)];
    let mut lines = mark(
        LineChange::Kept,
        &old[head.saturating_sub(CONTEXT_LINES)..head],
    );
    lines.extend(mark(LineChange::Removed, &old[head..old.len() - tail]));
    lines.extend(mark(LineChange::Added, &new[head..new.len() - tail]));
    lines.extend(mark(LineChange::Kept, shown_after));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_marked() {
        let shown = |before: &str, after: &str| -> String {
            let mark = |change| match change {
                LineChange::Kept => ' ',
                LineChange::Removed => '-',
                LineChange::Added => '+',
            };
            let lines = diff_lines(before, after);
            let marked: Vec<String> = lines
                .iter()
                .map(|(change, line)| format!("{}{line}", mark(*change)))
                .collect();
            marked.join(" ")
        };
        assert_eq!(
            shown("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n"),
            " a  b -c +X  d  e"
        );
        assert_eq!(shown("a\na\n", "a\na\na\n"), " a  a +a");
        assert_eq!(shown("", "x\n"), "+x");
        assert_eq!(shown("1\n2\n3\n4\n5\n", "1\n2\n3\n4\n"), " 2  3  4 -5");
    }
}
