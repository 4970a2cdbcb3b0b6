//! `remora completions`: a script for a shell, with the values that arguments
//! may have.

mod names;

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::Shell;
use remora_app::config::CONFIG_KEYS;
use remora_core::EVENTS;

use crate::args::{Args, INSTALL_VERBS};
use crate::commands::hooks::schema::list_names;

/// An argument whose values are known, and are checked where they are used: an
/// error there names the nearest one.
struct CompletedArgument {
    /// The verbs that lead to it.
    verbs: &'static [&'static str],
    /// Its name in the arguments.
    argument: &'static str,
    values: fn() -> Vec<&'static str>,
}

const COMPLETED_ARGUMENTS: &[CompletedArgument] = &[
    CompletedArgument::new(&["hooks", "try"], "event", list_events),
    CompletedArgument::new(&["hooks", "add"], "event", list_events),
    CompletedArgument::new(&["hooks", "run"], "event", list_events),
    CompletedArgument::new(&["hooks", "explain"], "event", list_events),
    CompletedArgument::new(&["hooks", "list"], "event", list_events),
    CompletedArgument::new(&["hooks", "health"], "event", list_events),
    CompletedArgument::new(&["hooks", "replay"], "event", list_events),
    CompletedArgument::new(&["hooks", "schema"], "name", list_names),
    CompletedArgument::new(&["config", "set"], "key", list_config_keys),
    CompletedArgument::new(&["config", "unset"], "key", list_config_keys),
];

impl CompletedArgument {
    const fn new(
        verbs: &'static [&'static str],
        argument: &'static str,
        values: fn() -> Vec<&'static str>,
    ) -> Self {
        Self {
            verbs,
            argument,
            values,
        }
    }
}

fn list_events() -> Vec<&'static str> {
    EVENTS.iter().map(|event| event.text).collect()
}

fn list_config_keys() -> Vec<&'static str> {
    CONFIG_KEYS.iter().map(|key| key.name).collect()
}

pub(super) fn write_script(shell: Shell) -> String {
    let command = COMPLETED_ARGUMENTS
        .iter()
        .fold(Args::command(), |command, completed| {
            let values = PossibleValuesParser::new((completed.values)());
            mut_argument(command, completed.verbs, completed.argument, &|arg| {
                arg.value_parser(values.clone())
            })
        });
    let mut command = names::mark_arguments(shell, command);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "remora", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Fish {
        push_positional_values(&mut script);
    }
    names::ask_for_names(shell, script)
}

/// The command with another argument of a verb, for the script alone.
fn mut_argument(
    command: Command,
    verbs: &[&str],
    argument: &str,
    change: &dyn Fn(Arg) -> Arg,
) -> Command {
    let Some((verb, rest)) = verbs.split_first() else {
        return command.mut_arg(argument, change);
    };
    command.mut_subcommand(verb, |command| {
        mut_argument(command, rest, argument, change)
    })
}

/// Whether a verb's argument is of that kind.
fn find_argument(verbs: &[&str], argument: &str, is_wanted: impl Fn(&Arg) -> bool) -> bool {
    let command = Args::command();
    let verb = verbs
        .iter()
        .try_fold(&command, |command, verb| command.find_subcommand(verb));
    verb.is_some_and(|verb| {
        let mut arguments = verb.get_arguments();
        arguments.any(|arg| arg.get_id() == argument && is_wanted(arg))
    })
}

/// For this shell the library leaves out the values of arguments without a flag.
fn push_positional_values(script: &mut String) {
    for verb in INSTALL_VERBS {
        for agent in remora_agents::AGENTS {
            // Writing into a string cannot fail.
            let _ = writeln!(
                script,
                "complete -c remora -n \"__fish_remora_using_subcommand {verb}\" -f -a \"{}\" -d '{}'",
                agent.name, agent.title
            );
        }
    }
    for completed in COMPLETED_ARGUMENTS {
        let [group, verb] = completed.verbs else {
            continue;
        };
        if find_argument(completed.verbs, completed.argument, Arg::is_positional) {
            let values = (completed.values)().join(" ");
            let _ = writeln!(
                script,
                "complete -c remora -n \"__fish_remora_using_subcommand {group}; and __fish_seen_subcommand_from {verb}\" -f -a \"{values}\""
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_offers_events_and_keys() {
        for shell in [
            Shell::Bash,
            Shell::Zsh,
            Shell::Fish,
            Shell::PowerShell,
            Shell::Elvish,
        ] {
            let script = write_script(shell);
            // These two offer no values of arguments at all.
            if matches!(shell, Shell::PowerShell | Shell::Elvish) {
                assert!(script.contains("conformance"), "{shell}");
                continue;
            }
            for value in ["UserPromptExpansion", "worker.idle_minutes", "explanation"] {
                assert!(script.contains(value), "{shell}: {value}");
            }
        }
    }
}
