//! Reads JSON as the client does and says where each value stands, so that an
//! edit can leave every other byte alone. Strict: no comments, no trailing commas.

use std::ops::Range;

/// Nobody writes settings deeper than this; it bounds the recursion.
const DEEPEST: usize = 200;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
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
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

impl Node {
    /// The value of a key; the last one counts, as in the client.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.member(key).map(|member| &member.value)
    }

    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// The members of an object; none for anything else.
    pub(super) fn members(&self) -> &[Member] {
        match &self.data {
            Data::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn list(&self) -> Option<&[Node]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.data, Data::Object(_))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "null",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "a string",
            Data::List(_) => "a list",
            Data::Object(_) => "an object",
        }
    }
}

/// Reads one value with nothing but blanks around it.
pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    reader.blanks();
    let node = reader.value()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.fault("the end of the file"));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, expected: &'static str) -> Fault {
        Fault {
            at: self.at,
            expected,
        }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.fault(expected))
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::items)?,
            Some(b'"') => Data::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Data::Number(self.number()?),
            Some(b't') => self.word("true", Data::Bool(true))?,
            Some(b'f') => self.word("false", Data::Bool(false))?,
            Some(b'n') => self.word("null", Data::Null)?,
            _ => return Err(self.fault("a value")),
        };
        Ok(Node {
            span: start..self.at,
            data,
        })
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<Data, Fault>) -> Result<Data, Fault> {
        if self.depth == DEEPEST {
            return Err(self.fault("fewer levels of nesting"));
        }
        self.depth += 1;
        self.at += 1;
        self.blanks();
        let data = inner(self);
        self.depth -= 1;
        data
    }

    fn object(&mut self) -> Result<Data, Fault> {
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Data::Object(members));
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault("a key in double quotes"));
            }
            let key = self.string()?;
            self.blanks();
            self.take(b':', "`:`")?;
            self.blanks();
            let value = self.value()?;
            members.push(Member {
                key,
                span: start..self.at,
                value,
            });
            self.blanks();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(Data::Object(members));
            }
            self.take(b',', "`,` or `}`")?;
        }
    }

    fn items(&mut self) -> Result<Data, Fault> {
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Data::List(items));
        }
        loop {
            self.blanks();
            items.push(self.value()?);
            self.blanks();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Data::List(items));
            }
            self.take(b',', "`,` or `]`")?;
        }
    }

    fn word(&mut self, word: &str, data: Data) -> Result<Data, Fault> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(data);
        }
        Err(self.fault("a value"))
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.fault("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<f64, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.text[start..self.at]
            .parse()
            .map_err(|_| self.fault("a number"))
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.fault("`\"`")),
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0..=0x1f) => return Err(self.fault("an escaped control character")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let raw = &self.text[start..self.at];
        // Half a surrogate pair is legal here and for the client, and in no name
        // that is looked for: the text as written will do.
        Ok(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()))
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return Err(self.fault("a hexadecimal digit"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.fault("an escape that JSON knows")),
        }
        Ok(())
    }
}

/// Line and column (in characters), both counted from 1.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let head = text.get(..at).unwrap_or(text);
    let line = head.matches('\n').count() + 1;
    let start = head.rfind('\n').map_or(0, |newline| newline + 1);
    (line, head[start..].chars().count() + 1)
}
