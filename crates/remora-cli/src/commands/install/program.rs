//! The path under which this program is written into settings: as it is found on
//! the PATH. A link stays a link, so that an upgrade behind it needs no second
//! installation.

use std::path::{Path, PathBuf};

use super::client;
use crate::environment::Environment;
use crate::error::CliError;

/// The path of this program that is most likely to outlive an upgrade.
pub(super) fn lasting_path(environment: &Environment) -> Result<PathBuf, CliError> {
    let own = std::env::current_exe()?;
    let called = std::env::args_os().next().map(PathBuf::from);
    let called = called.filter(|path| path.is_absolute());
    let found = client::find_all(environment, "remora")
        .into_iter()
        .chain(called);
    Ok(first_same(found, &own).unwrap_or(own))
}

/// The first that is this program, with its links as they are.
fn first_same(mut found: impl Iterator<Item = PathBuf>, own: &Path) -> Option<PathBuf> {
    let real = own.canonicalize().ok()?;
    found.find(|path| path.canonicalize().is_ok_and(|path| path == real))
}
