//! The command line of `remora man`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// The text under the flags of `remora man`.
const MAN_HELP: &str = "Examples:
  remora man | man -l -                          the first page
  remora man ~/.local/share/man/man1             all pages, for `man remora-hooks-lint`";

#[derive(Debug, ClapArgs)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArgs {
    /// Write every page into this folder, instead of printing the first
    pub(crate) folder: Option<PathBuf>,
}
