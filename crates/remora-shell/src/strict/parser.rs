//! The statement grammar: lists, pipes, loops, conditions, brackets.
//! It is as tolerant as the client's parser (an unfinished `if`, a pipe with
//! nothing behind it) and as strict (`; ;`, a stray `)`, `{ }`, functions).

use super::tree::{Block, ListOperator, Redirect, Statement, StatementEnd};
use super::words::{ParseResult, Parser, is_name};

/// Words that close or continue a body; alone at a command's place they are
/// errors.
const CLOSING_WORDS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];
/// Words that open something no rule understands.
const OPAQUE_WORDS: [&str; 5] = ["case", "select", "function", "{", "for(("];

/// Parses a whole command line.
pub(super) fn parse_line(text: &str) -> ParseResult<Block> {
    let mut parser = Parser::new(text);
    let block = parser.parse_block()?;
    // Something was left over that no statement can begin with, such as a stray
    // `)`.
    if parser.at < parser.text.len() {
        return Err("a word or bracket where a command should begin");
    }
    Ok(block)
}

impl Parser {
    /// Statements up to a closing word, bracket or the end; the closer stays.
    pub(super) fn parse_block(&mut self) -> ParseResult<Block> {
        self.parse_nested(Self::block_inside)
    }

    fn block_inside(&mut self) -> ParseResult<Block> {
        let mut statements = Vec::new();
        loop {
            self.skip_lines();
            if self.at_block_end() {
                return Ok(Block { statements });
            }
            let statement = self.parse_chain()?;
            self.skip_blanks();
            let end = if self.looking_at(";") {
                let double = self.consume_text(";;");
                if !double {
                    self.at += 1;
                }
                if self.peek() == Some('&') {
                    return Err("a case separator outside of case");
                }
                if double {
                    StatementEnd::Double
                } else {
                    StatementEnd::Semicolon
                }
            } else if self.peek() == Some('&') {
                self.at += 1;
                StatementEnd::Ampersand
            } else {
                StatementEnd::Open
            };
            statements.push((statement, end));
            if end == StatementEnd::Open {
                continue;
            }
            self.skip_blanks();
            if matches!(self.peek(), Some(';' | '&' | '|')) {
                // `; ;` runs nothing in between, and shells disagree whether it
                // is an error.
                return Err("two separators in a row");
            }
        }
    }

    /// Blanks, newlines and comments.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            self.skip_comment();
            if self.peek() != Some('\n') {
                return;
            }
            self.at += 1;
        }
    }

    /// Blanks and newlines; a comment is an error at some places.
    fn skip_empty_lines(&mut self) {
        self.skip_blanks();
        while self.peek() == Some('\n') {
            self.at += 1;
            self.skip_blanks();
        }
    }

    fn at_block_end(&self) -> bool {
        match self.peek() {
            None | Some(')') => true,
            Some('`') if self.in_backticks => true,
            _ => self
                .peek_keyword()
                .is_some_and(|word| CLOSING_WORDS.contains(&word.as_str())),
        }
    }

    /// The bare word at the cursor, when it is made of keyword characters.
    fn peek_keyword(&self) -> Option<String> {
        let mut word = String::new();
        let mut offset = 0;
        while let Some(c) = self.peek_at(offset) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                // So that `for((` is seen as what it is, arithmetic, and not as a word with
                // a bracket.
                '(' if word == "for" => break,
                // No keyword is longer than `function`.
                'a'..='z' | '{' | '}' | '!' if word.len() < 9 => word.push(c),
                '`' if self.in_backticks => break,
                _ => return None,
            }
            offset += 1;
        }
        (!word.is_empty()).then_some(word)
    }

    fn take_keyword(&mut self, wanted: &str) -> bool {
        self.peek_keyword().as_deref() == Some(wanted) && self.consume_text(wanted)
    }

    /// `a && b || c`.
    fn parse_chain(&mut self) -> ParseResult<Statement> {
        let first = self.parse_pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = if self.consume_text("&&") {
                ListOperator::And
            } else if self.consume_text("||") {
                ListOperator::Or
            } else {
                break;
            };
            self.skip_empty_lines();
            rest.push((joint, self.parse_pipeline()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Statement::Chain {
            first: Box::new(first),
            rest,
        })
    }

    /// `a | b |& c`; nothing behind the last pipe is tolerated.
    fn parse_pipeline(&mut self) -> ParseResult<Statement> {
        let mut stages = vec![self.parse_unit()?];
        let mut piped = false;
        loop {
            self.skip_blanks();
            // `||` belongs to the chain around the pipe.
            if self.looking_at("||") || !(self.consume_text("|&") || self.consume_text("|")) {
                break;
            }
            piped = true;
            self.skip_lines();
            // A pipe with nothing behind it is tolerated, as the client does.
            if self.at_block_end() || matches!(self.peek(), Some(';' | '&' | '|')) {
                break;
            }
            stages.push(self.parse_unit()?);
        }
        match stages.pop() {
            Some(only) if !piped && stages.is_empty() => Ok(only),
            Some(last) => {
                stages.push(last);
                Ok(Statement::Pipeline(stages))
            }
            None => Err("an empty pipe"),
        }
    }

    /// One command, loop, condition, test or bracket.
    fn parse_unit(&mut self) -> ParseResult<Statement> {
        self.skip_blanks();
        let Some(c) = self.peek() else {
            return Err("nothing where a command should be");
        };
        if c == '(' {
            return self.parse_nested(Self::parse_subshell);
        }
        if c == '[' {
            let test = self.test_brackets()?;
            return self.reject_redirect(test);
        }
        if c == '!' && matches!(self.peek_at(1), Some(' ' | '\t')) {
            return self.parse_nested(Self::parse_negation);
        }
        let Some(word) = self.peek_keyword() else {
            return self.parse_command();
        };
        let statement = match word.as_str() {
            "if" => self.parse_nested(Self::parse_condition)?,
            "while" | "until" => {
                // The length of either word.
                self.at += 5;
                self.parse_nested(Self::while_loop)?
            }
            "for" => {
                self.at += 3;
                self.parse_nested(Self::for_loop)?
            }
            // Without a blank behind it, `{` is a word like any other.
            "{" if matches!(self.peek_at(1), None | Some(';' | '&' | '|')) => {
                return self.parse_command();
            }
            other if OPAQUE_WORDS.contains(&other) => {
                return Err("case, select, a function or a { } group");
            }
            other if CLOSING_WORDS.contains(&other) => {
                return Err("a closing word without its opening one");
            }
            _ => return self.parse_command(),
        };
        self.reject_redirect(statement)
    }

    fn parse_negation(&mut self) -> ParseResult<Statement> {
        self.at += 1;
        self.skip_blanks();
        let mut redirects = Vec::new();
        let nothing =
            self.at_block_end() || matches!(self.peek(), Some('\n' | ';' | '&' | '|' | '#'));
        let inner = if nothing {
            None
        } else if self.peek() == Some('[') {
            let test = self.test_brackets()?;
            self.skip_blanks();
            while self.at_redirect() {
                redirects.push(self.parse_redirect()?);
                self.skip_blanks();
            }
            Some(Box::new(test))
        } else {
            Some(Box::new(self.parse_unit()?))
        };
        if redirects
            .iter()
            .any(|redirect| !matches!(redirect, Redirect::File(_)))
        {
            return Err("a here-string on a test");
        }
        Ok(Statement::Negation { inner, redirects })
    }

    /// A redirection behind a loop, test or bracket is not understood.
    fn reject_redirect(&mut self, statement: Statement) -> ParseResult<Statement> {
        self.skip_blanks();
        if self.at_redirect() {
            return Err("a redirection of a whole loop, condition or bracket");
        }
        Ok(statement)
    }

    fn parse_subshell(&mut self) -> ParseResult<Statement> {
        self.at += 1;
        if matches!(self.peek(), Some('(' | '#')) {
            return Err("(( )) arithmetic");
        }
        // A backtick inside these brackets opens again.
        let outer = std::mem::replace(&mut self.in_backticks, false);
        let block = self.parse_block()?;
        self.in_backticks = outer;
        if !self.consume_text(")") {
            return Err("an open bracket");
        }
        self.reject_redirect(Statement::Subshell(block))
    }

    fn parse_condition(&mut self) -> ParseResult<Statement> {
        self.at += 2;
        let condition = self.parse_block()?;
        let mut then = Block::default();
        if self.take_keyword("then") {
            then = self.parse_block()?;
        }
        let mut others = Vec::new();
        loop {
            if self.take_keyword("elif") {
                let condition = self.parse_block()?;
                let mut body = Block::default();
                if self.take_keyword("then") {
                    body = self.parse_block()?;
                }
                others.push((Some(condition), body));
            } else if self.take_keyword("else") {
                others.push((None, self.parse_block()?));
            } else {
                break;
            }
        }
        self.end_of_body("fi")?;
        Ok(Statement::If {
            condition,
            then,
            others,
        })
    }

    fn while_loop(&mut self) -> ParseResult<Statement> {
        let condition = self.parse_block()?;
        let mut body = Block::default();
        if self.take_keyword("do") {
            body = self.parse_block()?;
            self.end_of_body("done")?;
        } else {
            self.end_of_body("")?;
        }
        Ok(Statement::While { condition, body })
    }

    fn for_loop(&mut self) -> ParseResult<Statement> {
        self.skip_blanks();
        if !self.at_word() {
            return Err("a C-style or nameless for");
        }
        let variable = self.parse_word()?.raw;
        if !is_name(&variable) {
            return Err("a for without a proper variable");
        }
        self.skip_blanks();
        let mut words = Vec::new();
        if self.take_keyword("in") {
            self.skip_blanks();
            while self.at_word() || (words.is_empty() && self.peek() == Some('#')) {
                words.push(self.parse_word()?);
                self.skip_blanks();
            }
        }
        self.skip_blanks();
        self.skip_comment();
        // The separator in front of `do` may also be a newline.
        self.consume_text(";");
        self.skip_empty_lines();
        if !self.take_keyword("do") {
            return Err("a for without do");
        }
        let body = self.parse_block()?;
        self.end_of_body("done")?;
        Ok(Statement::For {
            variable,
            words,
            body,
        })
    }

    /// The closing word, or the end of the text or bracket: an unfinished body
    /// is fine.
    fn end_of_body(&mut self, closer: &str) -> ParseResult<()> {
        let unfinished = match self.peek() {
            // The client's parser closes an open body at the end of the text, and so must
            // this one: its commands count.
            None | Some(')') => true,
            Some(c) => c == '`' && self.in_backticks,
        };
        if unfinished || self.take_keyword(closer) {
            Ok(())
        } else {
            Err("a body closed by the wrong word")
        }
    }
}
