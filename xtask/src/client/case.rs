//! The case format (`fixtures/client/README.md`) and its reading.
//!
//! A file holds `about`, `defaults` and `cases`; a case is settings, a scenario and the
//! events to compare, never code. Unknown keys are errors, so that a typo cannot switch a
//! check off.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Map, Value, json};

use super::layout;

/// A case as its file has it, merged over the file's defaults; placeholders are still in it.
pub(super) struct CaseDraft {
    pub(super) file: PathBuf,
    /// Position in the file's `cases`.
    pub(super) index: usize,
    pub(super) name: String,
    body: Map<String, Value>,
}

/// A case with every placeholder replaced.
pub(super) struct HookCase {
    /// Settings by layer: an object, or a string that is the file's literal text.
    pub(super) layers: Map<String, Value>,
    /// Extra files, relative to the case's root.
    pub(super) files: Map<String, Value>,
    /// What the stub does, by id.
    pub(super) stubs: Map<String, Value>,
    pub(super) mode: String,
    pub(super) args: Vec<String>,
    /// Arguments for the engine that mean the same as `args`; default: `args`.
    pub(super) engine_args: Vec<String>,
    pub(super) env: Map<String, Value>,
    pub(super) prompt: String,
    pub(super) turns: Vec<Value>,
    pub(super) http: Map<String, Value>,
    pub(super) checks: Vec<EventCheck>,
}

/// One event to compare.
pub(super) struct EventCheck {
    pub(super) event: String,
    /// The call's id, for events of a tool.
    pub(super) tool: Option<String>,
    /// Which of several such events, from 0.
    pub(super) nth: usize,
    /// The event in full, when the client runs nothing that could record it.
    pub(super) event_json: Option<Value>,
    /// Compare only these facts.
    pub(super) only: Option<Vec<String>>,
    /// Variable -> the Bash call whose output is its value (`CLAUDE_ENV_FILE`).
    pub(super) env: Map<String, Value>,
    /// What the pinned client did when the case was recorded.
    pub(super) expect: Option<Value>,
}

const CASE_KEYS: &[&str] = &[
    "name",
    "about",
    "layers",
    "files",
    "stubs",
    "mode",
    "args",
    "engine_args",
    "env",
    "prompt",
    "turns",
    "http",
    "recorder",
    "checks",
];
const CHECK_KEYS: &[&str] = &["event", "tool", "nth", "given", "only", "env", "expect"];
const LAYER_NAMES: &[&str] = &["user", "project", "local", "flag", "plugin"];

/// The JSON files of a folder, sorted.
pub(super) fn json_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let list = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in list {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// All cases of a folder, in file and list order.
pub(super) fn load_cases(folder: &Path) -> Result<Vec<CaseDraft>> {
    let files = json_files(folder)?;
    let mut drafts: Vec<CaseDraft> = Vec::new();
    for file in files {
        for draft in load_file(&file).with_context(|| format!("in {}", file.display()))? {
            let twice = drafts.iter().any(|other| other.name == draft.name);
            ensure!(!twice, "two cases are called `{}`", draft.name);
            drafts.push(draft);
        }
    }
    Ok(drafts)
}

fn load_file(file: &Path) -> Result<Vec<CaseDraft>> {
    let content: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    check_keys("the file", &content, &["about", "defaults", "cases"])?;
    let defaults = to_object(&content["defaults"]);
    let mut drafts = Vec::new();
    for (index, case) in content["cases"]
        .as_array()
        .context("no `cases`")?
        .iter()
        .enumerate()
    {
        let mut body = defaults.clone();
        body.extend(to_object(case));
        let name = body
            .get("name")
            .and_then(Value::as_str)
            .context("a case has no name")?
            .to_owned();
        check_keys(&name, &Value::Object(body.clone()), CASE_KEYS)?;
        drafts.push(CaseDraft {
            file: file.to_owned(),
            index,
            name,
            body,
        });
    }
    Ok(drafts)
}

impl CaseDraft {
    /// Replaces the placeholders (`@HOME@` ...), adds the recorder, checks the form.
    pub(super) fn fill_placeholders(&self, places: &[(&str, String)]) -> Result<HookCase> {
        let mut body = Value::Object(self.body.clone());
        replace_strings(&mut body, &|text| {
            places.iter().fold(text.to_owned(), |text, (name, place)| {
                text.replace(name, place)
            })
        });
        let stub = places
            .iter()
            .find(|(name, _)| *name == "@STUB@")
            .map_or("", |(_, path)| path);
        expand_stubs(&mut body["layers"], stub);
        check_keys("layers", &body["layers"], LAYER_NAMES)?;
        let checks = body["checks"].as_array().context("no `checks`")?;
        let checks = checks.iter().map(parse_check).collect::<Result<Vec<_>>>()?;
        let mut layers = to_object(&body["layers"]);
        if body["recorder"] != json!(false) {
            add_recorder(&mut layers, &checks, stub)?;
        }
        let args = to_strings(&body["args"]);
        Ok(HookCase {
            layers,
            files: to_object(&body["files"]),
            stubs: to_object(&body["stubs"]),
            mode: body["mode"].as_str().unwrap_or("default").to_owned(),
            engine_args: match &body["engine_args"] {
                Value::Null => args.clone(),
                own => to_strings(own),
            },
            args,
            env: to_object(&body["env"]),
            prompt: body["prompt"].as_str().unwrap_or("hello").to_owned(),
            turns: body["turns"].as_array().cloned().unwrap_or_default(),
            http: to_object(&body["http"]),
            checks,
        })
    }
}

fn parse_check(value: &Value) -> Result<EventCheck> {
    check_keys("a check", value, CHECK_KEYS)?;
    Ok(EventCheck {
        event: value["event"]
            .as_str()
            .context("a check has no event")?
            .to_owned(),
        tool: value["tool"].as_str().map(str::to_owned),
        nth: value["nth"]
            .as_u64()
            .and_then(|nth| usize::try_from(nth).ok())
            .unwrap_or(0),
        event_json: value.get("given").cloned(),
        only: value.get("only").map(to_strings),
        env: to_object(&value["env"]),
        expect: value.get("expect").cloned(),
    })
}

/// `{"stub": "a", ...}` stands for a command handler that runs the stub with that id.
fn expand_stubs(value: &mut Value, stub: &str) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(id)) = map.get("stub").cloned() {
                let mut handler = Map::new();
                handler.insert("type".to_owned(), json!("command"));
                handler.insert("command".to_owned(), json!(format!("{stub} {id}")));
                let rest = map.iter().filter(|(key, _)| *key != "stub");
                handler.extend(rest.map(|(key, value)| (key.clone(), value.clone())));
                *map = handler;
            }
            map.values_mut().for_each(|value| expand_stubs(value, stub));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| expand_stubs(value, stub)),
        _ => {}
    }
}

/// The recorder `rec` sits in the flag layer: what it reads is the event the engine gets.
fn add_recorder(layers: &mut Map<String, Value>, checks: &[EventCheck], stub: &str) -> Result<()> {
    let mut events: Vec<&str> = checks.iter().map(|check| check.event.as_str()).collect();
    if events.contains(&"PreToolUse") || events.contains(&"PermissionRequest") {
        events.push("PostToolUse"); // shows the input the tool really got
    }
    events.sort_unstable();
    events.dedup();
    let flag = layers.entry("flag").or_insert_with(|| json!({}));
    let Value::Object(flag) = flag else {
        bail!("the recorder needs the flag layer: say `\"recorder\": false`");
    };
    let hooks = flag.entry("hooks").or_insert_with(|| json!({}));
    for event in events {
        let groups = hooks
            .as_object_mut()
            .context("flag hooks must be an object")?;
        let groups = groups.entry(event).or_insert_with(|| json!([]));
        let recorder = json!({"hooks": [{"type": "command", "command": format!("{stub} rec")}]});
        groups
            .as_array_mut()
            .context("flag groups must be a list")?
            .push(recorder);
    }
    Ok(())
}

/// Writes what the client did back into the case files.
pub(super) fn record_facts(draft: &CaseDraft, facts: &[Option<Value>]) -> Result<()> {
    let mut content: Value = serde_json::from_str(&fs::read_to_string(&draft.file)?)?;
    let mut checks = draft.body["checks"].clone();
    for (index, fact) in facts.iter().enumerate() {
        if let (Some(fact), Some(check)) = (fact, checks[index].as_object_mut()) {
            check.insert("expect".to_owned(), fact.clone());
        }
    }
    content["cases"][draft.index]["checks"] = checks;
    let text = format!("{}\n", layout::format_json(&content, 0, 0));
    fs::write(&draft.file, text).with_context(|| format!("cannot write {}", draft.file.display()))
}

/// Applies `change` to every string, keys included.
pub(super) fn replace_strings(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(list) => list
            .iter_mut()
            .for_each(|value| replace_strings(value, change)),
        Value::Object(map) => {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(key, mut value)| {
                    replace_strings(&mut value, change);
                    (change(&key), value)
                })
                .collect();
        }
        _ => {}
    }
}

fn check_keys(what: &str, value: &Value, keys: &[&str]) -> Result<()> {
    for key in value.as_object().into_iter().flat_map(Map::keys) {
        ensure!(keys.contains(&key.as_str()), "{what}: unknown key `{key}`");
    }
    Ok(())
}

fn to_object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn to_strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files are well-formed and say what the client did, without starting it.
    #[test]
    fn every_case_is_complete() -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("no parent")?;
        let drafts = load_cases(&root.join("fixtures").join("client"))?;
        assert!(drafts.len() >= 30, "only {} cases", drafts.len());
        for draft in drafts {
            let case = draft
                .fill_placeholders(&[("@STUB@", "/stub".to_owned())])
                .context(draft.name.clone())?;
            for check in case.checks {
                assert!(check.expect.is_some(), "{}: not recorded", draft.name);
            }
        }
        Ok(())
    }

    #[test]
    fn a_stub_handler_becomes_a_command() {
        let mut value = json!([{"stub": "a", "timeout": 3}]);
        expand_stubs(&mut value, "/s");
        assert_eq!(
            value,
            json!([{"type": "command", "command": "/s a", "timeout": 3}])
        );
    }
}
