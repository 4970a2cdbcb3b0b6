//! Everything in a document but `hooks`: the values the engine needs.

use remora_core::shapes;
use serde_json::{Map, Value};

use super::check::parse_strings;
use super::{Settings, Strictness};
use crate::names;

type Fields = Map<String, Value>;

/// Reads every key but `hooks`.
pub(super) fn read_switches(
    map: &Fields,
    strictness: Strictness,
    settings: &mut Settings,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let mut map = map.clone();
    // As in the client: a wrong type voids a user's file, but in managed settings it
    // loses only its own key, so the organisation's other rules stay in force.
    let misfits = shapes::find_type_mismatches(&map);
    if let (Some(first), false) = (misfits.first(), strictness == Strictness::Managed) {
        return Err(first.to_string());
    }
    warnings.extend(misfits.iter().map(|m| format!("{m}; the key is ignored")));
    shapes::drop_misfits(&mut map, &misfits);
    if let Some(Value::Object(block)) = map.get("permissions") {
        let list = |key: &str| -> Vec<String> {
            let rules = block
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            // A list whose type is wrong was handled above; an invalid rule in a good list
            // is dropped later, with a warning that names it.
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
    settings.http_urls = map.get("allowedHttpHookUrls").and_then(parse_strings);
    settings.http_env = map.get("httpHookAllowedEnvVars").and_then(parse_strings);
    let plugins = map
        .get("enabledPlugins")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    settings.enabled_plugins = plugins
        .map(|(id, on)| (id.clone(), on != &Value::Bool(false)))
        .collect();
    let configs = map
        .get(names::PLUGIN_CONFIGS_KEY)
        .and_then(Value::as_object);
    settings.plugin_options = configs
        .into_iter()
        .flatten()
        .filter_map(|(id, plugin)| Some((id.clone(), plugin.get("options")?.as_object()?.clone())))
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
