//! One plugin directory: its name, its hook files and what its manifest adds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Layers, Place, Places, Plugin, Source, absent, cause};
use crate::config::{self, Strictness};
use crate::error::LoadError;
use crate::names;

/// A plugin: `hooks/hooks.json` and what its manifest adds.
pub(super) fn load(dir: &Path, places: &Places, layers: &mut Layers) -> Result<(), LoadError> {
    let wrong = |problem: String| LoadError::Plugin {
        dir: dir.to_path_buf(),
        problem,
    };
    if !dir.is_dir() {
        return Err(wrong("is not a directory".into()));
    }
    let manifest_path = dir.join(names::PLUGIN_MANIFEST);
    let manifest: Map<String, Value> = match fs::read(&manifest_path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|e| wrong(format!("{} is not valid ({e})", names::PLUGIN_MANIFEST)))?,
        Err(e) if absent(&e) => Map::new(),
        Err(e) => return Err(wrong(format!("{}: {}", names::PLUGIN_MANIFEST, cause(&e)))),
    };
    let folder = dir
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = manifest
        .get("name")
        .and_then(Value::as_str)
        .map_or(folder, str::to_owned);
    let id: String = format!("{name}-inline")
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let data = places.config_dir().join("plugins").join("data").join(id);
    let plugin = Plugin {
        name,
        root: dir.to_path_buf(),
        data,
    };

    let mut files = vec![dir.join(names::PLUGIN_HOOKS)];
    let mut inline = None;
    match manifest.get("hooks") {
        Some(Value::String(path)) => files.push(dir.join(path)),
        Some(Value::Array(list)) => {
            files.extend(list.iter().filter_map(Value::as_str).map(|p| dir.join(p)));
        }
        Some(Value::Object(hooks)) => {
            // Inline hooks stand with or without their wrapper.
            let wrapped = if hooks.contains_key("hooks") {
                hooks.clone()
            } else {
                Map::from_iter([("hooks".to_owned(), Value::Object(hooks.clone()))])
            };
            inline = Some(wrapped);
        }
        _ => {}
    }
    // A manifest may name the default file again.
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in files {
        let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        if seen.contains(&real) {
            continue;
        }
        seen.push(real);
        let place = Place {
            source: Source::Plugin,
            file: Some(file.clone()),
            plugin: Some(plugin.clone()),
        };
        let place = Arc::new(place);
        match fs::read(&file) {
            Ok(bytes) => {
                if let Some((place, settings)) =
                    layers.parse(&place, &String::from_utf8_lossy(&bytes))
                {
                    layers.take_hooks(&place, &settings);
                }
            }
            Err(error) => layers.unread(&place, &error),
        }
    }
    if let Some(map) = inline {
        let place = Place {
            source: Source::Plugin,
            file: Some(manifest_path),
            plugin: Some(plugin),
        };
        let place = Arc::new(place);
        let read = config::read_map(&map, Strictness::Plugin);
        if let Some((place, settings)) = layers.keep(&place, read) {
            layers.take_hooks(&place, &settings);
        }
    }
    Ok(())
}
