//! Two days as somebody has them who has just installed it: a limit with its reason, an export
//! with steps that are left, and what comes back when work goes on or is about to break the limit.

use anyhow::Result;
use serde_json::json;

use super::super::Case;
use super::super::talk::Ask;
use super::told::Told;
use super::{bash, read, text, told_to};

/// What the user rules, and why.
const RULE: &str = "keep the limit at 3";
const REASON: &str = "the upstream bans us";
/// What the agent concludes in the second session, and what it leaves.
const CONCLUSION: &str = "it quotes numbers, which the ERP rejects";
const STEP: &str = "header row from the config";

pub(in super::super) fn sessions(case: &mut Case) -> Result<()> {
    case.house.remora("project", &["install", "claude-code"])?;
    retries(case)?;
    export(case)?;
    going_on(case)?;
    about_to_break(case)?;
    case.check_silence()
}

fn edit(case: &Case, id: &str, file: &str, old: &str, new: &str) -> serde_json::Value {
    let path = case.house.path("project").join(file);
    let input = json!({"file_path": path, "old_string": old, "new_string": new});
    json!({"tools": [{"id": id, "name": "Edit", "input": input}]})
}

fn retries(case: &mut Case) -> Result<()> {
    case.house.write("project/src/retry.py", "LIMIT = 1\n")?;
    case.talk(&Ask {
        project: "project",
        prompt: &format!("Add retries to the fetcher. {RULE}, {REASON} above that"),
        turns: &[
            read(case, "toolu_retry_read", "src/retry.py"),
            edit(
                case,
                "toolu_retry_edit",
                "src/retry.py",
                "LIMIT = 1",
                "LIMIT = 3",
            ),
            bash("toolu_retry_look", "ls src"),
            text("Retries are in: `src/retry.py` tries three times with jitter."),
        ],
        ..Ask::default()
    })?;
    case.house.drain()
}

fn export(case: &mut Case) -> Result<()> {
    case.house
        .write("project/src/export.py", "def rows():\n    return []\n")?;
    case.talk(&Ask {
        project: "project",
        prompt: "We need a csv export of the monthly report, quick one",
        turns: &[
            read(case, "toolu_export_read", "src/export.py"),
            edit(
                case,
                "toolu_export_edit",
                "src/export.py",
                "return []",
                "return [';']",
            ),
            text(&format!(
                "The export writes `report.csv` with a semicolon. I tried the csv module first and \
                 dropped it: {CONCLUSION}.\n\nNext steps:\n- {STEP}\n- a test with umlauts"
            )),
        ],
        ..Ask::default()
    })?;
    case.house.drain()
}

/// The text of an event, if there is one.
fn at<'t>(texts: &'t [Told], event: &str) -> &'t str {
    let found = texts.iter().find(|told| told.event() == event);
    found.map_or("", |told| told.text.as_str())
}

/// The newest work and its open steps; the start tells both days without a log.
fn going_on(case: &mut Case) -> Result<()> {
    let texts = told_to(case, "project", "continue")?;
    let prompt = at(&texts, "UserPromptSubmit");
    case.check(prompt.contains(CONCLUSION) && prompt.contains(STEP), || {
        format!("\"continue\" does not bring the newest work: {texts:#?}")
    });
    case.check(!prompt.contains(REASON), || {
        format!("\"continue\" brings older work: {prompt}")
    });
    let start = at(&texts, "SessionStart");
    case.check(start.contains(STEP), || {
        format!("the start does not tell what is left: {start}")
    });
    for noise in ["Read src/", "Listed", "Looked"] {
        case.check(!start.contains(noise), || {
            format!("the start tells what was only looked at ({noise}): {start}")
        });
    }
    Ok(())
}

fn about_to_break(case: &mut Case) -> Result<()> {
    for prompt in [
        "Raise the retry limit to 5",
        "why don't we just retry 10 times?",
    ] {
        let texts = told_to(case, "project", prompt)?;
        case.check(texts.iter().any(|told| told.text.contains(REASON)), || {
            format!("{prompt:?} does not bring the rule: {texts:#?}")
        });
    }
    Ok(())
}

impl Case {
    /// Small talk and work without relation bring nothing.
    fn check_silence(&mut self) -> Result<()> {
        for prompt in ["thanks!", "Find a good recipe for sourdough bread"] {
            let texts = told_to(self, "project", prompt)?;
            let told = at(&texts, "UserPromptSubmit").to_owned();
            self.check(told.is_empty(), || format!("{prompt:?} brings {told}"));
        }
        Ok(())
    }
}
