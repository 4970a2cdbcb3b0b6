//! Puts Remora's MCP server into a list of servers and takes it out again. Pure:
//! text in, text out; every byte that is not ours stays as it is.
//!
//! A server is ours by its name and by what it runs. A server of our name that
//! runs something else is never touched.

use std::path::Path;

use serde_json::{Value, json};

use super::edit::TextEdits;
use super::layout::{Layout, Shape};
use super::mcp_toml;
use super::span::Node;
use super::{
    ChangeKind, EntryChange, InstallError, Installable, PriorState, Removable, SettingsEdit,
    kind_error, ours, parse_settings, split_mark, unchanged_edit,
};
use crate::mcp::McpListForm;

/// The name of the server.
pub const SERVER_NAME: &str = "remora";
/// The verb with which a client starts it.
pub(super) const MCP_VERB: &str = "mcp";
/// The key under which servers are listed.
const KEY_SERVERS: &str = "mcpServers";

/// Our MCP server, to be listed in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct McpServerEntry<'a> {
    /// The absolute path of our program.
    pub(super) program: &'a Path,
}

impl McpServerEntry<'_> {
    fn to_value(self) -> Result<Value, InstallError> {
        let program = ours::check_program(self.program)?;
        Ok(json!({ "type": "stdio", "command": program, "args": [MCP_VERB] }))
    }
}

impl Installable for McpServerEntry<'_> {
    fn plan(&self, current: Option<&str>) -> Result<SettingsEdit, InstallError> {
        let wanted = self.to_value()?;
        let (mark, text) = split_mark(current.unwrap_or_default());
        if text.trim().is_empty() {
            let layout = Layout::of_a_new_file();
            let value = json!({ KEY_SERVERS: { SERVER_NAME: wanted } });
            let text = layout.format_value(&value, Shape::Lines(""));
            return Ok(build_edit(
                format!("{mark}{text}\n"),
                Some(ChangeKind::Added),
            ));
        }
        let root = parse_settings(text)?;
        if !root.is_object() {
            return Err(kind_error("the file", "a JSON object", &root));
        }
        let layout = Layout::from_text(text, &root);
        let mut edits = TextEdits::default();
        let mut kept = PriorState::default();
        let what = match root.get(KEY_SERVERS) {
            None => {
                let servers = json!({ SERVER_NAME: wanted });
                let (at, text) = layout.append(text, &root, 1, |_, shape| {
                    layout.format_member(KEY_SERVERS, &servers, shape)
                });
                edits.insert(at, text);
                Some(ChangeKind::Added)
            }
            Some(servers) if !servers.is_object() => {
                return Err(kind_error(KEY_SERVERS, "an object", servers));
            }
            Some(servers) => match servers.get(SERVER_NAME) {
                Some(found) if program_of(found).is_none() => {
                    // Refused rather than renamed: hooks and documentation name
                    // the tools by this server.
                    return Err(InstallError::NameTaken(format!(
                        "{KEY_SERVERS}.{SERVER_NAME}"
                    )));
                }
                Some(found) => update_server(&mut edits, text, &layout, found, &wanted),
                None => {
                    if servers.members().is_empty() {
                        kept.0.insert(KEY_SERVERS.to_owned());
                    }
                    let (at, text) = layout.append(text, servers, 1, |_, shape| {
                        layout.format_member(SERVER_NAME, &wanted, shape)
                    });
                    edits.insert(at, text);
                    Some(ChangeKind::Added)
                }
            },
        };
        let mut edited = build_edit(format!("{mark}{}", edits.apply(text)), what);
        edited.kept = kept;
        Ok(edited)
    }
}

impl Removable for McpServerEntry<'_> {
    fn remove(&self, current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError> {
        let (mark, text) = split_mark(current);
        if text.trim().is_empty() {
            return Ok(unchanged_edit(current));
        }
        let root = parse_settings(text)?;
        let Some(list) = root.find_member(KEY_SERVERS) else {
            return Ok(unchanged_edit(current));
        };
        let servers = list.value.members();
        let mine: Vec<bool> = servers
            .iter()
            .map(|server| server.key == SERVER_NAME && program_of(&server.value).is_some())
            .collect();
        if !mine.contains(&true) {
            return Ok(unchanged_edit(current));
        }
        let mut edits = TextEdits::default();
        // The key goes with our server unless it was there, and empty, before
        // us.
        if mine.contains(&false) || kept.0.contains(KEY_SERVERS) {
            edits.remove_members(&list.value, &mine);
        } else {
            let members = root.members().iter();
            let gone: Vec<bool> = members.map(|member| member.span == list.span).collect();
            edits.remove_members(&root, &gone);
        }
        let text = format!("{mark}{}", edits.apply(text));
        Ok(build_edit(text, Some(ChangeKind::Removed)))
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        Ok(find_server(current)?.is_some())
    }
}

/// The same in a list that is written in TOML.
#[derive(Debug, Clone, Copy)]
pub(super) struct TomlServerEntry<'a>(pub(super) McpServerEntry<'a>);

impl Installable for TomlServerEntry<'_> {
    fn plan(&self, current: Option<&str>) -> Result<SettingsEdit, InstallError> {
        mcp_toml::plan_server(self.0, current)
    }
}

impl Removable for TomlServerEntry<'_> {
    fn remove(&self, current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError> {
        mcp_toml::remove_server(current, kept)
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        Ok(mcp_toml::find_server(current)?.is_some())
    }
}

impl McpListForm {
    /// Our server, as it is put into a list of this form.
    pub fn server_entry(self, program: &Path) -> Box<dyn Installable + '_> {
        let entry = McpServerEntry { program };
        match self {
            Self::Json => Box::new(entry),
            Self::Toml => Box::new(TomlServerEntry(entry)),
        }
    }

    /// The program that our server runs, as it is written in the text.
    pub fn find_server(self, current: &str) -> Result<Option<String>, InstallError> {
        match self {
            Self::Json => find_server(current),
            Self::Toml => mcp_toml::find_server(current),
        }
    }

    /// Whether somebody else's server has our name.
    pub fn is_name_taken(self, current: &str) -> bool {
        match self {
            Self::Json => is_name_taken(current),
            Self::Toml => mcp_toml::is_name_taken(current),
        }
    }
}

/// The program that our server runs, as it is written in the text.
fn find_server(current: &str) -> Result<Option<String>, InstallError> {
    let (_, text) = split_mark(current);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let root = parse_settings(text)?;
    let server = root
        .get(KEY_SERVERS)
        .and_then(|servers| servers.get(SERVER_NAME));
    Ok(server.and_then(program_of))
}

/// Whether somebody else's server has our name.
fn is_name_taken(current: &str) -> bool {
    let (_, text) = split_mark(current);
    let Ok(root) = parse_settings(text) else {
        return false;
    };
    let server = root
        .get(KEY_SERVERS)
        .and_then(|servers| servers.get(SERVER_NAME));
    server.is_some_and(|server| program_of(server).is_none())
}

fn program_of(server: &Node) -> Option<String> {
    let command = server.get("command")?.as_text()?;
    let first = server.get("args")?.as_list()?.first()?.as_text()?;
    (ours::is_remora(command) && first == MCP_VERB).then(|| command.to_owned())
}

/// Brings our server up to date; what the user added to it, such as `env`, stays.
fn update_server(
    edits: &mut TextEdits,
    text: &str,
    layout: &Layout,
    found: &Node,
    wanted: &Value,
) -> Option<ChangeKind> {
    let mut changed = false;
    for (key, value) in wanted.as_object()? {
        // A server without a type runs a program, too.
        let Some(node) = found.get(key) else {
            continue;
        };
        let same = serde_json::from_str::<Value>(&text[node.span.clone()]);
        if same.ok().as_ref() != Some(value) {
            edits.replace_range(node.span.clone(), layout.format_value(value, Shape::Inline));
            changed = true;
        }
    }
    changed.then_some(ChangeKind::Updated)
}

pub(super) fn build_edit(text: String, what: Option<ChangeKind>) -> SettingsEdit {
    let event = SERVER_NAME.to_owned();
    SettingsEdit {
        text,
        changes: what
            .map(|what| EntryChange { event, what })
            .into_iter()
            .collect(),
        warnings: Vec::new(),
        kept: PriorState::default(),
    }
}

#[cfg(test)]
mod tests;
