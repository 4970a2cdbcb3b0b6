//! Which lines of code a turn added and removed, as short hashes. A later turn that
//! removes what an earlier one added is the best sign that the earlier one no longer
//! holds: people change a decision without naming the old one, but its code goes
//! (docs/design/0028).

use remora_core::hash::stable_hash;
use remora_core::record::Item;

/// Letters and digits that a line must have to be distinctive: a brace or an `if`
/// is in every file.
const MIN_LINE_CHARS: usize = 4;
/// Hashes that are kept of a turn, on each side: at most 2 KB per checkpoint.
const MAX_LINE_HASHES: usize = 96;

/// The hashes of the lines that a turn added and removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangedLines {
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
}

/// The net effect of a turn's edits: a line that one adds and the next removes was
/// never seen by a later turn.
pub(crate) fn changed_lines<'a>(steps: impl Iterator<Item = &'a Item>) -> ChangedLines {
    let mut changed = ChangedLines::default();
    for step in steps.filter(|step| !step.files_modified.is_empty()) {
        for line in step.text.lines() {
            let Some(sign) = line.chars().next().filter(|sign| "+-".contains(*sign)) else {
                continue;
            };
            let Some(print) = line_print(&line[1..]) else {
                continue;
            };
            let (to, from) = if sign == '+' {
                (&mut changed.added, &mut changed.removed)
            } else {
                (&mut changed.removed, &mut changed.added)
            };
            if let Some(at) = from.iter().position(|known| *known == print) {
                from.remove(at);
            } else if to.len() < MAX_LINE_HASHES && !to.contains(&print) {
                to.push(print);
            }
        }
    }
    changed
}

/// The hash of a line without its indentation, as eight digits; `None` if it is not
/// distinctive.
fn line_print(line: &str) -> Option<String> {
    let line = line.trim();
    let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
    let print = || format!("{:08x}", stable_hash(line.as_bytes()) & 0xffff_ffff);
    (letters >= MIN_LINE_CHARS).then(print)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::item;

    fn edit(text: &str) -> Item {
        Item {
            text: text.to_owned(),
            files_modified: vec!["a.rs".to_owned()],
            ..item("e", "")
        }
    }

    #[test]
    fn what_a_turn_puts_in_and_takes_out_again_is_nothing() {
        let steps = [
            edit("@@ LIMIT\n-const LIMIT: u32 = 3;\n+const LIMIT: u32 = 8;\n+}\n"),
            edit("@@ LIMIT\n-  const LIMIT: u32 = 8;\n+const LIMIT: u32 = 5;\n"),
        ];
        let changed = changed_lines(steps.iter());
        let print = |line| line_print(line).into_iter().collect::<Vec<_>>();
        assert_eq!(changed.added, print("const LIMIT: u32 = 5;"));
        assert_eq!(changed.removed, print("const LIMIT: u32 = 3;"));
    }

    #[test]
    fn output_of_a_command_is_no_change() {
        let mut step = edit("+ cargo build --release\n- something else\n");
        step.files_modified.clear();
        assert_eq!(changed_lines([step].iter()), ChangedLines::default());
    }
}
