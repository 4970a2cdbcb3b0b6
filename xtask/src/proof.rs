//! `cargo xtask proof`: nothing is lost and nothing is doubled, whatever
//! happens to the hooks, the worker, the disk, the database and the clock.
//!
//! Each trial has a data directory of its own and the real program in it. What
//! was sent is compared with the event log and with the items made from it.
#![expect(clippy::print_stdout, reason = "xtask talks to people")]

mod crowd;
mod damage;
mod disk;
mod home;
mod poison;
mod versions;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use home::Tally;

const USAGE: &str =
    "usage: cargo xtask proof [--quick] [--seed N] [--only TRIAL] [--program PROGRAM]
  --quick            smaller numbers, the same trials; well under a minute
  --seed N           for what is random (default: 1)
  --only TRIAL       only trials whose name contains TRIAL
  --program PROGRAM  the `remora` to try (default: cargo builds a release)";

/// What a trial needs to run.
struct Trial<'a> {
    program: &'a Path,
    size: TrialSize,
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TrialSize {
    Full,
    Quick,
}

impl Trial<'_> {
    /// One number for each size.
    fn pick_by_size(&self, full: usize, quick: usize) -> usize {
        match self.size {
            TrialSize::Full => full,
            TrialSize::Quick => quick,
        }
    }
}

type TrialRun = fn(&Trial<'_>) -> Result<Tally>;

/// Every trial, in the order of the report.
const TRIALS: &[(&str, TrialRun)] = &[
    ("hooks at once", crowd::at_once),
    ("worker killed", crowd::try_killed_workers),
    ("killed within a batch", poison::killed_within_a_batch),
    ("events that panic", poison::try_panics),
    ("large spool at start", crowd::try_backlog),
    ("clock going back", crowd::try_clock_jumps),
    ("disk full and back", disk::try_full_disk),
    ("read-only and back", disk::read_only),
    ("damaged database", damage::run),
    ("two versions", versions::run),
];

#[derive(Default)]
struct ProofOptions {
    quick: bool,
    seed: Option<u64>,
    only: String,
    program: Option<PathBuf>,
    inside: Option<(String, PathBuf)>,
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = parse_options(args)?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build_program()?,
    };
    let trial = Trial {
        program: &program,
        size: if options.quick {
            TrialSize::Quick
        } else {
            TrialSize::Full
        },
        seed: options.seed.unwrap_or(1),
    };
    if let Some((name, disk)) = &options.inside {
        println!("{}", disk::run_on_disk(&trial, name, disk)?.to_json());
        return Ok(());
    }
    let mut failed = Vec::new();
    println!(
        "{:<22}{:>8}{:>8}{:>9}{:>6}{:>9}{:>9}",
        "trial", "sent", "stored", "refused", "lost", "doubled", "seconds"
    );
    for (name, run) in TRIALS.iter().filter(|(n, _)| n.contains(&options.only)) {
        let started = Instant::now();
        let tally = run(&trial).with_context(|| format!("trial `{name}`"))?;
        println!(
            "{name:<22}{:>8}{:>8}{:>9}{:>6}{:>9}{:>9.1}  {}",
            tally.sent,
            tally.stored,
            tally.refused,
            tally.lost,
            tally.doubled,
            started.elapsed().as_secs_f64(),
            tally.note
        );
        if !tally.is_complete() {
            failed.push(*name);
        }
    }
    if !failed.is_empty() {
        bail!("not exactly once: {}", failed.join(", "));
    }
    println!("every event exactly once");
    Ok(())
}

fn parse_options(args: &[String]) -> Result<ProofOptions> {
    let mut options = ProofOptions::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || {
            let value = args.next();
            value.with_context(|| format!("`{arg}` needs a value\n\n{USAGE}"))
        };
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--seed" => options.seed = Some(value()?.parse().context("--seed takes a number")?),
            "--only" => options.only.clone_from(value()?),
            "--program" => options.program = Some(std::path::absolute(value()?)?),
            // How a trial calls itself on a disk of its own.
            "--inside" => options.inside = Some((value()?.clone(), value()?.into())),
            _ => bail!("unknown argument `{arg}`\n\n{USAGE}"),
        }
    }
    Ok(options)
}

/// The program that people run.
pub(crate) fn build_program() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let done = Command::new(env!("CARGO"))
        .args(["build", "--release", "--bin", "remora"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(&root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !done.status.success() {
        bail!("the program could not be built");
    }
    let said = String::from_utf8_lossy(&done.stdout);
    said.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|line| Some(PathBuf::from(line["executable"].as_str()?)))
        .context("cargo does not say where the program is")
}

/// Numbers that look random, and are the same for the same seed.
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next_below(&mut self, bound: u64) -> u64 {
        // xorshift64*; the state must not be zero.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound.max(1)
    }
}

impl Trial<'_> {
    fn seeded_random(&self) -> SeededRandom {
        SeededRandom::new(self.seed)
    }
}

impl Tally {
    fn to_json(&self) -> Value {
        json!({
            "sent": self.sent, "stored": self.stored, "refused": self.refused,
            "lost": self.lost, "doubled": self.doubled, "note": self.note,
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let number = |name: &str| usize::try_from(value[name].as_u64()?).ok();
        Some(Self {
            sent: number("sent")?,
            stored: number("stored")?,
            refused: number("refused")?,
            lost: number("lost")?,
            doubled: number("doubled")?,
            note: value["note"].as_str()?.to_owned(),
        })
    }
}
