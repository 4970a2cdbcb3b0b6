//! `remora mcp`, as a client talks to it: lines in, lines out, and an end when
//! the input ends.

use std::fs;

use remora_client::{DataPaths, ProjectRoots};
use serde_json::{Value, json};

use crate::remembered::{CART, Remembered};
use crate::sandbox::{Call, Sandbox};

/// Messages after the greeting; their answers by id, in order.
pub(crate) fn talk(call: Call<'_>, messages: &[Value]) -> Vec<Value> {
    let about = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let hello = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    let lines: Vec<String> = hello
        .iter()
        .chain(messages)
        .map(|message| format!("{message}\n"))
        .collect();
    let done = call.stdin(lines.concat()).go();
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
    let mut answers: Vec<Value> = done
        .raw
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
}

pub(crate) fn tool(id: u64, name: &str, arguments: &Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// The text of an answer, and whether it is an error.
fn said(answer: &Value) -> (&str, bool) {
    let result = &answer["result"];
    (
        result["content"][0]["text"].as_str().unwrap(),
        result["isError"].as_bool().unwrap(),
    )
}

/// One call of a tool.
pub(crate) fn ask(call: Call<'_>, name: &str, arguments: &Value) -> (String, bool) {
    let answers = talk(call, &[tool(1, name, arguments)]);
    let (text, error) = said(&answers[1]);
    (text.to_owned(), error)
}

pub(crate) fn mcp(memory: &Remembered) -> Call<'_> {
    let root = memory.sandbox.text("project");
    memory
        .sandbox
        .remora(&["mcp"])
        .environment("CLAUDE_PROJECT_DIR", root)
}

/// With a user who lets agents read every project.
fn crossing(memory: &Remembered) -> Call<'_> {
    let config = "mcp.all_projects = true\n";
    memory.sandbox.write("home/.remora/config.toml", config);
    mcp(memory)
}

#[test]
fn a_session_reads_its_own_project_and_no_other() {
    let memory = Remembered::shop();
    let roots = ProjectRoots::for_data_dir(&DataPaths::new(memory.sandbox.path("home/.remora")));
    let root = memory.sandbox.text("project");
    roots.accept("github.com/acme/notes", &root).unwrap();
    let config = "[remote \"origin\"]\nurl = git@github.com:acme/notes.git\n";
    memory.sandbox.write("project/.git/config", config);
    let rows = memory.go("search cart --all --json --limit 50");
    let rows: Value = serde_json::from_str(&rows.raw).unwrap();
    let (own, others): (Vec<&Value>, Vec<&Value>) = rows["results"]
        .as_array()
        .unwrap()
        .iter()
        .partition(|row| row["project"] == "github.com/acme/notes");
    assert!(!own.is_empty() && others.len() > 3, "{rows}");
    let answer = |name: &str, arguments: Value| ask(mcp(&memory), name, &arguments);
    // A row of another project, by number or name, is one that is not there.
    for row in &others {
        for id in [
            row["id"].to_string(),
            row["uid"].as_str().unwrap().to_owned(),
        ] {
            for (tool, key) in [("get", "ids"), ("timeline", "around")] {
                let none = answer(tool, json!({ key: "#9999" }));
                let theirs = answer(tool, json!({ key: id }));
                let (none, theirs) = (none.0.replace("#9999", "ID"), theirs.0.replace(&id, "ID"));
                assert_eq!(theirs, none, "{tool} {id}");
            }
        }
    }
    let id = own[0]["id"].to_string();
    assert!(!answer("get", json!({"ids": [id]})).1);
    assert!(!answer("timeline", json!({"around": id})).1);
    // Words of the search box do not lead out either.
    let (all, error) = answer("search", json!({"query": "cart"}));
    let ids = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with('#'));
        rows.map(|row| row.split_whitespace().next().unwrap().to_owned())
            .collect()
    };
    assert!(!error && ids(&all) == [format!("#{id}")], "{all}");
    for query in [
        "project:* cart",
        "project:shop cart",
        "project:github.com/acme/shop cart",
    ] {
        let (text, error) = answer("search", json!({ "query": query }));
        assert!(!error && ids(&text) == ids(&all), "{query}: {text}");
        assert!(text.contains("only this project is searched"), "{text}");
    }
    let (unknown, _) = answer("search", json!({"query": "session:ffffffff cart"}));
    for session in [CART, &CART[..8], &CART[..2]] {
        let (text, _) = answer(
            "search",
            json!({"query": format!("session:{session} cart")}),
        );
        assert_eq!(text.replace(session, "ffffffff"), unknown);
    }
    for tool in ["search", "timeline"] {
        let (text, error) = answer(tool, json!({"all": true}));
        assert!(error && text.contains("`all` is not an argument"), "{text}");
    }
    for name in [
        "memory://project/../shop",
        "memory://shop/x",
        "memory://user/../../x",
    ] {
        assert!(answer("get", json!({"ids": [name]})).1, "{name}");
    }
    let (text, error) = ask(crossing(&memory), "get", &json!({"ids": [others[0]["id"]]}));
    assert!(!error, "{text}");
}

#[test]
fn the_list_of_tools_is_small() {
    let sandbox = Sandbox::new();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answers = talk(sandbox.remora(&["mcp"]), &[list]);
    let names: Vec<&str> = answers[1]["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["search", "get", "timeline", "remember", "wrong", "forget"]
    );
    let hints = |name: &str| {
        let tools = answers[1]["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"].clone()
    };
    assert_eq!(hints("search"), json!({"readOnlyHint": true}));
    let changes = json!({"readOnlyHint": false, "destructiveHint": false});
    assert_eq!(hints("wrong"), changes);
    let deletes = json!({"readOnlyHint": false, "destructiveHint": true});
    assert_eq!(hints("forget"), deletes);
    let bytes = answers[1].to_string().len();
    assert!(bytes < 4096, "{bytes}");
    let instructions = answers[0]["result"]["instructions"].as_str().unwrap();
    assert!(instructions.len() < 400, "{}", instructions.len());
    // Nothing was remembered, and asking did not change that.
    assert!(!sandbox.path("home/.remora").exists());
}

#[test]
fn a_variable_that_names_another_checkout_leads_nowhere() {
    let memory = Remembered::shop();
    let roots = ProjectRoots::for_data_dir(&DataPaths::new(memory.sandbox.path("home/.remora")));
    let config = "[remote \"origin\"]\nurl = git@github.com:acme/shop.git\n";
    memory.sandbox.write("victim/.git/config", config);
    let victim = memory.sandbox.text("victim");
    roots.accept("github.com/acme/shop", &victim).unwrap();
    let call = memory.sandbox.remora(&["mcp"]);
    let call = call.environment("CLAUDE_PROJECT_DIR", victim);
    let (text, error) = ask(call, "search", &json!({"query": "cart"}));
    assert_eq!((text.contains("\n#"), error), (false, false), "{text}");
}

#[test]
fn rows_are_found_and_told_in_full() {
    let memory = Remembered::shop();
    let answers = talk(
        crossing(&memory),
        &[
            tool(
                1,
                "search",
                &json!({"query": "empty cart", "all": true, "kind": "fix"}),
            ),
            tool(2, "search", &json!({"query": "empty cart", "kind": "fix"})),
            tool(
                3,
                "timeline",
                &json!({"since": "2026-11-14", "all": true, "limit": 3}),
            ),
        ],
    );
    let (index, error) = said(&answers[1]);
    assert!(!error, "{index}");
    let row = index.lines().find(|line| line.starts_with('#')).unwrap();
    let parts: Vec<&str> = row.split_whitespace().take(3).collect();
    assert_eq!(parts[1..], ["2026-11-14", "fix"], "{row}");
    // A fix quotes what a tool printed.
    let id = parts[0].strip_suffix('~').unwrap();
    // The shop is another project than the sandbox's own.
    assert!(
        said(&answers[2])
            .0
            .contains("Nothing found in this project")
    );
    assert_eq!(
        said(&answers[3])
            .0
            .lines()
            .filter(|line| line.contains(':') && line.contains('#'))
            .count(),
        4,
        "{}",
        said(&answers[3]).0
    );
    let (full, error) = ask(mcp(&memory), "get", &json!({"ids": [parts[0], "#9999"]}));
    assert!(!error, "{full}");
    assert!(
        full.contains("[untrusted: quotes tools or transcripts]"),
        "{full}"
    );
    assert!(full.contains("record: fixed once"), "{full}");
    assert!(full.contains("Not found: #9999"), "{full}");
    let around = ask(
        mcp(&memory),
        "timeline",
        &json!({"around": parts[0], "limit": 4}),
    );
    assert!(around.0.contains(id), "{}", around.0);
}

#[test]
fn a_fact_is_saved_as_the_command_saves_it() {
    let sandbox = Sandbox::new();
    let call = || sandbox.remora(&["mcp"]).leaving_a_process();
    let fact = json!({"text": "Never mock the database in tests.", "priority": 1});
    let (text, error) = ask(call(), "remember", &fact);
    assert!(!error, "{text}");
    let uri = "memory://project/never-mock-the-database-in-tests";
    assert!(text.starts_with(&format!("Saved as {uri} (")), "{text}");
    let accept = "`remora memory accept never-mock-the-database-in-tests`";
    assert!(text.contains(accept), "{text}");
    let (_, shown) = sandbox
        .remora(&["memory", "show", uri])
        .leaving_a_process()
        .json();
    assert_eq!(shown["memories"][0]["priority"], 1);
    let (text, error) = ask(call(), "remember", &fact);
    assert!(error && text.contains("is there already"), "{text}");
    let (text, error) = ask(call(), "get", &json!({"ids": [uri, "memory://team/none"]}));
    assert!(!error && text.contains("Never mock the database"), "{text}");
    let head = format!("{uri} memory ");
    let when = text.lines().find_map(|line| line.strip_prefix(&head));
    let when = when.and_then(|when| when.strip_suffix(" [untrusted: quotes tools or transcripts]"));
    let when = when.unwrap();
    assert!(when.len() == 16 && !when.contains(['T', 'Z']), "{when}");
    let stdin = ask(call(), "remember", &json!({"text": "-"}));
    assert_eq!(stdin, ("the memory is empty".to_owned(), true));
    let user = json!({"text": "I prefer tabs.", "scope": "user", "type": "user", "name": "tabs"});
    let (text, error) = ask(call(), "remember", &user);
    assert!(!error, "{text}");
    assert!(sandbox.path("home/.remora/memory/tabs.md").exists());
    // The worker was woken, and now goes again.
    sandbox.remora(&["worker", "stop"]).go();
}

#[test]
fn while_paused_memory_is_read_but_nothing_is_saved() {
    let memory = Remembered::shop();
    let search = json!({"query": "empty cart", "all": true});
    let fact = json!({"text": "Never mock the database in tests."});
    for (pause, told) in [
        (
            "pause",
            "paused everywhere: nothing was changed; `remora pause --off` ends the pause",
        ),
        (
            "pause --project",
            "paused in this project: nothing was changed; `remora pause --off --project` ends the pause",
        ),
    ] {
        memory.go(pause);
        let (text, error) = ask(crossing(&memory), "search", &search);
        assert!(!error && text.contains("\n#"), "{text}");
        let refused = ask(mcp(&memory), "remember", &fact);
        assert_eq!(refused, (told.to_owned(), true));
        memory.go(&format!("{pause} --off"));
    }
    let off = mcp(&memory).environment("REMORA_OFF", "1");
    let told = "REMORA_OFF is set: nothing was changed".to_owned();
    assert_eq!(ask(off, "remember", &fact), (told, true));
    assert!(!memory.sandbox.path("home/.claude").exists());
}

#[test]
fn a_secret_is_redacted_before_anything_is_written() {
    let sandbox = Sandbox::new();
    let secret = ["ghp", "_0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let call = || sandbox.remora(&["mcp"]).leaving_a_process();
    let text = format!("{secret} is the token for deploys. <private>my diary</private> Ask Ann.");
    let (told, error) = ask(call(), "remember", &json!({"text": text}));
    assert!(!error, "{told}");
    let uri = "memory://project/redacted-github-token-is-the-token-for-deploys";
    assert!(told.starts_with(&format!("Saved as {uri} (")), "{told}");
    assert!(
        told.contains(
            "\nNote: a secret was redacted: [redacted:github-token] is in its place\n\
             Note: a passage that is marked as private was left out"
        ),
        "{told}"
    );
    for (fact, why) in [
        (
            json!({"text": secret}),
            "the memory is nothing but a secret (github-token); nothing was saved",
        ),
        (
            json!({"text": "<private>my diary</private>"}),
            "the memory is nothing but a private passage; nothing was saved",
        ),
        (
            json!({"text": "Deploys are on Tuesdays.", "name": secret}),
            "the name holds a secret (github-token); give another name, nothing was saved",
        ),
    ] {
        assert_eq!(ask(call(), "remember", &fact), (why.to_owned(), true));
    }
    assert_eq!(sandbox.holding(&[&secret, "diary"]), Vec::<String>::new());
    // Written by hand, the file is theirs; what is told of it is not all.
    let page = format!("# Keys {secret}\n\nUse {secret}. <private>my diary</private> Ask Ann.\n");
    sandbox.write("home/.remora/memory/keys.md", page);
    let (told, error) = ask(call(), "get", &json!({"ids": ["memory://user/keys"]}));
    assert!(!error && told.contains("Ask Ann."), "{told}");
    assert!(!told.contains(&secret) && !told.contains("diary"), "{told}");
}

#[test]
fn a_damaged_database_is_told_and_the_server_goes_on() {
    let memory = Remembered::shop();
    let file = memory.sandbox.path("home/.remora/remora.db");
    fs::write(
        &file,
        "not a database, but long enough to be read as one ".repeat(200),
    )
    .unwrap();
    let answers = talk(
        mcp(&memory),
        &[
            tool(1, "search", &json!({"query": "cart"})),
            tool(2, "get", &json!({"ids": ["1"]})),
            json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}),
        ],
    );
    for answer in &answers[1..3] {
        let (text, error) = said(answer);
        assert!(
            error && text.ends_with("`remora doctor` says how to fix it"),
            "{text}"
        );
    }
    assert_eq!(answers[3]["result"], json!({}));
    memory
        .sandbox
        .write("home/.remora/config.toml", "search = 1\n[");
    let (text, error) = ask(mcp(&memory), "search", &json!({"query": "cart"}));
    assert!(error && text.contains("config.toml"), "{text}");
}

#[test]
fn without_a_word_the_server_just_ends() {
    let sandbox = Sandbox::new();
    let done = sandbox.remora(&["mcp"]).go();
    assert_eq!((done.code, &*done.stdout, &*done.stderr), (Some(0), "", ""));
}

#[test]
fn a_newer_database_is_read_and_a_locked_one_told() {
    let memory = Remembered::shop();
    let file = memory.sandbox.path("home/.remora/remora.db");
    let database = rusqlite::Connection::open(&file).unwrap();
    database.pragma_update(None, "user_version", 9999).unwrap();
    let search = json!({"query": "cart", "all": true});
    let (text, error) = ask(crossing(&memory), "search", &search);
    assert!(!error && text.contains("\n#1"), "{text}");
    database
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version = 9998;",
        )
        .unwrap();
    let (text, error) = ask(mcp(&memory), "search", &search);
    assert!(error && text.contains("busy"), "{text}");
}

/// What was allowed once and for all, `remora search` and `remora show`, must
/// not lead an agent into other projects.
#[test]
fn a_command_in_an_agent_s_shell_stays_in_its_project() {
    let sandbox = Sandbox::new();
    let project = sandbox.text("project");
    let line = |id: &str, text: &str| {
        json!({ "id": id, "conv": "c", "timestamp": "2026-11-01", "text": text }).to_string() + "\n"
    };
    sandbox.write("project/here.jsonl", line("a", "The till is green here."));
    sandbox.write(
        "project/there.jsonl",
        line("b", "The till is red elsewhere."),
    );
    for (file, key) in [
        ("here.jsonl", "."),
        ("there.jsonl", "example.com/acme/other"),
    ] {
        let done = sandbox
            .remora(&["import", "jsonl", file, "--project", key])
            .go();
        assert_eq!(done.code, Some(0), "{project}: {done}");
    }
    let agent = |args: &[&str]| sandbox.remora(args).environment("CLAUDECODE", "1").go();
    let free = |args: &[&str]| sandbox.remora(args).go();
    let crossing: [&[&str]; 12] = [
        &["show", "#2"],
        &["search", "till", "--all"],
        &["search", "till", "project:*"],
        &["search", "till", "--project", "example.com/acme/other"],
        &["timeline", "--around", "#2"],
        &["sessions", "--all"],
        &["recap", "--all"],
        &["ledger", "--all"],
        &["export"],
        &["forget", "#2", "--dry-run"],
        &["forget", "--matching", "till", "--all", "--dry-run"],
        &["forget", "--project", "example.com/acme/other", "--dry-run"],
    ];
    for args in crossing {
        let done = agent(args);
        assert_eq!(done.code, Some(1), "{done}");
        assert!(
            done.stderr.contains("reads its own project alone"),
            "{done}"
        );
        assert!(!done.stdout.contains("red"), "{done}");
        assert_eq!(free(args).code, Some(0), "{args:?}");
    }
    // Its own project is as open as ever.
    for args in [&["show", "#1"][..], &["search", "till"], &["timeline"]] {
        let done = agent(args);
        assert_eq!(done.code, Some(0), "{done}");
        assert!(
            done.stdout.contains("green") && !done.stdout.contains("red"),
            "{done}"
        );
    }
    let none = agent(&["search", "elsewhere"]);
    assert_eq!(none.stdout, "nothing found in this project\n");
    let wrong = agent(&["wrong", "#2"]);
    assert_eq!(wrong.code, Some(1), "{wrong}");
    assert!(wrong.stderr.contains("no such item"), "{wrong}");
    // The user decides, not the agent.
    let set = ["config", "set", "mcp.all_projects", "true"];
    assert_eq!(agent(&set).code, Some(1));
    assert_eq!(free(&set).code, Some(0));
    assert_eq!(agent(&["search", "till", "--all"]).code, Some(0));
}
