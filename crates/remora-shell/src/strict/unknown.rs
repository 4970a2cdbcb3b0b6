//! The second chance for a command line that is ONE simple command with an
//! unknown argument: its name, and the names inside its `$( )`, still tell
//! something, unless the name is a program that runs its arguments.

use super::SimpleCommand;
use super::tree::{Block, QuotedPart, Statement, Word, WordPart};

/// The commands, words as written, or `None` when the line is more than that.
pub(super) fn collect_commands(block: &Block) -> Option<Vec<SimpleCommand>> {
    let mut found = Vec::new();
    collect_block(block, None, &mut found).then_some(found)
}

fn collect_block(
    block: &Block,
    inside: Option<&'static str>,
    found: &mut Vec<SimpleCommand>,
) -> bool {
    let [(Statement::Command(command), _)] = block.statements.as_slice() else {
        return false;
    };
    // Either could change what the name runs, or write to an unknown file.
    if !command.assignments.is_empty() || !command.redirects.is_empty() {
        return false;
    }
    let Some((name, arguments)) = command.words.split_first() else {
        return false;
    };
    let [WordPart::Plain(raw)] = name.parts.as_slice() else {
        return false;
    };
    // With `sudo $X` or `sh $X` the name says nothing about what runs.
    if !is_plain_name(raw) || runs_its_arguments(raw) {
        return false;
    }
    let words = command.words.iter().map(|word| word.raw.clone()).collect();
    found.push(SimpleCommand::new(words, inside));
    arguments.iter().all(|word| collect_argument(word, found))
}

/// A lone variable, or text, double quotes and `$( )` in any mixture.
fn collect_argument(word: &Word, found: &mut Vec<SimpleCommand>) -> bool {
    // As a whole argument it may hold anything and still not change which program runs.
    if let [WordPart::Variable(_)] = word.parts.as_slice() {
        return true;
    }
    word.parts.iter().all(|part| match part {
        // The words are kept as written, and an escape would make them another
        // text.
        WordPart::Plain(raw) => !raw.contains('\\'),
        WordPart::Substitution(block) => collect_block(block, Some("$( )"), found),
        WordPart::Double(inner) => inner.iter().all(|inner| match inner {
            QuotedPart::Text(_) => true,
            QuotedPart::Substitution { block, .. } => collect_block(block, Some("$( )"), found),
            _ => false,
        }),
        _ => false,
    })
}

fn is_plain_name(raw: &str) -> bool {
    raw.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_./+-".contains(c))
        && !raw.chars().all(|c| c.is_ascii_digit())
}

/// Shells, interpreters, wrappers, and built-ins whose arguments are code or
/// names.
const RUNNER_COMMANDS: &str = "\
    . : alias arch ash autoload awk bash bind break builtin bun busybox caffeinate case \
    chroot chrt cmd command compgen complete continue coproc csh dash declare deno do doas \
    done elif else emulate enable env esac eval exec exit expect export fakeroot fc fi find \
    firejail fish float flock for foreach function gawk getopts hash if integer ionice jobs \
    ksh let linux32 linux64 local logout ltrace lua mapfile mawk mksh nawk nice nocorrect \
    node nodejs noglob nohup nsenter parallel perl php pkexec powershell print printf proot \
    pwsh python rbash read readarray readonly repeat return ruby runuser screen script \
    select set setarch setopt setpriv setsid sh shift shopt socat source stdbuf strace su \
    sudo sysopen sysread systemd-run syswrite taskset tcsh test then time timeout tmux trap \
    typeset unbuffer unset unsetopt unshare until valgrind vared wait watch while wsl xargs \
    zcompile zftp zmodload zparseopts zpty zsh zsocket zstyle ztcp";

/// A directory in front, capitals and a version behind do not matter.
fn runs_its_arguments(raw: &str) -> bool {
    let name = raw.rsplit('/').next().unwrap_or(raw).to_ascii_lowercase();
    let unversioned = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNNER_COMMANDS
        .split(' ')
        .any(|runner| runner == name || runner == unversioned)
}
