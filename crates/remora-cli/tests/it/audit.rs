//! `remora audit`: finds what today's rules call a secret wherever it was
//! stored, names the place but never the secret, and takes it out.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::rebuild::{exported, remember};
use crate::sandbox::Sandbox;

const SECRET: &str = "TICKET-4711";

/// Files below a folder that hold the secret as it is.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes
                .windows(SECRET.len())
                .any(|part| part == SECRET.as_bytes())
            {
                found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn a_new_rule_finds_and_takes_out_what_was_stored_before() {
    let sandbox = Sandbox::new();
    remember(&sandbox);
    sandbox.write(
        "home/.remora/dead/x.json",
        format!(r#"{{"id":"x","at":0,"reason":"broken","payload":"{{ {SECRET}"}}"#),
    );
    sandbox.write("home/.remora/logs/hook.log", format!("one\ntwo {SECRET}\n"));
    let clean = sandbox.remora(&["audit"]).go();
    assert_eq!(clean.code, Some(0), "{clean}");
    let set = ["config", "set", "redact.patterns.ticket", r"TICKET-\d+"];
    assert_eq!(sandbox.remora(&set).go().code, Some(0));
    let before = exported(&sandbox);
    let (done, value) = sandbox.remora(&["audit"]).json();
    assert_eq!(done.code, Some(1), "{done}");
    assert!(!done.raw.contains(SECRET), "{done}");
    let mut places: Vec<&str> = value["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            assert!(found["kinds"]["ticket"].as_u64().unwrap() > 0, "{found}");
            found["place"].as_str().unwrap()
        })
        .collect();
    places.dedup();
    assert_eq!(places, ["database", "archive", "file"]);
    // Looking changes nothing.
    assert_eq!(exported(&sandbox), before);
    let fixed = sandbox.remora(&["audit", "--fix"]).go();
    assert_eq!(fixed.code, Some(0), "{fixed}");
    assert!(!fixed.raw.contains(SECRET), "{fixed}");
    assert_eq!(holding(&sandbox.path("home/.remora")), Vec::<String>::new());
    let after = exported(&sandbox);
    let expected: Vec<String> = before
        .iter()
        .map(|line| line.replace(SECRET, "[redacted:ticket]"))
        .collect();
    assert_eq!(after, expected);
    let log = fs::read_to_string(sandbox.path("home/.remora/logs/hook.log")).unwrap();
    assert_eq!(log, "one\ntwo [redacted:ticket]\n");
    let again = sandbox.remora(&["audit"]).go();
    assert_eq!(again.code, Some(0), "{again}");
}

#[test]
fn a_secret_over_several_lines_of_a_file_is_found() {
    let sandbox = Sandbox::new();
    let secret = ["x7Kq", "9mTz", "2wLp"].concat();
    let table = format!("| user | password |\n|---|---|\n| root | {secret} |\n");
    sandbox.write("home/.remora/logs/hook.log", format!("one\n{table}"));
    remember(&sandbox);
    let found = sandbox.remora(&["audit"]).go();
    assert_eq!(found.code, Some(1), "{found}");
    let fixed = sandbox.remora(&["audit", "--fix"]).go();
    assert_eq!(fixed.code, Some(0), "{fixed}");
    let log = fs::read_to_string(sandbox.path("home/.remora/logs/hook.log")).unwrap();
    let clean = table.replace(&secret, "[redacted:password]");
    assert_eq!(log, format!("one\n{clean}"));
}

#[test]
fn places_are_named_for_people() {
    let sandbox = Sandbox::new();
    let line = format!(r#"{{"id":"1","conv":"a","timestamp":"2023-05-08","text":"see {SECRET}"}}"#);
    let done = sandbox.remora(&["import", "jsonl", "-"]).stdin(line).go();
    assert_eq!(done.code, Some(0), "{done}");
    sandbox.write(
        "home/.remora/config.toml",
        "redact.patterns = { ticket = 'TICKET-\\d+' }\n",
    );
    sandbox.write("home/.remora/remora.db.damaged-1", "");
    let found = sandbox.remora(&["audit"]).go();
    let fixed = sandbox.remora(&["audit", "--fix"]).go();
    let again = sandbox.remora(&["audit"]).go();
    assert_snapshot!(format!("{found}\n{fixed}\n{again}"), @r"
    $ remora audit
    database, session a: ticket
    database, message #1: ticket (2 times)
    2 places hold secrets; `remora audit --fix` takes them out (3 places looked at)
    not looked at: remora.db.damaged-1 (an old database; remove it when you do not need it)
    exit 1
    $ remora audit --fix
    database, session a: ticket
    database, message #1: ticket (2 times)
    2 places held secrets; they were redacted (3 places looked at)
    not looked at: remora.db.damaged-1 (an old database; remove it when you do not need it)
    exit 0
    $ remora audit
    no secret found (3 places looked at)
    not looked at: remora.db.damaged-1 (an old database; remove it when you do not need it)
    exit 0
    ");
}

#[test]
fn a_rule_that_cannot_be_used_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "home/.remora/config.toml",
        "redact.patterns = { x = '(' }\n",
    );
    assert_snapshot!(sandbox.remora(&["audit"]).go(), @r"
    $ remora audit
    stderr: remora: [HOME]/.remora/config.toml: redaction pattern `x` is not a usable regular expression: regex parse error:
    stderr:     (
    stderr:     ^
    stderr: error: unclosed group
    exit 1
    ");
}

#[test]
fn what_a_killed_hook_left_half_written_is_looked_at() {
    let sandbox = Sandbox::new();
    let set = ["config", "set", "redact.patterns.ticket", r"TICKET-\d+"];
    assert_eq!(sandbox.remora(&set).go().code, Some(0));
    let left = sandbox.write(
        "home/.remora/spool/left.tmp",
        format!("{{\"a\": \"{SECRET}"),
    );
    let busy = sandbox.write("home/.remora/spool/busy.tmp", SECRET);
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().append(true).open(&left).unwrap();
    file.set_modified(long_ago).unwrap();
    let (done, value) = sandbox.remora(&["audit"]).json();
    assert_eq!(done.code, Some(1), "{done}");
    assert_eq!(value["found"].as_array().unwrap().len(), 1, "{value}");
    assert_eq!(value["found"][0]["file"], left.to_str().unwrap());
    let fixed = sandbox.remora(&["audit", "--fix"]).go();
    assert_eq!(fixed.code, Some(0), "{fixed}");
    assert!(!left.exists() || !fs::read_to_string(&left).unwrap().contains(SECRET));
    // A hook may be at this one.
    assert_eq!(fs::read_to_string(&busy).unwrap(), SECRET);
}
