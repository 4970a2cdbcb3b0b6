//! Help, version, completions and the demo: what a newcomer meets first.

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

fn help(args: &[&str]) -> String {
    let done = Sandbox::new().remora(args).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(done.stderr, "");
    done.stdout
}

#[test]
fn help_of_all() {
    assert_snapshot!(help(&["--help"]), @r"
    One memory and one set of hooks for every coding agent

    Usage: remora <COMMAND>

    Memory:
      search        Search what was done, said and learned
      show          Show items in full
      sessions      List sessions, newest first
      timeline      Show what happened, in order
      recap         Summarize recent work by project and session
      context       Preview the context Remora would inject, and why
      ledger        Show what was injected into past sessions and whether it was used
      memory        Manage saved memories: add, list, check, review
      remember      Save a fact for later sessions; the same as `memory add`
      wrong         Mark an item as wrong, so that it is never injected again
      edit          Replace an item's text with your own
      pin           Inject an item at the start of every session of a project
      forget        Delete items, sessions or projects for good, or a saved fact
      folders       Write notes on recent work into the folders of a project
      permissions   Show what was allowed and denied, and suggest permission rules
      mcp           Serve memory to an agent over MCP, on stdin and stdout

    Hooks:
      hooks         Test, lint, explain, edit and measure hooks
      models        Choose the model that prompt and agent hooks ask
      conformance   Play recorded cases against an engine
      demo          Play recorded sessions: what hooks do, what is stored, what the next session gets

    Instructions:
      instructions  Show which instruction files are in the prompt, and why

    Getting in and out:
      install       Install Remora's hooks into an agent's settings, and test them
      uninstall     Remove Remora's hooks from an agent's settings
      import        Import past sessions and memories
      export        Export everything as JSON lines

    Upkeep:
      status        Show how much is stored and whether everything runs
      doctor        Diagnose problems and suggest fixes
      pause         Pause capture and recall
      worker        Control the background process that stores captured events
      config        Show and change settings
      rebuild       Rebuild the database from archived events
      projects      List projects; join checkouts and keys of one
      prune         Remove old items and archived events
      audit         Scan everything stored for secrets
      bench         Measure how well search and recall work
      completions   Print a completion script for your shell
      man           Write manual pages, one a verb
      help          Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version
    ");
}

#[test]
fn help_of_hooks() {
    assert_snapshot!(help(&["hooks", "--help"]), @r"
    Test, lint, explain, edit and measure hooks

    Usage: remora hooks <COMMAND>

    Commands:
      run      Run one event's handlers for real and print the merged decision
      explain  Say for every handler of an event whether it would run, and why; runs nothing
      try      Build an event from flags and run (or explain) it
      list     List all hooks by event, with the layer they come from
      lint     Find what is wrong, or likely not meant, in the hooks of settings files
      test     Play the test cases of hooks and compare what they decide
      record   Record every event of a session, as a hook
      replay   Play recorded events again and show what would be decided otherwise
      health   Show how hooks fared in past sessions, failing ones first
      serve    Serve sessions to an agent in any language, on stdin and stdout
      schema   Print a JSON schema of what hooks read and write
      ui       Browse and edit hooks in the terminal
      add      Put a hook into a settings file
      remove   Take a hook out of its settings file
      enable   Switch a hook on again
      disable  Switch a hook off, and keep it in its settings file
      help     Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version
    ");
}

#[test]
fn help_of_run() {
    assert_snapshot!(help(&["hooks", "run", "--help"]), @r"
    Run one event's handlers for real and print the merged decision

    Usage: remora hooks run [OPTIONS]

    Options:
          --input <FILE>  Read the event from a file instead of stdin
          --event <NAME>  The event's name, if the JSON lacks `hook_event_name`
          --wait          Wait for handlers in the background instead of ending them
      -h, --help          Print help
      -V, --version       Print version

    Where and how:
          --project <PROJECT>        In the project with this key, name or path [default: this one]
          --cwd <DIR>                In this directory, which need not be the top of a project
          --home <DIR>               The home directory [default: $HOME]
          --managed <DIR>            The directory of managed settings [default: the system's own]
          --settings <FILE_OR_JSON>  One more settings layer
          --plugin <DIR>             A plugin directory; may be given several times
          --mcp-config <SERVERS>     More MCP servers, in a file or as JSON; may be given several times
          --setting-sources <LIST>   Which of user, project and local are read, separated by commas
          --permission-mode <MODE>   The permission mode, instead of the event's own
          --bare                     As with the client's --bare: managed hooks only
          --safe-mode                As with the client's --safe-mode: managed hooks only
          --interactive              Treat the session as interactive
          --trusted                  The folder counts as trusted
          --untrusted                The folder counts as not trusted
          --json                     Print JSON instead of text
      -v, --verbose                  Trace every step on stderr
    ");
}

#[test]
fn help_of_explain() {
    assert_snapshot!(help(&["hooks", "explain", "--help"]), @r"
    Say for every handler of an event whether it would run, and why; runs nothing

    Usage: remora hooks explain [OPTIONS]

    Options:
          --input <FILE>  Read the event from a file instead of stdin
          --event <NAME>  The event's name, if the JSON lacks `hook_event_name`
      -h, --help          Print help
      -V, --version       Print version

    Where and how:
          --project <PROJECT>        In the project with this key, name or path [default: this one]
          --cwd <DIR>                In this directory, which need not be the top of a project
          --home <DIR>               The home directory [default: $HOME]
          --managed <DIR>            The directory of managed settings [default: the system's own]
          --settings <FILE_OR_JSON>  One more settings layer
          --plugin <DIR>             A plugin directory; may be given several times
          --mcp-config <SERVERS>     More MCP servers, in a file or as JSON; may be given several times
          --setting-sources <LIST>   Which of user, project and local are read, separated by commas
          --permission-mode <MODE>   The permission mode, instead of the event's own
          --bare                     As with the client's --bare: managed hooks only
          --safe-mode                As with the client's --safe-mode: managed hooks only
          --interactive              Treat the session as interactive
          --trusted                  The folder counts as trusted
          --untrusted                The folder counts as not trusted
          --json                     Print JSON instead of text
      -v, --verbose                  Trace every step on stderr
    ");
}

#[test]
fn help_of_try() {
    assert_snapshot!(help(&["hooks", "try", "--help"]), @r"
    Build an event from flags and run (or explain) it

    Usage: remora hooks try [OPTIONS] <EVENT>

    Arguments:
      <EVENT>  The event's name, such as `PreToolUse`

    Options:
          --explain  Only say what would run
          --wait     Wait for handlers in the background instead of ending them
      -h, --help     Print help
      -V, --version  Print version

    The event:
          --tool <NAME>               The tool that is called
          --command <TEXT>            The command of a Bash call
          --file-path <PATH>          The path of a file tool; also of file events
          --content <TEXT>            The content of a Write call
          --url <URL>                 The URL of a `WebFetch` call
          --tool-input <JSON>         The whole tool input, as JSON
          --tool-response <JSON>      The tool's answer, as JSON or text
          --error <TEXT>              The error of a failed call
          --prompt <TEXT>             The user's prompt
          --source <TEXT>             The `source` field
          --trigger <TEXT>            The `trigger` field
          --reason <TEXT>             The `reason` field
          --message <TEXT>            The message of a notification
          --notification-type <TEXT>  The type of a notification
          --agent-type <NAME>         The type of a subagent
          --stop-hook-active          A stop that follows a block
          --field <NAME=VALUE>        Any other field: NAME=JSON, or NAME=TEXT

    Where and how:
          --project <PROJECT>        In the project with this key, name or path [default: this one]
          --cwd <DIR>                In this directory, which need not be the top of a project
          --home <DIR>               The home directory [default: $HOME]
          --managed <DIR>            The directory of managed settings [default: the system's own]
          --settings <FILE_OR_JSON>  One more settings layer
          --plugin <DIR>             A plugin directory; may be given several times
          --mcp-config <SERVERS>     More MCP servers, in a file or as JSON; may be given several times
          --setting-sources <LIST>   Which of user, project and local are read, separated by commas
          --permission-mode <MODE>   The permission mode, instead of the event's own
          --bare                     As with the client's --bare: managed hooks only
          --safe-mode                As with the client's --safe-mode: managed hooks only
          --interactive              Treat the session as interactive
          --trusted                  The folder counts as trusted
          --untrusted                The folder counts as not trusted
          --json                     Print JSON instead of text
      -v, --verbose                  Trace every step on stderr
    ");
}

#[test]
fn help_of_list() {
    assert_snapshot!(help(&["hooks", "list", "--help"]), @r"
    List all hooks by event, with the layer they come from

    Usage: remora hooks list [OPTIONS]

    Options:
          --event <NAME>  Only this event
      -h, --help          Print help
      -V, --version       Print version

    Where and how:
          --project <PROJECT>        In the project with this key, name or path [default: this one]
          --cwd <DIR>                In this directory, which need not be the top of a project
          --home <DIR>               The home directory [default: $HOME]
          --managed <DIR>            The directory of managed settings [default: the system's own]
          --settings <FILE_OR_JSON>  One more settings layer
          --plugin <DIR>             A plugin directory; may be given several times
          --mcp-config <SERVERS>     More MCP servers, in a file or as JSON; may be given several times
          --setting-sources <LIST>   Which of user, project and local are read, separated by commas
          --permission-mode <MODE>   The permission mode, instead of the event's own
          --bare                     As with the client's --bare: managed hooks only
          --safe-mode                As with the client's --safe-mode: managed hooks only
          --interactive              Treat the session as interactive
          --trusted                  The folder counts as trusted
          --untrusted                The folder counts as not trusted
          --json                     Print JSON instead of text
      -v, --verbose                  Trace every step on stderr
    ");
}

#[test]
fn help_of_demo_and_completions() {
    assert_snapshot!(help(&["demo", "--help"]), @r"
    Play recorded sessions: what hooks do, what is stored, what the next session gets

    Usage: remora demo [OPTIONS]

    Options:
          --json     Print JSON lines instead of text
      -h, --help     Print help
      -V, --version  Print version
    ");
    assert_snapshot!(help(&["completions", "--help"]), @r"
    Print a completion script for your shell

    Usage: remora completions <SHELL>

    Arguments:
      <SHELL>  The shell [possible values: bash, elvish, fish, powershell, zsh]

    Options:
      -h, --help     Print help
      -V, --version  Print version
    ");
}

#[test]
fn the_version_is_the_crate_s() {
    for args in [&["--version"][..], &["-V"], &["hooks", "run", "--version"]] {
        let text = help(args);
        assert!(
            text.ends_with(concat!(" ", env!("CARGO_PKG_VERSION"), "\n")),
            "{text}"
        );
    }
}

/// 2 means that an event was blocked, so a wrong command line is 1.
#[test]
fn a_wrong_command_line_is_exit_code_1() {
    let sandbox = Sandbox::new();
    let mut shown = Vec::new();
    for args in [
        &["hoks"][..],
        &["hooks", "run", "--nope"],
        &["hooks", "run", "--trusted", "--untrusted"],
        &["hooks", "run", "--project"],
        &["hooks", "list", "extra"],
        &["completions", "tcsh"],
    ] {
        shown.push(sandbox.remora(args).go().to_string());
    }
    assert_snapshot!(shown.join("\n\n"), @r"
    $ remora hoks
    stderr: error: unrecognized subcommand 'hoks'
    stderr: 
    stderr:   tip: a similar subcommand exists: 'hooks'
    stderr: 
    stderr: Usage: remora <COMMAND>
    stderr: 
    stderr: For more information, try '--help'.
    exit 1

    $ remora hooks run --nope
    stderr: error: unexpected argument '--nope' found
    stderr: 
    stderr: Usage: remora hooks run [OPTIONS]
    stderr: 
    stderr: For more information, try '--help'.
    exit 1

    $ remora hooks run --trusted --untrusted
    stderr: error: the argument '--trusted' cannot be used with '--untrusted'
    stderr: 
    stderr: Usage: remora hooks run --trusted
    stderr: 
    stderr: For more information, try '--help'.
    exit 1

    $ remora hooks run --project
    stderr: error: a value is required for '--project <PROJECT>' but none was supplied
    stderr: 
    stderr: For more information, try '--help'.
    exit 1

    $ remora hooks list extra
    stderr: error: unexpected argument 'extra' found
    stderr: 
    stderr: Usage: remora hooks list [OPTIONS]
    stderr: 
    stderr: For more information, try '--help'.
    exit 1

    $ remora completions tcsh
    stderr: error: invalid value 'tcsh' for '<SHELL>'
    stderr:   [possible values: bash, elvish, fish, powershell, zsh]
    stderr: 
    stderr:   tip: a similar value exists: 'zsh'
    stderr: 
    stderr: For more information, try '--help'.
    exit 1
    ");
    for args in [&[][..], &["hooks"]] {
        let done = sandbox.remora::<&str>(args).go();
        assert_eq!(done.code, Some(1));
        assert!(done.stderr.contains("Usage: remora"), "{done}");
    }
}

#[test]
fn completions_know_the_verbs() {
    for shell in ["bash", "zsh", "fish"] {
        let script = help(&["completions", shell]);
        for word in [
            "hooks",
            "demo",
            "completions",
            "run",
            "explain",
            "try",
            "list",
            "permission-mode",
        ] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn the_demo_shows_each_kind_of_end() {
    let sandbox = Sandbox::new();
    // Nothing of the user's is read: this would break everything.
    sandbox.write("home/.claude/settings.json", "{");
    let done = sandbox.remora(&["demo"]).go();
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
    let text = &done.stdout;
    for part in [
        "── the session starts\nSessionStart startup\n",
        "variable: DATABASE_URL=postgres://localhost/dev",
        "for the model: The release branch is frozen until Friday.",
        "reason: rm -rf on / or ~ is not allowed here",
        "→ ask the user",
        "→ allow",
        "→ deny",
        "→ blocked",
        "→ go on",
        "- [User] log the call  skipped",
        "! [Project] check the format  error, exit 1",
        "10 events, ",
        "failure: cargo test: 1 of 3 tests failed (retry::gives_up)",
        "bugfix: Changed `attempts` in src/retry.rs: `<=` -> `<`",
        "fix: cargo test: 1 of 3 tests failed (retry::gives_up) → ",
        "Bearer [redacted:github-token]",
        "because: the server bans us after that",
        "the user says: raise the retry limit to 5\n     <remora-context>",
        "the user says: thanks\n     nothing is injected",
    ] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
    assert!(!text.contains("warning:"), "{text}");
    assert!(sandbox.left_in_tmp().is_empty());
}

#[test]
fn the_demo_as_json_lines() {
    let sandbox = Sandbox::new();
    let done = sandbox.remora(&["demo", "--json"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    let events: Vec<String> = done
        .raw
        .lines()
        .map(|line| {
            let report: Value = serde_json::from_str(line).unwrap();
            if let Some(rows) = report["memory"].as_array() {
                return format!("memory: {} items", rows.len());
            }
            if let Some(steps) = report["recall"].as_array() {
                let given = |step: &&Value| step["given"].is_string();
                let moments: Vec<&str> = steps
                    .iter()
                    .filter(given)
                    .map(|step| step["moment"].as_str().unwrap())
                    .collect();
                return format!("recall at {} of {}", moments.join(", "), steps.len());
            }
            assert_eq!(report["warnings"], serde_json::json!([]));
            let outcome = &report["outcome"];
            format!(
                "{} blocked {} final {}",
                report["event"], outcome["blocked"], outcome["final"]
            )
        })
        .collect();
    assert_snapshot!(events.join("\n"), @r#"
    "SessionStart" blocked false final null
    "UserPromptSubmit" blocked false final null
    "PreToolUse" blocked false final "allow"
    "PreToolUse" blocked true final "deny"
    "PreToolUse" blocked false final "ask"
    "PreToolUse" blocked false final "allow"
    "PostToolUse" blocked true final null
    "Stop" blocked true final null
    "Stop" blocked false final null
    "SessionEnd" blocked false final null
    memory: 8 items
    recall at start, read, failure, prompt of 5
    "#);
}

#[test]
fn manual_pages_are_written_for_every_verb() {
    let sandbox = Sandbox::new();
    let first = sandbox.remora(&["man"]).go().stdout;
    assert!(first.contains(".TH remora 1"), "{first}");
    let done = sandbox.remora(&["man", "pages"]).go();
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), ""), "{done}");
    for verb in ["", "-hooks", "-hooks-lint", "-conformance", "-memory-add"] {
        let page = sandbox.path(&format!("project/pages/remora{verb}.1"));
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH NAME"), "{}", page.display());
    }
    sandbox.write("project/file", "");
    let done = sandbox.remora(&["man", "file/pages"]).go();
    assert_eq!(done.code, Some(1), "{done}");
}
