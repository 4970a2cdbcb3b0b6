//! The same in TOML: our server as a table below `mcp_servers`. Every byte that
//! is not ours stays as it is.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value};

use super::mcp::{MCP_VERB, McpServerEntry, SERVER_NAME, build_edit};
use super::{ChangeKind, InstallError, PriorState, SettingsEdit, ours, unchanged_edit};

/// The key under which servers are listed.
const KEY_SERVERS: &str = "mcp_servers";
/// The variable that moves Remora's data directory.
const HOME_VARIABLE: &str = "REMORA_HOME";

pub(super) fn plan_server(
    entry: McpServerEntry<'_>,
    current: Option<&str>,
) -> Result<SettingsEdit, InstallError> {
    let program = ours::check_program(entry.program)?;
    let current = current.unwrap_or_default();
    let mut document = parse_document(current)?;
    if !document.contains_key(KEY_SERVERS) {
        let mut table = Table::new();
        // Only the tables below it are written.
        table.set_implicit(true);
        document.insert(KEY_SERVERS, Item::Table(table));
    }
    let Some(servers) = document[KEY_SERVERS].as_table_like_mut() else {
        return Err(InstallError::Kind {
            key: KEY_SERVERS.to_owned(),
            wanted: "a table",
            found: "another value",
        });
    };
    let what = match servers.get_mut(SERVER_NAME) {
        None => {
            servers.insert(SERVER_NAME, new_server(program));
            Some(ChangeKind::Added)
        }
        Some(found) => {
            let Some(server) = found.as_table_like_mut() else {
                return Err(name_taken_error());
            };
            let Some(before) = program_of(server) else {
                return Err(name_taken_error());
            };
            (before != program).then(|| {
                // What surrounds the value, such as a comment, stays.
                if let Some(value) = server.get_mut("command").and_then(Item::as_value_mut) {
                    let decor = value.decor().clone();
                    *value = Value::from(program);
                    *value.decor_mut() = decor;
                }
                ChangeKind::Updated
            })
        }
    };
    match what {
        None => Ok(unchanged_edit(current)),
        what => Ok(build_edit(document.to_string(), what)),
    }
}

pub(super) fn remove_server(
    current: &str,
    kept: &PriorState,
) -> Result<SettingsEdit, InstallError> {
    let mut document = parse_document(current)?;
    let Some(servers) = document
        .get_mut(KEY_SERVERS)
        .and_then(Item::as_table_like_mut)
    else {
        return Ok(unchanged_edit(current));
    };
    let mine = servers.get(SERVER_NAME).and_then(Item::as_table_like);
    if mine.and_then(program_of).is_none() {
        return Ok(unchanged_edit(current));
    }
    servers.remove(SERVER_NAME);
    let empty = servers.is_empty() && !kept.0.contains(KEY_SERVERS);
    let explicit = document
        .get(KEY_SERVERS)
        .and_then(Item::as_table)
        .is_some_and(|table| !table.is_implicit());
    // A `[mcp_servers]` that the user wrote stays, although it is empty.
    if empty && !explicit {
        document.remove(KEY_SERVERS);
    }
    Ok(build_edit(document.to_string(), Some(ChangeKind::Removed)))
}

/// The program that our server runs, as it is written in the text.
pub(super) fn find_server(current: &str) -> Result<Option<String>, InstallError> {
    let document = parse_document(current)?;
    let server = server_table(&document);
    Ok(server.and_then(program_of).map(str::to_owned))
}

/// Whether somebody else's server has our name.
pub(super) fn is_name_taken(current: &str) -> bool {
    let Ok(document) = parse_document(current) else {
        return false;
    };
    let servers = document.get(KEY_SERVERS).and_then(Item::as_table_like);
    let there = servers.and_then(|servers| servers.get(SERVER_NAME));
    there.is_some() && server_table(&document).and_then(program_of).is_none()
}

fn server_table(document: &DocumentMut) -> Option<&dyn TableLike> {
    let servers = document.get(KEY_SERVERS)?.as_table_like()?;
    servers.get(SERVER_NAME)?.as_table_like()
}

fn program_of(server: &dyn TableLike) -> Option<&str> {
    let command = server.get("command")?.as_str()?;
    let first = server.get("args")?.as_array()?.get(0)?.as_str()?;
    (ours::is_remora(command) && first == MCP_VERB).then_some(command)
}

fn new_server(program: &str) -> Item {
    let mut server = Table::new();
    server.insert("command", program.into());
    let mut args = Array::new();
    args.push(MCP_VERB);
    server.insert("args", Item::Value(Value::Array(args)));
    // Servers get only the variables that are asked for. Without this one ours
    // would read another data directory than the hooks.
    let mut variables = Array::new();
    variables.push(HOME_VARIABLE);
    server.insert("env_vars", Item::Value(Value::Array(variables)));
    Item::Table(server)
}

fn name_taken_error() -> InstallError {
    InstallError::NameTaken(format!("{KEY_SERVERS}.{SERVER_NAME}"))
}

fn parse_document(text: &str) -> Result<DocumentMut, InstallError> {
    text.parse().map_err(|error| toml_error(text, &error))
}

/// Where the text is not TOML.
pub(crate) fn toml_error(text: &str, error: &toml_edit::TomlError) -> InstallError {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    InstallError::Toml {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::install::mcp::TomlServerEntry;
    use crate::install::{Installable, Removable};

    const PROGRAM: &str = "/opt/remora/bin/remora";

    fn ours() -> TomlServerEntry<'static> {
        TomlServerEntry(McpServerEntry {
            program: Path::new(PROGRAM),
        })
    }

    const SERVER: &str = "[mcp_servers.remora]\ncommand = \"/opt/remora/bin/remora\"\nargs = [\"mcp\"]\nenv_vars = [\"REMORA_HOME\"]\n";

    #[test]
    fn the_server_comes_and_goes_and_nothing_else_changes() {
        for before in [
            "",
            "model = \"gpt\" # mine\n",
            "[mcp_servers.docs]\ncommand = \"docs\"\n\n[tools]\nweb = true\n",
            "mcp_servers = { docs = { command = \"docs\" } }\n",
        ] {
            let edited = ours().plan(Some(before)).unwrap();
            assert_eq!(edited.changes.len(), 1, "{before}");
            assert_eq!(
                find_server(&edited.text).unwrap().as_deref(),
                Some(PROGRAM),
                "{}",
                edited.text
            );
            let again = ours().plan(Some(&edited.text)).unwrap();
            assert_eq!((again.text, again.changes), (edited.text.clone(), vec![]));
            let gone = ours().remove(&edited.text, &PriorState::default()).unwrap();
            assert_eq!(gone.text.trim_end(), before.trim_end());
        }
        let edited = ours().plan(Some("model = \"gpt\"\n")).unwrap().text;
        assert_eq!(edited, format!("model = \"gpt\"\n\n{SERVER}"));
    }

    #[test]
    fn an_old_program_is_replaced_and_what_was_added_stays() {
        let old = "[mcp_servers.remora]\ncommand = \"/old/remora\" # here\nargs = [\"mcp\"]\n\
                   env = { REMORA_HOME = \"/x\" }\n";
        let edited = ours().plan(Some(old)).unwrap();
        assert_eq!(edited.text, old.replace("/old/remora", PROGRAM));
        assert_eq!(edited.changes[0].what, ChangeKind::Updated);
    }

    #[test]
    fn somebody_elses_server_is_never_touched() {
        for text in [
            "[mcp_servers.remora]\ncommand = \"other\"\nargs = [\"mcp\"]\n",
            "[mcp_servers]\nremora = 7\n",
        ] {
            assert!(is_name_taken(text));
            let refused = ours().plan(Some(text)).unwrap_err();
            assert_eq!(refused, name_taken_error(), "{text}");
            let left = ours().remove(text, &PriorState::default()).unwrap();
            assert_eq!((left.text.as_str(), left.changes), (text, vec![]));
        }
        assert!(!is_name_taken(SERVER) && !is_name_taken("") && !is_name_taken("= 1"));
        let broken = ours().plan(Some("a = 1\nb = = 2\n")).unwrap_err();
        assert_eq!(broken.to_string(), "not valid TOML at line 2, column 5");
    }
}
