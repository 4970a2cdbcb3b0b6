//! Whatever has happened to us, the client's sessions are unharmed: a worker that was killed, a
//! pause, a file that somebody holds, a database that is no longer one.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::super::Case;
use super::super::talk::{Ask, Talk};
use super::told::{Told, all_told};
use super::{CHOICE, QUESTION, bash, first_session, knows, read, row_of, text};
use crate::client::process::kill_all;

/// As a person writes it.
const PERSON: &str = "{ \"permissions\": {\"deny\": [\"WebFetch\"]}\n}";
const ANSWER: &str = "The answer arrives.";
const SESSION: &str = "22222222-3333-4444-8555-666666666666";
/// Words of ours, of the store, and of the client when a hook goes wrong.
const ERRORS: &[&str] = &[
    "remora doctor",
    "malformed",
    "not a database",
    "hook error",
    "panicked",
];

pub(in super::super) fn sessions(case: &mut Case) -> Result<()> {
    case.house.write("home/.claude/settings.json", PERSON)?;
    first_session(case)?;

    let workers = case.house.workers();
    ensure!(!workers.is_empty(), "no worker to kill");
    kill_all(&workers);
    let texts = goes_well(case, "the worker is killed", "killed", &[])?;
    case.check(knows(&texts), || {
        format!("recall needs the worker: {texts:?}")
    });

    case.house.remora("project", &["pause"])?;
    let texts = goes_well(case, "paused", "paused", &[])?;
    case.equal("told while paused", &texts, &Vec::new());
    case.house.remora("project", &["pause", "--off"])?;

    let held = hold(case)?;
    let id = ["--session-id", SESSION];
    let texts = goes_well(case, "the given file is held", "held", &id)?;
    case.equal("told while nothing can be noted", &texts, &Vec::new());
    drop(held);

    for (what, tag, from) in [
        ("pages of the database are junk", "pages", 4096),
        ("the whole database is junk", "whole", 0),
    ] {
        case.house.remora("project", &["worker", "stop"])?;
        spoil(case, from).context(what)?;
        goes_well(case, what, tag, &[])?;
        case.house.drain()?;
        // It was built anew from the archive.
        row_of(case, CHOICE, "decision").context(what)?;
    }

    case.house
        .remora("project", &["uninstall", "claude-code"])?;
    let left = fs::read_to_string(case.house.user_settings())?;
    case.equal("the settings after uninstalling", &left.as_str(), &PERSON);
    Ok(())
}

/// A session with a question, a failure and a file; what it was told.
fn goes_well(case: &mut Case, what: &str, tag: &str, args: &[&str]) -> Result<Vec<Told>> {
    let failing = format!("toolu_{tag}_failing");
    let reading = format!("toolu_{tag}_read");
    let before = case.problems.len();
    let talk = case
        .talk(&Ask {
            project: "project",
            prompt: QUESTION,
            turns: &[
                bash(&failing, "cat no-gauge"),
                read(case, &reading, super::FILE),
                text(ANSWER),
            ],
            args,
            ..Ask::default()
        })
        .with_context(|| what.to_owned())?;
    let said = talk.result()?["result"].clone();
    case.equal("the last text", &said, &Value::from(ANSWER));
    let calls = talk.calls();
    let failed = |id: &String| calls.get(id).map(|(failed, _)| *failed);
    case.equal("the failing call", &failed(&failing), &Some(true));
    case.equal("the reading call", &failed(&reading), &Some(false));
    for word in ERRORS {
        case.check(!shows(&talk, word), || {
            format!("the model is shown `{word}`")
        });
    }
    for problem in &mut case.problems[before..] {
        *problem = format!("{what}: {problem}");
    }
    Ok(all_told(&talk))
}

fn shows(talk: &Talk, words: &str) -> bool {
    let messages = talk
        .requests
        .iter()
        .map(|body| body["messages"].to_string());
    messages.into_iter().any(|text| text.contains(words))
}

/// Holds the file in which the hook notes what it gives.
fn hold(case: &Case) -> Result<File> {
    let name = format!("data/run/sessions/{SESSION}.given");
    case.house.write(&name, "")?;
    let file = File::options().append(true).open(case.house.path(&name))?;
    file.lock().context("cannot lock the given file")?;
    Ok(file)
}

/// Writes junk over the database from this place on; what waits beside it goes.
fn spoil(case: &Case, from: u64) -> Result<()> {
    let path = case.house.data().join("remora.db");
    let size = fs::metadata(&path).context("no database")?.len();
    ensure!(size > from, "the database is too small to be spoiled");
    let mut file = File::options().write(true).open(&path)?;
    file.seek(SeekFrom::Start(from))?;
    let junk = vec![0xA5; usize::try_from(size - from)?];
    file.write_all(&junk)?;
    for beside in ["remora.db-wal", "remora.db-shm"] {
        let _ = fs::remove_file(case.house.data().join(beside)); // it need not be there
    }
    Ok(())
}
