//! The first look: which tools could have printed a text at all, in one pass
//! over it. A mark only admits a reader; the reader decides.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use remora_shell::lenient::CommandLine;

/// A set of readers, one bit each.
pub(super) type FamilySet = u64;

/// The bit of the reader at this place of the table.
pub(super) const fn family_bit(family: OutputFamily) -> FamilySet {
    1 << family as u32
}

/// Readers in the order in which the first that fits gives the title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum OutputFamily {
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

use OutputFamily as F;

/// What a text holds when a reader may know it.
const OUTPUT_MARKS: &[(&str, FamilySet)] = &[
    ("test result: ", family_bit(F::CargoTest)),
    (" stdout ----", family_bit(F::CargoTest)),
    ("error: test failed, to rerun", family_bit(F::CargoTest)),
    (" ... FAILED", family_bit(F::CargoTest)),
    ("Summary [", family_bit(F::Nextest)),
    ("Nextest run", family_bit(F::Nextest)),
    (" in 0.", family_bit(F::Pytest)),
    (" passed", family_bit(F::Pytest)),
    (" failed", family_bit(F::Pytest)),
    ("no tests ran", family_bit(F::Pytest)),
    ("short test summary", family_bit(F::Pytest)),
    ("ERROR collecting", family_bit(F::Pytest)),
    (" error in ", family_bit(F::Pytest)),
    (" errors in ", family_bit(F::Pytest)),
    ("Ran ", family_bit(F::Unittest)),
    ("FAILED (", family_bit(F::Unittest)),
    ("Test Suites:", family_bit(F::Jest)),
    ("  ● ", family_bit(F::Jest)),
    ("Test Files ", family_bit(F::Vitest)),
    (" FAIL  ", family_bit(F::Vitest)),
    (" passing (", family_bit(F::Mocha)),
    (" failing", family_bit(F::Mocha)),
    ("ℹ tests ", family_bit(F::NodeTest)),
    ("# tests ", family_bit(F::NodeTest)),
    ("--- FAIL: ", family_bit(F::GoTest)),
    ("--- PASS: ", family_bit(F::GoTest)),
    ("\nok  \t", family_bit(F::GoTest)),
    ("FAIL\t", family_bit(F::GoTest)),
    ("[no test files]", family_bit(F::GoTest)),
    ("\"Action\":\"", family_bit(F::GoTest)),
    ("Tests run: ", family_bit(F::Maven)),
    ("BUILD FAILURE", family_bit(F::Maven)),
    (
        "BUILD SUCCESS",
        family_bit(F::Maven) | family_bit(F::Gradle),
    ),
    ("BUILD FAILED", family_bit(F::Gradle)),
    ("tests completed,", family_bit(F::Gradle)),
    ("test completed,", family_bit(F::Gradle)),
    ("error[E", family_bit(F::Rustc)),
    (" --> ", family_bit(F::Rustc) | family_bit(F::Ruff)),
    ("could not compile", family_bit(F::Rustc)),
    (" generated ", family_bit(F::Rustc)),
    ("Finished `", family_bit(F::Rustc)),
    ("Finished dev", family_bit(F::Rustc)),
    ("Finished release", family_bit(F::Rustc)),
    ("error TS", family_bit(F::Tsc)),
    (" problem", family_bit(F::Eslint)),
    (" fixable with", family_bit(F::Ruff)),
    ("All checks passed!", family_bit(F::Ruff)),
    (
        "Found ",
        family_bit(F::Ruff) | family_bit(F::Mypy) | family_bit(F::Tsc),
    ),
    ("Success: no issues", family_bit(F::Mypy)),
    (
        ": error: ",
        family_bit(F::Mypy) | family_bit(F::Javac) | family_bit(F::Cc),
    ),
    (": warning: ", family_bit(F::Javac) | family_bit(F::Cc)),
    (" - error: ", family_bit(F::Mypy)),
    (": fatal error: ", family_bit(F::Cc)),
    ("undefined reference to", family_bit(F::Cc)),
    ("Undefined symbols for", family_bit(F::Cc)),
    (".go:", family_bit(F::GoBuild) | family_bit(F::Trace)),
    ("build constraints exclude", family_bit(F::GoBuild)),
    ("failed to solve", family_bit(F::Docker)),
    ("Successfully built ", family_bit(F::Docker)),
    ("naming to ", family_bit(F::Docker)),
    ("│ Error: ", family_bit(F::Terraform)),
    ("Apply complete! Resources", family_bit(F::Terraform)),
    ("Destroy complete! Resources", family_bit(F::Terraform)),
    ("Successfully tagged ", family_bit(F::Docker)),
    ("non-zero code:", family_bit(F::Docker)),
    ("packages in ", family_bit(F::Npm) | family_bit(F::Pip)),
    ("package in ", family_bit(F::Npm) | family_bit(F::Pip)),
    ("npm ERR!", family_bit(F::Npm)),
    ("npm error", family_bit(F::Npm)),
    ("vulnerabilit", family_bit(F::Npm)),
    ("ERR_PNPM_", family_bit(F::Yarn)),
    ("Packages: +", family_bit(F::Yarn)),
    ("Packages: -", family_bit(F::Yarn)),
    ("Done in ", family_bit(F::Yarn)),
    ("Lockfile is up to date", family_bit(F::Yarn)),
    ("yarn ", family_bit(F::Yarn)),
    ("YN0", family_bit(F::Yarn)),
    ("bun ", family_bit(F::Yarn)),
    ("Successfully installed ", family_bit(F::Pip)),
    ("Requirement already satisfied", family_bit(F::Pip)),
    ("ERROR: ", family_bit(F::Pip) | family_bit(F::Docker)),
    ("externally-managed-environment", family_bit(F::Pip)),
    ("Package operations:", family_bit(F::Pip)),
    ("version solving failed", family_bit(F::Pip)),
    ("No dependencies to install", family_bit(F::Pip)),
    ("No solution found", family_bit(F::Pip)),
    ("Adding ", family_bit(F::CargoPackages)),
    (" packages to latest", family_bit(F::CargoPackages)),
    (" package to latest", family_bit(F::CargoPackages)),
    ("Installed package `", family_bit(F::CargoPackages)),
    ("Replaced package `", family_bit(F::CargoPackages)),
    (
        "is already installed",
        family_bit(F::CargoPackages) | family_bit(F::System),
    ),
    ("registry index", family_bit(F::CargoPackages)),
    ("no matching package", family_bit(F::CargoPackages)),
    ("failed to select a version", family_bit(F::CargoPackages)),
    (" newly installed,", family_bit(F::System)),
    ("E: ", family_bit(F::System)),
    ("==> ", family_bit(F::System)),
    ("No available formula", family_bit(F::System)),
    ("go: ", family_bit(F::GoGet)),
    ("CONFLICT (", family_bit(F::GitConflict)),
    ("could not apply ", family_bit(F::GitConflict)),
    ("Automatic merge failed", family_bit(F::GitConflict)),
    ("unmerged files", family_bit(F::GitConflict)),
    (" -> ", family_bit(F::GitSync)),
    ("Everything up-to-date", family_bit(F::GitSync)),
    ("failed to push", family_bit(F::GitSync)),
    ("Already up to date.", family_bit(F::GitSync)),
    ("Fast-forward", family_bit(F::GitSync)),
    ("Merge made by", family_bit(F::GitSync)),
    ("fatal: ", family_bit(F::GitSync) | family_bit(F::GitBranch)),
    ("refusing to merge", family_bit(F::GitSync)),
    (
        " changed, ",
        family_bit(F::GitCommit) | family_bit(F::GitList),
    ),
    ("(root-commit)", family_bit(F::GitCommit)),
    (
        "nothing to commit",
        family_bit(F::GitCommit) | family_bit(F::GitStatus),
    ),
    (
        "nothing added to commit",
        family_bit(F::GitCommit) | family_bit(F::GitStatus),
    ),
    (
        "no changes added to commit",
        family_bit(F::GitCommit) | family_bit(F::GitStatus),
    ),
    ("Switched to ", family_bit(F::GitBranch)),
    ("Already on '", family_bit(F::GitBranch)),
    ("HEAD is now at ", family_bit(F::GitBranch)),
    ("would be overwritten by", family_bit(F::GitBranch)),
    ("did not match any file", family_bit(F::GitBranch)),
    ("Successfully rebased", family_bit(F::GitBranch)),
    (
        "is up to date.",
        family_bit(F::GitBranch) | family_bit(F::Make),
    ),
    ("Saved working directory", family_bit(F::GitBranch)),
    ("No local changes to save", family_bit(F::GitBranch)),
    ("Dropped ", family_bit(F::GitBranch)),
    ("stash@{", family_bit(F::GitBranch)),
    ("Deleted branch ", family_bit(F::GitBranch)),
    ("On branch ", family_bit(F::GitStatus)),
    ("HEAD detached ", family_bit(F::GitStatus)),
    ("diff --git ", family_bit(F::GitList)),
    ("Author: ", family_bit(F::GitList)),
    ("*** ", family_bit(F::Make)),
    ("Nothing to be done for", family_bit(F::Make)),
    ("error: Recipe `", family_bit(F::Make)),
    (" panicked at ", family_bit(F::Trace)),
    ("Traceback (most recent call last)", family_bit(F::Trace)),
    ("SyntaxError: ", family_bit(F::Trace)),
    ("\n    at ", family_bit(F::Trace)),
    ("\n\tat ", family_bit(F::Trace)),
    ("Exception in thread", family_bit(F::Trace)),
    ("panic: ", family_bit(F::Trace)),
    ("goroutine ", family_bit(F::Trace)),
];

static MARK_AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        // The slowest form to build and the fastest to search, hence the limit
        // below.
        .kind(Some(AhoCorasickKind::DFA))
        .build(OUTPUT_MARKS.iter().map(|(mark, _)| mark))
        .ok()
});
/// Bytes that were looked at without it.
static PLAIN_SCANNED_BYTES: AtomicUsize = AtomicUsize::new(0);
/// From so many bytes on it is worth its making: a hook reads one failure and
/// ends, a worker reads on.
const MIN_AUTOMATON_BYTES: usize = 64 * 1024;

/// The readers that could know this text.
pub(super) fn find_families(text: &str, command: &CommandLine) -> FamilySet {
    // Only decides which way is faster, so an outdated count does no harm.
    let looked = PLAIN_SCANNED_BYTES.fetch_add(text.len(), Ordering::Relaxed);
    let found = if looked.saturating_add(text.len()) < MIN_AUTOMATON_BYTES {
        find_plainly(text)
    } else {
        at_once(text)
    };
    from_command(command) | found
}

/// Mark by mark.
fn find_plainly(text: &str) -> FamilySet {
    let found = OUTPUT_MARKS.iter().filter(|(mark, _)| text.contains(mark));
    found.fold(0, |set, (_, readers)| set | readers)
}

/// All marks in one pass.
fn at_once(text: &str) -> FamilySet {
    let Some(automaton) = &*MARK_AUTOMATON else {
        // Without the automaton every reader is asked: slower, never wrong.
        return FamilySet::MAX;
    };
    let found = automaton.find_overlapping_iter(text);
    found.fold(0, |set, found| {
        set | OUTPUT_MARKS[found.pattern().as_usize()].1
    })
}

/// Tools whose output has no mark of its own.
fn from_command(command: &CommandLine) -> FamilySet {
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
        if command.runs_program(words) {
            set |= family_bit(family);
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_looking_see_the_same() {
        let all: String = OUTPUT_MARKS.iter().map(|(mark, _)| *mark).collect();
        let texts = [
            "",
            "nothing of note",
            &all,
            "error: could not compile `app`\n",
        ];
        for text in OUTPUT_MARKS.iter().map(|(mark, _)| *mark).chain(texts) {
            assert_eq!(find_plainly(text), at_once(text), "{text:?}");
        }
    }
}
