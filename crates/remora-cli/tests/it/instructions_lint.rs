//! `remora instructions lint`: what should be fixed, and what that means for
//! the exit code.

use insta::assert_snapshot;

use crate::instructions_why::instructions;
use crate::sandbox::Sandbox;

#[test]
fn a_sound_project_has_nothing_to_mend() {
    let sandbox = Sandbox::new();
    sandbox.write("project/CLAUDE.md", "Use tabs.\n");
    assert_snapshot!(instructions(&sandbox, &["lint"]).go(), @r"
    $ remora instructions lint --managed [MANAGED]
    nothing to fix in 1 file
    exit 0
    ");
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
    sandbox.write(
        "project/.claude/rules/py.md",
        "---\npaths: ./src/*.py\n---\nType hints.\n",
    );
    assert_snapshot!(instructions(&sandbox, &["lint"]).go(), @r#"
    $ remora instructions lint --managed [MANAGED]
    error [PROJECT]/.claude/rules/py.md:2 rule-never-matches
      no file can activate this rule: pattern "./src/*.py" begins with ./, which is never part of a path, and matches nothing
      write gitignore patterns, relative to the directory that holds `.claude`, such as src/**/*.ts

    error [PROJECT]/CLAUDE.md:3 dead-import
      @docs/styel.md leads to [PROJECT]/docs/styel.md, which does not exist
      did you mean [PROJECT]/docs/style.md?

    error [PROJECT]/CLAUDE.md:5 punctuation-import
      @docs/tests.md, imports nothing: the mark at its end counts as part of the name
      write @docs/tests.md with a blank behind it

    warning [PROJECT]/CLAUDE.md:7 contradiction
      "Never use semicolons" contradicts "Always use semicolons" in [HOME]/.claude/CLAUDE.md line 1: one asks for what the other forbids (semicolons)
      keep one of the two, or say where each holds

    note [PROJECT]/CLAUDE.md:5 code-import
      @docs/style.md imports nothing: it is in code
      take it out of the code if it is meant as an import

    3 errors, 1 warning, 1 note
    exit 1
    "#);
}

#[test]
fn warnings_alone_do_not_fail() {
    let sandbox = Sandbox::new();
    sandbox.write("project/CLAUDE.md", "Use tabs.\n");
    sandbox.write("project/AGENTS.md", "Use spaces.\n");
    let (done, value) = instructions(&sandbox, &["lint"]).json();
    assert_eq!(done.code, Some(0));
    assert_eq!(value["findings"][0]["code"], "shadowed-file");
    assert_eq!(
        (&value["errors"], &value["warnings"]),
        (&0.into(), &1.into())
    );
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("project/CLAUDE.md", "@./a\u{1b}[31m.md\n");
    let done = instructions(&sandbox, &["lint"]).go();
    assert_eq!(done.code, Some(1));
    assert!(!done.raw.contains('\u{1b}'), "{}", done.raw);
}
