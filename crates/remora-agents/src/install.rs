//! Puts Remora's hooks into a settings file and takes them out again. Pure: text
//! in, text out; every byte that is not ours stays as it is.
//!
//! Entries are ours by what they run (`ours.rs`), never by their position.
//! `file.rs` does the disk's part.

mod check;
mod edit;
pub mod file;
mod find;
mod layout;
pub mod mcp;
mod mcp_toml;
mod ours;
pub mod reads;
mod span;
mod spec;
mod trust;

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::spec::{AgentSpec, EventRegistration};
use edit::TextEdits;
use layout::{Layout, Shape, own_line};
use span::Node;

pub(crate) use mcp_toml::toml_error;

pub use check::{ProblemImpact, SettingsProblem};
pub use find::{InstalledHook, find_entries, find_problems};
pub use ours::BARE_PROGRAM;
pub use spec::{ExtraFile, HandlerForm, InstallSpec, SettingsRules};
pub use trust::{HookTrust, TrustSpec, TrustVerdicts};

/// What is to be installed.
#[derive(Debug, Clone, Copy)]
pub struct InstallRequest<'a> {
    /// The absolute path of our program, or [`BARE_PROGRAM`] in a shared file.
    pub program: &'a Path,
    /// The agent whose settings they are.
    pub spec: &'static AgentSpec,
}

/// Something of ours in a JSON file, as it is found and removed. Pure.
pub trait Removable {
    /// The text without it, and without the lists and objects that it leaves
    /// empty, save those in `kept`.
    fn remove(&self, current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError>;
    /// Whether it is in the text, in whatever form.
    fn is_there(&self, current: &str) -> Result<bool, InstallError>;
}

/// The same, as it is put in. Pure.
pub trait Installable: Removable {
    /// The text with it. `None` and blank text mean a new file.
    fn plan(&self, current: Option<&str>) -> Result<SettingsEdit, InstallError>;
}

impl Removable for AgentSpec {
    fn remove(&self, current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError> {
        let hooks = remove_entries(current, self, kept)?;
        let mut rules = reads::remove_rules(&hooks.text, kept)?;
        rules.changes.splice(0..0, hooks.changes);
        Ok(rules)
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        Ok(!find_entries(current, self)?.is_empty())
    }
}

impl Removable for InstallRequest<'_> {
    fn remove(&self, current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError> {
        self.spec.remove(current, kept)
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        self.spec.is_there(current)
    }
}

impl Installable for InstallRequest<'_> {
    fn plan(&self, current: Option<&str>) -> Result<SettingsEdit, InstallError> {
        plan_entries(current, self)
    }
}

/// A settings text after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsEdit {
    /// The new text; the old one if there are no changes.
    pub text: String,
    /// What was done, in the order of the file.
    pub changes: Vec<EntryChange>,
    /// What in the file will keep the client from using it.
    pub warnings: Vec<String>,
    /// To be handed to [`remove_entries`] one day.
    pub kept: PriorState,
}

/// One event whose entry changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryChange {
    /// The event, as it is written in the file.
    pub event: String,
    /// What became of our entry.
    pub what: ChangeKind,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It was there in another form, or named another program.
    Updated,
    /// It was one too many.
    Removed,
}

/// Objects and lists that were there, and empty, before our entries came:
/// when the entries go, these stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriorState(BTreeSet<String>);

impl PriorState {
    /// Adds those of another.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn has_hooks(&self) -> bool {
        self.0.contains("hooks")
    }

    fn has_event(&self, name: &str) -> bool {
        self.0.contains(&format!("hooks.{name}"))
    }
}

/// Why a settings text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstallError {
    /// Not JSON; the client ignores such a file too.
    #[error("not valid JSON at line {line}, column {column}: expected {expected}")]
    Json {
        /// The line, counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
        /// What would have been right there.
        expected: &'static str,
    },
    /// Not TOML.
    #[error("not valid TOML at line {line}, column {column}")]
    Toml {
        /// The line, counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
    },
    /// A value of another kind than the client wants.
    #[error("`{key}` must be {wanted}, found {found}")]
    Kind {
        /// The key, with the keys above it.
        key: String,
        /// What it should be.
        wanted: &'static str,
        /// The type that was found.
        found: &'static str,
    },
    /// Another server or entry has the name that we want.
    #[error("`{0}` is another server's: rename it, or leave ours out")]
    NameTaken(String),
    /// Our program cannot be named in a settings file, or not be found again.
    #[error("the program must be `remora` or an absolute path that ends in it, got `{0}`")]
    Program(String),
}

/// The text with our entries in it: one group of its own for each registered
/// event. `None` and blank text mean a new file.
pub fn plan_entries(
    current: Option<&str>,
    entry: &InstallRequest<'_>,
) -> Result<SettingsEdit, InstallError> {
    let program = ours::check_program(entry.program)?;
    let (mark, text) = split_mark(current.unwrap_or_default());
    if text.trim().is_empty() {
        return Ok(new_file(mark, program, entry.spec));
    }
    // First, so that the planner meets at most one group of ours per event.
    let (cleaned, mut changes) = remove_groups(
        text,
        &PriorState::default(),
        entry.spec,
        RemovalScope::Surplus,
    )?;
    let text = cleaned.as_str();
    let root = parse_settings(text)?;
    check_place(&root)?;
    let warnings = list_warnings(&root, entry.spec);
    let layout = Layout::from_text(text, &root);
    let mut work = InstallPlanner {
        text,
        layout,
        program,
        spec: entry.spec,
        edits: TextEdits::default(),
        kept: PriorState::default(),
        changes: Vec::new(),
    };
    work.run(&root)?;
    let text = format!("{mark}{}", work.edits.apply(text));
    changes.append(&mut work.changes);
    Ok(SettingsEdit {
        text,
        changes,
        warnings,
        kept: work.kept,
    })
}

/// The text without our entries, and without the lists and objects that they
/// leave empty, save those in `kept`.
pub fn remove_entries(
    current: &str,
    spec: &AgentSpec,
    kept: &PriorState,
) -> Result<SettingsEdit, InstallError> {
    let (mark, text) = split_mark(current);
    if text.trim().is_empty() {
        return Ok(unchanged_edit(current));
    }
    let (text, changes) = remove_groups(text, kept, spec, RemovalScope::All)?;
    let warnings = list_warnings(&parse_settings(&text)?, spec);
    Ok(SettingsEdit {
        text: format!("{mark}{text}"),
        changes,
        warnings,
        kept: PriorState::default(),
    })
}

/// A byte order mark is kept; the client reads past it.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { 3 } else { 0 })
}

fn list_warnings(root: &Node, spec: &AgentSpec) -> Vec<String> {
    let problems = check::check_settings(root, &spec.install.rules);
    problems.into_iter().map(|problem| problem.text).collect()
}

fn unchanged_edit(text: &str) -> SettingsEdit {
    SettingsEdit {
        text: text.to_owned(),
        changes: Vec::new(),
        warnings: Vec::new(),
        kept: PriorState::default(),
    }
}

fn parse_settings(text: &str) -> Result<Node, InstallError> {
    span::parse_json(text).map_err(|fault| {
        let (line, column) = span::line_and_column(text, fault.at);
        InstallError::Json {
            line,
            column,
            expected: fault.expected,
        }
    })
}

/// New entries need a place; taking ours out needs none.
fn check_place(root: &Node) -> Result<(), InstallError> {
    if !root.is_object() {
        return Err(kind_error("the file", "a JSON object", root));
    }
    match root.get("hooks") {
        Some(hooks) if !hooks.is_object() => Err(kind_error("hooks", "an object", hooks)),
        _ => Ok(()),
    }
}

fn kind_error(key: &str, wanted: &'static str, node: &Node) -> InstallError {
    InstallError::Kind {
        key: key.to_owned(),
        wanted,
        found: node.kind(),
    }
}

fn group_handlers(group: &Node) -> &[Node] {
    group
        .get("hooks")
        .and_then(Node::as_list)
        .unwrap_or_default()
}

fn new_file(mark: &str, program: &str, spec: &AgentSpec) -> SettingsEdit {
    let layout = Layout::of_a_new_file();
    let value = json!({ "hooks": ours::build_groups(spec.registered, program, spec) });
    SettingsEdit {
        text: format!("{mark}{}\n", layout.format_value(&value, Shape::Lines(""))),
        changes: spec
            .registered
            .iter()
            .map(|registration| new_change(registration.event.as_str(), ChangeKind::Added))
            .collect(),
        warnings: Vec::new(),
        kept: PriorState::default(),
    }
}

fn new_change(event: &str, what: ChangeKind) -> EntryChange {
    EntryChange {
        event: event.to_owned(),
        what,
    }
}

/// Which of our entries go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RemovalScope {
    All,
    /// Those for events that are no longer registered, and second ones.
    Surplus,
}

fn remove_groups(
    text: &str,
    kept: &PriorState,
    spec: &AgentSpec,
    cutting: RemovalScope,
) -> Result<(String, Vec<EntryChange>), InstallError> {
    let root = parse_settings(text)?;
    let mut edits = TextEdits::default();
    let mut changes = Vec::new();
    let Some(hooks) = root.find_member("hooks") else {
        return Ok((text.to_owned(), changes));
    };
    let mut gone_events = Vec::new();
    for member in hooks.value.members() {
        let registered = spec
            .registered
            .iter()
            .any(|registration| registration.event.as_str() == member.key);
        let mut spare = cutting == RemovalScope::Surplus && registered;
        let groups = member.value.as_list().unwrap_or_default();
        let mut gone_groups = Vec::new();
        let mut touched = false;
        for group in groups {
            let mine: Vec<bool> = group_handlers(group)
                .iter()
                .map(|handler| ours::program_of(handler, spec).is_some())
                .collect();
            let alone = !mine.is_empty() && mine.iter().all(|mine| *mine);
            // The first group of our own is the one to be brought up to date.
            let spared = alone && std::mem::take(&mut spare);
            gone_groups.push(alone && !spared);
            touched |= mine.contains(&true) && !spared;
            if let Some(list) = group.get("hooks")
                && !alone
            {
                edits.remove_members(list, &mine);
            }
        }
        let emptied = !gone_groups.is_empty() && !gone_groups.contains(&false);
        // A list that was there, empty, before ours went in stays: removal restores the
        // file.
        gone_events.push(emptied && !kept.has_event(&member.key));
        if !emptied || kept.has_event(&member.key) {
            edits.remove_members(&member.value, &gone_groups);
        }
        if touched {
            changes.push(new_change(&member.key, ChangeKind::Removed));
        }
    }
    let emptied = !gone_events.is_empty() && !gone_events.contains(&false);
    if emptied && !kept.has_hooks() {
        let gone: Vec<bool> = root
            .members()
            .iter()
            .map(|member| member.span == hooks.span)
            .collect();
        edits = TextEdits::default();
        // All of `hooks` goes, so the edits inside of it were dropped: they
        // would overlap.
        edits.remove_members(&root, &gone);
    } else {
        edits.remove_members(&hooks.value, &gone_events);
    }
    Ok((edits.apply(text), changes))
}

/// One run of `plan` over a text that holds at most one group of ours an event.
struct InstallPlanner<'a> {
    text: &'a str,
    layout: Layout,
    program: &'a str,
    spec: &'static AgentSpec,
    edits: TextEdits,
    kept: PriorState,
    changes: Vec<EntryChange>,
}

impl InstallPlanner<'_> {
    fn run(&mut self, root: &Node) -> Result<(), InstallError> {
        let Some(hooks) = root.get("hooks") else {
            let all = ours::build_groups(self.spec.registered, self.program, self.spec);
            self.append(root, 1, |layout, _, shape| {
                layout.format_member("hooks", &all, shape)
            });
            self.note_added(self.spec.registered);
            return Ok(());
        };
        let mut missing: Vec<EventRegistration> = Vec::new();
        for registration in self.spec.registered {
            match hooks.get(registration.event.as_str()) {
                None => missing.push(*registration),
                Some(list) => self.plan_event(registration, list)?,
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        // Remembered, so that removing ours leaves the empty object that the user had.
        if hooks.members().is_empty() {
            self.kept.0.insert("hooks".to_owned());
        }
        let (program, spec) = (self.program, self.spec);
        self.append(hooks, missing.len(), |layout, at, shape| {
            let groups = json!([ours::build_group(&missing[at], program, spec)]);
            layout.format_member(missing[at].event.as_str(), &groups, shape)
        });
        self.note_added(&missing);
        Ok(())
    }

    fn note_added(&mut self, registrations: &[EventRegistration]) {
        let added = registrations
            .iter()
            .map(|registration| new_change(registration.event.as_str(), ChangeKind::Added));
        self.changes.extend(added);
    }

    fn append(
        &mut self,
        container: &Node,
        count: usize,
        render: impl Fn(&Layout, usize, Shape<'_>) -> String,
    ) {
        let (at, text) = self
            .layout
            .append(self.text, container, count, |at, shape| {
                render(&self.layout, at, shape)
            });
        self.edits.insert(at, text);
    }

    fn plan_event(
        &mut self,
        registration: &EventRegistration,
        list: &Node,
    ) -> Result<(), InstallError> {
        let name = registration.event.as_str();
        let groups = list
            .as_list()
            .ok_or_else(|| kind_error(&format!("hooks.{name}"), "a list", list))?;
        let wanted = ours::build_group(registration, self.program, self.spec);
        let mine = groups.iter().find(|group| {
            let handlers = group_handlers(group);
            !handlers.is_empty()
                && handlers
                    .iter()
                    .all(|handler| ours::program_of(handler, self.spec).is_some())
        });
        if let Some(group) = mine {
            if self.update_group(group, &wanted) {
                self.changes.push(new_change(name, ChangeKind::Updated));
            }
            return Ok(());
        }
        if groups.is_empty() {
            self.kept.0.insert(format!("hooks.{name}"));
        }
        // At the end: some agents bind the user's trust to a hook's position in
        // the list.
        self.append(list, 1, |layout, _, shape| {
            layout.format_value(&wanted, shape)
        });
        self.changes.push(new_change(name, ChangeKind::Added));
        Ok(())
    }

    /// Brings a group of ours up to date; keys that the user added are kept if
    /// the rest can be repaired value by value.
    fn update_group(&mut self, group: &Node, wanted: &Value) -> bool {
        // Value by value where possible, because rewriting the group would drop what the
        // user added to it.
        let Some(edits) = self.repair_group(group, wanted) else {
            let shape = match own_line(self.text, group.span.start) {
                Some(prefix) => Shape::Lines(prefix),
                None => Shape::Inline,
            };
            let text = self.layout.format_value(wanted, shape);
            self.edits.replace_range(group.span.clone(), text);
            return true;
        };
        let changed = !edits.is_empty();
        self.edits.join(edits);
        changed
    }

    /// The edits that make the group equal to `wanted`; `None` if single values
    /// cannot do it.
    fn repair_group(&self, group: &Node, wanted: &Value) -> Option<TextEdits> {
        let mut edits = TextEdits::default();
        let [handler] = group_handlers(group) else {
            return None;
        };
        match (group.get("matcher"), wanted.get("matcher")) {
            (Some(found), Some(matcher)) => self.update_value(&mut edits, found, matcher),
            (None, Some(_)) => return None,
            // These two mean the same as none.
            (Some(found), None) if !matches!(found.as_text(), Some("" | "*")) => return None,
            (_, None) => {}
        }
        let wanted = wanted["hooks"][0].as_object()?;
        // Next to a whole line, arguments of an older entry would change what
        // runs.
        if !wanted.contains_key("args") && handler.get("args").is_some() {
            return None;
        }
        for (key, value) in wanted {
            self.update_value(&mut edits, handler.get(key)?, value);
        }
        Some(edits)
    }

    fn update_value(&self, edits: &mut TextEdits, found: &Node, wanted: &Value) {
        let text = &self.text[found.span.clone()];
        // Compared as values: another spelling of the same string is left as the user wrote
        // it.
        if serde_json::from_str::<Value>(text).ok().as_ref() != Some(wanted) {
            let text = self.layout.format_value(wanted, Shape::Inline);
            edits.replace_range(found.span.clone(), text);
        }
    }
}

#[cfg(test)]
mod tests;
