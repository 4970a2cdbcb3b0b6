//! Finds what a memory names, and where. Pure, one pass over the text.

use std::collections::HashMap;

use remora_core::text::truncate_bytes;

use super::sense::AdjacentToken;
use super::token::{NameToken, TokenMarkup};
use super::{Claim, ClaimKind, Confidence, Tense, command, sense, token};

/// The rest of a longer text is not read; no memory is that long.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// More names than this make a memory a listing.
const MAX_CLAIMS: usize = 400;
/// Names that are read, also when they repeat.
const MAX_NAMES: usize = 4000;

/// Words that begin a declaration, and those that may precede them.
const DECLARATION_KEYWORDS: &[&str] = &[
    "class",
    "def",
    "enum",
    "fn",
    "func",
    "function",
    "impl",
    "interface",
    "mod",
    "struct",
    "trait",
    "type",
];
const MODIFIER_KEYWORDS: &[&str] = &[
    "abstract",
    "async",
    "const",
    "default",
    "export",
    "final",
    "private",
    "protected",
    "pub",
    "pub(crate)",
    "pub(super)",
    "public",
    "static",
    "unsafe",
];
/// First words of code that names nothing by itself.
const STATEMENT_KEYWORDS: &[&str] = &[
    "await", "case", "const", "else", "export", "for", "from", "if", "import", "let", "match",
    "new", "package", "return", "throw", "use", "using", "var", "while", "with",
];

/// Everything in the text that the working tree can be asked about, in the
/// order of the text, each name once. Never more than a few hundred.
#[must_use]
pub fn list_claims(body: &str) -> Vec<Claim> {
    let mut reader = ClaimParser {
        text: truncate_bytes(body, MAX_TEXT_BYTES),
        line: 0,
        lead: Tense::Stated,
        program: None,
        names: 0,
        found: Vec::new(),
        known: HashMap::new(),
    };
    reader.parse_body();
    reader.found
}

/// What a fenced block holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FenceKind {
    Shell,
    Sample,
}

struct ClaimParser<'a> {
    text: &'a str,
    line: usize,
    /// The tense that a heading or an introducing line implies for a list.
    lead: Tense,
    /// The last command named in this paragraph: flags belong to it.
    program: Option<String>,
    names: usize,
    found: Vec<Claim>,
    known: HashMap<(ClaimKind, String), usize>,
}

impl ClaimParser<'_> {
    fn parse_body(&mut self) {
        let mut fence: Option<(&str, FenceKind)> = None;
        let mut at = 0;
        let mut header = self.text.starts_with("---\n") || self.text.starts_with("---\r\n");
        for full in self.text.split_inclusive('\n') {
            self.line += 1;
            let start = at;
            at += full.len();
            let line = full.trim_end_matches(['\n', '\r']);
            let bare = line.trim_start();
            // The frontmatter names the memory's own file and session, nothing of the project.
            if header {
                header = self.line == 1 || bare.trim_end() != "---";
                continue;
            }
            if let Some((mark, block)) = fence {
                if bare.starts_with(mark)
                    && bare.trim_end().trim_start_matches(&mark[..1]).is_empty()
                {
                    fence = None;
                // A code sample is an example; commands are meant to be run.
                } else if block == FenceKind::Shell {
                    self.add_names(
                        command::list_command_names(bare),
                        start,
                        start + line.len(),
                        self.lead,
                    );
                }
                continue;
            }
            if bare.starts_with("```") || bare.starts_with("~~~") {
                let run = bare.len() - bare.trim_start_matches(&bare[..1]).len();
                let info = bare[run..].trim();
                if !info.contains('`') {
                    fence = Some((&bare[..run], classify_fence(info)));
                    continue;
                }
            }
            self.update_lead(bare);
            let first = self.found.len();
            self.parse_spans(start, line);
            strengthen_symbols_near_file(&mut self.found[first..]);
            if self.found.len() >= MAX_CLAIMS {
                self.found.truncate(MAX_CLAIMS);
                return;
            }
        }
    }

    /// Headings and introducing lines determine the tense of the items below.
    fn update_lead(&mut self, bare: &str) {
        let item = bare.starts_with(['-', '*', '+', '|'])
            || bare.starts_with(|c: char| c.is_ascii_digit());
        if bare.is_empty() {
            self.program = None;
        } else if bare.starts_with('#') || (bare.trim_end().ends_with(':') && !item) {
            self.lead = sense::of_lead(bare.trim_end_matches([':', '.', ' ']));
        } else if !item {
            self.lead = Tense::Stated;
        }
    }

    /// The code spans of a line and the text between them.
    fn parse_spans(&mut self, start: usize, line: &str) {
        let runs = find_backtick_runs(line);
        // From the end, so that each run finds its closing one in one step: a line of unmatched
        // runs would otherwise be quadratic.
        let mut later: HashMap<usize, usize> = HashMap::new();
        let mut closing = vec![None; runs.len()];
        for (index, (_, length)) in runs.iter().enumerate().rev() {
            closing[index] = later.insert(*length, index);
        }
        let mut from = 0;
        let mut index = 0;
        while index < runs.len() {
            let (open, length) = runs[index];
            let Some(close) = closing[index] else {
                index += 1;
                continue;
            };
            let inner = &line[open + length..runs[close].0];
            let end = runs[close].0 + length;
            self.parse_prose(start + from, &line[from..open]);
            self.parse_code(start + open, start + end, inner.trim());
            from = end;
            index = close + 1;
        }
        self.parse_prose(start + from, &line[from..]);
    }

    fn parse_code(&mut self, start: usize, end: usize, inner: &str) {
        let named = code_names(inner);
        if inner.contains(char::is_whitespace) || named.iter().any(|n| n.kind == ClaimKind::Command)
        {
            self.program = parse_program(inner);
        }
        let named = self.assign_flags(named);
        self.add_names(named, start, end, Tense::Stated);
    }

    fn parse_prose(&mut self, start: usize, text: &str) {
        // The target of a link is a word of its own.
        let text = text.replace("](", "  ");
        let (places, words): (Vec<usize>, Vec<&str>) =
            split_positioned_words(&text).into_iter().unzip();
        for (index, word) in words.iter().enumerate() {
            let at = places[index];
            let end = at + word.len();
            let mut named = Vec::new();
            if let Some(task) = command::in_prose(&words[index..words.len().min(index + 3)]) {
                named.push(task);
            } else if !word.contains("[[") {
                let bare = word.trim_start_matches(['(', '[', '"', '\'', '*', '_', '<', '{', '“']);
                let mut bare = bare.trim_end_matches([
                    '"', '\'', '*', '_', ']', '>', '}', ',', ';', ':', '.', '!', '?', '”',
                ]);
                if !bare.contains('(') {
                    bare = bare.trim_end_matches([')', '.', ',']);
                }
                named = token::list_word_names(bare, TokenMarkup::Prose);
            }
            if !named.is_empty() {
                let named = self.assign_flags(named);
                self.add_names(named, start + at, start + end, Tense::Stated);
            }
        }
    }

    /// Assigns flags to the command before them, if they have none of their own.
    fn assign_flags(&self, mut named: Vec<NameToken>) -> Vec<NameToken> {
        if let Some(program) = &self.program {
            for flag in named.iter_mut().filter(|n| n.kind == ClaimKind::Flag) {
                flag.of.get_or_insert_with(|| program.clone());
            }
        }
        named
    }

    fn add_names(&mut self, named: Vec<NameToken>, start: usize, end: usize, base: Tense) {
        self.names += named.len();
        if named.is_empty() || self.names > MAX_NAMES || self.found.len() >= MAX_CLAIMS {
            return;
        }
        let here = sense::find_tense(self.text, start, end)
            .max(base)
            // The weakest claim wins: items under "Removed" are about the past.
            .max(self.lead);
        let adjacent = sense::find_adjacent_token(self.text, start, end);
        for name in named {
            let weight = match (name.kind, adjacent) {
                (ClaimKind::Symbol, AdjacentToken::Thing) => Confidence::Loose,
                (ClaimKind::Symbol, AdjacentToken::Part) if name.weight == Confidence::Firm => {
                    Confidence::Sure
                }
                _ => name.weight,
            };
            let next = self.found.len();
            let slot = *self
                .known
                .entry((name.kind, name.text.clone()))
                .or_insert(next);
            if let Some(claim) = self.found.get_mut(slot) {
                // A memory that says once that a thing is gone means it everywhere.
                claim.sense = claim.sense.max(here);
                claim.weight = claim.weight.max(weight);
                continue;
            }
            self.found.push(Claim {
                kind: name.kind,
                text: name.text,
                line: self.line,
                sense: here,
                weight,
                of: name.of,
            });
        }
    }
}

/// A name on the same line as a file is surely one of this code.
fn strengthen_symbols_near_file(claims: &mut [Claim]) {
    let file = |c: &Claim| {
        c.kind == ClaimKind::Path && c.weight == Confidence::Firm && !c.text.ends_with('/')
    };
    if claims.iter().any(file) {
        let firm = |c: &&mut Claim| c.kind == ClaimKind::Symbol && c.weight == Confidence::Firm;
        for claim in claims.iter_mut().filter(firm) {
            claim.weight = Confidence::Sure;
        }
    }
}

fn classify_fence(info: &str) -> FenceKind {
    let language = info.split([' ', ',', '{']).next().unwrap_or("");
    match language.to_ascii_lowercase().as_str() {
        "" | "sh" | "bash" | "zsh" | "shell" | "console" | "terminal" | "shell-session" => {
            FenceKind::Shell
        }
        _ => FenceKind::Sample,
    }
}

/// The words of a text and where they begin.
fn split_positioned_words(text: &str) -> Vec<(usize, &str)> {
    let mut list = Vec::new();
    let mut at = 0;
    for piece in text.split(char::is_whitespace) {
        if !piece.is_empty() {
            list.push((at, piece));
        }
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    list
}

/// The positions of the runs of backticks, and their lengths.
fn find_backtick_runs(line: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

/// The command that flags further on belong to.
fn parse_program(code: &str) -> Option<String> {
    let words: Vec<&str> = code.split_whitespace().take(3).collect();
    match words.as_slice() {
        ["cargo", "xtask", verb] => Some(format!("cargo xtask {verb}")),
        ["cargo", "run", ..] => Some("cargo run".to_owned()),
        [first, ..] if !first.starts_with('-') => Some(first.trim_start_matches("./").to_owned()),
        _ => None,
    }
}

fn code_names(inner: &str) -> Vec<NameToken> {
    if !inner.contains(char::is_whitespace) {
        return token::list_word_names(inner, TokenMarkup::Code);
    }
    let words: Vec<&str> = inner.split_whitespace().collect();
    let lead = words
        .iter()
        .take_while(|w| MODIFIER_KEYWORDS.contains(w))
        .count();
    if let [keyword, name, ..] = &words[lead..]
        && DECLARATION_KEYWORDS.contains(keyword)
    {
        let end = name
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(name.len());
        return token::parse_symbol(&name[..end], TokenMarkup::Code)
            .into_iter()
            .collect();
    }
    let first = words[0];
    if STATEMENT_KEYWORDS.contains(&first) {
        return Vec::new();
    }
    if first.starts_with("--") {
        return words.iter().filter_map(|w| token::parse_flag(w)).collect();
    }
    // A call with several arguments.
    if let Some((head, _)) = inner.split_once('(')
        && !head.contains(char::is_whitespace)
        && inner.ends_with(')')
    {
        return token::list_word_names(&format!("{head}()"), TokenMarkup::Code);
    }
    if inner.contains(['{', '}']) || (inner.contains('=') && words.get(1) == Some(&"=")) {
        return Vec::new();
    }
    command::list_command_names(inner)
}
