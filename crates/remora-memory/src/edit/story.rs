//! Sorts the changed lines into what was done: added, removed, renamed, set to
//! another value, changed inside. Decides nothing about wording.

use std::collections::{HashMap, HashSet};

use super::dependency::{self, Dependency};
use super::detail;
use super::imports;
use super::patch::{DiffSide, LineRole, Patch, PatchLine};
use super::tokens;
use crate::symbols::{FilePurpose, Language, Symbol, SymbolKind};

/// Lines of one run that are held against each other.
const MAX_PAIRED_LINES: usize = 120;

/// A declaration that came or went, with its line.
#[derive(Debug, Clone)]
pub(super) struct ChangedDeclaration<'a> {
    pub(super) symbol: Symbol,
    pub(super) text: &'a str,
    run: usize,
}

/// A value under a name.
#[derive(Debug, Clone)]
pub(super) struct ChangedValue<'a> {
    pub(super) symbol: Symbol,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
}

/// Lines changed inside one holder.
#[derive(Debug, Clone, Default)]
pub(super) struct LineGroup<'a> {
    pub(super) symbol: Option<Symbol>,
    pub(super) pairs: Vec<(&'a str, &'a str)>,
    pub(super) gone: Vec<&'a str>,
    pub(super) come: Vec<&'a str>,
    /// Some of its lines were only laid out anew.
    pub(super) reflowed: bool,
}

/// What an edit did.
pub(super) struct EditSummary<'a> {
    pub(super) language: Language,
    pub(super) added: Vec<ChangedDeclaration<'a>>,
    pub(super) removed: Vec<ChangedDeclaration<'a>>,
    pub(super) renamed: Vec<(Symbol, Symbol)>,
    pub(super) moved: Vec<Symbol>,
    pub(super) signatures: Vec<ChangedValue<'a>>,
    pub(super) values: Vec<ChangedValue<'a>>,
    pub(super) groups: Vec<LineGroup<'a>>,
    pub(super) documented: Vec<(Option<Symbol>, DiffSide)>,
    pub(super) comments: Vec<(Option<Symbol>, &'a str)>,
    pub(super) imported: Vec<&'a str>,
    pub(super) unimported: Vec<&'a str>,
    pub(super) dependencies: Vec<Dependency>,
    /// The same name put in place of another, and in how many lines.
    pub(super) replaced: Option<(&'a str, &'a str, usize)>,
}

/// Whether such a symbol is a name with a value on its line.
fn has_value(kind: SymbolKind) -> bool {
    matches!(
        kind,
        SymbolKind::Constant
            | SymbolKind::Field
            | SymbolKind::Key
            | SymbolKind::Column
            | SymbolKind::Macro
            | SymbolKind::Stage
            | SymbolKind::Target
    )
}

impl<'a> EditSummary<'a> {
    pub(super) fn from_patch(file: &str, patch: &Patch<'a>) -> Self {
        let mut story = Self {
            language: patch.language,
            added: Vec::new(),
            removed: Vec::new(),
            renamed: Vec::new(),
            moved: Vec::new(),
            signatures: Vec::new(),
            values: Vec::new(),
            groups: Vec::new(),
            documented: Vec::new(),
            comments: Vec::new(),
            imported: Vec::new(),
            unimported: Vec::new(),
            dependencies: Vec::new(),
            replaced: None,
        };
        let mut rest: Vec<&PatchLine<'a>> = Vec::with_capacity(patch.lines.len());
        let mut packages = dependency::DependencyChanges::new(file);
        // First, so that code that was only laid out anew is taken for no
        // addition or removal.
        let reflowed = find_reflowed_runs(&patch.lines);
        for line in &patch.lines {
            if reflowed.contains(&line.run) {
                story.add_reflowed(line);
                continue;
            }
            if packages.add_line(line) {
                continue;
            }
            match line.role {
                LineRole::Import => story.add_import(line),
                LineRole::Doc | LineRole::Comment => rest.push(line),
                LineRole::Mark | LineRole::Code => match (&line.declares, line.side) {
                    (Some(symbol), DiffSide::Gone) => {
                        story.removed.push(build_declaration(symbol, line));
                    }
                    (Some(symbol), DiffSide::Come) => {
                        story.added.push(build_declaration(symbol, line));
                    }
                    (None, _) => rest.push(line),
                },
            }
        }
        story.dependencies = packages.into_dependencies();
        // In this order: renamed declarations must be known before lines are
        // put to what holds them.
        story.balance_imports();
        story.replaced = find_replaced_name(patch);
        story.pair_declarations();
        story.group_lines(&rest);
        story.drop_contained();
        story
    }

    fn add_reflowed(&mut self, line: &PatchLine<'a>) {
        let name = |s: &Option<Symbol>| s.as_ref().map(|s| s.name.clone());
        if line.side == DiffSide::Come
            && self
                .groups
                .last()
                .is_none_or(|g| name(&g.symbol) != name(&line.holder))
        {
            let symbol = line.holder.clone();
            self.groups.push(LineGroup {
                symbol,
                reflowed: true,
                ..LineGroup::default()
            });
        }
    }

    fn add_import(&mut self, line: &PatchLine<'a>) {
        let Some(what) = imports::parse_import(self.language, line.text.trim()) else {
            return;
        };
        if line.side == DiffSide::Gone {
            self.unimported.push(what);
        } else {
            self.imported.push(what);
        }
    }

    /// An import that only moved is no change; one that grew or shrank is
    /// reduced to what it gained or lost.
    fn balance_imports(&mut self) {
        for old in std::mem::take(&mut self.unimported) {
            if let Some(at) = self.imported.iter().position(|i| *i == old) {
                self.imported.remove(at);
                continue;
            }
            let part = |text: &'a str| text.trim_matches([',', ' ', '{', '}']);
            let near = self.imported.iter().enumerate().find_map(|(at, new)| {
                let swap = tokens::find_swap(old, new)?;
                let (less, more) = (part(swap.before), part(swap.after));
                (less.is_empty() != more.is_empty()).then_some((at, less, more))
            });
            match near {
                Some((at, "", more)) => self.imported[at] = more,
                Some((at, less, _)) => {
                    self.imported.remove(at);
                    self.unimported.push(less);
                }
                None => self.unimported.push(old),
            }
        }
    }

    /// Finds what stayed under its name, and what was renamed.
    fn pair_declarations(&mut self) {
        let mut left = Vec::new();
        for gone in std::mem::take(&mut self.removed) {
            let same = |c: &ChangedDeclaration<'_>| {
                c.symbol.name == gone.symbol.name && c.symbol.kind == gone.symbol.kind
            };
            let Some(at) = self.added.iter().position(same) else {
                left.push(gone);
                continue;
            };
            let come = self.added.remove(at);
            if trim_separator(gone.text) == trim_separator(come.text) {
                // A key or constant that changed its place is sorting, not
                // worth a fact.
                if gone.run != come.run && !has_value(gone.symbol.kind) {
                    self.moved.push(come.symbol);
                }
                continue;
            }
            let change = ChangedValue {
                symbol: come.symbol,
                old: gone.text.trim(),
                new: come.text.trim(),
            };
            if has_value(change.symbol.kind) {
                self.values.push(change);
            } else {
                self.signatures.push(change);
            }
        }
        for gone in left {
            let name = self.language.strip_qualifier(&gone.symbol.name);
            let found = self.added.iter().position(|come| {
                let other = self.language.strip_qualifier(&come.symbol.name);
                // Only within one run of changed lines: far apart, alike names
                // are two things.
                come.run == gone.run
                    && come.symbol.kind == gone.symbol.kind
                    && name != other
                    && is_renaming(self.language, (gone.text, name), (come.text, other))
            });
            match found {
                Some(at) => {
                    let come = self.added.remove(at);
                    self.renamed.push((gone.symbol, come.symbol));
                }
                None => self.removed.push(gone),
            }
        }
    }

    fn current_symbol(&self, holder: Option<&Symbol>) -> Option<Symbol> {
        let holder = holder?;
        let renamed = self
            .renamed
            .iter()
            .find(|(from, _)| from.name == holder.name);
        Some(renamed.map_or_else(|| holder.clone(), |(_, to)| to.clone()))
    }

    /// Puts the lines that declare nothing to what holds them.
    fn group_lines(&mut self, rest: &[&PatchLine<'a>]) {
        let mut known: HashMap<Option<String>, usize> = HashMap::new();
        for (at, group) in self.groups.iter().enumerate() {
            known
                .entry(group.symbol.as_ref().map(|s| s.name.clone()))
                .or_insert(at);
        }
        let mut runs: Vec<(usize, usize, Vec<&'a str>, Vec<&'a str>)> = Vec::new();
        let names = |list: &[ChangedDeclaration<'_>]| -> HashSet<String> {
            let named = list.iter().filter(|s| s.symbol.kind != SymbolKind::Impl);
            named.map(|s| s.symbol.name.clone()).collect()
        };
        let (added, removed) = (names(&self.added), names(&self.removed));
        let busy: HashSet<usize> = self
            .added
            .iter()
            .chain(&self.removed)
            .map(|s| s.run)
            .collect();
        for line in rest {
            let holder = self.current_symbol(line.holder.as_ref());
            let own = match line.side {
                DiffSide::Come => &added,
                DiffSide::Gone => &removed,
            };
            // The name of a new or removed function says enough about its body.
            if holder.as_ref().is_some_and(|h| own.contains(&h.name)) {
                continue;
            }
            // Where something came or went, a diff may show the mark of its neighbour.
            if line.role == LineRole::Mark && busy.contains(&line.run) {
                continue;
            }
            match line.role {
                LineRole::Doc => {
                    self.documented.push((holder, line.side));
                    continue;
                }
                LineRole::Comment => {
                    let is_documented = self.documented.iter().any(|(_, side)| *side == line.side);
                    if line.side == DiffSide::Come || !is_documented {
                        self.comments.push((holder, line.text.trim()));
                    }
                    continue;
                }
                _ => {}
            }
            let name = holder.as_ref().map(|h| h.name.clone());
            let at = *known.entry(name).or_insert_with(|| {
                self.groups.push(LineGroup {
                    symbol: holder,
                    ..LineGroup::default()
                });
                self.groups.len() - 1
            });
            if runs.last().is_none_or(|r| (r.0, r.1) != (at, line.run)) {
                runs.push((at, line.run, Vec::new(), Vec::new()));
            }
            if let Some(run) = runs.last_mut() {
                let list = if line.side == DiffSide::Gone {
                    &mut run.2
                } else {
                    &mut run.3
                };
                list.push(line.text.trim());
            }
        }
        for (at, _, gone, come) in runs {
            pair_lines(&mut self.groups[at], &gone, &come);
        }
    }

    /// Drops what its container already implies.
    fn drop_contained(&mut self) {
        let language = self.language;
        let deep = language.file_purpose() == FilePurpose::Data || language == Language::Css;
        for list in [&mut self.added, &mut self.removed] {
            let outer: Vec<String> = list
                .iter()
                .filter(|s| s.symbol.kind != SymbolKind::Impl && language != Language::Markdown)
                .map(|s| s.symbol.name.clone())
                .collect();
            list.retain(|s| {
                let is_documented = deep || has_value(s.symbol.kind);
                !(is_documented && outer.iter().any(|o| language.is_inside(&s.symbol.name, o)))
            });
            // The members of an impl block say more than the block.
            let members = list.iter().any(|s| s.symbol.kind.is_body());
            list.retain(|s| s.symbol.kind != SymbolKind::Impl || !members);
        }
        // What left one place for another within its holder stayed.
        for group in &mut self.groups {
            // A bracket alone says nothing.
            group.gone.retain(|l| l.contains(char::is_alphanumeric));
            group.come.retain(|l| l.contains(char::is_alphanumeric));
            for line in std::mem::take(&mut group.gone) {
                match group.come.iter().position(|c| *c == line) {
                    Some(at) => {
                        group.come.remove(at);
                    }
                    None => group.gone.push(line),
                }
            }
        }
        self.groups.retain(|g| {
            !(!g.reflowed && g.pairs.is_empty() && g.gone.is_empty() && g.come.is_empty())
        });
    }
}

/// A line without what only says that another follows.
fn trim_separator(text: &str) -> &str {
    text.trim().trim_end_matches([',', ';'])
}

fn build_declaration<'a>(symbol: &Symbol, line: &PatchLine<'a>) -> ChangedDeclaration<'a> {
    ChangedDeclaration {
        symbol: symbol.clone(),
        text: line.text,
        run: line.run,
    }
}

fn is_renaming(language: Language, old: (&str, &str), new: (&str, &str)) -> bool {
    if language.file_purpose() == FilePurpose::Prose {
        return old.0.find(' ') == new.0.find(' ');
    }
    let swapped = old.0.replacen(old.1, new.1, 1);
    swapped.trim() == new.0.trim()
        || (!has_short_value(old.0) && tokens::line_similarity(&swapped, new.0) >= 70)
}

/// A key with a short value: two of them look alike by their shape alone.
fn has_short_value(text: &str) -> bool {
    text.split_once(['=', ':'])
        .is_some_and(|(_, v)| v.trim().len() <= 12)
}

/// The runs whose lines hold the same code, laid out in another way.
fn find_reflowed_runs(lines: &[PatchLine<'_>]) -> HashSet<usize> {
    let mut found = HashSet::new();
    for run in lines.chunk_by(|a, b| a.run == b.run) {
        let side = |wanted: DiffSide| -> String {
            let lines = run.iter().filter(|l| l.side == wanted);
            lines.map(|l| l.text).collect::<Vec<_>>().join("\n")
        };
        let (old, new) = (side(DiffSide::Gone), side(DiffSide::Come));
        if !old.is_empty()
            && !new.is_empty()
            && detail::squeeze_code(&old) == detail::squeeze_code(&new)
        {
            found.insert(run[0].run);
        }
    }
    found
}

/// Finds which removed line became which added one.
fn pair_lines<'a>(group: &mut LineGroup<'a>, gone: &[&'a str], come: &[&'a str]) {
    let gone = &gone[..gone.len().min(MAX_PAIRED_LINES)];
    let come = &come[..come.len().min(MAX_PAIRED_LINES)];
    let mut from = 0;
    let mut used = Vec::new();
    for old in gone {
        if come
            .iter()
            .any(|new| trim_separator(new) == trim_separator(old))
        {
            continue;
        }
        let best = come[from..]
            .iter()
            // Lines keep their order in an edit; a partner further off is
            // chance, and the search stays linear.
            .take(12)
            .enumerate()
            .map(|(at, new)| (tokens::line_similarity(old, new), at))
            .filter(|(alike, _)| *alike >= 45)
            // Of equals the nearest.
            .max_by_key(|(alike, at)| (*alike, usize::MAX - at));
        if let Some((_, at)) = best {
            let new = come[from + at];
            used.push(from + at);
            from += at + 1;
            if new != *old {
                group.pairs.push((old, new));
            }
        } else {
            group.gone.push(old);
        }
    }
    for (at, new) in come.iter().enumerate() {
        let known = gone
            .iter()
            .any(|old| trim_separator(old) == trim_separator(new));
        if !used.contains(&at) && !known {
            group.come.push(new);
        }
    }
}

/// The one name that was replaced by another in every changed line.
fn find_replaced_name<'a>(patch: &Patch<'a>) -> Option<(&'a str, &'a str, usize)> {
    let side = |wanted: DiffSide| {
        patch
            .lines
            .iter()
            .filter(move |l| l.side == wanted)
            .map(|l| l.text)
    };
    // A renaming changes lines one for one.
    if side(DiffSide::Gone).count() != side(DiffSide::Come).count() {
        return None;
    }
    let mut found = None;
    let mut count = 0;
    for (old, new) in side(DiffSide::Gone).zip(side(DiffSide::Come)) {
        let pair = tokens::find_renaming(old, new)?;
        if found.is_some_and(|f| f != pair) {
            return None;
        }
        found = Some(pair);
        count += 1;
    }
    found.map(|(from, to)| (from, to, count))
}
