//! The first look: which tools could have printed a text at all, in one pass
//! over it. A mark only admits a reader; the reader decides.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::shell::Command;

/// A set of readers, one bit each.
pub(super) type Set = u64;

/// The bit of the reader at this place of the table.
pub(super) const fn bit(family: Family) -> Set {
    1 << family as u32
}

/// Readers in the order in which the first that fits gives the title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Family {
    CargoTest,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    NodeTest,
    GoTest,
    Maven,
    Gradle,
    Rustc,
    Tsc,
    Eslint,
    Ruff,
    Mypy,
    Javac,
    GoBuild,
    Cc,
    Docker,
    Terraform,
    Kubectl,
    Database,
    Npm,
    Yarn,
    Pip,
    CargoPackages,
    System,
    GoGet,
    GitConflict,
    GitCommit,
    GitSync,
    GitBranch,
    GitStatus,
    GitList,
    Make,
    Trace,
}

use Family as F;

/// What a text holds when a reader may know it.
const MARKS: &[(&str, Set)] = &[
    ("test result: ", bit(F::CargoTest)),
    (" stdout ----", bit(F::CargoTest)),
    ("error: test failed, to rerun", bit(F::CargoTest)),
    (" ... FAILED", bit(F::CargoTest)),
    ("Summary [", bit(F::Nextest)),
    ("Nextest run", bit(F::Nextest)),
    (" in 0.", bit(F::Pytest)),
    (" passed", bit(F::Pytest)),
    (" failed", bit(F::Pytest)),
    ("no tests ran", bit(F::Pytest)),
    ("short test summary", bit(F::Pytest)),
    ("ERROR collecting", bit(F::Pytest)),
    (" error in ", bit(F::Pytest)),
    (" errors in ", bit(F::Pytest)),
    ("Ran ", bit(F::Unittest)),
    ("FAILED (", bit(F::Unittest)),
    ("Test Suites:", bit(F::Jest)),
    ("  ● ", bit(F::Jest)),
    ("Test Files ", bit(F::Vitest)),
    (" FAIL  ", bit(F::Vitest)),
    (" passing (", bit(F::Mocha)),
    (" failing", bit(F::Mocha)),
    ("ℹ tests ", bit(F::NodeTest)),
    ("# tests ", bit(F::NodeTest)),
    ("--- FAIL: ", bit(F::GoTest)),
    ("--- PASS: ", bit(F::GoTest)),
    ("\nok  \t", bit(F::GoTest)),
    ("FAIL\t", bit(F::GoTest)),
    ("[no test files]", bit(F::GoTest)),
    ("\"Action\":\"", bit(F::GoTest)),
    ("Tests run: ", bit(F::Maven)),
    ("BUILD FAILURE", bit(F::Maven)),
    ("BUILD SUCCESS", bit(F::Maven) | bit(F::Gradle)),
    ("BUILD FAILED", bit(F::Gradle)),
    ("tests completed,", bit(F::Gradle)),
    ("test completed,", bit(F::Gradle)),
    ("error[E", bit(F::Rustc)),
    (" --> ", bit(F::Rustc) | bit(F::Ruff)),
    ("could not compile", bit(F::Rustc)),
    (" generated ", bit(F::Rustc)),
    ("Finished `", bit(F::Rustc)),
    ("Finished dev", bit(F::Rustc)),
    ("Finished release", bit(F::Rustc)),
    ("error TS", bit(F::Tsc)),
    (" problem", bit(F::Eslint)),
    (" fixable with", bit(F::Ruff)),
    ("All checks passed!", bit(F::Ruff)),
    ("Found ", bit(F::Ruff) | bit(F::Mypy) | bit(F::Tsc)),
    ("Success: no issues", bit(F::Mypy)),
    (": error: ", bit(F::Mypy) | bit(F::Javac) | bit(F::Cc)),
    (": warning: ", bit(F::Javac) | bit(F::Cc)),
    (" - error: ", bit(F::Mypy)),
    (": fatal error: ", bit(F::Cc)),
    ("undefined reference to", bit(F::Cc)),
    ("Undefined symbols for", bit(F::Cc)),
    (".go:", bit(F::GoBuild) | bit(F::Trace)),
    ("build constraints exclude", bit(F::GoBuild)),
    ("failed to solve", bit(F::Docker)),
    ("Successfully built ", bit(F::Docker)),
    ("naming to ", bit(F::Docker)),
    ("│ Error: ", bit(F::Terraform)),
    ("Apply complete! Resources", bit(F::Terraform)),
    ("Destroy complete! Resources", bit(F::Terraform)),
    ("Successfully tagged ", bit(F::Docker)),
    ("non-zero code:", bit(F::Docker)),
    ("packages in ", bit(F::Npm) | bit(F::Pip)),
    ("package in ", bit(F::Npm) | bit(F::Pip)),
    ("npm ERR!", bit(F::Npm)),
    ("npm error", bit(F::Npm)),
    ("vulnerabilit", bit(F::Npm)),
    ("ERR_PNPM_", bit(F::Yarn)),
    ("Packages: +", bit(F::Yarn)),
    ("Packages: -", bit(F::Yarn)),
    ("Done in ", bit(F::Yarn)),
    ("Lockfile is up to date", bit(F::Yarn)),
    ("yarn ", bit(F::Yarn)),
    ("YN0", bit(F::Yarn)),
    ("bun ", bit(F::Yarn)),
    ("Successfully installed ", bit(F::Pip)),
    ("Requirement already satisfied", bit(F::Pip)),
    ("ERROR: ", bit(F::Pip) | bit(F::Docker)),
    ("externally-managed-environment", bit(F::Pip)),
    ("Package operations:", bit(F::Pip)),
    ("version solving failed", bit(F::Pip)),
    ("No dependencies to install", bit(F::Pip)),
    ("No solution found", bit(F::Pip)),
    ("Adding ", bit(F::CargoPackages)),
    (" packages to latest", bit(F::CargoPackages)),
    (" package to latest", bit(F::CargoPackages)),
    ("Installed package `", bit(F::CargoPackages)),
    ("Replaced package `", bit(F::CargoPackages)),
    (
        "is already installed",
        bit(F::CargoPackages) | bit(F::System),
    ),
    ("registry index", bit(F::CargoPackages)),
    ("no matching package", bit(F::CargoPackages)),
    ("failed to select a version", bit(F::CargoPackages)),
    (" newly installed,", bit(F::System)),
    ("E: ", bit(F::System)),
    ("==> ", bit(F::System)),
    ("No available formula", bit(F::System)),
    ("go: ", bit(F::GoGet)),
    ("CONFLICT (", bit(F::GitConflict)),
    ("could not apply ", bit(F::GitConflict)),
    ("Automatic merge failed", bit(F::GitConflict)),
    ("unmerged files", bit(F::GitConflict)),
    (" -> ", bit(F::GitSync)),
    ("Everything up-to-date", bit(F::GitSync)),
    ("failed to push", bit(F::GitSync)),
    ("Already up to date.", bit(F::GitSync)),
    ("Fast-forward", bit(F::GitSync)),
    ("Merge made by", bit(F::GitSync)),
    ("fatal: ", bit(F::GitSync) | bit(F::GitBranch)),
    ("refusing to merge", bit(F::GitSync)),
    (" changed, ", bit(F::GitCommit) | bit(F::GitList)),
    ("(root-commit)", bit(F::GitCommit)),
    ("nothing to commit", bit(F::GitCommit) | bit(F::GitStatus)),
    (
        "nothing added to commit",
        bit(F::GitCommit) | bit(F::GitStatus),
    ),
    (
        "no changes added to commit",
        bit(F::GitCommit) | bit(F::GitStatus),
    ),
    ("Switched to ", bit(F::GitBranch)),
    ("Already on '", bit(F::GitBranch)),
    ("HEAD is now at ", bit(F::GitBranch)),
    ("would be overwritten by", bit(F::GitBranch)),
    ("did not match any file", bit(F::GitBranch)),
    ("Successfully rebased", bit(F::GitBranch)),
    ("is up to date.", bit(F::GitBranch) | bit(F::Make)),
    ("Saved working directory", bit(F::GitBranch)),
    ("No local changes to save", bit(F::GitBranch)),
    ("Dropped ", bit(F::GitBranch)),
    ("stash@{", bit(F::GitBranch)),
    ("Deleted branch ", bit(F::GitBranch)),
    ("On branch ", bit(F::GitStatus)),
    ("HEAD detached ", bit(F::GitStatus)),
    ("diff --git ", bit(F::GitList)),
    ("Author: ", bit(F::GitList)),
    ("*** ", bit(F::Make)),
    ("Nothing to be done for", bit(F::Make)),
    ("error: Recipe `", bit(F::Make)),
    (" panicked at ", bit(F::Trace)),
    ("Traceback (most recent call last)", bit(F::Trace)),
    ("SyntaxError: ", bit(F::Trace)),
    ("\n    at ", bit(F::Trace)),
    ("\n\tat ", bit(F::Trace)),
    ("Exception in thread", bit(F::Trace)),
    ("panic: ", bit(F::Trace)),
    ("goroutine ", bit(F::Trace)),
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(MARKS.iter().map(|(mark, _)| mark))
        .ok()
});
/// Bytes that were looked at without it.
static PLAINLY: AtomicUsize = AtomicUsize::new(0);
/// From so many bytes on it is worth its making: a hook reads one failure and
/// ends, a worker reads on.
const WORTH: usize = 64 * 1024;

/// The readers that could know this text.
pub(super) fn of(text: &str, command: &Command) -> Set {
    let looked = PLAINLY.fetch_add(text.len(), Ordering::Relaxed);
    let found = if looked.saturating_add(text.len()) < WORTH {
        plainly(text)
    } else {
        at_once(text)
    };
    from_command(command) | found
}

/// Mark by mark.
fn plainly(text: &str) -> Set {
    let found = MARKS.iter().filter(|(mark, _)| text.contains(mark));
    found.fold(0, |set, (_, readers)| set | readers)
}

/// All marks in one pass.
fn at_once(text: &str) -> Set {
    let Some(automaton) = &*AUTOMATON else {
        return Set::MAX;
    };
    let found = automaton.find_overlapping_iter(text);
    found.fold(0, |set, found| set | MARKS[found.pattern().as_usize()].1)
}

/// Tools whose output has no mark of its own.
fn from_command(command: &Command) -> Set {
    let mut set = 0;
    for (words, family) in [
        (&["git", "log"][..], F::GitList),
        (&["git", "diff"], F::GitList),
        (&["git", "status"], F::GitStatus),
        (&["go", "test"], F::GoTest),
        (&["tsc"], F::Tsc),
        (&["terraform"], F::Terraform),
        (&["tofu"], F::Terraform),
        (&["kubectl"], F::Kubectl),
        (&["psql"], F::Database),
        (&["sqlite3"], F::Database),
        (&["mysql"], F::Database),
        (&["mariadb"], F::Database),
    ] {
        if command.runs(words) {
            set |= bit(family);
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_looking_see_the_same() {
        let all: String = MARKS.iter().map(|(mark, _)| *mark).collect();
        let texts = [
            "",
            "nothing of note",
            &all,
            "error: could not compile `app`\n",
        ];
        for text in MARKS.iter().map(|(mark, _)| *mark).chain(texts) {
            assert_eq!(plainly(text), at_once(text), "{text:?}");
        }
    }
}
