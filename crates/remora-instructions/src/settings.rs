//! What settings files say about instructions: excludes, memory, how AGENTS.md is
//! treated. Reads the same files as the hooks engine, for other keys.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use remora_core::shapes;
use serde_json::Value;

use crate::disk;
use crate::names::{self, key};
use crate::paths::{InstructionOptions, InstructionPaths};

/// A layer of settings, in order of rank: a later one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SettingsLayer {
    User,
    Project,
    Local,
    Flag,
    Managed,
}

/// What is done with AGENTS.md.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentsMode {
    /// Never read.
    ClaudeOnly,
    /// Read when the project has no CLAUDE.md.
    #[default]
    Fallback,
    /// Read as well as CLAUDE.md.
    Both,
    /// Of all files only managed ones and memory, at the start.
    ManagedOnly,
}

impl AgentsMode {
    /// The current words, under the current key.
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "claude-md" => Self::ClaudeOnly,
            "claude-md-or-agents-md" => Self::Fallback,
            "claude-md-and-agents-md" => Self::Both,
            "managed-only" => Self::ManagedOnly,
            _ => return None,
        })
    }

    /// The former words, under the former key. The client still accepts them.
    fn parse_old(word: &str) -> Option<Self> {
        Some(match word {
            key::OLD_CLAUDE_ONLY_VALUE => Self::ClaudeOnly,
            "agents-fallback" => Self::Fallback,
            "both" => Self::Both,
            "none" => Self::ManagedOnly,
            _ => return None,
        })
    }
}

/// A value and the file it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedValue {
    /// The value.
    pub value: String,
    /// Where it was written.
    pub source: String,
}

/// What was read, joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) agents: AgentsMode,
    /// The two keys that choose it, each of the highest layer that has it.
    agents_word: Option<Value>,
    agents_old_word: Option<Value>,
    agents_off: bool,
    /// More directories that count as the session's.
    pub(crate) directories: Vec<String>,
    /// Patterns with the file each comes from.
    pub(crate) excludes: Vec<SourcedValue>,
    pub(crate) managed_text: Option<SourcedValue>,
    pub(crate) auto_memory: Option<bool>,
    pub(crate) auto_memory_directory: Option<String>,
    pub(crate) language: Option<SourcedValue>,
    pub(crate) output_style: Option<SourcedValue>,
    env: BTreeMap<String, String>,
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// A variable: settings win over the process.
    pub(crate) fn find_variable<'a>(
        &'a self,
        options: &'a InstructionOptions,
        name: &str,
    ) -> Option<&'a str> {
        // The client applies `env` of its settings to its own process.
        let value = self.env.get(name).or_else(|| options.variables.get(name));
        value.map(String::as_str)
    }

    /// Whether a variable is switched on.
    pub(crate) fn is_switched_on(&self, options: &InstructionOptions, name: &str) -> bool {
        self.find_variable(options, name).is_some_and(is_on)
    }
}

/// Words that switch on, as the client reads them.
pub(crate) fn is_on(word: &str) -> bool {
    matches!(
        word.trim().to_ascii_lowercase().as_str(),
        "1" | "true" | "yes" | "on"
    )
}

/// Words that switch off.
pub(crate) fn is_off(word: &str) -> bool {
    matches!(
        word.trim().to_ascii_lowercase().as_str(),
        "0" | "false" | "no" | "off"
    )
}

/// Reads and joins all layers.
pub(crate) fn load_settings(places: &InstructionPaths, options: &InstructionOptions) -> Settings {
    let mut settings = Settings::default();
    let folder = places.cwd.join(names::SETTINGS_DIR);
    let mut files = Vec::new();
    // A source that is switched off contributes nothing, excludes included.
    if options.sources.user {
        files.push((
            SettingsLayer::User,
            places.config_dir().join(names::SETTINGS_FILE),
        ));
    }
    if options.sources.project {
        files.push((SettingsLayer::Project, folder.join(names::SETTINGS_FILE)));
    }
    if options.sources.local {
        files.push((
            SettingsLayer::Local,
            folder.join(names::LOCAL_SETTINGS_FILE),
        ));
    }
    for (layer, file) in files {
        settings.take_file(layer, &file);
    }
    if let Some(text) = &options.settings {
        // Between local and managed, as in the client.
        settings.take_text(SettingsLayer::Flag, "--settings", text);
    }
    if let Some(managed) = &places.managed {
        settings.take_file(
            SettingsLayer::Managed,
            &managed.join(names::MANAGED_SETTINGS_FILE),
        );
        for file in drop_ins(&managed.join(names::MANAGED_DROP_INS_DIR)) {
            settings.take_file(SettingsLayer::Managed, &file);
        }
    }
    settings.choose_agents();
    settings
}

fn drop_ins(folder: &Path) -> Vec<PathBuf> {
    let list = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = list.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|file| {
        let name = file.file_name().and_then(|n| n.to_str()).unwrap_or(".");
        !name.starts_with('.') && file.extension().is_some_and(|e| e == "json")
    });
    files.sort();
    files
}

impl Settings {
    fn take_file(&mut self, layer: SettingsLayer, file: &Path) {
        match disk::read_bytes(file) {
            Ok(read) => {
                let text = String::from_utf8_lossy(&read);
                self.take_text(layer, &file.display().to_string(), &text);
            }
            Err(disk::FileReadError::Missing) => {}
            Err(why) => self
                .warnings
                .push(format!("{}: not read: {why}", file.display())),
        }
    }

    fn take_text(&mut self, layer: SettingsLayer, source: &str, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(mut map)) => {
                let misfits = shapes::find_type_mismatches(&map);
                // As for hooks: a wrong type voids a user's file, in managed settings only its key.
                if let (Some(first), false) = (misfits.first(), layer == SettingsLayer::Managed) {
                    self.warnings.push(format!(
                        "{source}: {first}, so the whole file counts for nothing"
                    ));
                    return;
                }
                let words = misfits
                    .iter()
                    .map(|m| format!("{source}: {m}; the key is ignored"));
                self.warnings.extend(words);
                shapes::drop_misfits(&mut map, &misfits);
                self.merge_layer(layer, source, &Value::Object(map));
            }
            Ok(_) => self.warnings.push(format!(
                "{source}: is not a JSON object, so it says nothing"
            )),
            Err(e) => self
                .warnings
                .push(format!("{source}: is not JSON, so it says nothing ({e})")),
        }
    }

    fn merge_layer(&mut self, layer: SettingsLayer, source: &str, value: &Value) {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let sourced = |value: &str| SourcedValue {
            value: value.to_owned(),
            source: source.to_owned(),
        };
        // Lists add up over all layers; single values are replaced by the later layer.
        if let Some(list) = value.get(key::EXCLUDES) {
            let patterns = list.as_array().into_iter().flatten();
            let patterns = patterns.filter_map(Value::as_str);
            self.excludes.extend(patterns.map(sourced));
        }
        let directories = value
            .get(key::PERMISSIONS)
            .and_then(|p| p.get(key::ADDITIONAL_DIRECTORIES))
            .and_then(Value::as_array);
        let directories = directories.into_iter().flatten().filter_map(Value::as_str);
        self.directories.extend(directories.map(str::to_owned));
        if let Some(map) = value.get(key::ENV).and_then(Value::as_object) {
            for (name, value) in map {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                self.env.insert(name.clone(), value);
            }
        }
        if let Some(on) = value.get(key::AUTO_MEMORY).and_then(Value::as_bool) {
            self.auto_memory = Some(on);
        }
        // Honoured from project settings as well: the client does so, and another folder
        // here would be one that its sessions never read.
        if let Some(dir) = text(key::AUTO_MEMORY_DIRECTORY) {
            self.auto_memory_directory = Some(dir.to_owned());
        }
        if let Some(language) = text(key::LANGUAGE) {
            self.language = Some(sourced(language));
        }
        if let Some(style) = text(key::OUTPUT_STYLE) {
            self.output_style = Some(sourced(style));
        }
        // In any other layer the client ignores the key.
        if layer == SettingsLayer::Managed
            && let Some(words) = text(key::CLAUDE_MD)
        {
            self.managed_text = Some(sourced(words));
        }
        let enabled = value.get(key::ENABLED_PLUGINS);
        if let Some(on) = enabled.and_then(|v| v.get(key::AGENTS_PLUGIN)) {
            self.agents_off = *on == Value::Bool(false);
        }
        // A checked-in file must not choose what else is read.
        if !matches!(layer, SettingsLayer::Project | SettingsLayer::Local) {
            self.take_agents(source, value);
        }
    }

    fn take_agents(&mut self, source: &str, value: &Value) {
        let options = value
            .get(key::PLUGIN_CONFIGS)
            .and_then(|v| v.get(key::AGENTS_PLUGIN))
            .and_then(|v| v.get(key::OPTIONS));
        let option = |name: &str| options.and_then(|o| o.get(name));
        if let Some(word) = option(key::INSTRUCTION_FILES) {
            if word.as_str().and_then(AgentsMode::parse).is_none() {
                self.warnings.push(format!(
                    "{source}: `{}` is {word}, which is none of claude-md, \
                     claude-md-or-agents-md, claude-md-and-agents-md, managed-only",
                    key::INSTRUCTION_FILES
                ));
            }
            // Kept even if unknown: an unknown word of a high layer still hides those below it.
            self.agents_word = Some(word.clone());
        }
        if let Some(word) = option(key::INSTRUCTION_FILES_OLD) {
            self.agents_old_word = Some(word.clone());
        }
    }

    fn choose_agents(&mut self) {
        let word = |value: &Option<Value>| value.as_ref()?.as_str().map(str::to_owned);
        let new = word(&self.agents_word).and_then(|w| AgentsMode::parse(&w));
        let old = word(&self.agents_old_word).and_then(|w| AgentsMode::parse_old(&w));
        self.agents = if self.agents_off {
            AgentsMode::ClaudeOnly
        } else {
            new.or(old).unwrap_or_default()
        };
    }
}
