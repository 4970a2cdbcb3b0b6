//! HTTP agents for every crate that calls out: the one place that knows that a
//! statically linked binary must not ask the C library for names.
//!
//! A leaf, because the engine's http handlers, the model providers and the
//! worker need it and must not know each other. It starts nothing by itself: the
//! caller lends it a way to run a program under a deadline.
#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod resolver;

use std::time::Instant;

use ureq::Agent;
use ureq::config::Config;

/// How a lookup's program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupExit {
    /// It exited with this code, after printing this text.
    Exited(i32, String),
    /// It was ended at the deadline.
    TimedOut,
    /// It could not be run, or a signal ended it.
    Failed(String),
}

/// Runs a program with these arguments and no environment to its end or the
/// deadline, bounds what it reads, and leaves nothing behind.
pub type RunLookup = fn(program: &str, args: &[String], deadline: Instant) -> LookupExit;

/// An agent of this configuration. Names are not looked up by the C library
/// where that may be linked statically.
pub fn build_agent(config: Config, run_lookup: RunLookup) -> Agent {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let resolver = resolver::NameResolver::of_system(run_lookup);
        let connector = ureq::unversioned::transport::DefaultConnector::default();
        Agent::with_parts(config, connector, resolver)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        let _ = run_lookup;
        config.into()
    }
}
