//! Takes out what must never be kept although it is no secret: passages that
//! the user marked as private, and text that Remora itself put into a session.

use std::borrow::Cow;

use serde_json::Value;

#[cfg(test)]
mod tests;

/// What replaces a private passage.
pub const PRIVATE_PLACEHOLDER: &str = "[private]";

/// Without `<private>...</private>`; a passage that is never closed goes to the
/// end of the text.
pub fn strip_private(text: &str) -> Cow<'_, str> {
    strip_element(text, "private", PRIVATE_PLACEHOLDER)
}

/// Without the `<remora-context>` blocks that Remora added to the session.
pub fn strip_injected(text: &str) -> Cow<'_, str> {
    strip_element(text, "remora-context", "")
}

/// Both, for every string of the value in place.
pub fn strip_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            // What Remora injected must not come back as something the session
            // said.
            if let Cow::Owned(new) = strip_injected(text) {
                *text = new;
            }
            if let Cow::Owned(new) = strip_private(text) {
                *text = new;
            }
        }
        Value::Array(list) => list.iter_mut().for_each(strip_value),
        Value::Object(map) => map.values_mut().for_each(strip_value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Leaves `instead` in the place of every outermost element of this name. Takes
/// time in proportion to the text, whatever the text is: no part of it is
/// searched for a bracket more than once.
fn strip_element<'a>(text: &'a str, name: &str, instead: &str) -> Cow<'a, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut depth = 0usize;
    let mut at = 0;
    let mut brackets = Brackets::new(text);
    while let Some(open) = text[at..].find('<').map(|n| at + n) {
        at = open + 1;
        let Some((tag, end)) = find_tag(text, open, name, &mut brackets) else {
            continue;
        };
        at = end;
        match tag {
            Tag::Open => {
                if depth == 0 {
                    out.push_str(&text[kept..open]);
                    out.push_str(instead);
                }
                depth += 1;
            }
            Tag::Close if depth > 0 => {
                depth -= 1;
                kept = end;
            }
            // Its neighbours must not join to another tag.
            Tag::Empty if depth == 0 => {
                out.push_str(&text[kept..open]);
                out.push_str(instead);
                kept = end;
            }
            Tag::Close | Tag::Empty => {}
        }
    }
    // Never closed: everything from the opening tag on is dropped, since
    // keeping it could not be undone.
    if depth > 0 {
        return Cow::Owned(out);
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Where tags end. Asked from left to right, it searches the text once in all.
struct Brackets<'a> {
    text: &'a str,
    /// The last `>` that was found; the length of the text if none is left.
    next: usize,
}

impl<'a> Brackets<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, next: 0 }
    }

    /// The first `>` at or behind `at`, which is never left of an earlier one.
    fn find_from(&mut self, at: usize) -> Option<usize> {
        if self.next < at {
            let found = self.text[at..].find('>').map(|n| at + n);
            self.next = found.unwrap_or(self.text.len());
        }
        (self.next < self.text.len()).then_some(self.next)
    }
}

#[derive(Clone, Copy)]
enum Tag {
    Open,
    Close,
    /// `<name/>`, with nothing inside.
    Empty,
}

/// The tag of this name at this `<`, and where it ends. An opening tag that
/// the text cuts off counts, so that its passage is not kept by accident; a
/// closing tag that holds anything but space does not, for the same reason.
fn find_tag(
    text: &str,
    open: usize,
    name: &str,
    brackets: &mut Brackets<'_>,
) -> Option<(Tag, usize)> {
    let bytes = text.as_bytes();
    let mut at = open + 1;
    let close = bytes.get(at) == Some(&b'/');
    at += usize::from(close);
    let own = bytes.get(at..at + name.len())?;
    if !own.eq_ignore_ascii_case(name.as_bytes()) {
        return None;
    }
    at += name.len();
    if close {
        let space = bytes[at..].iter().take_while(|b| b.is_ascii_whitespace());
        at += space.count();
        return (bytes.get(at) == Some(&b'>')).then_some((Tag::Close, at + 1));
    }
    match bytes.get(at) {
        None => return Some((Tag::Open, at)),
        Some(b'>' | b'/') => {}
        Some(b) if b.is_ascii_whitespace() => {}
        Some(_) => return None,
    }
    let Some(end) = brackets.find_from(at) else {
        return Some((Tag::Open, text.len()));
    };
    let empty = bytes[end - 1] == b'/';
    Some((if empty { Tag::Empty } else { Tag::Open }, end + 1))
}
