//! Whether a prompt is about to change something that the user may have ruled
//! on: "raise the limit", "switch to Y", "why don't we just …". At such a prompt a
//! rule is injected once more.

/// Verbs that change an existing choice or limit. They count only at the
/// beginning of a sentence: "the change broke it" changes nothing.
const CHANGING_VERBS: &[&str] = &[
    "raise",
    "increase",
    "lower",
    "decrease",
    "reduce",
    "bump",
    "double",
    "halve",
    "shorten",
    "lengthen",
    "extend",
    "relax",
    "loosen",
    "tighten",
    "set",
    "change",
    "switch",
    "swap",
    "replace",
    "migrate",
    "convert",
    "upgrade",
    "downgrade",
    "move",
    "drop",
    "remove",
    "delete",
    "disable",
    "enable",
    "allow",
    "skip",
    "turn on",
    "turn off",
    "get rid of",
    "stop",
    "use",
    "go back to",
    "bring back",
    "put back",
    "revert to",
    "let's",
    "lets",
    "erhöhe",
    "senke",
    "setze",
    "wechsle",
    "ersetze",
    "entferne",
    "nimm",
    "sube",
    "baja",
    "cambia",
    "reemplaza",
    "elimina",
    "usa",
    "augmente",
    "réduis",
    "remplace",
    "supprime",
    "passe à",
    "utilise",
];

/// Phrases that propose a change, anywhere in a sentence.
const PROPOSAL_PHRASES: &[&str] = &[
    "why don't we",
    "why not",
    "why can't we",
    "can't we",
    "can we just",
    "could we just",
    "what if we",
    "how about",
    "should we",
    "shouldn't we",
    "warum nicht",
    "por qué no",
    "pourquoi pas",
    "改成",
    "换成",
    "提高",
    "降低",
    "增加到",
    "去掉",
    "変更",
    "変えて",
    "上げて",
    "下げて",
];

/// What may precede the verb.
const COURTESY_WORDS: &[&str] = &[
    "please",
    "pls",
    "ok",
    "okay",
    "so",
    "now",
    "then",
    "and",
    "also",
    "just",
    "bitte",
    "can you",
    "could you",
    "would you",
    "can we",
    "could we",
    "we should",
    "we can",
    "i want to",
    "i'd like to",
    "we need to",
];

/// Whether the prompt proposes a change.
pub(super) fn proposes_change(prompt: &str) -> bool {
    let lower = prompt.to_lowercase().replace('’', "'");
    if PROPOSAL_PHRASES.iter().any(|phrase| lower.contains(phrase)) {
        return true;
    }
    // A full stop ends a sentence only before a space: "set v1.2" is one.
    let sentences = lower.split(['\n', ';', '!', ',']);
    sentences
        .flat_map(|part| part.split(". "))
        .any(begins_with_change)
}

fn begins_with_change(sentence: &str) -> bool {
    let mut rest = sentence.trim_start();
    while let Some(after) = COURTESY_WORDS
        .iter()
        .find_map(|word| after_phrase(rest, word))
    {
        rest = after.trim_start_matches([' ', ',', ':']);
    }
    CHANGING_VERBS
        .iter()
        .any(|verb| after_phrase(rest, verb).is_some())
}

/// What follows a phrase that the text begins with, if that ends with a word.
fn after_phrase<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(phrase)?;
    let in_a_word = rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'');
    (!in_a_word).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_from_other_work() {
        for prompt in [
            "Raise the retry limit to 5",
            "ok, please switch the queue to Redis",
            "why don't we just retry 10 times?",
            "the export is slow. Could you drop the checksum",
            "Increase how often we try again",
            "should we use moment here?",
            "Bitte erhöhe das Limit",
            "把超时改成 30 秒",
        ] {
            assert!(proposes_change(prompt), "{prompt}");
        }
        for prompt in [
            "Add a page for invoices",
            "the change broke the build",
            "user names are shown twice",
            "why is the retry limit 3?",
            "settings do not load",
            "run the tests",
        ] {
            assert!(!proposes_change(prompt), "{prompt}");
        }
    }
}
