//! What users said of items, as the writing side needs it: which statements are
//! rejected, which items carry the user's own words, and when two spellings
//! are one statement.

use remora_protocol::record::{Item, Kind, Override};
use remora_protocol::tokens;
use unicode_normalization::UnicodeNormalization;

/// Kinds that claim something. The same claim again lands on its tombstone;
/// evidence (prompts, calls, messages) is stored whatever it says.
pub const CLAIMS: &[Kind] = &[Kind::Decision, Kind::Preference, Kind::Correction];

/// Look-alikes of Latin letters, each group led by the letter that it reads as.
/// Only letters that a reader cannot tell apart; anything else is a paraphrase.
const LOOK_ALIKES: &[&str] = &[
    "aаαɑ", "bЬь", "cсϲ", "dԁ", "eеєε", "gɡ", "hһ", "iіιı", "jј", "kкκ", "lⅼӏ", "mм", "nп", "oоο",
    "pрρ", "qԛ", "rг", "sѕ", "tтτ", "uυ", "vνѵ", "wԝω", "xхχ", "yуγ", "zᴢ",
];

/// What a text states, whatever its spelling: case, whitespace, punctuation,
/// quotes, invisible characters, compatibility forms and look-alikes of Latin
/// letters do not count. Signs that carry meaning in code (`+ # = < > / %` and
/// the like) and a point between digits do.
pub fn statement_key(text: &str) -> String {
    let chars: Vec<char> = text
        .nfkd()
        .flat_map(char::to_lowercase)
        .filter(|c| !is_accent(*c))
        .collect();
    let mut key = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let digit = |at: Option<usize>| {
            at.and_then(|at| chars.get(at))
                .is_some_and(char::is_ascii_digit)
        };
        let point = *c == '.' && digit(at.checked_sub(1)) && digit(Some(at + 1));
        if c.is_alphanumeric() {
            key.push(fold_look_alike(*c));
        } else if point || "+#=<>/%$&@*^~|\\".contains(*c) {
            key.push(*c);
        }
    }
    key
}

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

fn fold_look_alike(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    let group = LOOK_ALIKES.iter().find(|group| group.contains(c));
    group.and_then(|group| group.chars().next()).unwrap_or(c)
}

/// Everything that users said, ready to be asked about many items.
#[derive(Debug, Clone, Default)]
pub struct Overrides(Vec<Override>);

impl Overrides {
    /// Of these.
    pub fn new(all: Vec<Override>) -> Self {
        Self(all)
    }

    /// Whether nothing was said of any item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was said of this item.
    pub fn of(&self, uid: &str) -> Option<&Override> {
        self.0.iter().find(|known| known.uid == uid)
    }

    /// The tombstone that an item would be written over, if it claims what was
    /// rejected under another uid.
    pub fn tombstone(&self, item: &Item) -> Option<&Override> {
        if self.is_empty() || !CLAIMS.contains(&item.kind) {
            return None;
        }
        self.rejected(&item.project, &statement_key(&item.title))
            .filter(|tombstone| tombstone.uid != item.uid)
    }

    /// The rejection of a statement in a project.
    pub fn rejected(&self, project: &str, statement: &str) -> Option<&Override> {
        self.0.iter().find(|known| {
            known.rejected.is_some()
                && known.project == project
                && !statement.is_empty()
                && known.statement == statement
        })
    }

    /// The item in the user's words, if it was edited; `uid` is the one that it
    /// keeps, if not its own.
    pub fn edited(&self, item: &Item, uid: Option<&str>) -> Option<Item> {
        let edit = self.of(uid.unwrap_or(&item.uid))?.edit.as_ref()?;
        let mut item = item.clone();
        if let Some(title) = &edit.title {
            item.title.clone_from(title);
        }
        if let Some(text) = &edit.text {
            item.text.clone_from(text);
        }
        if let Some(facts) = &edit.facts {
            item.facts.clone_from(facts);
        }
        let texts = [&item.title, &item.text].into_iter().chain(&item.facts);
        item.digest_tokens = texts.map(|text| tokens::estimate(text)).sum();
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_statement_share_a_key() {
        let key = statement_key("We use port 8080 for the API.");
        for same in [
            "we use PORT 8080 for the api",
            "  We  use\tport 8080\nfor the API!! ",
            "“We use port 8080 for the ‘API’.”",
            "We use port 8080 for the API",
            "We\u{200b} use po\u{ad}rt 8080 for\u{2060} the API",
            "Wе usе роrt 8080 fоr thе АPI",
            "Ｗｅ use port ８０８０ for the API",
        ] {
            assert_eq!(statement_key(same), key, "{same}");
        }
    }

    #[test]
    fn other_statements_have_other_keys() {
        let all = [
            "use C",
            "use C++",
            "use C#",
            "use port 80",
            "use port 8.0",
            "use port 8080",
            "do not use C",
            "a < b",
            "a > b",
            "使用端口 80",
        ];
        let mut keys: Vec<String> = all.iter().map(|text| statement_key(text)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all.len());
    }
}
