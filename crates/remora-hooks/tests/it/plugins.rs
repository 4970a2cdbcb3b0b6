//! Installed plugins: switched on by settings, found where the client put them.

use std::fs;
use std::path::Path;

use remora_hooks::{Engine, EngineOptions, SettingsPaths};
use serde_json::{Value, json};

/// A home with the plugin `fmt` installed from a git-like and `loc` from a
/// local marketplace; `settings` by layer.
fn handlers(settings: &[(&str, Value)]) -> Vec<(String, bool)> {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = dir.path();
    let write = |file: &str, value: &Value| {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let hook = |name: &str| json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": name}]}]}});
    let cache = root.join(".claude/plugins/cache/market/fmt/1.0.0");
    write(
        ".claude/plugins/cache/market/fmt/1.0.0/hooks/hooks.json",
        &hook("from-cache"),
    );
    write("market/plugins/loc/hooks/hooks.json", &hook("in-place"));
    let list = json!({"name": "local", "plugins": [{"name": "loc", "source": "./plugins/loc"}]});
    write("market/.claude-plugin/marketplace.json", &list);
    let installed = json!({"version": 2, "plugins": {
        "fmt@market": [{"scope": "user", "installPath": cache}],
        "loc@local": [{"scope": "user", "installPath": "/nowhere"}],
        "other@market": [{"scope": "project", "projectPath": "/elsewhere", "installPath": cache}],
    }});
    write(".claude/plugins/installed_plugins.json", &installed);
    let known = json!({
        "market": {"source": {"source": "github"}, "installLocation": "/x"},
        "local": {"source": {"source": "directory"}, "installLocation": root.join("market")},
    });
    write(".claude/plugins/known_marketplaces.json", &known);
    for (layer, value) in settings {
        let file = match *layer {
            "user" => ".claude/settings.json",
            "project" => "app/.claude/settings.json",
            _ => "managed/managed-settings.json",
        };
        write(file, value);
    }
    fs::create_dir_all(root.join("app")).unwrap();
    let mut places = SettingsPaths::new(root.join("app"), root);
    places.managed = Some(root.join("managed"));
    let engine = Engine::load(places, EngineOptions::default()).unwrap();
    engine
        .handlers()
        .map(|(entry, held)| {
            let plugin = entry.place.plugin.as_ref().unwrap();
            assert!(
                plugin
                    .data
                    .starts_with(Path::new(root).join(".claude/plugins/data"))
            );
            (
                format!("{} {}", plugin.name, entry.config.kind.label()),
                held.is_none(),
            )
        })
        .collect()
}

fn on(ids: &[&str]) -> Value {
    json!({"enabledPlugins": ids.iter().map(|id| ((*id).to_owned(), json!(true))).collect::<serde_json::Map<_, _>>()})
}

#[test]
fn enabled_plugins_are_found_and_others_are_not() {
    let all = ["fmt@market", "loc@local", "other@market", "gone@market"];
    let expected = vec![
        ("1.0.0 from-cache".to_owned(), true),
        ("loc in-place".to_owned(), true),
    ];
    assert_eq!(handlers(&[("user", on(&all))]), expected);
    assert_eq!(handlers(&[]), []);
}

#[test]
fn a_higher_layer_switches_a_plugin_off() {
    let off = json!({"enabledPlugins": {"fmt@market": false}});
    assert_eq!(
        handlers(&[("user", on(&["fmt@market"])), ("project", off)]),
        []
    );
}

#[test]
fn the_organisations_plugin_counts_as_managed() {
    let mut managed = on(&["fmt@market"]);
    managed["allowManagedHooksOnly"] = true.into();
    let found = handlers(&[("managed", managed), ("user", on(&["loc@local"]))]);
    let expected = vec![
        ("1.0.0 from-cache".to_owned(), true),
        ("loc in-place".to_owned(), false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_installed_plugin_has_the_options_of_its_whole_id_alone() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = dir.path();
    let write = |file: &str, value: &Value| {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let cache = root.join(".claude/plugins/cache/mk/demo/1.0.0");
    write(
        ".claude/plugins/cache/mk/demo/1.0.0/hooks/hooks.json",
        &json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}),
    );
    write(
        ".claude/plugins/cache/mk/demo/1.0.0/.claude-plugin/plugin.json",
        &json!({"name": "demo"}),
    );
    write(
        ".claude/plugins/installed_plugins.json",
        &json!({"plugins": {"demo@mk": [{"installPath": cache}]}}),
    );
    let mut settings = on(&["demo@mk"]);
    settings["pluginConfigs"] = json!({
        "demo": {"options": {"bare": "x"}},
        "demo@mk": {"options": {"plain": "p", "both": "p"}},
    });
    write(".claude/settings.json", &settings);
    write(
        ".claude/.credentials.json",
        &json!({"pluginSecrets": {"demo@mk": {"both": "s"}}}),
    );
    fs::create_dir_all(root.join("app")).unwrap();
    let places = SettingsPaths::new(root.join("app"), root);
    let engine = Engine::load(places, EngineOptions::default()).unwrap();
    let (entry, _) = engine.handlers().next().unwrap();
    let options = &entry.place.plugin.as_ref().unwrap().options;
    let found = ["plain", "both", "bare"].map(|key| options.find(key));
    assert_eq!(found, [Some("p"), Some("s"), None]);
    // Neither a report nor a panic may show a secret.
    assert!(!format!("{:?}", entry.place).contains("\"s\""));
}
