//! What users set for a plugin: plain options in their settings, secrets in a
//! file of the client's. A value reaches the plugin's own commands and nothing
//! else; defaults of the manifest do not reach them, as in the client.

use std::fmt;

use serde_json::{Map, Value};

use super::{Layers, SettingsPaths, read_file};
use crate::names;

/// The kinds of options that a manifest may declare.
const OPTION_TYPES: &[&str] = &["string", "number", "boolean", "directory", "file"];

/// A plugin's options with their values as text, in the order in which they were
/// set.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PluginOptions(Vec<(String, String)>);

/// Values may be secrets, so that no report may print them.
impl fmt::Debug for PluginOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(key, _)| key);
        f.debug_set().entries(names).finish()
    }
}

impl PluginOptions {
    /// The value of an option that is set. Its case counts.
    pub fn find(&self, key: &str) -> Option<&str> {
        let mut set = self.0.iter();
        set.find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    }

    /// The variables that commands find set, with their values. Of two keys with
    /// one variable the later one counts, so they are set in this order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (name_variable(key), value.as_str()))
    }
}

/// The options of a plugin: `id` over its bare `name`, secrets over both.
pub(super) fn read_options(
    id: &str,
    name: Option<&str>,
    places: &SettingsPaths,
    layers: &Layers,
) -> PluginOptions {
    let mut values = Map::new();
    let bare = name.and_then(|name| layers.plugin_options.get(name));
    let whole = layers.plugin_options.get(id);
    let secrets = read_secrets(id, places);
    for options in bare.into_iter().chain(whole).chain(&secrets) {
        for (key, value) in options {
            values.insert(key.clone(), value.clone());
        }
    }
    let texts = values
        .into_iter()
        .map(|(key, value)| (key, write_value(&value)));
    PluginOptions(texts.collect())
}

/// The client keeps these apart, for the user alone to read. A file that is not
/// there or not valid means that there are none.
fn read_secrets(id: &str, places: &SettingsPaths) -> Option<Map<String, Value>> {
    let bytes = read_file(&places.config_dir().join(names::CREDENTIALS_FILE)).ok()?;
    let file: Value = serde_json::from_slice(&bytes).ok()?;
    let secrets = file.get(names::PLUGIN_SECRETS_KEY)?.get(id)?.as_object()?;
    Some(secrets.clone())
}

/// A value as commands read it; the elements of a list with commas between them.
fn write_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(write_value).collect::<Vec<_>>().join(","),
        // `2.0` is `2` to the client, which has one kind of number.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                format!("{float:.0}")
            }
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

fn name_variable(key: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = key.chars().map(plain).collect();
    format!("{}{name}", names::PLUGIN_OPTION_VAR_PREFIX)
}

/// Whether options are declared as the client wants them; else none of the
/// plugin is loaded.
pub(super) fn check_declarations(manifest: &Map<String, Value>) -> Result<(), String> {
    let Some(declared) = manifest.get("userConfig") else {
        return Ok(());
    };
    let Value::Object(declared) = declared else {
        return Err("`userConfig` must be an object".to_owned());
    };
    for (key, option) in declared {
        let at = format!("`userConfig.{key}`");
        let mut letters = key.chars();
        let begins = letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !begins || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("{at} must be named by letters, digits and _"));
        }
        let text = |field: &str| option.get(field).and_then(Value::as_str);
        if !text("type").is_some_and(|kind| OPTION_TYPES.contains(&kind)) {
            return Err(format!(
                "{at}.type must be one of {}",
                OPTION_TYPES.join(", ")
            ));
        }
        for field in ["title", "description"] {
            if text(field).is_none() {
                return Err(format!("{at}.{field} must be a string"));
            }
        }
    }
    Ok(())
}

/// A text of the exec form with `${user_config.KEY}` filled in, once: what a value
/// holds is not read again. The error is the first key that is not set.
pub(crate) fn fill_options(text: &str, options: &PluginOptions) -> Result<String, String> {
    let opening = names::PLUGIN_OPTION_PLACEHOLDER;
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(opening) {
        let (before, placeholder) = rest.split_at(at);
        filled.push_str(before);
        let inner = &placeholder[opening.len()..];
        let Some((key, behind)) = inner.split_once('}').filter(|(key, _)| !key.is_empty()) else {
            filled.push_str(opening);
            rest = inner;
            continue;
        };
        let value = options.find(key).ok_or_else(|| key.to_owned())?;
        filled.push_str(value);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(values: &[(&str, &str)]) -> PluginOptions {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        PluginOptions(values.iter().map(own).collect())
    }

    #[test]
    fn placeholders_are_filled_in_once() {
        let set = options(&[("a", "v"), ("b", "${user_config.a}")]);
        let fill = |text: &str| fill_options(text, &set);
        assert_eq!(fill("$${user_config.a}${user_config.a}").unwrap(), "$vv");
        assert_eq!(fill("${user_config.b}").unwrap(), "${user_config.a}");
        for literal in [
            "${ user_config.a }",
            "${user_config}",
            "${user_config.",
            "${user_config.}",
        ] {
            assert_eq!(fill(literal).unwrap(), literal);
        }
        assert_eq!(fill("x${user_config.A}").unwrap_err(), "A");
    }

    #[test]
    fn values_are_texts_and_never_printed() {
        let text = |value: Value| write_value(&value);
        assert_eq!(text(json!("a \"$b")), "a \"$b");
        assert_eq!(text(json!(1.5)), "1.5");
        assert_eq!(text(json!(2.0)), "2");
        assert_eq!(text(json!(false)), "false");
        assert_eq!(text(json!(["p", "q,r"])), "p,q,r");
        assert_eq!(name_variable("b-cä1"), "CLAUDE_PLUGIN_OPTION_B_C_1");
        assert_eq!(format!("{:?}", options(&[("key", "secret")])), "{\"key\"}");
    }

    #[test]
    fn declarations_are_checked() {
        let check = |declared: Value| {
            let manifest = json!({ "userConfig": declared });
            check_declarations(manifest.as_object().unwrap())
        };
        let option = json!({"type": "string", "title": "T", "description": "D", "default": 1});
        assert_eq!(check(json!({"_a1": option})), Ok(()));
        assert_eq!(check_declarations(&Map::new()), Ok(()));
        for (declared, field) in [
            (json!([]), "`userConfig`"),
            (json!({"a-b": option}), "`userConfig.a-b` must be named"),
            (
                json!({"a": {"type": "list", "title": "T", "description": "D"}}),
                "`userConfig.a`.type",
            ),
            (
                json!({"a": {"type": "string", "title": "T"}}),
                "`userConfig.a`.description",
            ),
        ] {
            let error = check(declared).unwrap_err();
            assert!(error.starts_with(field), "{error}");
        }
    }
}
