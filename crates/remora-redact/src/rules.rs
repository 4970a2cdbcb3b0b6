//! The kinds of secret that are known by their own shape. The rules are data,
//! in `rules.toml`; this reads them.

use std::sync::LazyLock;

use toml_edit::{Document, Item, Table};

/// One rule, as the file describes it.
#[derive(Debug)]
pub(super) struct RedactionRule {
    /// The kind that the mark names.
    pub(super) id: String,
    pub(super) regex: String,
    /// Literals of which every secret of this kind contains one.
    pub(super) keywords: Vec<String>,
    /// Bits for each character that the secret must reach; with it, letters and
    /// digits must be mixed as no word mixes them.
    pub(super) entropy: Option<f64>,
    /// The group that is the secret; else the first, or the whole.
    pub(super) secret_group: Option<usize>,
    /// How many bytes before the keyword the match may begin.
    pub(super) before: usize,
}

/// Read once in a process: marks borrow their kind from here.
static BUILT_IN_RULES: LazyLock<Option<Vec<RedactionRule>>> =
    LazyLock::new(|| parse_rules(include_str!("rules.toml")));

/// The rules that are compiled in; nothing only if the file is broken, which a
/// test rules out.
pub(super) fn built_in() -> Option<&'static [RedactionRule]> {
    BUILT_IN_RULES.as_deref()
}

fn parse_rules(text: &str) -> Option<Vec<RedactionRule>> {
    let document = Document::parse(text).ok()?;
    let rules = document.as_table().get("rules")?.as_array_of_tables()?;
    rules.iter().map(read_rule).collect()
}

fn read_rule(table: &Table) -> Option<RedactionRule> {
    let text = |key: &str| Some(table.get(key)?.as_str()?.to_owned());
    let number = |key: &str| usize::try_from(table.get(key)?.as_integer()?).ok();
    let keywords = table.get("keywords")?.as_array()?;
    Some(RedactionRule {
        id: text("id")?,
        regex: text("regex")?,
        keywords: keywords
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect::<Option<_>>()?,
        entropy: table.get("entropy").and_then(Item::as_float),
        secret_group: number("secretGroup"),
        before: number("before").unwrap_or(0),
    })
}
