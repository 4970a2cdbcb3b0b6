//! What comes back to the model, through the real client: at the start, at a prompt, beside a
//! file, after a failure. Judged by the requests that the client sends, not by what we print.
//!
//! Most cases begin with the same first session: a decision, a failing check, the edit that mends
//! it, the check passing, and a step that is left open. Those that look at prompts and reads have
//! one before it, in which the agent concludes two things: a start only points at them, so that
//! they can still come when they are asked for.

pub(super) mod hostile;
pub(super) mod newcomer;
pub(super) mod onward;
pub(super) mod others;
pub(super) mod plugin;
pub(super) mod screen;
pub(super) mod second;
pub(super) mod server;
pub(super) mod subagents;
mod told;
pub(super) mod unharmed;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Case;
use super::talk::{Ask, Talk};
use told::{Told, all_told};

/// The file that the first session mends.
const FILE: &str = "src/gauge.py";
/// Files that the session before the first one makes.
const MADE: &str = "src/harbour.py";
const HORN: &str = "src/foghorn.py";
const BROKEN: &str = "def levels(metres):\n    return [m for m in metres]\n";
/// Prints what a test runner prints, for the file as it is.
const CHECK: &str = "if grep -q 1000 src/gauge.py; then\n  echo '============================== 1 \
                     passed in 0.01s ==============================='\n  exit 0\nfi\ncat \
                     failure.txt\nexit 1\n";
/// One failure, met at two places and lines.
const FAILURE: &str = "=================================== FAILURES \
                       ===================================\n_________________________________ \
                       test_levels _________________________________\n\n    def \
                       test_levels():\n>       assert levels([1.5]) == [1500]\nE       \
                       AssertionError: assert [1.5] == [1500]\n\n@PLACE@: \
                       AssertionError\n=========================== short test summary info \
                       ============================\nFAILED @FILE@::test_levels - \
                       AssertionError: assert [1.5] == \
                       [1500]\n============================== 1 failed in 0.02s \
                       ===============================\n";

/// What the person decides in the first session, and why.
const DECISION: &str = "We decided to keep tide heights in millimetres because floats drifted.";
const CHOICE: &str = "tide heights in millimetres";
const REASON: &str = "floats drifted";
/// What it leaves open.
const STEP: &str = "Teach the export to print millimetres";
/// A question that the decision answers.
const QUESTION: &str = "Why did we choose millimetres for the tide heights?";

/// A conclusion of an earlier turn: what was asked, a question about it, and words that only the
/// answer has.
struct Conclusion {
    prompt: &'static str,
    file: &'static str,
    said: &'static str,
    question: &'static str,
    answer: &'static str,
}

const MOLES: Conclusion = Conclusion {
    prompt: "List the moles of the harbour.",
    file: MADE,
    said: "The moles of the harbour are a list in `src/harbour.py`. I tried to read the moles from \
           a csv file first and dropped that: parsing took 40 ms a call.",
    question: "Why did we not read the moles of the harbour from a csv file?",
    answer: "40 ms a call",
};
const FOGHORN: Conclusion = Conclusion {
    prompt: "Let the foghorn sound by itself.",
    file: HORN,
    said: "The foghorn sounds every 30 seconds now instead of every 60, because the ferry missed \
           it twice.",
    question: "Why does the foghorn sound every 30 seconds?",
    answer: "the ferry missed it twice",
};

/// The failure, at a place of this checkout or another.
fn failure(file: &str, line: u32) -> String {
    let place = format!("{file}:{line}");
    FAILURE.replace("@PLACE@", &place).replace("@FILE@", file)
}

/// Puts the files that the first session begins with into the project.
fn lay_out(case: &Case) -> Result<()> {
    case.house.write(&format!("project/{FILE}"), BROKEN)?;
    case.house.write("project/check.sh", CHECK)?;
    let text = failure("tests/test_gauge.py", 7);
    case.house.write("project/failure.txt", &text)
}

fn bash(id: &str, command: &str) -> Value {
    json!({"tools": [{"id": id, "name": "Bash", "input": {"command": command}}]})
}

fn read(case: &Case, id: &str, file: &str) -> Value {
    let path = case.house.path("project").join(file);
    json!({"tools": [{"id": id, "name": "Read", "input": {"file_path": path}}]})
}

fn write(case: &Case, id: &str, file: &str, content: &str) -> Value {
    let path = case.house.path("project").join(file);
    let input = json!({"file_path": path, "content": content});
    json!({"tools": [{"id": id, "name": "Write", "input": input}]})
}

fn edit(case: &Case, id: &str, file: &str, old: &str, new: &str) -> Value {
    let path = case.house.path("project").join(file);
    let input = json!({"file_path": path, "old_string": old, "new_string": new});
    json!({"tools": [{"id": id, "name": "Edit", "input": input}]})
}

fn text(words: &str) -> Value {
    json!({ "text": words })
}

/// Installs for the user, plays the first session and waits until it is stored.
fn first_session(case: &mut Case) -> Result<Talk> {
    case.house.remora("project", &["install", "claude-code"])?;
    remembered(case)
}

/// The same, after a session that concluded two things.
fn two_sessions_before(case: &mut Case) -> Result<Talk> {
    case.house.remora("project", &["install", "claude-code"])?;
    case.talk(&Ask {
        project: "project",
        prompt: MOLES.prompt,
        then: &[FOGHORN.prompt],
        turns: &[
            write(
                case,
                "toolu_moles",
                MOLES.file,
                "MOLES = ['north', 'south']\n",
            ),
            text(MOLES.said),
            write(case, "toolu_horn", FOGHORN.file, "SECONDS = 30\n"),
            text(FOGHORN.said),
        ],
        ..Ask::default()
    })?;
    case.house.drain()?;
    remembered(case)
}

/// Plays the first session and waits until it is stored.
fn remembered(case: &mut Case) -> Result<Talk> {
    lay_out(case)?;
    let talk = case.talk(&Ask {
        project: "project",
        prompt: &format!("Mend the gauge. {DECISION}"),
        // Small talk at the end hides nothing of what was done.
        then: &["Thanks, looks good!"],
        turns: &[
            bash("toolu_first_failing", "sh check.sh"),
            read(case, "toolu_first_read", FILE),
            edit(
                case,
                "toolu_first_edit",
                FILE,
                "[m for m",
                "[round(m * 1000) for m",
            ),
            bash("toolu_first_passing", "sh check.sh"),
            text(&format!(
                "The gauge gives whole numbers now and the check passes.\n\nNext steps:\n- \
                 {STEP}."
            )),
            text("You're welcome! Let me know if anything else comes up."),
        ],
        ..Ask::default()
    })?;
    let failed: Vec<bool> = talk.calls().values().map(|(failed, _)| *failed).collect();
    case.equal(
        "failed calls of the first session (edit, failing, passing, read)",
        &failed,
        &vec![false, true, false, false],
    );
    case.house.drain()?;
    Ok(talk)
}

/// The number of the one row of this kind that is found by these words.
fn row_of(case: &Case, words: &str, kind: &str) -> Result<String> {
    let rows = case.house.search("project", words)?;
    let row = rows.iter().find(|row| row["kind"] == kind);
    let row = row.with_context(|| {
        let found = super::kept::brief(&rows);
        format!("`remora search {words}` finds no {kind}, but {found}")
    })?;
    Ok(format!("#{}", row["id"]))
}

/// Each text is whole, and no row is told in full twice.
fn nothing_twice(case: &mut Case, what: &str, texts: &[Told]) {
    let mut seen: Vec<String> = Vec::new();
    for (at, told) in texts.iter().enumerate() {
        case.check(told.whole, || {
            format!("{what}: a text is not closed: {told:?}")
        });
        // An index only names rows.
        let starts = told.event() == "SessionStart";
        let rows = if starts { told.full() } else { told.rows() };
        for row in rows {
            case.check(!seen.contains(&row), || {
                format!("{what}: {row} is told twice: {texts:#?}")
            });
            seen.push(row);
        }
        let again = texts[at + 1..].iter().any(|other| other.text == told.text);
        case.check(!again, || format!("{what}: twice the same text: {told:?}"));
    }
}

/// What a short session is told in all.
fn told_to(case: &mut Case, project: &str, prompt: &str) -> Result<Vec<Told>> {
    let talk = case.talk(&Ask {
        project,
        prompt,
        turns: &[text("Noted.")],
        ..Ask::default()
    })?;
    Ok(all_told(&talk))
}

/// The text of an event, if there is one.
fn at<'t>(texts: &'t [Told], event: &str) -> &'t str {
    let found = texts.iter().find(|told| told.event() == event);
    found.map_or("", |told| told.text.as_str())
}

/// Whether these hold the memory of the first session.
fn knows(texts: &[Told]) -> bool {
    texts.iter().any(|told| told.text.contains(CHOICE))
}
