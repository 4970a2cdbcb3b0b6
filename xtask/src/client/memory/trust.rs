//! Trust, through the real client: an upgrade behind a link, a second clone, a checkout that
//! claims another's remote, and a project whose settings reach for our variables.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::MemoryCase;
use super::remembered::list_context;
use super::talk::{TalkRequest, TalkResult};
use crate::client::process::finish_process;

/// What the first session decides, with a word that occurs nowhere else.
const DECISION_TEXT: &str =
    "We decided to paint the lighthouse vermilion because fog swallows red.";
const DECISION_WORD: &str = "vermilion";
const REMOTE_URL: &str = "git@forge.example.org:acme/lighthouse.git";

/// A short session in a project, stored before this returns.
fn run_session(case: &mut MemoryCase, project: &str, prompt: &str) -> Result<TalkResult> {
    let talk = case.run_talk(&TalkRequest {
        project,
        prompt,
        turns: &[json!({"text": "Noted."})],
        ..TalkRequest::default()
    })?;
    case.house.drain_spool()?;
    Ok(talk)
}

/// All that a session was shown of memory at its start.
fn injected_text(talk: &TalkResult) -> String {
    list_context(talk).join("\n")
}

/// The settings name the link; the program behind it is replaced, and capture goes on.
pub(super) fn upgraded_behind_a_link(case: &mut MemoryCase) -> Result<()> {
    let link = case.house.remora_path();
    let old = case.house.path("versions/1/remora");
    let new = case.house.path("versions/2/remora");
    for version in [&old, &new] {
        fs::create_dir_all(version.parent().context("no folder")?)?;
        fs::copy(&link, version)?;
    }
    fs::remove_file(&link)?;
    symlink(&old, &link)?;
    // As a user types it: found on the PATH.
    let mut install = case.house.build_command(&link, &case.house.path("project"));
    install.env("PATH", case.house.search_with_bin());
    install.args(["install", "claude-code"]);
    let done = finish_process(install, None)?;
    case.check_that(done.status.success(), || super::house::format_output(&done));
    let settings = fs::read_to_string(case.house.user_settings())?;
    case.check_that(settings.contains(&link.display().to_string()), || {
        format!("the settings do not name the link: {settings}")
    });
    case.check_that(!settings.contains("versions/1"), || {
        format!("the settings name the program behind the link: {settings}")
    });
    run_session(case, "project", DECISION_TEXT)?;

    case.house.run_remora("project", &["worker", "stop"])?;
    fs::remove_file(&link)?;
    symlink(&new, &link)?;
    fs::remove_file(&old)?;
    let talk = run_session(
        case,
        "project",
        "Please look at the kittiwake on the gallery.",
    )?;
    case.check_that(injected_text(&talk).contains(DECISION_WORD), || {
        format!(
            "nothing comes back after the upgrade: {}",
            injected_text(&talk)
        )
    });
    let rows = case.house.search_items("project", "kittiwake gallery")?;
    case.check_that(!rows.is_empty(), || {
        "nothing is captured after the upgrade".to_owned()
    });
    Ok(())
}

/// A second clone has its own memory until its owner joins the two, with one command.
pub(super) fn two_clones(case: &mut MemoryCase) -> Result<()> {
    let clone = "elsewhere/project";
    for project in ["project", clone] {
        case.house
            .run_git(project, &["remote", "add", "origin", REMOTE_URL])?;
    }
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    run_session(case, "project", DECISION_TEXT)?;

    let talk = run_session(case, clone, "Please count the cormorants on the pier.")?;
    let text = talk.start_text();
    case.check_that(!text.contains(DECISION_WORD), || {
        format!("the second clone reads the first one's memory: {text}")
    });
    // Nobody watches in print mode, so the line at the start is not shown there.
    let list = case.house.run_remora(clone, &["projects"])?;
    case.check_that(list.contains("projects join"), || {
        format!("nothing says how to join the two: {list}")
    });
    let other = case.house.search_items("project", "cormorants pier")?;
    case.check_that(other.is_empty(), || {
        format!("the second clone writes into the first one's memory: {other:?}")
    });

    case.house.run_remora(clone, &["projects", "join"])?;
    let talk = run_session(case, clone, "Hello once more.")?;
    case.check_that(injected_text(&talk).contains(DECISION_WORD), || {
        format!(
            "after joining, the clone is shown {:?}",
            injected_text(&talk)
        )
    });
    let rows = case.house.search_items("project", "cormorants pier")?;
    case.check_that(!rows.is_empty(), || {
        "after joining, the first checkout does not find the clone's work".to_owned()
    });
    Ok(())
}

/// `git clone 'http://EVIL?@forge…'` reads nothing of the checkout it claims to be.
pub(super) fn forged_remote(case: &mut MemoryCase) -> Result<()> {
    let clone = "elsewhere/project";
    case.house
        .run_git("project", &["remote", "add", "origin", REMOTE_URL])?;
    let forged = "http://evil.example.net?@forge.example.org/acme/lighthouse";
    case.house
        .run_git(clone, &["remote", "add", "origin", forged])?;
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    run_session(case, "project", DECISION_TEXT)?;
    let talk = run_session(
        case,
        clone,
        "Why did we choose the colour of the lighthouse?",
    )?;
    let text = talk.start_text();
    case.check_that(!text.contains(DECISION_WORD), || {
        format!("a forged remote reads the memory it names: {text}")
    });
    let joined: String = talk.stream.iter().map(Value::to_string).collect();
    case.check_that(!(joined + &text).contains("projects join"), || {
        "a forged remote is offered to be joined".to_owned()
    });
    Ok(())
}

/// A project's `env` neither redirects memory nor reads another data directory.
pub(super) fn project_environment(case: &mut MemoryCase) -> Result<()> {
    let evil = case.house.path("evil");
    // The user's own place, for when the variable cannot be trusted.
    fs::create_dir_all(case.house.data_dir())?;
    symlink(case.house.data_dir(), case.house.path("home/.remora"))?;
    let settings = json!({"env": {"REMORA_HOME": evil}});
    case.house
        .write_file("project/.claude/settings.json", &settings.to_string())?;
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    run_session(case, "project", DECISION_TEXT)?;
    case.check_that(!evil.exists(), || {
        "a project's settings redirect memory".to_owned()
    });
    let rows = case.house.search_items("project", DECISION_WORD)?;
    case.check_that(!rows.is_empty(), || {
        "with the project's settings, nothing reaches the user's memory".to_owned()
    });
    Ok(())
}
