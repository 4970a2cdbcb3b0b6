//! Gists: near what they are about, and there only if something is known.

use proptest::prelude::*;

use super::{MAX_TEXT_BYTES, StaticEmbedder, embed_static, is_word};

fn cosine(a: &str, b: &str) -> f32 {
    embed_static(a)
        .unwrap()
        .cosine_similarity(&embed_static(b).unwrap())
}

#[test]
fn a_word_is_whole_in_the_vocabulary() {
    for word in ["automobile", "Database", "history"] {
        assert!(is_word(word), "{word}");
    }
    for word in ["zzzqqq", "qwertyuiop", "zz", "q", "12345", "", "a1b2c3d4"] {
        assert!(!is_word(word), "{word}");
    }
}

#[test]
fn what_is_alike_is_nearer() {
    let groups = [
        (
            "database migration",
            "the SQL schema was upgraded",
            "we had pasta for lunch",
        ),
        (
            "login fails",
            "password authentication error",
            "a walk along the river",
        ),
        (
            "make it faster",
            "performance and speed",
            "licence of the font",
        ),
        (
            "retry a failed request",
            "try the http call again",
            "colour of the button",
        ),
    ];
    for (text, near, far) in groups {
        let (near, far) = (cosine(text, near), cosine(text, far));
        assert!(near > far + 0.1, "{text}: {near} {far}");
    }
}

#[test]
fn the_order_and_case_of_words_do_not_matter() {
    assert!(cosine("Error in the PARSER", "parser: the in error") > 0.8);
    assert!(cosine("parser error", "ERROR parser") > 0.999);
}

#[test]
fn texts_without_a_known_word_have_none() {
    for text in [
        "",
        " \n\t",
        "\u{1f600}\u{1f601}",
        "\0\u{200b}",
        &"x".repeat(101),
    ] {
        assert_eq!(embed_static(text), None, "{text:?}");
        assert_eq!(StaticEmbedder::new().embed_static(text), None, "{text:?}");
    }
}

#[test]
fn only_the_beginning_of_a_long_text_counts() {
    let lead = "migration ".repeat(MAX_TEXT_BYTES / 10 + 1);
    let long = format!("{lead} pasta for lunch");
    assert_eq!(embed_static(&lead), embed_static(&long));
    // A character across the bound is left out, not cut.
    assert!(embed_static(&"é ".repeat(MAX_TEXT_BYTES)).is_some());
}

#[test]
fn it_has_the_dimensions_it_says() {
    assert_eq!(
        embed_static("word").map(|embedding| embedding.dims()),
        Some(crate::STATIC_EMBEDDING_DIMS)
    );
}

proptest! {
    #[test]
    fn a_gister_gives_the_same(texts in proptest::collection::vec("([a-zA-Z_.-]{1,10} ){0,8}", 1..6)) {
        let mut gister = StaticEmbedder::default();
        for text in texts.iter().chain(&texts) {
            prop_assert_eq!(gister.embed_static(text), embed_static(text));
        }
    }
}
