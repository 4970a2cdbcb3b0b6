//! `remora show`.

use crate::args::Show;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(crate) fn run(_args: &Show, _out: &mut Output) -> Result<Exit, CliError> {
    Err(CliError::Usage("not there yet".to_owned()))
}
