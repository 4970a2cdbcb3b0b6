//! What is said in a row, and which of its words say what it is about: the
//! texts that are embedded. Those are short, because a long one says less about
//! each of its parts.

use remora_core::record::Item;

/// How much the model reads, in bytes.
const MAX_EMBEDDED_BYTES: usize = 800;
/// How much of a text the static table reads, in bytes.
const MAX_STATIC_EMBEDDED_BYTES: usize = 300;
/// Speakers that are roles: they say nothing about who it was.
const ROLE_SPEAKERS: [&str; 6] = ["assistant", "code", "human", "system", "tool", "user"];

/// Everything that is said in a row, and who said it.
pub fn list_texts(item: &Item) -> impl Iterator<Item = &String> {
    [&item.title, &item.text]
        .into_iter()
        .chain(&item.facts)
        .chain(&item.concepts)
        .chain(&item.files_read)
        .chain(&item.files_modified)
        .chain(&item.speaker)
}

/// Whether a speaker is a role, not somebody.
pub fn is_role(speaker: &str) -> bool {
    ROLE_SPEAKERS
        .iter()
        .any(|role| role.eq_ignore_ascii_case(speaker))
}

/// What the static table reads of a row.
pub fn gist_of(item: &Item) -> String {
    let text = &item.text[..item.text.floor_char_boundary(MAX_STATIC_EMBEDDED_BYTES)];
    [&item.title, " ", text].concat()
}

/// What the model reads of a row.
pub fn build_embedding_text(item: &Item) -> String {
    let mut about = String::with_capacity(MAX_EMBEDDED_BYTES);
    if let Some(speaker) = item.speaker.as_ref().filter(|name| !is_role(name)) {
        append_text(&mut about, speaker);
        about.push(':');
    }
    // Rows that came without a title have the beginning of their text for one.
    let title = item.title.trim_end_matches('…');
    if !starts_with_title(&item.text, title) {
        append_text(&mut about, &item.title);
    }
    append_text(&mut about, &item.text);
    for fact in &item.facts {
        append_text(&mut about, fact);
    }
    about
}

/// Whether the text begins with the words of the title.
fn starts_with_title(text: &str, title: &str) -> bool {
    let mut words = text.split_whitespace();
    title
        .split_whitespace()
        .all(|word| words.next().is_some_and(|own| own.starts_with(word)))
}

fn append_text(about: &mut String, text: &str) {
    let text = text.trim();
    let room = MAX_EMBEDDED_BYTES.saturating_sub(about.len() + 1);
    if text.is_empty() || room == 0 {
        return;
    }
    if !about.is_empty() {
        about.push(' ');
    }
    about.push_str(&text[..text.floor_char_boundary(room)]);
}

#[cfg(test)]
mod tests {
    use super::{MAX_EMBEDDED_BYTES, build_embedding_text};
    use crate::testing::item;
    use remora_core::record::Item;

    #[test]
    fn a_title_that_repeats_the_text_is_told_once() {
        let row = Item {
            text: "the cache is\nkept for ten minutes, then dropped".into(),
            speaker: Some("Caroline".into()),
            ..item("a", "the cache is kept for…")
        };
        assert_eq!(
            build_embedding_text(&row),
            "Caroline: the cache is\nkept for ten minutes, then dropped"
        );
        let row = Item {
            facts: vec!["ttl = 600".into()],
            title: "cache: raised the limit".into(),
            speaker: Some("user".into()),
            ..row
        };
        assert_eq!(
            build_embedding_text(&row),
            "cache: raised the limit the cache is\nkept for ten minutes, then dropped ttl = 600"
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let row = Item {
            text: "連".repeat(2_000),
            ..item("a", "")
        };
        let about = build_embedding_text(&row);
        assert!(about.len() <= MAX_EMBEDDED_BYTES && about.len() > MAX_EMBEDDED_BYTES - 4);
    }
}
