//! Takes a command line apart as far as needed to know which programs run and
//! on what: joins, quotes, redirections, here-documents. Never runs anything,
//! and takes what it does not understand for a plain word.

/// Bytes of a command line that are read.
const MAX_SCANNED_BYTES: usize = 16 * 1024;
const MAX_PARTS: usize = 64;
/// `bash -c` within `bash -c` is followed this far.
const MAX_DEPTH: usize = 3;

/// How a part is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartJoin {
    /// There is none before it.
    First,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`, `&`, a new line, or a bracket.
    Then,
    /// `|`
    Pipe,
}

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPart {
    /// How it follows the one before.
    pub join: PartJoin,
    /// The program and its arguments, without quotes.
    pub words: Vec<String>,
    /// A file that the output goes to.
    pub into: Option<String>,
    /// Fed by a here-document.
    pub fed: bool,
}

/// A command line in parts, wrappers such as `sudo` and `timeout` removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine {
    /// In the order of the line.
    pub parts: Vec<CommandPart>,
}

impl CommandLine {
    /// Reads a line; of a very long one its beginning.
    pub fn parse(line: &str) -> Self {
        // Of a long line the beginning is enough: here-documents and scripts
        // come last.
        let mut parts = Vec::new();
        parse_into(
            &line[..line.floor_char_boundary(MAX_SCANNED_BYTES)],
            &mut parts,
            MAX_DEPTH,
        );
        Self { parts }
    }

    /// The parts that do the work: no `cd`, no settings, no filters.
    pub fn working_parts(&self) -> impl Iterator<Item = &CommandPart> {
        self.parts
            .iter()
            .filter(|p| !p.is_setting() && !p.is_filter())
    }

    /// Some part runs this program with these first words.
    pub fn runs_program(&self, words: &[&str]) -> bool {
        self.parts.iter().any(|p| p.starts_with_words(words))
    }
}

impl CommandPart {
    /// The program's name without its folder.
    pub fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.strip_suffix(".exe").unwrap_or(name)
    }

    /// The words behind the program that are not options.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words
            .iter()
            .skip(1)
            .map(String::as_str)
            .filter(|w| !w.starts_with('-') || *w == "-")
    }

    /// Whether it runs this program with these first words.
    pub fn starts_with_words(&self, words: &[&str]) -> bool {
        let Some((program, rest)) = words.split_first() else {
            return false;
        };
        if self.program() != *program {
            return false;
        }
        let mut verbs = self.verb_words();
        rest.iter().all(|word| verbs.next() == Some(*word))
    }

    /// The arguments without the values of options in front of a
    /// verb: `git -C folder status`, `cargo +nightly test`.
    pub fn verb_words(&self) -> impl Iterator<Item = &str> {
        let mut value = false;
        self.words
            .iter()
            .skip(1)
            .map(String::as_str)
            .filter(move |word| {
                let is_value = std::mem::replace(
                    &mut value,
                    matches!(
                        *word,
                        "-C" | "-c" | "--git-dir" | "--work-tree" | "--manifest-path"
                    ),
                );
                !is_value && !word.starts_with('-') && !word.starts_with('+')
            })
    }

    fn is_setting(&self) -> bool {
        matches!(
            self.program(),
            "" | "cd"
                | "pushd"
                | "popd"
                | "export"
                | "set"
                | "source"
                | "."
                | "unset"
                | "true"
                | ":"
                | "ulimit"
                | "shopt"
                | "umask"
        )
    }

    fn is_filter(&self) -> bool {
        self.join == PartJoin::Pipe
            && matches!(
                self.program(),
                "tail"
                    | "head"
                    | "grep"
                    | "egrep"
                    | "rg"
                    | "sed"
                    | "awk"
                    | "tee"
                    | "cat"
                    | "less"
                    | "more"
                    | "sort"
                    | "uniq"
                    | "wc"
                    | "cut"
                    | "tr"
                    | "ts"
                    | "column"
                    | "fold"
                    | "strings"
            )
    }
}

fn parse_into(line: &str, parts: &mut Vec<CommandPart>, depth: usize) {
    let mut scan = CommandScanner::new(line);
    scan.scan_line();
    for mut part in scan.parts {
        strip_wrappers(&mut part);
        if let Some(inner) = inner_script(&part).filter(|_| depth > 0) {
            let from = parts.len();
            parse_into(&inner, parts, depth - 1);
            // The script takes the place of the shell that runs it, also in a
            // pipe.
            if let Some(first) = parts.get_mut(from) {
                first.join = part.join;
            }
        } else if !part.words.is_empty() || part.into.is_some() {
            parts.push(part);
        }
        if parts.len() >= MAX_PARTS {
            parts.truncate(MAX_PARTS);
            return;
        }
    }
}

fn inner_script(part: &CommandPart) -> Option<String> {
    if !matches!(part.program(), "bash" | "sh" | "zsh" | "dash") {
        return None;
    }
    let at = part
        .words
        .iter()
        // `-lc` and `-ec` as well: agents' shells often start as login shells.
        .position(|w| w.starts_with('-') && !w.starts_with("--") && w.ends_with('c'))?;
    part.words.get(at + 1).cloned()
}

/// Removes what only says how a program is run.
fn strip_wrappers(part: &mut CommandPart) {
    let mut from = 0;
    while let Some(word) = part.words.get(from) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if is_assignment(word) {
            from += 1;
            continue;
        }
        let values: &[&str] = match name {
            "sudo" | "doas" => &["-u", "-g", "-C"],
            "env" => &["-u", "-C"],
            "timeout" | "gtimeout" => &["-s", "-k"],
            "nice" | "ionice" => &["-n", "-c"],
            // Keywords of the shell are dropped like wrappers: the command
            // behind them is what runs.
            "stdbuf" | "nohup" | "time" | "command" | "exec" | "setsid" | "xvfb-run"
            | "builtin" | "chronic" | "script" | "then" | "do" | "else" | "if" | "while"
            | "until" | "!" => &[],
            _ => break,
        };
        // `script` and `time` alone are programs like any other.
        if part.words.len() == from + 1 {
            break;
        }
        from += 1;
        while let Some(option) = part.words.get(from).filter(|w| w.starts_with('-')) {
            from += if values.contains(&option.as_str()) {
                2
            } else {
                1
            };
        }
        // Its first plain word is the time limit.
        if matches!(name, "timeout" | "gtimeout") {
            from += 1;
        }
    }
    part.words.drain(..from.min(part.words.len()));
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

struct CommandScanner<'a> {
    text: &'a str,
    at: usize,
    parts: Vec<CommandPart>,
    join: PartJoin,
    words: Vec<String>,
    word: Option<String>,
    into: Option<String>,
    fed: bool,
    /// Delimiters of here-documents whose bodies begin at the next line.
    heredocs: Vec<String>,
}

impl<'a> CommandScanner<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            parts: Vec::new(),
            join: PartJoin::First,
            words: Vec::new(),
            word: None,
            into: None,
            fed: false,
            heredocs: Vec::new(),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.words.push(word);
        }
    }

    fn end_part(&mut self, next: PartJoin) {
        self.end_word();
        if !self.words.is_empty() || self.into.is_some() {
            self.parts.push(CommandPart {
                join: self.join,
                words: std::mem::take(&mut self.words),
                into: self.into.take(),
                fed: std::mem::take(&mut self.fed),
            });
        }
        self.join = next;
    }

    fn scan_line(&mut self) {
        while let Some(c) = self.bump() {
            match c {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_part(PartJoin::Then);
                    self.skip_heredocs();
                }
                '\\' => match self.bump() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '\'' => self.scan_quoted('\''),
                '"' => self.scan_quoted('"'),
                '`' => self.scan_nested('`', '`'),
                '$' if self.peek() == Some('(') => {
                    self.push('$');
                    self.push('(');
                    self.bump();
                    self.scan_nested('(', ')');
                }
                // Inside a word it is text, as in `issue#12`.
                '#' if self.word.is_none() => self.skip_comment(),
                '&' if self.peek() == Some('&') => {
                    self.bump();
                    self.end_part(PartJoin::And);
                }
                '&' if self.peek() == Some('>') => {
                    self.bump();
                    self.scan_redirect();
                }
                '|' if self.peek() == Some('|') => {
                    self.bump();
                    self.end_part(PartJoin::Or);
                }
                '|' => {
                    if self.peek() == Some('&') {
                        self.bump();
                    }
                    self.end_part(PartJoin::Pipe);
                }
                ';' | '&' => self.end_part(PartJoin::Then),
                // A subshell is only a group here; inside a word a bracket is
                // text.
                '(' | ')' if self.word.is_none() => self.end_part(PartJoin::Then),
                '{' | '}'
                    if self.word.is_none()
                        && self
                            .peek()
                            .is_none_or(|c| c == ' ' || c == '\n' || c == ';') =>
                {
                    self.end_part(PartJoin::Then);
                }
                '>' => self.scan_redirect(),
                '<' => self.take_input(),
                c => self.push(c),
            }
        }
        self.end_part(PartJoin::Then);
    }

    fn scan_quoted(&mut self, close: char) {
        // `''` is an argument, although it is empty.
        self.word.get_or_insert_default();
        while let Some(c) = self.bump() {
            match c {
                c if c == close => return,
                '\\' if close == '"' => match self.bump() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c),
                    Some('\n') | None => {}
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                c => self.push(c),
            }
        }
    }

    fn scan_nested(&mut self, open: char, close: char) {
        let mut depth = 1;
        if open == close {
            self.push(open);
        }
        while let Some(c) = self.bump() {
            self.push(c);
            if c == close {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            } else if c == open {
                depth += 1;
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.bump();
        }
    }

    /// Behind `>`: the target is no argument; a descriptor in front is dropped.
    fn scan_redirect(&mut self) {
        let descriptor = match self.word.take() {
            Some(word) if word.bytes().all(|b| b.is_ascii_digit()) => Some(word),
            Some(word) => {
                self.words.push(word);
                None
            }
            None => None,
        };
        while matches!(self.peek(), Some('>' | '|')) {
            self.bump();
        }
        if self.peek() == Some('&') {
            self.bump();
            while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.bump();
            }
            return;
        }
        let target = self.scan_target();
        // The file that holds the result is what a title names; errors and
        // `/dev/null` are not.
        if descriptor.as_deref() != Some("2") && target != "/dev/null" && !target.is_empty() {
            self.into = Some(target);
        }
    }

    fn take_input(&mut self) {
        if self
            .word
            .as_ref()
            .is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        if self.peek() == Some('(') {
            self.push('<');
            self.bump();
            self.push('(');
            self.scan_nested('(', ')');
            return;
        }
        if self.peek() == Some('<') {
            self.bump();
            if self.peek() == Some('<') {
                self.bump();
                self.scan_target();
                self.fed = true;
                return;
            }
            if self.peek() == Some('-') {
                self.bump();
            }
            let delimiter = self.scan_target();
            self.fed = true;
            if !delimiter.is_empty() {
                self.heredocs.push(delimiter);
            }
            return;
        }
        self.scan_target();
    }

    /// The next word, unquoted, without making it an argument.
    fn scan_target(&mut self) -> String {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.bump();
        }
        let saved = self.word.take();
        while let Some(c) = self.peek() {
            if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | ')') {
                break;
            }
            self.bump();
            match c {
                '\'' | '"' => self.scan_quoted(c),
                '\\' => {
                    if let Some(c) = self.bump() {
                        self.push(c);
                    }
                }
                c => self.push(c),
            }
        }
        std::mem::replace(&mut self.word, saved).unwrap_or_default()
    }

    fn skip_heredocs(&mut self) {
        for delimiter in std::mem::take(&mut self.heredocs) {
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let line = &rest[..end];
                self.at += end;
                // Trimmed for `<<-`, whose end may be indented; a body that
                // repeats its delimiter is not worth more.
                if line.trim() == delimiter {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
