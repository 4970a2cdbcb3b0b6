//! Columns, breaks and numbers.

use super::*;

#[test]
fn no_line_is_wider_than_its_room() {
    for text in [
        "short",
        "a title of many words that has to go on in the next line and the one after",
        "/a/very/long/path/without/any/blank/that/has/to/be/broken/somewhere/src/main.rs end",
        "一个没有空格的很长的标题需要在某处断开才能显示在终端上",
        "",
    ] {
        for room in [8, 20, 40] {
            let lines = wrap_text(text, room);
            assert!(
                lines.iter().all(|line| text_width(line) <= room),
                "{lines:?}"
            );
            let joined: String = lines.concat();
            let words: String = text.split_whitespace().collect();
            assert_eq!(joined.replace(' ', ""), words);
            assert!(text_width(&truncate_columns(text, room)) <= room);
        }
    }
}

#[test]
fn a_flat_text_is_one_line_that_a_terminal_only_shows() {
    for (text, told) in [
        ("one\n\n  two\tthree\r\n", "one two three"),
        ("\u{1b}[1;31mred\u{1b}[0m bell\u{7} \u{1b}[", "red bell"),
        ("a \u{202e}turned\u{202c} word", "a turned word"),
        ("un\u{200b}se\u{e0041}en\u{2066}", "unseen"),
        ("[31m stays", "[31m stays"),
        ("\u{1b}[31é", ""),
    ] {
        assert_eq!(flatten_text(text), told);
    }
}

#[test]
fn lines_are_as_wide_as_the_terminal_within_reason() {
    for (columns, wide) in [
        (None, 80),
        (Some(0), 80),
        (Some(12), 40),
        (Some(60), 60),
        (Some(100), 100),
        (Some(160), 120),
    ] {
        assert_eq!(choose_width(columns), wide);
    }
}

/// The columns of a small terminal.
const WIDTH: usize = 80;

#[test]
fn further_lines_hang_under_the_first() {
    let text = "word ".repeat(20);
    let told = hang_within(WIDTH, 12, "#1 bugfix · ", &text);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].starts_with("            word"), "{told}");
    assert!(lines.iter().all(|line| text_width(line) <= WIDTH));
    let told = hang_within(WIDTH, 3, "#1 bugfix · ", &text);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("#1 bugfix · word"), "{told}");
    assert!(lines[1].starts_with("   word"), "{told}");
    assert!(lines.iter().all(|line| text_width(line) <= WIDTH));
    assert_eq!(hang_text("lead ", ""), "lead\n");
}

#[test]
fn numbers_and_sizes() {
    assert_eq!(format_count(1, "event", "events"), "1 event");
    assert_eq!(
        format_count(1_204_000, "event", "events"),
        "1,204,000 events"
    );
    assert_eq!(format_size(0), "0 bytes");
    assert_eq!(format_size(1536), "1.5 KB");
    assert_eq!(format_size(3 << 30), "3.0 GB");
    assert_eq!(truncate_columns("one two three", 8), "one two…");
    assert_eq!(format_paths(&["a.rs", "b.rs", "c.rs"], 14), "a.rs, b.rs +1");
    assert_eq!(flatten_text(" a\tb\r\n\u{1b}[0m "), "a b");
}
