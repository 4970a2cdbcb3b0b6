//! Bit strings: the signs of a vector.

/// Packs eight booleans per byte, the first in the lowest bit; the last byte is
/// padded with zeros. Stored sketches depend on this order.
pub(super) fn pack_bits(answers: impl ExactSizeIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = vec![0_u8; answers.len().div_ceil(8)];
    for (at, yes) in answers.enumerate() {
        if let Some(byte) = bytes.get_mut(at / 8) {
            *byte |= u8::from(yes) << (at % 8);
        }
    }
    bytes
}
