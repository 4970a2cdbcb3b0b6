//! Skills and agents of a case: where they are, and the hooks in their heads. The
//! engine takes a head as a value; a host reads it.

use std::fs;
use std::path::Path;

use remora_hooks::{HeadHooks, HeadOrigin};
use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

use super::case::Case;

pub(super) fn find_skill(case: &Case, name: &str) -> Option<HeadHooks> {
    if let Some((plugin, skill)) = name.split_once(':') {
        let root = case.root.join("plug");
        let data = case
            .root
            .join(format!(".claude/plugins/data/{plugin}-inline"));
        let origin = HeadOrigin::Plugin {
            name: plugin.to_owned(),
            root: root.clone(),
            data,
        };
        let file = root.join(format!("skills/{skill}/SKILL.md"));
        return read_head(name, &file, origin);
    }
    find_own(case, name, &format!(".claude/skills/{name}/SKILL.md"))
}

pub(super) fn find_agent(case: &Case, name: &str) -> Option<HeadHooks> {
    if let Some((plugin, agent)) = name.split_once(':') {
        let root = case.root.join("plug");
        let origin = HeadOrigin::Plugin {
            name: plugin.to_owned(),
            root: root.clone(),
            data: root.clone(),
        };
        return read_head(name, &root.join(format!("agents/{agent}.md")), origin);
    }
    let given = case.arg_value("--agents");
    let given: Option<Value> = given.map(|text| serde_json::from_str(&text).unwrap());
    if let Some(hooks) = given.as_ref().and_then(|agents| agents[name].get("hooks")) {
        return Some(HeadHooks {
            name: name.to_owned(),
            hooks: hooks.clone(),
            file: None,
            origin: HeadOrigin::Session,
        });
    }
    find_own(case, name, &format!(".claude/agents/{name}.md"))
}

fn find_own(case: &Case, name: &str, file: &str) -> Option<HeadHooks> {
    read_head(name, &case.app().join(file), HeadOrigin::Project)
        .or_else(|| read_head(name, &case.root.join(file), HeadOrigin::User))
}

fn read_head(name: &str, file: &Path, origin: HeadOrigin) -> Option<HeadHooks> {
    let text = fs::read_to_string(file).ok()?;
    let head = text.strip_prefix("---")?.split_once("---")?.0;
    let hooks = parse_yaml(head).get("hooks")?.clone();
    Some(HeadHooks {
        name: name.to_owned(),
        hooks,
        file: Some(file.to_owned()),
        origin,
    })
}

/// As much of YAML as heads of recorded cases have.
fn parse_yaml(text: &str) -> Value {
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    for event in Parser::new_from_str(text) {
        let done = match event.unwrap().0 {
            Event::MappingStart(..) => {
                open.push((Value::Object(Map::new()), None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Value::Array(Vec::new()), None));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().unwrap().0,
            Event::Scalar(text, style, ..) => read_scalar(&text, style),
            _ => continue,
        };
        match open.last_mut() {
            None => return done,
            Some((Value::Array(items), _)) => items.push(done),
            Some((Value::Object(map), key)) => {
                if let Some(key) = key.take() {
                    map.insert(key, done);
                } else {
                    let text = done.as_str().map(str::to_owned);
                    *key = Some(text.unwrap_or_else(|| done.to_string()));
                }
            }
            Some(_) => {}
        }
    }
    Value::Null
}

fn read_scalar(text: &str, style: saphyr_parser::ScalarStyle) -> Value {
    if style == saphyr_parser::ScalarStyle::Plain
        && let Ok(value @ (Value::Bool(_) | Value::Number(_) | Value::Null)) =
            serde_json::from_str(text)
    {
        return value;
    }
    text.into()
}
