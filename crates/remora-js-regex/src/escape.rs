//! The parser's second half: escapes, character classes and group names.

use super::SyntaxError;
use super::class::{Class, escape_ranges};
use super::node::Node;
use super::parse::Parser;

/// One member of a character class.
enum ClassAtom {
    Unit(u16),
    Set(Vec<(u16, u16)>),
}

impl ClassAtom {
    fn into_ranges(self) -> Vec<(u16, u16)> {
        match self {
            ClassAtom::Unit(unit) => vec![(unit, unit)],
            ClassAtom::Set(ranges) => ranges,
        }
    }
}

impl Parser {
    /// An escape outside a class, from its backslash on; `\b` and `\B` are dealt with before.
    pub(super) fn atom_escape(&mut self) -> Result<Node, SyntaxError> {
        let fold = self.ignores_case();
        match self.peek_ascii(1) {
            Some(b'k') if self.has_names => return self.named_reference(),
            Some(b'1'..=b'9') => {
                if let Some(group) = self.back_reference() {
                    return Ok(Node::BackReference { group, fold });
                }
            }
            Some(letter) => {
                if let Some(ranges) = escape_ranges(letter) {
                    self.pos += 2;
                    return Ok(Node::Class {
                        class: Class::new(ranges, false),
                        fold,
                    });
                }
            }
            None => {}
        }
        Ok(Node::Unit {
            unit: self.character_escape(false)?,
            fold,
        })
    }

    /// The number of `\1` and so on, if the pattern has that many groups.
    fn back_reference(&mut self) -> Option<usize> {
        let mut group = 0_usize;
        let mut length = 1;
        while let Some(digit @ b'0'..=b'9') = self.peek_ascii(length) {
            group = group
                .saturating_mul(10)
                .saturating_add(usize::from(digit - b'0'));
            length += 1;
        }
        // Without that many groups it is no reference: `\7` is an octal escape, `\8` an
        // eight.
        if group > self.total_captures {
            return None;
        }
        self.pos += length;
        Some(group)
    }

    /// `\k<name>` in a pattern that has named groups.
    fn named_reference(&mut self) -> Result<Node, SyntaxError> {
        let start = self.pos;
        self.pos += 2;
        if self.peek_ascii(0) != Some(b'<') {
            return Err(SyntaxError::new("invalid named reference", start));
        }
        let name = self.group_name()?;
        self.note_reference(&name, start);
        Ok(Node::NamedReference {
            name,
            fold: self.ignores_case(),
        })
    }

    /// An escape that stands for one code unit, from its backslash on.
    fn character_escape(&mut self, in_class: bool) -> Result<u16, SyntaxError> {
        let start = self.pos;
        let Some(unit) = self.peek_unit(1) else {
            return Err(SyntaxError::new("\\ at end of pattern", start));
        };
        self.pos += 2;
        Ok(match u8::try_from(unit) {
            Ok(b't') => 0x09,
            Ok(b'n') => 0x0A,
            Ok(b'v') => 0x0B,
            Ok(b'f') => 0x0C,
            Ok(b'r') => 0x0D,
            Ok(b'0'..=b'7') => self.octal_rest(unit - u16::from(b'0')),
            Ok(b'c') => match self.peek_ascii(0) {
                Some(letter) if is_control_letter(letter, in_class) => {
                    self.pos += 1;
                    u16::from(letter & 0x1F)
                }
                _ => {
                    // The backslash is literal, and the `c` is read again as itself.
                    self.pos -= 1;
                    u16::from(b'\\')
                }
            },
            // Without their digits these two are plain letters.
            Ok(b'x') => self.parse_hex(2).unwrap_or(unit),
            Ok(b'u') => self.parse_hex(4).unwrap_or(unit),
            // Only where some group has a name; elsewhere it is the plain letter.
            Ok(b'k') if self.has_names => return Err(SyntaxError::new("invalid escape", start)),
            _ => unit,
        })
    }

    /// The rest of a legacy octal escape that began with `digit`: up to `\377`.
    fn octal_rest(&mut self, digit: u16) -> u16 {
        let mut value = digit;
        for _ in 0..2 {
            let Some(next @ b'0'..=b'7') = self.peek_ascii(0) else {
                break;
            };
            if value >= 0o40 {
                break;
            }
            value = value * 8 + u16::from(next - b'0');
            self.pos += 1;
        }
        value
    }

    /// Exactly `length` (at most four) hexadecimal digits; steps over them if they are there.
    fn parse_hex(&mut self, length: usize) -> Option<u16> {
        let mut value = 0;
        for offset in 0..length {
            let digit = char::from(self.peek_ascii(offset)?).to_digit(16)?;
            value = value * 16 + digit;
        }
        let value = u16::try_from(value).ok()?;
        self.pos += length;
        Some(value)
    }

    /// A character class, from its opening bracket on.
    pub(super) fn parse_class(&mut self) -> Result<Node, SyntaxError> {
        let open = self.pos;
        let unterminated = SyntaxError::new("unterminated character class", open);
        self.pos += 1;
        let negated = self.consume_ascii(b'^');
        let mut ranges = Vec::new();
        // Also right at the start: `[]` matches nothing and `[^]` everything, unlike in
        // POSIX.
        while !self.consume_ascii(b']') {
            let start = self.pos;
            let first = self.class_atom()?.ok_or_else(|| unterminated.clone())?;
            // A hyphen before the closing bracket is literal.
            if self.peek_ascii(0) != Some(b'-') || self.peek_ascii(1) == Some(b']') {
                ranges.extend(first.into_ranges());
                continue;
            }
            self.pos += 1;
            let last = self.class_atom()?.ok_or_else(|| unterminated.clone())?;
            match (first, last) {
                (ClassAtom::Unit(low), ClassAtom::Unit(high)) if low > high => {
                    return Err(SyntaxError::new(
                        "range out of order in character class",
                        start,
                    ));
                }
                (ClassAtom::Unit(low), ClassAtom::Unit(high)) => ranges.push((low, high)),
                (first, last) => {
                    // With a set at either end the hyphen is literal.
                    ranges.extend(first.into_ranges());
                    ranges.push((u16::from(b'-'), u16::from(b'-')));
                    ranges.extend(last.into_ranges());
                }
            }
        }
        Ok(Node::Class {
            class: Class::new(ranges, negated),
            fold: self.ignores_case(),
        })
    }

    /// One member of a class, or `None` at the end of the pattern.
    fn class_atom(&mut self) -> Result<Option<ClassAtom>, SyntaxError> {
        let Some(unit) = self.peek_unit(0) else {
            return Ok(None);
        };
        if unit != u16::from(b'\\') {
            self.pos += 1;
            return Ok(Some(ClassAtom::Unit(unit)));
        }
        let letter = self.peek_ascii(1);
        if let Some(ranges) = letter.and_then(escape_ranges) {
            self.pos += 2;
            return Ok(Some(ClassAtom::Set(ranges)));
        }
        // Inside a class it is a backspace, not a word boundary.
        if letter == Some(b'b') {
            self.pos += 2;
            return Ok(Some(ClassAtom::Unit(0x08)));
        }
        self.character_escape(true)
            .map(|unit| Some(ClassAtom::Unit(unit)))
    }

    /// A group name with its angle brackets, from `<` on.
    pub(super) fn group_name(&mut self) -> Result<String, SyntaxError> {
        let invalid = SyntaxError::new("invalid group name", self.pos);
        self.pos += 1;
        let mut name = String::new();
        while !self.consume_ascii(b'>') {
            let next = self.name_character().ok_or_else(|| invalid.clone())?;
            let starts = next == '$' || next == '_' || next.is_alphabetic();
            let continues = next.is_alphanumeric() || matches!(next, '\u{200C}' | '\u{200D}');
            if !(starts || continues && !name.is_empty()) {
                return Err(invalid);
            }
            name.push(next);
        }
        if name.is_empty() {
            Err(invalid)
        } else {
            Ok(name)
        }
    }

    /// One character of a group name, written plainly or as a `\u` escape.
    fn name_character(&mut self) -> Option<char> {
        let escaped = self.peek_ascii(0) == Some(b'\\');
        if escaped && self.peek_ascii(1) == Some(b'u') && self.peek_ascii(2) == Some(b'{') {
            return self.braced_code_point();
        }
        let first = self.name_unit(escaped)?;
        // The two halves of a pair are written in the same way.
        if !(0xD800..0xDC00).contains(&first) || (self.peek_ascii(0) == Some(b'\\')) != escaped {
            return char::from_u32(u32::from(first));
        }
        let second = self.name_unit(escaped)?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    /// One code unit of a group name, plain or as `\uHHHH`.
    fn name_unit(&mut self, escaped: bool) -> Option<u16> {
        if !escaped {
            let unit = self.peek_unit(0)?;
            self.pos += 1;
            return Some(unit);
        }
        if self.peek_ascii(1) != Some(b'u') {
            return None;
        }
        self.pos += 2;
        self.parse_hex(4)
    }

    /// `\u{H…}` in a group name.
    fn braced_code_point(&mut self) -> Option<char> {
        self.pos += 3;
        let mut value = None;
        while !self.consume_ascii(b'}') {
            let digit = char::from(self.peek_ascii(0)?).to_digit(16)?;
            value = Some(
                value
                    .unwrap_or(0_u32)
                    .saturating_mul(16)
                    .saturating_add(digit),
            );
            self.pos += 1;
        }
        char::from_u32(value?)
    }
}

/// Whether `\c` with `letter` is a control character; classes allow more letters.
fn is_control_letter(letter: u8, in_class: bool) -> bool {
    letter.is_ascii_alphabetic() || in_class && (letter.is_ascii_digit() || letter == b'_')
}
