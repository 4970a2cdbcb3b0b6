//! Whether a pattern repeats something that already repeats without limit, such
//! as `(a+)+`: a subject that almost matches then takes exponential time.

use super::node::{Node, UNLIMITED};
use super::{SyntaxError, parse};

/// Whether the pattern has such a repeat. Separators are understood: `(a+,)+`
/// can be split in one way only and is fine.
pub fn has_nested_repeat(pattern: &str) -> Result<bool, SyntaxError> {
    Ok(is_nested(&parse::parse_pattern(pattern)?.root))
}

fn is_nested(node: &Node) -> bool {
    match node {
        Node::Capture { body, .. } | Node::Lookaround { body, .. } => is_nested(body),
        Node::Sequence(parts) | Node::Alternatives(parts) => parts.iter().any(is_nested),
        Node::Repeat(repeat) => {
            let repeats_itself = repeat.count.max == UNLIMITED && can_be_one_repeat(&repeat.body);
            repeats_itself || is_nested(&repeat.body)
        }
        _ => false,
    }
}

/// Whether one iteration may consist of nothing but an unlimited repeat.
fn can_be_one_repeat(body: &Node) -> bool {
    match body {
        Node::Capture { body, .. } => can_be_one_repeat(body),
        Node::Alternatives(parts) => parts.iter().any(can_be_one_repeat),
        Node::Sequence(parts) => (0..parts.len()).any(|at| {
            let mut others = parts.iter().enumerate().filter(|(other, _)| *other != at);
            can_be_one_repeat(&parts[at]) && others.all(|(_, part)| part.can_be_empty())
        }),
        Node::Repeat(repeat) => repeat.count.max == UNLIMITED || can_be_one_repeat(&repeat.body),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_repeats_that_can_be_split_in_several_ways_are_nested() {
        let nested = [
            "(a+)+",
            "(?:a*)*$",
            "(x|y+)+z",
            "(a+b?)+",
            "^(([a-z])+.?)+$",
        ];
        let plain = [
            "(a+,)+",
            "a+b+",
            "(ab)+",
            "mcp__.*__.*",
            "(a{1,3})+",
            "(Edit|Write)+",
        ];
        for pattern in nested {
            assert_eq!(has_nested_repeat(pattern), Ok(true), "{pattern}");
        }
        for pattern in plain {
            assert_eq!(has_nested_repeat(pattern), Ok(false), "{pattern}");
        }
    }
}
