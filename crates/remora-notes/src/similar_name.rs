//! The memory that was probably meant.

use remora_core::text::{SwapCost, edit_distance};

use super::MemoryName;

/// A name that differs in a letter or two, or holds what was asked for.
pub(super) fn find_similar_name<'a>(
    name: &MemoryName,
    names: impl IntoIterator<Item = &'a MemoryName>,
) -> Option<String> {
    let wanted = name.as_str().to_lowercase();
    let close = |other: &str| {
        let other = other.to_lowercase();
        wanted.len() >= 3 && (other.contains(&wanted) || wanted.contains(&other))
            || edit_distance(&wanted, &other, SwapCost::One, 2).is_some()
    };
    names
        .into_iter()
        .map(MemoryName::as_str)
        .find(|other| close(other))
        .map(str::to_owned)
}
