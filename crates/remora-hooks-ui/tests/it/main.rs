//! The screens as text, scripts of keys against files, and keys at random.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod random;
mod screens;
mod scripts;
mod stage;
