//! One pass over the text for words that make it worth looking, then a close
//! look at each place. Text without such words costs that one pass.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

use super::rules::{self, Rule};
use super::{
    Finding, MARK, Rank, address, assign, command, header, keyblock, manifest, names, prose, shape,
    table, value,
};

/// How much of the text behind a literal a pattern may see.
const WINDOW: usize = 4096;
/// How many looks of one sort are taken into one unbroken stretch of text.
const LOOKS: usize = 16;

/// Why a literal is worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Mark,
    Token(usize),
    Word,
    Prose,
    Login,
    Manifest,
    Address,
    KeyBlock,
    KeyEnd,
    PuttyKey,
    Bearer,
    Basic,
    Command(command::Tool),
}

/// The compiled words and, as they are needed, patterns.
#[derive(Debug)]
pub(super) struct Scanner {
    words: AhoCorasick,
    triggers: Vec<(Trigger, &'static str)>,
    rules: &'static [Rule],
    patterns: Vec<OnceLock<Option<Regex>>>,
}

impl Scanner {
    /// Nothing only if the built-in words cannot be compiled.
    pub(super) fn new() -> Option<Self> {
        let rules = rules::built_in()?;
        let mut triggers = vec![
            (Trigger::Mark, MARK),
            (Trigger::Address, "://"),
            (Trigger::KeyBlock, "-----BEGIN"),
            (Trigger::KeyEnd, "-----END"),
            (Trigger::PuttyKey, "Private-Lines:"),
            (Trigger::Bearer, "bearer"),
            (Trigger::Basic, "basic "),
        ];
        triggers.extend(names::WORDS.iter().map(|word| (Trigger::Word, *word)));
        triggers.extend(
            command::WORDS
                .iter()
                .map(|(word, tool)| (Trigger::Command(*tool), *word)),
        );
        triggers.extend(prose::WORDS.iter().map(|word| (Trigger::Prose, *word)));
        triggers.extend(prose::LOGINS.iter().map(|word| (Trigger::Login, *word)));
        triggers.extend(
            manifest::KINDS
                .iter()
                .map(|kind| (Trigger::Manifest, *kind)),
        );
        for (at, rule) in rules.iter().enumerate() {
            let keywords = rule.keywords.iter();
            triggers.extend(keywords.map(|word| (Trigger::Token(at), word.as_str())));
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(triggers.iter().map(|(_, literal)| *literal))
            .ok()?;
        Some(Self {
            words,
            triggers,
            rules,
            patterns: rules.iter().map(|_| OnceLock::new()).collect(),
        })
    }

    /// Findings in no order, and where marks already stand.
    pub(super) fn scan(&self, text: &str) -> (Vec<Finding>, Vec<Range<usize>>) {
        let mut look = Look {
            scanner: self,
            text,
            found: Vec::new(),
            marks: Vec::new(),
            name_end: 0,
            block_end: 0,
            table_end: 0,
            manifest_end: 0,
            token: 0..0,
            tokens: Patience::default(),
            names: Patience::default(),
            prose: Patience::default(),
            addresses: Patience::default(),
            commands: Patience::default(),
        };
        for hit in self.words.find_overlapping_iter(text.as_bytes()) {
            look.at(hit.pattern().as_usize(), hit.start()..hit.end());
        }
        (look.found, look.marks)
    }

    fn pattern(&self, at: usize) -> Option<&Regex> {
        self.patterns[at]
            .get_or_init(|| compile(&self.rules[at]).ok())
            .as_ref()
    }
}

/// A rule's expression, bound to the place where it is tried.
pub(super) fn compile(rule: &Rule) -> Result<Regex, regex::Error> {
    let bound = if rule.before == 0 { "^" } else { "" };
    Regex::new(&format!("(?-u){bound}(?:{})", rule.regex))
}

/// One text under the eye.
struct Look<'a> {
    scanner: &'a Scanner,
    text: &'a str,
    found: Vec<Finding>,
    marks: Vec<Range<usize>>,
    /// Where the last name looked at ends; one name holds several words.
    name_end: usize,
    /// Where the last key block ends.
    block_end: usize,
    /// Where the last table that was read ends.
    table_end: usize,
    /// Where the last manifest that was read ends.
    manifest_end: usize,
    /// The last secret known by its shape.
    token: Range<usize>,
    tokens: Patience,
    names: Patience,
    prose: Patience,
    addresses: Patience,
    commands: Patience,
}

/// Counts looks into one stretch of text. Looks reach far, so a stretch made of
/// nothing but reasons to look would cost far more than its length.
#[derive(Default)]
struct Patience {
    end: usize,
    looks: usize,
}

impl Patience {
    fn lasts(&mut self, at: usize) -> bool {
        if at >= self.end {
            self.looks = 0;
        }
        self.looks += 1;
        self.looks <= LOOKS
    }

    fn reach(&mut self, end: usize) {
        self.end = self.end.max(end);
    }
}

impl Look<'_> {
    fn at(&mut self, pattern: usize, hit: Range<usize>) {
        let (trigger, literal) = self.scanner.triggers[pattern];
        // What stands inside a mark is our own wording.
        if self.marks.last().is_some_and(|mark| hit.start < mark.end) {
            return;
        }
        match trigger {
            Trigger::Mark => self.mark(hit),
            Trigger::Token(token) => {
                if self.text.as_bytes()[hit.clone()] == *literal.as_bytes() {
                    self.token(token, hit);
                }
            }
            Trigger::Word => self.word(hit),
            Trigger::Prose => {
                if self.prose.lasts(hit.start) {
                    let read = prose::password(self.text, hit, &mut self.found);
                    self.prose.reach(read);
                }
            }
            Trigger::Login => prose::login(self.text, hit.end, &mut self.found),
            Trigger::Manifest => {
                if hit.start >= self.manifest_end {
                    let from = self.manifest_end;
                    self.manifest_end = manifest::secrets(self.text, hit, from, &mut self.found);
                }
            }
            Trigger::Address => {
                if self.addresses.lasts(hit.start) {
                    let read = address::credentials(self.text, hit, &mut self.found);
                    self.addresses.reach(read);
                }
            }
            Trigger::KeyBlock => {
                if hit.start >= self.block_end
                    && let Some(range) = keyblock::block(self.text, hit.start)
                {
                    self.block_end = range.end;
                    self.found
                        .push(Finding::new("private-key", range, Rank::Shape));
                }
            }
            Trigger::KeyEnd => {
                if hit.start >= self.block_end {
                    let tail = keyblock::tail(self.text, hit.start, self.block_end);
                    self.block_end = tail.as_ref().map_or(hit.end, |range| range.end);
                    self.found
                        .extend(tail.map(|range| Finding::new("private-key", range, Rank::Shape)));
                }
            }
            Trigger::PuttyKey => {
                if let Some(range) = keyblock::putty(self.text, hit.end) {
                    self.found
                        .push(Finding::new("private-key", range, Rank::Shape));
                }
            }
            Trigger::Bearer => header::bearer(self.text, hit.end, &mut self.found),
            Trigger::Basic => header::basic(self.text, hit.end, &mut self.found),
            Trigger::Command(tool) => {
                if self.commands.lasts(hit.start) {
                    self.commands.reach(hit.end + command::REACH);
                    command::secrets(self.text, hit, tool, &mut self.found);
                }
            }
        }
    }

    fn mark(&mut self, hit: Range<usize>) {
        let rest = &self.text.as_bytes()[hit.end..];
        let length = rest
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-')
            .count();
        let exact = self.text.as_bytes()[hit.clone()] == *MARK.as_bytes();
        if exact && length > 0 && rest.get(length) == Some(&b']') {
            self.marks.push(hit.start..hit.end + length + 1);
        }
    }

    fn word(&mut self, hit: Range<usize>) {
        if hit.start < self.name_end {
            return;
        }
        if !self.names.lasts(hit.start) {
            return;
        }
        let name = assign::name_at(self.text, hit);
        self.name_end = name.range.end;
        if name.range.start >= self.table_end
            && let Some(end) = table::secrets(self.text, &name.range, &mut self.found)
        {
            self.table_end = end;
        }
        let read = assign::beside(self.text, &name, &mut self.found);
        self.names.reach(read);
    }

    fn token(&mut self, at: usize, hit: Range<usize>) {
        let rule = &self.scanner.rules[at];
        let bytes = self.text.as_bytes();
        if rule.before == 0 && bytes[hit.start].is_ascii_alphanumeric() && !opens(bytes, hit.start)
        {
            return;
        }
        if hit.end <= self.token.end || self.tired(hit.start) || in_base64(bytes, &hit) {
            return;
        }
        let mut start = hit.start;
        while start > 0
            && hit.start - start < rule.before
            && (bytes[start - 1].is_ascii_alphanumeric()
                || matches!(bytes[start - 1], b'_' | b'~' | b'-' | b'.'))
        {
            start -= 1;
        }
        let end = assign::floor(bytes, hit.start + WINDOW);
        let Some(window) = self.text.get(start..end) else {
            return;
        };
        let Some(captures) = self.scanner.pattern(at).and_then(|p| p.captures(window)) else {
            return;
        };
        let Some(whole) = captures.get(0) else {
            return;
        };
        let Some(secret) = captures
            .get(rule.secret_group.unwrap_or(1))
            .or_else(|| rule.secret_group.is_none().then_some(whole))
        else {
            return;
        };
        let from = start + whole.start();
        // A bot's address joins its token to this word.
        let open = opens(bytes, from) || bytes[..from].ends_with(b"bot");
        if from > hit.start || (rule.before > 0 && !open) {
            return;
        }
        let scattered = rule.entropy.is_none_or(|least| {
            shape::mixed(secret.as_str()) && shape::entropy(secret.as_str()) >= least
        });
        if !scattered || value::stands_for_another(secret.as_str()) {
            return;
        }
        let mut range = start + secret.start()..start + secret.end();
        // A token longer than the window goes whole.
        if range.end == end {
            while range.end < bytes.len() && part(bytes[range.end]) {
                range.end += 1;
            }
        }
        if rule.id == "aws-access-key" {
            command::aws_pair(self.text, range.end, &mut self.found);
        }
        self.token = range.clone();
        self.tokens.looks = 0;
        self.found
            .push(Finding::new(rule.id.as_str(), range, Rank::Shape));
    }

    /// Whether this run of characters has been looked at often enough.
    fn tired(&mut self, at: usize) -> bool {
        if at >= self.tokens.end {
            let run = self.text.as_bytes()[at..].iter().take_while(|b| part(**b));
            self.tokens = Patience {
                end: at + run.count(),
                looks: 0,
            };
        }
        !self.tokens.lasts(at)
    }
}

fn part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a literal of letters and digits stands behind a slash or a plus in a
/// long run of base64, where chance has put it.
fn in_base64(bytes: &[u8], hit: &Range<usize>) -> bool {
    let before = hit.start.checked_sub(1).map(|at| bytes[at]);
    if !matches!(before, Some(b'/' | b'+'))
        || !bytes[hit.clone()].iter().all(u8::is_ascii_alphanumeric)
    {
        return false;
    }
    let sort = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let run = bytes[..hit.start]
        .iter()
        .rev()
        .take(48)
        .take_while(sort)
        .count();
    run == 48
}

/// Whether a token may begin here: not inside a word, unless what stands before
/// is an escape, a colour or a percent code.
pub(super) fn opens(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| bytes[i]) else {
        return true;
    };
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let back = |n: usize| at.checked_sub(n).map(|i| bytes[i]);
    if matches!(before, b'n' | b'r' | b't') && back(2) == Some(b'\\') {
        return true;
    }
    if before.is_ascii_hexdigit() && back(3) == Some(b'%') {
        return true;
    }
    if before.is_ascii_hexdigit() && back(6) == Some(b'\\') && back(5) == Some(b'u') {
        return true;
    }
    // `ESC [ 31 m`
    if before == b'm' {
        let mut i = at - 1;
        while i > 0 && at - i < 16 && (bytes[i - 1].is_ascii_digit() || bytes[i - 1] == b';') {
            i -= 1;
        }
        return i > 0 && bytes[i - 1] == b'[';
    }
    false
}
