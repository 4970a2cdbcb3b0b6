//! Which bytes stand side by side in a text: of many cues most are not in it,
//! which is seen without a search for each.

/// The pairs of a text, five bits of each byte: small and capital letters are the
/// same.
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

    /// Whether a cue may be in the text; where not, it is not.
    pub(crate) fn may_hold(&self, cue: &str) -> bool {
        cue.as_bytes().windows(2).all(|pair| {
            let (at, bit) = place(pair);
            self.0[at] & bit != 0
        })
    }
}

/// Where a pair is marked. Small letters that differ have places that differ.
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
