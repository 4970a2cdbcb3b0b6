//! Which pairs of bytes occur in a text: most of many cues do not, which shows
//! without searching for each.

/// The pairs of a text, by five bits of each byte, so that lower and upper case
/// are the same.
#[derive(Debug)]
pub(crate) struct BytePairs([u64; 16]);

impl BytePairs {
    pub(crate) fn of(text: &str) -> Self {
        let mut pairs = [0; 16];
        for pair in text.as_bytes().windows(2) {
            let (at, bit) = place(pair);
            pairs[at] |= bit;
        }
        Self(pairs)
    }

    /// Whether the text may contain a cue; `false` is certain.
    pub(crate) fn may_hold(&self, cue: &str) -> bool {
        cue.as_bytes().windows(2).all(|pair| {
            let (at, bit) = place(pair);
            self.0[at] & bit != 0
        })
    }
}

/// The word and bit of a pair. Different lower-case letters have different bits.
fn place(pair: &[u8]) -> (usize, u64) {
    let low = |byte: u8| usize::from(byte & 31);
    let place = (low(pair[0]) << 5) | low(pair[1]);
    (place >> 6, 1 << (place & 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_holds_is_never_ruled_out_and_most_else_is() {
        let text = "we dropped roxmltree, not quick-xml: 不再使用";
        let pairs = BytePairs::of(text);
        for (cue, may) in [
            ("", true),
            ("w", true),
            ("dropped", true),
            ("DROPPED", true),
            (", not", true),
            ("不再", true),
            ("instead of", false),
            ("drops", false),
            ("弃用", false),
        ] {
            assert_eq!(pairs.may_hold(cue), may, "{cue:?}");
        }
    }
}
