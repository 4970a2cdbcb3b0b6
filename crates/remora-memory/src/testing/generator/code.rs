//! Source files that look like source files, and edits of them.

use serde_json::{Value, json};

use super::chance::Dice;

const RUST: &[&str] = &[
    "    let {a} = {b}.get({c})?;",
    "    let {a} = self.{b}.iter().filter(|{c}| {c}.is_some()).count();",
    "    if {a}.len() > {n} {\n        return Err(Error::{B}({n}));\n    }",
    "    for {a} in &self.{b} {\n        {c}.push({a}.clone());\n    }",
    "    match {a} {\n        Some({b}) => self.{c}({b}),\n        None => return Ok({n}),\n    }",
    "    // The {a} must be known before the {b} is asked for its {c}.",
    "    self.{a}.insert(\"{b}\".to_owned(), {c});",
    "    debug_assert!({a} <= {b}, \"{c} out of range\");",
];
const PYTHON: &[&str] = &[
    "    {a} = self.{b}.get(\"{c}\", {n})",
    "    if not {a}:\n        raise ValueError(f\"no {b} in {{c}}\")",
    "    for {a} in {b}.items():\n        {c}.append({a})",
    "    {a} = [{b} for {b} in {c} if {b} is not None]",
    "    # The {a} is read once, the {b} whenever the {c} changes.",
    "    logger.info(\"%s: %d of {b}\", {a}, len({c}))",
    "    with self.{a}.lock():\n        self.{b} += {n}",
];
const SCRIPT: &[&str] = &[
    "  const {a} = await this.{b}.{c}({n});",
    "  if ({a} === undefined) {\n    throw new Error(`no {b} for ${{c}}`);\n  }",
    "  const { {a}, {b} } = props.{c};",
    "  {a}.forEach(({b}) => this.{c}.set({b}.id, {b}));",
    "  // The {a} comes late when the {b} is cold.",
    "  return <{A} {b}={{c}} size={{n}} />;",
    "  logger.debug('{a}', { {b}, {c} });",
];

/// A language: its ending, its statements, and how a function begins and ends.
#[derive(Debug)]
struct Language {
    ending: &'static str,
    import: &'static str,
    open: &'static str,
    close: &'static str,
    statements: &'static [&'static str],
}

const LANGUAGES: &[&Language] = &[
    &Language {
        ending: "rs",
        import: "use crate::{a}::{B};",
        open: "/// Takes the {b} of a {c}.\npub fn {a}({b}: &{B}, {c}: usize) -> Result<usize, Error> {",
        close: "    Ok({a})\n}",
        statements: RUST,
    },
    &Language {
        ending: "py",
        import: "from {a} import {B}",
        open: "def {a}(self, {b}, {c}=None):\n    \"\"\"Takes the {b} of a {c}.\"\"\"",
        close: "    return {a}",
        statements: PYTHON,
    },
    &Language {
        ending: "ts",
        import: "import { {B} } from './{a}';",
        open: "export async function {a}({b}: {B}, {c}: number): Promise<number> {",
        close: "  return {a};\n}",
        statements: SCRIPT,
    },
];

#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) path: String,
    pub(super) text: String,
    language: &'static Language,
}

/// An edit as the agent tells it.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) patch: Value,
}

impl SourceFile {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let language = dice.pick(LANGUAGES);
        let mut lines = Vec::new();
        for _ in 0..2 + dice.below(8) {
            lines.push(filled(dice, language.import));
        }
        // Most files are short, a few are long.
        let functions = match dice.below(10) {
            0 => 30 + dice.below(30),
            1..4 => 12 + dice.below(14),
            _ => 3 + dice.below(9),
        };
        for _ in 0..functions {
            lines.push(String::new());
            lines.push(filled(dice, language.open));
            for _ in 0..3 + dice.below(9) {
                lines.push(statement(dice, language));
            }
            lines.push(filled(dice, language.close));
        }
        let mut text = lines.join("\n");
        text.push('\n');
        Self {
            path: format!(
                "src/{}/{}_{}.{}",
                dice.word(),
                dice.name(),
                dice.below(100),
                language.ending
            ),
            text,
            language,
        }
    }

    /// Puts other statements in the place of a few lines.
    pub(super) fn change(&mut self, dice: &mut Dice) -> Change {
        let lines: Vec<&str> = self.text.lines().collect();
        let count = lines.len() as u64;
        let from = usize::try_from(dice.below(count)).unwrap_or_default();
        let many = usize::try_from(1 + dice.below(4)).unwrap_or(1);
        let to = (from + many).min(lines.len());
        let old: Vec<&str> = lines[from..to].to_vec();
        let mut new = Vec::new();
        for _ in 0..=dice.below(5) {
            let made = statement(dice, self.language);
            new.extend(made.lines().map(str::to_owned));
        }
        let (before, after) = (from.saturating_sub(3), (to + 3).min(lines.len()));
        let with = |sign: char, lines: &[&str]| -> Vec<String> {
            lines.iter().map(|line| format!("{sign}{line}")).collect()
        };
        let fresh: Vec<&str> = new.iter().map(String::as_str).collect();
        let shown = [
            with(' ', &lines[before..from]),
            with('-', &old),
            with('+', &fresh),
            with(' ', &lines[to..after]),
        ]
        .concat();
        let around = after - before - old.len();
        let change = Change {
            old: old.join("\n"),
            new: new.join("\n"),
            patch: json!({
                "oldStart": before + 1, "oldLines": around + old.len(),
                "newStart": before + 1, "newLines": around + new.len(),
                "lines": shown,
            }),
        };
        let mut text = [&lines[..from], &fresh, &lines[to..]].concat().join("\n");
        text.push('\n');
        self.text = text;
        change
    }
}

fn statement(dice: &mut Dice, language: &Language) -> String {
    let template = dice.pick(language.statements);
    filled(dice, template)
}

fn filled(dice: &mut Dice, template: &str) -> String {
    let (a, b, c) = (dice.name(), dice.name(), dice.name());
    template
        .replace("{A}", &typed(&a))
        .replace("{B}", &typed(&b))
        .replace("{a}", &a)
        .replace("{b}", &b)
        .replace("{c}", &c)
        .replace("{n}", &dice.below(1000).to_string())
}

/// `order_entry` as the name of a type.
fn typed(name: &str) -> String {
    name.split('_')
        .flat_map(|part| {
            let mut letters = part.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(letters)
        })
        .collect()
}
