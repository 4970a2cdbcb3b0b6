//! `remora bench`.

use crate::args::Bench;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(_args: &Bench, _out: &mut Output) -> Result<Exit, CliError> {
    Err(CliError::Usage("not there yet".to_owned()))
}
