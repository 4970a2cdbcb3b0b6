//! Bit strings: the signs of a vector, and in how many bits two of them differ.

/// Eight answers a byte, the first in the lowest bit; the last byte is filled
/// with zeros.
pub(super) fn signs(answers: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0_u8; answers.len().div_ceil(8)];
    for (at, yes) in answers.enumerate() {
        if let Some(byte) = bytes.get_mut(at / 8) {
            *byte |= u8::from(yes) << (at % 8);
        }
    }
    bytes
}

/// In how many bits two sketches differ. What one has and the other lacks
/// differs in every bit.
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    let shared = a.len().min(b.len());
    let missing = a.len().max(b.len()) - shared;
    let (a, a_rest) = a[..shared].as_chunks::<8>();
    let (b, b_rest) = b[..shared].as_chunks::<8>();
    let wide: u32 = a
        .iter()
        .zip(b)
        .map(|(a, b)| (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)).count_ones())
        .sum();
    let rest: u32 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(a, b)| (a ^ b).count_ones())
        .sum();
    let missing = u32::try_from(missing).unwrap_or(u32::MAX).saturating_mul(8);
    wide.saturating_add(rest).saturating_add(missing)
}
