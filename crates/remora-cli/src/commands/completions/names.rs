//! Names that only the machine at hand knows: scripts ask `remora complete` for
//! them when a user presses Tab.

use std::fmt::Write as _;

use clap::{Command, ValueHint};
use clap_complete::Shell;

use super::{find_argument, mut_argument};

/// An argument that takes such names.
struct NamedArgument {
    verbs: &'static [&'static str],
    /// Its name in the arguments.
    argument: &'static str,
    /// What `remora complete` is asked for.
    kind: &'static str,
}

const NAMED_ARGUMENTS: &[NamedArgument] = &[
    NamedArgument::new(&["memory", "show"], "names", "memories"),
    NamedArgument::new(&["memory", "edit"], "name", "memories"),
    NamedArgument::new(&["memory", "accept"], "names", "memories"),
    NamedArgument::new(&["memory", "rm"], "names", "memories"),
    NamedArgument::new(&["memory", "check"], "names", "memories"),
    NamedArgument::new(&["memory", "path"], "name", "memories"),
    NamedArgument::new(&["search"], "agent", "agents"),
    NamedArgument::new(&["sessions"], "agent", "agents"),
    NamedArgument::new(&["timeline"], "agent", "agents"),
    NamedArgument::new(&["recap"], "agent", "agents"),
    NamedArgument::new(&["context"], "agent", "agents"),
];

/// What the library writes for a hint that no argument of ours has, and what stands
/// there instead.
const ZSH_ACTIONS: [(&str, ValueHint, &str, &str); 2] = [
    (
        "memories",
        ValueHint::EmailAddress,
        ":_email_addresses",
        ":_remora_memories",
    ),
    ("agents", ValueHint::Username, ":_users", ":_remora_agents"),
];

/// Functions that the actions above name.
const ZSH_FUNCTIONS: &str = r#"_remora_names() {
    local -a names
    names=(${(f)"$(remora complete $1 "$PREFIX" 2>/dev/null)"})
    compadd -a names
}
_remora_memories() { _remora_names memories }
_remora_agents() { _remora_names agents }

"#;

impl NamedArgument {
    const fn new(
        verbs: &'static [&'static str],
        argument: &'static str,
        kind: &'static str,
    ) -> Self {
        Self {
            verbs,
            argument,
            kind,
        }
    }

    fn is_flag(&self) -> bool {
        find_argument(self.verbs, self.argument, |arg| !arg.is_positional())
    }
}

/// The command, so that the script has a mark where names belong.
pub(super) fn mark_arguments(shell: Shell, command: Command) -> Command {
    if shell != Shell::Zsh {
        return command;
    }
    NAMED_ARGUMENTS.iter().fold(command, |command, named| {
        let action = ZSH_ACTIONS.iter().find(|(kind, ..)| *kind == named.kind);
        let hint = action.map_or(ValueHint::Unknown, |(_, hint, ..)| *hint);
        mut_argument(command, named.verbs, named.argument, &|arg| {
            arg.value_hint(hint)
        })
    })
}

/// Adds the questions for names to a script.
pub(super) fn ask_for_names(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + &build_bash_wrapper(),
        Shell::Zsh => fill_zsh_actions(script),
        Shell::Fish => script + &build_fish_lines(),
        _ => script,
    }
}

/// A function around the library's own. Names are compared one by one: `compgen -W`
/// would expand them like shell words, and a repository may name its files as it
/// likes.
fn build_bash_wrapper() -> String {
    let mut cases = String::new();
    for named in NAMED_ARGUMENTS {
        let verbs = named.verbs.join(" ");
        let (pattern, condition) = if named.is_flag() {
            (format!("\"{verbs} \"*\"--{} \"", named.argument), "")
        } else {
            // What stands behind a flag may be its value.
            (format!("\"{verbs} \"*"), "[[ \"$prev\" == -* ]] || ")
        };
        // Writing into a string cannot fail.
        let _ = writeln!(
            cases,
            "        {pattern}) {condition}kind={} ;;",
            named.kind
        );
    }
    format!(
        r#"
_remora_with_names() {{
    _remora "$@"
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" kind="" name
    case "${{COMP_WORDS[*]:1:COMP_CWORD-1}} " in
{cases}    esac
    if [[ -n "$kind" && "$cur" != -* ]]; then
        COMPREPLY=()
        while IFS= read -r name; do
            [[ "$name" == "$cur"* ]] && COMPREPLY+=("$name")
        done < <(remora complete "$kind" "$cur" 2>/dev/null)
    fi
    return 0
}}

complete -F _remora_with_names -o bashdefault -o default remora
"#
    )
}

fn fill_zsh_actions(script: String) -> String {
    let filled = (ZSH_ACTIONS.iter()).fold(script, |script, (_, _, theirs, ours)| {
        script.replace(theirs, ours)
    });
    let call = "if [ \"$funcstack[1]\" = \"_remora\" ]; then";
    filled.replacen(call, &format!("{ZSH_FUNCTIONS}{call}"), 1)
}

fn build_fish_lines() -> String {
    let mut lines = String::new();
    for named in NAMED_ARGUMENTS {
        let place = match named.verbs {
            [verb] => format!("__fish_remora_using_subcommand {verb}"),
            [group, rest @ ..] => format!(
                "__fish_remora_using_subcommand {group}; and __fish_seen_subcommand_from {}",
                rest.join(" ")
            ),
            [] => continue,
        };
        let option = if named.is_flag() {
            format!("-l {} -x", named.argument)
        } else {
            "-f".to_owned()
        };
        let _ = writeln!(
            lines,
            "complete -c remora -n \"{place}\" {option} -a \"(remora complete {} (commandline -ct) 2>/dev/null)\"",
            named.kind
        );
    }
    lines
}
