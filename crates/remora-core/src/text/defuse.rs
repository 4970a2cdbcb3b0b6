//! Stored text cannot speak for the client: tags that a client or a model obeys
//! lose their opening character, in every spelling of it, and nothing else
//! changes. Comparisons, generics, markup and configuration pass byte for byte.

use std::borrow::Cow;
use std::iter::Peekable;

use super::is_invisible;

#[cfg(test)]
mod tests;

/// Characters examined after an opening one. Beyond it nothing but blanks and
/// invisible characters would still belong to a tag, and that is no code.
const MAX_LOOKAHEAD_CHARS: usize = 200;

/// Wrappers that Remora or the client puts around text. No program has a use
/// for them, so they go wherever they occur.
const WRAPPER_TAGS: &[&str] = &[
    "bash-input",
    "bash-stderr",
    "bash-stdout",
    "command-args",
    "command-message",
    "command-name",
    "ide-diagnostics",
    "ide-opened-file",
    "ide-selection",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "remora-activity",
    "remora-context",
    "system-prompt",
    "system-reminder",
    "task-notification",
    "team-memory-content",
    "teammate-message",
    "user-memory-input",
    "user-prompt-submit-hook",
];
/// What such names may begin with.
const WRAPPER_PREFIX: &str = "antml:";
/// Tags of tool calls and turns. As identifiers they also name variables and
/// types (`made < tool_calls`, `vector<tool_use>`).
const CONTROL_TAGS: &[&str] = &[
    "end-of-turn",
    "function-call",
    "function-calls",
    "function-result",
    "function-results",
    "invoke",
    "private",
    "start-of-turn",
    "tool-call",
    "tool-calls",
    "tool-response",
    "tool-result",
    "tool-results",
    "tool-use",
    "tool-use-error",
];
/// Words that are a control tag only when they are alone in it and are not
/// capitalised as components and types are.
const ROLE_NAMES: &[&str] = &["assistant", "human", "system", "thinking"];
/// Names between bars that count although blanks surround them.
const SPECIAL_TOKENS: &[&str] = &[
    "assistant",
    "begin-of-text",
    "channel",
    "end",
    "end-header-id",
    "endoftext",
    "eot-id",
    "im-end",
    "im-sep",
    "im-start",
    "message",
    "start",
    "start-header-id",
    "system",
    "tool",
    "user",
];
/// Names in square brackets; other models' templates write them in capitals.
const BRACKETED_TOKENS: &[&str] = &[
    "AVAILABLE_TOOLS",
    "INST",
    "SYSTEM_PROMPT",
    "TOOL_CALLS",
    "TOOL_RESULTS",
];
/// Roles that begin a turn after a blank line.
const TURN_PREFIXES: &[&str] = &["Human:", "Assistant:"];

/// The text without anything that acts as a wrapper or a control tag. Never
/// longer in characters than it was.
pub fn defuse_tags(text: &str) -> Cow<'_, str> {
    // Most texts hold nothing that could begin one.
    // A line break may begin a turn, and 0xef begins the full-width brackets in UTF-8.
    let suspect = |b: u8| matches!(b, b'<' | b'&' | b'\\' | b'[' | b'\n' | 0xef);
    if !text.bytes().any(suspect) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut kept = 0;
    let mut breaks = LineBreaks::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let mut next = at + c.len_utf8();
        if let Some(change) = find_change(text, at, c, &breaks) {
            out.push_str(&text[kept..at + change.skip]);
            out.push_str(change.with);
            next = at + change.skip + change.length;
            kept = next;
        }
        breaks.count_char(c);
        at = next;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// What is written in the place of `length` bytes, `skip` bytes from here.
struct Replacement {
    skip: usize,
    length: usize,
    with: &'static str,
}

fn find_change(text: &str, at: usize, c: char, breaks: &LineBreaks) -> Option<Replacement> {
    let (before, rest) = text.split_at(at);
    match c {
        '<' | '＜' | '﹤' | '&' | '\\' => {
            let length = opening_length(rest)?;
            is_control(&rest[length..], before).then_some(Replacement {
                skip: 0,
                length,
                // A look-alike of one character: readers still see what was written, and no
                // length grows.
                with: "‹",
            })
        }
        '[' | '［' => is_bracketed(&rest[c.len_utf8()..], before).then_some(Replacement {
            skip: 0,
            length: c.len_utf8(),
            with: "⟦",
        }),
        'H' | 'A' if breaks.leave_blank_line() => turn_length(rest).map(|length| Replacement {
            skip: length - 1,
            length: 1,
            with: "∶",
        }),
        _ => None,
    }
}

/// Line breaks since the last visible character.
#[derive(Default)]
struct LineBreaks {
    count: usize,
}

impl LineBreaks {
    fn leave_blank_line(&self) -> bool {
        self.count >= 2
    }

    fn count_char(&mut self, c: char) {
        match c {
            '\n' | '\u{2028}' | '\u{2029}' => self.count += 1,
            c if c.is_whitespace() || is_hidden(c) => {}
            _ => self.count = 0,
        }
    }
}

/// The length of a role at the start of a turn, with its colon.
fn turn_length(text: &str) -> Option<usize> {
    let role = TURN_PREFIXES.iter().find(|role| text.starts_with(**role))?;
    // A key of a mapping ends its line there.
    let rest = text[role.len()..].chars().next();
    rest.is_some_and(|c| c == ' ' || c == '\t')
        .then_some(role.len())
}

/// What a reader does not see; joiners count, because a tag needs none.
fn is_hidden(c: char) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    joins || is_invisible(c) || (c.is_control() && !c.is_whitespace())
}

/// The length of a `<` in any spelling.
fn opening_length(text: &str) -> Option<usize> {
    if let Some(c) = text
        .chars()
        .next()
        .filter(|c| matches!(c, '<' | '＜' | '﹤'))
    {
        return Some(c.len_utf8());
    }
    let (c, length) = decode_escape(text)?;
    (c == '<').then_some(length)
}

/// The character that an entity or an escape at the start of the text stands
/// for, and the length of its spelling.
fn decode_escape(text: &str) -> Option<(char, usize)> {
    const NAMED_ENTITIES: &[(&str, char)] = &[
        ("&lt;", '<'),
        // HTML readers accept it without its semicolon.
        ("&lt", '<'),
        ("&gt;", '>'),
        ("&sol;", '/'),
        ("&vert;", '|'),
        ("&lowbar;", '_'),
        ("&hyphen;", '-'),
        ("&dash;", '-'),
        ("&colon;", ':'),
        ("&shy;", '\u{ad}'),
        ("&zwj;", '\u{200d}'),
        ("&zwnj;", '\u{200c}'),
    ];
    let starts = |spelling: &str| {
        text.get(..spelling.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(spelling))
    };
    if let Some((spelling, c)) = NAMED_ENTITIES.iter().find(|(spelling, _)| starts(spelling)) {
        return Some((*c, spelling.len()));
    }
    let (head, radix) = [
        ("&#x", 16),
        ("&#", 10),
        ("\\u{", 16),
        ("\\u", 16),
        ("\\x", 16),
    ]
    .into_iter()
    .find(|(head, _)| starts(head))?;
    let fixed = match head {
        "\\u" => Some(4),
        "\\x" => Some(2),
        _ => None,
    };
    let digits = text[head.len()..]
        .bytes()
        .take(fixed.unwrap_or(8))
        .take_while(|b| char::from(*b).is_digit(radix))
        .count();
    if digits == 0 || fixed.is_some_and(|fixed| digits < fixed) {
        return None;
    }
    let end = head.len() + digits;
    let code = u32::from_str_radix(&text[head.len()..end], radix).ok()?;
    let ended = match head {
        "\\u{" => text[end..].starts_with('}'),
        "&#" | "&#x" => text[end..].starts_with(';'),
        _ => false,
    };
    Some((char::from_u32(code)?, end + usize::from(ended)))
}

/// What follows an opening character, as a reader takes it: without hidden
/// characters, escapes resolved, look-alikes folded to ASCII.
struct FoldedChars<'a> {
    rest: &'a str,
    left: usize,
}

impl<'a> FoldedChars<'a> {
    fn from_text(rest: &'a str) -> Peekable<Self> {
        let left = MAX_LOOKAHEAD_CHARS;
        Self { rest, left }.peekable()
    }
}

/// A visible character, or that too many were examined to find one.
#[derive(Clone, Copy, PartialEq)]
enum FoldedChar {
    Char(char),
    TooFar,
}

impl Iterator for FoldedChars<'_> {
    type Item = FoldedChar;

    fn next(&mut self) -> Option<FoldedChar> {
        loop {
            let first = self.rest.chars().next()?;
            let Some(left) = self.left.checked_sub(1) else {
                self.rest = "";
                return Some(FoldedChar::TooFar);
            };
            self.left = left;
            let spelled = matches!(first, '&' | '\\').then(|| decode_escape(self.rest));
            let (c, length) = spelled.flatten().unwrap_or((first, first.len_utf8()));
            self.rest = &self.rest[length..];
            if !is_hidden(c) {
                return Some(FoldedChar::Char(fold_char(c)));
            }
        }
    }
}

/// The ASCII character that a look-alike passes for.
fn fold_char(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '﹤' => '<',
        '﹥' => '>',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' => '-',
        '\u{430}' | '\u{3b1}' => 'a',
        '\u{441}' => 'c',
        '\u{435}' => 'e',
        '\u{4bb}' => 'h',
        '\u{456}' | '\u{131}' => 'i',
        '\u{43e}' | '\u{3bf}' => 'o',
        '\u{440}' => 'p',
        '\u{455}' | '\u{17f}' => 's',
        '\u{442}' => 't',
        '\u{3bd}' => 'v',
        '\u{445}' => 'x',
        '\u{443}' => 'y',
        '\u{410}' => 'A',
        '\u{421}' => 'C',
        '\u{415}' => 'E',
        '\u{41d}' => 'H',
        '\u{406}' => 'I',
        '\u{41a}' => 'K',
        '\u{41c}' => 'M',
        '\u{41e}' => 'O',
        '\u{420}' => 'P',
        '\u{405}' => 'S',
        '\u{422}' => 'T',
        '\u{425}' => 'X',
        '\u{423}' => 'Y',
        '\u{2581}' => '_',
        c => c,
    }
}

fn peek_char(text: &mut Peekable<FoldedChars<'_>>) -> Option<char> {
    match text.peek()? {
        FoldedChar::Char(c) => Some(*c),
        FoldedChar::TooFar => None,
    }
}

/// Passes blanks; says whether there were any.
fn skip_blanks(text: &mut Peekable<FoldedChars<'_>>) -> bool {
    let mut any = false;
    while peek_char(text).is_some_and(char::is_whitespace) {
        text.next();
        any = true;
    }
    any
}

/// Whether the text behind an opening character makes a control tag of it.
fn is_control(rest: &str, before: &str) -> bool {
    let mut text = FoldedChars::from_text(rest);
    let doubled = text.next_if_eq(&FoldedChar::Char('<')).is_some();
    let mut spaced = skip_blanks(&mut text);
    let mut closes = false;
    while let Some(FoldedChar::Char('/' | '\\')) = text.peek() {
        closes = true;
        text.next();
    }
    spaced |= skip_blanks(&mut text);
    match text.peek() {
        // Whatever is appended could complete it.
        None | Some(FoldedChar::TooFar) => return true,
        Some(FoldedChar::Char('|')) if !doubled => return is_token(text),
        Some(FoldedChar::Char(_)) => {}
    }
    let mut written = String::new();
    while let Some(c) = peek_char(&mut text).filter(|c| is_name(*c)) {
        written.push(c);
        text.next();
    }
    let name = written.to_lowercase().replace('_', "-");
    // A shift or a here-document begins like this as well, so one name alone counts:
    // `<<SYS>>` of older chat templates.
    if doubled {
        return name == "sys" && is_doubly_closed(text);
    }
    if WRAPPER_TAGS.contains(&name.as_str()) || name.starts_with(WRAPPER_PREFIX) {
        return true;
    }
    let before = before.trim_end_matches(is_hidden);
    let glued = before.ends_with(is_operand_end) || before.ends_with("::");
    if ROLE_NAMES.contains(&name.as_str()) {
        // `<System>` is a component or a type; `<system>` and `<SYSTEM>` are tags.
        let one_case =
            !written.contains(char::is_uppercase) || !written.contains(char::is_lowercase);
        skip_blanks(&mut text);
        let ended = text.peek() == Some(&FoldedChar::Char('>'));
        return one_case && ended && (closes || !glued);
    }
    if !CONTROL_TAGS.contains(&name.as_str()) {
        return false;
    }
    // A closing tag ends a wrapper wherever it is. An opening one behind an operand or
    // before a blank may be a comparison or a type argument, so it needs more evidence.
    closes || !(spaced || glued) || is_marked_up(text, spaced)
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What a comparison, a type argument or an index can follow.
fn is_operand_end(c: char) -> bool {
    is_identifier(c) || matches!(c, ')' | ']')
}

fn is_name(c: char) -> bool {
    is_identifier(c) || matches!(c, '-' | ':' | '.')
}

/// Whether what follows the name of a tag is markup and not the rest of an
/// expression: an attribute, or the end of the tag where no type stands before
/// it.
fn is_marked_up(mut text: Peekable<FoldedChars<'_>>, spaced: bool) -> bool {
    let blank = skip_blanks(&mut text);
    match text.peek() {
        Some(FoldedChar::Char('>')) => return spaced,
        Some(FoldedChar::Char('/')) => {
            text.next();
            return text.peek() == Some(&FoldedChar::Char('>'));
        }
        Some(_) if blank => {}
        None | Some(_) => return false,
    }
    let mut named = false;
    while peek_char(&mut text).is_some_and(is_name) {
        text.next();
        named = true;
    }
    skip_blanks(&mut text);
    let equals = text.next_if_eq(&FoldedChar::Char('=')).is_some();
    named && equals && text.peek() != Some(&FoldedChar::Char('='))
}

/// `<|name|>`, the special tokens of chat templates. With blanks inside only
/// known names count: `f <| x |> g` is a program.
fn is_token(mut text: Peekable<FoldedChars<'_>>) -> bool {
    text.next();
    let spaced = skip_blanks(&mut text);
    let mut name = String::new();
    while let Some(c) = peek_char(&mut text).filter(|c| is_name(*c)) {
        name.extend(c.to_lowercase());
        text.next();
    }
    let spaced = skip_blanks(&mut text) || spaced;
    let ended = text.next_if_eq(&FoldedChar::Char('|')).is_some();
    let name = name.replace('_', "-");
    let known = SPECIAL_TOKENS.contains(&name.as_str());
    // `<|im_start` cut off before its end is completed by whatever follows.
    match text.peek() {
        Some(FoldedChar::Char('>')) if ended => !name.is_empty() && (known || !spaced),
        None => known && !spaced,
        _ => false,
    }
}

fn is_doubly_closed(mut text: Peekable<FoldedChars<'_>>) -> bool {
    let close = FoldedChar::Char('>');
    text.next_if_eq(&close).is_some() && text.next_if_eq(&close).is_some()
}

/// Whether the text behind a `[` makes it a tag of a chat template and not an
/// index.
fn is_bracketed(rest: &str, before: &str) -> bool {
    let before = before.trim_end_matches(is_hidden);
    // An index, or a macro such as `vec![INST]`.
    let indexed = before.ends_with(is_operand_end) || before.ends_with('!');
    let mut text = FoldedChars::from_text(rest);
    skip_blanks(&mut text);
    let closes = text.next_if_eq(&FoldedChar::Char('/')).is_some();
    skip_blanks(&mut text);
    let mut name = String::new();
    while let Some(c) = peek_char(&mut text).filter(|c| is_name(*c)) {
        name.push(c);
        text.next();
    }
    skip_blanks(&mut text);
    let ended = text.peek() == Some(&FoldedChar::Char(']'));
    let known = if closes {
        BRACKETED_TOKENS.contains(&name.to_uppercase().as_str())
    } else {
        BRACKETED_TOKENS.contains(&name.as_str())
    };
    ended && known && (closes || !indexed)
}
