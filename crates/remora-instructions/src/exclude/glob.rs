//! The globs of `claudeMdExcludes`, read the way the client reads them: names
//! with a dot in front are names like others, `**` crosses directories only
//! as a whole name, braces, sets and extended groups work. Pure.

use crate::rule::machine::{CharSet, Lookahead, Node};

/// How deep groups may be nested; deeper ones match nothing. Keeps the recursion
/// of the parser bounded.
const MAX_GROUP_DEPTH: usize = 16;

/// The node for one pattern that has to fit a whole path.
pub(super) fn parse_glob(pattern: &str) -> Node {
    let chars: Vec<char> = pattern.chars().collect();
    let mut rest = chars.as_slice();
    let mut negated = false;
    // Two `!` cancel out; `!(` begins an extended group.
    while rest.first() == Some(&'!') && rest.get(1) != Some(&'(') {
        negated = !negated;
        rest = &rest[1..];
    }
    // Picomatch drops this prefix from patterns.
    let rest = rest.strip_prefix(&['.', '/']).unwrap_or(rest);
    let mut parser = Parser {
        chars: rest,
        at: 0,
        depth: 0,
        broken: false,
    };
    let whole = Node::Seq(vec![parser.parse_choice(Group::Whole), Node::End]);
    if parser.broken {
        Node::match_nothing()
    } else if negated {
        Node::Ahead(Lookahead::Differs, Box::new(whole))
    } else {
        whole
    }
}

/// What encloses a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Whole,
    Parens,
    Braces,
}

/// The preceding element, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PrecedingElement {
    /// The beginning of the pattern.
    Nothing,
    /// A slash that begins the pattern, follows a star, or neither.
    FirstSlash,
    StarSlash,
    Slash,
    Star,
    /// The beginning of a group or of one of its parts.
    Opening,
    /// A dot at the beginning of a name.
    Dot,
    /// A set or braces, which a `+` may repeat.
    Closed,
    /// A group in parentheses, to which a `?` or `+` belongs.
    Group,
    /// One that is repeated already.
    Repeated,
    Text,
}

impl PrecedingElement {
    fn begins_name(self) -> bool {
        matches!(
            self,
            Self::Nothing | Self::FirstSlash | Self::StarSlash | Self::Slash
        )
    }
}

struct Parser<'a> {
    chars: &'a [char],
    at: usize,
    depth: usize,
    /// A brace was never closed, which spoils the whole pattern.
    broken: bool,
}

impl Parser<'_> {
    fn peek_char(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Alternatives up to the end of the group, which is not taken.
    fn parse_choice(&mut self, group: Group) -> Node {
        let mut nodes = vec![self.parse_sequence(group)];
        while self
            .peek_char(0)
            .is_some_and(|c| c == '|' || (c == ',' && group == Group::Braces))
        {
            self.at += 1;
            nodes.push(self.parse_sequence(group));
        }
        Node::Alt(nodes)
    }

    fn parse_sequence(&mut self, group: Group) -> Node {
        let mut nodes: Vec<Node> = Vec::new();
        let mut before = if self.at == 0 {
            PrecedingElement::Nothing
        } else {
            PrecedingElement::Opening
        };
        while let Some(c) = self.peek_char(0) {
            let ends = match c {
                '|' => true,
                ')' => group == Group::Parens,
                '}' | ',' => group == Group::Braces,
                _ => false,
            };
            if ends {
                break;
            }
            if matches!(c, '@' | '?' | '*' | '+' | '!')
                && self.peek_char(1) == Some('(')
                // A group that is never closed is plain text.
                && let Some(close) = self.close(self.at + 1)
            {
                self.at += 2;
                nodes.push(self.parse_extended_group(c, close));
                before = if c == '+' {
                    PrecedingElement::Repeated
                } else {
                    PrecedingElement::Group
                };
                continue;
            }
            self.at += 1;
            before = match c {
                '*' => self.parse_star(&mut nodes, before, group),
                '[' => self.parse_set(&mut nodes),
                '(' | '{' => self.parse_group(c, &mut nodes),
                '\\' => {
                    let escaped = self.peek_char(0);
                    self.at += usize::from(escaped.is_some());
                    nodes.push(Node::Char(escaped.unwrap_or('\\')));
                    if escaped == Some('/') {
                        PrecedingElement::Slash
                    } else {
                        PrecedingElement::Text
                    }
                }
                '"' => self.parse_quoted(&mut nodes),
                '?' if before == PrecedingElement::Repeated => PrecedingElement::Repeated,
                // Picomatch passes `?` and `+` through to its regular expression, where they apply to
                // the group before them. After a repetition, `?` only makes that lazy.
                '?' if before == PrecedingElement::Group => {
                    let last = nodes.pop();
                    nodes.extend(last.map(Node::zero_or_one));
                    PrecedingElement::Repeated
                }
                '?' => {
                    nodes.push(Node::name_char());
                    PrecedingElement::Text
                }
                '+' if matches!(before, PrecedingElement::Closed | PrecedingElement::Group) => {
                    let last = nodes.pop();
                    nodes.extend(last.map(Node::one_or_more));
                    PrecedingElement::Repeated
                }
                c => {
                    nodes.push(Node::Char(c));
                    match (c, before) {
                        ('/', PrecedingElement::Nothing) => PrecedingElement::FirstSlash,
                        ('/', PrecedingElement::Star) => PrecedingElement::StarSlash,
                        ('/', _) => PrecedingElement::Slash,
                        ('.', before) if before.begins_name() => PrecedingElement::Dot,
                        _ => PrecedingElement::Text,
                    }
                }
            };
        }
        Node::Seq(nodes)
    }

    /// One or more stars; the first is taken.
    fn parse_star(
        &mut self,
        nodes: &mut Vec<Node>,
        before: PrecedingElement,
        group: Group,
    ) -> PrecedingElement {
        let more = self.chars[self.at..]
            .iter()
            .take_while(|c| **c == '*')
            .count();
        self.at += more;
        let name_starts = before.begins_name() || before == PrecedingElement::Opening;
        let name_ends = match self.peek_char(0) {
            None | Some('/') => true,
            Some(c) => group != Group::Whole && matches!(c, ',' | '}' | ')' | '|'),
        };
        if more == 1 && name_starts && name_ends {
            return self.parse_globstar(nodes, before);
        }
        // A single star that begins a name needs at least one character.
        if more == 0 && (before.begins_name() || before == PrecedingElement::Dot) {
            nodes.push(Node::Ahead(Lookahead::Fits, Box::new(Node::any_char())));
        }
        nodes.push(Node::name_char().zero_or_more());
        PrecedingElement::Star
    }

    /// `**` as a whole name.
    fn parse_globstar(
        &mut self,
        nodes: &mut Vec<Node>,
        before: PrecedingElement,
    ) -> PrecedingElement {
        // Several in a row are one.
        while self.chars[self.at..].starts_with(&['/', '*', '*'])
            && matches!(self.peek_char(3), None | Some('/'))
        {
            self.at += 3;
        }
        let deep = || Node::any_char().zero_or_more();
        let slash = || Node::Char('/');
        match (before, self.peek_char(0)) {
            // `/a/**` matches `/a` itself, so the slash is optional, too.
            (PrecedingElement::Slash, None) => {
                nodes.pop();
                nodes.push(Node::Alt(vec![Node::Seq(vec![slash(), deep()]), Node::End]));
                PrecedingElement::Star
            }
            // Between two slashes the globstar may match nothing, and then one slash is enough.
            (PrecedingElement::Slash | PrecedingElement::StarSlash, Some('/')) => {
                nodes.pop();
                self.at += 1;
                let mut ways = vec![Node::Seq(vec![slash(), deep(), slash()]), slash()];
                ways.extend(self.peek_char(0).map(|_| Node::End));
                nodes.push(Node::Alt(ways));
                PrecedingElement::Slash
            }
            (PrecedingElement::Nothing, Some('/')) => {
                self.at += 1;
                nodes.push(Node::Alt(vec![
                    Node::Start,
                    Node::Seq(vec![deep(), slash()]),
                ]));
                PrecedingElement::Slash
            }
            _ => {
                nodes.push(deep());
                PrecedingElement::Star
            }
        }
    }

    /// A group with a sign in front; its opening is taken.
    fn parse_extended_group(&mut self, sign: char, close: usize) -> Node {
        let inner_text = &self.chars[self.at..close];
        // Decides whether what is not excluded may cross directories.
        let crosses = inner_text.contains(&'/');
        let starred = inner_text.contains(&'*');
        let inner = self.parse_group_body(Group::Parens, close);
        match sign {
            '?' => inner.zero_or_one(),
            '*' => inner.zero_or_more(),
            '+' => inner.one_or_more(),
            '!' => {
                let mut not = vec![inner];
                let rest = &self.chars[self.at..];
                let extension = matches!(rest, ['.', name @ ..]
                    if !name.is_empty() && !name.iter().any(|c| ".\\/".contains(*c)));
                if crosses || rest.iter().all(|c| *c == ')') {
                    not.push(Node::End);
                } else if starred && extension {
                    // What follows counts too: `!(*.d).ts` is about `.d.ts`.
                    let back = self.at;
                    not.push(self.parse_sequence(Group::Whole));
                    self.at = back;
                }
                Node::Seq(vec![
                    Node::Ahead(Lookahead::Differs, Box::new(Node::Seq(not))),
                    if crosses {
                        Node::any_char()
                    } else {
                        Node::name_char()
                    }
                    .zero_or_more(),
                ])
            }
            _ => inner,
        }
    }

    /// A plain group; its opening is taken.
    fn parse_group(&mut self, open: char, nodes: &mut Vec<Node>) -> PrecedingElement {
        let Some(close) = self.close(self.at - 1) else {
            // A parenthesis that is never closed is a character; a brace spoils the pattern.
            self.broken |= open == '{';
            nodes.push(Node::Char(open));
            return PrecedingElement::Text;
        };
        if open == '(' {
            nodes.push(self.parse_group_body(Group::Parens, close));
            return PrecedingElement::Group;
        }
        let text = &self.chars[self.at..close];
        if let Some(range) = parse_range(text) {
            self.at = close + 1;
            nodes.push(range);
            return PrecedingElement::Closed;
        }
        let inner = self.parse_group_body(Group::Braces, close);
        match inner {
            // Braces without a comma are literal.
            Node::Alt(parts) if parts.len() == 1 => {
                nodes.push(Node::Char('{'));
                nodes.extend(parts);
                nodes.push(Node::Char('}'));
                PrecedingElement::Text
            }
            inner => {
                nodes.push(inner);
                PrecedingElement::Closed
            }
        }
    }

    /// The alternatives up to `close`, which is taken with them.
    fn parse_group_body(&mut self, group: Group, close: usize) -> Node {
        if self.depth == MAX_GROUP_DEPTH {
            self.at = close + 1;
            return Node::match_nothing();
        }
        self.depth += 1;
        let node = self.parse_choice(group);
        self.depth -= 1;
        self.at = close + 1;
        node
    }

    /// Where the group that opens here closes.
    fn close(&self, open: usize) -> Option<usize> {
        let (from, to) = match self.chars[open] {
            '{' => ('{', '}'),
            _ => ('(', ')'),
        };
        let mut depth = 0usize;
        let mut at = open;
        while let Some(&c) = self.chars.get(at) {
            if c == '\\' {
                at += 1;
            } else if c == from {
                depth += 1;
            } else if c == to {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            at += 1;
        }
        None
    }

    /// A set in brackets, or the bracket itself when none closes it.
    fn parse_set(&mut self, nodes: &mut Vec<Node>) -> PrecedingElement {
        let Some((set, end)) = parse_char_set(&self.chars[self.at..]) else {
            nodes.push(Node::Char('['));
            return PrecedingElement::Text;
        };
        self.at += end;
        nodes.push(set);
        PrecedingElement::Closed
    }

    /// Everything up to the next quote is plain text.
    fn parse_quoted(&mut self, nodes: &mut Vec<Node>) -> PrecedingElement {
        while let Some(c) = self.peek_char(0) {
            self.at += 1;
            if c == '"' {
                break;
            }
            nodes.push(Node::Char(c));
        }
        PrecedingElement::Text
    }
}

/// `{a..c}`: one character of a range, whichever end comes first.
fn parse_range(text: &[char]) -> Option<Node> {
    let text: String = text.iter().collect();
    let mut ends: Vec<&str> = text.split("..").collect();
    if ends.len() < 2 || text.contains([',', '{', '}']) {
        return None;
    }
    ends.sort_unstable();
    let (set, _) = parse_char_set(&(ends.join("-") + "]").chars().collect::<Vec<_>>())?;
    Some(set)
}

/// A set and the place behind it; `chars` begins behind the `[`.
fn parse_char_set(chars: &[char]) -> Option<(Node, usize)> {
    // A `!` is one of the characters; only `^` turns a set round.
    let outside = chars.first() == Some(&'^');
    let start = usize::from(outside);
    let mut at = start;
    let mut members: Vec<char> = Vec::new();
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut literal: Vec<Node> = vec![Node::Char('[')];
    loop {
        let c = *chars.get(at)?;
        at += 1;
        if c == ']' && at > start + 1 {
            break;
        }
        literal.push(Node::Char(c));
        if c == '['
            && let Some((class, end)) = parse_named_class(&chars[at..])
        {
            ranges.extend(class);
            at += end;
        } else if c == '\\' {
            members.push(*chars.get(at)?);
            at += 1;
        } else {
            members.push(c);
        }
    }
    literal.push(Node::Char(']'));
    let mut rest = members.as_slice();
    loop {
        rest = match rest {
            [from, '-', to, after @ ..] => {
                if from > to {
                    return Some((Node::match_nothing(), at));
                }
                ranges.push((*from, *to));
                after
            }
            [c, after @ ..] => {
                ranges.push((*c, *c));
                after
            }
            [] => break,
        };
    }
    if outside {
        ranges.push(('/', '/'));
        return Some((Node::Set(CharSet::outside_ranges(ranges)), at));
    }
    // A set of plain characters also matches its own spelling: `[ab]` as a name.
    let plain =
        ranges.len() == members.len() && !members.iter().any(|c| "-*+?.^${}(|)[]\\".contains(*c));
    let set = Node::Set(CharSet::from_ranges(ranges));
    let node = if plain {
        Node::Alt(vec![set, Node::Seq(literal)])
    } else {
        set
    };
    Some((node, at))
}

/// The ranges of a named class such as `[:alpha:]`, and the place behind it;
/// `chars` begins behind the inner `[`.
fn parse_named_class(chars: &[char]) -> Option<(&'static [(char, char)], usize)> {
    let end = chars.iter().position(|c| *c == ']')?;
    let name: String = chars[..end].iter().collect();
    let ranges: &[(char, char)] = match name.strip_prefix(':')?.strip_suffix(':')? {
        "alnum" => &[('a', 'z'), ('A', 'Z'), ('0', '9')],
        "alpha" => &[('a', 'z'), ('A', 'Z')],
        "ascii" => &[('\0', '\x7f')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "cntrl" => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[(' ', ' '), ('\t', '\r')],
        "upper" => &[('A', 'Z')],
        "word" => &[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        "xdigit" => &[('a', 'f'), ('A', 'F'), ('0', '9')],
        _ => return None,
    };
    Some((ranges, end + 1))
}
