//! The organisation's settings: one file and its drop-ins, read strictly.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    LayerFile, LayerSource, Layers, describe_error, format_handler_count, is_absent, read_file,
};
use crate::config::{self, Settings, Strictness};
use crate::error::LoadError;
use crate::names;

/// The managed file and its drop-ins. Any doubt about them is an error: the
/// client refuses to start, because rules of the organisation that are silently
/// missing would let calls through.
pub(super) fn load_managed(
    dir: &Path,
    layers: &mut Layers,
) -> Result<Vec<(Arc<LayerFile>, Settings)>, LoadError> {
    let paths = list_managed_files(dir).map_err(|e| LoadError::Managed {
        file: dir.join(names::MANAGED_DROP_INS_DIR),
        problem: describe_error(&e),
    })?;
    let mut read = Vec::new();
    for path in paths {
        let place = Arc::new(LayerFile {
            source: LayerSource::Policy,
            file: Some(path.clone()),
            plugin: None,
        });
        let bytes = match read_file(&path) {
            Ok(bytes) => bytes,
            Err(e) if is_absent(&e) => {
                layers.record_unread(&place, &e);
                continue;
            }
            Err(e) => {
                return Err(LoadError::Managed {
                    file: path,
                    problem: describe_error(&e),
                });
            }
        };
        match config::parse_settings(&String::from_utf8_lossy(&bytes), Strictness::Managed) {
            Ok((settings, warnings)) => {
                layers.add_warnings(&place, warnings);
                layers.add_report(&place, format_handler_count(&settings));
                read.push((place, settings));
            }
            Err(problem) => {
                return Err(LoadError::Managed {
                    file: path,
                    problem,
                });
            }
        }
    }
    Ok(read)
}

/// The managed file and its drop-ins, in the order in which they are read,
/// whether they are there or not.
pub(super) fn list_managed_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = vec![dir.join(names::MANAGED_FILE)];
    let drop_ins = dir.join(names::MANAGED_DROP_INS_DIR);
    match fs::read_dir(&drop_ins) {
        Ok(list) => {
            let mut found: Vec<PathBuf> = list.filter_map(|e| e.ok().map(|e| e.path())).collect();
            found.retain(|p| {
                let name = p.file_name().and_then(|n| n.to_str()).unwrap_or_default();
                !name.starts_with('.') && Path::new(name).extension().is_some_and(|e| e == "json")
            });
            // Drop-ins are merged on top of each other in alphabetical order.
            found.sort();
            paths.extend(found);
        }
        Err(e) if is_absent(&e) => {}
        Err(e) => return Err(e),
    }
    Ok(paths)
}
