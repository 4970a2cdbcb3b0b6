//! What comes back to the model, through the real client: at the start, at a prompt, beside a
//! file, after a failure. Judged by the requests that the client sends, not by what we print.
//!
//! Most cases begin with the same first session: a decision, a failing check, the edit that fixes
//! it, the check passing, and a step that is left open. Those that look at prompts and reads have
//! one before it, in which the agent concludes two things: a start only points at them, so that
//! they can still come when they are asked for.

pub(super) mod hostile;
mod injected;
pub(super) mod newcomer;
pub(super) mod onward;
pub(super) mod others;
pub(super) mod plugin;
pub(super) mod screen;
pub(super) mod second;
pub(super) mod server;
pub(super) mod subagents;
pub(super) mod unharmed;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::MemoryCase;
use super::talk::{TalkRequest, TalkResult};
use injected::{InjectedText, list_injected};

/// The file that the first session fixes.
const FIXED_FILE: &str = "src/gauge.py";
/// Files that the session before the first one makes.
const HARBOUR_FILE: &str = "src/harbour.py";
const FOGHORN_FILE: &str = "src/foghorn.py";
const BROKEN_SOURCE: &str = "def levels(metres):\n    return [m for m in metres]\n";
/// Prints what a test runner prints, for the file as it is.
const CHECK_SCRIPT: &str = "if grep -q 1000 src/gauge.py; then\n  echo '============================== 1 \
                     passed in 0.01s ==============================='\n  exit 0\nfi\ncat \
                     failure.txt\nexit 1\n";
/// One failure, met at two places and lines.
const FAILURE_TEXT: &str = "=================================== FAILURES \
                       ===================================\n_________________________________ \
                       test_levels _________________________________\n\n    def \
                       test_levels():\n>       assert levels([1.5]) == [1500]\nE       \
                       AssertionError: assert [1.5] == [1500]\n\n@PLACE@: \
                       AssertionError\n=========================== short test summary info \
                       ============================\nFAILED @FILE@::test_levels - \
                       AssertionError: assert [1.5] == \
                       [1500]\n============================== 1 failed in 0.02s \
                       ===============================\n";

/// What the user decides in the first session, and why.
const DECISION_TEXT: &str =
    "We decided to keep tide heights in millimetres because floats drifted.";
const CHOICE_WORDS: &str = "tide heights in millimetres";
const REASON_WORDS: &str = "floats drifted";
/// What it leaves open.
const OPEN_STEP: &str = "Teach the export to print millimetres";
/// A question that the decision answers.
const DECISION_QUESTION: &str = "Why did we choose millimetres for the tide heights?";

/// A conclusion of an earlier turn: what was asked, a question about it, and words that only the
/// answer has.
struct PastConclusion {
    prompt: &'static str,
    file: &'static str,
    said: &'static str,
    question: &'static str,
    answer: &'static str,
}

const MOLES_CONCLUSION: PastConclusion = PastConclusion {
    prompt: "List the moles of the harbour.",
    file: HARBOUR_FILE,
    said: "The moles of the harbour are a list in `src/harbour.py`. I tried to read the moles from \
           a csv file first and dropped that: parsing took 40 ms a call.",
    question: "Why did we not read the moles of the harbour from a csv file?",
    answer: "40 ms a call",
};
const FOGHORN_CONCLUSION: PastConclusion = PastConclusion {
    prompt: "Let the foghorn sound by itself.",
    file: FOGHORN_FILE,
    said: "The foghorn sounds every 30 seconds now instead of every 60, because the ferry missed \
           it twice.",
    question: "Why does the foghorn sound every 30 seconds?",
    answer: "the ferry missed it twice",
};

/// The failure, at a place of this checkout or another.
fn format_failure(file: &str, line: u32) -> String {
    let place = format!("{file}:{line}");
    FAILURE_TEXT
        .replace("@PLACE@", &place)
        .replace("@FILE@", file)
}

/// Puts the files that the first session begins with into the project.
fn lay_out(case: &MemoryCase) -> Result<()> {
    case.house
        .write_file(&format!("project/{FIXED_FILE}"), BROKEN_SOURCE)?;
    case.house.write_file("project/check.sh", CHECK_SCRIPT)?;
    let text = format_failure("tests/test_gauge.py", 7);
    case.house.write_file("project/failure.txt", &text)
}

fn bash_call(id: &str, command: &str) -> Value {
    json!({"tools": [{"id": id, "name": "Bash", "input": {"command": command}}]})
}

fn read_call(case: &MemoryCase, id: &str, file: &str) -> Value {
    let path = case.house.path("project").join(file);
    json!({"tools": [{"id": id, "name": "Read", "input": {"file_path": path}}]})
}

fn write_call(case: &MemoryCase, id: &str, file: &str, content: &str) -> Value {
    let path = case.house.path("project").join(file);
    let input = json!({"file_path": path, "content": content});
    json!({"tools": [{"id": id, "name": "Write", "input": input}]})
}

fn edit_call(case: &MemoryCase, id: &str, file: &str, old: &str, new: &str) -> Value {
    let path = case.house.path("project").join(file);
    let input = json!({"file_path": path, "old_string": old, "new_string": new});
    json!({"tools": [{"id": id, "name": "Edit", "input": input}]})
}

fn text_reply(words: &str) -> Value {
    json!({ "text": words })
}

/// Installs for the user, plays the first session and waits until it is stored.
fn first_session(case: &mut MemoryCase) -> Result<TalkResult> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    play_first_session(case)
}

/// The same, after a session that concluded two things.
fn two_sessions_before(case: &mut MemoryCase) -> Result<TalkResult> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: MOLES_CONCLUSION.prompt,
        then: &[FOGHORN_CONCLUSION.prompt],
        turns: &[
            write_call(
                case,
                "toolu_moles",
                MOLES_CONCLUSION.file,
                "MOLES = ['north', 'south']\n",
            ),
            text_reply(MOLES_CONCLUSION.said),
            write_call(
                case,
                "toolu_horn",
                FOGHORN_CONCLUSION.file,
                "SECONDS = 30\n",
            ),
            text_reply(FOGHORN_CONCLUSION.said),
        ],
        ..TalkRequest::default()
    })?;
    case.house.drain_spool()?;
    play_first_session(case)
}

/// Plays the first session and waits until it is stored.
fn play_first_session(case: &mut MemoryCase) -> Result<TalkResult> {
    lay_out(case)?;
    let talk = case.run_talk(&TalkRequest {
        project: "project",
        prompt: &format!("Mend the gauge. {DECISION_TEXT}"),
        // Small talk at the end hides nothing of what was done.
        then: &["Thanks, looks good!"],
        turns: &[
            bash_call("toolu_first_failing", "sh check.sh"),
            read_call(case, "toolu_first_read", FIXED_FILE),
            edit_call(
                case,
                "toolu_first_edit",
                FIXED_FILE,
                "[m for m",
                "[round(m * 1000) for m",
            ),
            bash_call("toolu_first_passing", "sh check.sh"),
            text_reply(&format!(
                "The gauge gives whole numbers now and the check passes.\n\nNext steps:\n- \
                 {OPEN_STEP}."
            )),
            text_reply("You're welcome! Let me know if anything else comes up."),
        ],
        ..TalkRequest::default()
    })?;
    let failed: Vec<bool> = talk
        .call_results()
        .values()
        .map(|(failed, _)| *failed)
        .collect();
    case.check_equal(
        "failed calls of the first session (edit, failing, passing, read)",
        &failed,
        &vec![false, true, false, false],
    );
    case.house.drain_spool()?;
    Ok(talk)
}

/// The number of the one item of this kind that these words find.
fn find_item_ref(case: &MemoryCase, words: &str, kind: &str) -> Result<String> {
    let items = case.house.search_items("project", words)?;
    let item = items.iter().find(|item| item["kind"] == kind);
    let item = item.with_context(|| {
        let found = super::kept::format_items(&items);
        format!("`remora search {words}` finds no {kind}, but {found}")
    })?;
    Ok(format!("#{}", item["id"]))
}

/// Each text is whole, and no item is injected in full twice.
fn check_nothing_twice(case: &mut MemoryCase, what: &str, texts: &[InjectedText]) {
    let mut seen: Vec<String> = Vec::new();
    for (at, injected) in texts.iter().enumerate() {
        case.check_that(injected.whole, || {
            format!("{what}: a text is not closed: {injected:?}")
        });
        // An index only names items.
        let starts = injected.event_name() == "SessionStart";
        let items = if starts {
            injected.full_items()
        } else {
            injected.listed_items()
        };
        for item in items {
            case.check_that(!seen.contains(&item), || {
                format!("{what}: {item} is injected twice: {texts:#?}")
            });
            seen.push(item);
        }
        let again = texts[at + 1..]
            .iter()
            .any(|other| other.text == injected.text);
        case.check_that(!again, || {
            format!("{what}: twice the same text: {injected:?}")
        });
    }
}

/// Everything that is injected into a short session.
fn run_and_list_injected(
    case: &mut MemoryCase,
    project: &str,
    prompt: &str,
) -> Result<Vec<InjectedText>> {
    let talk = case.run_talk(&TalkRequest {
        project,
        prompt,
        turns: &[text_reply("Noted.")],
        ..TalkRequest::default()
    })?;
    Ok(list_injected(&talk))
}

/// The text of an event, if there is one.
fn text_at_event<'t>(texts: &'t [InjectedText], event: &str) -> &'t str {
    let found = texts.iter().find(|injected| injected.event_name() == event);
    found.map_or("", |injected| injected.text.as_str())
}

/// Whether these hold the memory of the first session.
fn has_first_session(texts: &[InjectedText]) -> bool {
    texts
        .iter()
        .any(|injected| injected.text.contains(CHOICE_WORDS))
}
