//! The second session knows what came before it: at its start, at a prompt, after the same failure
//! and beside the same file; each once; and the ledger says what was injected and what was used.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::super::MemoryCase;
use super::super::talk::{TalkRequest, TalkResult};
use super::injected::{InjectedText, after_call, after_prompt, collect_injected, list_injected};
use super::{
    CHOICE_WORDS, DECISION_QUESTION, FOGHORN_CONCLUSION, MOLES_CONCLUSION, OPEN_STEP, REASON_WORDS,
    bash_call, check_nothing_twice, edit_call, find_item_ref, format_failure, read_call,
    text_reply, two_sessions_before,
};

const TRIVIAL_PROMPT: &str = "ok";
const THANKS_PROMPT: &str = "Thanks, looks good!";
const WORK_PROMPT: &str = "See to the weather.";
/// Asked once more, in other words.
const REPEATED_QUESTION: &str = "When did we drop the csv file of the moles?";

pub(in super::super) fn play_second(case: &mut MemoryCase) -> Result<()> {
    let first = two_sessions_before(case)?;
    let decision = find_item_ref(case, CHOICE_WORDS, "decision")?;
    let fix = find_item_ref(case, "test_levels", "fix")?;
    let moles = find_item_ref(case, MOLES_CONCLUSION.answer, "summary")?;
    let horn = find_item_ref(case, FOGHORN_CONCLUSION.answer, "summary")?;
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
        texts.retain(|injected| injected.event_name() == "UserPromptSubmit");
        texts
    };
    case.check_equal(
        "injected at a trivial prompt",
        &at_prompt(TRIVIAL_PROMPT),
        &Vec::new(),
    );
    case.check_equal("injected at thanks", &at_prompt(THANKS_PROMPT), &Vec::new());
    let asked = at_prompt(MOLES_CONCLUSION.question);
    let answers = |injected: &InjectedText| {
        injected.listed_items() == [moles.as_str()]
            && injected.text.contains(MOLES_CONCLUSION.answer)
    };
    case.check_that(asked.len() == 1 && asked.iter().all(answers), || {
        format!("the question about {moles} brings {asked:?}")
    });
    // What it has in mind by then: the answer above, and the decision from the start.
    for prompt in [REPEATED_QUESTION, DECISION_QUESTION] {
        let injected_again = |injected: &InjectedText| {
            injected.listed_items().contains(&moles) || injected.text.contains(REASON_WORDS)
        };
        case.check_that(!at_prompt(prompt).iter().any(injected_again), || {
            format!("`{prompt}` brings {:?}", at_prompt(prompt))
        });
    }
    after_calls(case, last, &fix, &horn);
    check_nothing_twice(case, "the second session", &list_injected(&talk));
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
    let shows_fix = |injected: &InjectedText| {
        injected.event_name() == "PostToolUseFailure"
            && injected.listed_items() == [fix]
            && injected.text.contains("round(m * 1000)")
    };
    case.check_that(failed.len() == 1 && failed.iter().all(shows_fix), || {
        format!("the same failure brings {failed:?}, not {fix}")
    });
    let known = after_call(last, "toolu_second_read");
    let shows_item = |injected: &InjectedText| {
        injected.event_name() == "PreToolUse"
            && injected.listed_items() == [horn]
            && injected.text.contains(FOGHORN_CONCLUSION.answer)
    };
    case.check_that(known.len() == 1 && known.iter().all(shows_item), || {
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

/// The first request holds the decision with its reason, the state of the work with its open step,
/// and a pointer to each earlier conclusion; no log.
fn at_the_start(case: &mut MemoryCase, talk: &TalkResult, items: [&String; 3]) {
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
        for item in items {
            case.check_that(start.listed_items().contains(item), || {
                format!("{item} is not named at the start: {start:?}")
            });
        }
        for noise in ["sh check.sh", "failure.txt", "passed"] {
            case.check_that(!start.text.contains(noise), || {
                format!("`{noise}` is injected at the start: {start:?}")
            });
        }
    }
}

/// The ledger has every injection with its trigger, and which of them were used.
fn check_ledger(
    case: &mut MemoryCase,
    talk: &TalkResult,
    wanted: &[(&str, &str, &str)],
) -> Result<()> {
    let session = talk.session_id()?;
    let args = ["ledger", "--json", "--session", &session, "--limit", "200"];
    let injected = case.house.run_remora_json("project", &args)?;
    let lines = injected["lines"].as_array().cloned().unwrap_or_default();
    let of = |line: &Value, field: &str| line[field].as_str().unwrap_or_default().to_owned();
    for line in &lines {
        case.check_equal("the session of a line", &of(line, "session"), &session);
        case.check_that(line["tokens"].as_u64() > Some(0), || {
            format!("the ledger does not know what it cost: {line}")
        });
    }
    let logged: BTreeSet<String> = lines.iter().map(|line| of(line, "item")).collect();
    let in_requests: BTreeSet<String> = list_injected(talk)
        .iter()
        .flat_map(InjectedText::cited_items)
        .collect();
    case.check_equal("items in the ledger", &logged, &in_requests);
    let used = |item: &str, trigger: &str| {
        let mut same = lines
            .iter()
            .filter(|line| of(line, "item") == item && of(line, "moment").starts_with(trigger));
        same.next().map(|line| of(&line["used"], "how"))
    };
    for (item, trigger, how) in wanted {
        case.check_equal(
            &format!("the use of {item} after {trigger}"),
            &used(item, trigger),
            &Some((*how).to_owned()),
        );
    }
    Ok(())
}
