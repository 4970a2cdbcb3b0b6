//! Whether what was typed is a shell command rather than a search: then its
//! flags are words, for nobody wants `rm -rf build` without `rf`.

use super::scan::{Operator, TokenScan};

/// How long flags without a value are when several are put together: `-xzvf`.
const MAX_COMBINED_FLAG_BYTES: usize = 4;

/// What people run with short flags. Names that people also search by are in
/// it, so a longer word behind a hyphen is left out all the same.
const COMMAND_NAMES: &[&str] = &[
    "adb",
    "ansible",
    "apt",
    "awk",
    "bash",
    "brew",
    "cargo",
    "cat",
    "chmod",
    "chown",
    "clang",
    "cmake",
    "cp",
    "curl",
    "cut",
    "date",
    "df",
    "diff",
    "docker",
    "du",
    "echo",
    "env",
    "ffmpeg",
    "find",
    "gcc",
    "gh",
    "git",
    "go",
    "gradle",
    "grep",
    "gzip",
    "head",
    "java",
    "javac",
    "jq",
    "kill",
    "kubectl",
    "less",
    "ln",
    "ls",
    "make",
    "mkdir",
    "mv",
    "mvn",
    "mysql",
    "nc",
    "netstat",
    "node",
    "npm",
    "npx",
    "openssl",
    "perl",
    "php",
    "ping",
    "pip",
    "pnpm",
    "podman",
    "ps",
    "psql",
    "python",
    "python3",
    "rg",
    "rm",
    "rsync",
    "ruby",
    "scp",
    "sed",
    "sh",
    "sort",
    "ss",
    "ssh",
    "sudo",
    "tail",
    "tar",
    "tee",
    "terraform",
    "time",
    "touch",
    "tsc",
    "uname",
    "unzip",
    "uv",
    "watch",
    "wc",
    "wget",
    "which",
    "xargs",
    "yarn",
    "zip",
    "zsh",
];

/// Whether it has what only commands have, or begins with the name of one and
/// goes on with flags.
pub(super) fn looks_so(text: &str, scan: &TokenScan<'_>) -> bool {
    if scan
        .found
        .iter()
        .any(|found| found.sign == Operator::Command)
    {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let flags = |text: &str| {
        text.len() <= MAX_COMBINED_FLAG_BYTES && text.bytes().all(|b| b.is_ascii_alphabetic())
    };
    COMMAND_NAMES.contains(&first)
        && scan.found.iter().any(
            |found| matches!(found.sign, Operator::Without { text, quoted: false } if flags(text)),
        )
}
