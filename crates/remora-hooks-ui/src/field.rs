//! One line that users type, with a cursor.

use crate::key::Key;

/// The longest text that can be typed or pasted into one field.
const MAX_FIELD_CHARS: usize = 16 * 1024;

/// A text and the place of the cursor in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TextField {
    chars: Vec<char>,
    cursor: usize,
}

impl TextField {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        Self {
            cursor: chars.len(),
            chars,
        }
    }

    pub(crate) fn text(&self) -> String {
        self.chars.iter().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// What is in front of the cursor, and what is behind it.
    pub(crate) fn parts(&self) -> (&[char], &[char]) {
        self.chars.split_at(self.cursor)
    }

    /// Whether the key was one of the field's.
    pub(crate) fn press(&mut self, key: &Key) -> bool {
        match key {
            Key::Char(c) => self.insert(std::iter::once(*c)),
            Key::Paste(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                self.insert(text.trim_end_matches('\n').chars());
            }
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.chars.len()),
            Key::Home | Key::Ctrl('a') => self.cursor = 0,
            Key::End | Key::Ctrl('e') => self.cursor = self.chars.len(),
            Key::Backspace => {
                if self.cursor > 0 {
                    self.cursor -= 1;
                    self.chars.remove(self.cursor);
                }
            }
            Key::Delete => {
                if self.cursor < self.chars.len() {
                    self.chars.remove(self.cursor);
                }
            }
            Key::Ctrl('u') => {
                self.chars.drain(..self.cursor);
                self.cursor = 0;
            }
            Key::Ctrl('w') => self.remove_word(),
            _ => return false,
        }
        true
    }

    fn insert(&mut self, text: impl Iterator<Item = char>) {
        let room = MAX_FIELD_CHARS.saturating_sub(self.chars.len());
        let new: Vec<char> = text.take(room).collect();
        let end = self.cursor + new.len();
        self.chars.splice(self.cursor..self.cursor, new);
        self.cursor = end;
    }

    fn remove_word(&mut self) {
        let before = &self.chars[..self.cursor];
        let blanks = before
            .iter()
            .rev()
            .take_while(|c| c.is_whitespace())
            .count();
        let word = before[..before.len() - blanks].iter().rev();
        let word = word.take_while(|c| !c.is_whitespace()).count();
        let start = self.cursor - blanks - word;
        self.chars.drain(start..self.cursor);
        self.cursor = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_at_the_cursor() {
        let mut field = TextField::new("one two  ");
        for key in [Key::Ctrl('w'), Key::Home, Key::Right, Key::Delete] {
            assert!(field.press(&key));
        }
        assert_eq!(field.text(), "oe ");
        field.press(&Key::Paste("x\r\ny\n".to_owned()));
        assert_eq!(field.text(), "ox\nye ");
        field.press(&Key::Ctrl('u'));
        field.press(&Key::Backspace);
        assert_eq!(field.text(), "e ");
        assert!(!field.press(&Key::Enter));
    }

    #[test]
    fn a_field_is_bounded() {
        let mut field = TextField::default();
        field.press(&Key::Paste("x".repeat(MAX_FIELD_CHARS)));
        field.press(&Key::Char('y'));
        assert_eq!(field.text().len(), MAX_FIELD_CHARS);
        assert!(!field.text().contains('y'));
    }
}
