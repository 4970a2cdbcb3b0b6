//! The second session knows what came before it: at its start, at a prompt, after the same failure
//! and beside the same file; each once; and the ledger says what was given and what was of use.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::MemoryCase;
use super::super::talk::{TalkRequest, TalkResult};
use super::told::{InjectedText, after_call, after_prompt, all_told, collect_injected};
use super::{
    CHOICE_WORDS, DECISION_QUESTION, FOGHORN_CONCLUSION, MOLES_CONCLUSION, OPEN_STEP, REASON_WORDS,
    bash_call, edit_call, format_failure, nothing_twice, read_call, row_of, text_reply,
    two_sessions_before,
};

const TRIVIAL_PROMPT: &str = "ok";
const THANKS_PROMPT: &str = "Thanks, looks good!";
const WORK_PROMPT: &str = "See to the weather.";
/// Asked once more, in other words.
const REPEATED_QUESTION: &str = "When did we drop the csv file of the moles?";

pub(in super::super) fn play_second(case: &mut MemoryCase) -> Result<()> {
    let first = two_sessions_before(case)?;
    let decision = row_of(case, CHOICE_WORDS, "decision")?;
    let fix = row_of(case, "test_levels", "fix")?;
    let moles = row_of(case, MOLES_CONCLUSION.answer, "summary")?;
    let horn = row_of(case, FOGHORN_CONCLUSION.answer, "summary")?;
    // The same failure, seen from another checkout and at another line.
    case.house
        .write_file("project/check.sh", "cat failure.txt\nexit 1\n")?;
    let elsewhere = format_failure("/build/77/tests/test_gauge.py", 19);
    case.house.write_file("project/failure.txt", &elsewhere)?;
    let talk = run_session(case, &moles)?;
    case.check_that(talk.session_id()? != first.session_id()?, || {
        "the second session is the first one".to_owned()
    });
    let last = talk.requests.last().context("no request")?;

    at_the_start(case, &talk, [&decision, &moles, &horn]);
    let at_prompt = |prompt: &str| {
        let mut texts = after_prompt(last, prompt);
        texts.retain(|told| told.event_name() == "UserPromptSubmit");
        texts
    };
    case.check_equal(
        "told at a trivial prompt",
        &at_prompt(TRIVIAL_PROMPT),
        &Vec::new(),
    );
    case.check_equal("told at thanks", &at_prompt(THANKS_PROMPT), &Vec::new());
    let asked = at_prompt(MOLES_CONCLUSION.question);
    let answers = |told: &InjectedText| {
        told.listed_items() == [moles.as_str()] && told.text.contains(MOLES_CONCLUSION.answer)
    };
    case.check_that(asked.len() == 1 && asked.iter().all(answers), || {
        format!("the question about {moles} brings {asked:?}")
    });
    // What it has in mind by then: the answer above, and the decision from the start.
    for prompt in [REPEATED_QUESTION, DECISION_QUESTION] {
        let told_again = |told: &InjectedText| {
            told.listed_items().contains(&moles) || told.text.contains(REASON_WORDS)
        };
        case.check_that(!at_prompt(prompt).iter().any(told_again), || {
            format!("`{prompt}` brings {:?}", at_prompt(prompt))
        });
    }
    after_calls(case, last, &fix, &horn);
    nothing_twice(case, "the second session", &all_told(&talk));
    case.house.drain_spool()?;
    let uses = [
        (moles.as_str(), "prompt", "fetched"),
        (&fix, "failure", "run"),
        (&horn, "read", "edited"),
    ];
    check_ledger(case, &talk, &uses)
}

/// The fix after the failure and the conclusion beside the file, each once.
fn after_calls(case: &mut MemoryCase, last: &Value, fix: &str, horn: &str) {
    let failed = after_call(last, "toolu_second_failing");
    let mends = |told: &InjectedText| {
        told.event_name() == "PostToolUseFailure"
            && told.listed_items() == [fix]
            && told.text.contains("round(m * 1000)")
    };
    case.check_that(failed.len() == 1 && failed.iter().all(mends), || {
        format!("the same failure brings {failed:?}, not {fix}")
    });
    let known = after_call(last, "toolu_second_read");
    let tells = |told: &InjectedText| {
        told.event_name() == "PreToolUse"
            && told.listed_items() == [horn]
            && told.text.contains(FOGHORN_CONCLUSION.answer)
    };
    case.check_that(known.len() == 1 && known.iter().all(tells), || {
        format!(
            "reading {} brings {known:?}, not {horn}",
            FOGHORN_CONCLUSION.file
        )
    });
    for call in [
        "toolu_second_again",
        "toolu_second_reread",
        "toolu_second_edit",
    ] {
        case.check_equal(call, &after_call(last, call), &Vec::new());
    }
}

fn run_session(case: &mut MemoryCase, moles: &str) -> Result<TalkResult> {
    let program = case.house.remora_path();
    let fetch = format!("{} show {}", program.display(), &moles[1..]);
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: TRIVIAL_PROMPT,
        then: &[
            MOLES_CONCLUSION.question,
            THANKS_PROMPT,
            WORK_PROMPT,
            REPEATED_QUESTION,
            DECISION_QUESTION,
        ],
        turns: &[
            text_reply("Ready."),
            text_reply("Because parsing took too long."),
            text_reply("You are welcome."),
            bash_call("toolu_second_failing", "sh check.sh"),
            read_call(case, "toolu_second_read", FOGHORN_CONCLUSION.file),
            bash_call("toolu_second_again", "sh check.sh"),
            read_call(case, "toolu_second_reread", FOGHORN_CONCLUSION.file),
            edit_call(
                case,
                "toolu_second_edit",
                FOGHORN_CONCLUSION.file,
                "30",
                "20",
            ),
            bash_call("toolu_second_fetch", &fetch),
            text_reply("It is another failure."),
            text_reply("In the first session."),
            text_reply("Floats drifted."),
        ],
        ..TalkRequest::default()
    })
}

/// The first request holds the decision with its reason, where the work stands with its open step,
/// and a pointer to each earlier conclusion; no log.
fn at_the_start(case: &mut MemoryCase, talk: &TalkResult, rows: [&String; 3]) {
    let first = talk
        .requests
        .first()
        .map(collect_injected)
        .unwrap_or_default();
    case.check_equal("texts in the first request", &first.len(), &1);
    for start in &first {
        case.check_equal("the event", &start.event_name(), &"SessionStart");
        for words in [CHOICE_WORDS, REASON_WORDS, OPEN_STEP, "gives whole numbers"] {
            case.check_that(start.text.contains(words), || {
                format!("`{words}` is not in the first request: {start:?}")
            });
        }
        for row in rows {
            case.check_that(start.listed_items().contains(row), || {
                format!("{row} is not named at the start: {start:?}")
            });
        }
        for noise in ["sh check.sh", "failure.txt", "passed"] {
            case.check_that(!start.text.contains(noise), || {
                format!("`{noise}` is told at the start: {start:?}")
            });
        }
    }
}

/// What was given is written down, each with its moment, and so is what was used.
fn check_ledger(
    case: &mut MemoryCase,
    talk: &TalkResult,
    wanted: &[(&str, &str, &str)],
) -> Result<()> {
    let session = talk.session_id()?;
    let args = ["ledger", "--json", "--session", &session, "--limit", "200"];
    let told = case.house.run_remora_json("project", &args)?;
    let lines = told["lines"].as_array().cloned().unwrap_or_default();
    let of = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    for line in &lines {
        case.check_equal("the session of a line", &of(line, "session"), &session);
        case.check_that(line["tokens"].as_u64() > Some(0), || {
            format!("the ledger does not know what it cost: {line}")
        });
    }
    let given: BTreeSet<String> = lines.iter().map(|line| of(line, "item")).collect();
    let in_requests: BTreeSet<String> = all_told(talk)
        .iter()
        .flat_map(InjectedText::cited_items)
        .collect();
    case.check_equal("rows in the ledger", &given, &in_requests);
    let used = |item: &str, moment: &str| {
        let mut same = lines
            .iter()
            .filter(|line| of(line, "item") == item && of(line, "moment").starts_with(moment));
        same.next().map(|line| of(&line["used"], "how"))
    };
    for (item, moment, how) in wanted {
        case.check_equal(
            &format!("the use of {item} after {moment}"),
            &used(item, moment),
            &Some((*how).to_owned()),
        );
    }
    Ok(())
}
