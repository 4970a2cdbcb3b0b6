//! Generated pages that are committed: manual pages and completion scripts. And
//! what the scripts ask for when a user presses Tab.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn read_folder(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    entries.collect()
}

#[test]
fn the_committed_manual_pages_are_the_generated_ones() {
    let sandbox = Sandbox::new();
    let folder = sandbox.text("pages");
    let done = sandbox.remora(&["man", &folder]).go();
    assert_eq!(done.code, Some(0), "{done}");
    let generated = read_folder(&sandbox.path("pages"));
    let committed = read_folder(&Path::new(DOCS).join("man"));
    let names = |pages: &BTreeMap<String, String>| pages.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&committed), names(&generated), "`just pages`");
    for (name, page) in generated {
        assert!(committed[&name] == page, "{name} differs: `just pages`");
    }
}

#[test]
fn the_committed_completions_are_the_generated_ones() {
    let sandbox = Sandbox::new();
    let committed = read_folder(&Path::new(DOCS).join("completions"));
    let files = [
        ("bash", "remora.bash"),
        ("zsh", "_remora"),
        ("fish", "remora.fish"),
    ];
    assert_eq!(committed.len(), files.len());
    for (shell, file) in files {
        let script = sandbox.remora(&["completions", shell]).go().raw;
        assert!(committed[file] == script, "{file} differs: `just pages`");
    }
}

/// What `remora complete` prints.
fn complete(sandbox: &Sandbox, args: &[&str]) -> Vec<String> {
    let args: Vec<&str> = ["complete"].iter().chain(args).copied().collect();
    let done = sandbox.remora(&args).go();
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
    done.raw.lines().map(str::to_owned).collect()
}

fn save(sandbox: &Sandbox, name: &str) {
    let args = ["memory", "add", "--name", name, "Never mock the database"];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
}

#[test]
fn names_are_listed_by_their_beginning_and_failures_are_silent() {
    let sandbox = Sandbox::new();
    assert_eq!(complete(&sandbox, &["memories"]), [] as [&str; 0]);
    save(&sandbox, "no-mocks");
    save(&sandbox, "no-sleeps");
    save(&sandbox, "small-commits");
    // A repository may name its files as it likes.
    for name in ["no-$(touch ran).md", "no two.md", "no;x.md", "--no.md"] {
        let page = "---\nname: x\n---\n\nText.\n";
        sandbox.write(&format!("project/.claude/team-memory/{name}"), page);
    }
    for (args, names) in [
        (&["memories", "no-"][..], &["no-mocks", "no-sleeps"][..]),
        (&["memories", "none"], &[]),
        (&["agents", "cl"], &["claude-code"]),
        (&["events", "PreT"], &["PreToolUse"]),
        (&["keys", "worker.idle"], &["worker.idle_minutes"]),
        (&["other", ""], &[]),
        (&[], &[]),
    ] {
        assert_eq!(complete(&sandbox, args), names, "{args:?}");
    }
    assert_eq!(complete(&sandbox, &["memories"]).len(), 3);
    // No data directory, and nothing said of it.
    let done = (sandbox.remora(&["complete", "memories"]))
        .environment("REMORA_HOME", "relative")
        .go();
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
}

/// What bash would offer for these words, the last one being written.
fn bash_offers(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_remora");
    let folder = Path::new(program).parent().unwrap().display();
    let script = format!(
        "PATH={folder}:$PATH; source {DOCS}/completions/remora.bash\n\
         COMP_WORDS=({words}); COMP_CWORD={last}\n\
         _remora_with_names remora \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{last}-1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        words = words.join(" "),
        last = words.len() - 1,
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &script])
        .current_dir(sandbox.path("project"))
        .env("HOME", sandbox.path("home"))
        .env("TMPDIR", sandbox.path("tmp"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "", "{words:?}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_memories_agents_events_and_flags() {
    let sandbox = Sandbox::new();
    save(&sandbox, "no-mocks");
    for (words, offer) in [
        (&["remora", "memory", "show", "no"][..], "no-mocks"),
        (&["remora", "memory", "rm", "a", "no-m"], "no-mocks"),
        (&["remora", "memory", "show", "--sc"], "--scope"),
        (&["remora", "memory", "show", "--scope", "te"], "team"),
        (&["remora", "search", "cart", "--agent", "co"], "codex"),
        (&["remora", "hooks", "try", "PreT"], "PreToolUse"),
        (&["remora", "mem"], "memory"),
    ] {
        assert_eq!(bash_offers(&sandbox, words), [offer], "{words:?}");
    }
}

#[test]
fn the_other_shells_ask_for_names_too() {
    let sandbox = Sandbox::new();
    for (shell, wanted) in [
        (
            "zsh",
            &[
                "names -- Names or addresses:_remora_memories'",
                "--agent=[Only this agent]:AGENT:_remora_agents'",
                "$(remora complete $1 \"$PREFIX\" 2>/dev/null)",
            ][..],
        ),
        (
            "fish",
            &[
                "__fish_seen_subcommand_from rm\" -f -a \"(remora complete memories (commandline -ct) 2>/dev/null)\"",
                "using_subcommand recap\" -l agent -x -a \"(remora complete agents (commandline -ct) 2>/dev/null)\"",
            ],
        ),
    ] {
        let script = sandbox.remora(&["completions", shell]).go().raw;
        for text in wanted {
            assert!(script.contains(text), "{shell}: {text}");
        }
        // Marks of the library that stand for ours.
        assert!(!script.contains("_email_addresses"), "{shell}");
        assert!(!script.contains("complete_users"), "{shell}");
    }
}
