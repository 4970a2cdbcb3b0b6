//! Which part of a prompt is embedded.

/// How much of a prompt is embedded, in bytes. The encoder reads 128 tokens,
/// which are fewer than this.
pub const MAX_EMBEDDED_BYTES: usize = 1_000;

/// As much of the text as is embedded.
pub fn bounded_text(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(MAX_EMBEDDED_BYTES)]
}
