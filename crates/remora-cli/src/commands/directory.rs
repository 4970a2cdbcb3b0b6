//! Which directory `--project` and `--cwd` mean, for verbs that read the files
//! of a project.

use std::path::{Path, PathBuf};

use remora_instructions::normalise_path;

use crate::args::DirectoryArgs;
use crate::commands::data::DataDir;
use crate::environment::Environment;
use crate::error::CliError;
use remora_app::scope;

impl DirectoryArgs {
    /// This directory and no other.
    pub(crate) fn from_cwd(cwd: Option<PathBuf>) -> Self {
        Self { project: None, cwd }
    }

    /// The directory, which is there.
    pub(crate) fn resolve(&self, environment: &Environment) -> Result<PathBuf, CliError> {
        let here = || {
            environment.directory().cloned().ok_or_else(|| {
                CliError::Usage("the current directory is gone; pass --cwd DIR".to_owned())
            })
        };
        if let Some(project) = &self.project {
            return root_of(project, environment, here);
        }
        let directory = match &self.cwd {
            Some(directory) if directory.is_absolute() => normalise_path(directory),
            Some(directory) => normalise_path(&here()?.join(directory)),
            None => here()?,
        };
        if directory.is_dir() {
            return Ok(directory);
        }
        Err(CliError::Usage(format!(
            "--cwd {}: is not a directory",
            directory.display()
        )))
    }
}

/// The directory of the project with this key, name or path, in this order as
/// everywhere else.
fn root_of(
    text: &str,
    environment: &Environment,
    here: impl FnOnce() -> Result<PathBuf, CliError>,
) -> Result<PathBuf, CliError> {
    if let Some(root) = known_root(text)? {
        if root.is_dir() {
            return Ok(root);
        }
        return Err(CliError::Usage(format!(
            "--project {text}: its directory {} is gone; pass --cwd DIR",
            root.display()
        )));
    }
    let path = match (text.strip_prefix("~/"), environment.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if Path::new(text).is_absolute() => PathBuf::from(text),
        _ => here()?.join(text),
    };
    let path = normalise_path(&path);
    if path.is_dir() {
        return Ok(path);
    }
    Err(CliError::Usage(format!(
        "--project {text}: is neither a known project nor a directory"
    )))
}

/// Where the project of this key or name was last seen. Files can be read
/// without a memory, so one that cannot be opened knows no project.
fn known_root(text: &str) -> Result<Option<PathBuf>, CliError> {
    let Ok(data) = DataDir::with_default_config() else {
        return Ok(None);
    };
    let Ok(Some(store)) = data.app.open_store() else {
        return Ok(None);
    };
    let projects = store.list_projects()?;
    let found = scope::find_project_by_name(&projects, text)?;
    Ok(found
        .map(|project| PathBuf::from(&project.root))
        .filter(|root| root.is_absolute()))
}
