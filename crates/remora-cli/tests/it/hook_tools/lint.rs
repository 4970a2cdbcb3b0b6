//! `remora hooks lint`: what is printed, in which form, and the exit code.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, command, on};

#[test]
fn findings_name_file_place_key_and_remedy() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/.claude/settings.json",
        "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash(git *)\", \"hooks\": [] }\n    ]\n  }\n}\n",
    );
    let done = sandbox.hooks(&["lint"]).go();
    insta::assert_snapshot!(done, @r#"
    $ remora hooks lint
    .claude/settings.json:4:20: error call-in-matcher hooks.PreToolUse[0].matcher
      a matcher is tested on the tool's name, not on the call; this one never matches
      write "matcher": "Bash" and, in the handler, "if": "Bash(git *)"

    1 error
    exit 1
    "#);
}

#[test]
fn warnings_fail_only_if_asked() {
    let sandbox = Sandbox::new();
    let slow = json!({"type": "command", "command": "true", "timeout": 5000});
    sandbox.project(&on("Stop", "", &[slow]));
    assert_eq!(sandbox.hooks(&["lint"]).go().code, Some(0));
    assert_eq!(sandbox.hooks(&["lint", "--strict"]).go().code, Some(1));
}

#[test]
fn all_layers_are_read_and_broken_ones_reported() {
    let sandbox = Sandbox::new();
    sandbox.user(&on("Nope1", "", &[]));
    sandbox.project(&on("Nope2", "", &[]));
    sandbox.local(&on("Nope3", "", &[]));
    sandbox.policy(&on("PreToolUse", "", &[json!({"type": "command"})]));
    let plugin = sandbox.plugin("fmt", &on("Nope4", "", &[]));
    let found = |args: &[&str]| -> Vec<String> {
        let (_, report) = sandbox.hooks(&["lint"]).args(args).json();
        let findings = report["findings"].as_array().unwrap().clone();
        findings
            .iter()
            .map(|f| {
                format!(
                    "{} {}",
                    f["code"].as_str().unwrap(),
                    f["key"].as_str().unwrap()
                )
            })
            .collect()
    };
    // A managed file that is not whole keeps the client from starting.
    assert_eq!(
        found(&["--plugin", &plugin]),
        [
            "malformed-entry hooks.PreToolUse[0].hooks[0].command",
            "unknown-event hooks.Nope1",
            "unknown-event hooks.Nope2",
            "unknown-event hooks.Nope3"
        ]
    );
    sandbox.policy(&json!({}));
    assert_eq!(
        found(&["--plugin", &plugin]),
        [
            "unknown-event hooks.Nope1",
            "unknown-event hooks.Nope2",
            "unknown-event hooks.Nope3",
            "unknown-event hooks.Nope4"
        ]
    );
    sandbox.shell("rm .claude/settings.json && mkdir .claude/settings.json");
    let found = found(&["--setting-sources", "project"]);
    assert_eq!(found, ["unreadable-file "]);
}

#[test]
fn sarif_is_one_document() {
    let sandbox = Sandbox::new();
    sandbox.project(&on("Nope", "", &[command("true")]));
    let done = sandbox.hooks(&["lint", "--sarif"]).go();
    assert_eq!(done.code, Some(1));
    let sarif: Value = serde_json::from_str(&done.raw).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let result = &sarif["runs"][0]["results"][0];
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, ".claude/settings.json");
}

#[test]
fn a_file_that_is_named_and_not_there_is_an_error() {
    let sandbox = Sandbox::new();
    let done = sandbox.hooks(&["lint", "none.json"]).go();
    insta::assert_snapshot!(done, @r"
    $ remora hooks lint none.json
    stderr: remora: none.json: there is no such file
    exit 1
    ");
    let done = sandbox.hooks(&["lint"]).go();
    assert_eq!(done.stdout, "there is no settings file\n");
    assert_eq!(done.code, Some(0));
}

#[test]
fn secrets_are_found_and_not_printed() {
    let sandbox = Sandbox::new();
    let token = format!("ghp_{}", "0123456789".repeat(4).get(..36).unwrap());
    sandbox.project(&on("Stop", "", &[command(&format!("echo {token}"))]));
    let done = sandbox.hooks(&["lint"]).go();
    assert!(done.stdout.contains("secret-in-command"), "{done}");
    assert!(!done.stdout.contains(&token), "{done}");
}

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hooks");

#[test]
fn the_examples_have_nothing_to_fix_and_pass_their_cases() {
    let mut tested = 0;
    for entry in std::fs::read_dir(EXAMPLES).unwrap().flatten() {
        let folder = entry.path();
        if !folder.join("settings.json").is_file() {
            continue;
        }
        let sandbox = Sandbox::new();
        let from = folder.display();
        sandbox.shell(&format!(
            "mkdir -p .claude/hooks; cp '{from}'/*.sh .claude/hooks/; cp '{from}/settings.json' .claude/"
        ));
        let done = sandbox.hooks(&["lint", "--strict"]).go();
        assert_eq!(done.stdout, "nothing to fix in 1 file\n", "{from}: {done}");
        if folder.join("hooks.test.yaml").is_file() {
            sandbox.shell(&format!("cp '{from}/hooks.test.yaml' .claude/"));
            let done = sandbox.hooks(&["test"]).go();
            assert_eq!(done.code, Some(0), "{from}: {done}");
            tested += 1;
        }
    }
    assert_eq!(tested, 1);
}
