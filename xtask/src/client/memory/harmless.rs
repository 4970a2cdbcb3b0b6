//! A hook of ours that is missing, slow or failing does not disturb the client.
//!
//! The same short session is played without us and with us broken: the client's exit code, the
//! tools' results and the text of every request must be the same.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::MemoryCase;
use super::house::format_output;
use super::talk::{TalkRequest, TalkResult};

/// Longer than the timeout, shorter than anybody's patience.
const SLOW_SCRIPT: &str = "#!/bin/sh\nexec sleep 15\n";

/// The short session, in a project that is new each time.
fn run_short_session(case: &mut MemoryCase, env: &[(&str, OsString)]) -> Result<TalkResult> {
    case.house.fresh_project("project")?;
    let file = case.house.path("project/tern.txt");
    case.run_talk(&TalkRequest {
        project: "project",
        prompt: "Write down the tern.",
        turns: &[
            json!({"tools": [
                {"id": "toolu_echo", "name": "Bash", "input": {"command": "echo tern"}},
            ]}),
            json!({"tools": [
                {"id": "toolu_fail", "name": "Bash", "input": {"command": "cat no-tern"}},
            ]}),
            json!({"tools": [
                {"id": "toolu_write", "name": "Write", "input": {"file_path": file, "content": "tern\n"}},
            ]}),
            json!({"tools": [{"id": "toolu_read", "name": "Read", "input": {"file_path": file}}]}),
            json!({"text": "It is written down."}),
        ],
        args: &["--session-id", SESSION_ID],
        env,
        ..TalkRequest::default()
    })
}

/// The same each time, so that requests can be compared.
const SESSION_ID: &str = "11111111-2222-4333-8444-555555555555";

/// What the client makes of the session when we are not there.
fn without_us(case: &mut MemoryCase) -> Result<TalkResult> {
    ensure!(
        !case.house.user_settings().exists(),
        "the case has settings before it began"
    );
    let talk = run_short_session(case, &[])?;
    case.check_equal("calls of the session", &talk.call_results().len(), &4);
    Ok(talk)
}

/// Plays the session again and compares.
fn check_undisturbed(
    case: &mut MemoryCase,
    what: &str,
    alone: &TalkResult,
    env: &[(&str, OsString)],
) -> Result<TalkResult> {
    // The client keeps a session by its id; it must be as unknown as the first time.
    let kept = case.house.path("home/.claude/projects");
    if kept.exists() {
        fs::remove_dir_all(&kept)?;
    }
    let before = case.problems.len();
    let talk = run_short_session(case, env).with_context(|| what.to_owned())?;
    case.check_equal(
        "the tools' results",
        &talk.call_results(),
        &alone.call_results(),
    );
    let (got, wanted) = (
        &talk.find_result()?["result"],
        &alone.find_result()?["result"],
    );
    case.check_equal("the last text", got, wanted);
    let (now, then) = (list_messages(&talk), list_messages(alone));
    case.check_equal("requests", &now.len(), &then.len());
    for (index, (now, then)) in now.iter().zip(&then).enumerate() {
        case.check_that(now == then, || {
            format!("request {index} differs: {}", find_difference(now, then))
        });
    }
    for problem in &mut case.problems[before..] {
        *problem = format!("{what}: {problem}");
    }
    Ok(talk)
}

/// The messages of each request, as text.
fn list_messages(talk: &TalkResult) -> Vec<String> {
    let bodies = talk.requests.iter();
    bodies.map(|body| body["messages"].to_string()).collect()
}

/// The place where two texts part.
fn find_difference(now: &str, then: &str) -> String {
    let same = now.chars().zip(then.chars()).take_while(|(a, b)| a == b);
    let from = same.count().saturating_sub(40);
    let part = |text: &str| text.chars().skip(from).take(200).collect::<String>();
    format!("`{}`, alone `{}`", part(now), part(then))
}

/// Installs the hooks alone: the client lists a skill and a command in every request, whether or
/// not the hooks work, so they would hide what the hooks do.
fn install_hooks(case: &MemoryCase) -> Result<()> {
    case.house
        .run_remora("project", &["install", "claude-code"])?;
    for extra in ["commands", "skills"] {
        fs::remove_dir_all(case.house.path("home/.claude").join(extra))?;
    }
    Ok(())
}

pub(super) fn play_missing(case: &mut MemoryCase) -> Result<()> {
    let alone = without_us(case)?;
    install_hooks(case)?;
    fs::rename(case.house.remora_path(), case.house.path("bin/moved"))?;
    check_undisturbed(case, "the program is gone", &alone, &[])?;
    case.house.write_file("bin/remora", "not a program\n")?;
    check_undisturbed(case, "the program cannot be started", &alone, &[])?;
    fs::remove_file(case.house.remora_path())?;
    fs::create_dir(case.house.remora_path())?;
    check_undisturbed(case, "the program is a folder", &alone, &[])?;
    Ok(())
}

pub(super) fn play_slow(case: &mut MemoryCase) -> Result<()> {
    let alone = without_us(case)?;
    install_hooks(case)?;
    let file = case.house.user_settings();
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let groups = settings["hooks"].as_object_mut().context("no hooks")?;
    for group in groups
        .values_mut()
        .filter_map(Value::as_array_mut)
        .flatten()
    {
        group["hooks"][0]["timeout"] = json!(1);
    }
    fs::write(&file, settings.to_string())?;
    case.house.write_script("bin/remora", SLOW_SCRIPT)?;
    let talk = check_undisturbed(case, "a slow hook", &alone, &[])?;
    // Start, prompt, four calls, one of them announced before, stop and end: a second each.
    case.check_that(talk.took.as_secs() < 30, || {
        format!("the session took {:?}", talk.took)
    });
    Ok(())
}

pub(super) fn play_failing(case: &mut MemoryCase) -> Result<()> {
    let alone = without_us(case)?;
    install_hooks(case)?;
    for (what, script) in [
        (
            "exit 1 with garbage",
            "echo '}{ garbage'; echo noise >&2; exit 1",
        ),
        ("exit 3 with nothing", "exit 3"),
        ("killed", "kill -KILL $$"),
        ("a crash", "kill -SEGV $$"),
        (
            "stdin is not read, half an answer",
            "exec <&-; printf '{\"hookSpecific'; exit 1",
        ),
    ] {
        let script = format!("#!/bin/sh\n{script}\n");
        case.house.write_script("bin/remora", &script)?;
        check_undisturbed(case, what, &alone, &[])?;
    }
    Ok(())
}

/// Runs with a data directory that cannot be written.
pub(super) fn no_place(case: &mut MemoryCase) -> Result<()> {
    let alone = without_us(case)?;
    install_hooks(case)?;
    case.house.write_file("plain", "a file\n")?;
    case.house
        .write_file("blocked/spool", "a file where the spool should be\n")?;
    let places: [(&str, PathBuf); 5] = [
        ("the data directory is a file", case.house.path("plain")),
        ("it lies below a file", case.house.path("plain/below")),
        ("the spool is a file", case.house.path("blocked")),
        ("nobody may write there", PathBuf::from("/proc/remora")),
        ("it is not absolute", PathBuf::from("relative/data")),
    ];
    for (what, place) in places {
        let env = [("REMORA_HOME", place.into_os_string())];
        check_undisturbed(case, what, &alone, &env)?;
    }
    let left = fs::read_to_string(case.house.path("plain"))?;
    case.check_equal("the file in the way", &left.as_str(), &"a file\n");
    Ok(())
}

/// A small file system; unmounted when dropped.
struct SmallMount<'a>(&'a Path);

impl Drop for SmallMount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

pub(super) fn full_disk(case: &mut MemoryCase) -> Result<()> {
    let small = case.house.path("small");
    fs::create_dir(&small)?;
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs"])
        .arg(&small)
        .output();
    let why = match &mounted {
        Ok(done) if done.status.success() => None,
        Ok(done) => Some(format_output(done)),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = why {
        case.skipped
            .push(format!("no small file system can be mounted here: {why}"));
        return Ok(());
    }
    let _mount = SmallMount(&small);
    let alone = without_us(case)?;
    install_hooks(case)?;
    let data = small.join("data");
    let run = |case: &MemoryCase, args: &[&str]| case.house.remora_at(&data, "project", args);
    run(case, &["worker", "start"])?;
    run(case, &["worker", "stop"])?;
    let filling = small.join("filling");
    // Writes until nothing more fits.
    let full = fs::write(&filling, vec![b'x'; 32 << 20]).is_err();
    ensure!(full, "{} does not get full", small.display());
    let env = [("REMORA_HOME", data.clone().into_os_string())];
    check_undisturbed(case, "a full disk", &alone, &env)?;
    fs::remove_file(&filling)?;
    let again = check_undisturbed(case, "a disk with room again", &alone, &env)?;
    run(case, &["worker", "drain"])?;
    let found = run(case, &["search", "--json", "tern"])?;
    case.check_that(found.contains("tern.txt"), || {
        format!("with room again the session is not kept: {found}")
    });
    case.check_equal("warnings after the gap", &count_warnings(&again), &1);
    let later = check_undisturbed(case, "a session after that", &alone, &env)?;
    case.check_equal("warnings later on", &count_warnings(&later), &0);
    run(case, &["worker", "stop"])?;
    Ok(())
}

/// How many messages told the user that something was not recorded.
fn count_warnings(talk: &TalkResult) -> usize {
    let answers = talk.stream.iter().filter(|line| {
        let output = line["output"].as_str().unwrap_or_default();
        line["subtype"] == "hook_response" && output.contains("systemMessage")
    });
    answers.count()
}
