//! `remora hooks schema`: JSON schemas, for editors and other engines.

use remora_hook_tools::schema::{SCHEMA_NAMES, build_schema};

use crate::args::HooksSchemaArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn run(args: &HooksSchemaArgs, out: &mut Output) -> Result<Exit, CliError> {
    let Some(name) = &args.name else {
        out.print_text(&format!("{}\n", SCHEMA_NAMES.join("\n")))?;
        return Ok(Exit::GoOn);
    };
    let schema = build_schema(name).ok_or_else(|| {
        CliError::Usage(format!(
            "there is no schema `{name}`; there are {}",
            SCHEMA_NAMES.join(", ")
        ))
    })?;
    out.print_text(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Exit::GoOn)
}
