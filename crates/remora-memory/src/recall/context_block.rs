//! The text that a model gets: lines within a budget, in one wrapper that says
//! what they are. Whatever does not fit is left out, never cut in the middle.

use remora_core::tokens;

/// The tag around everything that Remora gives a model; text inside it is
/// never stored again.
pub const CONTEXT_TAG: &str = "remora-context";
/// What the client takes in one piece, in UTF-16 units, less a little.
const MAX_BLOCK_UTF16_UNITS: usize = 9_800;

/// A text in the making.
#[derive(Debug)]
pub(super) struct ContextBlock {
    text: String,
    tokens: u32,
    units: usize,
    limit: u32,
    end: String,
}

impl ContextBlock {
    /// A page of at most so many tokens, with what it begins with.
    pub(super) fn new(limit: u32, head: &str) -> Self {
        let end = format!("</{CONTEXT_TAG}>");
        let mut page = Self {
            text: String::new(),
            tokens: 0,
            units: end.len(),
            limit,
            end,
        };
        page.append_text(&format!("<{CONTEXT_TAG}>\n{head}\n"));
        page
    }

    /// Adds lines if they fit; the tokens that they cost, or `None`.
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
