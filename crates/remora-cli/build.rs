//! How the binary is linked: on Linux with glibc at a fixed address.
//!
//! At a free one the loader has fifteen thousand addresses to correct before
//! the first instruction of a hook, a fifth of the hook's time; see
//! `docs/benchmarks.md`. Libraries, heap and stack lie where chance puts them
//! all the same.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything by the environment"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|own| own == value);
    if is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
