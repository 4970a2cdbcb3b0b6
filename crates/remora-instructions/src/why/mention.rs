//! Lines of loaded files that try to name a file and do not.

use std::path::Path;

use super::{FileNames, Omission};
use crate::Instructions;
use crate::lint::sheet::{LintFile, describe_reason, suggest_fix};

/// The line that comes closest to importing the file.
pub(super) fn find_broken_import(
    session: &Instructions,
    probe: &Instructions,
    names: &FileNames,
) -> Option<Omission> {
    let home = &session.context.places.home;
    let files = probe
        .start
        .files
        .iter()
        .chain(&probe.later)
        .chain(&session.later);
    // Files of the probe and of the session: what came on demand may name the file, too.
    let sheets = LintFile::read_loaded(files);
    for sheet in &sheets {
        let at = |line: usize| format!("{} line {line}", sheet.path.display());
        let misses = sheet.list_near_imports(home).into_iter();
        if let Some((named, why)) = misses
            .into_iter()
            .find(|(named, _)| names.contains_path(&named.target))
        {
            let text = format!(
                "is not imported: @{} in {} {}",
                named.token,
                at(named.line),
                describe_reason(why)
            );
            return Some(Omission::new("broken-import", text).with_advice(suggest_fix(why)));
        }
        for named in sheet.list_imports(home) {
            if names
                .list_names()
                .any(|name| differs_in_case(name, &named.target))
            {
                let text = format!(
                    "is not imported: {} writes @{}, in another case",
                    at(named.line),
                    named.token
                );
                return Some(
                    Omission::new("wrong-case", text)
                        .with_advice("write the name as the file has it"),
                );
            }
        }
    }
    None
}

/// A line that names the file, but not as an import.
pub(super) fn without_at(probe: &Instructions, names: &FileNames) -> Option<Omission> {
    for sheet in LintFile::read_loaded(probe.start.files.iter().chain(&probe.later)) {
        let Ok(relative) = names.listed.strip_prefix(&sheet.folder) else {
            continue;
        };
        let relative = relative.to_string_lossy();
        let mut lines = sheet.body().lines().enumerate();
        if let Some((at, _)) = lines.find(|(_, line)| contains_name(line, &relative)) {
            let text = format!(
                "is named in {} line {}, but without an @, so it is not imported",
                sheet.path.display(),
                sheet.file_line(at + 1)
            );
            let advice = format!(
                "write @{} to have it in the prompt",
                relative.replace(' ', "\\ ")
            );
            return Some(Omission::new("named-only", text).with_advice(advice));
        }
    }
    None
}

/// Whether a line contains a name as a word of its own.
fn contains_name(line: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_');
    line.match_indices(name).any(|(at, _)| {
        // `./docs/a.md` names the same file; `xdocs/a.md` and `docs/a.md-old` do not.
        let before = line[..at].strip_suffix("./").unwrap_or(&line[..at]);
        !before.ends_with(part)
            && !before.ends_with('.')
            && !line[at + name.len()..].starts_with(part)
    })
}

fn differs_in_case(a: &Path, b: &Path) -> bool {
    a != b && a.to_string_lossy().to_lowercase() == b.to_string_lossy().to_lowercase()
}
