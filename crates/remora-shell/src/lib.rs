//! Reads Bash command lines without running anything.
//!
//! There are two readers, because their callers want opposite things of a line
//! that is not understood:
//!
//! - [`strict`] is for permissions. It follows the client's own reader, fills in
//!   variables, and refuses whatever could run something else than it seems to:
//!   a guard that stays silent is worse than one that runs.
//! - [`lenient`] is for memory. What it does not understand is a plain word, and
//!   a line that was cut in the middle still shows which programs ran.
//!
//! It is a crate of its own because the hooks engine and the memory both read
//! shell text and must not depend on each other.
#![forbid(unsafe_code)]

pub mod lenient;
pub mod strict;
