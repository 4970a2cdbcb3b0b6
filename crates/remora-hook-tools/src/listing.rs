//! The handlers of the settings files that users write: of the user, of the
//! project and of the user in the project. Those that are switched off and those
//! that are malformed are among them; managed settings and plugins are not, since
//! nobody edits them here.

use std::path::{Path, PathBuf};

use remora_core::EventName;
use remora_hooks::{LayerSource, SettingsPaths, inspect};
use serde_json::Value;

use crate::edit::{HandlerState, WrittenHandler, list_handlers};
use crate::settings_file::{SettingsFile, SettingsFileError};

/// A handler and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedHook {
    /// As the engine calls it, with a word in front if it is switched off.
    pub id: String,
    /// The layer of its file.
    pub source: LayerSource,
    /// Its file, as it was named.
    pub file: PathBuf,
    /// The handler as it is written.
    pub written: WrittenHandler,
}

impl ListedHook {
    /// What it does, in one line.
    pub fn label(&self) -> String {
        label_entry(&self.written.entry)
    }
}

/// What a handler does, in one line, well-formed or not.
pub fn label_entry(entry: &Value) -> String {
    let text = ["command", "url", "prompt", "tool"]
        .iter()
        .find_map(|key| entry.get(*key)?.as_str());
    let args = entry.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten().filter_map(Value::as_str);
    let mut label = text.map_or_else(|| entry.to_string(), str::to_owned);
    for arg in args {
        label.push(' ');
        label.push_str(arg);
    }
    label.replace('\n', " ")
}

/// One of the files, there or not.
#[derive(Debug)]
pub struct ListedFile {
    /// Its layer.
    pub source: LayerSource,
    /// Where it is, as it was named.
    pub path: PathBuf,
    /// What was read; edits start from these bytes. `None` if it cannot be read.
    pub settings: Option<SettingsFile>,
}

/// The files in enumeration order, and their handlers.
#[derive(Debug, Default)]
pub struct HookListing {
    /// Every file that users write, also those that are not there.
    pub files: Vec<ListedFile>,
    /// Every handler in them.
    pub hooks: Vec<ListedHook>,
    /// Why the handlers of a file cannot be listed; each error names its file.
    pub errors: Vec<SettingsFileError>,
}

/// Whether users write the files of a layer.
pub fn is_editable(source: LayerSource) -> bool {
    matches!(
        source,
        LayerSource::User | LayerSource::Project | LayerSource::Local
    )
}

/// Reads the files. One that cannot be read holds no handler that runs; the
/// others count.
pub fn list_hooks(places: &SettingsPaths) -> HookListing {
    let mut listing = HookListing::default();
    let mut enabled: Vec<(LayerSource, usize)> = Vec::new();
    for (source, path) in inspect::list_settings_files(places) {
        if !is_editable(source) {
            continue;
        }
        let mut settings = None;
        match read_handlers(&path, &mut settings) {
            Ok(handlers) => {
                let number = number_file(source, &handlers, &mut enabled);
                let hooks = handlers.into_iter().map(|written| ListedHook {
                    id: name_hook(source, &number, &written),
                    source,
                    file: path.clone(),
                    written,
                });
                listing.hooks.extend(hooks);
            }
            Err(error) => listing.errors.push(error),
        }
        listing.files.push(ListedFile {
            source,
            path,
            settings,
        });
    }
    listing
}

fn read_handlers(
    path: &Path,
    settings: &mut Option<SettingsFile>,
) -> Result<Vec<WrittenHandler>, SettingsFileError> {
    let file = settings.insert(SettingsFile::read(path)?);
    let Some(text) = file.text()? else {
        return Ok(Vec::new());
    };
    list_handlers(text).map_err(|source| SettingsFileError::Edit {
        file: path.to_path_buf(),
        source,
    })
}

/// Files of one layer are told apart by a number, as in the engine's ids.
fn number_file(
    source: LayerSource,
    handlers: &[WrittenHandler],
    enabled: &mut Vec<(LayerSource, usize)>,
) -> String {
    let earlier = enabled.iter().filter(|(s, n)| *s == source && *n > 0);
    let number = match earlier.count() {
        0 => String::new(),
        earlier => format!(".{}", earlier + 1),
    };
    let counts = |h: &&WrittenHandler| {
        h.place.state == HandlerState::Enabled && EventName::parse(&h.place.event).is_some()
    };
    enabled.push((source, handlers.iter().filter(counts).count()));
    number
}

fn name_hook(source: LayerSource, number: &str, written: &WrittenHandler) -> String {
    let place = &written.place;
    let prefix = match place.state {
        HandlerState::Enabled => "",
        HandlerState::Disabled => "disabled:",
    };
    format!(
        "{prefix}{}{number}/{}/{}/{}",
        source.as_str(),
        place.event,
        place.group,
        place.index
    )
}
