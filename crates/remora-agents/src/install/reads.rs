//! Permission rules for what only reads memory, put into a settings file on
//! request and removed again. Pure. A rule that the user had before is theirs
//! and stays.

use serde_json::json;

use super::edit::TextEdits;
use super::layout::Layout;
use super::span::Node;
use super::{
    ChangeKind, EntryChange, InstallError, InstallRequest, Installable, PriorState, Removable,
    SettingsEdit, kind_error, parse_settings, split_mark,
};

/// What may run without a question.
pub const READ_RULES: &[&str] = &[
    "mcp__remora__search",
    "mcp__remora__get",
    "mcp__remora__timeline",
    "Bash(remora search:*)",
    "Bash(remora show:*)",
];
/// The keys under which rules are listed.
const KEY_PERMISSIONS: &str = "permissions";
const KEY_ALLOW: &str = "allow";
/// How a rule of ours is noted in what is kept of an installation.
const ADDED_RULE_PREFIX: &str = "rule added: ";

/// The hooks, and rules for reading with them.
#[derive(Debug, Clone, Copy)]
pub struct InstallWithReadRules<'a>(pub InstallRequest<'a>);

impl Removable for InstallWithReadRules<'_> {
    fn remove(&self, current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError> {
        self.0.remove(current, kept)
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        self.0.is_there(current)
    }
}

impl Installable for InstallWithReadRules<'_> {
    fn plan(&self, current: Option<&str>) -> Result<SettingsEdit, InstallError> {
        let hooks = self.0.plan(current)?;
        let mut both = add_rules(&hooks.text)?;
        both.changes.splice(0..0, hooks.changes);
        both.warnings.splice(0..0, hooks.warnings);
        both.kept.join(hooks.kept);
        Ok(both)
    }
}

fn add_rules(current: &str) -> Result<SettingsEdit, InstallError> {
    let (mark, text) = split_mark(current);
    let root = parse_settings(text)?;
    let layout = Layout::from_text(text, &root);
    let mut edits = TextEdits::default();
    let mut kept = PriorState::default();
    let permissions = root.get(KEY_PERMISSIONS);
    let list = match permissions {
        Some(found) if !found.is_object() => {
            return Err(kind_error(KEY_PERMISSIONS, "an object", found));
        }
        Some(found) => found.get(KEY_ALLOW),
        None => None,
    };
    let there = match list {
        None => &[][..],
        Some(found) => match found.as_list() {
            Some(rules) => rules,
            None => return Err(kind_error("permissions.allow", "a list", found)),
        },
    };
    let is_there = |rule: &&str| there.iter().any(|found| found.as_text() == Some(*rule));
    let missing: Vec<&str> = READ_RULES
        .iter()
        .copied()
        .filter(|rule| !is_there(rule))
        .collect();
    if missing.is_empty() {
        return Ok(build_edit(current.to_owned(), Vec::new(), kept));
    }
    // Only these are removed again: the user may have had the same rule before.
    kept.0.extend(
        missing
            .iter()
            .map(|rule| format!("{ADDED_RULE_PREFIX}{rule}")),
    );
    let (at, new) = match (permissions, list) {
        (_, Some(list)) => layout.append(text, list, missing.len(), |at, shape| {
            layout.format_value(&json!(missing[at]), shape)
        }),
        (Some(permissions), None) => layout.append(text, permissions, 1, |_, shape| {
            layout.format_member(KEY_ALLOW, &json!(missing), shape)
        }),
        (None, None) => layout.append(text, &root, 1, |_, shape| {
            layout.format_member(KEY_PERMISSIONS, &json!({ KEY_ALLOW: missing }), shape)
        }),
    };
    edits.insert(at, new);
    let text = format!("{mark}{}", edits.apply(text));
    Ok(build_edit(text, vec![new_change(ChangeKind::Added)], kept))
}

/// The text without the rules that an installation noted as its own.
pub(super) fn remove_rules(current: &str, kept: &PriorState) -> Result<SettingsEdit, InstallError> {
    let (mark, text) = split_mark(current);
    let none = || build_edit(current.to_owned(), Vec::new(), PriorState::default());
    if text.trim().is_empty() {
        return Ok(none());
    }
    let root = parse_settings(text)?;
    let Some(permissions) = root.find_member(KEY_PERMISSIONS) else {
        return Ok(none());
    };
    let allow = permissions.value.find_member(KEY_ALLOW);
    let Some((allow, rules)) = allow.and_then(|allow| Some((allow, allow.value.as_list()?))) else {
        return Ok(none());
    };
    let is_ours = |rule: &Node| {
        let rule = rule.as_text().filter(|rule| READ_RULES.contains(rule));
        rule.is_some_and(|rule| kept.0.contains(&format!("{ADDED_RULE_PREFIX}{rule}")))
    };
    let mine: Vec<bool> = rules.iter().map(is_ours).collect();
    if !mine.contains(&true) {
        return Ok(none());
    }
    let mut edits = TextEdits::default();
    if mine.contains(&false) {
        edits.remove_members(&allow.value, &mine);
    // Only what our rules created goes with them: the list, then the object around it.
    } else if permissions.value.members().len() > 1 {
        let members = permissions.value.members().iter();
        let gone: Vec<bool> = members.map(|member| member.span == allow.span).collect();
        edits.remove_members(&permissions.value, &gone);
    } else {
        let members = root.members().iter();
        let gone: Vec<bool> = members
            .map(|member| member.span == permissions.span)
            .collect();
        edits.remove_members(&root, &gone);
    }
    let text = format!("{mark}{}", edits.apply(text));
    Ok(build_edit(
        text,
        vec![new_change(ChangeKind::Removed)],
        PriorState::default(),
    ))
}

fn new_change(what: ChangeKind) -> EntryChange {
    EntryChange {
        event: "permissions.allow".to_owned(),
        what,
    }
}

fn build_edit(text: String, changes: Vec<EntryChange>, kept: PriorState) -> SettingsEdit {
    SettingsEdit {
        text,
        changes,
        warnings: Vec::new(),
        kept,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn entry() -> InstallWithReadRules<'static> {
        InstallWithReadRules(InstallRequest {
            program: Path::new("/opt/remora"),
            spec: crate::AGENTS[0],
        })
    }

    #[test]
    fn rules_of_ours_come_and_go_and_those_of_the_user_stay() {
        for text in [
            "{\n  \"model\": \"x\"\n}\n",
            "{\"permissions\": {\"deny\": [\"Bash(rm:*)\"]}}",
            "{\"permissions\": {\"allow\": [\"Bash(remora show:*)\", \"Bash(ls)\"]}}",
        ] {
            let with = entry().plan(Some(text)).unwrap();
            let value: serde_json::Value = serde_json::from_str(&with.text).unwrap();
            let allowed = value["permissions"]["allow"].as_array().unwrap();
            for rule in READ_RULES {
                assert_eq!(
                    allowed.iter().filter(|r| *r == rule).count(),
                    1,
                    "{}",
                    with.text
                );
            }
            assert_eq!(entry().plan(Some(&with.text)).unwrap().changes, []);
            let without = entry().remove(&with.text, &with.kept).unwrap();
            let (left, before): (serde_json::Value, serde_json::Value) = (
                serde_json::from_str(&without.text).unwrap(),
                serde_json::from_str(text).unwrap(),
            );
            assert_eq!(left, before);
        }
        // Nobody noted that they are ours.
        let own = "{\"permissions\": {\"allow\": [\"Bash(remora show:*)\"]}}";
        assert_eq!(
            entry().remove(own, &PriorState::default()).unwrap().text,
            own
        );
        assert!(entry().plan(Some("{\"permissions\": []}")).is_err());
    }
}
