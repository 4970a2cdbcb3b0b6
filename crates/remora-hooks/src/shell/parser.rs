//! The statement grammar: lists, pipes, loops, conditions, brackets.
//! It is as tolerant as the client's parser (an unfinished `if`, a pipe with
//! nothing behind it) and as strict (`; ;`, a stray `)`, `{ }`, functions).

use super::tree::{Block, End, Joint, Redirect, Statement};
use super::words::{Parsed, Parser, is_name};

/// Words that close or continue a body; alone at a command's place they are
/// errors.
const CLOSERS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];
/// Words that open something no rule understands.
const OPAQUE: [&str; 5] = ["case", "select", "function", "{", "for(("];

/// Parses a whole command line.
pub(super) fn parse(text: &str) -> Parsed<Block> {
    let mut parser = Parser::new(text);
    let block = parser.block()?;
    if parser.at < parser.text.len() {
        return Err("a word or bracket where a command should begin");
    }
    Ok(block)
}

impl Parser {
    /// Statements up to a closing word, bracket or the end; the closer stays.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.deeper(Self::block_inside)
    }

    fn block_inside(&mut self) -> Parsed<Block> {
        let mut statements = Vec::new();
        loop {
            self.skip_lines();
            if self.at_block_end() {
                return Ok(Block { statements });
            }
            let statement = self.chain()?;
            self.skip_blanks();
            let end = if self.looking_at(";") {
                let double = self.take(";;");
                if !double {
                    self.at += 1;
                }
                if self.peek() == Some('&') {
                    return Err("a case separator outside of case");
                }
                if double { End::Double } else { End::Semicolon }
            } else if self.peek() == Some('&') {
                self.at += 1;
                End::Ampersand
            } else {
                End::Open
            };
            statements.push((statement, end));
            if end == End::Open {
                continue;
            }
            self.skip_blanks();
            if matches!(self.peek(), Some(';' | '&' | '|')) {
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
                .keyword()
                .is_some_and(|word| CLOSERS.contains(&word.as_str())),
        }
    }

    /// The bare word at the cursor, when it is made of keyword characters.
    fn keyword(&self) -> Option<String> {
        let mut word = String::new();
        let mut offset = 0;
        while let Some(c) = self.peek_at(offset) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | ')' => break,
                '(' if word == "for" => break,
                'a'..='z' | '{' | '}' | '!' if word.len() < 9 => word.push(c),
                '`' if self.in_backticks => break,
                _ => return None,
            }
            offset += 1;
        }
        (!word.is_empty()).then_some(word)
    }

    fn take_keyword(&mut self, wanted: &str) -> bool {
        self.keyword().as_deref() == Some(wanted) && self.take(wanted)
    }

    /// `a && b || c`.
    fn chain(&mut self) -> Parsed<Statement> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = if self.take("&&") {
                Joint::And
            } else if self.take("||") {
                Joint::Or
            } else {
                break;
            };
            self.skip_empty_lines();
            rest.push((joint, self.pipeline()?));
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
    fn pipeline(&mut self) -> Parsed<Statement> {
        let mut stages = vec![self.unit()?];
        let mut piped = false;
        loop {
            self.skip_blanks();
            if self.looking_at("||") || !(self.take("|&") || self.take("|")) {
                break;
            }
            piped = true;
            self.skip_lines();
            if self.at_block_end() || matches!(self.peek(), Some(';' | '&' | '|')) {
                break;
            }
            stages.push(self.unit()?);
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
    fn unit(&mut self) -> Parsed<Statement> {
        self.skip_blanks();
        let Some(c) = self.peek() else {
            return Err("nothing where a command should be");
        };
        if c == '(' {
            return self.deeper(Self::subshell);
        }
        if c == '[' {
            let test = self.test_brackets()?;
            return self.closed(test);
        }
        if c == '!' && matches!(self.peek_at(1), Some(' ' | '\t')) {
            return self.deeper(Self::negation);
        }
        let Some(word) = self.keyword() else {
            return self.command();
        };
        let statement = match word.as_str() {
            "if" => self.deeper(Self::condition)?,
            "while" | "until" => {
                self.at += 5;
                self.deeper(Self::while_loop)?
            }
            "for" => {
                self.at += 3;
                self.deeper(Self::for_loop)?
            }
            "{" if matches!(self.peek_at(1), None | Some(';' | '&' | '|')) => {
                return self.command();
            }
            other if OPAQUE.contains(&other) => {
                return Err("case, select, a function or a { } group");
            }
            other if CLOSERS.contains(&other) => {
                return Err("a closing word without its opening one");
            }
            _ => return self.command(),
        };
        self.closed(statement)
    }

    fn negation(&mut self) -> Parsed<Statement> {
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
                redirects.push(self.redirect()?);
                self.skip_blanks();
            }
            Some(Box::new(test))
        } else {
            Some(Box::new(self.unit()?))
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
    fn closed(&mut self, statement: Statement) -> Parsed<Statement> {
        self.skip_blanks();
        if self.at_redirect() {
            return Err("a redirection of a whole loop, condition or bracket");
        }
        Ok(statement)
    }

    fn subshell(&mut self) -> Parsed<Statement> {
        self.at += 1;
        if matches!(self.peek(), Some('(' | '#')) {
            return Err("(( )) arithmetic");
        }
        let outer = std::mem::replace(&mut self.in_backticks, false);
        let block = self.block()?;
        self.in_backticks = outer;
        if !self.take(")") {
            return Err("an open bracket");
        }
        self.closed(Statement::Subshell(block))
    }

    fn condition(&mut self) -> Parsed<Statement> {
        self.at += 2;
        let condition = self.block()?;
        let mut then = Block::default();
        if self.take_keyword("then") {
            then = self.block()?;
        }
        let mut others = Vec::new();
        loop {
            if self.take_keyword("elif") {
                let condition = self.block()?;
                let mut body = Block::default();
                if self.take_keyword("then") {
                    body = self.block()?;
                }
                others.push((Some(condition), body));
            } else if self.take_keyword("else") {
                others.push((None, self.block()?));
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

    fn while_loop(&mut self) -> Parsed<Statement> {
        let condition = self.block()?;
        let mut body = Block::default();
        if self.take_keyword("do") {
            body = self.block()?;
            self.end_of_body("done")?;
        } else {
            self.end_of_body("")?;
        }
        Ok(Statement::While { condition, body })
    }

    fn for_loop(&mut self) -> Parsed<Statement> {
        self.skip_blanks();
        if !self.at_word() {
            return Err("a C-style or nameless for");
        }
        let variable = self.word()?.raw;
        if !is_name(&variable) {
            return Err("a for without a proper variable");
        }
        self.skip_blanks();
        let mut words = Vec::new();
        if self.take_keyword("in") {
            self.skip_blanks();
            while self.at_word() || (words.is_empty() && self.peek() == Some('#')) {
                words.push(self.word()?);
                self.skip_blanks();
            }
        }
        self.skip_blanks();
        self.skip_comment();
        self.take(";");
        self.skip_empty_lines();
        if !self.take_keyword("do") {
            return Err("a for without do");
        }
        let body = self.block()?;
        self.end_of_body("done")?;
        Ok(Statement::For {
            variable,
            words,
            body,
        })
    }

    /// The closing word, or the end of the text or bracket: an unfinished body
    /// is fine.
    fn end_of_body(&mut self, closer: &str) -> Parsed<()> {
        let unfinished = match self.peek() {
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
