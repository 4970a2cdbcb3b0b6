//! Commands and what they print: the outputs that the readers are tested with,
//! with other names and numbers in them, and some that nobody reads.

use super::chance::Dice;
use super::code::SourceFile;

const OUTPUTS: &[&str] = &[
    include_str!("../../../cases/outputs/cargo.txt"),
    include_str!("../../../cases/outputs/git.txt"),
    include_str!("../../../cases/outputs/go.txt"),
    include_str!("../../../cases/outputs/java.txt"),
    include_str!("../../../cases/outputs/javascript.txt"),
    include_str!("../../../cases/outputs/native.txt"),
    include_str!("../../../cases/outputs/python.txt"),
    include_str!("../../../cases/outputs/traces.txt"),
    include_str!("../../../cases/outputs/unknown.txt"),
];

/// Outputs of the same tool, failing and passing, by their names.
const PAIRS: &[&(&str, &str)] = &[
    &("cargo-test-old-panic-and-exit-code", "cargo-test-passed"),
    &("go-test-verbose", "go-test-passed"),
    &("vitest-failed", "vitest-passed"),
    &("pytest-quiet-failed", "pytest-passed"),
    &("mypy-failed", "mypy-passed"),
    &("ruff-concise", "ruff-passed"),
];

/// Parts of paths that are the same everywhere.
const FIXED: &[&str] = &[
    "home",
    "src",
    "target",
    "tests",
    "test",
    "usr",
    "node_modules",
    "std",
    "core",
    "main",
    "com",
    "github",
    "http",
    "https",
    "registry",
    "crates",
    "ok",
    "FAILED",
    "failed",
    "panicked",
];

/// A command that ran.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) command: String,
    pub(super) output: String,
    pub(super) failed: bool,
}

impl Run {
    pub(super) fn passed(command: &str, output: String) -> Self {
        Self {
            command: command.to_owned(),
            output,
            failed: false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Outputs(Vec<(String, Run)>);

impl Outputs {
    pub(super) fn new() -> Self {
        let blocks = OUTPUTS.iter().flat_map(|text| text.split("%% "));
        Self(blocks.filter_map(case).collect())
    }

    pub(super) fn any(&self, dice: &mut Dice) -> Run {
        let at = dice.below(self.0.len() as u64);
        let (_, run) = &self.0[usize::try_from(at).unwrap_or_default()];
        let mut run = run.clone();
        run.output = renamed(dice, &run.output);
        run
    }

    /// A command that fails, and the same command passing.
    pub(super) fn pair(&self, dice: &mut Dice) -> (Run, Run) {
        let (bad, good) = *dice.pick(PAIRS);
        let mut failed = self.named(bad);
        failed.output = renamed(dice, &failed.output);
        failed.failed = true;
        let passed = Run {
            command: failed.command.clone(),
            failed: false,
            ..self.named(good)
        };
        (failed, passed)
    }

    fn named(&self, name: &str) -> Run {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map_or_else(
            || Run::passed("true", String::new()),
            |(_, run)| run.clone(),
        )
    }
}

fn case(block: &str) -> Option<(String, Run)> {
    let (head, output) = block.split_once("\n--\n")?;
    let mut lines = head.lines();
    let name = lines.next()?.to_owned();
    let value = |key: &str| lines.clone().find_map(|line| line.strip_prefix(key));
    let run = Run {
        command: value("command: ")?.to_owned(),
        output: output.replace('␛', "\u{1b}").replace('␍', "\r"),
        failed: value("host: ") == Some("failed"),
    };
    Some((name, run))
}

/// Other names in paths, other digits in long numbers.
fn renamed(dice: &mut Dice, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for piece in text.split_inclusive([' ', '\n']) {
        let path = piece.contains('/') || piece.contains("::");
        let mut word = String::new();
        for c in piece.chars() {
            if path && c.is_ascii_lowercase() {
                word.push(c);
                continue;
            }
            end_word(dice, &mut word, &mut out);
            out.push(c);
        }
        if path {
            end_word(dice, &mut word, &mut out);
        }
    }
    out
}

fn end_word(dice: &mut Dice, word: &mut String, out: &mut String) {
    if word.len() > 3 && !FIXED.contains(&word.as_str()) {
        out.push_str(&dice.name());
    } else {
        out.push_str(word);
    }
    word.clear();
}

pub(super) fn listing(dice: &mut Dice, files: &[SourceFile]) -> String {
    let mut text = format!("total {}\n", files.len() * 4);
    for file in files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        text.extend([format!(
            "-rw-r--r-- 1 dev dev {:6} Nov {:2} {:02}:{:02} {name}\n",
            file.text.len(),
            1 + dice.below(28),
            dice.below(24),
            dice.below(60)
        )]);
    }
    text
}

/// Variables, one of them a secret that must be taken out.
pub(super) fn variables(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..20 {
        let name = dice.name().to_uppercase();
        text.extend([format!("{name}={}\n", dice.name())]);
    }
    text.extend([format!("DATABASE_PASSWORD={}\n", dice.hex(24))]);
    text
}

/// A long log of a server: the kind of output that is mostly noise.
pub(super) fn server_log(dice: &mut Dice) -> String {
    let mut text = String::new();
    for n in 0..40 + dice.below(200) {
        let level = match dice.below(20) {
            0 => "WARN",
            _ => "INFO",
        };
        text.extend([format!(
            "2026-11-15T12:{:02}:{:02}.{:03}Z {level} {}: {} took {} ms, request {}\n",
            n / 60 % 60,
            n % 60,
            dice.below(1000),
            dice.word(),
            dice.name(),
            dice.below(400),
            dice.uuid()
        )]);
    }
    text
}
