//! Kinds by the names that people give them.

use remora_core::record::Kind;

/// Names beside the kind's own and its plural.
const KIND_ALIASES: &[(&str, Kind)] = &[
    ("bug", Kind::Bugfix),
    ("error", Kind::Failure),
    ("refactoring", Kind::Refactor),
];

/// The kind of this name, in singular or plural, in any case.
pub(super) fn parse_kind(name: &str) -> Option<Kind> {
    let small = name.to_ascii_lowercase();
    let of = |name: &str| {
        let other = || KIND_ALIASES.iter().find(|(other, _)| *other == name);
        Kind::parse(name).or_else(|| other().map(|(_, kind)| *kind))
    };
    let ending = |end: &str, instead: &str| {
        let stem = small.strip_suffix(end)?;
        of(&[stem, instead].concat())
    };
    of(&small)
        .or_else(|| ending("s", ""))
        .or_else(|| ending("es", ""))
        .or_else(|| ending("ies", "y"))
}
