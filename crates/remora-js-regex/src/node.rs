//! The syntax tree of a pattern.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::class::Class;

/// The repeat count that stands for "without limit"; larger numbers in a pattern mean the same.
pub(super) const UNLIMITED: u32 = i32::MAX.unsigned_abs();

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct ParsedPattern {
    /// The whole pattern.
    pub(super) root: Node,
    /// How many capturing groups it has.
    pub(super) captures: usize,
    /// The numbers of the groups of each name.
    pub(super) names: BTreeMap<String, Arc<[usize]>>,
}

/// One part of a pattern. Groups are numbered from 1; `fold` ignores case.
#[derive(Debug)]
pub(super) enum Node {
    Empty,
    Unit {
        unit: u16,
        fold: bool,
    },
    Class {
        class: Class,
        fold: bool,
    },
    LineStart {
        multiline: bool,
    },
    LineEnd {
        multiline: bool,
    },
    WordBoundary {
        negated: bool,
    },
    BackReference {
        group: usize,
        fold: bool,
    },
    NamedReference {
        name: String,
        fold: bool,
    },
    Capture {
        group: usize,
        body: Box<Node>,
    },
    Lookaround {
        behind: bool,
        negated: bool,
        body: Box<Node>,
    },
    Sequence(Vec<Node>),
    Alternatives(Vec<Node>),
    Repeat(Box<Repeat>),
}

/// A quantified part.
#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: Node,
    pub(super) count: Quantifier,
    /// The groups inside `body`, which every iteration resets.
    pub(super) captures: Range<usize>,
    /// Whether `body` can match without consuming anything.
    pub(super) body_can_be_empty: bool,
}

/// A quantifier: `min..=max` times, as often as possible or (lazy) as rarely as possible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantifier {
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) greedy: bool,
}

impl Node {
    /// A sequence, without a wrapper around a single part.
    pub(super) fn new_sequence(mut parts: Vec<Node>) -> Node {
        match (parts.pop(), parts.is_empty()) {
            (None, _) => Node::Empty,
            (Some(only), true) => only,
            (Some(last), false) => {
                parts.push(last);
                Node::Sequence(parts)
            }
        }
    }

    /// `body` quantified by `count`; `captures` are the groups inside it.
    pub(super) fn new_repeat(body: Node, count: Quantifier, captures: Range<usize>) -> Node {
        let only_empty = !body.can_consume();
        if count.max == 0 || (only_empty && count.min == 0) {
            // An optional iteration that consumes nothing is always rejected.
            return Node::Empty;
        }
        if only_empty {
            // Required iterations that consume nothing all match at the same place, so one
            // will do.
            return body;
        }
        let body_can_be_empty = body.can_be_empty();
        Node::Repeat(Box::new(Repeat {
            body,
            count,
            captures,
            body_can_be_empty,
        }))
    }

    /// Whether the part can match without consuming anything.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Node::Unit { .. } | Node::Class { .. } => false,
            Node::Empty
            | Node::LineStart { .. }
            | Node::LineEnd { .. }
            | Node::WordBoundary { .. }
            | Node::BackReference { .. }
            | Node::NamedReference { .. }
            | Node::Lookaround { .. } => true,
            Node::Capture { body, .. } => body.can_be_empty(),
            Node::Sequence(parts) => parts.iter().all(Node::can_be_empty),
            Node::Alternatives(parts) => parts.iter().any(Node::can_be_empty),
            Node::Repeat(repeat) => repeat.count.min == 0 || repeat.body_can_be_empty,
        }
    }

    /// Whether the part can match something that is not empty. A repeat always can: see
    /// [`Node::new_repeat`].
    fn can_consume(&self) -> bool {
        match self {
            Node::Unit { .. }
            | Node::Class { .. }
            | Node::BackReference { .. }
            | Node::NamedReference { .. }
            | Node::Repeat(_) => true,
            Node::Empty
            | Node::LineStart { .. }
            | Node::LineEnd { .. }
            | Node::WordBoundary { .. }
            | Node::Lookaround { .. } => false,
            Node::Capture { body, .. } => body.can_consume(),
            Node::Sequence(parts) | Node::Alternatives(parts) => {
                parts.iter().any(Node::can_consume)
            }
        }
    }
}
