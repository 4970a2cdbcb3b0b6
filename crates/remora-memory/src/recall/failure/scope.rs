//! Whether a fix is about what only its own error names: another module, table or
//! file in the same words is another error then. A fix that is a habit, such as a
//! command or a setting, mends the same words about anything.

use std::cell::{Cell, OnceCell};

use remora_core::detail::DetailList;
use remora_core::record::Item;

use super::subject_words::SubjectWords;
use crate::fix;

/// Endings of files that are code: a change in one mends what the error names.
const CODE_ENDINGS: &[&str] = &[
    "c", "cc", "cpp", "cs", "cxx", "dart", "ex", "exs", "go", "h", "hpp", "hs", "java", "js",
    "jsx", "kt", "lua", "m", "ml", "php", "pl", "py", "rb", "rs", "scala", "sql", "svelte",
    "swift", "ts", "tsx", "vue", "zig",
];
/// Parts of the names of code that holds settings.
const SETTING_NAMES: &[&str] = &[
    "config",
    "settings",
    "conftest",
    "setup",
    "environment",
    "migration",
];

/// Whether the change of a fix is a command, an option or a setting.
pub(super) fn is_habit(fix: &Item) -> bool {
    fix.files_modified.iter().all(|file| is_setting(file))
}

fn is_setting(file: &str) -> bool {
    let lower = file.to_lowercase();
    !is_code(file) || SETTING_NAMES.iter().any(|name| lower.contains(name))
}

fn is_code(file: &str) -> bool {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    CODE_ENDINGS.contains(&ending)
}

/// What an error that was just met speaks of.
pub(super) struct FixScope<'e> {
    command: &'e str,
    printed: &'e str,
    words: OnceCell<SubjectWords>,
    has_refused: Cell<bool>,
}

impl<'e> FixScope<'e> {
    pub(super) fn new(command: &'e str, printed: &'e str) -> Self {
        Self {
            command,
            printed,
            words: OnceCell::new(),
            has_refused: Cell::new(false),
        }
    }

    /// Whether a fix of the same message mends this error: what it changes is nothing
    /// that only its own error names. `says` are the messages of this one.
    pub(super) fn takes(&self, fix: &Item, says: &[String]) -> bool {
        let is_about_other = self.is_about_other(fix, says);
        if is_about_other {
            self.has_refused.set(true);
        }
        !is_about_other
    }

    /// Whether a fix of the same message was about something else. What was said of
    /// that error is about something else, too.
    pub(super) fn has_refused(&self) -> bool {
        self.has_refused.get()
    }

    fn is_about_other(&self, fix: &Item, says: &[String]) -> bool {
        let met = self.words.get_or_init(|| {
            let mut words = SubjectWords::default();
            words.add_text(self.command);
            words.add_text(self.printed);
            for said in says {
                words.add_text(said);
            }
            words
        });
        let mut error = SubjectWords::default();
        for said in fix.detail_list(DetailList::Says) {
            error.add_text(said);
        }
        let mut change = SubjectWords::default();
        let steps = fix
            .facts
            .iter()
            .filter_map(|fact| fact.strip_prefix("fix: "));
        for step in steps.chain([fix::change_title(fix)]) {
            change.add_text(&touched_by(step, fix));
        }
        // The number of a lock or a process is another one each time.
        let has_digit = |word: &str| word.bytes().any(|b| b.is_ascii_digit());
        change
            .iter()
            .any(|word| error.holds(word) && !met.holds(word) && !has_digit(word))
    }
}

/// What a step changes by name: the arguments of a command, or the keys of a
/// setting. Code is changed where the error was met, so its names say nothing.
fn touched_by(step: &str, fix: &Item) -> String {
    if let Some(line) = step.strip_prefix("Ran `") {
        // The program is no name of the error.
        let arguments = line.split_once(' ').map_or("", |(_, arguments)| arguments);
        return arguments.to_owned();
    }
    if fix.files_modified.iter().any(|file| is_code(file)) {
        return String::new();
    }
    let quoted: Vec<&str> = step.split('`').skip(1).step_by(2).collect();
    quoted.join(" ")
}
