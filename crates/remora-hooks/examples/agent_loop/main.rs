//! A whole agent around the hooks engine, with a scripted model:
//!
//! ```text
//! cargo run -p remora-hooks --example agent_loop -- PROJECT SCRIPT
//! ```
//!
//! `examples/hosts/` has a project and a script, and the same agent in Python and
//! TypeScript. Prints what the model reads and the user sees.
#![expect(clippy::print_stdout, reason = "a program for people")]

// As a test includes it, beside this file.
#[path = "parts.rs"]
mod parts;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [project, script] = args.as_slice() else {
        return Err("usage: agent_loop PROJECT SCRIPT".into());
    };
    let home = std::env::home_dir().ok_or("there is no home")?;
    let session_dir = tempfile::tempdir()?;
    let script = serde_json::from_slice(&std::fs::read(script)?)?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of its own, which lends its environment to the engine"
    )]
    let environment = std::env::vars_os().collect();
    let session = session_dir.path().to_owned();
    let project = project.canonicalize()?;
    let transcript = parts::play::play_script(&project, &home, session, environment, script)?;
    print!("{}", transcript.concat());
    Ok(())
}
