//! `remora instructions why`: an answer for any file.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Call, Sandbox};

/// `remora instructions ARGS`, blind to the instruction files above the
/// sandbox, wherever the tests are built.
pub(crate) fn instructions<'a>(sandbox: &'a Sandbox, args: &[&str]) -> Call<'a> {
    let root = sandbox.path("");
    let names = [
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        "CLAUDE.local.md",
        "AGENTS.md",
        ".claude/AGENTS.md",
    ];
    let above = root.ancestors().skip(1);
    let excludes: Vec<String> = above
        .flat_map(|dir| {
            names
                .iter()
                .map(|name| dir.join(name).display().to_string())
        })
        .collect();
    let managed = sandbox.text("managed");
    sandbox.policy(&json!({"claudeMdExcludes": excludes}));
    let all: Vec<&str> = ["instructions"].iter().chain(args).copied().collect();
    sandbox.remora(&all).args(&["--managed", &managed])
}

fn project(sandbox: &Sandbox) {
    sandbox.write("home/.claude/CLAUDE.md", "Be brief.\n");
    sandbox.write(
        "project/CLAUDE.md",
        "# It\n\n@docs/style.md\n\nSee @docs/tests.md, too.\n",
    );
    sandbox.write("project/docs/style.md", "Short lines.\n");
    sandbox.write("project/docs/tests.md", "Fast tests.\n");
    sandbox.write("project/web/CLAUDE.md", "Plain CSS.\n");
    sandbox.write(
        "project/.claude/rules/py.md",
        "---\npaths: '*.py'\n---\nType hints.\n",
    );
    sandbox.write("project/claude.local.md", "Mine.\n");
}

#[test]
fn an_import_is_in() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    assert_snapshot!(instructions(&sandbox, &["why", "docs/style.md"]).go(), @r"
    $ remora instructions why docs/style.md --managed [MANAGED]
    in [PROJECT]/docs/style.md
      3 of 3 in the prompt, about 3 tokens
      imported by [PROJECT]/CLAUDE.md
      project instructions, checked into the codebase
    exit 0
    ");
}

#[test]
fn a_nested_file_comes_on_demand() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    assert_snapshot!(instructions(&sandbox, &["why", "web/CLAUDE.md"]).go(), @r"
    $ remora instructions why web/CLAUDE.md --managed [MANAGED]
    on demand [PROJECT]/web/CLAUDE.md
      comes when a file below [PROJECT]/web is touched
    exit 0
    ");
}

#[test]
fn a_rule_waits_for_other_files_than_those_read() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    let call = instructions(&sandbox, &["why", ".claude/rules/py.md", "--read", "a.js"]);
    assert_snapshot!(call.go(), @r"
    $ remora instructions why .claude/rules/py.md --read a.js --managed [MANAGED]
    on demand [PROJECT]/.claude/rules/py.md
      comes when a file below [PROJECT] that matches `*.py` is touched
      touched so far: [PROJECT]/a.js
    exit 0
    ");
    let call = instructions(&sandbox, &["why", ".claude/rules/py.md", "--read", "a.py"]);
    assert_snapshot!(call.go(), @r"
    $ remora instructions why .claude/rules/py.md --read a.py --managed [MANAGED]
    in [PROJECT]/.claude/rules/py.md
      4 of 4 in the prompt, about 3 tokens
      [PROJECT]/a.py matches *.py
    exit 0
    ");
}

#[test]
fn a_comma_keeps_a_file_out() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    assert_snapshot!(instructions(&sandbox, &["why", "docs/tests.md"]).go(), @r"
    $ remora instructions why docs/tests.md --managed [MANAGED]
    out [PROJECT]/docs/tests.md
      is not imported: @docs/tests.md in [PROJECT]/CLAUDE.md line 5 ends in a mark that counts as part of the name
      put blanks around the import
    exit 0
    ");
}

#[test]
fn a_name_in_the_wrong_case_is_out() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    assert_snapshot!(instructions(&sandbox, &["why", "claude.local.md"]).go(), @r"
    $ remora instructions why claude.local.md --managed [MANAGED]
    out [PROJECT]/claude.local.md
      its name is in the wrong case
      rename it to CLAUDE.local.md
    exit 0
    ");
}

#[test]
fn only_a_file_that_is_not_there_fails() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    assert_snapshot!(instructions(&sandbox, &["why", "docs/stlye.md"]).go(), @r"
    $ remora instructions why docs/stlye.md --managed [MANAGED]
    out [PROJECT]/docs/stlye.md
      does not exist
      did you mean [PROJECT]/docs/style.md?
    exit 1
    ");
}

#[test]
fn json_has_the_same_answer() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    let (done, value) = instructions(&sandbox, &["why", "docs/style.md"]).json();
    assert_eq!(done.code, Some(0));
    assert_eq!(value["verdict"], "in");
    assert_eq!(
        value["imported_by"],
        json!([sandbox.text("project/CLAUDE.md")])
    );
    assert_eq!(value["position"], 3);
    let (_, value) = instructions(&sandbox, &["why", "web/CLAUDE.md"]).json();
    assert_eq!(value["verdict"], "on_demand");
    let (done, value) = instructions(&sandbox, &["why", "nothing.md"]).json();
    assert_eq!(done.code, Some(1));
    assert_eq!(
        (&value["verdict"], &value["code"]),
        (&"out".into(), &"missing".into())
    );
    assert_eq!(value["advice"], Value::Null);
}

#[test]
fn a_path_is_meant_from_where_the_person_is() {
    let sandbox = Sandbox::new();
    project(&sandbox);
    let cwd = sandbox.text("project/web");
    let (_, value) = instructions(&sandbox, &["why", "web/CLAUDE.md", "--cwd", &cwd]).json();
    assert_eq!(value["verdict"], "in");
    assert!(Path::new(value["path"].as_str().unwrap()).ends_with("project/web/CLAUDE.md"));
}
