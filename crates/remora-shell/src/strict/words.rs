//! The character side of the parser: a cursor over the command text and the
//! grammar of one word (quotes, `$NAME`, `$( )`, backticks, `$(( ))`).
//! It gives up, with a reason, on everything no rule understands.

use super::tree::{Block, QuotedPart, Word, WordPart};

/// Why the text is not understood, in plain English.
pub(super) type RefusalReason = &'static str;
pub(super) type ParseResult<T> = Result<T, RefusalReason>;

/// Brackets, quotes and bodies nested deeper than this are not understood;
/// it also bounds the stack.
const MAX_DEPTH: usize = 60;

/// A cursor over the text.
pub(super) struct Parser {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    /// Inside backticks a backtick closes instead of opening.
    pub(super) in_backticks: bool,
}

/// Letters, digits and `_`, not beginning with a digit.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Parser {
    pub(super) fn new(text: &str) -> Self {
        Self {
            // Characters, so that the cursor can look ahead and back without
            // boundaries.
            text: text.chars().collect(),
            at: 0,
            depth: 0,
            in_backticks: false,
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<char> {
        self.text.get(self.at + offset).copied()
    }

    pub(super) fn looking_at(&self, wanted: &str) -> bool {
        wanted
            .chars()
            .enumerate()
            .all(|(offset, c)| self.peek_at(offset) == Some(c))
    }

    /// Steps over `wanted` when it is next.
    pub(super) fn consume_text(&mut self, wanted: &str) -> bool {
        let found = self.looking_at(wanted);
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    pub(super) fn slice_text(&self, from: usize, to: usize) -> String {
        self.text[from.min(to)..to.min(self.text.len())]
            .iter()
            .collect()
    }

    /// Blanks and continued lines.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// A comment up to (not including) the end of its line.
    pub(super) fn skip_comment(&mut self) {
        if self.peek() == Some('#') {
            while self.peek().is_some_and(|c| c != '\n') {
                self.at += 1;
            }
        }
    }

    /// Runs `inner` one level deeper.
    pub(super) fn parse_nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err("nested too deeply");
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Does the word end before this character?
    fn ends_word(&self, c: char) -> bool {
        matches!(c, ' ' | '\t' | '\n' | '|' | '&' | ';' | '<' | '>' | ')')
            || (c == '`' && self.in_backticks)
    }

    /// Can a word begin here?
    pub(super) fn at_word(&self) -> bool {
        self.peek()
            .is_some_and(|c| !self.ends_word(c) && c != '(' && c != '#')
    }

    /// One word; the cursor must be on one.
    pub(super) fn parse_word(&mut self) -> ParseResult<Word> {
        let start = self.at;
        let mut parts = Vec::new();
        let mut plain = String::new();
        while let Some(c) = self.peek() {
            if self.ends_word(c) {
                break;
            }
            let part = match c {
                // A function, an array or a glob of another shell.
                '(' => return Err("a bracket inside a word"),
                '\\' => {
                    plain.push(c);
                    self.at += 1;
                    let Some(next) = self.peek() else {
                        return Err("a backslash at the end");
                    };
                    // Nested backticks need one more backslash per level; no
                    // rule follows that.
                    if next == '`' && self.in_backticks {
                        return Err("backticks inside backticks");
                    }
                    plain.push(next);
                    self.at += 1;
                    continue;
                }
                '\'' => {
                    let part = self.single_quoted();
                    if self.in_backticks
                        && matches!(&part, WordPart::Single(text) if text.contains('`'))
                    {
                        return Err("a quoted backtick inside backticks");
                    }
                    part
                }
                '"' => {
                    self.at += 1;
                    WordPart::Double(self.parse_nested(Self::double_quoted)?)
                }
                '$' => self.parse_dollar()?,
                '`' => WordPart::Substitution(self.parse_nested(Self::parse_backticks)?),
                _ => {
                    plain.push(c);
                    self.at += 1;
                    continue;
                }
            };
            if !plain.is_empty() {
                parts.push(WordPart::Plain(std::mem::take(&mut plain)));
            }
            parts.push(part);
        }
        if !plain.is_empty() {
            parts.push(WordPart::Plain(plain));
        }
        let raw = self.slice_text(start, self.at);
        Ok(Word { parts, raw })
    }

    /// `'...'`; an open quote runs to the end of the text, whose last character
    /// is lost, as if it were the closing quote.
    fn single_quoted(&mut self) -> WordPart {
        self.at += 1;
        let start = self.at;
        while self.peek().is_some_and(|c| c != '\'') {
            self.at += 1;
        }
        if self.peek().is_none() {
            // Observed: the client drops the last character, as if it were the
            // quote.
            let end = self.at.saturating_sub(1).max(start);
            return WordPart::Single(self.slice_text(start, end));
        }
        let text = self.slice_text(start, self.at);
        self.at += 1;
        WordPart::Single(text)
    }

    /// An unquoted `$` and what belongs to it.
    fn parse_dollar(&mut self) -> ParseResult<WordPart> {
        if self.looking_at("$((") {
            self.parse_arithmetic()?;
            return Ok(WordPart::Arithmetic);
        }
        match self.peek_at(1) {
            Some('(') => {
                self.at += 2;
                Ok(WordPart::Substitution(
                    self.parse_nested(Self::parse_substitution)?,
                ))
            }
            Some('{') => Err("${ } expansion"),
            Some('[') => Err("$[ ] arithmetic"),
            Some('\'' | '"') => Err("$'..' or $\"..\" quoting"),
            Some(c) => match self.parse_variable(c) {
                Some(name) => Ok(WordPart::Variable(name)),
                None => Err("a lone dollar sign"),
            },
            None => Err("a lone dollar sign"),
        }
    }

    /// The name behind a `$` whose next character is `c`.
    fn parse_variable(&mut self, c: char) -> Option<String> {
        if c.is_ascii_alphabetic() || c == '_' {
            let start = self.at + 1;
            self.at = start;
            while self
                .peek()
                .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                self.at += 1;
            }
            return Some(self.slice_text(start, self.at));
        }
        if c == '$' && self.peek_at(2) == Some('(') {
            return None;
        }
        if c.is_ascii_digit() || "?$!#-@*".contains(c) {
            self.at += 2;
            return Some(c.to_string());
        }
        None
    }

    /// The inside of double quotes and the closing quote.
    fn double_quoted(&mut self) -> ParseResult<Vec<QuotedPart>> {
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                return Err("an open double quote");
            };
            let part = match c {
                '"' => break,
                '\\' => {
                    text.push(c);
                    self.at += 1;
                    if let Some(next) = self.peek() {
                        text.push(next);
                        self.at += 1;
                    }
                    continue;
                }
                '`' if self.in_backticks => return Err("an open double quote"),
                '`' => QuotedPart::Substitution {
                    block: self.parse_nested(Self::parse_backticks)?,
                    backticks: true,
                },
                '$' => {
                    let Some(part) = self.dollar_in_quotes()? else {
                        text.push('$');
                        continue;
                    };
                    part
                }
                _ => {
                    text.push(c);
                    self.at += 1;
                    continue;
                }
            };
            if !text.is_empty() {
                parts.push(QuotedPart::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
        }
        self.at += 1;
        if !text.is_empty() {
            parts.push(QuotedPart::Text(text));
        }
        Ok(parts)
    }

    /// A `$` inside double quotes; `None` when it is the last character and so
    /// plain text.
    fn dollar_in_quotes(&mut self) -> ParseResult<Option<QuotedPart>> {
        if self.looking_at("$((") {
            self.parse_arithmetic()?;
            return Ok(Some(QuotedPart::Arithmetic));
        }
        match self.peek_at(1) {
            Some('(') => {
                self.at += 2;
                Ok(Some(QuotedPart::Substitution {
                    block: self.parse_nested(Self::parse_substitution)?,
                    backticks: false,
                }))
            }
            Some('{') => Err("${ } expansion"),
            Some('[') => Err("$[ ] arithmetic"),
            Some('"') | None => {
                self.at += 1;
                Ok(None)
            }
            Some(c) => {
                if let Some(name) = self.parse_variable(c) {
                    return Ok(Some(QuotedPart::Variable(name)));
                }
                if c == '$' {
                    return Err("two dollar signs in front of a bracket");
                }
                self.at += 1;
                Ok(Some(QuotedPart::Dollar))
            }
        }
    }

    /// The inside of `$( )` and its closing bracket.
    fn parse_substitution(&mut self) -> ParseResult<Block> {
        if self.peek() == Some('#') {
            return Err("a comment right behind a bracket");
        }
        let outer = std::mem::replace(&mut self.in_backticks, false);
        let block = self.parse_block()?;
        self.in_backticks = outer;
        if self.consume_text(")") {
            Ok(block)
        } else {
            Err("an open $(")
        }
    }

    /// Backticks, from the opening one.
    fn parse_backticks(&mut self) -> ParseResult<Block> {
        self.at += 1;
        let start = self.at;
        self.in_backticks = true;
        let block = self.parse_block()?;
        self.in_backticks = false;
        let raw = self.slice_text(start, self.at);
        // A shell removes one level of backslashes before it runs the inside.
        if block.statements.is_empty() || ["\\$", "\\`", "\\\\"].iter().any(|e| raw.contains(e)) {
            return Err("empty backticks or an escape in them");
        }
        if self.consume_text("`") {
            Ok(block)
        } else {
            Err("an open backtick")
        }
    }

    /// `$(( ))` made of numbers and operators; a name in it could run code.
    fn parse_arithmetic(&mut self) -> ParseResult<()> {
        self.at += 3;
        let mut open = 0_usize;
        loop {
            let Some(c) = self.peek() else {
                return Err("open arithmetic");
            };
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' => {
                    return if self.consume_text("))") {
                        Ok(())
                    } else {
                        Err("arithmetic that is not closed by two brackets")
                    };
                }
                '0'..='9' => {
                    self.parse_number()?;
                    continue;
                }
                ' ' | '\t' | '\n' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!' | '&'
                | '|' | '^' | '~' | '?' | ':' | ',' => {}
                _ => return Err("arithmetic with more than numbers"),
            }
            self.at += 1;
        }
    }

    /// `12`, `0x1f`, `16#ff`.
    fn parse_number(&mut self) -> ParseResult<()> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '#')
        {
            self.at += 1;
        }
        let text = self.slice_text(start, self.at);
        let digits = |s: &str| s.chars().all(|c| c.is_ascii_digit());
        let hex = text
            .strip_prefix("0x")
            .or_else(|| text.strip_prefix("0X"))
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
        let based = text
            .split_once('#')
            .is_some_and(|(base, rest)| digits(base) && !rest.contains('#'));
        if digits(&text) || hex || based {
            Ok(())
        } else {
            Err("arithmetic with more than numbers")
        }
    }
}
