//! How closely a step between a failure and the pass is related to the error:
//! whether it touches what the error names, or the file in which it occurred.

use std::collections::HashSet;

use remora_core::detail::DetailList;
use remora_core::record::Item;

use crate::words::is_stop;

/// From this score on a step counts as the fix.
pub(super) const MIN_FIX_RELEVANCE: u32 = 2;
/// The most that shared names count, and what an identifier counts.
const MAX_NAME_SCORE: u32 = 4;
const SYMBOL_SCORE: u32 = 2;
/// Bytes of a step's text that are read.
const MAX_TEXT_BYTES: usize = 4_000;

/// Titles of steps that change no code begin with these.
const WORDING_TITLE_STARTS: &[&str] = &["Changed a comment", "Reworded ", "Updated section"];
/// Titles of steps that only import a name begin with these.
const IMPORT_TITLE_STARTS: &[&str] = &["Imported ", "Removed import "];
/// Endings of file names, which say where an error is and not what it is about.
const SOURCE_ENDINGS: &[&str] = &[
    ".go", ".rs", ".py", ".ts", ".tsx", ".js", ".jsx", ".java", ".kt", ".rb", ".c", ".cpp", ".h",
    ".cs", ".swift", ".php", ".ex", ".toml", ".json", ".yaml", ".yml", ".md", ".sql", ".tf",
];

/// What an error names.
pub(super) struct FixRelevance<'a> {
    failure: &'a Item,
    names: HashSet<&'a str>,
}

impl<'a> FixRelevance<'a> {
    pub(super) fn from_failure(failure: &'a Item) -> Self {
        let told = failure.facts.iter().skip(1).map(String::as_str);
        let names = failure
            .detail_list(DetailList::Says)
            .chain(told)
            .flat_map(names_in);
        Self {
            failure,
            names: names.collect(),
        }
    }

    /// How closely a step is related to the error.
    pub(super) fn score_step(&self, step: &Item) -> u32 {
        let begins = |starts: &[&str]| starts.iter().any(|start| step.title.starts_with(start));
        if begins(WORDING_TITLE_STARTS) || is_about_tests(step) {
            return 0;
        }
        let on_names = self.on_names(step);
        if begins(IMPORT_TITLE_STARTS) && on_names == 0 {
            return 0;
        }
        on_names + self.on_files(step)
    }

    fn on_names(&self, step: &Item) -> u32 {
        let end = step.text.floor_char_boundary(MAX_TEXT_BYTES);
        let changed = step.text[..end]
            .lines()
            .filter(|line| line.starts_with(['+', '-']));
        let line = step.facts.first().map(String::as_str);
        let texts = changed.chain([step.title.as_str()]).chain(line);
        let shared: HashSet<&str> = texts
            .flat_map(names_in)
            .filter(|name| self.names.contains(name))
            .collect();
        let weight = |name: &&str| if is_symbol(name) { SYMBOL_SCORE } else { 1 };
        shared.iter().map(weight).sum::<u32>().min(MAX_NAME_SCORE)
    }

    fn on_files(&self, step: &Item) -> u32 {
        let touches = |file: &String| {
            let name = file.rsplit('/').next().unwrap_or(file);
            let named = self.failure.facts.iter().any(|fact| fact.contains(name));
            if named || self.failure.files_read.contains(file) {
                MIN_FIX_RELEVANCE
            } else {
                // Less for a file in the text: a trace names many.
                u32::from(self.failure.text.contains(name))
            }
        };
        step.files_modified.iter().map(touches).max().unwrap_or(0)
    }
}

/// Whether a step only adds or removes tests: that does not make another test pass.
pub(super) fn is_about_tests(step: &Item) -> bool {
    let verbs = ["Added ", "Removed "];
    let mut tests = verbs
        .iter()
        .filter_map(|verb| step.title.strip_prefix(verb))
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' '));
    tests.any(|rest| rest.starts_with("test ") || rest.starts_with("tests "))
}

/// `retryCount`, `retry_count`, `RetryCount`: not shared by chance.
fn is_symbol(name: &str) -> bool {
    let inner = name.get(1..).unwrap_or_default();
    inner.contains('_') || inner.contains(char::is_lowercase) && inner.contains(char::is_uppercase)
}

/// Words that may be names, without those of every error.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    const COMMON_WORDS: &[&str] = &[
        "error",
        "errors",
        "failed",
        "failure",
        "fail",
        "test",
        "tests",
        "expected",
        "got",
        "want",
        "undefined",
        "imported",
        "used",
        "call",
        "value",
        "type",
        "file",
        "line",
        "added",
        "changed",
        "removed",
        "ran",
        "fix",
        "main",
        "string",
        "command",
        "exit",
        "code",
    ];
    text.split_whitespace()
        .filter(|word| !is_place(word))
        .flat_map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| word.len() > 2 && word.contains(char::is_alphabetic))
        .filter(|word| !COMMON_WORDS.contains(&word.to_lowercase().as_str()) && !is_stop(word))
}

/// Whether a word is a file or a place in one; files are compared separately.
fn is_place(word: &str) -> bool {
    let file = word.split(':').next().unwrap_or(word);
    !word.starts_with(['`', '\'', '"'])
        && (file.contains('/') || SOURCE_ENDINGS.iter().any(|end| file.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::FixRelevance;
    use crate::testing::item;

    #[test]
    fn a_step_that_touches_what_the_error_names_bears_on_it() {
        let mut failure = item("f", "go build: undefined: fmt");
        failure.facts = vec![
            "$ go build".into(),
            "a/smart_test.go:3: undefined: fmt".into(),
        ];
        failure.detail = Some(json!({"says": ["undefined: fmt"]}).into());
        let step = |title: &str, file: &str| {
            let mut step = item(title, title);
            step.files_modified = vec![file.to_owned()];
            step
        };
        let bearing = FixRelevance::from_failure(&failure);
        let import = bearing.score_step(&step(
            "Imported `fmt` in a/smart_test.go",
            "a/smart_test.go",
        ));
        let beside = bearing.score_step(&step(
            "Changed `host` in a/smart_test.go",
            "a/smart_test.go",
        ));
        let apart = bearing.score_step(&step("Reworded the docs of main.go", "main.go"));
        assert!(
            import > beside && beside > apart,
            "{import} {beside} {apart}"
        );
    }
}
