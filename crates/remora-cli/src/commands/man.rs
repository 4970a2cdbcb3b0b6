//! `remora man`: manual pages, made from the arguments themselves.

use std::fs;

use crate::args::{Args, ManArgs};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(args: &ManArgs, out: &mut Output) -> Result<Exit, CliError> {
    let mut command = Args::build_command();
    let Some(folder) = &args.folder else {
        // The whole command knows its verbs only when it is built.
        command.build();
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        out.print_text(&String::from_utf8_lossy(&page))?;
        return Ok(Exit::GoOn);
    };
    let failed = |source| CliError::File {
        path: folder.clone(),
        source,
    };
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    Ok(Exit::GoOn)
}
