//! Puts Remora's MCP server into a list of servers and takes it out again. Pure:
//! text in, text out; every byte that is not ours stays as it is.
//!
//! A server is ours by its name and by what it runs. A server of our name that
//! runs something else is never touched.

use std::path::Path;

use serde_json::{Value, json};

use super::edit::Edits;
use super::layout::{Layout, Shape};
use super::span::Node;
use super::{
    Change, Edited, InstallError, Kept, Ours, Piece, What, kind, ours, parse, split_mark, unchanged,
};

/// The name of the server.
pub const SERVER: &str = "remora";
/// The verb with which a client starts it.
const VERB: &str = "mcp";
/// Where servers stand.
const LIST: &str = "mcpServers";

/// Our server.
#[derive(Debug, Clone, Copy)]
pub struct Server<'a> {
    /// The absolute path of our program.
    pub program: &'a Path,
}

impl Server<'_> {
    fn value(&self) -> Result<Value, InstallError> {
        let program = ours::program(self.program)?;
        Ok(json!({ "type": "stdio", "command": program, "args": [VERB] }))
    }
}

impl Piece for Server<'_> {
    fn plan(&self, current: Option<&str>) -> Result<Edited, InstallError> {
        let wanted = self.value()?;
        let (mark, text) = split_mark(current.unwrap_or_default());
        if text.trim().is_empty() {
            let layout = Layout::of_a_new_file();
            let value = json!({ LIST: { SERVER: wanted } });
            let text = layout.value(&value, Shape::Lines(""));
            return Ok(edited(format!("{mark}{text}\n"), Some(What::Added)));
        }
        let root = parse(text)?;
        if !root.is_object() {
            return Err(kind("the file", "a JSON object", &root));
        }
        let layout = Layout::of(text, &root);
        let mut edits = Edits::default();
        let mut kept = Kept::default();
        let what = match root.get(LIST) {
            None => {
                let servers = json!({ SERVER: wanted });
                let (at, text) = layout.append(text, &root, 1, |_, shape| {
                    layout.member(LIST, &servers, shape)
                });
                edits.insert(at, text);
                Some(What::Added)
            }
            Some(servers) if !servers.is_object() => {
                return Err(kind(LIST, "an object", servers));
            }
            Some(servers) => match servers.get(SERVER) {
                Some(found) if program_of(found).is_none() => {
                    return Err(InstallError::Taken(format!("{LIST}.{SERVER}")));
                }
                Some(found) => update(&mut edits, text, &layout, found, &wanted),
                None => {
                    if servers.members().is_empty() {
                        kept.0.insert(LIST.to_owned());
                    }
                    let (at, text) = layout.append(text, servers, 1, |_, shape| {
                        layout.member(SERVER, &wanted, shape)
                    });
                    edits.insert(at, text);
                    Some(What::Added)
                }
            },
        };
        let mut edited = edited(format!("{mark}{}", edits.apply(text)), what);
        edited.kept = kept;
        Ok(edited)
    }
}

impl Ours for Server<'_> {
    fn remove(&self, current: &str, kept: &Kept) -> Result<Edited, InstallError> {
        let (mark, text) = split_mark(current);
        if text.trim().is_empty() {
            return Ok(unchanged(current));
        }
        let root = parse(text)?;
        let Some(list) = root.member(LIST) else {
            return Ok(unchanged(current));
        };
        let servers = list.value.members();
        let mine: Vec<bool> = servers
            .iter()
            .map(|server| server.key == SERVER && program_of(&server.value).is_some())
            .collect();
        if !mine.contains(&true) {
            return Ok(unchanged(current));
        }
        let mut edits = Edits::default();
        if mine.contains(&false) || kept.0.contains(LIST) {
            edits.cut(&list.value, &mine);
        } else {
            let members = root.members().iter();
            let gone: Vec<bool> = members.map(|member| member.span == list.span).collect();
            edits.cut(&root, &gone);
        }
        let text = format!("{mark}{}", edits.apply(text));
        Ok(edited(text, Some(What::Removed)))
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        Ok(find(current)?.is_some())
    }
}

/// The program that our server runs, as it is written in the text.
pub fn find(current: &str) -> Result<Option<String>, InstallError> {
    let (_, text) = split_mark(current);
    if text.trim().is_empty() {
        return Ok(None);
    }
    let root = parse(text)?;
    let server = root.get(LIST).and_then(|servers| servers.get(SERVER));
    Ok(server.and_then(program_of))
}

/// Whether somebody else's server has our name.
pub fn is_taken(current: &str) -> bool {
    let (_, text) = split_mark(current);
    let Ok(root) = parse(text) else {
        return false;
    };
    let server = root.get(LIST).and_then(|servers| servers.get(SERVER));
    server.is_some_and(|server| program_of(server).is_none())
}

fn program_of(server: &Node) -> Option<String> {
    let command = server.get("command")?.text()?;
    let first = server.get("args")?.list()?.first()?.text()?;
    (ours::is_remora(command) && first == VERB).then(|| command.to_owned())
}

/// Brings our server up to date; what somebody added to it, such as `env`, stays.
fn update(
    edits: &mut Edits,
    text: &str,
    layout: &Layout,
    found: &Node,
    wanted: &Value,
) -> Option<What> {
    let mut changed = false;
    for (key, value) in wanted.as_object()? {
        // A server without a type runs a program, too.
        let Some(node) = found.get(key) else {
            continue;
        };
        let same = serde_json::from_str::<Value>(&text[node.span.clone()]);
        if same.ok().as_ref() != Some(value) {
            edits.replace(node.span.clone(), layout.value(value, Shape::Inline));
            changed = true;
        }
    }
    changed.then_some(What::Updated)
}

fn edited(text: String, what: Option<What>) -> Edited {
    let event = SERVER.to_owned();
    Edited {
        text,
        changes: what
            .map(|what| Change { event, what })
            .into_iter()
            .collect(),
        warnings: Vec::new(),
        kept: Kept::default(),
    }
}

#[cfg(test)]
mod tests;
