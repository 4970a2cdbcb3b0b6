//! What a settings text holds: our entries, and what the client refuses.

use super::span::Node;
use super::{
    InstallError, SettingsProblem, check, group_handlers, ours, parse_settings, split_mark,
};
use crate::spec::AgentSpec;

/// One entry of ours in a settings text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The event, as it is written in the file.
    pub event: String,
    /// The program that is run, as it is written in the file.
    pub program: String,
    /// The matcher of its group.
    pub matcher: Option<String>,
    /// The position of its group in the list of the event, from 0.
    pub group: usize,
    /// Its position in its group, from 0.
    pub handler: usize,
}

/// Our entries in a settings text.
pub fn find_entries(current: &str, spec: &AgentSpec) -> Result<Vec<InstalledHook>, InstallError> {
    let (_, text) = split_mark(current);
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let root = parse_settings(text)?;
    let mut found = Vec::new();
    for member in root.get("hooks").map_or(&[][..], Node::members) {
        let groups = member.value.as_list().unwrap_or_default();
        for (group_at, group) in groups.iter().enumerate() {
            for (handler_at, handler) in group_handlers(group).iter().enumerate() {
                if let Some(program) = ours::program_of(handler, spec) {
                    found.push(InstalledHook {
                        event: member.key.clone(),
                        program,
                        matcher: group
                            .get("matcher")
                            .and_then(Node::as_text)
                            .map(str::to_owned),
                        group: group_at,
                        handler: handler_at,
                    });
                }
            }
        }
    }
    Ok(found)
}

/// What in a settings text keeps the client from using it, ours or not.
pub fn find_problems(
    current: &str,
    spec: &AgentSpec,
) -> Result<Vec<SettingsProblem>, InstallError> {
    let (_, text) = split_mark(current);
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let root = parse_settings(text)?;
    Ok(check::check_settings(&root, &spec.install.rules))
}
