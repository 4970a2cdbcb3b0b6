//! `remora completions`: a script for a shell.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::{Args, INSTALL_VERBS};

pub(super) fn write_script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "remora", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    // For this shell the library leaves out the values of arguments without a
    // flag.
    if shell == Shell::Fish {
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
    }
    script
}
