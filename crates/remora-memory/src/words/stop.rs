//! Words that say how something is asked, not what is asked for. They are in
//! the index like any other word; a query leaves them out unless it has nothing
//! else.

/// Sorted, folded, without apostrophes.
const STOP: &[&str] = &[
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

/// Whether the folded word says how something is asked.
pub fn is_stop(word: &str) -> bool {
    STOP.binary_search(&word).is_ok()
}

#[cfg(test)]
pub(super) fn all() -> &'static [&'static str] {
    STOP
}
