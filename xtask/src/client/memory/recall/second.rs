//! The second session knows the first: at its start, at a prompt, after the same failure and
//! beside the same file; each once; and the ledger says what was given and what was of use.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::super::Case;
use super::super::talk::{Ask, Talk};
use super::told::{Told, after_call, after_prompt, all_told, told};
use super::{
    CHOICE, MADE, QUESTION, REASON, STEP, bash, failure, first_session, nothing_twice, read,
    row_of, text,
};

const TRIVIAL: &str = "ok";
const THANKS: &str = "Thanks, looks good!";
const WORK: &str = "See to the moles.";
/// Asked once more, in other words.
const AGAIN: &str = "When did we choose millimetres for the tide heights?";

pub(in super::super) fn session(case: &mut Case) -> Result<()> {
    let first = first_session(case)?;
    case.check(all_told(&first).is_empty(), || {
        format!("the first session was told: {:?}", all_told(&first))
    });
    let decision = row_of(case, CHOICE, "decision")?;
    let fix = row_of(case, "test_levels", "fix")?;
    // The same failure, seen from another checkout and at another line.
    case.house
        .write("project/check.sh", "cat failure.txt\nexit 1\n")?;
    let elsewhere = failure("/build/77/tests/test_gauge.py", 19);
    case.house.write("project/failure.txt", &elsewhere)?;
    let talk = play(case, &decision)?;
    case.check(talk.session()? != first.session()?, || {
        "the second session is the first one".to_owned()
    });
    let last = talk.requests.last().context("no request")?;

    at_the_start(case, &talk);
    let at_prompt = |prompt: &str| {
        let mut texts = after_prompt(last, prompt);
        texts.retain(|told| told.event() == "UserPromptSubmit");
        texts
    };
    case.equal("told at a trivial prompt", &at_prompt(TRIVIAL), &Vec::new());
    case.equal("told at thanks", &at_prompt(THANKS), &Vec::new());
    let asked = at_prompt(QUESTION);
    let answers = |told: &Told| told.rows().contains(&decision) && told.text.contains(REASON);
    case.check(asked.len() == 1 && asked.iter().all(answers), || {
        format!("the question about {decision} brings {asked:?}")
    });
    case.check(!at_prompt(AGAIN).iter().any(answers), || {
        format!("the question again brings {:?}", at_prompt(AGAIN))
    });

    let failed = after_call(last, "toolu_second_failing");
    let mends = |told: &Told| {
        let record = ["mended once", "round(m * 1000)"];
        told.event() == "PostToolUseFailure"
            && told.rows() == [fix.as_str()]
            && record.iter().all(|words| told.text.contains(words))
    };
    case.check(failed.len() == 1 && failed.iter().all(mends), || {
        format!("the same failure brings {failed:?}, not {fix}")
    });
    let known = after_call(last, "toolu_second_read");
    let tells = |told: &Told| {
        told.event() == "PreToolUse" && told.text.contains(MADE) && !told.rows().is_empty()
    };
    case.check(known.len() == 1 && known.iter().all(tells), || {
        format!("reading {MADE} brings {known:?}")
    });
    for call in [
        "toolu_second_again",
        "toolu_second_reread",
        "toolu_second_edit",
    ] {
        case.equal(call, &after_call(last, call), &Vec::new());
    }
    nothing_twice(case, "the second session", &all_told(&talk));
    case.house.drain()?;
    let made = known.iter().flat_map(Told::rows).next().unwrap_or_default();
    let uses = [
        (decision.as_str(), "prompt", "fetched"),
        (&fix, "failure", "run"),
        (&made, "read", "edited"),
    ];
    ledger(case, &talk, &uses)
}

fn play(case: &mut Case, decision: &str) -> Result<Talk> {
    let file = case.house.path("project").join(MADE);
    let edit = json!({"file_path": file, "old_string": "'south'", "new_string": "'east'"});
    let program = case.house.remora_path();
    let fetch = format!("{} show {}", program.display(), &decision[1..]);
    case.talk(&Ask {
        project: "project",
        prompt: TRIVIAL,
        then: &[QUESTION, THANKS, WORK, AGAIN],
        turns: &[
            text("Ready."),
            text("Because floats drifted."),
            text("You are welcome."),
            bash("toolu_second_failing", "sh check.sh"),
            read(case, "toolu_second_read", MADE),
            bash("toolu_second_again", "sh check.sh"),
            read(case, "toolu_second_reread", MADE),
            json!({"tools": [{"id": "toolu_second_edit", "name": "Edit", "input": edit}]}),
            bash("toolu_second_fetch", &fetch),
            text("It is another failure."),
            text("In the first session."),
        ],
        ..Ask::default()
    })
}

/// The first request holds the decision, the summary and the open step, once.
fn at_the_start(case: &mut Case, talk: &Talk) {
    let first = talk.requests.first().map(told).unwrap_or_default();
    case.check(first.len() == 1, || {
        format!(
            "the first request holds {} texts of ours: {first:?}",
            first.len()
        )
    });
    for words in [CHOICE, STEP, "Earlier sessions:", "Mend the gauge"] {
        let held = |told: &Told| told.event() == "SessionStart" && told.text.contains(words);
        case.check(first.iter().any(held), || {
            format!("`{words}` is not in the first request: {first:?}")
        });
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
    let in_requests: BTreeSet<String> = all_told(talk).iter().flat_map(Told::rows).collect();
    case.equal("rows in the ledger", &given, &in_requests);
    let used = |item: &str, moment: &str| {
        let mut same = lines
            .iter()
            .filter(|line| of(line, "item") == item && of(line, "moment") == moment);
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
