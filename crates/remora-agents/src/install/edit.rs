//! Changes to a text by place: collected first, applied once.

use std::ops::Range;

use super::span::Node;

/// Changes that do not overlap.
#[derive(Debug, Default)]
pub(super) struct TextEdits(Vec<(Range<usize>, String)>);

impl TextEdits {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, at: usize, text: String) {
        self.0.push((at..at, text));
    }

    pub(super) fn replace_range(&mut self, range: Range<usize>, text: String) {
        self.0.push((range, text));
    }

    pub(super) fn join(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Cuts members out of a list or an object, each with the comma that it
    /// leaves behind; what was appended to others goes without a trace.
    pub(super) fn remove_members(&mut self, container: &Node, gone: &[bool]) {
        let spans: Vec<&Range<usize>> = match container.as_list() {
            Some(items) => items.iter().map(|item| &item.span).collect(),
            None => container.members().iter().map(|m| &m.span).collect(),
        };
        // Everything inside goes, blanks and all, so that the container is as
        // empty as before.
        let Some(first_kept) = gone.iter().position(|gone| !gone) else {
            if !gone.is_empty() {
                let inside = container.span.start + 1..container.span.end - 1;
                self.replace_range(inside, String::new());
            }
            return;
        };
        for at in (0..spans.len()).filter(|at| gone[*at]) {
            let range = if at < first_kept {
                // In front of what stays the comma behind goes, elsewhere the
                // one before: exactly one each.
                spans[at].start..spans[at + 1].start
            } else {
                spans[at - 1].end..spans[at].end
            };
            self.replace_range(range, String::new());
        }
    }

    pub(super) fn apply(mut self, text: &str) -> String {
        // Edits are collected in the order of the plan, not of the text.
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (range, new) in &self.0 {
            out.push_str(&text[at..range.start]);
            out.push_str(new);
            at = range.end;
        }
        out.push_str(&text[at..]);
        out
    }
}
