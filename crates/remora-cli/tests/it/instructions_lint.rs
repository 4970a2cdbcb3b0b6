//! `remora instructions lint`: what should be mended, and what that means for
//! the exit code.

use insta::assert_snapshot;

use crate::instructions_why::instructions;
use crate::sandbox::Sandbox;

#[test]
fn a_sound_project_has_nothing_to_mend() {
    let sandbox = Sandbox::new();
    sandbox.write("project/CLAUDE.md", "Use tabs.\n");
    assert_snapshot!(instructions(&sandbox, &["lint"]).go(), @"");
}

#[test]
fn findings_say_where_and_what_to_do() {
    let sandbox = Sandbox::new();
    sandbox.write("home/.claude/CLAUDE.md", "- Always use semicolons.\n");
    sandbox.write(
        "project/CLAUDE.md",
        "# It\n\n@docs/styel.md\n\nSee @docs/tests.md, too. And `@docs/style.md`.\n\n- Never use semicolons.\n",
    );
    sandbox.write("project/docs/style.md", "Short lines.\n");
    sandbox.write("project/docs/tests.md", "Fast tests.\n");
    sandbox.write("project/.claude/rules/py.md", "---\npaths: ./src/*.py\n---\nType hints.\n");
    assert_snapshot!(instructions(&sandbox, &["lint"]).go(), @"");
}

#[test]
fn warnings_alone_do_not_fail() {
    let sandbox = Sandbox::new();
    sandbox.write("project/CLAUDE.md", "Use tabs.\n");
    sandbox.write("project/AGENTS.md", "Use spaces.\n");
    let (done, value) = instructions(&sandbox, &["lint"]).json();
    assert_eq!(done.code, Some(0));
    assert_eq!(value["findings"][0]["code"], "shadowed-file");
    assert_eq!((&value["errors"], &value["warnings"]), (&0.into(), &1.into()));
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("project/CLAUDE.md", "@./a\u{1b}[31m.md\n");
    let done = instructions(&sandbox, &["lint"]).go();
    assert_eq!(done.code, Some(1));
    assert!(!done.raw.contains('\u{1b}'), "{}", done.raw);
}
