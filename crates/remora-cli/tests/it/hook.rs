//! `remora hook`, as an agent calls it: whatever happens, it answers with
//! something valid, says nothing else, exits 0, and loses nothing it was given.

pub(crate) mod den;
mod embedded;
mod identity;
mod input;
mod kept;
mod locked;
mod recalled;
mod start;
mod stranger;
mod trouble;
