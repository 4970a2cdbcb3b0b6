//! One plugin directory: its name, its hook files and what its manifest adds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    LayerFile, LayerSource, Layers, Plugin, PluginActivation, SettingsPaths, describe_error,
    is_absent, options, read_file,
};
use crate::config::{self, Strictness};
use crate::error::LoadError;
use crate::names;

/// Where the client says that plugins of the command line come from.
const INLINE_MARKET: &str = "inline";

/// Loads a plugin that the user named on the command line. What is wrong with
/// it is an error: the user did not ask for a run without it.
pub(super) fn load_named(
    dir: &Path,
    places: &SettingsPaths,
    layers: &mut Layers,
) -> Result<(), LoadError> {
    load_plugin(dir, INLINE_MARKET, PluginActivation::ByUser, places, layers).map_err(|problem| {
        LoadError::Plugin {
            dir: dir.to_path_buf(),
            problem,
        }
    })
}

/// Loads the plugins that are installed and switched on. What is wrong with one
/// is a warning: the others still count.
pub(super) fn load_installed(places: &SettingsPaths, layers: &mut Layers) {
    let folder = places.config_dir().join("plugins");
    // The client maintains these two files. Missing or broken means that no plugin is
    // installed, which is what most users have, so there is nothing to warn about.
    let read = |name: &str| -> Option<Value> {
        serde_json::from_slice(&read_file(&folder.join(name)).ok()?).ok()
    };
    let (Some(book), markets) = (
        read(names::INSTALLED_PLUGINS_FILE),
        read(names::MARKETPLACES_FILE),
    ) else {
        return;
    };
    for (id, forced) in layers.enabled_plugins.clone() {
        let Some((name, market)) = id.split_once('@') else {
            continue;
        };
        let installs = book
            .get("plugins")
            .and_then(|p| p.get(&id))
            .and_then(Value::as_array);
        // A plugin can be installed for one project only; the latest fitting install wins.
        let fits = |install: &&Value| {
            let project = install.get("projectPath").and_then(Value::as_str);
            project.is_none_or(|p| places.project.starts_with(p))
        };
        let Some(install) = installs.into_iter().flatten().rfind(fits) else {
            continue;
        };
        // The client runs plugins of a local marketplace from the folder itself, not from
        // the copy made at installation.
        let local = markets
            .as_ref()
            .and_then(|m| in_place(m.get(market)?, name));
        let copied = install
            .get("installPath")
            .and_then(Value::as_str)
            .map(PathBuf::from);
        let Some(dir) = local.or(copied) else {
            continue;
        };
        if let Err(problem) = load_plugin(&dir, market, forced, places, layers) {
            layers
                .warnings
                .push(format!("plugin {id} ({}): {problem}", dir.display()));
        }
    }
}

/// The directory of a plugin in a local marketplace.
fn in_place(market: &Value, name: &str) -> Option<PathBuf> {
    if market.get("source")?.get("source")? != "directory" {
        return None;
    }
    let root = PathBuf::from(market.get("installLocation")?.as_str()?);
    let list: Value =
        serde_json::from_slice(&read_file(&root.join(names::MARKETPLACE_MANIFEST_FILE)).ok()?)
            .ok()?;
    let plugin = list
        .get("plugins")?
        .as_array()?
        .iter()
        .find(|p| p.get("name").is_some_and(|n| n == name))?;
    let path = plugin.get("source")?.as_str()?;
    Some(root.join(path.trim_start_matches("./")))
}

/// Reads `hooks/hooks.json` and what the manifest adds.
fn load_plugin(
    dir: &Path,
    market: &str,
    enabled: PluginActivation,
    places: &SettingsPaths,
    layers: &mut Layers,
) -> Result<(), String> {
    if !dir.is_dir() {
        return Err("is not a directory".into());
    }
    let manifest_path = dir.join(names::PLUGIN_MANIFEST_FILE);
    let manifest: Map<String, Value> = match read_file(&manifest_path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|e| format!("{} is not valid ({e})", names::PLUGIN_MANIFEST_FILE))?,
        Err(e) if is_absent(&e) => Map::new(),
        Err(e) => {
            return Err(format!(
                "{}: {}",
                names::PLUGIN_MANIFEST_FILE,
                describe_error(&e)
            ));
        }
    };
    let folder = dir
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = manifest
        .get("name")
        .and_then(Value::as_str)
        .map_or(folder, str::to_owned);
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            c
        } else {
            '-'
        }
    };
    options::check_declarations(&manifest)
        .map_err(|problem| format!("{}: {problem}", names::PLUGIN_MANIFEST_FILE))?;
    let full_id = format!("{name}@{market}");
    // A plugin of the command line has no marketplace that users know, so its name alone
    // counts as well.
    let bare = (market == INLINE_MARKET).then_some(name.as_str());
    let set = options::read_options(&full_id, bare, places, layers);
    // The client's own spelling, so that a handler finds the state it keeps there.
    let id: String = format!("{name}-{market}").chars().map(plain).collect();
    let data = places.config_dir().join("plugins").join("data").join(id);
    let plugin = Plugin {
        name,
        root: dir.to_path_buf(),
        data,
        enabled,
        options: set,
    };
    layers.plugins.push(plugin.clone());

    let mut files = vec![dir.join(names::PLUGIN_HOOKS_FILE)];
    let mut inline = None;
    match manifest.get("hooks") {
        Some(Value::String(path)) => files.push(dir.join(path)),
        Some(Value::Array(list)) => {
            files.extend(list.iter().filter_map(Value::as_str).map(|p| dir.join(p)));
        }
        Some(Value::Object(hooks)) => {
            // The client takes inline hooks with and without their wrapper.
            let wrapped = if hooks.contains_key("hooks") {
                hooks.clone()
            } else {
                Map::from_iter([("hooks".to_owned(), Value::Object(hooks.clone()))])
            };
            inline = Some(wrapped);
        }
        _ => {}
    }
    // A manifest may name the default file again, also through a link. Its handlers
    // would otherwise be listed twice and reported as duplicates of each other.
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in files {
        let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        let place = LayerFile {
            source: LayerSource::Plugin,
            file: Some(file.clone()),
            plugin: Some(plugin.clone()),
        };
        let place = Arc::new(place);
        match read_file(&file) {
            Ok(bytes) => {
                if let Some((place, settings)) =
                    layers.parse(&place, &String::from_utf8_lossy(&bytes))
                {
                    layers.take_hooks(&place, &settings);
                }
            }
            Err(error) => layers.record_unread(&place, &error),
        }
    }
    if let Some(map) = inline {
        let place = LayerFile {
            source: LayerSource::Plugin,
            file: Some(manifest_path),
            plugin: Some(plugin),
        };
        let place = Arc::new(place);
        let read = config::read_map(&map, Strictness::Plugin);
        if let Some((place, settings)) = layers.record_settings(&place, read) {
            layers.take_hooks(&place, &settings);
        }
    }
    Ok(())
}
