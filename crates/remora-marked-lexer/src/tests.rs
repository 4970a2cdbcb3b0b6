//! Answers of the real lexer, and hostile texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{MarkedDocument, Piece, PieceSink};

#[derive(Default)]
struct PieceList {
    pieces: Vec<Value>,
    lines: Vec<usize>,
}

impl PieceSink for PieceList {
    fn accept_piece(&mut self, piece: Piece<'_>, lines: &[usize]) {
        let (kind, text) = match piece {
            Piece::Text(text, _) => ("text", text),
            Piece::Lines(text) => ("lines", text),
            // To `marked`, the line end behind a fence is part of it.
            Piece::Code(text) => ("code", text.trim_end_matches('\n')),
            Piece::Html(text) => ("html", text),
            Piece::Escape(text, _) => ("escape", text),
            Piece::Image(text) => ("image", text),
        };
        self.pieces.push(json!([kind, text]));
        self.lines.extend(lines.first());
    }
}

fn list_pieces(text: &str) -> PieceList {
    let mut list = PieceList::default();
    MarkedDocument::parse(text).walk_pieces(&mut list);
    list
}

#[test]
fn agrees_with_the_answers_recorded_from_marked() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../cases/marked.json")).unwrap();
    let mut wrong = Vec::new();
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let document = MarkedDocument::parse(text);
        let blocks: Vec<Value> = document
            .top_blocks()
            .map(|block| json!([block.is_html, block.raw]))
            .collect();
        let pieces = list_pieces(text).pieces;
        if json!(blocks) != case["blocks"] {
            wrong.push(format!(
                "{text:?}\n  {}\n  {}",
                json!(blocks),
                case["blocks"]
            ));
        }
        if json!(pieces) != case["pieces"] {
            wrong.push(format!(
                "{text:?}\n  {}\n  {}",
                json!(pieces),
                case["pieces"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases.len() >= 300, "{} texts", cases.len());
}

/// Without the bounds each of these takes minutes.
#[test]
fn hostile_texts_end_soon() {
    for unit in [
        ">",
        "> ",
        "- ",
        "1. ",
        "[",
        "![",
        "[a](b",
        "[`",
        "`",
        "*",
        "*a ",
        "a**b",
        "_*",
        "<",
        "<!--",
        "x <!-- ",
        "<a b=\"",
        "\\",
        "> - a\nb\n",
        "> > a\nb\n",
        "[r]: <\n",
        "a\n",
        "> - a\n#b\n",
        "\u{2028}*a",
        "<div>\n",
    ] {
        let text = unit.repeat(100_000 / unit.len());
        let pieces = list_pieces(&text).pieces;
        assert!(pieces.len() <= 2 * text.len(), "{unit:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_keeps_its_lines(text in "[-a \n\t>#*_`<!\\[\\]()@é😀\u{2028}]{0,80}") {
        let lines = text.split('\n').count();
        for line in list_pieces(&text).lines {
            prop_assert!((1..=lines).contains(&line));
        }
    }
}
