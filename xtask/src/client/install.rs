//! Gets the pinned client from npm into a cache folder, once.
//!
//! The version and the integrity hashes stand in `pin/package.json` and
//! `pin/package-lock.json`; npm refuses a package whose content differs. Where packages
//! come from is npm's own configuration, not ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// The client version that the cases were recorded with.
pub(super) const CLIENT_VERSION: &str = "2.1.325";

const PACKAGE_JSON: &str = include_str!("pin/package.json");
const PACKAGE_LOCK_JSON: &str = include_str!("pin/package-lock.json");

/// The client's executable, installed under `cache` if it is not there yet.
pub(super) fn install_client(cache: &Path) -> Result<PathBuf> {
    let place = cache.join(CLIENT_VERSION);
    if !place.is_dir() {
        install_package(cache, &place)?;
    }
    let program = program_in(&place).with_context(|| {
        format!(
            "the client in {} is damaged; remove that folder",
            place.display()
        )
    })?;
    let said = Command::new(&program)
        .arg("--version")
        .env_clear()
        .env("HOME", cache)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout);
    ensure!(
        said.trim().starts_with(CLIENT_VERSION),
        "{} calls itself `{}`, the cases were recorded with {CLIENT_VERSION}",
        program.display(),
        said.trim(),
    );
    Ok(program)
}

/// Installs beside the final place and renames, so that a broken install is never taken for one.
fn install_package(cache: &Path, place: &Path) -> Result<()> {
    ensure!(
        PACKAGE_JSON.contains(CLIENT_VERSION),
        "pin/package.json does not name version {CLIENT_VERSION}"
    );
    let fresh = cache.join(format!("{CLIENT_VERSION}.new-{}", std::process::id()));
    fs::create_dir_all(&fresh).with_context(|| format!("cannot create {}", fresh.display()))?;
    fs::write(fresh.join("package.json"), PACKAGE_JSON)?;
    fs::write(fresh.join("package-lock.json"), PACKAGE_LOCK_JSON)?;
    let done = npm_ci(&fresh)
        .and_then(|()| program_in(&fresh))
        .and_then(|_| {
            fs::rename(&fresh, place).with_context(|| {
                format!("cannot rename {} to {}", fresh.display(), place.display())
            })
        });
    if done.is_err() {
        let _ = fs::remove_dir_all(&fresh);
        if place.is_dir() {
            return Ok(()); // somebody else installed it at the same time
        }
    }
    done
}

fn npm_ci(folder: &Path) -> Result<()> {
    let done = Command::new("npm")
        .args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let done = match done {
        Ok(done) => done,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "npm was not found. The real-client stage takes client {CLIENT_VERSION} from npm: install \
             Node.js 20 or newer with npm, or set REMORA_CLIENT_CACHE to a folder that already \
             holds {CLIENT_VERSION}/"
        ),
        Err(error) => return Err(error).context("cannot start npm"),
    };
    ensure!(
        done.status.success(),
        "npm could not install client {CLIENT_VERSION} ({}):\n{}",
        done.status,
        String::from_utf8_lossy(&done.stderr).trim(),
    );
    Ok(())
}

/// npm leaves one platform package beside the main one; it holds the executable.
fn program_in(place: &Path) -> Result<PathBuf> {
    let scope = place.join("node_modules").join("@anthropic-ai");
    let mut found = Vec::new();
    for entry in fs::read_dir(&scope).with_context(|| format!("cannot list {}", scope.display()))? {
        let program = entry?.path().join("claude");
        if program.is_file() {
            found.push(program);
        }
    }
    let musl = cfg!(target_env = "musl");
    found.sort_by_key(|path| path.to_string_lossy().contains("musl") != musl);
    found
        .into_iter()
        .next()
        .with_context(|| format!("no client for this platform under {}", scope.display()))
}
