//! What becomes of words: cases, and what must hold for any text.

use proptest::prelude::*;
use remora_embed::Embedding;

use super::{MAX_TERM_BYTES, Query, holds_phrase, split_terms, stop};

#[test]
fn texts_become_terms() {
    for (text, expected) in [
        ("", ""),
        ("Connections were closed", "connect were close"),
        ("camelCase", "camel case camelcas"),
        ("snake_case-name", "snake case name snakecasenam"),
        ("HTTPServer2", "http server2 server httpserver2"),
        ("E0502 TS2345", "e0502 0502 ts2345 ts 2345"),
        ("v1.2.3", "v1 2 3 v1_2_3"),
        ("2024-03-15", "2024 03 15 2024_03_15"),
        ("std::fs::File", "std fs file"),
        ("src/sqlite.rs:42", "src sqlite rs sqliter 42"),
        ("Caroline's don't", "carolin dont"),
        ("C++ and C#, F#", "cpp and csharp fsharp"),
        ("x# of a#b", "x of a b"),
        ("c++20 by g++", "cpp 20 by cpp"),
        ("i++; x++ in Notepad++", "i x in notepad"),
        ("Café ＡＢＣ", "cafe abc"),
        ("数据库", "数据 据库 库"),
        ("使用React组件", "使用 用 react 组件 件"),
        ("猫", "猫"),
        ("3f2a9c4e5d6b7a8f", "3f2a9c4e5d6b7a8f"),
        ("...---'''___", ""),
        ("_private_ -flag", "privat flag"),
    ] {
        assert_eq!(split_terms(text), expected, "{text:?}");
    }
}

/// Each word as its ways, separated by `|`; a phrase stands in quotes.
fn shown(text: &str) -> String {
    let shown: Vec<String> = Query::parse(text)
        .groups()
        .iter()
        .map(|group| {
            let ways: Vec<String> = group.ways().iter().map(|way| way.join("+")).collect();
            match (group.phrase(), group.prefix()) {
                (Some(_), _) => format!("\"{}\"", ways.join("|")),
                (_, Some(prefix)) => format!("{prefix}*"),
                _ => ways.join("|"),
            }
        })
        .collect();
    shown.join(" ")
}

#[test]
fn typed_text_becomes_groups() {
    for (text, expected) in [
        ("", ""),
        ("what is the walrus doing", "walrus"),
        ("what is it", "what is it"),
        ("walrus Walrus WALRUSES", "walrus"),
        ("parseRequest", "parserequest|pars+request"),
        ("E0502", "e0502"),
        ("\"out of memory\" crash", "\"out+of+memori\" crash"),
        ("\"walrus\"", "walrus"),
        ("say \"out of", "say out"),
        ("“smart quotes”", "\"smart+quot\""),
        ("a AND b* -c ^d NEAR(e) f:g", "b c d near e f g"),
        ("数据库", "数据 据库"),
        ("库", "库*"),
        // Nothing else is left of it.
        ("为什么", "为什 什么"),
        ("***", ""),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn only_nothing_is_blank() {
    let blank: Vec<bool> = ["", " \n", "***", "word"]
        .iter()
        .map(|text| Query::parse(text).is_blank())
        .collect();
    assert_eq!(blank, [true, true, false, false]);
}

#[test]
fn a_query_keeps_its_text_and_takes_a_meaning() {
    let query = Query::parse(" The \"Walrus Zoo\" \n");
    assert_eq!(query.text(), "The \"Walrus Zoo\"");
    assert_eq!(query.text_embedding(), None);
    let meaning = Embedding::from_vector(&[1.0, 0.0]);
    let understood = query.clone().with_meaning(meaning.clone());
    assert_eq!(understood.text_embedding(), Some(&meaning));
    assert_eq!(understood.groups(), query.groups());
}

#[test]
fn long_queries_keep_the_rarest_words() {
    let filler: String = ('a'..='z')
        .flat_map(|a| ('a'..='z').map(move |b| format!("{a}{b}k ")))
        .collect();
    let query = Query::parse(&format!("{filler} parseHttpRequest E0502 {filler}"));
    assert!(query.groups().len() <= 32);
    let all = format!("{:?}", query.groups());
    assert!(
        all.contains("parsehttprequest") && all.contains("e0502"),
        "{all}"
    );
    assert!(Query::parse(&"x".repeat(1 << 20)).groups().len() == 1);
}

#[test]
fn phrases_stand_in_order() {
    let phrase =
        |text: &str| -> Vec<String> { split_terms(text).split(' ').map(str::to_owned).collect() };
    for (text, words, holds) in [
        ("out of memory", "out of memory", true),
        ("it ran out out of memory today", "out of memory", true),
        ("memory out of", "out of memory", false),
        ("out_of_memory", "out of memory", true),
        ("a a b", "a b", true),
        ("", "a", false),
    ] {
        assert_eq!(holds_phrase(text, &phrase(words)), holds, "{text:?}");
    }
}

#[test]
fn stop_words_are_sorted() {
    assert!(stop::list_stop_words().is_sorted());
    assert!(
        stop::list_stop_words()
            .iter()
            .all(|word| stop::is_stop(word))
    );
    for word in ["", "th", "thee", "theirsx", "么什", "zz"] {
        assert!(!stop::is_stop(word), "{word}");
    }
}

/// Text with what makes splitting hard.
fn messy() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-zA-Z0-9_.'\"#+:/-]{0,12}",
        "[ \t\r\n\u{0}]",
        "[数据库あア한ก]{0,4}",
        "[éßÆøİΣ\u{301}\u{307}]{0,3}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn terms_survive_a_tokenizer(text in messy()) {
        let all = split_terms(&text);
        for term in all.split(' ').filter(|_| !all.is_empty()) {
            prop_assert!(!term.is_empty() && term.len() <= MAX_TERM_BYTES);
            let kept = |c: char| if c.is_ascii() {
                c.is_ascii_digit() || c.is_ascii_lowercase() || c == '_'
            } else {
                !c.is_whitespace() && !c.is_control()
            };
            prop_assert!(term.chars().all(kept), "{term:?}");
            // Filters stand in the index as terms that begin with `_`.
            prop_assert!(!term.starts_with('_'), "{term:?}");
        }
    }

    #[test]
    fn a_text_holds_what_is_asked_with_it(text in messy()) {
        let all: Vec<String> = split_terms(&text).split(' ').map(str::to_owned).collect();
        let text = text.replace(['"', '\u{201C}', '\u{201D}', '\u{201E}'], " ");
        for group in Query::parse(&text).groups() {
            let held = group.ways().iter().any(|way| way.iter().all(|term| all.contains(term)))
                || group.prefix().is_some_and(|prefix| all.iter().any(|term| term.starts_with(prefix)));
            prop_assert!(held, "{group:?} in {all:?}");
        }
    }

    #[test]
    fn case_never_matters(text in "[a-z ]{0,40}") {
        let (low, loud) = (Query::parse(&text), Query::parse(&text.to_uppercase()));
        prop_assert_eq!(low.groups(), loud.groups());
    }

    #[test]
    fn queries_are_bounded(text in messy()) {
        let query = Query::parse(&text.repeat(20));
        prop_assert!(query.groups().len() <= 32);
        prop_assert!(query.groups().iter().all(|group| !group.ways().is_empty()));
    }
}
