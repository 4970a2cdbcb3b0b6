//! What every reader of foreign text must know of it.

mod cut;
mod defuse;
mod distance;

pub use cut::{collapse_controls, collapse_whitespace, cut_chars, truncate_bytes};
pub use defuse::defuse_tags;
pub use distance::{SwapCost, edit_distance, edit_distance_chars};

/// Turns the direction, has no width, or spells text that is invisible. Joiners
/// and the two selectors that choose how an emoji looks are not among them.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_told_from_what_is_written() {
        let hides = "\u{ad}\u{34f}\u{115f}\u{180e}\u{200b}\u{202e}\u{2066}\u{3164}\u{fe00}\u{feff}\u{ffa0}\u{e0041}\u{e0100}";
        assert!(hides.chars().all(is_invisible));
        let written = "a é 漢 한 ✈\u{fe0f} 👩\u{200d}💻 \u{fe0e}";
        assert!(!written.chars().any(is_invisible));
    }
}
