//! One pass over the text for words that make it worth looking, then a close
//! look at each place. Text without such words costs that one pass.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

use super::rules::{self, RedactionRule};
use super::{
    Finding, FindingRank, MARK_PREFIX, address, assign, command, header, keyblock, manifest, names,
    prose, shape, table, value,
};

/// How much of the text behind a literal a pattern may see.
const MAX_WINDOW_BYTES: usize = 4096;
/// How many looks of one sort are taken into one unbroken stretch of text.
const MAX_SCANS_PER_STRETCH: usize = 16;

/// Why a literal is worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanTrigger {
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
    Command(command::SecretTool),
}

/// The compiled words and, as they are needed, patterns.
#[derive(Debug)]
pub(super) struct SecretScanner {
    words: AhoCorasick,
    triggers: Vec<(ScanTrigger, &'static str)>,
    rules: &'static [RedactionRule],
    patterns: Vec<OnceLock<Option<Regex>>>,
}

impl SecretScanner {
    /// Nothing only if the built-in words cannot be compiled.
    pub(super) fn new() -> Option<Self> {
        let rules = rules::built_in()?;
        let mut triggers = vec![
            (ScanTrigger::Mark, MARK_PREFIX),
            (ScanTrigger::Address, "://"),
            (ScanTrigger::KeyBlock, "-----BEGIN"),
            (ScanTrigger::KeyEnd, "-----END"),
            (ScanTrigger::PuttyKey, "Private-Lines:"),
            (ScanTrigger::Bearer, "bearer"),
            (ScanTrigger::Basic, "basic "),
        ];
        triggers.extend(
            names::NAME_LITERALS
                .iter()
                .map(|word| (ScanTrigger::Word, *word)),
        );
        triggers.extend(
            command::TOOL_WORDS
                .iter()
                .map(|(word, tool)| (ScanTrigger::Command(*tool), *word)),
        );
        triggers.extend(
            prose::PASSWORD_WORDS
                .iter()
                .map(|word| (ScanTrigger::Prose, *word)),
        );
        triggers.extend(
            prose::LOGIN_PHRASES
                .iter()
                .map(|word| (ScanTrigger::Login, *word)),
        );
        triggers.extend(
            manifest::SECRET_KIND_LITERALS
                .iter()
                .map(|kind| (ScanTrigger::Manifest, *kind)),
        );
        for (at, rule) in rules.iter().enumerate() {
            let keywords = rule.keywords.iter();
            triggers.extend(keywords.map(|word| (ScanTrigger::Token(at), word.as_str())));
        }
        let words = AhoCorasick::builder()
            // Names come in any case; tokens are compared exactly afterwards,
            // since two letters and a sign are too common otherwise.
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
    pub(super) fn scan_text(&self, text: &str) -> (Vec<Finding>, Vec<Range<usize>>) {
        let mut look = TextScan {
            scanner: self,
            text,
            found: Vec::new(),
            marks: Vec::new(),
            name_end: 0,
            block_end: 0,
            table_end: 0,
            manifest_end: 0,
            token: 0..0,
            tokens: ScanBudget::default(),
            names: ScanBudget::default(),
            prose: ScanBudget::default(),
            addresses: ScanBudget::default(),
            commands: ScanBudget::default(),
        };
        // Overlapping, because one literal may lie inside another or share its
        // end.
        for hit in self.words.find_overlapping_iter(text.as_bytes()) {
            look.scan_hit(hit.pattern().as_usize(), hit.start()..hit.end());
        }
        (look.found, look.marks)
    }

    fn pattern_at(&self, at: usize) -> Option<&Regex> {
        self.patterns[at]
            // Compiled when first needed: most rules never meet their keyword
            // in a process.
            .get_or_init(|| compile_rule(&self.rules[at]).ok())
            .as_ref()
    }
}

/// A rule's expression, bound to the place where it is tried.
pub(super) fn compile_rule(rule: &RedactionRule) -> Result<Regex, regex::Error> {
    let bound = if rule.before == 0 { "^" } else { "" };
    Regex::new(&format!("(?-u){bound}(?:{})", rule.regex))
}

/// One text under the eye.
struct TextScan<'a> {
    scanner: &'a SecretScanner,
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
    tokens: ScanBudget,
    names: ScanBudget,
    prose: ScanBudget,
    addresses: ScanBudget,
    commands: ScanBudget,
}

/// Counts looks into one stretch of text. Looks reach far, so a stretch made of
/// nothing but reasons to look would cost far more than its length.
#[derive(Default)]
struct ScanBudget {
    end: usize,
    looks: usize,
}

impl ScanBudget {
    fn try_spend(&mut self, at: usize) -> bool {
        if at >= self.end {
            self.looks = 0;
        }
        self.looks += 1;
        self.looks <= MAX_SCANS_PER_STRETCH
    }

    fn extend_to(&mut self, end: usize) {
        self.end = self.end.max(end);
    }
}

impl TextScan<'_> {
    fn scan_hit(&mut self, pattern: usize, hit: Range<usize>) {
        let (trigger, literal) = self.scanner.triggers[pattern];
        // The inside of a mark is our own wording.
        if self.marks.last().is_some_and(|mark| hit.start < mark.end) {
            return;
        }
        match trigger {
            ScanTrigger::Mark => self.record_mark(hit),
            ScanTrigger::Token(token) => {
                if self.text.as_bytes()[hit.clone()] == *literal.as_bytes() {
                    self.scan_token(token, hit);
                }
            }
            ScanTrigger::Word => self.scan_name(hit),
            ScanTrigger::Prose => {
                if self.prose.try_spend(hit.start) {
                    let read = prose::find_password(self.text, hit, &mut self.found);
                    self.prose.extend_to(read);
                }
            }
            ScanTrigger::Login => prose::find_login_password(self.text, hit.end, &mut self.found),
            ScanTrigger::Manifest => {
                // One manifest is read once, however often its kind is
                // mentioned.
                if hit.start >= self.manifest_end {
                    let from = self.manifest_end;
                    self.manifest_end =
                        manifest::find_manifest_secrets(self.text, hit, from, &mut self.found);
                }
            }
            ScanTrigger::Address => {
                if self.addresses.try_spend(hit.start) {
                    let read = address::find_credentials(self.text, hit, &mut self.found);
                    self.addresses.extend_to(read);
                }
            }
            ScanTrigger::KeyBlock => {
                if hit.start >= self.block_end
                    && let Some(range) = keyblock::find_key_block(self.text, hit.start)
                {
                    self.block_end = range.end;
                    self.found
                        .push(Finding::new("private-key", range, FindingRank::Shape));
                }
            }
            ScanTrigger::KeyEnd => {
                if hit.start >= self.block_end {
                    let tail = keyblock::find_key_tail(self.text, hit.start, self.block_end);
                    self.block_end = tail.as_ref().map_or(hit.end, |range| range.end);
                    self.found.extend(
                        tail.map(|range| Finding::new("private-key", range, FindingRank::Shape)),
                    );
                }
            }
            ScanTrigger::PuttyKey => {
                if let Some(range) = keyblock::find_putty_key(self.text, hit.end) {
                    self.found
                        .push(Finding::new("private-key", range, FindingRank::Shape));
                }
            }
            ScanTrigger::Bearer => header::find_bearer_token(self.text, hit.end, &mut self.found),
            ScanTrigger::Basic => header::find_basic_auth(self.text, hit.end, &mut self.found),
            ScanTrigger::Command(tool) => {
                if self.commands.try_spend(hit.start) {
                    self.commands
                        .extend_to(hit.end + command::MAX_DISTANCE_BYTES);
                    command::find_command_secrets(self.text, hit, tool, &mut self.found);
                }
            }
        }
    }

    fn record_mark(&mut self, hit: Range<usize>) {
        let rest = &self.text.as_bytes()[hit.end..];
        let length = rest
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'-')
            .count();
        let exact = self.text.as_bytes()[hit.clone()] == *MARK_PREFIX.as_bytes();
        if exact && length > 0 && rest.get(length) == Some(&b']') {
            self.marks.push(hit.start..hit.end + length + 1);
        }
    }

    fn scan_name(&mut self, hit: Range<usize>) {
        // `AUTH_TOKEN_KEY` holds three telling words and is one name.
        if hit.start < self.name_end {
            return;
        }
        if !self.names.try_spend(hit.start) {
            return;
        }
        let name = assign::name_at(self.text, hit);
        self.name_end = name.range.end;
        // The head of a table names several columns; they were read with the
        // first.
        if name.range.start >= self.table_end
            && let Some(end) = table::find_table_secrets(self.text, &name.range, &mut self.found)
        {
            self.table_end = end;
        }
        let read = assign::find_assigned_secret(self.text, &name, &mut self.found);
        self.names.extend_to(read);
    }

    fn scan_token(&mut self, at: usize, hit: Range<usize>) {
        let rule = &self.scanner.rules[at];
        let bytes = self.text.as_bytes();
        if rule.before == 0
            && bytes[hit.start].is_ascii_alphanumeric()
            && !can_start_token(bytes, hit.start)
        {
            return;
        }
        if hit.end <= self.token.end || self.is_exhausted(hit.start) || in_base64(bytes, &hit) {
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
        // The window keeps the cost linear whatever a rule's expression does.
        let end = assign::floor_boundary(bytes, hit.start + MAX_WINDOW_BYTES);
        let Some(window) = self.text.get(start..end) else {
            return;
        };
        let Some(captures) = self.scanner.pattern_at(at).and_then(|p| p.captures(window)) else {
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
        let open = can_start_token(bytes, from) || bytes[..from].ends_with(b"bot");
        if from > hit.start || (rule.before > 0 && !open) {
            return;
        }
        let scattered = rule.entropy.is_none_or(|least| {
            shape::is_mixed(secret.as_str()) && shape::compute_entropy(secret.as_str()) >= least
        });
        if !scattered || value::stands_for_another(secret.as_str()) {
            return;
        }
        let mut range = start + secret.start()..start + secret.end();
        // A token longer than the window goes whole.
        if range.end == end {
            while range.end < bytes.len() && is_token_byte(bytes[range.end]) {
                range.end += 1;
            }
        }
        // The secret key has no prefix of its own and is only known by the id
        // before it.
        if rule.id == "aws-access-key" {
            command::aws_pair(self.text, range.end, &mut self.found);
        }
        self.token = range.clone();
        // A find is progress: only fruitless looks are counted.
        self.tokens.looks = 0;
        self.found
            .push(Finding::new(rule.id.as_str(), range, FindingRank::Shape));
    }

    /// Whether this run of characters has been looked at often enough.
    fn is_exhausted(&mut self, at: usize) -> bool {
        if at >= self.tokens.end {
            let run = self.text.as_bytes()[at..]
                .iter()
                .take_while(|b| is_token_byte(**b));
            self.tokens = ScanBudget {
                end: at + run.count(),
                looks: 0,
            };
        }
        !self.tokens.try_spend(at)
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a literal of letters and digits follows a slash or a plus in a long
/// run of base64, where chance has put it.
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

/// Whether a token may begin here: not inside a word, unless it follows an
/// escape, a colour or a percent code.
pub(super) fn can_start_token(bytes: &[u8], at: usize) -> bool {
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
