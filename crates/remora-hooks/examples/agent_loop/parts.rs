//! The parts of the example, for its program and for the test that plays it.

mod agent;
pub(crate) mod play;
mod world;
