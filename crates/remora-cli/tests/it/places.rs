//! Where settings are read from: the flags that point elsewhere, the defaults,
//! and files that cannot be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox::{Sandbox, bash, guard};

#[test]
fn every_place_can_be_given() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "p/.claude/settings.json",
        guard("echo $CLAUDE_PROJECT_DIR").to_string(),
    );
    sandbox.write("h/.claude/settings.json", guard("echo $HOME").to_string());
    sandbox.write("m/managed-settings.json", guard("echo managed").to_string());
    sandbox.project(&guard("exit 2"));
    sandbox.user(&guard("exit 2"));
    sandbox.policy(&guard("exit 2"));
    let call = sandbox.run(&bash("make")).plain();
    // Relative to where it was started.
    let done = call.args(&[
        "--project",
        "../p",
        "--home",
        "./../h",
        "--managed",
        "../m/",
    ]);
    let (done, report) = done.json();
    assert_eq!(done.code, Some(0), "{done}");
    let said: Vec<_> = report["handlers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["stdout"].as_str().unwrap().trim())
        .collect();
    assert_eq!(said, ["managed", &sandbox.text("h"), &sandbox.text("p")]);
}

#[test]
fn a_project_that_is_none() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    for name in ["missing", "file"] {
        for (flag, fault) in [
            ("--project", "is neither a known project nor a directory"),
            ("--cwd", "is not a directory"),
        ] {
            let done = sandbox.hooks(&["list", flag, &sandbox.text(name)]).go();
            assert_eq!(done.code, Some(1));
            assert_eq!(
                done.stderr,
                format!("remora: {flag} [ROOT]/{name}: {fault}\n")
            );
        }
    }
}

#[test]
fn the_user_s_settings_directory_may_be_elsewhere() {
    let sandbox = Sandbox::new();
    sandbox.user(&guard("echo usual"));
    sandbox.write(
        "elsewhere/settings.json",
        guard("echo elsewhere").to_string(),
    );
    let label = |flags: &[&str]| {
        let call = sandbox.run(&bash("make")).args(flags);
        let (_, report) = call
            .environment("CLAUDE_CONFIG_DIR", sandbox.text("elsewhere"))
            .json();
        report["handlers"][0]["stdout"].clone()
    };
    assert_eq!(label(&[]), "elsewhere\n");
    // A home that is given counts more than the variable.
    assert_eq!(label(&["--home", &sandbox.text("home")]), "usual\n");
}

#[test]
fn no_home_at_all() {
    let sandbox = Sandbox::new();
    let done = sandbox.run(&bash("make")).environment("HOME", "").go();
    assert_snapshot!(done, @r"
    $ remora hooks run
    stderr: remora: $HOME is not set; pass --home DIR
    exit 1
    ");
}

#[test]
fn settings_from_a_file_or_inline() {
    let sandbox = Sandbox::new();
    let file = sandbox.write("project/more.json", guard("echo file").to_string());
    let label = |text: &str| {
        let (_, report) = sandbox
            .run(&bash("make"))
            .args(&["--settings", text])
            .json();
        let handler = &report["handlers"][0];
        (
            handler["source"].clone(),
            handler["stdout"].clone(),
            handler["file"].clone(),
        )
    };
    let wanted = (
        json!("flag"),
        json!("file\n"),
        json!(file.to_str().unwrap()),
    );
    assert_eq!(label("more.json"), wanted);
    assert_eq!(label(file.to_str().unwrap()), wanted);
    let inline = format!(" {}", guard("echo inline"));
    assert_eq!(
        label(&inline),
        (json!("flag"), json!("inline\n"), json!(null))
    );
}

#[test]
fn settings_that_cannot_be_used() {
    let sandbox = Sandbox::new();
    sandbox.write("project/bad.json", "{\"hooks\": 7}");
    let mut shown = Vec::new();
    for text in ["missing.json", ".", "", "{\"hooks\":", "bad.json"] {
        let call = sandbox.run(&bash("make")).args(&["--settings", text]);
        shown.push(call.go().to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r#"
    $ remora hooks run --settings missing.json
    stderr: remora: --settings [PROJECT]/missing.json: not there
    exit 1

    $ remora hooks run --settings .
    stderr: remora: --settings [PROJECT]: is a directory, not a file
    exit 1

    $ remora hooks run --settings 
    stderr: remora: --settings is empty; give a file or a JSON object
    exit 1

    $ remora hooks run --settings {"hooks":
    stderr: remora: --settings: the JSON is not valid (EOF while parsing a value at line 1 column 9)
    exit 1

    $ remora hooks run --settings bad.json
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [PROJECT]/bad.json: `hooks` must be an object; no hooks are read
    exit 0
    "#);
}

/// Doubt about what the organisation wants stops everything.
#[test]
fn managed_settings_must_be_whole() {
    let mut shown = Vec::new();
    for text in [
        "{",
        "[]",
        "{\"hooks\": 7}",
        "{\"disableAllHooks\": \"yes\"}",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("managed/managed-settings.json", text);
        shown.push(sandbox.run(&bash("make")).go().to_string());
        shown.push(sandbox.hooks(&["list"]).go().to_string());
    }
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("managed/managed-settings.json")).unwrap();
    shown.push(sandbox.run(&bash("make")).go().to_string());
    let sandbox = Sandbox::new();
    sandbox.write("managed/managed-settings.d/1.json", "{");
    shown.push(sandbox.run(&bash("make")).go().to_string());
    let sandbox = Sandbox::new();
    sandbox.write("managed/managed-settings.d/1.txt", "{");
    sandbox.write("managed/managed-settings.d/.hidden.json", "{");
    shown.push(sandbox.run(&bash("make")).go().to_string());
    assert_snapshot!(shown.join("\n\n"), @r"
    $ remora hooks run
    stderr: remora: [MANAGED]/managed-settings.json: not valid JSON (EOF while parsing an object at line 1 column 1); managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1

    $ remora hooks list
    stderr: remora: [MANAGED]/managed-settings.json: not valid JSON (EOF while parsing an object at line 1 column 1); managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1

    $ remora hooks run
    stderr: remora: [MANAGED]/managed-settings.json: the file must hold a JSON object; managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1

    $ remora hooks list
    stderr: remora: [MANAGED]/managed-settings.json: the file must hold a JSON object; managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1

    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [MANAGED]/managed-settings.json: `hooks` must be an object; no hooks are read
    exit 0

    $ remora hooks list
    no hooks are configured
    warning: [MANAGED]/managed-settings.json: `hooks` must be an object; no hooks are read
    exit 0

    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [MANAGED]/managed-settings.json: `disableAllHooks` must be true or false; the key is ignored
    exit 0

    $ remora hooks list
    no hooks are configured
    warning: [MANAGED]/managed-settings.json: `disableAllHooks` must be true or false; the key is ignored
    exit 0

    $ remora hooks run
    stderr: remora: [MANAGED]/managed-settings.json: is a directory, not a file; managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1

    $ remora hooks run
    stderr: remora: [MANAGED]/managed-settings.d/1.json: not valid JSON (EOF while parsing an object at line 1 column 1); managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1

    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    exit 0
    ");
}

#[test]
fn settings_paths_that_are_directories() {
    let sandbox = Sandbox::new();
    for path in [
        "home/.claude/settings.json",
        "project/.claude/settings.json",
    ] {
        fs::create_dir_all(sandbox.path(path)).unwrap();
    }
    sandbox.local(&guard("echo local"));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Local] echo local  ok, exit 0, [N] ms
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [HOME]/.claude/settings.json: is a directory, not a file; the file is ignored
    warning: [PROJECT]/.claude/settings.json: is a directory, not a file; the file is ignored
    exit 0
    ");
}

#[test]
fn settings_without_permission_to_read() {
    let sandbox = Sandbox::unprivileged();
    let shut = fs::Permissions::from_mode(0o000);
    let user = sandbox.user(&guard("exit 2"));
    fs::set_permissions(&user, shut.clone()).unwrap();
    sandbox.project(&guard("echo project"));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      ✓ [Project] echo project  ok, exit 0, [N] ms
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [HOME]/.claude/settings.json: no permission to read it; the file is ignored
    exit 0
    ");
    let flag = sandbox.write("project/flag.json", "{}");
    fs::set_permissions(&flag, shut.clone()).unwrap();
    assert_snapshot!(sandbox.run(&bash("make")).args(&["--settings", "flag.json"]).go(), @r"
    $ remora hooks run --settings flag.json
    stderr: remora: --settings [PROJECT]/flag.json: no permission to read it
    exit 1
    ");
    assert_snapshot!(sandbox.hooks(&["run", "--input", "flag.json"]).go(), @r"
    $ remora hooks run --input flag.json
    stderr: remora: flag.json: Permission denied (os error 13)
    exit 1
    ");
    let policy = sandbox.policy(&guard("exit 2"));
    fs::set_permissions(&policy, shut).unwrap();
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    stderr: remora: [MANAGED]/managed-settings.json: no permission to read it; managed settings must be valid as a whole, so nothing runs until this is fixed
    exit 1
    ");
}

#[test]
fn settings_of_50_mb() {
    let sandbox = Sandbox::new();
    let mut settings = guard("exit 2");
    settings["padding"] = "x".repeat(50 << 20).into();
    sandbox.project(&settings);
    let (done, report) = sandbox.run(&bash("make")).json();
    assert_eq!(done.code, Some(2));
    assert_eq!(report["warnings"], json!([]));
    sandbox.write("project/.claude/settings.json", "x".repeat(50 << 20));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [PROJECT]/.claude/settings.json: not valid JSON (expected value at line 1 column 1); the file is ignored
    exit 0
    ");
    sandbox.write("project/.claude/settings.json", "[".repeat(1 << 20));
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [PROJECT]/.claude/settings.json: not valid JSON (recursion limit exceeded at line 1 column 128); the file is ignored
    exit 0
    ");
}

#[test]
fn settings_that_are_no_text() {
    let sandbox = Sandbox::new();
    sandbox.write("project/.claude/settings.json", b"\xff\xfe\x00");
    sandbox.write("home/.claude/settings.json", "");
    assert_snapshot!(sandbox.run(&bash("make")).go(), @r"
    $ remora hooks run
    PreToolUse Bash
      no handler matches
      → ask the user
        because: no rule covers the call, so the user is asked
    warning: [HOME]/.claude/settings.json: not valid JSON (EOF while parsing a value at line 1 column 0); the file is ignored
    warning: [PROJECT]/.claude/settings.json: not valid JSON (expected value at line 1 column 1); the file is ignored
    exit 0
    ");
}

/// A key, a name or a path, whatever the verb reads.
#[test]
fn a_project_means_the_same_to_every_verb() {
    let sandbox = Sandbox::new();
    sandbox.write("elsewhere/shop/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("elsewhere/shop/CLAUDE.md", "Sell things.\n");
    let root = sandbox.text("elsewhere/shop");
    let head = json!({ "remora": "export", "version": 1 });
    let row = json!({ "project": {
        "key": "example.com/acme/shop", "name": "shop", "root": sandbox.path("elsewhere/shop"),
    }});
    sandbox.write("project/export.jsonl", format!("{head}\n{row}\n"));
    let done = sandbox.remora(&["import", "jsonl", "export.jsonl"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    for named in ["example.com/acme/shop", "shop", "../elsewhere/shop", &root] {
        let verbs: [&[&str]; 4] = [
            &["instructions", "show"],
            &["hooks", "list"],
            &["memory", "list"],
            &["search", "till"],
        ];
        for verb in verbs {
            let done = sandbox.remora(verb).args(&["--project", named]).go();
            assert_eq!(done.code, Some(0), "{named}: {done}");
        }
        let shown = sandbox.remora(&["instructions", "show", "--project", named]);
        let shown = shown.go();
        assert!(shown.stdout.contains("shop/CLAUDE.md"), "{named}: {shown}");
    }
    let unknown = sandbox.remora(&["memory", "list", "--project", "nowhere"]);
    assert_eq!(
        unknown.go().stderr,
        "remora: --project nowhere: is neither a known project nor a directory\n"
    );
}
