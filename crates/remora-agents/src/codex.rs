//! Codex CLI: the payloads that its hooks get, the answers that it takes, and
//! the files of its past sessions.

pub mod patch;
