//! Commands that pass because a check, a lock or a right is bypassed. A user
//! may have allowed that once; Remora must not recommend it to later sessions.

use remora_shell::lenient::{CommandLine, CommandPart};

/// Options that bypass a check, whatever program has them.
const BYPASS_OPTIONS: &[&str] = &[
    "--admin",
    "--no-verify",
    "--no-gpg-sign",
    "--allow-unauthenticated",
    "-DskipTests",
    "commit.gpgsign=false",
    "http.sslVerify=false",
];
/// How such options begin.
const BYPASS_OPTION_STARTS: &[&str] = &["--dangerously-", "-Dmaven.test.skip"];
/// Variables that switch a check off.
const BYPASS_VARIABLES: &[&str] = &[
    "HUSKY=0",
    "HUSKY_SKIP_HOOKS=1",
    "LEFTHOOK=0",
    "PRE_COMMIT_ALLOW_NO_CONFIG=1",
    "NODE_TLS_REJECT_UNAUTHORIZED=0",
    "GIT_SSL_NO_VERIFY=",
    "SKIP=",
];
/// Programs that lend another user's rights, and those that cannot do without.
const PRIVILEGE_PROGRAMS: &[&str] = &["sudo", "doas"];
const SYSTEM_PROGRAMS: &[&str] = &[
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "apk",
    "pacman",
    "zypper",
    "systemctl",
    "service",
];

/// Whether a command line bypasses a check, or overwrites what others have
/// pushed.
pub(crate) fn bypasses_check(line: &str) -> bool {
    has_rights_or_variables(line) || CommandLine::parse(line).parts.iter().any(is_bypass)
}

/// What precedes the program, which the parsed line no longer has: for the
/// parser a wrapper only says how a program is run.
fn has_rights_or_variables(line: &str) -> bool {
    let parts = line.split([';', '&', '|', '\n', '(']);
    let mut parts = parts.map(|part| {
        let is_head = |word: &&str| word.contains('=') || matches!(*word, "env" | "export");
        let words = part.split_whitespace();
        (words.clone().take_while(is_head), words.skip_while(is_head))
    });
    parts.any(|(mut variables, mut program)| {
        let lends = program.next().is_some_and(lends_rights);
        lends
            // Installing a system package needs the rights; that is no bypass.
            && !program
                .next()
                .is_some_and(|word| SYSTEM_PROGRAMS.contains(&word))
            || variables.any(|word| BYPASS_VARIABLES.iter().any(|start| word.starts_with(start)))
    })
}

/// Whether a word runs a program that lends rights, also one with its folder.
fn lends_rights(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    PRIVILEGE_PROGRAMS.contains(&name)
}

/// The line without the programs that lend rights.
pub(crate) fn drop_privileges(line: &str) -> String {
    let ends_word = |c: char| c.is_whitespace() || ";&|(\"'`".contains(c);
    let mut kept = String::with_capacity(line.len());
    for piece in line.split_inclusive(ends_word) {
        let is_lent = piece.strip_suffix(' ').is_some_and(lends_rights);
        if !is_lent {
            kept.push_str(piece);
        }
    }
    kept
}

fn is_bypass(part: &CommandPart) -> bool {
    let mut words = part.words.iter().map(String::as_str);
    let is_option = |word: &str| {
        BYPASS_OPTIONS.contains(&word)
            || BYPASS_OPTION_STARTS
                .iter()
                .any(|start| word.starts_with(start))
    };
    words.any(is_option) || is_forced_push(part) || is_unchecked_commit(part)
}

fn is_forced_push(part: &CommandPart) -> bool {
    let mut verbs = part.verb_words();
    let is_push = verbs.any(|verb| verb == "push");
    let is_force = |word: &String| {
        word.starts_with("--force")
            || is_short(word, 'f')
            || word.starts_with('+') && word.len() > 1
    };
    is_push && part.words.iter().any(is_force)
}

fn is_unchecked_commit(part: &CommandPart) -> bool {
    part.starts_with_words(&["git", "commit"]) && part.words.iter().any(|word| is_short(word, 'n'))
}

/// Whether a word is this short option, alone or before others: `-n`, `-nm`.
fn is_short(word: &str, letter: char) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    letters.starts_with(letter) && letters.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::bypasses_check;

    #[test]
    fn what_steps_over_a_check_is_known() {
        for line in [
            "gh pr merge 12 --squash --admin",
            "cd kiln && git push --force origin glaze",
            "git push -f",
            "git push origin +glaze",
            "git push --force-with-lease",
            "git commit --no-verify -m 'Melt at dawn'",
            "git commit -nm 'Melt at dawn'",
            "HUSKY=0 git commit -m 'Melt at dawn'",
            "sudo chown -R me /var/kiln",
            "make stop; sudo make start",
            "sudo -u kiln make start",
            "/usr/bin/sudo make start",
            "mvn package -DskipTests",
        ] {
            assert!(bypasses_check(line), "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_left() {
        for line in [
            "git push -u origin glaze",
            "git push --follow-tags",
            "git commit -m 'Explain why --no-verify and sudo are not used'",
            "rm -f kiln.lock && git fetch -f",
            "docker compose up -d --force-recreate",
            "npm install --legacy-peer-deps",
            "GIT_CONFIG_GLOBAL=/dev/null go test ./...",
            "grep -rn sudo docs",
            "sudo apt-get install -y libglaze",
            "DEBIAN_FRONTEND=noninteractive sudo systemctl stop kiln",
            "npm run sync -- --name=push",
        ] {
            assert!(!bypasses_check(line), "{line}");
        }
    }
}
