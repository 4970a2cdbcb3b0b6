//! How many tokens a text costs a model, estimated without a tokenizer.

/// An estimate: four ASCII characters a token, one and a half other ones.
pub fn estimate_tokens(text: &str) -> u32 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().count() - ascii;
    let tokens = ascii.div_ceil(4) + (other * 2).div_ceil(3);
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_count_differently() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("four"), 1);
        assert_eq!(estimate_tokens("fn main() {}"), 3);
        assert_eq!(estimate_tokens("数据库"), 2);
    }
}
