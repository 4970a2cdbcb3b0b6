//! Reads JSON as the client does and records the place of each value, so that
//! an edit can leave every other byte alone. Strict: no comments, no trailing
//! commas.

use std::ops::Range;

/// No settings are nested deeper than this; it bounds the recursion.
const MAX_DEPTH: usize = 200;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) data: NodeData,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeData {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    /// From the key's opening quote to the end of the value.
    pub(super) span: Range<usize>,
    pub(super) value: Node,
}

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

impl Node {
    /// The value of a key; the last one counts, as in the client.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.find_member(key).map(|member| &member.value)
    }

    pub(super) fn find_member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// The members of an object; none for anything else.
    pub(super) fn members(&self) -> &[Member] {
        match &self.data {
            NodeData::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn as_list(&self) -> Option<&[Node]> {
        match &self.data {
            NodeData::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.data {
            NodeData::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.data, NodeData::Object(_))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.data {
            NodeData::Null => "null",
            NodeData::Bool(_) => "a boolean",
            NodeData::Number(_) => "a number",
            NodeData::Text(_) => "a string",
            NodeData::List(_) => "a list",
            NodeData::Object(_) => "an object",
        }
    }
}

/// Reads one value with nothing but blanks around it.
pub(super) fn parse_json(text: &str) -> Result<Node, SyntaxError> {
    let mut reader = JsonParser {
        text,
        at: 0,
        depth: 0,
    };
    reader.skip_blanks();
    let node = reader.parse_value()?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.syntax_error("the end of the file"));
    }
    Ok(node)
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl JsonParser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn syntax_error(&self, expected: &'static str) -> SyntaxError {
        SyntaxError {
            at: self.at,
            expected,
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect_byte(&mut self, byte: u8, expected: &'static str) -> Result<(), SyntaxError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.syntax_error(expected))
    }

    fn parse_value(&mut self) -> Result<Node, SyntaxError> {
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => self.parse_nested(Self::parse_object)?,
            Some(b'[') => self.parse_nested(Self::parse_items)?,
            Some(b'"') => NodeData::Text(self.parse_string()?),
            Some(b'-' | b'0'..=b'9') => NodeData::Number(self.parse_number()?),
            Some(b't') => self.expect_word("true", NodeData::Bool(true))?,
            Some(b'f') => self.expect_word("false", NodeData::Bool(false))?,
            Some(b'n') => self.expect_word("null", NodeData::Null)?,
            _ => return Err(self.syntax_error("a value")),
        };
        Ok(Node {
            span: start..self.at,
            data,
        })
    }

    fn parse_nested(
        &mut self,
        inner: fn(&mut Self) -> Result<NodeData, SyntaxError>,
    ) -> Result<NodeData, SyntaxError> {
        // A file is the user's, but it may come with a repository: recursion must end
        // before the stack does.
        if self.depth == MAX_DEPTH {
            return Err(self.syntax_error("fewer levels of nesting"));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_blanks();
        let data = inner(self);
        self.depth -= 1;
        data
    }

    fn parse_object(&mut self) -> Result<NodeData, SyntaxError> {
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(NodeData::Object(members));
        }
        loop {
            self.skip_blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.syntax_error("a key in double quotes"));
            }
            let key = self.parse_string()?;
            self.skip_blanks();
            self.expect_byte(b':', "`:`")?;
            self.skip_blanks();
            let value = self.parse_value()?;
            members.push(Member {
                key,
                span: start..self.at,
                value,
            });
            self.skip_blanks();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(NodeData::Object(members));
            }
            self.expect_byte(b',', "`,` or `}`")?;
        }
    }

    fn parse_items(&mut self) -> Result<NodeData, SyntaxError> {
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(NodeData::List(items));
        }
        loop {
            self.skip_blanks();
            items.push(self.parse_value()?);
            self.skip_blanks();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(NodeData::List(items));
            }
            self.expect_byte(b',', "`,` or `]`")?;
        }
    }

    fn expect_word(&mut self, word: &str, data: NodeData) -> Result<NodeData, SyntaxError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(data);
        }
        Err(self.syntax_error("a value"))
    }

    fn skip_digits(&mut self) -> Result<(), SyntaxError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.syntax_error("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn parse_number(&mut self) -> Result<f64, SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        self.text[start..self.at]
            .parse()
            .map_err(|_| self.syntax_error("a number"))
    }

    fn parse_string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.syntax_error("`\"`")),
                Some(b'"') => break,
                Some(b'\\') => self.skip_escape()?,
                Some(0..=0x1f) => return Err(self.syntax_error("an escaped control character")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let raw = &self.text[start..self.at];
        // Half a surrogate pair is legal here and for the client, and in no name
        // that is looked for: the text as written will do.
        Ok(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()))
    }

    fn skip_escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return Err(self.syntax_error("a hexadecimal digit"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.syntax_error("an escape that JSON knows")),
        }
        Ok(())
    }
}

/// Line and column (in characters), both counted from 1.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let head = text.get(..at).unwrap_or(text);
    let line = head.matches('\n').count() + 1;
    let start = head.rfind('\n').map_or(0, |newline| newline + 1);
    (line, head[start..].chars().count() + 1)
}
