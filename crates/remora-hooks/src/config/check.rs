//! The `hooks` of a document: groups and handlers, field by field.

use std::collections::BTreeMap;
use std::time::Duration;

use remora_core::EventName;
use serde_json::{Map, Value, json};

use super::{
    AfterNo, HandlerConfig, HandlerKind, MatcherGroup, OnFailure, RewakeTexts, Shell, WaitMode,
};

type Fields = Map<String, Value>;

/// Events whose malformed entries void the whole file, as in the client: a guard
/// that silently loses one rule would let calls through.
pub(crate) fn voids_the_file(event: EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::PermissionRequest)
}

/// What is wrong with the `hooks` of a document that still counts.
#[derive(Debug, Default)]
pub(crate) struct GroupProblems {
    /// One for each, unknown events included.
    pub(crate) warnings: Vec<String>,
    /// The first malformed entry that was left out.
    pub(crate) malformed: Option<String>,
}

/// Reads `hooks`. An error voids the file.
pub(crate) fn read_groups(
    map: &Fields,
    problems: &mut GroupProblems,
) -> Result<Vec<MatcherGroup>, String> {
    let GroupProblems {
        warnings,
        malformed,
    } = problems;
    let hooks = match map.get("hooks") {
        None => return Ok(Vec::new()),
        Some(Value::Object(hooks)) => hooks,
        Some(_) => {
            warnings.push("`hooks` must be an object; no hooks are read".into());
            return Ok(Vec::new());
        }
    };
    let mut groups = Vec::new();
    let mut ignored = Vec::new();
    for (name, list) in hooks {
        let Some(event) = EventName::parse(name) else {
            warnings.push(format!("`hooks.{name}`: no such event; it is left out"));
            continue;
        };
        let mut refuse = |key: String, problem: String| -> Result<(), String> {
            if voids_the_file(event) {
                return Err(format!(
                    "`{key}`: {problem}. Under {event} one malformed entry voids the whole file: none of its hooks, permissions or other settings count"
                ));
            }
            malformed.get_or_insert_with(|| format!("`{key}`: {problem}"));
            warnings.push(format!("`{key}`: {problem}; it is left out"));
            Ok(())
        };
        // `"Stop": null` is no mistake to the client, under any event.
        if list.is_null() {
            continue;
        }
        let Value::Array(list) = list else {
            refuse(format!("hooks.{name}"), "must be a list".into())?;
            continue;
        };
        for (position, group) in list.iter().enumerate() {
            let at = format!("hooks.{name}[{position}]");
            let parts = match group_parts(group) {
                Ok(parts) => parts,
                Err((field, problem)) => {
                    refuse(format!("{at}{field}"), problem)?;
                    continue;
                }
            };
            if group.get("if").is_some() {
                ignored.push(format!(
                    "`{at}.if` is ignored: a condition belongs to a handler"
                ));
            }
            let mut handlers = Vec::new();
            // A malformed handler under another event goes alone; its neighbours in the group
            // keep their written positions, because ids are built from them.
            let mut canon = Vec::new();
            for (index, entry) in parts.1.iter().enumerate() {
                match read_handler(entry) {
                    Ok((config, fields)) => {
                        handlers.push((index, config));
                        canon.push(fields);
                    }
                    Err((field, problem)) => {
                        refuse(format!("{at}.hooks[{index}]{field}"), problem)?;
                    }
                }
            }
            let matcher = parts.0.map(str::to_owned);
            let canon = json!([name, matcher, canon]).to_string();
            groups.push(MatcherGroup {
                event,
                position,
                matcher,
                handlers,
                canon,
            });
        }
    }
    warnings.extend(ignored);
    Ok(groups)
}

pub(crate) type Problem = (String, String);

pub(crate) fn group_parts(group: &Value) -> Result<(Option<&str>, &Vec<Value>), Problem> {
    let Value::Object(group) = group else {
        return Err((
            String::new(),
            "must be an object with a `hooks` list".into(),
        ));
    };
    let matcher = match group.get("matcher") {
        None => None,
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => return Err((".matcher".into(), "must be a string".into())),
    };
    match group.get("hooks") {
        Some(Value::Array(list)) => Ok((matcher, list)),
        _ => Err((".hooks".into(), "must be a list of handlers".into())),
    }
}

/// One handler, and its known fields in a fixed order.
pub(crate) fn read_handler(entry: &Value) -> Result<(HandlerConfig, Value), Problem> {
    let Value::Object(map) = entry else {
        return Err((
            String::new(),
            "a handler must be an object with a `type`".into(),
        ));
    };
    let fields = HandlerFields { map };
    let kind = match fields.optional_text("type")? {
        Some("command") => HandlerKind::Command {
            command: fields.required_text("command")?,
            args: fields.optional_list("args")?,
            shell: match fields.optional_text("shell")? {
                // The client runs `/bin/sh` for both: `[[ ]]` fails under `"shell": "bash"`
                // there as well.
                None | Some("bash") => Shell::Posix,
                Some("powershell") => Shell::PowerShell,
                Some(_) => {
                    return Err((".shell".into(), "must be \"bash\" or \"powershell\"".into()));
                }
            },
            waiting: match (
                fields.optional_flag("async")?,
                fields.optional_flag("asyncRewake")?,
            ) {
                (Some(true), Some(true)) => WaitMode::BackgroundRewake,
                (_, Some(true)) => WaitMode::AsyncRewake,
                (Some(true), _) => WaitMode::Async,
                _ => WaitMode::Sync,
            },
            rewake: RewakeTexts {
                summary: fields.optional_text("rewakeSummary")?.map(str::to_owned),
                message: fields.optional_text("rewakeMessage")?.map(str::to_owned),
            },
        },
        Some("http") => HandlerKind::Http {
            url: fields.required_url()?,
            headers: match map.get("headers").map(parse_headers) {
                None => BTreeMap::new(),
                Some(Some(headers)) => headers,
                Some(None) => {
                    return Err((".headers".into(), "must be an object of strings".into()));
                }
            },
            allowed_env_vars: fields.optional_list("allowedEnvVars")?.unwrap_or_default(),
        },
        Some("mcp_tool") => HandlerKind::McpTool {
            server: fields.required_text("server")?,
            tool: fields.required_text("tool")?,
            input: match map.get("input") {
                None => Map::new(),
                Some(Value::Object(input)) => input.clone(),
                Some(_) => return Err((".input".into(), "must be an object".into())),
            },
        },
        Some("prompt") => HandlerKind::Prompt {
            prompt: fields.required_text("prompt")?,
            model: fields.optional_text("model")?.map(str::to_owned),
            after_no: match fields.optional_flag("continueOnBlock")? {
                Some(true) => AfterNo::GoOn,
                _ => AfterNo::EndTurn,
            },
        },
        Some("agent") => {
            // Read for its type alone: it changes nothing for this kind.
            fields.optional_flag("continueOnBlock")?;
            HandlerKind::Agent {
                prompt: fields.required_text("prompt")?,
                model: fields.optional_text("model")?.map(str::to_owned),
            }
        }
        Some(other) => {
            return Err((
                ".type".into(),
                format!("`{other}` is not one of command, http, mcp_tool, prompt, agent"),
            ));
        }
        None => return Err((".type".into(), "is missing".into())),
    };
    let config = HandlerConfig {
        condition: fields
            .optional_text("if")?
            .filter(|t| !t.is_empty())
            .map(str::to_owned),
        timeout: fields.optional_timeout()?,
        status_message: fields.optional_text("statusMessage")?.map(str::to_owned),
        on_failure: match fields.optional_text("onFailure")? {
            None | Some("continue") => OnFailure::Continue,
            Some("block") => OnFailure::Block,
            Some(_) => {
                return Err((
                    ".onFailure".into(),
                    "must be \"continue\" or \"block\"".into(),
                ));
            }
        },
        // A wrong type makes the entry malformed wherever it stands.
        once: fields.optional_flag("once")?.unwrap_or(false),
        kind,
    };
    Ok((config, fields.to_canonical()))
}

// What the client compares when it asks whether two groups are equal. The order is fixed,
// so the order of keys in the file does not matter.
pub(crate) const KNOWN_KEYS: [&str; 20] = [
    "type",
    "command",
    "args",
    "shell",
    "async",
    "asyncRewake",
    "url",
    "headers",
    "allowedEnvVars",
    "server",
    "tool",
    "input",
    "prompt",
    "model",
    "continueOnBlock",
    "if",
    "timeout",
    "statusMessage",
    "onFailure",
    "once",
];

struct HandlerFields<'a> {
    map: &'a Fields,
}

impl<'a> HandlerFields<'a> {
    fn optional_text(&self, key: &str) -> Result<Option<&'a str>, Problem> {
        match self.map.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err((format!(".{key}"), "must be a string".into())),
        }
    }

    fn required_text(&self, key: &str) -> Result<String, Problem> {
        // An empty text counts: the client accepts an empty command, which runs and does
        // nothing.
        self.optional_text(key)?
            .map(str::to_owned)
            .ok_or_else(|| (format!(".{key}"), "is missing".into()))
    }

    fn optional_flag(&self, key: &str) -> Result<Option<bool>, Problem> {
        match self.map.get(key) {
            None => Ok(None),
            Some(Value::Bool(on)) => Ok(Some(*on)),
            Some(_) => Err((format!(".{key}"), "must be true or false".into())),
        }
    }

    fn optional_list(&self, key: &str) -> Result<Option<Vec<String>>, Problem> {
        match self.map.get(key).map(parse_strings) {
            None => Ok(None),
            Some(Some(list)) => Ok(Some(list)),
            Some(None) => Err((format!(".{key}"), "must be a list of strings".into())),
        }
    }

    fn required_url(&self) -> Result<String, Problem> {
        let url = self.required_text("url")?;
        if !is_url(&url) {
            return Err((".url".into(), format!("`{url}` is not a URL")));
        }
        Ok(url)
    }

    fn optional_timeout(&self) -> Result<Option<Duration>, Problem> {
        let wrong = || {
            (
                ".timeout".to_owned(),
                "must be a number of seconds above 0".to_owned(),
            )
        };
        match self.map.get("timeout") {
            None => Ok(None),
            Some(Value::Number(n)) => match n.as_f64() {
                // The client takes any positive number. The cap of three years only keeps
                // `Instant + Duration` from overflowing.
                Some(s) if s > 0.0 => Ok(Some(Duration::from_secs_f64(s.min(1e8)))),
                _ => Err(wrong()),
            },
            Some(_) => Err(wrong()),
        }
    }

    fn to_canonical(&self) -> Value {
        KNOWN_KEYS
            .iter()
            .filter_map(|k| self.map.get(*k).map(|v| json!([k, v])))
            .collect()
    }
}

/// As `new URL(text)` in JavaScript: a scheme, and a host for those that need one.
fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let needs_host =
        ["http", "https", "ws", "wss", "ftp"].contains(&scheme.to_lowercase().as_str());
    // The URL standard lets special schemes have any number of slashes, of either kind.
    let host = rest.trim_start_matches(['/', '\\']);
    named && (!needs_host || host.starts_with(|c: char| !matches!(c, '?' | '#' | ':')))
}

pub(super) fn parse_strings(value: &Value) -> Option<Vec<String>> {
    value
        .as_array()?
        .iter()
        .map(|v| v.as_str().map(str::to_owned))
        .collect()
}

fn parse_headers(value: &Value) -> Option<BTreeMap<String, String>> {
    let entries = value.as_object()?.iter();
    entries
        .map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())))
        .collect()
}
