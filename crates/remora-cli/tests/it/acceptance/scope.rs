//! Memory of one project stays out of every other.

use std::path::Path;

use serde_json::{Value, json};

use super::{World, key_of, showing};

const DECISION: &str = "We decided to deploy the kestrel service with blue green switching because \
    zorvexquill rollbacks are instant.";
const QUESTION: &str = "why did we decide to deploy the kestrel service with blue green switching?";
/// What only the decision says.
const ANSWER: &str = "zorvexquill";

/// Two projects, of which the first holds the decision.
fn neighbours(world: &World) -> [std::path::PathBuf; 2] {
    let folders = [world.project("alpha"), world.project("beta")];
    world.session("a1", &folders[0], DECISION, "Noted.");
    let other = "We decided to name branches after tickets because brantlequix looks them up.";
    world.session("b1", &folders[1], other, "Noted.");
    world.den.drain();
    folders
}

#[test]
fn scope_cross_tenant_absent() {
    let world = World::new();
    let [alpha, beta] = neighbours(&world);
    let none = Vec::<String>::new();
    assert_eq!(showing(&world.reads(&beta, "b2", QUESTION), ANSWER), none);
    let expected = [
        "start",
        "prompt",
        "subagent",
        "timeline",
        "recap",
        "context",
        "context --prompt",
        "search",
        "mcp search",
        "mcp timeline",
    ];
    assert_eq!(
        showing(&world.reads(&alpha, "a2", QUESTION), ANSWER),
        expected
    );
    // The other project was silent about it, not empty.
    let reads = world.reads(&beta, "b3", "why do we name branches after tickets?");
    let found = showing(&reads, "brantlequix");
    for way in ["start", "prompt", "search", "mcp search"] {
        assert!(found.iter().any(|shown| shown == way), "{way}: {found:?}");
    }
}

/// What a session in `from` gets over MCP when it asks for more than its own.
fn stretched(world: &World, from: &Path, theirs: &Value) -> Vec<(String, String)> {
    let key = key_of("alpha");
    let mut answers = Vec::new();
    let calls = [
        (
            "search",
            json!({ "query": format!("project:* {QUESTION}") }),
        ),
        (
            "search",
            json!({ "query": format!("project:{key} {QUESTION}") }),
        ),
        (
            "search",
            json!({ "query": format!("project:alpha {QUESTION}") }),
        ),
        (
            "search",
            json!({ "query": format!("session:a1 {QUESTION}") }),
        ),
        ("search", json!({ "query": QUESTION, "all": true })),
        ("search", json!({ "query": QUESTION, "project": key })),
        ("search", json!({ "query": QUESTION, "project": "*" })),
        ("search", json!({ "query": QUESTION, "project": "" })),
        ("timeline", json!({ "all": true })),
        ("timeline", json!({ "project": key })),
        ("timeline", json!({ "around": theirs["id"] })),
        ("timeline", json!({ "around": theirs["uid"] })),
        ("get", json!({ "ids": [theirs["id"]] })),
        ("get", json!({ "ids": [theirs["uid"]] })),
        ("get", json!({ "ids": ["*"] })),
        ("get", json!({ "ids": [format!("memory://{key}/deploy")] })),
    ];
    for (tool, arguments) in calls {
        let (text, _) = world.mcp(from, tool, &arguments);
        answers.push((format!("{tool} {arguments}"), text));
    }
    // A variable that a repository's settings can set.
    let call = world.cli(from, &["mcp"]);
    let elsewhere = world.den.sandbox.text("alpha");
    let call = call.environment("CLAUDE_PROJECT_DIR", elsewhere);
    let (text, _) = crate::mcp::ask(call, "search", &json!({ "query": QUESTION }));
    answers.push(("CLAUDE_PROJECT_DIR".to_owned(), text));
    answers
}

#[test]
fn scope_caller_cannot_widen() {
    let world = World::new();
    let [alpha, beta] = neighbours(&world);
    let theirs = &world.search(&alpha, &["kestrel", "--kind", "decision"])[0];
    let answers = stretched(&world, &beta, theirs);
    assert_eq!(showing(&answers, ANSWER), Vec::<String>::new());
    // What is not theirs to read is not theirs to change.
    for tool in ["wrong", "forget"] {
        for id in [
            theirs["id"].to_string(),
            theirs["uid"].as_str().unwrap().to_owned(),
        ] {
            let (text, error) = world.mcp(&beta, tool, &json!({ "id": id }));
            let (none, _) = world.mcp(&beta, tool, &json!({ "id": "9999" }));
            assert!(error, "{tool} {id}: {text}");
            assert_eq!(text.replace(&id, "ID"), none.replace("9999", "ID"));
        }
    }
    // A checkout that only says it is the other project: it neither reads what
    // is there nor adds to it.
    let forged = world.project("gamma");
    let remote = format!(
        "[remote \"origin\"]\nurl = https://{}.git\n",
        key_of("alpha")
    );
    world.den.sandbox.write("gamma/.git/config", remote);
    let reads = world.reads(&forged, "g1", QUESTION);
    assert_eq!(showing(&reads, ANSWER), Vec::<String>::new());
    let planted = "We decided to deploy the kestrel service with snarfbolt because it is fast.";
    world.session("g2", &forged, planted, "Noted.");
    // Nor does a payload that names a project of its own.
    let rest = json!({
        "prompt": "We decided to deploy the kestrel service with wumpgrit because it is fast.",
        "project": {"key": key_of("alpha"), "name": "alpha", "root": alpha},
        "project_key": key_of("alpha"),
    });
    world.tell("b4", &beta, "UserPromptSubmit", rest);
    for arguments in [
        json!({ "text": "Deploy with flimzarn.", "name": "../../alpha/deploy" }),
        json!({ "text": "Deploy with flimzarn.", "scope": key_of("alpha") }),
        json!({ "text": "Deploy with flimzarn.", "scope": "*" }),
        json!({ "text": "Deploy with flimzarn.", "project": key_of("alpha") }),
        json!({ "text": "Deploy with flimzarn.", "cwd": alpha }),
    ] {
        world.mcp(&beta, "remember", &arguments);
    }
    world.den.drain();
    let reads = world.reads(&alpha, "a3", QUESTION);
    for planted in ["snarfbolt", "wumpgrit", "flimzarn"] {
        assert_eq!(showing(&reads, planted), Vec::<String>::new(), "{planted}");
    }
    // All the while, its own sessions read and write there.
    assert!(showing(&reads, ANSWER).len() > 5, "{reads:#?}");
    let own = json!({ "text": "Deploy the kestrel service on Tuesdays only.", "priority": 1 });
    let (text, error) = world.mcp(&alpha, "remember", &own);
    assert!(!error, "{text}");
    world.den.drain();
    assert!(world.start("a4", &alpha).contains("Tuesdays only"));
    let own = stretched(&world, &alpha, theirs);
    let found: Vec<String> = showing(&own, ANSWER);
    for call in ["get {\"ids\":[2]}", "CLAUDE_PROJECT_DIR"] {
        assert!(found.iter().any(|way| way == call), "{call}: {found:#?}");
    }
}

pub(super) const FAILED: &str = "Exit code 101\nrunning 1 test\ntest retry::gives_up ... FAILED\n\nfailures:\n\n---- retry::gives_up stdout ----\n\nthread 'retry::gives_up' panicked at src/retry.rs:31:9:\nassertion `left == right` failed\n  left: 4\n right: 3\n\n\nfailures:\n    retry::gives_up\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n";
const PASSED: &str = "running 1 test\ntest retry::gives_up ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n";

/// A session in which a test fails, is mended with this word, and passes.
pub(super) fn mended(world: &World, session: &str, folder: &Path, term: &str) {
    world.start(session, folder);
    let prompt =
        format!("The retry test fails. We decided to call the limit {term} because it is short.");
    world.prompt(session, folder, &prompt);
    let run = json!({ "command": "cargo test" });
    let failed = json!({ "tool_name": "Bash", "tool_input": run, "error": FAILED });
    world.tell(session, folder, "PostToolUseFailure", failed);
    let file = folder.join("src/retry.rs");
    let (old, new) = ("while n <= limit {}", format!("while n < {term} {{}}"));
    let edit = json!({
        "tool_name": "Edit",
        "tool_input": { "file_path": file, "old_string": old, "new_string": new },
        "tool_response": { "filePath": file, "originalFile": format!("{old}\n"), "structuredPatch": [{
            "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
            "lines": [format!("-{old}"), format!("+{new}")],
        }] },
    });
    world.tell(session, folder, "PostToolUse", edit);
    world.ran(session, folder, "cargo test", PASSED);
    let said = format!("The loop ends at {term} now.\n\nNext steps:\n- log every {term}");
    world.tell(
        session,
        folder,
        "Stop",
        json!({ "last_assistant_message": said }),
    );
}

#[test]
fn scope_background_respects_boundary() {
    let world = World::new();
    // With what rows mean, which the worker works out in the background.
    world.configure("");
    let words = ["zorvexquill", "brantlequix"];
    let folders = [world.project("alpha"), world.project("beta")];
    for (at, folder) in folders.iter().enumerate() {
        mended(&world, &format!("s{at}"), folder, words[at]);
    }
    // One session that works in both.
    for (folder, term) in folders.iter().zip(["florbinate", "quaxmire"]) {
        let prompt = format!("Rename the counter to {term}, please.");
        world.prompt("both", folder, &prompt);
        world.ran(
            "both",
            folder,
            &format!("make {term}"),
            &format!("built {term} in the usual way"),
        );
        let said = format!("The counter is called {term} now.");
        world.tell(
            "both",
            folder,
            "Stop",
            json!({ "last_assistant_message": said }),
        );
    }
    world.den.drain();
    world.go(&folders[0], &["rebuild"]);
    world.go(&folders[0], &["rebuild", "--vectors"]);
    // No item, session or file of one tells of the other.
    let own = [["zorvexquill", "florbinate"], ["brantlequix", "quaxmire"]];
    let names = [key_of("alpha"), key_of("beta")];
    let mut kinds: [Vec<String>; 2] = [Vec::new(), Vec::new()];
    for line in world.export() {
        let Some((_, part)) = line.as_object().unwrap().iter().next() else {
            continue;
        };
        let Some(at) = names.iter().position(|name| part["project"] == **name) else {
            continue;
        };
        let text = part.to_string();
        assert!(
            !own[1 - at].iter().any(|term| text.contains(term)),
            "{text}"
        );
        if own[at].iter().any(|term| text.contains(term)) {
            kinds[at].push(part["kind"].as_str().unwrap_or("other").to_owned());
        }
    }
    for kinds in &mut kinds {
        kinds.sort_unstable();
        kinds.dedup();
    }
    assert_eq!(kinds[0], kinds[1]);
    let derived = [
        "bugfix", "command", "decision", "fix", "other", "prompt", "summary",
    ];
    assert_eq!(kinds[0], derived);
    // What was learned is given back where it was learned, and only there.
    for (at, folder) in folders.iter().enumerate() {
        let elsewhere = FAILED.replace("retry.rs:31:9", "retry.rs:77:1");
        let failed = json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": elsewhere });
        let fix = world.injected(&format!("later-{at}"), folder, "PostToolUseFailure", failed);
        assert!(
            fix.contains(words[at]) && !fix.contains(words[1 - at]),
            "{fix}"
        );
        let args = ["how often is something attempted anew", "--limit", "50"];
        let found = world.search(folder, &args);
        assert!(!found.is_empty());
        assert!(
            found.iter().all(|item| item["project"] == *names[at]),
            "{found:#?}"
        );
        let reads = world.reads(
            folder,
            &format!("read-{at}"),
            "why does the limit have that name?",
        );
        for term in own[1 - at] {
            assert_eq!(showing(&reads, term), Vec::<String>::new(), "{term}");
        }
        assert!(showing(&reads, words[at]).len() > 5, "{reads:#?}");
    }
}
