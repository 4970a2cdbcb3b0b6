//! Stop words: they say how something is asked, not what is asked for. They are
//! indexed like any other word; a query leaves them out unless it has no others.

/// Sorted, folded, without apostrophes.
const STOP_WORDS: &[&str] = &[
    "a", "about", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "cant", "could", "did", "didnt", "do", "does", "doesnt", "doing", "done", "dont", "for",
    "from", "had", "has", "hasnt", "have", "havent", "having", "he", "her", "hers", "him", "his",
    "how", "i", "id", "if", "ill", "im", "in", "into", "is", "isnt", "it", "its", "ive", "just",
    "me", "might", "mine", "my", "myself", "of", "on", "or", "our", "ours", "please", "she",
    "should", "so", "some", "such", "tell", "than", "that", "the", "their", "theirs", "them",
    "then", "there", "these", "they", "this", "those", "to", "too", "us", "was", "wasnt", "we",
    "were", "what", "whats", "when", "where", "which", "while", "who", "whom", "whose", "why",
    "will", "with", "would", "you", "your", "yours", "为什", "什么", "哪个", "哪些", "哪里",
    "如何", "怎么", "怎样", "是否",
];

/// How many bytes a stop word has at most.
const MAX_STOP_BYTES: usize = 6;

/// The words as numbers, in the same order: this is asked for every word of a text,
/// and numbers are compared at once. The order is checked while Remora is built.
static NUMBERS: [u64; STOP_WORDS.len()] = {
    let mut numbers = [0; STOP_WORDS.len()];
    let mut at = 0;
    while at < numbers.len() {
        assert!(STOP_WORDS[at].len() <= MAX_STOP_BYTES);
        numbers[at] = number_of(STOP_WORDS[at].as_bytes());
        assert!(at == 0 || numbers[at - 1] < numbers[at]);
        at += 1;
    }
    numbers
};

/// The bytes of a short word as one number, the first byte in the highest place, so
/// that numbers sort as the words do.
const fn number_of(word: &[u8]) -> u64 {
    let mut number = 0;
    let mut at = 0;
    while at < MAX_STOP_BYTES {
        let byte = if at < word.len() { word[at] } else { 0 };
        number = number << 8 | byte as u64;
        at += 1;
    }
    number
}

/// Whether the folded word is a stop word.
pub fn is_stop(word: &str) -> bool {
    word.len() <= MAX_STOP_BYTES && NUMBERS.binary_search(&number_of(word.as_bytes())).is_ok()
}

#[cfg(test)]
pub(super) fn list_stop_words() -> &'static [&'static str] {
    STOP_WORDS
}
