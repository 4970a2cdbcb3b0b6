//! Commands that can mend what failed: those that change the state of a machine
//! or a checkout, and another form of the very command that failed. Works on
//! the keys that [`super::same_command_key`] gives.

use super::{only_looks, parts};

/// Programs that change something whatever they are told.
const PROGRAMS: &[&str] = &[
    "rm", "mv", "cp", "mkdir", "touch", "ln", "chmod", "chown", "export", "unset", "kill", "pkill",
    "apt", "apt-get", "brew", "dnf", "apk", "pacman", "systemctl", "service", "rustup", "nvm",
    "fnm", "mise", "asdf", "pyenv", "corepack", "direnv", "createdb", "dropdb", "alembic",
    "ssh-add", "sysctl", "ulimit", "patch",
];

/// Verbs that change something, whosever they are.
const VERBS: &[&str] = &[
    "add", "install", "i", "ci", "update", "upgrade", "remove", "uninstall", "dedupe", "rebuild",
    "prune", "sync", "lock", "init", "import", "force-unlock", "state", "pull", "fetch", "checkout",
    "restore", "reset", "stash", "submodule", "lfs", "clean", "switch", "config", "configure",
    "login", "sso", "generate", "gen", "codegen", "prepare", "migrate", "migration", "seed",
    "setup", "bootstrap", "up", "down", "start", "restart", "delete", "create", "apply", "patch",
    "scale", "tidy", "mod", "remote", "repro", "link", "use", "allow", "set", "enable",
    "fix", "--fix", "-i", "generate-lockfile", "--stop", "volume", "system",
];

/// Words behind the program among which its verb is.
const WORDS: usize = 4;

/// Options that make a command do less.
const NARROWING: &[&str] = &[
    "--lib", "--bin", "--bins", "--test", "--tests", "--doc", "--example", "-p", "--package", "-k",
    "-m", "-t", "-F", "--filter", "--exclude", "--skip", "--ignore", "-run", "--only", "--help",
    "-h", "--version", "-V", "--dry-run", "--list", "--no-run", "--collect-only", "-g", "--grep",
    "--testNamePattern", "--testPathPattern", "-x", "--project", "--workspace",
];

/// Whether the command with this key may have mended something.
pub(crate) fn acts(key: &str) -> bool {
    let edits_in_place = |part: &str| part.starts_with("sed ") && part.contains(" -i");
    let acts = |part: &str| {
        let mut words = part.split(' ');
        let program = words.next().unwrap_or_default();
        edits_in_place(part)
            || PROGRAMS.contains(&program)
            || words.take(WORDS).any(|word| VERBS.contains(&word))
    };
    let shows = only_looks(key) && !parts(key).any(edits_in_place);
    !shows && parts(key).any(acts)
}

/// What the second form of a command says more than the first, if that is only
/// options that do not make it do less.
pub(crate) fn added_to(failed: &str, passed: &str) -> Option<String> {
    if failed.contains(" && ") || passed.contains(" && ") || failed == passed {
        return None;
    }
    let mut wanted = failed.split(' ').peekable();
    let mut added: Vec<&str> = Vec::new();
    let mut is_value = false;
    for word in passed.split(' ') {
        if wanted.next_if_eq(&word).is_some() {
            is_value = false;
            continue;
        }
        let name = word.split('=').next().unwrap_or(word);
        let is_option = word.starts_with('-') && word.len() > 1;
        if NARROWING.contains(&name) || !is_option && !is_value {
            return None;
        }
        is_value = is_option && !word.contains('=');
        added.push(word);
    }
    let whole = wanted.peek().is_none() && !added.is_empty();
    whole.then(|| added.join(" "))
}

/// Variables that a command line sets in front of its program.
pub(crate) fn settings_of(line: &str) -> Vec<&str> {
    let is_setting = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        })
    };
    line.split_whitespace().filter(is_setting).collect()
}
