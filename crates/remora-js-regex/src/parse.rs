//! The parser: alternatives, terms, groups and quantifiers of the Annex B grammar.
//!
//! Open groups are kept in a list, not on the thread's stack.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use super::SyntaxError;
use super::class::Class;
use super::node::{Node, ParsedPattern, Quantifier, UNLIMITED};

/// How deep groups may be nested, so that walking the tree fits on any thread's stack.
const MAX_DEPTH: usize = 250;
/// How many capturing groups a pattern may have; the limit of V8.
const MAX_CAPTURES: usize = 32_767;

/// Parses `pattern`.
pub(super) fn parse_pattern(pattern: &str) -> Result<ParsedPattern, SyntaxError> {
    let mut parser = Parser::new(pattern);
    let root = parser.parse_whole_pattern()?;
    if let Some((_, position)) = parser
        .references
        .iter()
        .find(|(name, _)| !parser.names.contains_key(name))
    {
        return Err(SyntaxError::new(
            "reference to a group name that does not exist",
            *position,
        ));
    }
    let names = parser
        .names
        .into_iter()
        .map(|(name, groups)| (name, groups.into()))
        .collect();
    Ok(ParsedPattern {
        root,
        captures: parser.captures,
        names,
    })
}

/// The flags that modifier groups switch on and off.
#[derive(Debug, Clone, Copy, Default)]
struct Modifiers {
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
}

/// What kind of group is open.
#[derive(Debug, Clone, Copy)]
enum GroupKind {
    /// The whole pattern, `(?:…)` or a modifier group.
    Plain,
    Capture {
        group: usize,
    },
    Lookaround {
        behind: bool,
        negated: bool,
    },
}

/// A group whose closing parenthesis is still to come, or the whole pattern.
#[derive(Debug)]
struct OpenGroup {
    kind: GroupKind,
    position: usize,
    /// The modifiers that hold outside.
    outer: Modifiers,
    /// The number of the first capturing group in it, itself included.
    first_capture: usize,
    /// The alternatives that are complete.
    alternatives: Vec<Node>,
    /// The terms of the current alternative.
    terms: Vec<Node>,
    /// How many names were declared before the group, and before the current alternative.
    declared_before: usize,
    declared_here: usize,
}

/// The state of parsing one pattern.
#[derive(Debug)]
pub(super) struct Parser {
    pub(super) units: Vec<u16>,
    pub(super) pos: usize,
    /// How many capturing groups the whole pattern has, known beforehand.
    pub(super) total_captures: usize,
    /// Whether the pattern has any named group, which makes `\k` special.
    pub(super) has_names: bool,
    /// How many capturing groups were opened so far.
    captures: usize,
    modifiers: Modifiers,
    /// The numbers of the groups of each name.
    names: BTreeMap<String, Vec<usize>>,
    /// The names of the named groups so far, in order.
    declared: Vec<String>,
    /// The names that a group at the current position must not have: those of groups that can
    /// take part in the same match, not in another alternative.
    used_names: BTreeSet<String>,
    /// The named references and their positions.
    references: Vec<(String, usize)>,
}

impl Parser {
    fn new(pattern: &str) -> Self {
        let units: Vec<u16> = pattern.encode_utf16().collect();
        // Counted before parsing: whether `\2` is a reference or an octal escape depends on
        // groups that may only come later, and so does the meaning of `\k`.
        let (total_captures, has_names) = count_captures(&units);
        Self {
            units,
            pos: 0,
            total_captures,
            has_names,
            captures: 0,
            modifiers: Modifiers::default(),
            names: BTreeMap::new(),
            declared: Vec::new(),
            used_names: BTreeSet::new(),
            references: Vec::new(),
        }
    }

    /// The code unit `offset` after the current position.
    pub(super) fn peek_unit(&self, offset: usize) -> Option<u16> {
        self.units.get(self.pos.saturating_add(offset)).copied()
    }

    /// The code unit `offset` after the current position, if it is an ASCII character.
    pub(super) fn peek_ascii(&self, offset: usize) -> Option<u8> {
        self.peek_unit(offset)
            .and_then(|unit| u8::try_from(unit).ok())
            .filter(u8::is_ascii)
    }

    /// Steps over `expected` if it comes next.
    pub(super) fn consume_ascii(&mut self, expected: u8) -> bool {
        let found = self.peek_ascii(0) == Some(expected);
        self.pos += usize::from(found);
        found
    }

    /// Whether case is ignored at the current position.
    pub(super) fn ignores_case(&self) -> bool {
        self.modifiers.ignore_case
    }

    /// Notes a reference to the group `name`, to be checked once all groups are known.
    pub(super) fn note_reference(&mut self, name: &str, position: usize) {
        self.references.push((name.to_owned(), position));
    }

    /// The whole pattern.
    fn parse_whole_pattern(&mut self) -> Result<Node, SyntaxError> {
        let mut outer = Vec::new();
        let mut current = self.open(GroupKind::Plain);
        while self.pos < self.units.len() {
            match self.peek_ascii(0) {
                Some(b'(') if outer.len() >= MAX_DEPTH => {
                    return Err(SyntaxError::new("nested too deeply", self.pos));
                }
                Some(b'(') => {
                    let group = self.open_group()?;
                    outer.push(mem::replace(&mut current, group));
                }
                Some(b')') => {
                    let Some(around) = outer.pop() else {
                        return Err(SyntaxError::new("unmatched )", self.pos));
                    };
                    self.pos += 1;
                    let group = mem::replace(&mut current, around);
                    current.terms.push(self.close_group(group)?);
                }
                Some(b'|') => {
                    self.pos += 1;
                    self.next_alternative(&mut current);
                }
                _ => current.terms.push(self.parse_term()?),
            }
        }
        if outer.is_empty() {
            Ok(self.close_disjunction(current))
        } else {
            Err(SyntaxError::new("unterminated group", current.position))
        }
    }

    /// A group that begins at the current position.
    fn open(&self, kind: GroupKind) -> OpenGroup {
        OpenGroup {
            kind,
            position: self.pos,
            outer: self.modifiers,
            first_capture: self.captures + 1,
            alternatives: Vec::new(),
            terms: Vec::new(),
            declared_before: self.declared.len(),
            declared_here: self.declared.len(),
        }
    }

    /// Ends an alternative at its `|`: the next one may use the same group names.
    fn next_alternative(&mut self, group: &mut OpenGroup) {
        let terms = mem::take(&mut group.terms);
        group.alternatives.push(Node::new_sequence(terms));
        for name in self.declared.iter().skip(group.declared_here) {
            self.used_names.remove(name);
        }
        group.declared_here = self.declared.len();
    }

    /// What is inside `group`: from now on all names in it are in use.
    fn close_disjunction(&mut self, group: OpenGroup) -> Node {
        let last = Node::new_sequence(group.terms);
        if group.alternatives.is_empty() {
            return last;
        }
        let declared = self.declared.iter().skip(group.declared_before);
        self.used_names.extend(declared.cloned());
        let mut alternatives = group.alternatives;
        alternatives.push(last);
        Node::Alternatives(alternatives)
    }

    /// The complete `group`, with the quantifier behind it.
    fn close_group(&mut self, group: OpenGroup) -> Result<Node, SyntaxError> {
        let (kind, first_capture) = (group.kind, group.first_capture);
        // Before the quantifier is read: modifiers end with their group.
        self.modifiers = group.outer;
        let body = self.close_disjunction(group);
        let node = match kind {
            GroupKind::Plain => body,
            GroupKind::Capture { group } => Node::Capture {
                group,
                body: Box::new(body),
            },
            GroupKind::Lookaround { behind, negated } => Node::Lookaround {
                behind,
                negated,
                body: Box::new(body),
            },
        };
        match kind {
            // Annex B lets a quantifier follow a look-ahead only. Behind a look-behind it
            // is left to the next term, which reports that it has nothing to repeat.
            GroupKind::Lookaround { behind: true, .. } => Ok(node),
            _ => self.parse_quantified(node, first_capture),
        }
    }

    /// `node` with the quantifier behind it, if there is one; the groups in it are those from
    /// `first_capture` on.
    fn parse_quantified(&mut self, node: Node, first_capture: usize) -> Result<Node, SyntaxError> {
        let start = self.pos;
        let Some(count) = self.parse_quantifier() else {
            return Ok(node);
        };
        if count.min > count.max {
            return Err(SyntaxError::new(
                "numbers out of order in {} quantifier",
                start,
            ));
        }
        Ok(Node::new_repeat(
            node,
            count,
            first_capture..self.captures + 1,
        ))
    }

    /// A term that is not a group: an assertion, or an atom with its quantifier.
    fn parse_term(&mut self) -> Result<Node, SyntaxError> {
        let Modifiers {
            ignore_case: fold,
            multiline,
            dot_all,
        } = self.modifiers;
        let nothing = SyntaxError::new("nothing to repeat", self.pos);
        let (node, length) = match (self.peek_ascii(0), self.peek_ascii(1)) {
            (Some(b'*' | b'+' | b'?'), _) => return Err(nothing),
            // Braces that are no quantifier, as in `a{b`, are literal text in the web
            // grammar.
            (Some(b'{'), _) if self.peek_braces().is_some() => return Err(nothing),
            (Some(b'^'), _) => {
                self.pos += 1;
                return Ok(Node::LineStart { multiline });
            }
            (Some(b'$'), _) => {
                self.pos += 1;
                return Ok(Node::LineEnd { multiline });
            }
            (Some(b'\\'), Some(letter @ (b'b' | b'B'))) => {
                self.pos += 2;
                return Ok(Node::WordBoundary {
                    negated: letter == b'B',
                });
            }
            (Some(b'\\'), _) => (self.atom_escape()?, 0),
            (Some(b'['), _) => (self.parse_class()?, 0),
            (Some(b'.'), _) => (
                Node::Class {
                    class: Class::for_dot(dot_all),
                    fold: false,
                },
                1,
            ),
            _ => (
                self.peek_unit(0)
                    .map_or(Node::Empty, |unit| Node::Unit { unit, fold }),
                1,
            ),
        };
        self.pos += length;
        self.parse_quantified(node, self.captures + 1)
    }

    /// The quantifier at the current position, if there is one.
    fn parse_quantifier(&mut self) -> Option<Quantifier> {
        let (min, max, length) = match self.peek_ascii(0)? {
            b'*' => (0, UNLIMITED, 1),
            b'+' => (1, UNLIMITED, 1),
            b'?' => (0, 1, 1),
            b'{' => self.peek_braces()?,
            _ => return None,
        };
        self.pos += length;
        Some(Quantifier {
            min,
            max,
            greedy: !self.consume_ascii(b'?'),
        })
    }

    /// `{n}`, `{n,}` or `{n,m}` at the current position as minimum, maximum and length;
    /// anything else in braces is literal text.
    fn peek_braces(&self) -> Option<(u32, u32, usize)> {
        let (min, mut at) = self.peek_number(1)?;
        let mut max = min;
        if self.peek_ascii(at) == Some(b',') {
            (max, at) = match self.peek_ascii(at + 1) {
                Some(b'}') => (UNLIMITED, at + 1),
                _ => self.peek_number(at + 1)?,
            };
        }
        (self.peek_ascii(at) == Some(b'}')).then_some((min, max, at + 1))
    }

    /// The decimal number at `offset` (large ones become [`UNLIMITED`]) and the offset behind it.
    fn peek_number(&self, offset: usize) -> Option<(u32, usize)> {
        let mut value = None;
        let mut at = offset;
        while let Some(digit @ b'0'..=b'9') = self.peek_ascii(at) {
            let grown = value
                .unwrap_or(0_u32)
                .saturating_mul(10)
                .saturating_add(u32::from(digit - b'0'));
            value = Some(grown.min(UNLIMITED));
            at += 1;
        }
        value.map(|value| (value, at))
    }

    /// The beginning of a group of any kind, from `(` on.
    fn open_group(&mut self) -> Result<OpenGroup, SyntaxError> {
        let mut group = self.open(GroupKind::Plain);
        self.pos += 1;
        if !self.consume_ascii(b'?') {
            group.kind = self.count_capture(group.position)?;
            return Ok(group);
        }
        match (self.peek_ascii(0), self.peek_ascii(1)) {
            (Some(b':'), _) => self.pos += 1,
            (Some(sign @ (b'=' | b'!')), _) => {
                self.pos += 1;
                group.kind = GroupKind::Lookaround {
                    behind: false,
                    negated: sign == b'!',
                };
            }
            (Some(b'<'), Some(sign @ (b'=' | b'!'))) => {
                self.pos += 2;
                group.kind = GroupKind::Lookaround {
                    behind: true,
                    negated: sign == b'!',
                };
            }
            (Some(b'<'), _) => {
                let name = self.group_name()?;
                group.kind = self.count_capture(group.position)?;
                self.declare_name(name, self.captures, group.position)?;
                // Its own name is in use in all its alternatives.
                group.declared_here = self.declared.len();
                group.declared_before = group.declared_here;
            }
            _ => self.switch_modifiers(group.position)?,
        }
        Ok(group)
    }

    /// Counts a capturing group.
    fn count_capture(&mut self, position: usize) -> Result<GroupKind, SyntaxError> {
        if self.captures >= MAX_CAPTURES {
            return Err(SyntaxError::new("too many groups", position));
        }
        self.captures += 1;
        Ok(GroupKind::Capture {
            group: self.captures,
        })
    }

    /// Records a named group. A name may come again only in another alternative, where at most
    /// one of the groups can take part in a match.
    fn declare_name(&mut self, name: String, group: usize, open: usize) -> Result<(), SyntaxError> {
        if !self.used_names.insert(name.clone()) {
            return Err(SyntaxError::new("duplicate group name", open));
        }
        self.declared.push(name.clone());
        self.names.entry(name).or_default().push(group);
        Ok(())
    }

    /// The `ims-ims:` of a modifier group; anything else here is no group at all.
    fn switch_modifiers(&mut self, open: usize) -> Result<(), SyntaxError> {
        let mut seen = Vec::new();
        let mut adding = true;
        while !self.consume_ascii(b':') {
            // Each flag may be named once, on one side of the hyphen only, and so may the
            // hyphen.
            let letter = self.peek_ascii(0).filter(|letter| !seen.contains(letter));
            match letter {
                Some(b'i') => self.modifiers.ignore_case = adding,
                Some(b'm') => self.modifiers.multiline = adding,
                Some(b's') => self.modifiers.dot_all = adding,
                Some(b'-') => adding = false,
                _ => return Err(SyntaxError::new("invalid group", open)),
            }
            seen.extend(letter);
            self.pos += 1;
        }
        // `(?:` may change nothing, `(?-:` may not: the specification refuses it.
        if seen == [b'-'] {
            return Err(SyntaxError::new("invalid group", open));
        }
        Ok(())
    }
}

/// Counts the capturing groups of the whole pattern, and whether any has a name.
fn count_captures(units: &[u16]) -> (usize, bool) {
    let byte = |at: usize| units.get(at).and_then(|&unit| u8::try_from(unit).ok());
    let (mut count, mut named, mut in_class, mut at) = (0, false, false, 0);
    while at < units.len() {
        match byte(at) {
            // An escaped bracket opens nothing.
            Some(b'\\') => at += 1,
            Some(b'[') => in_class = true,
            Some(b']') => in_class = false,
            Some(b'(') if !in_class => {
                let is_named = byte(at + 1) == Some(b'?')
                    && byte(at + 2) == Some(b'<')
                    && !matches!(byte(at + 3), Some(b'=' | b'!'));
                named |= is_named;
                count += usize::from(is_named || byte(at + 1) != Some(b'?'));
            }
            _ => {}
        }
        at += 1;
    }
    (count, named)
}
