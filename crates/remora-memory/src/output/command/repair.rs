//! Commands that can repair what failed: those that change the state of a
//! machine or a checkout, and another form of the very command that failed.
//! Works on the keys of [`super::same_command_key`].

use super::{only_looks, split_key_parts};

/// Programs that change something whatever their arguments are.
const CHANGING_PROGRAMS: &[&str] = &[
    "rm",
    "mv",
    "cp",
    "mkdir",
    "touch",
    "ln",
    "chmod",
    "chown",
    "export",
    "unset",
    "kill",
    "pkill",
    "apt",
    "apt-get",
    "brew",
    "dnf",
    "apk",
    "pacman",
    "systemctl",
    "service",
    "rustup",
    "nvm",
    "fnm",
    "mise",
    "asdf",
    "pyenv",
    "corepack",
    "direnv",
    "createdb",
    "dropdb",
    "alembic",
    "ssh-add",
    "sysctl",
    "ulimit",
    "patch",
];

/// Verbs that change something, whosever they are.
const CHANGING_VERBS: &[&str] = &[
    "add",
    "install",
    "i",
    "ci",
    "update",
    "upgrade",
    "remove",
    "uninstall",
    "dedupe",
    "rebuild",
    "prune",
    "sync",
    "lock",
    "init",
    "import",
    "force-unlock",
    "state",
    "pull",
    "fetch",
    "checkout",
    "restore",
    "reset",
    "stash",
    "submodule",
    "lfs",
    "clean",
    "switch",
    "config",
    "configure",
    "login",
    "sso",
    "generate",
    "gen",
    "codegen",
    "prepare",
    "migrate",
    "migration",
    "seed",
    "setup",
    "bootstrap",
    "up",
    "down",
    "start",
    "restart",
    "delete",
    "create",
    "apply",
    "patch",
    "scale",
    "tidy",
    "mod",
    "remote",
    "repro",
    "link",
    "use",
    "allow",
    "set",
    "enable",
    "fix",
    "--fix",
    "-i",
    "generate-lockfile",
    "--stop",
    "volume",
    "system",
];

/// Verbs that show, ask or check, whosever they are.
const SHOWING_VERBS: &[&str] = &[
    "status",
    "diff",
    "log",
    "logs",
    "show",
    "list",
    "ls",
    "get",
    "describe",
    "inspect",
    "view",
    "ps",
    "top",
    "info",
    "history",
    "search",
    "help",
    "--help",
    "-h",
    "version",
    "--version",
    "-V",
    "explain",
    "plan",
    "preview",
    "whoami",
    "doctor",
    "outdated",
    "why",
    "tree",
    "blame",
    "branch",
    "trace",
    "watch",
    "check",
    "--check",
    "test",
    "tests",
    "lint",
    "vet",
    "typecheck",
    "type-check",
    "tsc",
    "clippy",
    "bench",
    "verify",
    "validate",
    "--dry-run",
    "-n",
];
/// Programs that show, ask or check, whatever their arguments are.
const SHOWING_PROGRAMS: &[&str] = &[
    "awk",
    "cd",
    "cmp",
    "cut",
    "date",
    "df",
    "diff",
    "dig",
    "du",
    "env",
    "free",
    "hexdump",
    "host",
    "hostname",
    "hyperfine",
    "id",
    "jest",
    "journalctl",
    "jq",
    "man",
    "mypy",
    "netstat",
    "nm",
    "nslookup",
    "objdump",
    "od",
    "pgrep",
    "ping",
    "printenv",
    "pytest",
    "readelf",
    "rspec",
    "ruff",
    "shellcheck",
    "sleep",
    "sort",
    "ss",
    "test",
    "time",
    "traceroute",
    "true",
    "tsc",
    "uname",
    "uniq",
    "vitest",
    "whoami",
    "xxd",
    "yq",
];
/// Programs that ask, unless a word of theirs changes something.
const ASKING_PROGRAMS: &[(&str, &[&str])] = &[
    (
        "curl",
        &[
            "-X",
            "-d",
            "--data",
            "-F",
            "-T",
            "-o",
            "-O",
            "-sSLo",
            "--request",
        ],
    ),
    ("psql", SQL_CHANGES),
    ("mysql", SQL_CHANGES),
    ("sqlite3", SQL_CHANGES),
];
const SQL_CHANGES: &[&str] = &[
    "alter", "create", "delete", "drop", "grant", "insert", "reindex", "revoke", "truncate",
    "update", "-f", "<",
];
/// Words behind the program among which its verb is.
const MAX_VERB_WORDS: usize = 4;

/// Options that make a command do less.
const NARROWING_OPTIONS: &[&str] = &[
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--doc",
    "--example",
    "-p",
    "--package",
    "-k",
    "-m",
    "-t",
    "-F",
    "--filter",
    "--exclude",
    "--skip",
    "--ignore",
    "-run",
    "--only",
    "--help",
    "-h",
    "--version",
    "-V",
    "--dry-run",
    "--list",
    "--no-run",
    "--collect-only",
    "-g",
    "--grep",
    "--testNamePattern",
    "--testPathPattern",
    "-x",
    "--project",
    "--workspace",
];

/// Variables that change how much is said, not what is done.
const VERBOSITY_VARIABLES: &[&str] = &[
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NO_COLOR",
    "FORCE_COLOR",
    "CARGO_TERM_COLOR",
    "TERM",
    "DEBUG",
    "LOG_LEVEL",
    "PYTHONUNBUFFERED",
    "COLUMNS",
    "CLICOLOR",
    "CI",
    "PAGER",
    "GIT_PAGER",
];

/// How commands begin that only record work, or show a setting.
const BOOKKEEPING_STARTS: &[&str] = &[
    "git add ",
    "git commit",
    "git stash list",
    "git stash push",
    "git stash pop",
    "git config --get",
    "git config --list",
    "git config -l",
    "git config --global --get",
    "git config --global --list",
    "git remote -v",
    "git push",
    "git log",
    "git tag",
    "gh pr",
    "glab mr",
];

/// Verbs of git whose other forms do the same to another branch or remote.
const GIT_FORM_VERBS: &[&str] = &[
    "push", "pull", "merge", "rebase", "checkout", "switch", "clone",
];

/// Whether both are the same verb of git, said in another way.
pub(crate) fn is_git_form(failed: &str, passed: &str) -> bool {
    let verb = |key: &str| -> Option<String> {
        let rest = key.strip_prefix("git ")?;
        let verb = rest.split(' ').next()?;
        (GIT_FORM_VERBS.contains(&verb) && !key.contains(" && ")).then(|| verb.to_owned())
    };
    failed != passed && verb(failed).is_some() && verb(failed) == verb(passed)
}

/// Whether the command with this key may have repaired something.
pub(crate) fn can_change_state(key: &str) -> bool {
    let edits_in_place = |part: &str| part.starts_with("sed ") && part.contains(" -i");
    let acts = |part: &str| {
        // They run between a failure and its fix in every session, and would be
        // credited with it.
        if BOOKKEEPING_STARTS
            .iter()
            .any(|begin| part.starts_with(begin))
        {
            return false;
        }
        let mut words = part.split(' ');
        let program = words.next().unwrap_or_default();
        edits_in_place(part)
            || CHANGING_PROGRAMS.contains(&program)
            || words
                .take(MAX_VERB_WORDS)
                .any(|word| CHANGING_VERBS.contains(&word))
    };
    let shows = only_looks(key) && !split_key_parts(key).any(edits_in_place);
    !shows && split_key_parts(key).any(acts)
}

/// Whether the command with this key may have changed something, as far as can be
/// seen: it is none of those that only show, ask, check or record work.
pub(crate) fn may_change_state(key: &str) -> bool {
    let acts = |part: &str| {
        let mut words = part.split(' ').map(|word| word.trim_matches(['\'', '"']));
        let program = words.next().unwrap_or_default();
        let asks = ASKING_PROGRAMS.iter().find(|(name, _)| *name == program);
        !BOOKKEEPING_STARTS
            .iter()
            .any(|begin| part.starts_with(begin))
            && !super::LOOKUP_PROGRAMS.contains(&program)
            && !SHOWING_PROGRAMS.contains(&program)
            && asks.is_none_or(|(_, changes)| {
                let lower = part.to_lowercase();
                let mut words = lower.split([' ', '\'', '"']);
                words.any(|word| {
                    changes
                        .iter()
                        .any(|change| change.eq_ignore_ascii_case(word))
                })
            })
            && !words
                .take(MAX_VERB_WORDS)
                .any(|word| word.split(':').any(|verb| SHOWING_VERBS.contains(&verb)))
    };
    can_change_state(key) || !only_looks(key) && split_key_parts(key).any(acts)
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
        // A command that does less may pass because it leaves out what failed.
        if NARROWING_OPTIONS.contains(&name) || !is_option && !is_value {
            return None;
        }
        // The word behind an added option may be its value.
        is_value = is_option && !word.contains('=');
        added.push(word);
    }
    let whole = wanted.peek().is_none() && !added.is_empty();
    whole.then(|| added.join(" "))
}

/// Whether the passing form lacks an option of the failing one that could be
/// why it failed: `install` does less than `install --frozen-lockfile`.
pub(crate) fn drops_option(failed: &str, passed: &str) -> bool {
    let has = |word: &str| passed.split(' ').any(|other| other == word);
    let mut options = failed.split(' ').filter(|word| word.starts_with("--"));
    options.any(|word| {
        let name = word.split('=').next().unwrap_or(word);
        name != "--" && !NARROWING_OPTIONS.contains(&name) && !has(word)
    })
}

/// Variables that a command line sets, but for those that only change what it
/// prints.
pub(crate) fn settings_of(line: &str) -> Vec<&str> {
    let is_setting = |word: &&str| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty()
                && !VERBOSITY_VARIABLES.contains(&name)
                && name
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        })
    };
    let words = line.split_whitespace().filter(is_setting);
    words
        .map(|word| word.trim_end_matches([';', '&']))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_acts() {
        for key in [
            "cargo add serde",
            "npm ci",
            "rm -rf .next",
            "terraform init -upgrade",
            "git checkout src/a.rs",
            "dvc pull -r backup",
            "sed -i s/a/b/ conf.toml",
        ] {
            assert!(can_change_state(key), "{key}");
        }
        for key in [
            "cat a.rs",
            "cargo test",
            "git status",
            "git commit -m x",
            "git add src/a.rs && git commit -m x",
            "git config --get-all commit.gpgsign",
            "sed -n 1,3p a.rs",
        ] {
            assert!(!can_change_state(key), "{key}");
        }
    }

    #[test]
    fn what_is_no_look_and_no_check_may_have_changed_something() {
        for key in [
            "ansible nomad -b -a 'consul reload'",
            "bundle exec pod deintegrate",
            "make proto",
            "psql -c 'alter table a add b int'",
            "curl -X DELETE http://localhost:9200/a",
            "xcodebuild -downloadPlatform iOS",
        ] {
            assert!(may_change_state(key), "{key}");
        }
        for key in [
            "kubectl get pods -n a",
            "npm run lint",
            "npm run test:unit",
            "psql -c 'select 1'",
            "curl -s http://localhost/health",
            "git push",
            "git log --oneline",
            "jq .a b.json",
            "cargo clippy | head",
            "terraform plan",
        ] {
            assert!(!may_change_state(key), "{key}");
        }
    }

    #[test]
    fn another_form_has_options_more() {
        for (failed, passed, added) in [
            ("dvc pull", "dvc pull -r backup", Some("-r backup")),
            ("npm install", "npm install --force", Some("--force")),
            ("cargo test", "cargo test --lib", None),
            ("cargo test", "cargo test parse", None),
            ("cargo test", "cargo build --release", None),
        ] {
            let wanted = added.map(str::to_owned);
            assert_eq!(added_to(failed, passed), wanted, "{failed} / {passed}");
        }
        assert!(is_git_form("git push", "git push -u origin HEAD"));
        assert!(!is_git_form("git push", "git pull"));
        assert_eq!(settings_of("A=1; B=2 go test"), ["A=1", "B=2"]);
        assert!(drops_option(
            "pnpm install --frozen-lockfile",
            "pnpm install"
        ));
        assert!(!drops_option("cargo test --lib", "cargo test"));
    }
}
