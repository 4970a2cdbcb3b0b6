//! What the user asks to be remembered: "Remember: ..", "for the record, ..", 记住….

use crate::sentence;

/// Beginnings of such a sentence, in lower case. The longer ones come first, because
/// the first match is taken.
const OPENING_PHRASES: &[&str] = &[
    "please remember that",
    "please remember this",
    "please remember",
    "remember that",
    "remember this",
    "remember",
    "don't forget that",
    "dont forget that",
    "do not forget that",
    "don't forget",
    "dont forget",
    "do not forget",
    "never forget",
    "for the record",
    "keep in mind that",
    "keep in mind",
    "merk dir bitte",
    "merke dir bitte",
    "merke dir",
    "merk dir",
    "bitte merken",
    "vergiss nicht",
    "denk daran",
    "fürs protokoll",
    "recuerda que",
    "recuerda",
    "no olvides que",
    "no olvides",
    "que conste que",
    "rappelle-toi que",
    "rappelle-toi",
    "souviens-toi que",
    "souviens-toi",
    "n'oublie pas que",
    "n'oublie pas",
    "retiens que",
    "retiens",
    "请记住",
    "记住",
    "记一下",
    "别忘了",
    "不要忘记",
    "覚えておいて",
];
/// Endings in languages where the verb comes last.
const CLOSING_PHRASES: &[&str] = &[
    "を覚えておいてください",
    "を覚えておいて",
    "と覚えておいて",
    "を覚えて",
    "を忘れないで",
];
/// What follows in a step for now, or in talk about the past.
const STEP_STARTS: &[&str] = &[
    "to ", "when ", "how ", "why ", "what ", "who ", "where ", "the time", "me ", "zu ", "wie ",
    "cuando ", "cómo ", "quand ", "comment ", "ing ", "about ", "it", "if ",
];
/// Words before it that say nothing.
const LEAD_WORDS: &[&str] = &[
    "also", "and", "ok", "okay", "please", "btw", "oh", "yes", "so", "und", "bitte", "y", "et",
    "另外", "请",
];

/// What a sentence asks to be remembered; empty if the next one says it.
pub(super) fn find_kept_text(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.ends_with(['?', '？']) {
        return None;
    }
    let stop = |c: char| c.is_whitespace() || ".!。！".contains(c);
    let closed = text.trim_end_matches(stop);
    for closing in CLOSING_PHRASES {
        if let Some(rest) = closed.strip_suffix(closing) {
            return Some(rest);
        }
    }
    let start = without_leads(text);
    let (opening, rest) = OPENING_PHRASES.iter().find_map(|opening| {
        let head = start.get(..opening.len())?;
        let same = head.to_lowercase().replace('’', "'") == *opening;
        same.then(|| (*opening, &start[opening.len()..]))
    })?;
    let wide = opening.chars().any(sentence::is_wide);
    let pause = rest
        .trim_start()
        .starts_with([':', ',', '：', '，', '-', '—']);
    // "Remembering" and "remember me" say something else, 别忘了保存 is a step.
    let parted = if wide {
        pause || opening.ends_with('住')
    } else {
        pause || rest.is_empty() || rest.starts_with(char::is_whitespace)
    };
    let after = rest.trim_matches(|c: char| c.is_whitespace() || ".!。！:,：，-—".contains(c));
    let lower = after.to_lowercase();
    let other = !pause && STEP_STARTS.iter().any(|other| lower.starts_with(other));
    if !parted || other {
        return None;
    }
    let announces = rest.trim_end().ends_with([':', '：']);
    (!after.is_empty() || announces).then_some(after)
}

fn without_leads(text: &str) -> &str {
    let mut rest = text;
    while let Some(lead) = LEAD_WORDS.iter().find(|lead| {
        let head = rest.get(..lead.len());
        let after = rest.get(lead.len()..).and_then(|rest| rest.chars().next());
        let parts = |c: char| c.is_whitespace() || ",，".contains(c) || sentence::is_wide(c);
        head.is_some_and(|head| head.to_lowercase() == **lead) && after.is_some_and(parts)
    }) {
        rest = rest[lead.len()..].trim_start_matches([' ', ',', '，']);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::find_kept_text;

    #[test]
    fn what_is_to_be_kept_is_told_from_talk_of_memory() {
        let cases = [
            (
                "Remember: the staging DB is wiped on Sundays.",
                Some("the staging DB is wiped on Sundays"),
            ),
            (
                "ok, remember that we deploy on Tuesdays",
                Some("we deploy on Tuesdays"),
            ),
            (
                "Don't forget the changelog is in German.",
                Some("the changelog is in German"),
            ),
            (
                "For the record, Petra owns the ledger",
                Some("Petra owns the ledger"),
            ),
            (
                "Merke dir: Deploys nur dienstags",
                Some("Deploys nur dienstags"),
            ),
            (
                "Recuerda que el servidor está en UTC",
                Some("el servidor está en UTC"),
            ),
            ("Rappelle-toi : pas de jQuery", Some("pas de jQuery")),
            ("记住：测试库每周日清空", Some("测试库每周日清空")),
            (
                "テスト用DBは日曜に消えることを覚えておいて",
                Some("テスト用DBは日曜に消えること"),
            ),
            ("Remember this:", Some("")),
            ("remember to push", None),
            ("Remember when we used Java?", None),
            ("remember me checkbox is broken", None),
            ("don't forget to commit", None),
            ("Remembering passwords should work offline", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(find_kept_text(text), wanted, "{text}");
        }
    }
}
