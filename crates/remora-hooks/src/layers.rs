//! Reads managed, user, project, local, `--settings` and plugin files and joins
//! them into one ordered list in which every handler keeps its source.
//!
//! The host says where things are; this file reads them. It decides neither
//! what may run (`trust.rs`) nor what matches (`plan.rs`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use remora_files::ReadError;
use serde_json::{Map, Value};

use crate::config::{self, HandlerConfig, Settings, SettingsResult, Strictness};
use crate::error::LoadError;
use crate::names;
use crate::permissions::RuleText;

mod discover;
mod managed;
mod options;
mod plugin;
mod source;

pub use options::PluginOptions;
pub(crate) use options::fill_options;
pub use source::LayerSource;

/// A plugin's name and places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// From its manifest, else the directory's name.
    pub name: String,
    /// The plugin's directory.
    pub root: PathBuf,
    /// Where it keeps its state.
    pub data: PathBuf,
    /// Who switched it on.
    pub enabled: PluginActivation,
    /// What the user has set for it.
    pub options: PluginOptions,
}

/// Who switched a plugin on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginActivation {
    /// The user, or the project.
    ByUser,
    /// The organisation; its hooks count as managed.
    ByPolicy,
}

/// The file a handler or a rule was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerFile {
    /// The layer that the file belongs to.
    pub source: LayerSource,
    /// The file; `None` for JSON passed on the command line.
    pub file: Option<PathBuf>,
    /// The plugin, in the plugin layer.
    pub plugin: Option<Plugin>,
}

impl LayerFile {
    /// The file's path, or `--settings` for JSON passed on the command line.
    pub fn describe(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None if matches!(self.source, LayerSource::Session | LayerSource::Callback) => {
                "the host".into()
            }
            None => "--settings".into(),
        }
    }
}

/// One configured handler with its position.
#[derive(Debug, Clone)]
pub struct ConfiguredHandler {
    /// Where it was written.
    pub place: Arc<LayerFile>,
    /// The event's own position among its groups, and its own in the group.
    pub position: (usize, usize),
    /// The matcher as it is written; `None` matches everything.
    pub matcher: Option<String>,
    /// The handler as it is configured.
    pub config: HandlerConfig,
    /// Which file of its layer it comes from, starting at 0. Part of the handler's id.
    pub(crate) file_number: usize,
    /// Equal for groups with the same matcher and handler fields; decides whether a
    /// managed and an ordinary handler are merged (`plan.rs`).
    pub(crate) group: Arc<str>,
    /// The event that it is configured for.
    pub event: remora_core::EventName,
    /// What brought it into the session: `skill:NAME`, `agent:ID`. `None` for settings.
    pub scope: Option<Arc<str>>,
}

/// The value of `--settings`.
#[derive(Debug, Clone)]
pub enum FlagSettings {
    /// The path of a settings file.
    File(PathBuf),
    /// A settings document itself.
    Json(String),
}

/// Which of the three settings files a user edits are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingSources {
    /// The user's settings for all projects.
    pub user: bool,
    /// The project's shared settings.
    pub project: bool,
    /// The user's own in the project.
    pub local: bool,
}

impl Default for SettingSources {
    fn default() -> Self {
        Self {
            user: true,
            project: true,
            local: true,
        }
    }
}

/// Where the files are. The host fills this in; the engine looks nowhere else.
#[derive(Debug, Clone)]
pub struct SettingsPaths {
    /// Where the session started.
    pub project: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// The settings directory in it, if it is not the usual one.
    pub config_dir: Option<PathBuf>,
    /// The organisation's directory.
    pub managed: Option<PathBuf>,
    /// `--settings`.
    pub flag: Option<FlagSettings>,
    /// Plugin directories.
    pub plugins: Vec<PathBuf>,
    /// `--setting-sources`.
    pub sources: SettingSources,
}

impl SettingsPaths {
    /// A project and a home, everything else as usual.
    pub fn new(project: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            home: home.into(),
            config_dir: None,
            managed: None,
            flag: None,
            plugins: Vec::new(),
            sources: SettingSources::default(),
        }
    }

    /// The user's settings directory.
    pub fn config_dir(&self) -> PathBuf {
        self.config_dir
            .clone()
            .unwrap_or_else(|| self.home.join(names::SETTINGS_DIR))
    }
}

/// What became of one file, for the trace.
#[derive(Debug, Clone)]
pub struct LayerReport {
    /// The file that the note is about.
    pub place: Arc<LayerFile>,
    /// What became of it: `3 handlers`, `not there`, or why it is void.
    pub note: String,
}

/// Everything that was read, joined. Immutable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layers {
    /// Handlers in enumeration order.
    pub entries: Vec<ConfiguredHandler>,
    /// What the user should fix.
    pub warnings: Vec<String>,
    /// What became of each file, for the trace.
    pub notes: Vec<LayerReport>,
    /// Permission rules with their sources.
    pub rules: Vec<RuleText>,
    /// More directories that count as the project's.
    pub directories: Vec<String>,
    /// Variables for handlers.
    pub env: BTreeMap<String, String>,
    /// `disableAllHooks` of the highest layer that sets it.
    pub(crate) disabled_by: Option<LayerSource>,
    /// Plugins that were loaded; of equal names the last one counts.
    pub(crate) plugins: Vec<Plugin>,
    /// Plugins that are switched on, by full id.
    pub(crate) enabled_plugins: BTreeMap<String, PluginActivation>,
    /// Options by the plugin's id, as far as users may set them.
    pub(crate) plugin_options: BTreeMap<String, Map<String, Value>>,
    pub(crate) managed_only: bool,
    pub(crate) plugins_only: bool,
    pub(crate) http_urls: Option<Vec<String>>,
    pub(crate) http_env: Option<Vec<String>>,
    /// The text of `--settings`: a session reads it once.
    flag: Option<(Arc<LayerFile>, String)>,
}

/// Reads and joins everything. With the layers that a session has already, only
/// what the client reads again: `--settings` and plugins stay as they are.
pub(crate) fn load_layers(
    places: &SettingsPaths,
    before: Option<&Layers>,
) -> Result<Layers, LoadError> {
    let mut layers = Layers::default();
    // Enumeration order; scalar values of a later layer win, so managed, which
    // is enumerated first, is applied last.
    let managed = match &places.managed {
        Some(dir) => managed::load_managed(dir, &mut layers)?,
        None => Vec::new(),
    };
    for (place, settings) in &managed {
        layers.take_hooks(place, settings);
    }
    let mut ordinary = Vec::new();
    for (source, path) in discover::list_settings_files(places) {
        let place = Arc::new(LayerFile {
            source,
            file: Some(path.clone()),
            plugin: None,
        });
        // A settings file that cannot be read is a warning, not an error: the client
        // starts without it, and the prediction must not be stricter.
        match read_file(&path) {
            Ok(bytes) => ordinary.extend(layers.parse(&place, &String::from_utf8_lossy(&bytes))),
            Err(error) => layers.record_unread(&place, &error),
        }
    }
    layers.flag = match (before, &places.flag) {
        (Some(before), _) => before.flag.clone(),
        (None, Some(flag)) => Some(read_flag(flag)?),
        (None, None) => None,
    };
    if let Some((place, text)) = layers.flag.clone() {
        ordinary.extend(layers.parse(&place, &text));
    }
    for (place, settings) in &ordinary {
        layers.take_hooks(place, settings);
    }
    // Switches are scalars: the last layer to set one wins, so managed settings are last.
    for (place, settings) in ordinary.iter().chain(&managed) {
        layers.take_switches(place, settings);
    }
    if let Some(before) = before {
        layers.keep_plugins(before);
        return Ok(layers);
    }
    // After the switches, because `enabledPlugins` says which plugins count.
    plugin::load_installed(places, &mut layers);
    for dir in &places.plugins {
        plugin::load_named(dir, places, &mut layers)?;
    }
    Ok(layers)
}

fn read_flag(flag: &FlagSettings) -> Result<(Arc<LayerFile>, String), LoadError> {
    let (file, text) = match flag {
        FlagSettings::Json(text) => (None, text.clone()),
        FlagSettings::File(path) => match read_file(path) {
            Ok(bytes) => (
                Some(path.clone()),
                String::from_utf8_lossy(&bytes).into_owned(),
            ),
            // The user named this file on the command line; a run without it would answer
            // another question than the one asked.
            Err(e) => {
                return Err(LoadError::Flag {
                    file: path.clone(),
                    problem: describe_error(&e),
                });
            }
        },
    };
    let place = Arc::new(LayerFile {
        source: LayerSource::Flag,
        file,
        plugin: None,
    });
    Ok((place, text))
}

/// Every settings file of a session, plugins aside, in enumeration order: also
/// those that are not there.
pub(crate) fn list_settings_files(places: &SettingsPaths) -> Vec<(LayerSource, PathBuf)> {
    let managed = places.managed.as_deref().map(managed::list_managed_files);
    let managed = managed.and_then(Result::ok).unwrap_or_default();
    let flag = match &places.flag {
        Some(FlagSettings::File(path)) => Some((LayerSource::Flag, path.clone())),
        _ => None,
    };
    managed
        .into_iter()
        .map(|path| (LayerSource::Policy, path))
        .chain(discover::list_settings_files(places))
        .chain(flag)
        .collect()
}

impl Layers {
    fn keep_plugins(&mut self, before: &Self) {
        let kept = |place: &LayerFile| place.source == LayerSource::Plugin;
        let entries = before.entries.iter().filter(|e| kept(&e.place));
        self.entries.extend(entries.cloned());
        let notes = before.notes.iter().filter(|n| kept(&n.place));
        self.notes.extend(notes.cloned());
        self.plugins.clone_from(&before.plugins);
    }

    fn parse(&mut self, place: &Arc<LayerFile>, text: &str) -> Option<(Arc<LayerFile>, Settings)> {
        let strictness = match place.source {
            LayerSource::Plugin => Strictness::Plugin,
            _ => Strictness::Settings,
        };
        self.record_settings(place, config::parse_settings(text, strictness))
    }

    fn record_settings(
        &mut self,
        place: &Arc<LayerFile>,
        read: SettingsResult,
    ) -> Option<(Arc<LayerFile>, Settings)> {
        match read {
            Ok((settings, warnings)) => {
                self.add_warnings(place, warnings);
                self.add_report(place, format_handler_count(&settings));
                Some((place.clone(), settings))
            }
            Err(reason) => {
                self.warnings.push(format!(
                    "{}: {reason}; the file is ignored",
                    place.describe()
                ));
                self.add_report(place, format!("ignored: {reason}"));
                None
            }
        }
    }

    fn record_unread(&mut self, place: &Arc<LayerFile>, error: &io::Error) {
        let note = describe_error(error);
        if !is_absent(error) {
            self.warnings
                .push(format!("{}: {note}; the file is ignored", place.describe()));
        }
        self.add_report(place, note);
    }

    fn add_warnings(&mut self, place: &LayerFile, warnings: Vec<String>) {
        self.warnings.extend(
            warnings
                .into_iter()
                .map(|w| format!("{}: {w}", place.describe())),
        );
    }

    fn add_report(&mut self, place: &Arc<LayerFile>, note: String) {
        self.notes.push(LayerReport {
            place: place.clone(),
            note,
        });
    }

    fn take_hooks(&mut self, place: &Arc<LayerFile>, settings: &Settings) {
        // Several files can share a layer: local settings have two (repository root and start
        // directory), and so may managed settings and a plugin. Ids need to tell them apart.
        let layer = |p: &LayerFile| (p.source, p.plugin.as_ref().map(|p| p.root.clone()));
        let mut files: Vec<&Arc<LayerFile>> = self.entries.iter().map(|e| &e.place).collect();
        files.retain(|p| layer(p) == layer(place) && !Arc::ptr_eq(p, place));
        // Handlers of one file follow each other, so neighbours are all there is to
        // compare.
        files.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let file_number = files.len();
        for group in &settings.groups {
            let canon: Arc<str> = group.canon.as_str().into();
            for (index, config) in &group.handlers {
                self.entries.push(ConfiguredHandler {
                    place: place.clone(),
                    position: (group.position, *index),
                    matcher: group.matcher.clone(),
                    config: config.clone(),
                    file_number,
                    group: canon.clone(),
                    event: group.event,
                    scope: None,
                });
            }
        }
    }

    fn take_switches(&mut self, place: &Arc<LayerFile>, settings: &Settings) {
        // An explicit `false` of a higher layer switches hooks back on.
        if let Some(on) = settings.disable_all_hooks {
            self.disabled_by = on.then_some(place.source);
        }
        // As in the client, both keys count in managed settings alone.
        if place.source == LayerSource::Policy {
            self.managed_only = settings.managed_hooks_only.unwrap_or(self.managed_only);
            self.plugins_only = settings.plugin_hooks_only.unwrap_or(self.plugins_only);
        }
        // Absent means "everything is allowed", an empty list "nothing is", so the first list
        // turns `None` into `Some` even when it is empty.
        for (mine, theirs) in [
            (&mut self.http_urls, &settings.http_urls),
            (&mut self.http_env, &settings.http_env),
        ] {
            if let Some(more) = theirs {
                mine.get_or_insert_default().extend(more.iter().cloned());
            }
        }
        // Managed settings come last here, so the organisation's choice overwrites the user's.
        let enabled = match place.source {
            LayerSource::Policy => PluginActivation::ByPolicy,
            _ => PluginActivation::ByUser,
        };
        for (id, on) in &settings.enabled_plugins {
            if *on {
                self.enabled_plugins.insert(id.clone(), enabled);
            } else {
                self.enabled_plugins.remove(id);
            }
        }
        // As in the client: a repository cannot set options of the user's plugins.
        if matches!(place.source, LayerSource::User | LayerSource::Flag) {
            for (id, options) in &settings.plugin_options {
                let known = self.plugin_options.entry(id.clone()).or_default();
                known.extend(
                    options
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
            }
        }
        self.env
            .extend(settings.env.iter().map(|(k, v)| (k.clone(), v.clone())));
        self.rules
            .extend(RuleText::from_lists(place, &settings.permissions));
        self.directories
            .extend(settings.permissions.directories.iter().cloned());
    }
}

fn format_handler_count(settings: &Settings) -> String {
    let handlers: usize = settings.groups.iter().map(|g| g.handlers.len()).sum();
    format!("{handlers} handler{}", if handlers == 1 { "" } else { "s" })
}

/// The longest settings file that is read. A sane one has a few kilobytes; the
/// bound only keeps a hostile repository from filling memory.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Reads a regular file of a sane size. A repository may carry a link to a
/// device or a pipe, which would never end.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    remora_files::read_file(path, MAX_FILE_BYTES).map_err(|error| match error {
        ReadError::TooLarge { .. } => {
            io::Error::other(format!("is longer than {} MiB", MAX_FILE_BYTES >> 20))
        }
        ReadError::Special => io::Error::other("is not a regular file"),
        error => error.into(),
    })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        // A file in place of `.claude` means the same as no `.claude`.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn describe_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "not there".into(),
        io::ErrorKind::PermissionDenied => "no permission to read it".into(),
        io::ErrorKind::IsADirectory => "is a directory, not a file".into(),
        _ => error.to_string(),
    }
}
