//! The cases of `fixtures/hooks/lint.json`, and what one document cannot show.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;

const CASES: &str = include_str!("../../../../fixtures/hooks/lint.json");

fn lint(files: &[LintFile], project: &Path) -> Vec<LintFinding> {
    let find_secret = |text: &str| text.contains("SECRET").then(|| "token".to_owned());
    let programs = project.join("bin");
    lint_files(
        files,
        &Surroundings {
            project,
            home: Path::new("/home/nobody-here"),
            search_path: Some(programs.as_os_str()),
            find_secret: &find_secret,
        },
    )
}

fn make_project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let hooks = folder.path().join(".claude/hooks");
    fs::create_dir_all(&hooks).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    for program in ["sh", "grep"] {
        fs::write(folder.path().join("bin").join(program), "").unwrap();
    }
    for (name, text) in [
        ("ok.sh", "exit 0\n"),
        ("plain.sh", "exit 0\n"),
        ("block.sh", "echo no >&2\nexit 2\n"),
    ] {
        fs::write(hooks.join(name), text).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let runs = fs::Permissions::from_mode(0o755);
        fs::set_permissions(hooks.join("ok.sh"), runs).unwrap();
    }
    folder
}

fn settings_file(source: LayerSource, path: &str, text: impl Into<String>) -> LintFile {
    LintFile {
        source,
        path: path.into(),
        plugin_root: None,
        text: text.into(),
    }
}

#[test]
fn every_case() {
    let project = make_project();
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    let mut faults = Vec::new();
    for case in &cases {
        let text = json!({"hooks": case["hooks"]}).to_string();
        let source = match case["layer"].as_str() {
            Some("plugin") => LayerSource::Plugin,
            _ => LayerSource::Project,
        };
        let file = settings_file(source, "/p/settings.json", text);
        let found: Vec<String> = lint(&[file], project.path())
            .iter()
            .map(|f| format!("{} {}", f.code, f.key))
            .collect();
        if json!(found) != case["findings"] {
            faults.push(format!("{}: {found:#?}", case["name"]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_rule_but_those_of_files_has_a_case() {
    let elsewhere = ["invalid-json", "unreadable-file", "repeated-key"];
    for rule in LINT_RULES {
        let shown = CASES.contains(&format!("\"{} ", rule.code)) || elsewhere.contains(&rule.code);
        assert!(shown, "{} has no case", rule.code);
    }
}

#[test]
fn what_a_mistake_costs_depends_on_the_file() {
    let project = make_project();
    let bad = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}"#;
    let said = |source| lint(&[settings_file(source, "/f.json", bad)], project.path())[0].clone();
    let user = said(LayerSource::User);
    assert_eq!(user.code, "malformed-entry");
    assert!(user.message.contains("ignores the whole file"), "{user:?}");
    let managed = said(LayerSource::Policy).message;
    assert!(managed.contains("refuses to start"), "{managed}");
    let plugin = said(LayerSource::Plugin).message;
    assert!(
        plugin.contains("none of the plugin's hooks run"),
        "{plugin}"
    );
}

#[test]
fn places_are_lines_and_columns() {
    let project = make_project();
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"matcher\": \"x\", \"hooks\": [] }\n    ]\n  }\n}\n";
    let found = lint(
        &[settings_file(LayerSource::User, "/f.json", text)],
        project.path(),
    );
    assert_eq!(
        found[0].position,
        Position {
            line: 4,
            column: 20
        }
    );
    let broken = settings_file(LayerSource::User, "/f.json", "{\n // x\n}");
    let found = lint(&[broken], project.path());
    assert_eq!((found[0].code, found[0].position.line), ("invalid-json", 2));
    let twice = r#"{"hooks": {}, "hooks": {"Stop": []}}"#;
    let found = lint(
        &[settings_file(LayerSource::User, "/f.json", twice)],
        project.path(),
    );
    assert_eq!(
        (found[0].code, found[0].key.as_str()),
        ("repeated-key", "hooks")
    );
}

#[test]
fn copies_in_other_layers_are_found() {
    let project = make_project();
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    let files = [
        settings_file(LayerSource::Policy, "/managed.json", text),
        settings_file(LayerSource::User, "/user.json", text),
        settings_file(LayerSource::Project, "/project.json", text),
    ];
    let found: Vec<(String, bool)> = lint(&files, project.path())
        .iter()
        .map(|f| (f.file.display().to_string(), f.message.contains("both run")))
        .collect();
    assert_eq!(
        found,
        [
            ("/managed.json".to_owned(), true),
            ("/user.json".to_owned(), false)
        ]
    );
}

#[test]
fn a_manifest_holds_hooks_with_and_without_a_wrapper() {
    let project = make_project();
    for (text, key) in [
        (
            r#"{"name": "p", "hooks": {"Nope": []}}"#,
            Some("hooks.Nope"),
        ),
        (
            r#"{"name": "p", "hooks": {"hooks": {"Nope": []}}}"#,
            Some("hooks.hooks.Nope"),
        ),
        (r#"{"name": "p", "hooks": "./hooks/more.json"}"#, None),
        (r#"{"name": "p"}"#, None),
    ] {
        let file = settings_file(LayerSource::Plugin, "/p/.claude-plugin/plugin.json", text);
        let found = lint(&[file], project.path());
        let keys: Vec<&str> = found.iter().map(|f| f.key.as_str()).collect();
        assert_eq!(keys, key.into_iter().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn sarif_names_each_rule_and_place() {
    let project = make_project();
    let path = project.path().join("a b.json");
    let file = settings_file(
        LayerSource::Project,
        path.to_str().unwrap(),
        r#"{"hooks": {"Nope": []}}"#,
    );
    let sarif = write_sarif(&lint(&[file], project.path()), project.path(), "1.2.3");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unknown-event");
    let rules = &sarif["runs"][0]["tool"]["driver"]["rules"];
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], "unknown-event");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"],
        json!({"uri": "a%20b.json", "uriBaseId": "%SRCROOT%"})
    );
    assert_eq!(place["region"], json!({"startLine": 1, "startColumn": 20}));
}
