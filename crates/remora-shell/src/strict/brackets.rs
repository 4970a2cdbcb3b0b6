//! The grammar of `[ ... ]` and `[[ ... ]]`.

use super::tree::{Statement, TestToken};
use super::words::{ParseResult, Parser};

impl Parser {
    /// A whole test; the cursor is on its first `[`.
    pub(super) fn test_brackets(&mut self) -> ParseResult<Statement> {
        let double = self.looking_at("[[");
        self.at += if double { 2 } else { 1 };
        if !matches!(self.peek(), Some(' ' | '\t' | '\n')) {
            // A shell would look for a program of that name.
            return Err("a command that begins with [");
        }
        let mut tokens = Vec::new();
        let close = if double { "]]" } else { "]" };
        self.skip_test_blanks(double);
        if !self.at_close(close) {
            self.test_or(double, &mut tokens)?;
        }
        self.skip_blanks();
        if self.at_close(close) {
            self.consume_text(close);
            Ok(Statement::Test(tokens))
        } else {
            Err("an open or too long test")
        }
    }

    /// Newlines and comments are fine at the start and behind `&&` and `||`.
    fn skip_test_blanks(&mut self, double: bool) {
        self.skip_blanks();
        while double && matches!(self.peek(), Some('\n' | '#')) {
            self.skip_comment();
            if self.peek() == Some('\n') {
                self.at += 1;
            }
            self.skip_blanks();
        }
    }

    fn at_close(&self, close: &str) -> bool {
        let next = self.peek_at(close.len());
        self.looking_at(close) && next.is_none_or(|c| " \t\n;&|)<>".contains(c))
    }

    /// `a || b && c`, only inside double brackets.
    fn test_or(&mut self, double: bool, tokens: &mut Vec<TestToken>) -> ParseResult<()> {
        loop {
            self.parse_nested(|parser| parser.test_unit(double, tokens))?;
            self.skip_blanks();
            // In single brackets `&&` ends the command, and `-a` and `-o` are
            // flags.
            if !double {
                return Ok(());
            }
            let joint = if self.consume_text("&&") {
                "&&"
            } else if self.consume_text("||") {
                "||"
            } else {
                return Ok(());
            };
            tokens.push(TestToken::Literal(joint.to_owned()));
        }
    }

    fn test_unit(&mut self, double: bool, tokens: &mut Vec<TestToken>) -> ParseResult<()> {
        self.skip_test_blanks(double);
        if self.peek() == Some('!') && matches!(self.peek_at(1), Some(' ' | '\t')) {
            self.at += 1;
            tokens.push(TestToken::Literal("!".to_owned()));
            self.skip_blanks();
            if self.at_close(if double { "]]" } else { "]" }) {
                return Ok(());
            }
            return self.parse_nested(|parser| parser.test_unit(double, tokens));
        }
        if self.consume_text("(") {
            tokens.push(TestToken::Literal("(".to_owned()));
            self.test_or(double, tokens)?;
            self.skip_blanks();
            if !self.consume_text(")") {
                return Err("an open bracket in a test");
            }
            tokens.push(TestToken::Literal(")".to_owned()));
            return Ok(());
        }
        self.test_operand(tokens)?;
        if let Some(TestToken::Word(word)) = tokens.last()
            && is_flag(&word.raw)
        {
            self.skip_blanks();
            if !self.at_close(if double { "]]" } else { "]" }) && self.at_word() {
                self.test_operand(tokens)?;
            }
        }
        self.skip_blanks();
        self.test_binary(double, tokens)
    }

    fn test_operand(&mut self, tokens: &mut Vec<TestToken>) -> ParseResult<()> {
        self.skip_blanks();
        if !self.at_word() {
            return Err("a test without an operand");
        }
        tokens.push(TestToken::Word(self.parse_word()?));
        Ok(())
    }

    /// `OPERATOR operand` behind a first operand, if there is one.
    fn test_binary(&mut self, double: bool, tokens: &mut Vec<TestToken>) -> ParseResult<()> {
        let mut found = None;
        for operator in ["=~", "==", "!=", "="] {
            if self.looking_at(operator) {
                found = Some(operator.to_owned());
                break;
            }
        }
        if found.is_none() && double && matches!(self.peek(), Some('<' | '>')) {
            found = self.peek().map(String::from);
        }
        if found.is_none() && self.peek() == Some('-') {
            let mut end = self.at + 1;
            while self.text.get(end).is_some_and(char::is_ascii_alphabetic) {
                end += 1;
            }
            let flag = self.slice_text(self.at, end);
            if is_flag(&flag) {
                found = Some(flag);
            }
        }
        let Some(operator) = found else {
            return Ok(());
        };
        self.consume_text(&operator);
        tokens.push(TestToken::Literal(operator.clone()));
        self.skip_blanks();
        let compares = matches!(operator.as_str(), "=~" | "==" | "!=" | "=");
        let quoted = matches!(self.peek(), Some('"' | '\''));
        if !double || !compares || (operator == "=~" && quoted) {
            return self.test_operand(tokens);
        }
        let start = self.at;
        match self.test_pattern() {
            Ok(raw) if operator == "=~" || !raw.contains(['"', '\'', '$']) => {
                tokens.push(TestToken::Pattern(raw));
                Ok(())
            }
            // A pattern of `==` may also be read as a word; that of `=~` has no
            // other reading.
            Err(why) if operator == "=~" => Err(why),
            _ => {
                self.at = start;
                self.test_operand(tokens)
            }
        }
    }

    /// The unquoted right side of a comparison: text up to a blank outside of
    /// brackets.
    fn test_pattern(&mut self) -> ParseResult<String> {
        let start = self.at;
        let mut open = 0_usize;
        while let Some(c) = self.peek() {
            match c {
                '(' => open += 1,
                ')' | ' ' | '\t' | '\n' if open == 0 => break,
                ')' => open -= 1,
                '\\' => self.at += 1,
                '`' => return Err("a substitution in a test pattern"),
                '$' if self
                    .peek_at(1)
                    .is_some_and(|c| c.is_ascii_alphanumeric() || "({_".contains(c)) =>
                {
                    return Err("an expansion in a test pattern");
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.text.len());
        if self.at == start {
            return Err("a test without an operand");
        }
        let raw = self.slice_text(start, self.at);
        // Bash would take the brackets for a part of the pattern and go on.
        if raw.ends_with("]]") {
            return Err("a test closed without a blank");
        }
        Ok(raw)
    }
}

/// `-f`, `-eq`.
fn is_flag(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphabetic()))
}
