//! Installing and taking out again: the settings are what they were, to the byte.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::MemoryCase;
use super::remembered::list_context;
use super::talk::{TalkRequest, TalkResult};

/// As a user writes it: odd spacing, hooks of their own, no newline at the end.
const USER_SETTINGS: &str = "{\n\t\"env\": {\"PLOVER\": \"1\"},\n   \"hooks\": {\"PostToolUse\": [\n    \
                      {\"matcher\":\"Bash\", \"hooks\": [{\"type\":\"command\",\"command\":\"touch \
                      @MARK@\"}]}\n  ], \"Stop\": []},\n\t\"permissions\": {\"deny\": \
                      [\"WebFetch\"]}}";

pub(super) fn play_uninstall(case: &mut MemoryCase) -> Result<()> {
    let file = case.house.user_settings();
    there_and_back(case, &file, &[])
}

pub(super) fn uninstall_project(case: &mut MemoryCase) -> Result<()> {
    let file = case.house.path("project/.claude/settings.json");
    there_and_back(case, &file, &["--project"])
}

fn there_and_back(case: &mut MemoryCase, file: &Path, scope: &[&str]) -> Result<()> {
    let mark = case.house.path("mark");
    let settings = USER_SETTINGS.replace("@MARK@", &mark.display().to_string());
    fs::create_dir_all(file.parent().context("no folder")?)?;
    fs::write(file, &settings)?;
    let before = run_session(case, "toolu_before")?;
    case.check_that(mark.exists(), || {
        "the user's own hook did not run".to_owned()
    });

    let install = [["install", "claude-code"].as_slice(), scope].concat();
    case.house.run_remora("project", &install)?;
    let installed = fs::read(file)?;
    case.house.run_remora("project", &install)?;
    case.check_equal("a second install", &fs::read(file)?, &installed);
    fs::remove_file(&mark)?;
    run_session(case, "toolu_during")?;
    case.check_that(mark.exists(), || {
        "the user's hook no longer runs".to_owned()
    });
    case.house.drain_spool()?;
    let items = case.house.find_matching_items("project", "plover")?;
    case.check_that(!items.is_empty(), || {
        "the session was not stored".to_owned()
    });
    let stored = case.house.read_logged()?.len();

    let uninstall = [["uninstall", "claude-code"].as_slice(), scope].concat();
    case.house.run_remora("project", &uninstall)?;
    let left = fs::read_to_string(file)?;
    case.check_equal("the settings after uninstalling", &left, &settings);
    fs::remove_file(&mark)?;
    let after = run_session(case, "toolu_after")?;
    case.check_that(mark.exists(), || "the user's hook is gone".to_owned());
    case.check_equal("texts of ours", &list_context(&after), &Vec::new());
    let texts = |talk: &TalkResult| talk.call_results().into_values().collect::<Vec<_>>();
    case.check_equal("the tools' results", &texts(&after), &texts(&before));
    case.house.drain_spool()?;
    case.check_equal("events", &case.house.read_logged()?.len(), &stored);

    // A file that was not there before is not there afterwards.
    fs::remove_file(file)?;
    case.house.run_remora("project", &install)?;
    case.house.run_remora("project", &uninstall)?;
    case.check_that(!file.exists(), || {
        format!("{} was made by us and stays", file.display())
    });
    Ok(())
}

fn run_session(case: &mut MemoryCase, id: &str) -> Result<TalkResult> {
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: "Look for the plover.",
        turns: &[
            json!({"tools": [{"id": id, "name": "Bash", "input": {"command": "echo plover $PLOVER"}}]}),
            json!({"text": "There it is."}),
        ],
        ..TalkRequest::default()
    })
}
