//! A change as lines with marks in front, and a little of what is around them.

use crate::output::{Output, Style, escape_invisible};

/// Lines shown before and after a change.
const CONTEXT_LINES: usize = 2;

/// What goes and what comes between two texts. One stretch of lines changes in
/// an edit of ours; what is the same before and after it is found from both
/// ends.
pub(super) fn render_diff(before: &str, after: &str, out: &Output) -> String {
    let old: Vec<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().collect();
    let least = old.len().min(new.len());
    let head = (0..least).take_while(|at| old[*at] == new[*at]).count();
    let tail = (0..least - head)
        .take_while(|at| old[old.len() - 1 - at] == new[new.len() - 1 - at])
        .count();
    let mut shown = String::new();
    let mut line = |mark: char, style: Style, text: &str| {
        let text = format!("{mark}{}", escape_invisible(text));
        shown.push_str(&out.paint(style, text.trim_end()));
        shown.push('\n');
    };
    for text in &old[head.saturating_sub(CONTEXT_LINES)..head] {
        line(' ', Style::Dim, text);
    }
    for text in &old[head..old.len() - tail] {
        line('-', Style::Red, text);
    }
    for text in &new[head..new.len() - tail] {
        line('+', Style::Green, text);
    }
    for text in old[old.len() - tail..].iter().take(CONTEXT_LINES) {
        line(' ', Style::Dim, text);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_marked() {
        let out = Output::new();
        let shown = |before: &str, after: &str| render_diff(before, after, &out);
        assert_eq!(
            shown("a\nb\nc\nd\ne\n", "a\nb\nX\nd\ne\n"),
            " a\n b\n-c\n+X\n d\n e\n"
        );
        assert_eq!(shown("a\na\n", "a\na\na\n"), " a\n a\n+a\n");
        assert_eq!(shown("", "x\n"), "+x\n");
        assert_eq!(shown("x\n", ""), "-x\n");
    }
}
