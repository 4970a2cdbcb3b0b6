//! How long loading takes, as a ratio within one run: 200 instruction files,
//! 60 of them imported, against a bare read of the same bytes; and a touched
//! file's share.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use remora_instructions::{InstructionOptions, InstructionPaths, Instructions};

/// Files, and how many of them come as imports.
const FILES: usize = 200;
const IMPORTS: usize = 60;

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let rounds = if quick { 2 } else { 200 };
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let (cwd, home) = (root.join("home/app"), root.join("home"));
    let files = lay(&cwd);
    let places = InstructionPaths::new(&cwd, &home);
    let load = || Instructions::load(places.clone(), InstructionOptions::default());
    let loaded = load();
    assert_eq!(loaded.start().len(), FILES);
    let bytes: u64 = loaded.start().iter().map(|f| f.bytes).sum();

    let read = || {
        for file in &files {
            black_box(fs::read(file).unwrap());
        }
    };
    report(
        &format!("{FILES} files, {bytes} bytes, warm"),
        rounds,
        read,
        || {
            black_box(load());
        },
    );
    if drop_caches() {
        let rounds = if quick { 1 } else { 15 };
        let cold = |work: &dyn Fn()| {
            drop_caches();
            time(work)
        };
        let mut pairs: Vec<(Duration, Duration)> = Vec::new();
        for _ in 0..rounds {
            pairs.push((
                cold(&read),
                cold(&|| {
                    black_box(load());
                }),
            ));
        }
        let (bare, ours) = pairs.into_iter().unzip();
        line("the same, cold", median(bare), median(ours));
    } else {
        println!("the same, cold: not measured, this user may not drop the page cache");
    }
    let mut session = load();
    let touched = cwd.join("src/deep/a.rs");
    let mut times = Vec::new();
    for _ in 0..rounds {
        times.push(time(&mut || {
            black_box(session.on_read(&touched));
        }));
    }
    println!("a touched file in that session: {:?}", median(times));
}

/// The project: one CLAUDE.md with imports, and rules.
fn lay(cwd: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut put = |name: String, text: String| {
        let path = cwd.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        files.push(path);
    };
    let body = |number: usize| {
        let line =
            format!("- Rule {number}: keep `crate::part{number}` small, see https://x.org.\n");
        format!(
            "# Part {number}\n\n{}\n## More\n\n{}",
            line.repeat(12),
            line.repeat(12)
        )
    };
    let imports: Vec<String> = (0..IMPORTS).map(|n| format!("@docs/part{n}.md")).collect();
    let imports = imports.join("\n");
    put("CLAUDE.md".into(), format!("{}\n{imports}", body(0)));
    for n in 0..IMPORTS {
        put(format!("docs/part{n}.md"), body(n));
    }
    for n in 0..FILES - IMPORTS - 1 {
        put(format!(".claude/rules/topic{}/rule{n}.md", n % 8), body(n));
    }
    files
}

fn report(what: &str, rounds: usize, bare: impl Fn(), ours: impl Fn()) {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        first.push(time(&bare));
        second.push(time(&ours));
    }
    line(what, median(first), median(second));
}

fn line(what: &str, bare: Duration, ours: Duration) {
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("{what}: load {ours:?}, bare read {bare:?}, ratio {ratio:.2}");
}

fn time(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Only root may; everyone else measures warm.
fn drop_caches() -> bool {
    let sync = Command::new("sync").status();
    sync.is_ok_and(|s| s.success()) && fs::write("/proc/sys/vm/drop_caches", "1").is_ok()
}
