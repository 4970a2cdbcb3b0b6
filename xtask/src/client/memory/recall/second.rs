//! The second session knows what came before it: at its start, at a prompt, after the same failure
//! and beside the same file; each once; and the ledger says what was given and what was of use.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::Case;
use super::super::talk::{Ask, Talk};
use super::told::{Told, after_call, after_prompt, all_told, told};
use super::{
    CHOICE, FOGHORN, MOLES, QUESTION, REASON, STEP, bash, edit, failure, nothing_twice, read,
    row_of, text, two_sessions_before,
};

const TRIVIAL: &str = "ok";
const THANKS: &str = "Thanks, looks good!";
const WORK: &str = "See to the weather.";
/// Asked once more, in other words.
const AGAIN: &str = "When did we drop the csv file of the moles?";

pub(in super::super) fn session(case: &mut Case) -> Result<()> {
    let first = two_sessions_before(case)?;
    let decision = row_of(case, CHOICE, "decision")?;
    let fix = row_of(case, "test_levels", "fix")?;
    let moles = row_of(case, MOLES.answer, "summary")?;
    let horn = row_of(case, FOGHORN.answer, "summary")?;
    // The same failure, seen from another checkout and at another line.
    case.house
        .write("project/check.sh", "cat failure.txt\nexit 1\n")?;
    let elsewhere = failure("/build/77/tests/test_gauge.py", 19);
    case.house.write("project/failure.txt", &elsewhere)?;
    let talk = play(case, &moles)?;
    case.check(talk.session()? != first.session()?, || {
        "the second session is the first one".to_owned()
    });
    let last = talk.requests.last().context("no request")?;

    at_the_start(case, &talk, [&decision, &moles, &horn]);
    let at_prompt = |prompt: &str| {
        let mut texts = after_prompt(last, prompt);
        texts.retain(|told| told.event() == "UserPromptSubmit");
        texts
    };
    case.equal("told at a trivial prompt", &at_prompt(TRIVIAL), &Vec::new());
    case.equal("told at thanks", &at_prompt(THANKS), &Vec::new());
    let asked = at_prompt(MOLES.question);
    let answers = |told: &Told| told.rows() == [moles.as_str()] && told.text.contains(MOLES.answer);
    case.check(asked.len() == 1 && asked.iter().all(answers), || {
        format!("the question about {moles} brings {asked:?}")
    });
    // What it has in mind by then: the answer above, and the decision from the start.
    for prompt in [AGAIN, QUESTION] {
        let told_again = |told: &Told| told.rows().contains(&moles) || told.text.contains(REASON);
        case.check(!at_prompt(prompt).iter().any(told_again), || {
            format!("`{prompt}` brings {:?}", at_prompt(prompt))
        });
    }
    after_calls(case, last, &fix, &horn);
    nothing_twice(case, "the second session", &all_told(&talk));
    case.house.drain()?;
    let uses = [
        (moles.as_str(), "prompt", "fetched"),
        (&fix, "failure", "run"),
        (&horn, "read", "edited"),
    ];
    ledger(case, &talk, &uses)
}

/// The fix after the failure and the conclusion beside the file, each once.
fn after_calls(case: &mut Case, last: &Value, fix: &str, horn: &str) {
    let failed = after_call(last, "toolu_second_failing");
    let mends = |told: &Told| {
        told.event() == "PostToolUseFailure"
            && told.rows() == [fix]
            && told.text.contains("round(m * 1000)")
    };
    case.check(failed.len() == 1 && failed.iter().all(mends), || {
        format!("the same failure brings {failed:?}, not {fix}")
    });
    let known = after_call(last, "toolu_second_read");
    let tells = |told: &Told| {
        told.event() == "PreToolUse" && told.rows() == [horn] && told.text.contains(FOGHORN.answer)
    };
    case.check(known.len() == 1 && known.iter().all(tells), || {
        format!("reading {} brings {known:?}, not {horn}", FOGHORN.file)
    });
    for call in [
        "toolu_second_again",
        "toolu_second_reread",
        "toolu_second_edit",
    ] {
        case.equal(call, &after_call(last, call), &Vec::new());
    }
}

fn play(case: &mut Case, moles: &str) -> Result<Talk> {
    let program = case.house.remora_path();
    let fetch = format!("{} show {}", program.display(), &moles[1..]);
    case.talk(&Ask {
        project: "project",
        prompt: TRIVIAL,
        then: &[MOLES.question, THANKS, WORK, AGAIN, QUESTION],
        turns: &[
            text("Ready."),
            text("Because parsing took too long."),
            text("You are welcome."),
            bash("toolu_second_failing", "sh check.sh"),
            read(case, "toolu_second_read", FOGHORN.file),
            bash("toolu_second_again", "sh check.sh"),
            read(case, "toolu_second_reread", FOGHORN.file),
            edit(case, "toolu_second_edit", FOGHORN.file, "30", "20"),
            bash("toolu_second_fetch", &fetch),
            text("It is another failure."),
            text("In the first session."),
            text("Floats drifted."),
        ],
        ..Ask::default()
    })
}

/// The first request holds the decision with its reason, where the work stands with its open step,
/// and a pointer to each earlier conclusion; no log.
fn at_the_start(case: &mut Case, talk: &Talk, rows: [&String; 3]) {
    let first = talk.requests.first().map(told).unwrap_or_default();
    case.equal("texts in the first request", &first.len(), &1);
    for start in &first {
        case.equal("the event", &start.event(), &"SessionStart");
        for words in [CHOICE, REASON, STEP, "gives whole numbers"] {
            case.check(start.text.contains(words), || {
                format!("`{words}` is not in the first request: {start:?}")
            });
        }
        for row in rows {
            case.check(start.rows().contains(row), || {
                format!("{row} is not named at the start: {start:?}")
            });
        }
        for noise in ["sh check.sh", "failure.txt", "passed"] {
            case.check(!start.text.contains(noise), || {
                format!("`{noise}` is told at the start: {start:?}")
            });
        }
    }
}

/// What was given is written down, each with its moment, and so is what was used.
fn ledger(case: &mut Case, talk: &Talk, wanted: &[(&str, &str, &str)]) -> Result<()> {
    let session = talk.session()?;
    let args = ["ledger", "--json", "--session", &session, "--limit", "200"];
    let told = case.house.ask("project", &args)?;
    let lines = told["lines"].as_array().cloned().unwrap_or_default();
    let of = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    for line in &lines {
        case.equal("the session of a line", &of(line, "session"), &session);
        case.check(line["tokens"].as_u64() > Some(0), || {
            format!("the ledger does not know what it cost: {line}")
        });
    }
    let given: BTreeSet<String> = lines.iter().map(|line| of(line, "item")).collect();
    let in_requests: BTreeSet<String> = all_told(talk).iter().flat_map(Told::cited).collect();
    case.equal("rows in the ledger", &given, &in_requests);
    let used = |item: &str, moment: &str| {
        let mut same = lines
            .iter()
            .filter(|line| of(line, "item") == item && of(line, "moment").starts_with(moment));
        same.next().map(|line| of(&line["used"], "how"))
    };
    for (item, moment, how) in wanted {
        case.equal(
            &format!("the use of {item} after {moment}"),
            &used(item, moment),
            &Some((*how).to_owned()),
        );
    }
    Ok(())
}
