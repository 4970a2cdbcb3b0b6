//! Sets of UTF-16 code units, and the case folding of `(?i:…)`.

use std::sync::OnceLock;

/// An inclusive range of code units.
type UnitRange = (u16, u16);

const DIGIT_RANGES: &[UnitRange] = &[(0x30, 0x39)];
const WORD_RANGES: &[UnitRange] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
/// White space and line ends as JavaScript counts them.
const SPACE_RANGES: &[UnitRange] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
const LINE_END_RANGES: &[UnitRange] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

/// A set of code units: sorted, disjoint ranges, or everything outside them.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    ranges: Vec<UnitRange>,
    negated: bool,
}

impl Class {
    /// The class written with `ranges` in any order, negated for `[^…]`.
    pub(super) fn new(ranges: Vec<UnitRange>, negated: bool) -> Self {
        Self {
            ranges: merge_ranges(ranges),
            negated,
        }
    }

    /// What `.` matches: everything but line ends, or with `dot_all` everything.
    pub(super) fn for_dot(dot_all: bool) -> Self {
        let ranges = if dot_all {
            Vec::new()
        } else {
            LINE_END_RANGES.to_vec()
        };
        Self {
            ranges,
            negated: true,
        }
    }

    /// Whether `unit` belongs to the class; `fold` ignores case.
    pub(super) fn matches(&self, unit: u16, fold: bool) -> bool {
        let listed = if fold {
            self.lists_folded(unit)
        } else {
            self.contains_unit(unit)
        };
        // Negation comes last: `(?i:[^a])` must not match `A`.
        listed != self.negated
    }

    fn contains_unit(&self, unit: u16) -> bool {
        let after = self.ranges.partition_point(|&(low, _)| low <= unit);
        after
            .checked_sub(1)
            .and_then(|last| self.ranges.get(last))
            .is_some_and(|&(_, high)| unit <= high)
    }

    /// Whether the ranges list any unit that folds to the same as `unit`.
    fn lists_folded(&self, unit: u16) -> bool {
        let target = fold_unit(unit);
        let pairs = fold_pairs();
        let first = pairs.partition_point(|&(folded, _)| folded < target);
        self.contains_unit(target)
            || pairs
                .iter()
                .skip(first)
                .take_while(|&&(folded, _)| folded == target)
                .any(|&(_, from)| self.contains_unit(from))
    }
}

/// The ranges of the class escape `\d`, `\D`, `\w`, `\W`, `\s` or `\S`, by its letter.
pub(super) fn escape_ranges(letter: u8) -> Option<Vec<UnitRange>> {
    let ranges = match letter.to_ascii_lowercase() {
        b'd' => DIGIT_RANGES,
        b'w' => WORD_RANGES,
        b's' => SPACE_RANGES,
        _ => return None,
    };
    Some(if letter.is_ascii_uppercase() {
        complement_ranges(ranges)
    } else {
        ranges.to_vec()
    })
}

/// Whether `unit` is one of `\w`.
pub(super) fn is_word(unit: u16) -> bool {
    u8::try_from(unit).is_ok_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Whether `unit` ends a line.
pub(super) fn is_line_end(unit: u16) -> bool {
    LINE_END_RANGES
        .iter()
        .any(|&(low, high)| (low..=high).contains(&unit))
}

/// `Canonicalize` of the specification, without the `u` flag: the upper-case form where that
/// is one code unit and does not lead from outside ASCII into it.
pub(super) fn fold_unit(unit: u16) -> u16 {
    // Half of a surrogate pair has no case.
    let Some(character) = char::from_u32(u32::from(unit)) else {
        return unit;
    };
    let mut upper = character.to_uppercase();
    let (Some(only), None) = (upper.next(), upper.next()) else {
        return unit;
    };
    match u16::try_from(u32::from(only)) {
        Ok(folded) if unit < 0x80 || folded >= 0x80 => folded,
        _ => unit,
    }
}

/// All `(folded, unit)` where folding changes `unit`, sorted.
fn fold_pairs() -> &'static [(u16, u16)] {
    // All 65,536 units are tried, so it is done once, and only for a class inside `(?i:…)`.
    static CASE_PAIRS: OnceLock<Vec<(u16, u16)>> = OnceLock::new();
    CASE_PAIRS.get_or_init(|| {
        let all = (0..=u16::MAX).map(|unit| (fold_unit(unit), unit));
        let mut pairs: Vec<_> = all.filter(|(folded, unit)| folded != unit).collect();
        pairs.sort_unstable();
        pairs
    })
}

/// The same set as sorted, disjoint ranges.
fn merge_ranges(mut ranges: Vec<UnitRange>) -> Vec<UnitRange> {
    ranges.sort_unstable();
    let mut result: Vec<UnitRange> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match result.last_mut() {
            Some(last) if low <= last.1 => last.1 = last.1.max(high),
            _ => result.push((low, high)),
        }
    }
    result
}

/// Everything outside the sorted `ranges`.
fn complement_ranges(ranges: &[UnitRange]) -> Vec<UnitRange> {
    let mut result = Vec::with_capacity(ranges.len() + 1);
    let mut next = Some(0);
    for &(low, high) in ranges {
        if let (Some(from), Some(to)) = (next, low.checked_sub(1)) {
            result.push((from, to));
        }
        next = high.checked_add(1);
    }
    result.extend(next.map(|from| (from, u16::MAX)));
    result
}
