//! One hash for names on the disk and in the store: FNV-1a with 64 bits. Its
//! values are kept, so it must never change with a release, a machine or a
//! version of Rust.

/// Where a hash begins.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

const PRIME: u64 = 0x0100_0000_01b3;

/// The hash of these bytes.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    extend_hash(HASH_START, bytes)
}

/// Goes on where a hash was: the hash of two pieces is that of both together.
pub fn extend_hash(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_published_one() {
        for (text, hash) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(stable_hash(text.as_bytes()), hash, "{text:?}");
        }
    }

    #[test]
    fn a_hash_goes_on_where_it_was() {
        assert_eq!(
            extend_hash(stable_hash(b"foo"), b"bar"),
            stable_hash(b"foobar")
        );
    }
}
