//! What a shell line does, as far as permission rules ask: which commands it
//! runs, which files it reads and writes, and whether it is plain enough to be
//! allowed command by command.
//!
//! The two directions err differently. Deny and ask rules see everything that
//! might be a command; allow rules see only what was parsed with certainty.

use crate::shell::{self, ShellReading, SimpleCommand};

/// Commands that change files and take their paths as arguments.
pub(super) const FILE_COMMANDS: [&str; 7] = ["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

/// How many commands behind wrappers one line may add, and how many words a
/// command may have to be unwrapped: bounds against hostile lines, since each
/// unwrapping copies all words.
const MAX_UNWRAPPED_COMMANDS: usize = 64;
const MAX_COMMAND_WORDS: usize = 1_000;

/// A line, read once for all rules.
#[derive(Debug)]
pub(super) struct ShellLine {
    reading: ShellReading,
    /// Pieces between operators, for what the reading does not understand.
    pieces: Vec<Vec<String>>,
    /// Paths that are read.
    pub(super) reads: Vec<String>,
    /// Paths that are written, those behind `>` first.
    pub(super) writes: Vec<String>,
    redirected: usize,
    plain: bool,
}

impl ShellLine {
    pub(super) fn new(text: &str, home: &str) -> Self {
        let scan = LineScan::from_text(text);
        let reading = shell::read_command(text, home);
        let mut line = Self {
            reading,
            pieces: scan.pieces,
            reads: scan.reads,
            redirected: scan.writes.len(),
            writes: scan.writes,
            plain: scan.plain,
        };
        let words: Vec<Vec<String>> = match &line.reading {
            ShellReading::Understood { commands, .. } => {
                commands.iter().map(|c| c.words.clone()).collect()
            }
            ShellReading::NotUnderstood { .. } => line.pieces.clone(),
        };
        for command in &words {
            match extract_paths(command) {
                CommandPaths::Read(list) => line.reads.extend(list),
                CommandPaths::Written(list) => line.writes.extend(list),
            }
        }
        line
    }

    /// The texts that deny and ask rules are tested on: every command, and every
    /// command behind its wrappers. Of a line that is not understood, every piece
    /// that could be a command.
    pub(super) fn candidates(&self) -> Vec<String> {
        let mut all: Vec<Vec<String>> = match &self.reading {
            ShellReading::Understood {
                commands,
                unknown_argument: false,
            } => commands.iter().map(|c| c.words.clone()).collect(),
            _ => self.pieces.clone(),
        };
        // A bound per line; no real command stacks this many wrappers.
        let most = all.len() + MAX_UNWRAPPED_COMMANDS;
        let mut at = 0;
        while at < all.len() && all.len() < most {
            if all[at].len() > MAX_COMMAND_WORDS {
                at += 1;
                continue;
            }
            if let Some(inner) = unwrap_command(&all[at], WrapperKinds::Any) {
                all.push(inner.to_vec());
            }
            // A deny of `git push *` must also catch `/usr/bin/git push`. (In `if` a path is
            // another command.)
            if let Some((name, rest)) = all[at].split_first()
                && let Some((_, base)) = name.rsplit_once('/')
            {
                all.push(
                    std::iter::once(base.to_owned())
                        .chain(rest.iter().cloned())
                        .collect(),
                );
            }
            at += 1;
        }
        all.iter().map(|words| words.join(" ")).collect()
    }

    /// The targets of `>` and `>>`.
    pub(super) fn redirected_writes(&self) -> &[String] {
        &self.writes[..self.redirected]
    }

    /// The commands that must each be allowed; `None` when the line cannot be
    /// taken apart with certainty.
    pub(super) fn commands(&self) -> Option<&[SimpleCommand]> {
        match &self.reading {
            ShellReading::Understood {
                commands,
                unknown_argument: false,
            } if self.plain => Some(commands),
            _ => None,
        }
    }
}

/// The paths a command names, by what it does with them.
pub(super) enum CommandPaths {
    Read(Vec<String>),
    Written(Vec<String>),
}

pub(super) fn extract_paths(words: &[String]) -> CommandPaths {
    let Some((name, rest)) = words.split_first() else {
        return CommandPaths::Read(Vec::new());
    };
    let name = name.as_str();
    // The first group takes an expression before its paths; the second takes no paths that
    // rules care about.
    let skipped = match name {
        "grep" | "rg" | "sed" | "awk" | "jq" | "tr" => 1,
        "echo" | "printf" | "git" | "cd" => rest.len(),
        _ => 0,
    };
    let list = rest
        .iter()
        .filter(|w| !w.starts_with('-'))
        .skip(skipped)
        .cloned()
        .collect();
    // Without `-i` sed only prints.
    let in_place = name != "sed" || rest.iter().any(|w| w.starts_with("-i"));
    if FILE_COMMANDS.contains(&name) && in_place {
        CommandPaths::Written(list)
    } else {
        CommandPaths::Read(list)
    }
}

/// Which wrappers are looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrapperKinds {
    /// Those that only time or detach a command.
    Harmless,
    /// Also those that change who or what runs it.
    Any,
}

/// The command behind a wrapper such as `timeout 5`.
pub(super) fn unwrap_command(words: &[String], which: WrapperKinds) -> Option<&[String]> {
    let (name, mut rest) = words.split_first()?;
    let skip = |rest: &mut &[String], takes_value: &[&str]| {
        while let Some((first, more)) = rest.split_first()
            && first.starts_with('-')
        {
            *rest = more;
            if takes_value.contains(&first.as_str()) {
                *rest = rest.get(1..).unwrap_or_default();
            }
        }
    };
    match name.as_str() {
        "nohup" => {}
        "time" => skip(&mut rest, &[]),
        "command" if !rest.first().is_some_and(|w| w.starts_with('-')) => {}
        // With options the command is not simply what follows, so it is left alone.
        "xargs" if !rest.first().is_some_and(|w| w.starts_with('-')) => {}
        "nice" => skip(&mut rest, &["-n"]),
        "timeout" => {
            skip(&mut rest, &["-k", "-s"]);
            rest = rest.get(1..)?;
        }
        // Above: an allow for the inner command covers these too. Below: who runs it, or with
        // which environment, changes, so only deny and ask rules look through them.
        _ if which == WrapperKinds::Harmless => return None,
        "stdbuf" => skip(&mut rest, &["-i", "-o", "-e"]),
        "exec" | "builtin" => skip(&mut rest, &["-a"]),
        "sudo" => skip(&mut rest, &["-u", "-g"]),
        "env" => {
            skip(&mut rest, &["-u", "-C"]);
            while rest.first().is_some_and(|w| is_assignment(w)) {
                rest = &rest[1..];
            }
        }
        _ => return None,
    }
    (!rest.is_empty()).then_some(rest)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .trim_end_matches('+')
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A rough cut of a line at its operators, quotes respected. It errs towards
/// finding too much: its pieces can only make a decision stricter.
struct LineScan {
    pieces: Vec<Vec<String>>,
    reads: Vec<String>,
    writes: Vec<String>,
    plain: bool,
}

enum Token {
    Word(String),
    /// `;`, `|`, `(`, `$(` and the like.
    Cut,
    /// A lone `&`, a bracket or a here-document: not plain.
    Odd,
    Read,
    Write,
}

const SHELL_KEYWORDS: [&str; 10] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "}",
];

impl LineScan {
    fn from_text(text: &str) -> Self {
        let mut scan = Self {
            pieces: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            plain: true,
        };
        let mut piece = Vec::new();
        let mut redirect: Option<bool> = None;
        for token in tokenize_line(text) {
            match token {
                Token::Word(word) => match redirect.take() {
                    // Discarding output writes no file.
                    Some(true) if word == "/dev/null" || word.starts_with('&') => {}
                    Some(true) => scan.writes.push(word),
                    Some(false) => scan.reads.push(word),
                    None => piece.push(word),
                },
                Token::Read => redirect = Some(false),
                Token::Write => redirect = Some(true),
                Token::Cut => scan.end_piece(&mut piece),
                Token::Odd => {
                    scan.plain = false;
                    scan.end_piece(&mut piece);
                }
            }
        }
        scan.end_piece(&mut piece);
        scan
    }

    fn end_piece(&mut self, piece: &mut Vec<String>) {
        let mut words = std::mem::take(piece);
        let keywords = words
            .iter()
            .take_while(|w| SHELL_KEYWORDS.contains(&w.as_str()))
            .count();
        self.plain &= !words[..keywords].iter().any(|w| w == "{" || w == "}");
        words.drain(..keywords);
        // `PATH=x git status` may run another git, so such a line is not plain; a line of
        // assignments alone runs nothing.
        let assignments = words.iter().take_while(|w| is_assignment(w)).count();
        if assignments > 0 && assignments < words.len() {
            self.plain = false;
        }
        words.drain(..assignments);
        if !words.is_empty() {
            self.pieces.push(words);
        }
    }
}

fn tokenize_line(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        word: None,
        quoted: false,
        outside: Vec::new(),
        tokens: Vec::new(),
    };
    while lexer.scan_char() {}
    lexer.end_word();
    lexer.tokens
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    word: Option<String>,
    /// Inside double quotes.
    quoted: bool,
    /// For each open `$(`: whether it is inside double quotes.
    outside: Vec<bool>,
    tokens: Vec<Token>,
}

impl Lexer {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.tokens.extend(self.word.take().map(Token::Word));
    }

    fn push_token(&mut self, token: Token) {
        self.end_word();
        self.tokens.push(token);
    }

    /// Takes one character, or what belongs to it. False at the end.
    fn scan_char(&mut self) -> bool {
        let Some(c) = self.peek() else { return false };
        self.at += 1;
        match c {
            '\\' => {
                if let Some(next) = self.peek().filter(|n| *n != '\n') {
                    self.push(next);
                }
                self.at += 1;
            }
            '\'' if !self.quoted => self.single_quotes(),
            '"' => {
                self.quoted = !self.quoted;
                self.word.get_or_insert_default();
            }
            // Before the quoted case: substitutions run inside double quotes, too, and
            // quoting starts afresh inside them.
            '$' if self.peek() == Some('(') => {
                self.at += 1;
                self.push_token(Token::Cut);
                self.outside.push(std::mem::take(&mut self.quoted));
            }
            ')' if !self.quoted => match self.outside.pop() {
                Some(before) => {
                    self.push_token(Token::Cut);
                    self.quoted = before;
                }
                None => self.push_token(Token::Odd),
            },
            // Opening and closing backtick cut alike, which is enough to find the commands.
            '`' => self.push_token(Token::Cut),
            c if self.quoted => self.push(c),
            ' ' | '\t' => self.end_word(),
            ';' | '|' | '\n' => self.push_token(Token::Cut),
            // `&>` writes both streams; the `>` is seen next.
            '&' if self.peek() == Some('>') => {}
            '&' if self.peek() == Some('&') => {
                self.at += 1;
                self.push_token(Token::Cut);
            }
            '&' | '(' => self.push_token(Token::Odd),
            '#' if self.word.is_none() => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            '<' | '>' => self.scan_redirection(c),
            c => self.push(c),
        }
        true
    }

    fn single_quotes(&mut self) {
        let rest = &self.chars[self.at..];
        let length = rest.iter().position(|c| *c == '\'').unwrap_or(rest.len());
        let inside: String = rest[..length].iter().collect();
        self.word.get_or_insert_default().push_str(&inside);
        self.at += length + 1;
    }

    fn scan_redirection(&mut self, c: char) {
        // A number in front is a descriptor, not an argument.
        if self
            .word
            .as_ref()
            .is_some_and(|w| w.chars().all(|c| c.is_ascii_digit()))
        {
            self.word = None;
        }
        self.end_word();
        if self.peek() == Some(c) {
            self.at += 1;
            // A here-document: its lines look like commands.
            if c == '<' {
                self.tokens.push(Token::Odd);
                return;
            }
        }
        if self.peek() == Some('&') {
            // `2>&1`: another descriptor, no file.
            self.at += 1;
            while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            return;
        }
        self.tokens
            .push(if c == '<' { Token::Read } else { Token::Write });
    }
}
