//! `remora import memory`: notes become saved memories, nothing is overwritten,
//! and what must not be shared is not.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox::Sandbox;

fn notes(sandbox: &Sandbox) {
    for (name, text) in [
        ("no-mocks.md", "Use the real store in tests.\n"),
        (
            "Deep Work.md",
            "\n## How to focus\nNo meetings before noon.\n",
        ),
        (
            "ours.md",
            "---\ntitle: Ports\ndescription: where things listen\ntype: reference\npriority: 1\n---\nThe server listens on 8080.\n",
        ),
        (
            "README.md",
            "# Notes\n- [No mocks](no-mocks.md)\n- [Ports](ours.md)\n",
        ),
        ("MEMORY.md", "- [No mocks](no-mocks.md)\n"),
        ("more/no-mocks.md", "Another thought on mocks.\n"),
        (".hidden/secret.md", "never\n"),
        ("empty.md", "\n"),
    ] {
        sandbox.write(&format!("project/notes/{name}"), text);
    }
}

#[test]
fn notes_become_memories_once() {
    let sandbox = Sandbox::new();
    notes(&sandbox);
    let import = ["import", "memory", "notes", "--user"];
    assert_snapshot!(sandbox.remora(&import).args(&["--dry-run"]).go(), @r"
    $ remora import memory notes --user --dry-run
    memory://user/deep-work  How to focus
    memory://user/no-mocks  No mocks
    memory://user/ours  Ports
    memory://user/no-mocks-2  No mocks (another `no-mocks` is here)
    would save 4 memories
    left out 2:
      notes/README.md: an index, not a note
      notes/empty.md: it is empty
    exit 0
    ");
    assert!(!sandbox.path("home/.remora/memory").exists());
    assert_snapshot!(sandbox.remora(&import).go(), @r"
    $ remora import memory notes --user
    memory://user/deep-work  How to focus
    memory://user/no-mocks  No mocks
    memory://user/ours  Ports
    memory://user/no-mocks-2  No mocks (another `no-mocks` is here)
    saved 4 memories
    left out 2:
      notes/README.md: an index, not a note
      notes/empty.md: it is empty
    exit 0
    ");
    let saved = fs::read_to_string(sandbox.path("home/.remora/memory/ours.md")).unwrap();
    for kept in [
        "title: Ports",
        "type: reference",
        "priority: 1",
        "where things listen",
    ] {
        assert!(saved.contains(kept), "{kept}: {saved}");
    }
    let (done, value) = sandbox.remora(&import).json();
    assert_eq!(value["saved"], json!([]), "{done}");
    assert_eq!(value["same"].as_array().unwrap().len(), 4, "{done}");
    let files = fs::read_dir(sandbox.path("home/.remora/memory")).unwrap();
    assert_eq!(
        files
            .filter(|f| f.as_ref().unwrap().path().is_file())
            .count(),
        5,
        "and the index"
    );
}

#[test]
fn a_file_that_is_no_note_says_why() {
    let sandbox = Sandbox::new();
    sandbox.write("project/old.jsonl", "{}\n");
    sandbox.write("project/odd.md", [0xff, 0xfe]);
    sandbox.write("project/binary.md", [0xff, 0xfe, 0, 1]);
    sandbox.write("project/plain/a.txt", "a");
    sandbox.write("project/linked/a.txt", "a");
    sandbox.shell("ln -s ../plain/a.txt linked/link.md");
    for (file, why) in [
        (
            "old.jsonl",
            "not a note; only Markdown files (.md) are imported",
        ),
        ("odd.md", "it is not text in UTF-8"),
        ("binary.md", "it is not text in UTF-8"),
        (
            "plain",
            "no notes in it; only Markdown files (.md) are imported",
        ),
    ] {
        let (_, told) = sandbox.remora(&["import", "memory", file]).json();
        let left = &told["left_out"][0];
        assert_eq!(left["reason"], why, "{told}");
        assert!(left["from"].as_str().unwrap().ends_with(file), "{told}");
    }
    let (_, told) = sandbox.remora(&["import", "memory", "linked"]).json();
    assert_eq!(told["left_out"][0]["from"], "linked/link.md", "{told}");
}

#[test]
fn a_note_is_called_what_it_calls_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("project/front.md", "---\nname: prio\n---\nAsk Ann first.\n");
    let (_, told) = sandbox.remora(&["import", "memory", "front.md"]).json();
    assert_eq!(told["saved"][0]["uri"], "memory://project/prio", "{told}");
    assert_eq!(told["saved"][0]["title"], "Prio", "{told}");
}

#[test]
fn one_file_of_many_facts_is_split() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/facts.md",
        "# What we know\n\nAlways ask Ann first.\n\n## No mocks\nUse the real store.\n\n## Ports\nSee https://ports.example.org\n",
    );
    let args = ["import", "memory", "facts.md", "--split", "--user"];
    assert_snapshot!(sandbox.remora(&args).go(), @r"
    $ remora import memory facts.md --split --user
    memory://user/what-we-know  What we know
    memory://user/no-mocks  No mocks
    memory://user/ports  Ports
    saved 3 memories
    exit 0
    ");
    let text = fs::read_to_string(sandbox.path("home/.remora/memory/no-mocks.md")).unwrap();
    assert!(text.ends_with("Use the real store.\n"), "{text}");
}

#[test]
fn secrets_are_not_shared_with_a_team() {
    let sandbox = Sandbox::new();
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    sandbox.write("project/notes/token.md", format!("The token is {secret}\n"));
    sandbox.write("project/notes/fine.md", "Deploys happen on Tuesdays.\n");
    let done = sandbox
        .remora(&["import", "memory", "notes", "--team"])
        .go();
    assert_snapshot!(done, @r"
    $ remora import memory notes --team
    memory://team/fine  Fine
    saved 1 memory
    left out 1:
      notes/token.md: not shared: a secret (github-token) on line 1
    exit 0
    ");
    assert!(
        !sandbox
            .path("project/.claude/team-memory/token.md")
            .exists()
    );
    let own = ["import", "memory", ".claude/team-memory", "--team"];
    let own = sandbox.remora(&own).go();
    assert_snapshot!(own, @r"
    $ remora import memory .claude/team-memory --team
    stderr: remora: .claude/team-memory: these are the memories themselves; nothing is to be imported
    exit 1
    ");
}

#[test]
fn secrets_and_private_passages_stay_behind() {
    let sandbox = Sandbox::new();
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    for (name, text) in [
        ("a.md".to_owned(), format!("# Use {secret}\nFor deploys.\n")),
        (
            "b.md".to_owned(),
            format!(
                "---\ntitle: Token {secret}\ndescription: use {secret}\n---\nAsk Ann. <private>my diary</private>\n"
            ),
        ),
        ("c.md".to_owned(), format!("{secret}\n")),
        (
            format!("{secret}.md"),
            "Deploys happen on Tuesdays.\n".to_owned(),
        ),
    ] {
        sandbox.write(&format!("project/notes/{name}"), text);
    }
    sandbox.write(
        "project/facts.md",
        format!("## Token {secret}\nFor deploys.\n<private>\n## My diary\nsecret\n</private>\n## Ports\n8080\n"),
    );
    let user = ["import", "memory", "notes", "--user"];
    assert_snapshot!(sandbox.remora(&user).go(), @r"
    $ remora import memory notes --user
    memory://user/a  Use [redacted:github-token] (redacted: github-token)
    memory://user/b  Token [redacted:github-token] (redacted: github-token, private)
    memory://user/redacted-github-token  Redacted github token (redacted: github-token)
    saved 3 memories
    left out 1:
      notes/c.md: the memory is nothing but a secret (github-token)
    exit 0
    ");
    let split = ["import", "memory", "facts.md", "--split"];
    assert_snapshot!(sandbox.remora(&split).go(), @r"
    $ remora import memory facts.md --split
    memory://project/token-redacted-github-token  Token [redacted:github-token] (redacted: github-token, private)
    memory://project/ports  Ports
    saved 2 memories
    exit 0
    ");
    assert_eq!(sandbox.holding(&[&secret, "diary"]), Vec::<String>::new());
    let (again, value) = sandbox.remora(&user).json();
    assert_eq!(value["saved"], json!([]), "{again}");
}
