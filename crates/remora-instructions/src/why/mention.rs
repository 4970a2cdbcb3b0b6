//! Lines of loaded files that try to name a file and do not.

use std::path::Path;

use super::{Names, Out};
use crate::Instructions;
use crate::lint::sheet::{Sheet, mend, reason};

/// The line that comes closest to importing the file.
pub(super) fn judge(session: &Instructions, probe: &Instructions, names: &Names) -> Option<Out> {
    let home = &session.scene.places.home;
    let files = probe
        .start
        .files
        .iter()
        .chain(&probe.later)
        .chain(&session.later);
    let sheets = Sheet::all(files);
    for sheet in &sheets {
        let at = |line: usize| format!("{} line {line}", sheet.path.display());
        let misses = sheet.misses(home).into_iter();
        if let Some((named, why)) = misses
            .into_iter()
            .find(|(named, _)| names.are(&named.target))
        {
            let text = format!(
                "is not imported: @{} in {} {}",
                named.token,
                at(named.line),
                reason(why)
            );
            return Some(Out::new("broken-import", text).advice(mend(why)));
        }
        for named in sheet.imports(home) {
            if names
                .each()
                .any(|name| differs_in_case(name, &named.target))
            {
                let text = format!(
                    "is not imported: {} writes @{}, in another case",
                    at(named.line),
                    named.token
                );
                return Some(
                    Out::new("wrong-case", text).advice("write the name as the file has it"),
                );
            }
        }
    }
    None
}

/// A line that names the file, but not as an import.
pub(super) fn without_at(probe: &Instructions, names: &Names) -> Option<Out> {
    for sheet in Sheet::all(probe.start.files.iter().chain(&probe.later)) {
        let Ok(relative) = names.listed.strip_prefix(&sheet.folder) else {
            continue;
        };
        let relative = relative.to_string_lossy();
        let mut lines = sheet.body().lines().enumerate();
        if let Some((at, _)) = lines.find(|(_, line)| holds(line, &relative)) {
            let text = format!(
                "is named in {} line {}, but without an @, so it is not imported",
                sheet.path.display(),
                sheet.line(at + 1)
            );
            let advice = format!(
                "write @{} to have it in the prompt",
                relative.replace(' ', "\\ ")
            );
            return Some(Out::new("named-only", text).advice(advice));
        }
    }
    None
}

/// Whether a name stands in a line as a word of its own.
fn holds(line: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_');
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].strip_suffix("./").unwrap_or(&line[..at]);
        !before.ends_with(part)
            && !before.ends_with('.')
            && !line[at + name.len()..].starts_with(part)
    })
}

fn differs_in_case(a: &Path, b: &Path) -> bool {
    a != b && a.to_string_lossy().to_lowercase() == b.to_string_lossy().to_lowercase()
}
