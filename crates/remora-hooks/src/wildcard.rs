//! The plain wildcard that rules, lists and conditions share.

/// Plain wildcards on the whole text: `*` takes anything, slashes too.
/// Case-sensitive; linear in time.
pub(crate) fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(first) = parts.next() else {
        return false;
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    // Without a star the texts must be equal.
    let Some(last) = pattern.rsplit('*').next().filter(|_| pattern.contains('*')) else {
        return rest.is_empty();
    };
    let middle: Vec<&str> = parts.collect();
    for part in &middle[..middle.len().saturating_sub(1)] {
        // The first occurrence is as good as any later one, so there is nothing to go back to.
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}
