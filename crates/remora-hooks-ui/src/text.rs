//! Texts from elsewhere made fit for a terminal: what it would obey or hide is
//! shown, and what is too long is cut.

use std::path::Path;

use remora_core::text::is_invisible;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What stands for a line end.
const LINE_END_SIGN: char = '⏎';
/// What stands for what was cut.
const CUT_SIGN: char = '…';
/// The longest text that is laid out; what is shown of a hook is far shorter.
const MAX_SHOWN_CHARS: usize = 16 * 1024;

/// How a character is shown: most by themselves.
pub(crate) fn show_char(c: char, shown: &mut String) {
    match c {
        '\n' => shown.push(LINE_END_SIGN),
        '\t' => shown.push(' '),
        c if c.is_control() || is_invisible(c) => shown.extend(c.escape_default()),
        c => shown.push(c),
    }
}

/// A text on one line, with nothing in it that a terminal obeys or hides.
pub(crate) fn show_text(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(MAX_SHOWN_CHARS) {
        show_char(c, &mut shown);
    }
    shown
}

/// How many columns a shown text takes.
pub(crate) fn text_width(text: &str) -> usize {
    text.width()
}

/// A shown text in at most so many columns.
pub(crate) fn fit_text(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width + 1 > columns {
            break;
        }
        used += width;
        fitted.push(c);
    }
    if columns > 0 {
        fitted.push(CUT_SIGN);
    }
    fitted
}

/// A shown text in exactly so many columns.
pub(crate) fn pad_text(text: &str, columns: usize) -> String {
    let mut fitted = fit_text(text, columns);
    let blanks = columns.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', blanks));
    fitted
}

/// A shown text on as many lines as it takes, broken at blanks where there are
/// some.
pub(crate) fn wrap_text(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    // Where the line may be broken: behind its last blank.
    let mut blank = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > columns && !line.is_empty() {
            let rest = line.split_off(if blank > 0 { blank } else { line.len() });
            lines.push(line.trim_end().to_owned());
            line = rest;
            used = line.width();
            blank = 0;
        }
        line.push(c);
        used += width;
        if c == ' ' {
            blank = line.len();
        }
    }
    lines.push(line);
    lines
}

/// A path, with the home directory as `~`.
pub(crate) fn show_path(path: &Path, home: &Path) -> String {
    let shown = match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    };
    show_text(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(
            show_text("a\n\tb\u{1b}[2Jc\u{202e}"),
            "a⏎ b\\u{1b}[2Jc\\u{202e}"
        );
    }

    #[test]
    fn long_texts_are_cut_and_wrapped_by_columns() {
        assert_eq!(fit_text("漢字かな", 5), "漢字…");
        assert_eq!(fit_text("abc", 0), "");
        assert_eq!(pad_text("ab", 4), "ab  ");
        assert_eq!(wrap_text("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap_text("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap_text("漢字", 1), ["漢", "字"]);
        assert_eq!(wrap_text("", 5), [""]);
    }

    #[test]
    fn the_home_directory_is_short() {
        let home = Path::new("/home/me");
        assert_eq!(show_path(Path::new("/home/me/a b"), home), "~/a b");
        assert_eq!(show_path(Path::new("/home/mean"), home), "/home/mean");
    }
}
