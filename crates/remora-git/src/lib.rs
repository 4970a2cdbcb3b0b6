//! Asks git about repositories that others made, without running anything of
//! theirs.
//!
//! A repository names programs in its configuration: filters, file system
//! monitors, hooks, converters, transports. A list of settings to switch off
//! is never complete, so git does not see that configuration at all: every
//! question that looks at contents is asked with a configuration of ours in
//! place of the repository's (see [`Checkout`]). It is a crate of its own
//! because the instructions, the worker and the binary ask git, and there must
//! be one way to do it.

mod checkout;
mod program;
mod run;

pub use checkout::{Checkout, CheckoutSearch, GitCommand, GitFolders};
pub use program::{Git, SYSTEM_FOLDERS};
pub use run::{CancelToken, GitOutcome, RecordFormat};

#[cfg(test)]
mod tests;
