//! `cargo xtask soak`: one `remora hooks serve` under load for as long as it takes to show
//! that nothing grows, and then hosts and servers that are killed at random instants.
//!
//! Handlers of the trials carry a variable in their environment, by which `/proc` says what
//! was left behind.
#![expect(clippy::print_stdout, reason = "xtask talks to people")]

mod kills;
mod load;
mod server;
mod usage;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::proof;

const USAGE: &str =
    "usage: cargo xtask soak [--events N] [--kills N] [--seed N] [--program PROGRAM]
  --events N         events of the load, from 8 sessions (default: 100000)
  --kills N          hosts and servers killed at random (default: 100)
  --seed N           for what is random (default: 1)
  --program PROGRAM  the `remora` to try (default: cargo builds a release)";

/// Sessions at the same time.
const SESSIONS: usize = 8;

struct SoakOptions {
    events: usize,
    kills: usize,
    seed: u64,
    program: Option<PathBuf>,
    /// How a trial calls itself to be a host that can be killed.
    host: Option<PathBuf>,
}

/// Runs the soak.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = parse_options(args)?;
    if let Some(home) = &options.host {
        let program = options
            .program
            .as_deref()
            .context("--host needs --program")?;
        return kills::be_host(program, home);
    }
    let program = match options.program {
        Some(program) => program,
        None => proof::build_program()?,
    };
    if options.events > 0 {
        let report = load::run(&program, options.events)?;
        println!("{report}");
    }
    if options.kills > 0 {
        let report = kills::run(&program, options.kills, options.seed)?;
        println!("{report}");
    }
    Ok(())
}

fn parse_options(args: &[String]) -> Result<SoakOptions> {
    let mut options = SoakOptions {
        events: 100_000,
        kills: 100,
        seed: 1,
        program: None,
        host: None,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = args
            .next()
            .with_context(|| format!("`{arg}` needs a value\n\n{USAGE}"))?;
        let number = || {
            value
                .parse()
                .with_context(|| format!("{arg} takes a number"))
        };
        match arg.as_str() {
            "--events" => options.events = number()?,
            "--kills" => options.kills = number()?,
            "--seed" => options.seed = value.parse().context("--seed takes a number")?,
            "--program" => options.program = Some(std::path::absolute(value)?),
            "--host" => options.host = Some(value.into()),
            _ => bail!("unknown argument `{arg}`\n\n{USAGE}"),
        }
    }
    Ok(options)
}

/// A home with a project whose hooks are `hooks`.
fn write_home(home: &Path, hooks: &serde_json::Value) -> Result<PathBuf> {
    let project = home.join("project");
    std::fs::create_dir_all(project.join(".claude"))?;
    let settings = serde_json::json!({ "hooks": hooks });
    std::fs::write(project.join(".claude/settings.json"), settings.to_string())?;
    Ok(project)
}
