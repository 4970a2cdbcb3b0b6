//! The one sentence about an edit, and its kind. The first thing done that
//! explains the edit leads; what follows from it is left to the facts.

use super::cut::one_line;
use super::detail::{self, GroupDetails};
use super::imports::format_import;
use super::story::{EditSummary, LineGroup};
use super::wording::{
    format_declarations, format_symbol, format_version, join_names, short_path, signature_change,
};
use super::{EditKind, MAX_TITLE_CHARS, fit_title};
use crate::symbols::{FilePurpose, Language, SymbolKind};

/// Whether a path is that of tests.
pub(super) fn is_test_path(path: &str) -> bool {
    let path = format!("/{}", path.replace('\\', "/").to_ascii_lowercase());
    let name = path.rsplit('/').next().unwrap_or("");
    ["/tests/", "/test/", "/__tests__/", "/spec/", "/testdata/"]
        .iter()
        .any(|d| path.contains(d))
        || name.starts_with("test_")
        || ["_test.", ".test.", ".spec.", "_spec.", "tests."]
            .iter()
            .any(|p| name.contains(p))
}

pub(super) struct Headline {
    pub(super) title: String,
    pub(super) kind: EditKind,
}

struct TitleWriter<'s, 'a> {
    story: &'s EditSummary<'a>,
    details: &'s [GroupDetails],
    path: String,
    nature: FilePurpose,
}

pub(super) fn render_title(
    path: &str,
    story: &EditSummary<'_>,
    details: &[GroupDetails],
) -> Headline {
    let writer = TitleWriter {
        story,
        details,
        path: short_path(path),
        nature: story.language.file_purpose(),
    };
    let (title, kind) = writer.render_headline();
    let kind = match kind {
        // Documentation and settings among the tests are still what they are.
        EditKind::Docs | EditKind::Config | EditKind::Test => kind,
        _ if is_test_path(path) => EditKind::Test,
        _ => kind,
    };
    Headline {
        title: fit_title(&title),
        kind,
    }
}

impl TitleWriter<'_, '_> {
    fn render_headline(&self) -> (String, EditKind) {
        // From what explains an edit to what follows from it: a renaming or a
        // new function brings changed lines with it, never the other way round.
        self.render_dependencies()
            .or_else(|| self.render_renamed())
            .or_else(|| self.render_declared())
            .or_else(|| self.render_handled())
            .or_else(|| self.render_signature())
            .or_else(|| self.render_values())
            .or_else(|| self.render_inside())
            .or_else(|| self.render_other())
            .unwrap_or_else(|| (format!("Changed {}", self.path), self.plain_kind()))
    }

    fn plain_kind(&self) -> EditKind {
        match self.nature {
            _ if matches!(self.story.language, Language::Docker | Language::Make) => {
                EditKind::Config
            }
            FilePurpose::Data => EditKind::Config,
            FilePurpose::Prose => EditKind::Docs,
            _ => EditKind::Change,
        }
    }

    fn render_dependencies(&self) -> Option<(String, EditKind)> {
        let list = &self.story.dependencies;
        let first = list.first()?;
        let path = &self.path;
        let title = match (&first.before, &first.after) {
            _ if list.len() > 1 => {
                let verb = if list.iter().all(|d| d.before.is_none()) {
                    "Added"
                } else if list.iter().all(|d| d.after.is_none()) {
                    "Removed"
                } else {
                    "Changed"
                };
                let names = join_names(list.iter().map(|d| d.name.clone()).collect());
                format!("{verb} {} dependencies in {path}: {names}", list.len())
            }
            (Some(_), Some(_)) if first.note.is_some() => {
                let note = first.note.as_deref().unwrap_or("");
                format!("Changed dependency {} in {path}: {note}", first.name)
            }
            (Some(old), Some(new)) => {
                let verb = if is_newer(old, new) { "Bumped" } else { "Set" };
                format!(
                    "{verb} {} {} -> {} in {path}",
                    first.name,
                    format_version(old),
                    format_version(new)
                )
            }
            (None, Some(new)) => {
                let version = if new.is_empty() {
                    String::new()
                } else {
                    format!(" {new}")
                };
                format!("Added dependency {}{version} to {path}", first.name)
            }
            _ => format!("Removed dependency {} from {path}", first.name),
        };
        Some((title, EditKind::Config))
    }

    fn render_renamed(&self) -> Option<(String, EditKind)> {
        let kind = match self.nature {
            FilePurpose::Code => EditKind::Refactor,
            _ => self.plain_kind(),
        };
        if let Some((from, to)) = self.story.renamed.first() {
            let word = if from.kind == SymbolKind::Section {
                "section "
            } else {
                ""
            };
            let more = match self.story.renamed.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            return Some((
                format!(
                    "Renamed {word}{} to {}{more} in {}",
                    format_symbol(from),
                    format_symbol(to),
                    self.path
                ),
                kind,
            ));
        }
        let (from, to, count) = self.story.replaced?;
        // One changed line is a swap of values, not a renaming.
        if count < 2 || self.nature != FilePurpose::Code {
            return None;
        }
        Some((
            format!(
                "Renamed `{from}` to `{to}` in {} ({count} lines)",
                self.path
            ),
            kind,
        ))
    }

    fn render_declared(&self) -> Option<(String, EditKind)> {
        let (added, removed) = (&self.story.added, &self.story.removed);
        let kind = match self.plain_kind() {
            EditKind::Change if self.nature == FilePurpose::Code => EditKind::Feature,
            other => other,
        };
        if let (Some(come), Some(gone)) = (added.first(), removed.first()) {
            // Something else in its place is no new feature.
            let kind = match kind {
                EditKind::Feature => EditKind::Change,
                other => other,
            };
            // One for one of the same kind is a replacement; with more it would
            // be a guess.
            if added.len() == 1 && removed.len() == 1 && come.symbol.kind == gone.symbol.kind {
                let title = format!(
                    "Replaced {} with {} in {}",
                    format_symbol(&gone.symbol),
                    format_symbol(&come.symbol),
                    self.path
                );
                return Some((title, kind));
            }
            let title = format!(
                "Added {}, removed {} in {}",
                format_declarations(self.story.language, added),
                format_declarations(self.story.language, removed),
                self.path
            );
            return Some((title, kind));
        }
        if !added.is_empty() {
            let tests = added.iter().all(|s| s.symbol.kind == SymbolKind::Test);
            let kind = if tests {
                EditKind::Test
            } else if kind == EditKind::Feature && !added.iter().any(|s| is_weighty(s.symbol.kind))
            {
                EditKind::Change
            } else {
                kind
            };
            return Some((self.render_added(), kind));
        }
        if removed.is_empty() {
            return None;
        }
        let kind = match self.nature {
            FilePurpose::Code if removed.iter().all(|s| s.symbol.kind == SymbolKind::Test) => {
                EditKind::Test
            }
            FilePurpose::Code if kind == EditKind::Feature => EditKind::Refactor,
            _ => self.plain_kind(),
        };
        Some((
            format!(
                "Removed {} from {}",
                format_declarations(self.story.language, removed),
                self.path
            ),
            kind,
        ))
    }

    fn render_added(&self) -> String {
        let added = &self.story.added;
        let mut title = format!(
            "Added {} to {}",
            format_declarations(self.story.language, added),
            self.path
        );
        if let [only] = added.as_slice() {
            let value = detail::value_of(only.symbol.kind, only.text);
            let valued = matches!(
                only.symbol.kind,
                SymbolKind::Key | SymbolKind::Constant | SymbolKind::Field | SymbolKind::Column
            );
            if valued && !value.is_empty() {
                title = format!("{title}: {}", one_line(value, 40));
            }
        }
        let changed: Vec<String> = self
            .story
            .groups
            .iter()
            .filter_map(|g| g.symbol.as_ref())
            .chain(self.story.signatures.iter().map(|s| &s.symbol))
            .chain(self.story.values.iter().map(|s| &s.symbol))
            .filter(|s| s.kind != SymbolKind::Impl)
            .map(format_symbol)
            .collect();
        if changed.is_empty() {
            return title;
        }
        let longer = format!("{title}, changed {}", join_names(changed));
        if longer.chars().count() <= MAX_TITLE_CHARS {
            longer
        } else {
            title
        }
    }

    fn render_handled(&self) -> Option<(String, EditKind)> {
        if self.nature != FilePurpose::Code {
            return None;
        }
        let at = self.details.iter().position(|d| d.handled.is_some())?;
        let case = self.details[at].handled.as_ref()?;
        let title = match &self.story.groups[at].symbol {
            Some(symbol) => format!(
                "Handled {case} in {} ({})",
                format_symbol(symbol),
                self.path
            ),
            None => format!("Handled {case} in {}", self.path),
        };
        Some((title, EditKind::Bugfix))
    }

    fn render_signature(&self) -> Option<(String, EditKind)> {
        let change = self.story.signatures.first()?;
        let how = signature_change(change.old, change.new);
        let what = if change.symbol.kind.is_body() {
            "signature of "
        } else {
            ""
        };
        let kind = if change.symbol.kind == SymbolKind::Test {
            EditKind::Test
        } else {
            self.plain_kind()
        };
        Some((
            format!(
                "Changed {what}{} in {}: {how}",
                format_symbol(&change.symbol),
                self.path
            ),
            kind,
        ))
    }

    fn render_values(&self) -> Option<(String, EditKind)> {
        let first = self.story.values.first()?;
        let kind = self.plain_kind();
        if self.story.values.len() > 1 {
            let names = join_names(
                self.story
                    .values
                    .iter()
                    .map(|v| format_symbol(&v.symbol))
                    .collect(),
            );
            let title = format!("Changed {names} in {}", self.path);
            let longer = format!("{title}: {}", detail::describe_value(first));
            let title = if longer.chars().count() <= MAX_TITLE_CHARS {
                longer
            } else {
                title
            };
            return Some((title, kind));
        }
        Some((
            format!(
                "Changed {} in {}: {}",
                format_symbol(&first.symbol),
                self.path,
                detail::describe_value(first)
            ),
            kind,
        ))
    }

    fn render_inside(&self) -> Option<(String, EditKind)> {
        let groups = &self.story.groups;
        if self.nature == FilePurpose::Prose {
            return (!groups.is_empty()).then(|| (self.render_sections(), EditKind::Docs));
        }
        // What has a name says more than the top of the file.
        let at = groups.iter().position(|g| g.symbol.is_some()).unwrap_or(0);
        let group = groups.get(at)?;
        let details = &self.details[at];
        let kind = match group.symbol.as_ref().map(|s| s.kind) {
            Some(SymbolKind::Test) => EditKind::Test,
            _ if details.condition && self.nature == FilePurpose::Code => EditKind::Bugfix,
            _ if details.formatting => EditKind::Refactor,
            _ => self.plain_kind(),
        };
        if details.formatting && self.details.iter().all(|d| d.formatting) {
            return Some((
                format!("Reformatted {}", self.format_location(group)),
                EditKind::Refactor,
            ));
        }
        if let Some(title) = self.render_membership(group) {
            return Some((title, kind));
        }
        let others: Vec<String> = groups
            .iter()
            .filter_map(|g| g.symbol.as_ref())
            .map(format_symbol)
            .collect();
        if others.len() > 1 {
            let title = format!("Changed {} in {}", join_names(others), self.path);
            let longer = details.lines.first().map(|l| format!("{title}: {l}"));
            let title = longer
                .filter(|l| l.chars().count() <= MAX_TITLE_CHARS)
                .unwrap_or(title);
            return Some((title, kind));
        }
        let title = format!("Changed {}", self.format_location(group));
        let Some(first) = details.lines.first() else {
            return Some((title, kind));
        };
        let title = match first.split_once("` -> `") {
            // The new code says more than half of both.
            Some((_, new))
                if title.chars().count() + first.chars().count() + 2 > MAX_TITLE_CHARS =>
            {
                format!("{title}: now `{new}")
            }
            _ => format!("{title}: {first}"),
        };
        let longer = details.lines.get(1).map(|l| format!("{title}; {l}"));
        Some((
            longer
                .filter(|l| l.chars().count() <= MAX_TITLE_CHARS)
                .unwrap_or(title),
            kind,
        ))
    }

    fn format_location(&self, group: &LineGroup<'_>) -> String {
        match &group.symbol {
            Some(symbol) => format!("{} in {}", format_symbol(symbol), self.path),
            None => self.path.clone(),
        }
    }

    /// Lines that came to, or went from, something that is a list of lines.
    fn render_membership(&self, group: &LineGroup<'_>) -> Option<String> {
        let symbol = group.symbol.as_ref()?;
        let lists = matches!(
            symbol.kind,
            SymbolKind::Struct
                | SymbolKind::Enum
                | SymbolKind::Interface
                | SymbolKind::Type
                | SymbolKind::Constant
                | SymbolKind::Table
                | SymbolKind::Key
                | SymbolKind::Selector
                | SymbolKind::Class
                | SymbolKind::Trait
        );
        if !lists || !group.pairs.is_empty() || self.story.groups.len() > 1 {
            return None;
        }
        let (verb, joint, lines) = match (group.come.as_slice(), group.gone.as_slice()) {
            ([], lines) => ("Removed", "from", lines),
            (lines, []) => ("Added", "to", lines),
            _ => return None,
        };
        let items: Vec<String> = lines
            .iter()
            .map(|l| detail::format_code(l.trim_start_matches("- "), 40))
            .filter(|l| l.chars().any(char::is_alphanumeric))
            .map(|l| format!("`{l}`"))
            .collect();
        if items.is_empty() {
            return None;
        }
        Some(format!(
            "{verb} {} {joint} {} in {}",
            join_names(items),
            format_symbol(symbol),
            self.path
        ))
    }

    fn render_sections(&self) -> String {
        let groups = &self.story.groups;
        let named: Vec<String> = groups
            .iter()
            .filter_map(|g| g.symbol.as_ref())
            .map(format_symbol)
            .collect();
        let title = match named.len() {
            0 => format!("Updated {}", self.path),
            1 => format!("Updated section {} of {}", named[0], self.path),
            _ => return format!("Updated sections {} of {}", join_names(named), self.path),
        };
        let first = self.details.iter().flat_map(|d| &d.lines).next();
        let longer = first.map(|l| format!("{title}: {l}"));
        longer
            .filter(|l| l.chars().count() <= MAX_TITLE_CHARS)
            .unwrap_or(title)
    }

    /// Nothing but imports, comments, moves.
    fn render_other(&self) -> Option<(String, EditKind)> {
        let story = self.story;
        if let Some(symbol) = story.moved.first() {
            return Some((
                format!("Moved {} within {}", format_symbol(symbol), self.path),
                EditKind::Refactor,
            ));
        }
        if let Some((holder, _)) = story.documented.first() {
            let before = story
                .documented
                .iter()
                .any(|(_, side)| *side == super::patch::DiffSide::Gone);
            let after = story
                .documented
                .iter()
                .any(|(_, side)| *side == super::patch::DiffSide::Come);
            let verb = match (before, after) {
                (false, true) => "Documented",
                (true, true) => "Reworded the docs of",
                _ => "Removed the docs of",
            };
            let title = match holder {
                Some(symbol) => format!("{verb} {} in {}", format_symbol(symbol), self.path),
                None => format!("{verb} {}", self.path),
            };
            return Some((title, EditKind::Docs));
        }
        if let Some(first) = story.imported.first() {
            let more = if story.imported.len() > 1 {
                format!(" and {} more", story.imported.len() - 1)
            } else {
                String::new()
            };
            return Some((
                format!(
                    "Imported {}{more} in {}",
                    format_import(first, 60),
                    self.path
                ),
                EditKind::Change,
            ));
        }
        if let Some(first) = story.unimported.first() {
            return Some((
                format!(
                    "Removed import {} in {}",
                    format_import(first, 60),
                    self.path
                ),
                EditKind::Refactor,
            ));
        }
        let (holder, comment) = story.comments.last()?;
        let text = comment
            .trim_start_matches(['/', '#', '*', '-', ';', '<', '!', ' '])
            .trim_end_matches(['*', '/', '-', '>', ' ']);
        let place = match holder {
            Some(symbol) => format!("{} ({})", format_symbol(symbol), self.path),
            None => self.path.clone(),
        };
        Some((
            format!("Changed a comment in {place}: {}", one_line(text, 60)),
            EditKind::Docs,
        ))
    }
}

/// Whether adding it adds something that can be done.
fn is_weighty(kind: SymbolKind) -> bool {
    !matches!(
        kind,
        SymbolKind::Constant
            | SymbolKind::Field
            | SymbolKind::Key
            | SymbolKind::Module
            | SymbolKind::Selector
    )
}

fn is_newer(old: &str, new: &str) -> bool {
    let numbers = |v: &str| -> Vec<u64> {
        v.split(|c: char| !c.is_ascii_digit())
            .filter(|p| !p.is_empty())
            .filter_map(|p| p.parse().ok())
            .collect()
    };
    let (old, new) = (numbers(old), numbers(new));
    !old.is_empty() && new > old
}
