//! Everything in a document but `hooks`: types that are checked, and the
//! values the engine needs.

use serde_json::{Map, Value};

use super::check::strings;
use super::{Settings, Strictness};
use crate::permissions::PermissionMode;

type Fields = Map<String, Value>;
type Shape = (&'static str, fn(&Value) -> bool, &'static str);

/// Keys beside `hooks` whose type is checked, ours or not: a wrong one costs
/// the whole file, so it has to be known.
const SHAPES: &[Shape] = &[
    ("disableAllHooks", Value::is_boolean, "true or false"),
    ("allowManagedHooksOnly", Value::is_boolean, "true or false"),
    ("includeCoAuthoredBy", Value::is_boolean, "true or false"),
    ("alwaysThinkingEnabled", Value::is_boolean, "true or false"),
    ("autoMemoryEnabled", Value::is_boolean, "true or false"),
    (
        "enableAllProjectMcpServers",
        Value::is_boolean,
        "true or false",
    ),
    ("respectGitignore", Value::is_boolean, "true or false"),
    ("skipWebFetchPreflight", Value::is_boolean, "true or false"),
    ("spinnerTipsEnabled", Value::is_boolean, "true or false"),
    ("verbose", Value::is_boolean, "true or false"),
    ("$schema", Value::is_string, "a string"),
    ("apiKeyHelper", Value::is_string, "a string"),
    ("awsAuthRefresh", Value::is_string, "a string"),
    ("language", Value::is_string, "a string"),
    ("model", Value::is_string, "a string"),
    ("otelHeadersHelper", Value::is_string, "a string"),
    ("outputStyle", Value::is_string, "a string"),
    ("plansDirectory", Value::is_string, "a string"),
    (
        "cleanupPeriodDays",
        Value::is_u64,
        "a whole number, 0 or more",
    ),
    ("attribution", Value::is_object, "an object"),
    ("enabledPlugins", Value::is_object, "an object"),
    ("env", Value::is_object, "an object"),
    ("fileSuggestion", Value::is_object, "an object"),
    ("permissions", Value::is_object, "an object"),
    ("sandbox", Value::is_object, "an object"),
    (
        "statusLine",
        is_status_line,
        "an object with `type` and `command`",
    ),
    ("allowedHttpHookUrls", is_strings, "a list of strings"),
    ("claudeMdExcludes", is_strings, "a list of strings"),
    ("companyAnnouncements", is_strings, "a list of strings"),
    ("httpHookAllowedEnvVars", is_strings, "a list of strings"),
];

/// The same for keys of `permissions`.
const PERMISSION_SHAPES: &[Shape] = &[
    ("allow", Value::is_array, "a list of rules"),
    ("ask", Value::is_array, "a list of rules"),
    ("deny", Value::is_array, "a list of rules"),
    ("additionalDirectories", is_strings, "a list of strings"),
    ("defaultMode", is_mode, "the name of a permission mode"),
    (
        "disableBypassPermissionsMode",
        |v| v == "disable",
        "\"disable\"",
    ),
];

fn is_status_line(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string)
        && value.get("command").is_some_and(Value::is_string)
}

fn is_mode(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|t| PermissionMode::parse(t).is_some())
}

fn is_strings(value: &Value) -> bool {
    strings(value).is_some()
}

/// Reads every key but `hooks`.
pub(super) fn read(
    map: &Fields,
    strictness: Strictness,
    settings: &mut Settings,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let mut map = map.clone();
    check(&mut map, SHAPES, "", strictness, warnings)?;
    if let Some(Value::Object(block)) = map.get_mut("permissions") {
        check(
            block,
            PERMISSION_SHAPES,
            "permissions.",
            strictness,
            warnings,
        )?;
        let list = |key: &str| -> Vec<String> {
            let rules = block
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            rules.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let lists = &mut settings.permissions;
        lists.allow = list("allow");
        lists.ask = list("ask");
        lists.deny = list("deny");
        lists.directories = list("additionalDirectories");
    }
    let flag = |key: &str| map.get(key).and_then(Value::as_bool);
    settings.disable_all_hooks = flag("disableAllHooks");
    settings.managed_hooks_only = flag("allowManagedHooksOnly");
    settings.plugin_hooks_only = match map.get("strictPluginOnlyCustomization") {
        Some(Value::Bool(on)) => Some(*on),
        Some(Value::Array(list)) => Some(list.iter().any(|v| v == "hooks")),
        _ => None,
    };
    settings.http_urls = map.get("allowedHttpHookUrls").and_then(strings);
    settings.http_env = map.get("httpHookAllowedEnvVars").and_then(strings);
    let plugins = map
        .get("enabledPlugins")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    settings.enabled_plugins = plugins
        .map(|(id, on)| (id.clone(), on != &Value::Bool(false)))
        .collect();
    let env = map
        .get("env")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    settings.env = env
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        })
        .collect();
    Ok(())
}

/// Checks the types. In managed settings a wrong value loses only its own key.
fn check(
    map: &mut Fields,
    shapes: &[Shape],
    prefix: &str,
    strictness: Strictness,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    for (key, fits, expected) in shapes {
        if map.get(*key).is_none_or(fits) {
            continue;
        }
        let problem = format!("`{prefix}{key}` must be {expected}");
        if strictness != Strictness::Managed {
            return Err(problem);
        }
        warnings.push(format!("{problem}; the key is ignored"));
        map.shift_remove(*key);
    }
    Ok(())
}
