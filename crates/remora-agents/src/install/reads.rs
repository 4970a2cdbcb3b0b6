//! Permission rules for what only reads memory, put into a settings file on
//! request and taken out again. Pure. A rule that the user had before is theirs
//! and stays.

use serde_json::json;

use super::edit::Edits;
use super::layout::Layout;
use super::span::Node;
use super::{
    Change, Edited, Entry, InstallError, Kept, Ours, Piece, What, kind, parse, split_mark,
};

/// What may run without a question.
pub const READ_RULES: &[&str] = &[
    "mcp__remora__search",
    "mcp__remora__get",
    "mcp__remora__timeline",
    "Bash(remora search:*)",
    "Bash(remora show:*)",
];
/// Where rules stand.
const PERMISSIONS: &str = "permissions";
const ALLOW: &str = "allow";
/// How a rule of ours is noted in what is kept of an installation.
const ADDED: &str = "rule added: ";

/// The hooks, and rules for reading with them.
#[derive(Debug, Clone, Copy)]
pub struct WithReads<'a>(pub Entry<'a>);

impl Ours for WithReads<'_> {
    fn remove(&self, current: &str, kept: &Kept) -> Result<Edited, InstallError> {
        self.0.remove(current, kept)
    }

    fn is_there(&self, current: &str) -> Result<bool, InstallError> {
        self.0.is_there(current)
    }
}

impl Piece for WithReads<'_> {
    fn plan(&self, current: Option<&str>) -> Result<Edited, InstallError> {
        let hooks = self.0.plan(current)?;
        let mut both = add(&hooks.text)?;
        both.changes.splice(0..0, hooks.changes);
        both.warnings.splice(0..0, hooks.warnings);
        both.kept.join(hooks.kept);
        Ok(both)
    }
}

fn add(current: &str) -> Result<Edited, InstallError> {
    let (mark, text) = split_mark(current);
    let root = parse(text)?;
    let layout = Layout::of(text, &root);
    let mut edits = Edits::default();
    let mut kept = Kept::default();
    let permissions = root.get(PERMISSIONS);
    let list = match permissions {
        Some(found) if !found.is_object() => return Err(kind(PERMISSIONS, "an object", found)),
        Some(found) => found.get(ALLOW),
        None => None,
    };
    let there = match list {
        None => &[][..],
        Some(found) => match found.list() {
            Some(rules) => rules,
            None => return Err(kind("permissions.allow", "a list", found)),
        },
    };
    let is_there = |rule: &&str| there.iter().any(|found| found.text() == Some(*rule));
    let missing: Vec<&str> = READ_RULES
        .iter()
        .copied()
        .filter(|rule| !is_there(rule))
        .collect();
    if missing.is_empty() {
        return Ok(edited(current.to_owned(), Vec::new(), kept));
    }
    kept.0
        .extend(missing.iter().map(|rule| format!("{ADDED}{rule}")));
    let (at, new) = match (permissions, list) {
        (_, Some(list)) => layout.append(text, list, missing.len(), |at, shape| {
            layout.value(&json!(missing[at]), shape)
        }),
        (Some(permissions), None) => layout.append(text, permissions, 1, |_, shape| {
            layout.member(ALLOW, &json!(missing), shape)
        }),
        (None, None) => layout.append(text, &root, 1, |_, shape| {
            layout.member(PERMISSIONS, &json!({ ALLOW: missing }), shape)
        }),
    };
    edits.insert(at, new);
    let text = format!("{mark}{}", edits.apply(text));
    Ok(edited(text, vec![change(What::Added)], kept))
}

/// The text without the rules that an installation noted as its own.
pub(super) fn remove(current: &str, kept: &Kept) -> Result<Edited, InstallError> {
    let (mark, text) = split_mark(current);
    let none = || edited(current.to_owned(), Vec::new(), Kept::default());
    if text.trim().is_empty() {
        return Ok(none());
    }
    let root = parse(text)?;
    let Some(permissions) = root.member(PERMISSIONS) else {
        return Ok(none());
    };
    let allow = permissions.value.member(ALLOW);
    let Some((allow, rules)) = allow.and_then(|allow| Some((allow, allow.value.list()?))) else {
        return Ok(none());
    };
    let is_ours = |rule: &Node| {
        let rule = rule.text().filter(|rule| READ_RULES.contains(rule));
        rule.is_some_and(|rule| kept.0.contains(&format!("{ADDED}{rule}")))
    };
    let mine: Vec<bool> = rules.iter().map(is_ours).collect();
    if !mine.contains(&true) {
        return Ok(none());
    }
    let mut edits = Edits::default();
    if mine.contains(&false) {
        edits.cut(&allow.value, &mine);
    } else if permissions.value.members().len() > 1 {
        let members = permissions.value.members().iter();
        let gone: Vec<bool> = members.map(|member| member.span == allow.span).collect();
        edits.cut(&permissions.value, &gone);
    } else {
        let members = root.members().iter();
        let gone: Vec<bool> = members
            .map(|member| member.span == permissions.span)
            .collect();
        edits.cut(&root, &gone);
    }
    let text = format!("{mark}{}", edits.apply(text));
    Ok(edited(text, vec![change(What::Removed)], Kept::default()))
}

fn change(what: What) -> Change {
    Change {
        event: "permissions.allow".to_owned(),
        what,
    }
}

fn edited(text: String, changes: Vec<Change>, kept: Kept) -> Edited {
    Edited {
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

    fn entry() -> WithReads<'static> {
        WithReads(Entry {
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
        assert_eq!(entry().remove(own, &Kept::default()).unwrap().text, own);
        assert!(entry().plan(Some("{\"permissions\": []}")).is_err());
    }
}
