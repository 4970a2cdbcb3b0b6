//! Whatever has happened to us, the client's sessions are unharmed: a worker that was killed, a
//! pause, a file that somebody holds, a database that is no longer one.

use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::super::MemoryCase;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{InjectedText, list_injected};
use super::{
    CHOICE_WORDS, DECISION_QUESTION, bash_call, find_item_ref, first_session, has_first_session,
    read_call, text_reply,
};
use crate::client::process::kill_all;

/// As a user writes it.
const USER_SETTINGS: &str = "{ \"permissions\": {\"deny\": [\"WebFetch\"]}\n}";
const ANSWER_TEXT: &str = "The answer arrives.";
const SESSION_ID: &str = "22222222-3333-4444-8555-666666666666";
/// Words of ours, of the store, and of the client when a hook goes wrong.
const ERROR_WORDS: &[&str] = &[
    "remora doctor",
    "malformed",
    "not a database",
    "hook error",
    "panicked",
];

pub(in super::super) fn play_unharmed(case: &mut MemoryCase) -> Result<()> {
    case.house
        .write_file("home/.claude/settings.json", USER_SETTINGS)?;
    first_session(case)?;

    let workers = case.house.list_workers();
    ensure!(!workers.is_empty(), "no worker to kill");
    kill_all(&workers);
    let texts = goes_well(case, "the worker is killed", "killed", &[])?;
    case.check_that(has_first_session(&texts), || {
        format!("recall needs the worker: {texts:?}")
    });

    case.house.run_remora("project", &["pause"])?;
    let texts = goes_well(case, "paused", "paused", &[])?;
    case.check_equal("injected while paused", &texts, &Vec::new());
    case.house.run_remora("project", &["pause", "--off"])?;

    let held = lock_injection_log(case)?;
    let id = ["--session-id", SESSION_ID];
    let texts = goes_well(case, "the injection log is held", "held", &id)?;
    case.check_equal("injected while nothing can be logged", &texts, &Vec::new());
    drop(held);

    for (what, tag, from) in [
        ("pages of the database are junk", "pages", 4096),
        ("the whole database is junk", "whole", 0),
    ] {
        case.house.run_remora("project", &["worker", "stop"])?;
        damage_database(case, from).context(what)?;
        goes_well(case, what, tag, &[])?;
        case.house.drain_spool()?;
        // It was rebuilt from the archive.
        find_item_ref(case, CHOICE_WORDS, "decision").context(what)?;
    }

    case.house
        .run_remora("project", &["uninstall", "claude-code"])?;
    let left = fs::read_to_string(case.house.user_settings())?;
    case.check_equal(
        "the settings after uninstalling",
        &left.as_str(),
        &USER_SETTINGS,
    );
    Ok(())
}

/// A session with a question, a failure and a file; returns what was injected.
fn goes_well(
    case: &mut MemoryCase,
    what: &str,
    tag: &str,
    args: &[&str],
) -> Result<Vec<InjectedText>> {
    let failing = format!("toolu_{tag}_failing");
    let reading = format!("toolu_{tag}_read");
    let before = case.problems.len();
    let talk = case
        .run_talk(&TalkRequest {
            project: "project",
            prompt: DECISION_QUESTION,
            turns: &[
                bash_call(&failing, "cat no-gauge"),
                read_call(case, &reading, super::FIXED_FILE),
                text_reply(ANSWER_TEXT),
            ],
            args,
            ..TalkRequest::default()
        })
        .with_context(|| what.to_owned())?;
    let said = talk.find_result()?["result"].clone();
    case.check_equal("the last text", &said, &Value::from(ANSWER_TEXT));
    let calls = talk.call_results();
    let failed = |id: &String| calls.get(id).map(|(failed, _)| *failed);
    case.check_equal("the failing call", &failed(&failing), &Some(true));
    case.check_equal("the reading call", &failed(&reading), &Some(false));
    for word in ERROR_WORDS {
        case.check_that(!shows_words(&talk, word), || {
            format!("the model is shown `{word}`")
        });
    }
    for problem in &mut case.problems[before..] {
        *problem = format!("{what}: {problem}");
    }
    Ok(list_injected(&talk))
}

fn shows_words(talk: &TalkResult, words: &str) -> bool {
    let messages = talk
        .requests
        .iter()
        .map(|body| body["messages"].to_string());
    messages.into_iter().any(|text| text.contains(words))
}

/// Holds the file in which the hook notes what it gives.
fn lock_injection_log(case: &MemoryCase) -> Result<File> {
    let name = format!("data/run/sessions/{SESSION_ID}.given");
    case.house.write_file(&name, "")?;
    let file = File::options().append(true).open(case.house.path(&name))?;
    file.lock().context("cannot lock the injection log")?;
    Ok(file)
}

/// Writes junk over the database from this place on; what waits beside it goes.
fn damage_database(case: &MemoryCase, from: u64) -> Result<()> {
    let path = case.house.data_dir().join("remora.db");
    let size = fs::metadata(&path).context("no database")?.len();
    ensure!(size > from, "the database is too small to be spoiled");
    let mut file = File::options().write(true).open(&path)?;
    file.seek(SeekFrom::Start(from))?;
    let junk = vec![0xA5; usize::try_from(size - from)?];
    file.write_all(&junk)?;
    for name in ["remora.db-wal", "remora.db-shm"] {
        let _ = fs::remove_file(case.house.data_dir().join(name)); // it need not be there
    }
    Ok(())
}
