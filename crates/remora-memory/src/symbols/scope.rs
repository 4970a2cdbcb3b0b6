//! Which declarations enclose a line: a stack that is fed line by line, or filled by
//! one walk upwards. Takes linear time, and looks at one line at a time.

use super::lexing::count_indent;
use super::rules::{self, Declaration, LinePlacement};
use super::{Language, Symbol, SymbolKind};

/// How far a walk upwards goes before it gives up.
const MAX_WALKED_LINES: usize = 20_000;

/// How deep declarations may nest; bounds the work on generated text.
const MAX_NESTING_LEVELS: usize = 64;

#[derive(Debug, Clone)]
struct OpenDeclaration {
    name: String,
    kind: SymbolKind,
    depth: usize,
    line: usize,
}

/// The declarations that are open.
#[derive(Debug, Clone)]
pub(crate) struct SymbolScope {
    language: Language,
    open: Vec<OpenDeclaration>,
    line: usize,
    fence: Option<char>,
    comment: Option<&'static str>,
    test_mark: bool,
    prose: bool,
}

impl SymbolScope {
    /// At the top of a text.
    pub(crate) fn new(language: Language) -> Self {
        Self {
            language,
            open: Vec::new(),
            line: 0,
            fence: None,
            comment: None,
            test_mark: false,
            prose: false,
        }
    }

    /// Just above the line that starts at a byte of a text.
    pub(crate) fn above_line(language: Language, text: &str, start: usize, line: usize) -> Self {
        let mut scope = Self::new(language);
        if language == Language::Plain {
            return scope;
        }
        let head = &text[..start];
        // Only from the top can a heading be told from a comment in a code fence.
        if language == Language::Markdown {
            for each in head.lines() {
                scope.feed_line(each);
            }
            return scope;
        }
        scope.collect_enclosing(head, &text[start..], line);
        scope.line = line.saturating_sub(1);
        scope
    }

    fn collect_enclosing(&mut self, head: &str, rest: &str, line: usize) {
        let mut limit = usize::MAX;
        if let Some(first) = rest.lines().find(|l| !l.trim().is_empty()) {
            let (depth, placing) = rules::place_line(self.language, first);
            limit = match placing {
                LinePlacement::Normal => depth,
                LinePlacement::Continues => depth + 1,
                LinePlacement::Ignored => usize::MAX,
            };
        }
        let mut number = line;
        let body = head.strip_suffix('\n').unwrap_or(head);
        let mut wants_mark = false;
        if head.is_empty() {
            return;
        }
        for each in body.rsplit('\n').take(MAX_WALKED_LINES) {
            number -= 1;
            // Attributes precede a function, so walking upwards they come after it.
            if wants_mark {
                let mark = each.trim();
                if rules::is_mark(self.language, mark) {
                    if rules::marks_test(self.language, mark)
                        && let Some(last) = self.open.last_mut()
                    {
                        last.kind = SymbolKind::Test;
                    }
                    continue;
                }
                wants_mark = false;
            }
            // Nothing encloses a declaration of depth zero.
            if limit == 0 {
                break;
            }
            // Most lines are deeper than what is searched for, which shows before they
            // are classified.
            if count_indent(each) >= limit || each.trim().is_empty() {
                continue;
            }
            let (depth, placing) = rules::place_line(self.language, each);
            if placing == LinePlacement::Ignored || depth >= limit {
                continue;
            }
            if let Some(found) = rules::parse_declaration(self.language, each) {
                wants_mark = found.kind == SymbolKind::Function;
                limit = found.depth;
                self.push(found, number);
                if self.open.len() == MAX_NESTING_LEVELS {
                    break;
                }
            } else if placing == LinePlacement::Continues {
                limit = limit.min(depth + 1);
            } else {
                limit = depth;
            }
        }
        self.open.reverse();
    }

    fn push(&mut self, found: Declaration<'_>, line: usize) {
        self.open.push(OpenDeclaration {
            name: found.name.into_owned(),
            kind: found.kind,
            depth: found.depth,
            line,
        });
    }

    /// Feeds the next line; returns whether it declares something.
    pub(crate) fn feed_line(&mut self, line: &str) -> bool {
        self.line += 1;
        let trimmed = line.trim();
        self.prose = false;
        if trimmed.is_empty() {
            return false;
        }
        self.prose = self.inside_prose(trimmed);
        if self.prose {
            return false;
        }
        let (depth, placing) = rules::place_line(self.language, line);
        if placing == LinePlacement::Ignored {
            return false;
        }
        let reach = if placing == LinePlacement::Continues {
            depth + 1
        } else {
            depth
        };
        while self.open.last().is_some_and(|o| o.depth >= reach) {
            self.open.pop();
        }
        if rules::is_mark(self.language, trimmed) {
            self.test_mark |= rules::marks_test(self.language, trimmed);
            if !trimmed.contains("fn ") {
                return false;
            }
        }
        let marked = std::mem::take(&mut self.test_mark);
        let Some(mut found) = rules::parse_declaration(self.language, line) else {
            return false;
        };
        if marked && found.kind == SymbolKind::Function {
            found.kind = SymbolKind::Test;
        }
        while self.open.last().is_some_and(|o| o.depth >= found.depth) {
            self.open.pop();
        }
        if self.open.len() < MAX_NESTING_LEVELS {
            self.push(found, self.line);
            return true;
        }
        false
    }

    /// Whether the line is in a Markdown fence, a block comment or a long string.
    fn inside_prose(&mut self, trimmed: &str) -> bool {
        if self.language == Language::Markdown {
            let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
            let fenced = trimmed.starts_with("```") || trimmed.starts_with("~~~");
            if fenced && (self.fence.is_none() || self.fence == mark) {
                self.fence = if self.fence.is_none() { mark } else { None };
            }
            return fenced || self.fence.is_some();
        }
        if let Some(end) = self.comment {
            if trimmed.contains(end) {
                self.comment = None;
            }
            return true;
        }
        let start = match self.language {
            Language::Python => {
                let quotes = ["\"\"\"", "'''"]
                    .into_iter()
                    .find(|q| trimmed.starts_with(q));
                quotes.map(|q| (q, q))
            }
            Language::Html => trimmed.starts_with("<!--").then_some(("<!--", "-->")),
            Language::Shell | Language::Ruby | Language::Make | Language::Yaml => None,
            _ => trimmed.starts_with("/*").then_some(("/*", "*/")),
        };
        if let Some((open, end)) = start {
            if !trimmed[open.len()..].contains(end) {
                self.comment = Some(end);
            }
            return true;
        }
        false
    }

    /// Whether a constant or a key at this level is local to a function.
    fn is_local(&self, at: usize) -> bool {
        let kind = self.open[at].kind;
        matches!(
            kind,
            SymbolKind::Constant | SymbolKind::Field | SymbolKind::Key
        ) && self.open[..at].iter().any(|o| o.kind.is_body())
    }

    /// The name of the declaration at this level, with its containers.
    fn name(&self, at: usize) -> String {
        if self.language == Language::Markdown || self.language == Language::Html {
            return self.open[at].name.clone();
        }
        let mut name = String::new();
        let mut bodies = false;
        for (place, each) in self.open[..=at].iter().enumerate() {
            let local = self.is_local(place);
            let passing = matches!(each.kind, SymbolKind::Group)
                || (each.kind == SymbolKind::Module
                    && self.language == Language::Rust
                    && place < at)
                || (place < at && local);
            if passing {
                continue;
            }
            // What a function contains, such as a class, is named without it.
            if bodies && !each.kind.is_body() {
                name.clear();
            }
            bodies |= each.kind.is_body();
            if !name.is_empty() {
                let method = each.kind.is_body();
                name.push_str(if method {
                    self.language.method_joiner()
                } else {
                    self.language.member_joiner()
                });
            }
            name.push_str(&each.name);
        }
        name
    }

    /// The declaration that the last line made, unless it is local code.
    pub(crate) fn innermost_symbol(&self) -> Option<Symbol> {
        let at = self.open.len().checked_sub(1)?;
        let last = &self.open[at];
        if last.kind == SymbolKind::Group || self.is_local(at) {
            return None;
        }
        Some(Symbol {
            name: self.name(at),
            kind: last.kind,
            line: last.line,
        })
    }

    /// The innermost open declaration that has a name of its own.
    pub(crate) fn enclosing_symbol(&self) -> Option<Symbol> {
        let at = (0..self.open.len())
            .rev()
            .find(|at| self.open[*at].kind != SymbolKind::Group && !self.is_local(*at))?;
        let open = &self.open[at];
        Some(Symbol {
            name: self.name(at),
            kind: open.kind,
            line: open.line,
        })
    }

    /// Whether nothing is known to be open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether the last line was in a fence, a block comment or a doc string.
    pub(crate) fn was_prose(&self) -> bool {
        self.prose
    }

    /// Whether the trimmed line is an attribute or decorator.
    pub(crate) fn is_mark(&self, trimmed: &str) -> bool {
        rules::is_mark(self.language, trimmed)
    }

    /// Whether the last line, passed trimmed, says nothing by itself: comments and
    /// attributes belong to what follows them.
    pub(crate) fn was_aside(&self, trimmed: &str) -> bool {
        self.prose || self.is_mark(trimmed) || self.language.is_comment(trimmed)
    }
}

/// Start and end, in bytes, of a line counted from one.
pub(crate) fn find_line_range(text: &str, line: usize) -> Option<(usize, usize)> {
    let start = start_of(text, line)?;
    let rest = &text[start..];
    let end = rest.find('\n').map_or(text.len(), |at| start + at);
    Some((start, end))
}

/// Where a line starts, in bytes. Counts in blocks, which the compiler turns
/// into wide comparisons: a long file must not cost much.
pub(crate) fn start_of(text: &str, line: usize) -> Option<usize> {
    let mut left = line.checked_sub(1)?;
    let bytes = text.as_bytes();
    let mut at = 0;
    // Fewer than 256 bytes per block, so that a byte can count its line breaks.
    for block in bytes.chunks(240) {
        let breaks = block
            .iter()
            .map(|b| u8::from(*b == b'\n'))
            .fold(0u8, u8::wrapping_add);
        if usize::from(breaks) >= left {
            break;
        }
        left -= usize::from(breaks);
        at += block.len();
    }
    while left > 0 {
        let next = bytes[at..].iter().position(|b| *b == b'\n')?;
        at += next + 1;
        left -= 1;
    }
    Some(at)
}
