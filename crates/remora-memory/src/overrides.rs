//! What users said of items, as the writing side needs it: which statements are
//! rejected, which items carry the user's own words, and when two spellings
//! are one statement.

use remora_core::detail::{DetailList, ItemDetail};
use remora_core::record::{Item, ItemEdit, Kind, OriginalWords, Override, Rejection};
use remora_core::tokens;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// Kinds that claim something. The same claim again lands on its tombstone;
/// evidence (prompts, calls, messages) is stored whatever it says.
pub const CLAIM_KINDS: &[Kind] = &[Kind::Decision, Kind::Preference, Kind::Correction];

/// Look-alikes of Latin letters, each group led by the letter that it reads as.
/// Only letters that a reader cannot tell apart; anything else is a paraphrase.
const LOOKALIKE_LETTERS: &[&str] = &[
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
    let group = LOOKALIKE_LETTERS.iter().find(|group| group.contains(c));
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
    pub fn find_override(&self, uid: &str) -> Option<&Override> {
        self.0.iter().find(|known| known.uid == uid)
    }

    /// The uids of pinned items, the first pinned first. What is rejected does
    /// not count as pinned.
    pub fn pinned_uids(&self) -> Vec<&str> {
        let pins = self.0.iter().filter(|known| known.rejected.is_none());
        let mut pins: Vec<(i64, &str)> = pins
            .filter_map(|known| Some((known.pinned?, known.uid.as_str())))
            .collect();
        pins.sort_unstable();
        pins.into_iter().map(|(_, uid)| uid).collect()
    }

    /// How many items are rejected.
    pub fn rejected_count(&self) -> usize {
        let rejected = self.0.iter().filter(|known| known.rejected.is_some());
        rejected.count()
    }

    /// The tombstone that an item would be written over, if it claims what was
    /// rejected under another uid.
    pub fn find_tombstone(&self, item: &Item) -> Option<&Override> {
        if self.is_empty() || !CLAIM_KINDS.contains(&item.kind) {
            return None;
        }
        self.find_rejected(&item.project, &statement_key(&item.title))
            .filter(|tombstone| tombstone.uid != item.uid)
    }

    /// The rejection of a statement in a project.
    pub fn find_rejected(&self, project: &str, statement: &str) -> Option<&Override> {
        self.0.iter().find(|known| {
            known.rejected.is_some()
                && known.project == project
                && !statement.is_empty()
                && (known.statement == statement
                    || original_statement(known).as_deref() == Some(statement))
        })
    }

    /// Why an item must not be told as a fact: it was rejected itself, or it
    /// claims what was rejected under another uid.
    pub fn find_rejection(&self, item: &Item) -> Option<&Rejection> {
        if self.rejected_count() == 0 {
            return None;
        }
        if let Some(known) = self.find_override(&item.uid)
            && let Some(rejection) = &known.rejected
        {
            // The item of an error is written again when another change mends
            // it: that fix was never rejected.
            let other_fix = item.kind == Kind::Fix && known.statement != statement_key(&item.title);
            return (!other_fix).then_some(rejection);
        }
        self.find_tombstone(item)?.rejected.as_ref()
    }

    /// Takes out of an item what quotes a rejected claim; whether it still tells
    /// something. Claims and saved memories stay whole: a user who puts a claim
    /// right quotes it, too.
    pub fn strip_quotes(&self, item: &mut Item) -> bool {
        if item.kind == Kind::Memory || CLAIM_KINDS.contains(&item.kind) {
            return true;
        }
        let quotes = RejectedQuotes {
            statements: self.list_unquotable(&item.project),
            denials: if item.kind == Kind::Prompt {
                DenialHandling::Stay
            } else {
                DenialHandling::Go
            },
        };
        if quotes.statements.is_empty() {
            return true;
        }
        item.facts.retain(|fact| !quotes.is_in(fact));
        let was_asked = has_asked(item);
        if let Some(detail) = &mut item.detail {
            quotes.strip_detail(detail);
        }
        // An answer to nothing but the claim repeats it in whatever words.
        if was_asked && !has_asked(item) {
            return false;
        }
        match item.kind {
            Kind::Prompt | Kind::Message | Kind::Summary => {
                let had_title = !item.title.is_empty();
                item.title = quotes.strip_text(&item.title);
                item.text = quotes.strip_text(&item.text);
                if item.title.is_empty() && had_title {
                    item.title = first_words(item);
                }
                !item.title.is_empty()
            }
            // What a subagent brought back is what an agent says.
            Kind::Task => {
                item.text = quotes.strip_text(&item.text);
                !quotes.is_in(&item.title)
            }
            // What was done is evidence, unless it says nothing else.
            _ => !quotes.is_claim(&item.title),
        }
    }

    /// Whether there is anything that no item may quote.
    pub fn has_quotable(&self) -> bool {
        let is = |known: &Override| known.rejected.is_some() || replaced_statement(known).is_some();
        self.0.iter().any(is)
    }

    /// What no item may quote: rejected claims, and the words that an edit
    /// replaced.
    fn list_unquotable(&self, project: &str) -> Vec<String> {
        let of_project = self.0.iter().filter(|known| known.project == project);
        let keys = of_project.flat_map(|known| {
            let kind = known.rejected.as_ref().map(|rejection| rejection.kind);
            let is_claim =
                kind.is_some_and(|kind| kind.is_none_or(|kind| CLAIM_KINDS.contains(&kind)));
            let own = is_claim.then(|| known.statement.clone());
            let original = match kind {
                Some(_) => original_statement(known).filter(|_| is_claim),
                None => replaced_statement(known),
            };
            own.into_iter().chain(original)
        });
        keys.filter(|key| !key.is_empty()).collect()
    }

    /// The item in the user's words, if it was edited; `uid` is the one that it
    /// keeps, if not its own.
    pub fn apply_edit(&self, item: &Item, uid: Option<&str>) -> Option<Item> {
        let edit = self
            .find_override(uid.unwrap_or(&item.uid))?
            .edit
            .as_ref()?;
        let mut item = item.clone();
        if let Some(title) = &edit.title {
            item.title.clone_from(title);
        }
        if let Some(text) = &edit.text {
            item.text.clone_from(text);
            // A summary is told by its parts.
            if item.kind == Kind::Summary
                && let Some(detail) = &mut item.detail
            {
                for list in SUMMARY_LISTS {
                    detail.remove_list(*list);
                }
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                detail.set_list(DetailList::Notes, lines);
            }
        }
        if let Some(facts) = &edit.facts {
            item.facts.clone_from(facts);
        }
        let texts = [&item.title, &item.text].into_iter().chain(&item.facts);
        item.digest_tokens = texts.map(|text| tokens::estimate_tokens(text)).sum();
        Some(item)
    }
}

/// The words of an item as an edit keeps them, for taking it back.
pub fn original_words(item: &Item) -> OriginalWords {
    OriginalWords {
        title: item.title.clone(),
        text: item.text.clone(),
        facts: item.facts.clone(),
        detail: item.detail.clone().filter(|_| item.kind == Kind::Summary),
    }
}

/// The edit that puts these words in place of an item's. Facts are told where
/// the text of most kinds is not, so they follow the text.
pub fn edit_words(item: &Item, time: i64, title: Option<String>, text: Option<String>) -> ItemEdit {
    let facts = text.as_ref().map(|text| match item.kind {
        Kind::Prompt | Kind::Message | Kind::Summary | Kind::Fix => Vec::new(),
        _ => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        }
    });
    ItemEdit {
        time,
        title,
        text,
        facts,
        original: Some(Box::new(original_words(item))),
    }
}

/// The lists of a summary that are told.
const SUMMARY_LISTS: &[DetailList] = &[
    DetailList::Notes,
    DetailList::Completed,
    DetailList::Learned,
    DetailList::OpenSteps,
    DetailList::Failing,
    DetailList::Asked,
    DetailList::Said,
    DetailList::Conclusion,
];
/// Those of them that hold what was said, in several sentences an entry.
const SPOKEN_LISTS: &[DetailList] = &[DetailList::Asked, DetailList::Said, DetailList::Conclusion];
/// A shorter statement is found in too many texts that do not quote it.
const MIN_QUOTE_BYTES: usize = 10;
/// A cut quote is known by this much of its beginning.
const MIN_TRUNCATED_QUOTE_BYTES: usize = 12;
/// How far before a quote the word stands that denies it.
const MAX_DENIAL_DISTANCE_BYTES: usize = 18;
/// What denies the words that follow, as a key spells it.
const DENIAL_WORDS: &[&str] = &[
    "not", "dont", "never", "nolonger", "stop", "avoid", "instead", "wrong", "rather",
];

/// Whether a turn knows what was asked in it.
fn has_asked(item: &Item) -> bool {
    item.has_listed(DetailList::Asked)
}

/// What an edit replaced, if it says something else than before.
fn replaced_statement(known: &Override) -> Option<String> {
    let title = known.edit.as_ref()?.title.as_ref()?;
    original_statement(known).filter(|original| *original != statement_key(title))
}

/// What the claim of an edited item was before.
fn original_statement(known: &Override) -> Option<String> {
    let original = known.edit.as_ref()?.original.as_ref()?;
    Some(statement_key(&original.title))
}

/// Whether a sentence that denies a claim may stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DenialHandling {
    /// A user's own words say what holds.
    Stay,
    /// In a summary the claim's own item says it better.
    Go,
}

/// Rejected claims, looked for in what others say.
struct RejectedQuotes {
    statements: Vec<String>,
    denials: DenialHandling,
}

impl RejectedQuotes {
    fn is_claim(&self, text: &str) -> bool {
        let key = statement_key(text);
        self.statements.contains(&key)
    }

    fn is_in(&self, line: &str) -> bool {
        let key = statement_key(line);
        let is_cut = line.trim_end().ends_with(['…']);
        let cut = match line.split_once(": ") {
            Some((_, rest)) if is_cut => statement_key(rest),
            _ => key.clone(),
        };
        self.statements.iter().any(|statement| {
            if is_cut && cut.len() >= MIN_TRUNCATED_QUOTE_BYTES && statement.starts_with(&cut) {
                return true;
            }
            if statement.len() < MIN_QUOTE_BYTES {
                return key == *statement;
            }
            let Some(at) = key.find(statement.as_str()) else {
                return false;
            };
            self.denials == DenialHandling::Go || !is_denied(&key[..at])
        })
    }

    /// The text without the sentences that quote.
    fn strip_text(&self, text: &str) -> String {
        if !self.is_in_any(text) {
            return text.to_owned();
        }
        let lines = text.lines().map(|line| {
            let kept = split_sentences(line).filter(|sentence| !self.is_in(sentence));
            kept.collect::<String>().trim_end().to_owned()
        });
        let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).collect();
        lines.join("\n").trim().to_owned()
    }

    /// Most texts quote nothing, which one look tells.
    fn is_in_any(&self, text: &str) -> bool {
        let key = statement_key(text);
        let held = |statement: &String| key.contains(statement.as_str());
        text.contains('…') || self.statements.iter().any(held)
    }

    /// Strips every field, also of versions that know others.
    fn strip_detail(&self, detail: &mut ItemDetail) {
        let mut parts = detail.to_value();
        for (name, part) in parts.as_object_mut().into_iter().flatten() {
            match part {
                // What was said may hold more than the quote.
                Value::Array(list) if SPOKEN_LISTS.iter().any(|known| known.name() == name) => {
                    for entry in &mut *list {
                        *entry = self.strip_text(entry.as_str().unwrap_or_default()).into();
                    }
                    list.retain(|entry| entry.as_str() != Some(""));
                }
                Value::Array(list) => {
                    list.retain(|entry| !entry.as_str().is_some_and(|entry| self.is_in(entry)));
                }
                Value::String(text) => *text = self.strip_text(text),
                _ => {}
            }
        }
        *detail = parts.into();
    }
}

fn is_denied(before: &str) -> bool {
    let from = before.len().saturating_sub(MAX_DENIAL_DISTANCE_BYTES);
    let near = &before[before.ceil_char_boundary(from)..];
    DENIAL_WORDS.iter().any(|word| near.contains(word))
}

/// The sentences of a line, each with what follows it; what was asked and what
/// came of it are apart in a summary's title.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest.char_indices().find_map(|(at, c)| {
            let after = at + c.len_utf8();
            let ends = match c {
                '.' | '!' | '?' | ';' => rest[after..].starts_with(char::is_whitespace),
                '。' | '！' | '？' | '→' => true,
                _ => false,
            };
            ends.then_some(after)
        });
        let (sentence, after) = rest.split_at(ends.unwrap_or(rest.len()));
        rest = after;
        Some(sentence)
    })
}

/// A title for an item that lost its own.
fn first_words(item: &Item) -> String {
    let mut lists = SUMMARY_LISTS.iter();
    let listed = lists.find_map(|list| item.detail_list(*list).next());
    let first = item.text.lines().find(|line| !line.trim().is_empty());
    let words = listed.or(first).unwrap_or_default();
    words.trim().to_owned()
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

    fn rejecting(title: &str) -> Overrides {
        Overrides::new(vec![Override {
            uid: "a".into(),
            project: "project".into(),
            statement: statement_key(title),
            pinned: None,
            rejected: Some(Rejection {
                kind: Some(Kind::Decision),
                ..Rejection::default()
            }),
            edit: None,
        }])
    }

    fn stripped(kind: Kind, title: &str, text: &str) -> Option<(String, String)> {
        let mut item = Item {
            kind,
            text: text.to_owned(),
            ..crate::testing::item("b", title)
        };
        let tells = rejecting("Use port 8080").strip_quotes(&mut item);
        tells.then_some((item.title, item.text))
    }

    #[test]
    fn sentences_that_quote_a_rejected_claim_go() {
        let text = "We use Port 8080. The rest works.\nPorts: use port 8080!";
        let kept = Some(("The API".to_owned(), "The rest works.".to_owned()));
        assert_eq!(
            stripped(Kind::Summary, "The API", text),
            kept.map(|(title, text)| { (title, format!(" {text}").trim().to_owned()) })
        );
        assert_eq!(
            stripped(Kind::Summary, "Use port 8080", "use port 8080"),
            None
        );
        let title = "Use port 8080 → it runs";
        let kept = stripped(Kind::Summary, title, "").unwrap();
        assert_eq!(kept.0, "it runs");
    }

    #[test]
    fn a_user_who_denies_a_claim_is_heard() {
        for words in ["Do not use port 8080", "No, don't use port 8080 any more."] {
            let kept = Some((words.to_owned(), String::new()));
            assert_eq!(stripped(Kind::Prompt, words, ""), kept, "{words}");
            assert_eq!(stripped(Kind::Correction, words, ""), kept, "{words}");
        }
        assert_eq!(stripped(Kind::Prompt, "Please use port 8080", ""), None);
    }

    #[test]
    fn an_edited_summary_tells_the_users_words_alone() {
        let mut item = Item {
            kind: Kind::Summary,
            detail: Some(
                serde_json::json!({"completed": ["a"], "notes": ["b"], "request": "r"}).into(),
            ),
            ..crate::testing::item("a", "Turn")
        };
        let edit = edit_words(&item, 1, None, Some("one\n\ntwo".to_owned()));
        let overrides = Overrides::new(vec![Override {
            edit: Some(edit),
            rejected: None,
            ..rejecting("x").0.remove(0)
        }]);
        item = overrides.apply_edit(&item, None).unwrap();
        let detail = serde_json::json!({"notes": ["one", "two"], "request": "r"});
        assert_eq!(item.detail, Some(detail.into()));
        assert_eq!(item.text, "one\n\ntwo");
    }
}
