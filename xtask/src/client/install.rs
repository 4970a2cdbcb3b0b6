//! Gets the pinned clients from npm into a cache folder, once.
//!
//! The versions and the integrity hashes are in `pin/*/package.json` and
//! `pin/*/package-lock.json`; npm refuses a package whose content differs. Where packages
//! come from is npm's own configuration, not ours.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

/// A client of which one version is pinned.
pub(super) struct PinnedClient {
    /// Its folder in the cache, without the version.
    folder_prefix: &'static str,
    /// The version that the cases were recorded with.
    pub(super) version: &'static str,
    package_json: &'static str,
    package_lock_json: &'static str,
    /// Where npm leaves the platform's package, and the program in it.
    scope: &'static str,
    programs: &'static [&'static str],
}

/// Claude Code. Its folder is named by the version alone, because caches from before there was a
/// second client are.
pub(super) const CLAUDE_CODE: PinnedClient = PinnedClient {
    folder_prefix: "",
    version: "2.1.325",
    package_json: include_str!("pin/claude-code/package.json"),
    package_lock_json: include_str!("pin/claude-code/package-lock.json"),
    scope: "@anthropic-ai",
    programs: &["claude"],
};

/// Codex CLI. Only the platforms on which the stage runs are named.
pub(super) const CODEX: PinnedClient = PinnedClient {
    folder_prefix: "codex-",
    version: "0.166.0",
    package_json: include_str!("pin/codex/package.json"),
    package_lock_json: include_str!("pin/codex/package-lock.json"),
    scope: "@openai",
    programs: &[
        "vendor/x86_64-unknown-linux-musl/bin/codex",
        "vendor/aarch64-unknown-linux-musl/bin/codex",
        "vendor/x86_64-apple-darwin/bin/codex",
        "vendor/aarch64-apple-darwin/bin/codex",
    ],
};

impl PinnedClient {
    /// The client's executable, installed under `cache` if it is not there yet.
    pub(super) fn install(&self, cache: &Path) -> Result<PathBuf> {
        let place = cache.join(format!("{}{}", self.folder_prefix, self.version));
        if !place.is_dir() {
            self.install_package(cache, &place)?;
        }
        let program = self.program_in(&place).with_context(|| {
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
            said.split_whitespace().any(|word| word == self.version),
            "{} calls itself `{}`, the cases were recorded with {}",
            program.display(),
            said.trim(),
            self.version,
        );
        Ok(program)
    }

    /// Installs beside the final place and renames, so that a broken install is never taken for
    /// one.
    fn install_package(&self, cache: &Path, place: &Path) -> Result<()> {
        ensure!(
            self.package_json.contains(self.version),
            "package.json does not pin version {}",
            self.version
        );
        let fresh = place.with_extension(format!("new-{}", std::process::id()));
        fs::create_dir_all(cache).with_context(|| format!("cannot create {}", cache.display()))?;
        fs::create_dir_all(&fresh).with_context(|| format!("cannot create {}", fresh.display()))?;
        fs::write(fresh.join("package.json"), self.package_json)?;
        fs::write(fresh.join("package-lock.json"), self.package_lock_json)?;
        let done = self
            .run_npm_ci(&fresh)
            .and_then(|()| self.program_in(&fresh))
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

    fn run_npm_ci(&self, folder: &Path) -> Result<()> {
        let done = Command::new("npm")
            .args([
                "ci",
                // The platform's package holds the executable, so no script of a package
                // has to run.
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .current_dir(folder)
            .stdin(Stdio::null())
            .output();
        let version = self.version;
        let done = match done {
            Ok(done) => done,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
                "npm was not found. The real-client stage takes client {version} from npm: install \
                 Node.js 20 or newer with npm, or set REMORA_CLIENT_CACHE to a folder that already \
                 holds {}{version}/",
                self.folder_prefix
            ),
            Err(error) => return Err(error).context("cannot start npm"),
        };
        ensure!(
            done.status.success(),
            "npm could not install client {version} ({}):\n{}",
            done.status,
            String::from_utf8_lossy(&done.stderr).trim(),
        );
        Ok(())
    }

    /// npm leaves one platform package beside the main one; it holds the executable.
    fn program_in(&self, place: &Path) -> Result<PathBuf> {
        let scope = place.join("node_modules").join(self.scope);
        let mut found = Vec::new();
        for entry in
            fs::read_dir(&scope).with_context(|| format!("cannot list {}", scope.display()))?
        {
            let package = entry?.path();
            let programs = self.programs.iter().map(|name| package.join(name));
            found.extend(programs.filter(|program| program.is_file()));
        }
        let musl = cfg!(target_env = "musl");
        found.sort_by_key(|path| path.to_string_lossy().contains("musl") != musl);
        found
            .into_iter()
            .next()
            .with_context(|| format!("no client for this platform under {}", scope.display()))
    }
}
