//! Types of settings keys, checked as the client checks them: a wrong one
//! costs the whole file, for every reader and every key.

use serde_json::{Map, Value};

type Shape = (&'static str, fn(&Value) -> bool, &'static str);

/// Keys beside `hooks` whose type is checked.
const SETTINGS_SHAPES: &[Shape] = &[
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
    (
        "pluginConfigs",
        is_plugin_configs,
        "an object of plugins, each with `options` that are strings, numbers, true or false, or lists of strings",
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

fn is_plugin_configs(value: &Value) -> bool {
    let is_option = |value: &Value| {
        value.is_string() || value.is_number() || value.is_boolean() || is_strings(value)
    };
    let has_options = |plugin: &Value| match plugin.get("options") {
        Some(Value::Object(options)) => options.values().all(is_option),
        Some(_) => false,
        None => plugin.is_object(),
    };
    value
        .as_object()
        .is_some_and(|plugins| plugins.values().all(has_options))
}

/// The words of permission modes; `manual` is an old one for the default.
const PERMISSION_MODE_NAMES: &[&str] = &[
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "bypassPermissions",
    "auto",
    "manual",
];

fn is_mode(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|word| PERMISSION_MODE_NAMES.contains(&word))
}

fn is_strings(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(Value::is_string))
}

/// A key whose value has the wrong type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeMismatch {
    /// The block that holds it; empty at the top.
    pub block: &'static str,
    /// The key whose value has the wrong type.
    pub key: &'static str,
    /// The type that the client expects, in words.
    pub expected: &'static str,
}

impl std::fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dot = if self.block.is_empty() { "" } else { "." };
        let Self {
            block,
            key,
            expected,
        } = self;
        write!(f, "`{block}{dot}{key}` must be {expected}")
    }
}

/// The block of permission rules.
const KEY_PERMISSIONS: &str = "permissions";

/// All keys of a settings document whose type is wrong.
pub fn find_type_mismatches(document: &Map<String, Value>) -> Vec<TypeMismatch> {
    let mut found = Vec::new();
    let mut check = |block: &'static str, map: &Map<String, Value>, shapes: &[Shape]| {
        for (key, fits, expected) in shapes {
            // An absent key is fine, but `null` is not: the client checks the type of what
            // is there.
            if !map.get(*key).is_none_or(fits) {
                found.push(TypeMismatch {
                    block,
                    key,
                    expected,
                });
            }
        }
    };
    check("", document, SETTINGS_SHAPES);
    if let Some(Value::Object(block)) = document.get(KEY_PERMISSIONS) {
        check(KEY_PERMISSIONS, block, PERMISSION_SHAPES);
    }
    found
}

/// Takes keys of the wrong type out: what managed settings do with them.
pub fn drop_misfits(document: &mut Map<String, Value>, misfits: &[TypeMismatch]) {
    for misfit in misfits {
        let block = match misfit.block {
            "" => Some(&mut *document),
            name => document.get_mut(name).and_then(Value::as_object_mut),
        };
        if let Some(block) = block {
            block.shift_remove(misfit.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_of_plugins_are_texts_numbers_switches_and_lists_of_texts() {
        let fits = |options: Value| is_plugin_configs(&json!({"a@b": {"options": options}}));
        assert!(fits(json!({"a": "", "b": 1.5, "c": false, "d": ["x"]})));
        for wrong in [
            json!({"a": null}),
            json!({"a": {}}),
            json!({"a": [1]}),
            json!([]),
        ] {
            assert!(!fits(wrong.clone()), "{wrong}");
        }
        assert!(is_plugin_configs(&json!({"a@b": {}})));
        assert!(!is_plugin_configs(&json!({"a@b": 1})));
    }

    #[test]
    fn wrong_types_are_named_and_can_be_dropped() {
        let Value::Object(mut document) = json!({
            "model": 3, "language": "de", "claudeMdExcludes": ["a", null],
            "permissions": {"allow": "Bash", "defaultMode": "plan"}, "unknown": 1
        }) else {
            return;
        };
        let found = find_type_mismatches(&document);
        let words: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "`model` must be a string",
                "`claudeMdExcludes` must be a list of strings",
                "`permissions.allow` must be a list of rules"
            ]
        );
        drop_misfits(&mut document, &found);
        assert_eq!(
            Value::Object(document),
            json!({"language": "de", "permissions": {"defaultMode": "plan"}, "unknown": 1})
        );
    }
}
