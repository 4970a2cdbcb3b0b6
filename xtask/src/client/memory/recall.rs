//! What comes back to the model, through the real client: at the start, at a prompt, beside a
//! file, after a failure. Judged by the requests that the client sends, not by what we print.
//!
//! All cases begin with the same first session: a decision, a failing check, the edit that mends
//! it, the check passing, and a step that is left open.

pub(super) mod hostile;
pub(super) mod newcomer;
pub(super) mod onward;
pub(super) mod others;
pub(super) mod plugin;
pub(super) mod screen;
pub(super) mod second;
pub(super) mod server;
mod told;
pub(super) mod unharmed;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Case;
use super::talk::{Ask, Talk};
use told::{Told, all_told};

/// The file that the first session mends.
const FILE: &str = "src/gauge.py";
/// A file that it makes.
const MADE: &str = "src/harbour.py";
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

fn text(words: &str) -> Value {
    json!({ "text": words })
}

/// Installs for the user, plays the first session and waits until it is stored.
fn first_session(case: &mut Case) -> Result<Talk> {
    case.house.remora("project", &["install", "claude-code"])?;
    remembered(case)
}

/// Plays the first session and waits until it is stored.
fn remembered(case: &mut Case) -> Result<Talk> {
    lay_out(case)?;
    let file = case.house.path("project").join(FILE);
    let edit = json!({
        "file_path": file, "old_string": "[m for m", "new_string": "[round(m * 1000) for m",
    });
    let made = json!({
        "file_path": case.house.path("project").join(MADE),
        "content": "def moles():\n    return ['north', 'south']\n",
    });
    let talk = case.talk(&Ask {
        project: "project",
        prompt: &format!("Mend the gauge. {DECISION}"),
        // Small talk at the end hides nothing of what was done.
        then: &["Thanks, looks good!"],
        turns: &[
            bash("toolu_first_failing", "sh check.sh"),
            read(case, "toolu_first_read", FILE),
            json!({"tools": [{"id": "toolu_first_edit", "name": "Edit", "input": edit}]}),
            bash("toolu_first_passing", "sh check.sh"),
            json!({"tools": [{"id": "toolu_first_write", "name": "Write", "input": made}]}),
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
        "failed calls of the first session (edit, failing, passing, read, write)",
        &failed,
        &vec![false, true, false, false, false],
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

/// Whether these hold the memory of the first session.
fn knows(texts: &[Told]) -> bool {
    texts.iter().any(|told| told.text.contains(CHOICE))
}
