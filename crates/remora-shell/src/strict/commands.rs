//! The grammar of one simple command: assignments in front, words,
//! redirections and here-documents, and the two built-in families that have a
//! grammar of their own (`export` and its kin, `unset`).

use super::tree::{Assignment, Command, Declaration, Operand, Redirect, Statement, Word, WordPart};
use super::words::{ParseResult, Parser, is_name};

const DECLARATION_COMMANDS: [&str; 5] = ["export", "declare", "typeset", "readonly", "local"];

/// Keywords: no command behind an assignment or redirection has such a name.
const RESERVED_WORDS: [&str; 14] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function",
];

/// The redirections that take a file, longest first.
const FILE_OPERATORS: [&str; 8] = ["&>>", ">>", ">|", ">&", "<&", "&>", ">", "<"];

impl Parser {
    /// A simple command, an assignment, a declaration or an `unset`.
    pub(super) fn parse_command(&mut self) -> ParseResult<Statement> {
        let mut command = Command::default();
        loop {
            self.skip_blanks();
            if self.at_redirect() {
                let redirect = self.parse_redirect()?;
                if matches!(redirect, Redirect::HereDocument { .. }) {
                    // Here and below: a shell accepts these orders, the client
                    // gives up on them.
                    return Err("a here-document in front of its command");
                }
                command.redirects.push(redirect);
            } else if let Some((name, append)) = self.assignment_head()? {
                if !command.redirects.is_empty() && command.assignments.is_empty() {
                    return Err("an assignment behind a redirection");
                }
                command
                    .assignments
                    .push(self.parse_assignment(name, append)?);
            } else {
                break;
            }
        }
        if !self.at_word() {
            if self.peek() == Some('(') {
                return Err("a bracket where a command should begin");
            }
            return nameless_command(command);
        }
        let prefixed = !(command.assignments.is_empty() && command.redirects.is_empty());
        let name = self.parse_word()?;
        if name.raw.starts_with('}') || (prefixed && RESERVED_WORDS.contains(&name.raw.as_str())) {
            return Err("a keyword as a command");
        }
        self.reject_named_descriptor(&name)?;
        if command.assignments.is_empty() && command.redirects.is_empty() {
            // Only without anything in front: behind an assignment the client
            // reads them as plain commands.
            if DECLARATION_COMMANDS.contains(&name.raw.as_str()) {
                return self.parse_declaration(name.raw);
            }
            if name.raw == "unset" || name.raw == "unsetenv" {
                return self.parse_unset();
            }
        }
        if self.peek() == Some('(') {
            return Err("a function");
        }
        command.words.push(name);
        let (words, redirects) = self.parse_arguments(true)?;
        if prefixed && command.words[0].raw == "!" && !words.is_empty() {
            return Err("a negation behind an assignment or redirection");
        }
        command.words.extend(words);
        command.redirects.extend(redirects);
        Ok(Statement::Command(command))
    }

    /// Words and redirections behind a command's name. A word behind a file
    /// redirection is not understood; one behind a here-string is.
    fn parse_arguments(&mut self, here: bool) -> ParseResult<(Vec<Word>, Vec<Redirect>)> {
        let mut words = Vec::new();
        let mut redirects = Vec::new();
        let mut to_file = false;
        loop {
            self.skip_blanks();
            if self.at_redirect() {
                let redirect = self.parse_redirect()?;
                let document = matches!(redirect, Redirect::HereDocument { .. });
                if !here && !matches!(redirect, Redirect::File(_)) {
                    return Err("a here-document or here-string on a built-in");
                }
                if to_file && matches!(redirect, Redirect::HereString(_)) {
                    return Err("a here-string behind a redirection");
                }
                to_file |= matches!(redirect, Redirect::File(_));
                redirects.push(redirect);
                // It must be the last thing on its line, so nothing can follow.
                if document {
                    break;
                }
            } else if self.at_word() {
                if to_file {
                    return Err("a word behind a redirection");
                }
                let word = self.parse_word()?;
                if word.raw == "=" {
                    return Err("a lone equals sign");
                }
                self.reject_named_descriptor(&word)?;
                words.push(word);
            } else if self.peek() == Some('(') {
                return Err("a bracket among the arguments");
            } else if to_file && self.peek() == Some('#') {
                return Err("a comment behind a redirection");
            } else {
                break;
            }
        }
        Ok((words, redirects))
    }

    /// `{name}>file`, blanks or not.
    fn reject_named_descriptor(&mut self, word: &Word) -> ParseResult<()> {
        let inner = word
            .raw
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        let named = inner.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        self.skip_blanks();
        if named && (matches!(self.peek(), Some('<' | '>')) || self.looking_at("&>")) {
            return Err("a named descriptor");
        }
        Ok(())
    }

    fn parse_declaration(&mut self, name: String) -> ParseResult<Statement> {
        let mut operands = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            if self.at_redirect() {
                let (words, found) = self.parse_arguments(false)?;
                if !words.is_empty() {
                    return Err("a word behind a redirection");
                }
                redirects.extend(found);
            } else if let Some((name, append)) = self.assignment_head()? {
                let assignment = self.parse_assignment(name, append)?;
                operands.push(Operand::Assignment(assignment));
            } else if self.at_word() {
                operands.push(Operand::Word(self.parse_word()?));
            } else if self.peek() == Some('(') {
                return Err("a bracket among the arguments");
            } else {
                break;
            }
        }
        Ok(Statement::Declaration(Declaration {
            name,
            operands,
            redirects,
        }))
    }

    fn parse_unset(&mut self) -> ParseResult<Statement> {
        let (operands, redirects) = self.parse_arguments(false)?;
        if self.peek() == Some('#') {
            return Err("a comment behind unset");
        }
        Ok(Statement::Unset {
            operands,
            redirects,
        })
    }

    /// `NAME=` or `NAME+=` at the cursor, stepped over.
    fn assignment_head(&mut self) -> ParseResult<Option<(String, bool)>> {
        let mut offset = 0;
        while self
            .peek_at(offset)
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            offset += 1;
        }
        let name = self.slice_text(self.at, self.at + offset);
        if !is_name(&name) {
            return Ok(None);
        }
        let append = self.peek_at(offset) == Some('+');
        let equals = offset + usize::from(append);
        if !append && self.peek_at(offset) == Some('[') {
            return self.check_array_element(offset);
        }
        // `a==b` is a word of a test, not an assignment.
        if self.peek_at(equals) != Some('=') || self.peek_at(equals + 1) == Some('=') {
            return Ok(None);
        }
        self.at += equals + 1;
        if self.peek() == Some('(') {
            return Err("an array");
        }
        Ok(Some((name, append)))
    }

    /// `NAME[index]=` is an array element; any other bracket is just text.
    fn check_array_element(&self, mut offset: usize) -> ParseResult<Option<(String, bool)>> {
        while let Some(c) = self.peek_at(offset) {
            match c {
                ' ' | '\t' | '\n' => break,
                ']' if matches!(self.peek_at(offset + 1), Some('=' | '+')) => {
                    return Err("an array");
                }
                _ => offset += 1,
            }
        }
        Ok(None)
    }

    fn parse_assignment(&mut self, name: String, append: bool) -> ParseResult<Assignment> {
        let starts = self.at_word() || self.peek() == Some('#');
        let value = if starts {
            Some(self.parse_word()?)
        } else {
            None
        };
        if self.peek() == Some('(') {
            return Err("a bracket in a value");
        }
        Ok(Assignment {
            name,
            append,
            value,
        })
    }

    /// Is a redirection next, with or without its descriptor number?
    pub(super) fn at_redirect(&self) -> bool {
        let mut offset = 0;
        while self.peek_at(offset).is_some_and(|c| c.is_ascii_digit()) {
            offset += 1;
        }
        match self.peek_at(offset) {
            Some('<' | '>') => true,
            Some('&') => offset == 0 && self.peek_at(1) == Some('>'),
            _ => false,
        }
    }

    pub(super) fn parse_redirect(&mut self) -> ParseResult<Redirect> {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        if self.consume_text("<<<") {
            self.skip_blanks();
            let word = if self.at_word() {
                Some(self.parse_word()?)
            } else {
                None
            };
            return Ok(Redirect::HereString(word));
        }
        if self.consume_text("<<") {
            return self.here_document();
        }
        if self.looking_at("<>") || self.looking_at("<(") || self.looking_at(">(") {
            return Err("<> or process substitution");
        }
        let duplicates = matches!(self.peek_at(1), Some('&'));
        if !FILE_OPERATORS
            .iter()
            .any(|operator| self.consume_text(operator))
        {
            return Err("an unknown redirection");
        }
        self.skip_blanks();
        if self.peek() == Some('!') || !(self.at_word() || self.peek() == Some('#')) {
            return Err("a redirection without a plain target");
        }
        let target = self.parse_word()?;
        if duplicates
            && (target.raw == "-" || !matches!(target.parts.as_slice(), [WordPart::Plain(_)]))
        {
            return Err("a closed or unknown descriptor");
        }
        Ok(Redirect::File(target))
    }

    /// A here-document with a quoted end word. It must be the last thing on
    /// its line; without its end line it runs to the end of the text.
    fn here_document(&mut self) -> ParseResult<Redirect> {
        let tabs_removed = self.consume_text("-");
        self.skip_blanks();
        let end = self.here_end()?;
        self.skip_blanks();
        match self.peek() {
            None => {}
            Some('\n') => self.at += 1,
            Some(_) => return Err("text behind a here-document's end word"),
        }
        let mut lines = Vec::new();
        while self.at < self.text.len() {
            let start = self.at;
            while self.peek().is_some_and(|c| c != '\n') {
                self.at += 1;
            }
            let line = self.slice_text(start, self.at);
            self.at = (self.at + 1).min(self.text.len());
            let bare = if tabs_removed {
                line.trim_start_matches('\t')
            } else {
                &line
            };
            if bare == end {
                break;
            }
            lines.push(line);
        }
        Ok(Redirect::HereDocument {
            text: lines.join("\n"),
            tabs_removed,
        })
    }

    /// `'END'`, `"END"` or `\END`; an unquoted end word means that the text is
    /// expanded, which is not understood.
    fn here_end(&mut self) -> ParseResult<String> {
        let quote = self.peek();
        let start = self.at + 1;
        match quote {
            Some('\\') => {
                self.at += 1;
                while self
                    .peek()
                    .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                {
                    self.at += 1;
                }
                Ok(self.slice_text(start, self.at))
            }
            Some('\'' | '"') => {
                self.at += 1;
                while self.peek() != quote {
                    if self.peek().is_none() {
                        return Err("an open here-document end word");
                    }
                    self.at += 1;
                }
                let end = self.slice_text(start, self.at);
                self.at += 1;
                if quote == Some('"') && end.contains(['$', '`', '\\']) {
                    return Err("an unusual here-document end word");
                }
                Ok(end)
            }
            _ => Err("an unquoted here-document"),
        }
    }
}

/// A command without a name.
fn nameless_command(mut command: Command) -> ParseResult<Statement> {
    if command
        .redirects
        .iter()
        .any(|redirect| !matches!(redirect, Redirect::File(_)))
    {
        return Err("a here-string without a command");
    }
    if !command.redirects.is_empty() {
        return Ok(Statement::Command(command));
    }
    match (command.assignments.pop(), command.assignments.len()) {
        (Some(only), 0) => Ok(Statement::Assignment(only)),
        // Observed: a shell accepts it, the client does not try to understand
        // it.
        (Some(_), _) => Err("several assignments without a command"),
        (None, _) => Err("an unexpected character where a command should begin"),
    }
}
