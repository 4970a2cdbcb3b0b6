//! The context block: lines within a budget, in one wrapper that says what they
//! are. Lines that do not fit are left out, never cut in the middle.

use remora_core::tokens;

/// The tag around everything that Remora injects. Text inside it is removed
/// before storing, or memory would remember its own injections.
pub const CONTEXT_TAG: &str = "remora-context";
/// A little less than the client accepts in one piece, in UTF-16 units; the rest
/// of a longer text would be replaced by a reference to a file.
const MAX_BLOCK_UTF16_UNITS: usize = 9_800;

/// A context block under construction.
#[derive(Debug)]
pub(super) struct ContextBlock {
    text: String,
    tokens: u32,
    units: usize,
    limit: u32,
    end: String,
}

impl ContextBlock {
    /// A block of at most so many tokens that begins with `head`.
    pub(super) fn new(limit: u32, head: &str) -> Self {
        let end = format!("</{CONTEXT_TAG}>");
        let mut page = Self {
            text: String::new(),
            tokens: 0,
            // Counted from the start, so that the closing tag always fits.
            units: end.len(),
            limit,
            end,
        };
        page.append_text(&format!("<{CONTEXT_TAG}>\n{head}\n"));
        page
    }

    /// Adds lines if they fit and returns their cost in tokens.
    pub(super) fn add_lines(&mut self, lines: &str) -> Option<u32> {
        let cost = tokens::estimate_tokens(lines) + 1;
        let units = lines.encode_utf16().count() + 1;
        if self.tokens + cost > self.limit || self.units + units > MAX_BLOCK_UTF16_UNITS {
            return None;
        }
        self.append_text(&format!("{lines}\n"));
        Some(cost)
    }

    /// How many tokens are left.
    pub(super) fn remaining_tokens(&self) -> u32 {
        self.limit.saturating_sub(self.tokens)
    }

    fn append_text(&mut self, text: &str) {
        self.tokens += tokens::estimate_tokens(text);
        self.units += text.encode_utf16().count();
        self.text.push_str(text);
    }

    /// The whole text.
    pub(super) fn into_text(mut self) -> String {
        self.text.push_str(&self.end);
        self.text
    }
}
