//! Installing and taking out again: the settings are what they were, to the byte.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::Case;
use super::remembered::context;
use super::talk::{Ask, Talk};

/// As a person writes it: odd spacing, hooks of their own, no newline at the end.
const PERSON: &str = "{\n\t\"env\": {\"PLOVER\": \"1\"},\n   \"hooks\": {\"PostToolUse\": [\n    \
                      {\"matcher\":\"Bash\", \"hooks\": [{\"type\":\"command\",\"command\":\"touch \
                      @MARK@\"}]}\n  ], \"Stop\": []},\n\t\"permissions\": {\"deny\": \
                      [\"WebFetch\"]}}";

pub(super) fn uninstall(case: &mut Case) -> Result<()> {
    let file = case.house.user_settings();
    there_and_back(case, &file, &[])
}

pub(super) fn uninstall_project(case: &mut Case) -> Result<()> {
    let file = case.house.path("project/.claude/settings.json");
    there_and_back(case, &file, &["--project"])
}

fn there_and_back(case: &mut Case, file: &Path, scope: &[&str]) -> Result<()> {
    let mark = case.house.path("mark");
    let person = PERSON.replace("@MARK@", &mark.display().to_string());
    fs::create_dir_all(file.parent().context("no folder")?)?;
    fs::write(file, &person)?;
    let before = session(case, "toolu_before")?;
    case.check(mark.exists(), || {
        "the person's own hook did not run".to_owned()
    });

    let install = [["install", "claude-code"].as_slice(), scope].concat();
    case.house.remora("project", &install)?;
    let installed = fs::read(file)?;
    case.house.remora("project", &install)?;
    case.equal("a second install", &fs::read(file)?, &installed);
    fs::remove_file(&mark)?;
    session(case, "toolu_during")?;
    case.check(mark.exists(), || {
        "the person's hook no longer runs".to_owned()
    });
    case.house.drain()?;
    let rows = case.house.rows_of("project", "plover")?;
    case.check(!rows.is_empty(), || "the session was not stored".to_owned());
    let stored = case.house.logged()?.len();

    let uninstall = [["uninstall", "claude-code"].as_slice(), scope].concat();
    case.house.remora("project", &uninstall)?;
    let left = fs::read_to_string(file)?;
    case.equal("the settings after uninstalling", &left, &person);
    fs::remove_file(&mark)?;
    let after = session(case, "toolu_after")?;
    case.check(mark.exists(), || "the person's hook is gone".to_owned());
    case.equal("texts of ours", &context(&after), &Vec::new());
    let texts = |talk: &Talk| talk.calls().into_values().collect::<Vec<_>>();
    case.equal("the tools' results", &texts(&after), &texts(&before));
    case.house.drain()?;
    case.equal("events", &case.house.logged()?.len(), &stored);

    // A file that was not there before is not there afterwards.
    fs::remove_file(file)?;
    case.house.remora("project", &install)?;
    case.house.remora("project", &uninstall)?;
    case.check(!file.exists(), || {
        format!("{} was made by us and stays", file.display())
    });
    Ok(())
}

fn session(case: &mut Case, id: &str) -> Result<Talk> {
    case.talk(&Ask {
        project: "project",
        prompt: "Look for the plover.",
        turns: &[
            json!({"tools": [{"id": id, "name": "Bash", "input": {"command": "echo plover $PLOVER"}}]}),
            json!({"text": "There it is."}),
        ],
        ..Ask::default()
    })
}
