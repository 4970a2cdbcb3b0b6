//! What is shown, as it was read: handlers of every layer in the order in which
//! they run, the files that can be edited, and what is wrong with any of them.

use std::path::PathBuf;

use remora_core::EventName;
use remora_hook_tools::edit::{HandlerState, WrittenHandler};
use remora_hook_tools::lint::LintFinding;
use remora_hook_tools::listing::{ListedHook, is_editable, label_entry};
use remora_hooks::{ConfiguredHandler, HandlerInfo, LayerSource, inspect};
use serde_json::Value;

/// Everything that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The project that a session would start in.
    pub project: PathBuf,
    /// The user's home directory, which is not spelt out.
    pub home: PathBuf,
    /// Every handler, those that do not run included.
    pub rows: Vec<HookRow>,
    /// The files that can be edited, also those that are not there yet.
    pub files: Vec<(LayerSource, PathBuf)>,
    /// What the user should fix.
    pub problems: Vec<Problem>,
    /// What the next undo takes back.
    pub undo: Option<String>,
}

/// Something to fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// File, place, severity and key.
    pub place: String,
    /// What is wrong, and what to do about it, a line each.
    pub lines: Vec<String>,
}

/// Whether a handler runs when its event fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowState {
    /// It does.
    Active,
    /// The user has switched it off.
    Disabled,
    /// Trust or a switch keeps it back, with the reason.
    HeldBack(String),
    /// It does not run as it is written, with the reason.
    Broken(String),
}

/// One handler.
#[derive(Debug, Clone, PartialEq)]
pub struct HookRow {
    /// Its id, as in `remora hooks list`.
    pub id: String,
    /// Its layer.
    pub source: LayerSource,
    /// Its plugin, in the plugin layer.
    pub plugin: Option<String>,
    /// Its file; `None` for JSON on the command line.
    pub file: Option<PathBuf>,
    /// Its event, as it is written.
    pub event: String,
    /// The matcher of its group.
    pub matcher: Option<String>,
    /// The word in `type`.
    pub kind: String,
    /// What it does, in one line.
    pub label: String,
    /// Its `if`.
    pub condition: Option<String>,
    /// Its time limit in seconds, if it is known.
    pub timeout: Option<f64>,
    /// Whether it runs.
    pub state: RowState,
    /// As it is written, where it can be edited; `None` is read-only.
    pub written: Option<WrittenHandler>,
    /// What the linter says of it.
    pub findings: Vec<LintFinding>,
}

impl HookRow {
    /// A handler that the engine knows and nobody edits here.
    pub(crate) fn from_engine(entry: &ConfiguredHandler, held_back: Option<&str>) -> Self {
        let info = HandlerInfo::new(entry);
        Self {
            id: info.id,
            source: info.source,
            plugin: info.plugin,
            file: entry.place.file.clone(),
            event: entry.event.as_str().to_owned(),
            matcher: info.matcher,
            kind: info.kind.to_owned(),
            label: entry.config.kind.label().replace('\n', " "),
            condition: info.condition,
            timeout: Some(info.timeout),
            state: held_back.map_or(RowState::Active, |why| RowState::HeldBack(why.to_owned())),
            written: None,
            findings: Vec::new(),
        }
    }

    /// A handler of a file that users write, with what the engine knows of it.
    pub(crate) fn from_listed(hook: ListedHook, engine: Option<&Self>) -> Self {
        let entry = &hook.written.entry;
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        let state = match (&hook.written.place.state, find_fault(&hook.written), engine) {
            (_, Some(fault), _) => RowState::Broken(fault),
            (HandlerState::Disabled, ..) => RowState::Disabled,
            (HandlerState::Enabled, None, Some(known)) => known.state.clone(),
            (HandlerState::Enabled, None, None) => {
                RowState::Broken("the engine does not load it; see the problems (p)".to_owned())
            }
        };
        Self {
            source: hook.source,
            plugin: None,
            event: hook.written.place.event.clone(),
            matcher: hook.written.matcher.clone(),
            kind: text("type").unwrap_or_default(),
            label: label_entry(entry),
            condition: text("if").filter(|text| !text.is_empty()),
            timeout: match engine {
                Some(known) => known.timeout,
                None => entry.get("timeout").and_then(Value::as_f64),
            },
            state,
            findings: Vec::new(),
            id: hook.id,
            file: Some(hook.file),
            written: Some(hook.written),
        }
    }

    /// Whether it can be changed here.
    pub fn is_editable(&self) -> bool {
        self.written.is_some()
    }

    /// Why it cannot be changed here.
    pub(crate) fn read_only_reason(&self) -> &'static str {
        match self.source {
            LayerSource::Policy => "the organisation's settings are read-only here",
            LayerSource::Plugin => {
                "a plugin's hooks are read-only here; switch the plugin itself off, or change its files"
            }
            LayerSource::Flag => "--settings is read-only here; change the command line",
            _ => "it is read-only here",
        }
    }

    /// Whether every word is in one of its texts, whatever the case.
    pub(crate) fn matches(&self, words: &[String]) -> bool {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        let texts = [
            self.id.as_str(),
            self.source.label(),
            self.plugin.as_deref().unwrap_or_default(),
            file.as_deref().unwrap_or_default(),
            &self.event,
            self.matcher.as_deref().unwrap_or_default(),
            &self.kind,
            &self.label,
            self.condition.as_deref().unwrap_or_default(),
        ];
        let all = texts.join("\n").to_lowercase();
        words.iter().all(|word| all.contains(word))
    }
}

/// Why it can never run as it is written.
fn find_fault(written: &WrittenHandler) -> Option<String> {
    if let Err(error) = EventName::find(&written.place.event) {
        return Some(error.to_string());
    }
    let problem = inspect::read_handler(&written.entry).err()?;
    Some(match problem.field {
        Some(field) => format!("`{field}` {}", problem.problem),
        None => problem.problem,
    })
}

/// Rows in the order in which the engine enumerates layers: managed ones first,
/// `--settings` and plugins last.
pub(crate) fn order_rows(engine: Vec<HookRow>, listed: Vec<HookRow>) -> Vec<HookRow> {
    let (first, last): (Vec<HookRow>, Vec<HookRow>) = engine
        .into_iter()
        .filter(|row| !is_editable(row.source))
        .partition(|row| row.source == LayerSource::Policy);
    first.into_iter().chain(listed).chain(last).collect()
}
