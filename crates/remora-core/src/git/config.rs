//! A repository's `config`, read by git's own rules: section and key names in
//! any case, quotes, escapes, comments, continued lines. What git would refuse
//! has no value here either, so that no file means one thing to git and
//! another to us.

/// One `key = value` of a configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConfigEntry {
    /// The section in lower case, and the subsection as it was written.
    pub(super) section: String,
    pub(super) subsection: String,
    /// In lower case.
    pub(super) key: String,
    pub(super) value: String,
}

/// All entries in their order; `None` when git would not read the file.
pub(super) fn parse_config(text: &str) -> Option<Vec<ConfigEntry>> {
    // git skips a byte order mark as well.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser {
        rest: text.as_bytes(),
    };
    let mut entries = Vec::new();
    let mut head = None;
    loop {
        match parser.next() {
            None => return Some(entries),
            Some(c) if c.is_ascii_whitespace() => {}
            Some(b'#' | b';') => parser.skip_line(),
            Some(b'[') => head = Some(parser.parse_head()?),
            Some(c) if c.is_ascii_alphabetic() => {
                // A key before the first section is an error to git.
                let (section, subsection) = head.clone()?;
                let (key, value) = parser.parse_pair(c)?;
                // A key without `=` means true, which none of the settings read here can
                // be.
                entries.extend(value.map(|value| ConfigEntry {
                    section,
                    subsection,
                    key,
                    value,
                }));
            }
            Some(_) => return None,
        }
    }
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    /// The next byte; a line may end as on Windows.
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        if first == b'\r' && rest.first() == Some(&b'\n') {
            return self.next();
        }
        Some(first)
    }

    /// The next byte of a value, which the end of the file ends like a line.
    fn next_or_newline(&mut self) -> u8 {
        self.next().unwrap_or(b'\n')
    }

    fn skip_line(&mut self) {
        while self.next_or_newline() != b'\n' {}
    }

    /// The rest of `[section "subsection"]` or `[section.subsection]`.
    fn parse_head(&mut self) -> Option<(String, String)> {
        let mut section = Vec::new();
        loop {
            match self.next()? {
                b']' => break,
                c if c.is_ascii_whitespace() => {
                    let subsection = self.parse_subsection(c)?;
                    return Some((decode_utf8(section)?, subsection));
                }
                c if c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.') => {
                    section.push(c.to_ascii_lowercase());
                }
                _ => return None,
            }
        }
        let section = decode_utf8(section)?;
        // The older form, whose subsection is in lower case like the section.
        Some(match section.split_once('.') {
            Some((section, subsection)) => (section.to_owned(), subsection.to_owned()),
            None => (section, String::new()),
        })
    }

    fn parse_subsection(&mut self, space: u8) -> Option<String> {
        let mut c = space;
        while c.is_ascii_whitespace() {
            if c == b'\n' {
                return None;
            }
            c = self.next()?;
        }
        if c != b'"' {
            return None;
        }
        let mut name = Vec::new();
        loop {
            match self.next()? {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next()? {
                    b'\n' => return None,
                    escaped => name.push(escaped),
                },
                c => name.push(c),
            }
        }
        (self.next()? == b']').then(|| decode_utf8(name))?
    }

    /// A key and its value; one without `=` has none.
    fn parse_pair(&mut self, first: u8) -> Option<(String, Option<String>)> {
        let mut key = vec![first.to_ascii_lowercase()];
        let mut c = self.next_or_newline();
        while c.is_ascii_alphanumeric() || c == b'-' {
            key.push(c.to_ascii_lowercase());
            c = self.next_or_newline();
        }
        while matches!(c, b' ' | b'\t') {
            c = self.next_or_newline();
        }
        let value = match c {
            b'\n' => None,
            b'=' => Some(self.parse_value()?),
            _ => return None,
        };
        Some((decode_utf8(key)?, value))
    }

    fn parse_value(&mut self) -> Option<String> {
        let mut value = Vec::new();
        let mut is_quoted = false;
        // Space counts only between other bytes.
        let mut spaces = 0;
        loop {
            let c = self.next_or_newline();
            match c {
                b'\n' if is_quoted => return None,
                b'\n' => return decode_utf8(value),
                c if !is_quoted && c.is_ascii_whitespace() => {
                    spaces += usize::from(!value.is_empty());
                    continue;
                }
                b'#' | b';' if !is_quoted => {
                    self.skip_line();
                    return decode_utf8(value);
                }
                _ => {}
            }
            value.extend(std::iter::repeat_n(b' ', spaces));
            spaces = 0;
            match c {
                b'"' => is_quoted = !is_quoted,
                b'\\' => match self.next_or_newline() {
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(0x08),
                    b'n' => value.push(b'\n'),
                    escaped @ (b'\\' | b'"') => value.push(escaped),
                    _ => return None,
                },
                c => value.push(c),
            }
        }
    }
}

fn decode_utf8(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}
