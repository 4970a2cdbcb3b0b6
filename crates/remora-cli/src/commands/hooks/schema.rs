//! `remora hooks schema`: JSON schemas, for editors, other engines and hosts.

use remora_hook_tools::schema::{SCHEMA_NAMES, build_schema};
use serde_json::Value;

use crate::args::HooksSchemaArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

/// The messages of `remora hooks serve`; the protocol knows its own schema.
const RPC_SCHEMA: &str = "rpc";

pub(super) fn run(args: &HooksSchemaArgs, out: &mut Output) -> Result<Exit, CliError> {
    let Some(name) = &args.name else {
        out.print_text(&format!("{}\n", list_names().join("\n")))?;
        return Ok(Exit::GoOn);
    };
    let schema = build_named(name).ok_or_else(|| {
        CliError::Usage(format!(
            "there is no schema `{name}`; there are {}",
            list_names().join(", ")
        ))
    })?;
    out.print_text(&format!("{}\n", serde_json::to_string_pretty(&schema)?))?;
    Ok(Exit::GoOn)
}

/// The schemas by name.
pub(crate) fn list_names() -> Vec<&'static str> {
    SCHEMA_NAMES.into_iter().chain([RPC_SCHEMA]).collect()
}

fn build_named(name: &str) -> Option<Value> {
    match name {
        RPC_SCHEMA => Some(remora_hooks_rpc::build_schema()),
        name => build_schema(name),
    }
}
