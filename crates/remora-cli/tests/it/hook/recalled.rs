//! What comes back at each moment, through the program as an agent calls it.

use std::fs;
use std::path::{Path, PathBuf};

use remora_core::detail::DetailFlag;
use remora_core::record::LoggedEvent;
use serde_json::{Value, json};

use super::den::Den;

const FAILED: &str = "Exit code 101\nrunning 1 test\ntest retry::gives_up ... FAILED\n\nfailures:\n\n---- retry::gives_up stdout ----\n\nthread 'retry::gives_up' panicked at src/retry.rs:31:9:\nassertion `left == right` failed\n  left: 4\n right: 3\n\n\nfailures:\n    retry::gives_up\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n";
const PASSED: &str = "running 1 test\ntest retry::gives_up ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n";

/// A project in which a session has decided something and mended something.
pub(super) struct Worked {
    pub(super) den: Den,
    folder: PathBuf,
}

impl Worked {
    pub(super) fn new() -> Self {
        let den = Den::new();
        den.sandbox.write("app/.git/HEAD", "ref: refs/heads/main\n");
        den.sandbox
            .write("app/src/retry.rs", "while n < limit {}\n");
        let folder = den.sandbox.path("app");
        let worked = Self { den, folder };
        let edit = worked.folder.join("src/retry.rs");
        for (name, rest) in [
            (
                "UserPromptSubmit",
                json!({"prompt": "Mend the fetcher. Let's keep the retry limit at 3 because the server bans us after that."}),
            ),
            (
                "PostToolUseFailure",
                json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "error": FAILED}),
            ),
            (
                "PostToolUse",
                json!({"tool_name": "Edit", "tool_input": {"file_path": edit, "old_string": "n <= limit", "new_string": "n < limit"},
                    "tool_response": {"filePath": edit, "originalFile": "while n <= limit {}\n",
                        "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                            "lines": ["-while n <= limit {}", "+while n < limit {}"]}]}}),
            ),
            (
                "PostToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_response": {"stdout": PASSED, "stderr": ""}}),
            ),
            (
                "Stop",
                json!({"stop_hook_active": false, "last_assistant_message": "The loop ran once too often; it is mended.\n\nNext steps:\n- log every retry"}),
            ),
        ] {
            worked.tell("one", name, rest);
        }
        worked.den.drain();
        worked
    }

    pub(super) fn event(&self, session: &str, name: &str, rest: Value) -> Value {
        let mut event = json!({"session_id": session, "transcript_path": "/t", "cwd": self.folder,
            "hook_event_name": name, "prompt_id": format!("{session} {rest}"),
            "tool_use_id": format!("{session} {rest}")});
        let Value::Object(rest) = rest else { panic!() };
        event.as_object_mut().unwrap().extend(rest);
        event
    }

    fn tell(&self, session: &str, name: &str, rest: Value) -> Value {
        self.den.tell(&self.event(session, name, rest))
    }

    /// What the model is given for this event.
    fn given(&self, session: &str, name: &str, rest: Value) -> Option<String> {
        let answer = self.tell(session, name, rest);
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
        text.map(str::to_owned)
    }

    fn asked(&self, session: &str, prompt: &str) -> Option<String> {
        self.given(session, "UserPromptSubmit", json!({"prompt": prompt}))
    }

    fn read(&self, session: &str, file: &Path) -> Option<String> {
        let input = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
        self.given(session, "PreToolUse", input)
    }

    fn failed(&self, session: &str, error: &str) -> Option<String> {
        let input =
            json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "error": error});
        self.given(session, "PostToolUseFailure", input)
    }
}

/// A call of a shell that exited with 0.
fn piped(printed: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "cargo test 2>&1 | tail -20"},
        "tool_response": {"stdout": printed, "stderr": "", "interrupted": false}})
}

#[test]
fn a_failure_that_exits_with_0_brings_its_fix_once() {
    let worked = Worked::new();
    let failed = FAILED.strip_prefix("Exit code 101\n").unwrap();
    let told = worked.given("two", "PostToolUse", piped(failed)).unwrap();
    assert!(
        told.contains("met and fixed before") && told.contains("+while n < limit"),
        "{told}"
    );
    let mut again = piped(failed);
    again["tool_use_id"] = json!("another");
    let again = worked.given("two", "PostToolUse", again);
    assert!(again.is_none_or(|text| !text.contains("+while n < limit")));
    for silent in [PASSED, "", "test result: FAILED. 0 passed; 1 failed"] {
        assert_eq!(worked.given("three", "PostToolUse", piped(silent)), None);
    }
    // The session that mended it has the mend in mind.
    assert_eq!(worked.given("one", "PostToolUse", piped(failed)), None);
}

#[test]
fn a_call_without_a_failure_opens_nothing() {
    let worked = Worked::new();
    // Whoever opens it now has a fault to log.
    let database = worked.den.paths.database_file();
    fs::remove_file(&database).unwrap();
    fs::create_dir(&database).unwrap();
    let is_logged = || {
        fs::read_to_string(worked.den.paths.hook_log()).is_ok_and(|log| log.contains("no answer"))
    };
    for silent in [PASSED, "1 error was left out", "FAIL\tpkg [build failed]"] {
        assert_eq!(worked.given("two", "PostToolUse", piped(silent)), None);
    }
    assert!(!is_logged());
    let failed = FAILED.strip_prefix("Exit code 101\n").unwrap();
    assert_eq!(worked.given("two", "PostToolUse", piped(failed)), None);
    assert!(is_logged(), "a failure asks the database");
}

#[test]
fn each_moment_brings_what_belongs_to_it() {
    let worked = Worked::new();
    let start = worked.den.begin("two", &worked.folder).context.unwrap();
    for part in [
        "Let's keep the retry limit at 3 (the server bans us after that)",
        "asked: Mend the fetcher.\n  outcome: The loop ran once too often; it is mended.\n  left open: log every retry\n",
    ] {
        assert!(start.contains(part), "{part}: {start}");
    }
    let asked = worked
        .asked("three", "why is the retry limit 3? what was the reason?")
        .unwrap();
    assert!(asked.contains("the server bans us after that"), "{asked}");
    let read = worked
        .read("five", &worked.folder.join("src/retry.rs"))
        .unwrap();
    assert!(read.contains("src/retry.rs"), "{read}");
    let elsewhere = FAILED
        .replace("retry.rs:31:9", "retry.rs:77:1")
        .replace("0.02s", "4.10s");
    let mended = worked.failed("four", &elsewhere).unwrap();
    assert!(
        mended.contains("fixed once") && mended.contains("+while n < limit"),
        "{mended}"
    );
}

#[test]
fn a_file_that_a_command_shows_brings_its_memory_where_no_tool_reads_files() {
    let worked = Worked::new();
    let shown = |agent: &str, session: &str, cwd: &Path, command: &str| {
        let mut event = worked.event(
            session,
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_input": {"command": command},
                "tool_response": "while n < limit {}\n"}),
        );
        event["cwd"] = json!(cwd);
        event["turn_id"] = json!(format!("{session} {command}"));
        let call = worked.den.remora(&["hook", agent]);
        let done = call.stdin(event.to_string()).go();
        assert_eq!(done.code, Some(0), "{done}");
        let answer: Value = serde_json::from_str(&done.raw).unwrap_or_default();
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
        text.map(str::to_owned)
    };
    let (root, inner) = (&worked.folder, worked.folder.join("src"));
    for (session, cwd, command) in [
        ("two", root, "sed -n '1,40p' src/retry.rs"),
        ("three", &inner, "nl -ba retry.rs | head -20"),
    ] {
        let text = shown("codex", session, cwd, command).unwrap_or_default();
        assert!(text.contains("memory of src/retry.rs"), "{command}: {text}");
        assert!(text.contains("ran once too often"), "{command}: {text}");
    }
    for (agent, session, command) in [
        ("codex", "two", "cat src/retry.rs"),
        ("codex", "four", "cat src/retry.rs > copy.rs"),
        ("codex", "four", "cat src/retry.rs src/other.rs"),
        ("codex", "four", "cat src/other.rs"),
        // Its own tool for it is what brings memory.
        ("claude-code", "four", "cat src/retry.rs"),
    ] {
        assert_eq!(shown(agent, session, root, command), None, "{command}");
    }
}

#[test]
fn nothing_comes_twice_and_trifles_bring_nothing() {
    let worked = Worked::new();
    let file = worked.folder.join("src/retry.rs");
    assert!(worked.read("two", &file).is_some());
    let again =
        json!({"tool_name": "Read", "tool_input": {"file_path": file}, "tool_use_id": "another"});
    assert_eq!(worked.given("two", "PreToolUse", again), None);
    let prompt = "why is the retry limit 3?";
    assert!(worked.asked("two", prompt).is_some());
    let again = json!({"prompt": prompt, "prompt_id": "another"});
    assert_eq!(worked.given("two", "UserPromptSubmit", again), None);
    let tagged = format!("<ide_opened_file>a.py is open</ide_opened_file>\n{prompt}");
    assert!(worked.asked("three", &tagged).is_some());
    for prompt in [
        "yes",
        "thanks!",
        "<task-notification>why is the retry limit 3?",
    ] {
        assert_eq!(worked.asked("two", prompt), None, "{prompt}");
    }
    assert_eq!(
        worked.failed("two", "Exit code 1\nsomething quite different went wrong"),
        None
    );
    assert_eq!(worked.read("two", Path::new("/etc/hostname")), None);
}

#[test]
fn a_second_installation_is_not_answered() {
    let worked = Worked::new();
    let event = worked.event(
        "two",
        "UserPromptSubmit",
        json!({"prompt": "why is the retry limit 3?"}),
    );
    assert_ne!(worked.den.tell(&event), json!({}));
    assert_eq!(worked.den.tell(&event), json!({}));
}

#[test]
fn what_is_to_be_remembered_gets_a_receipt_and_one_row() {
    let worked = Worked::new();
    let said = "Remember: the staging database is wiped on Sundays";
    let receipt = worked.asked("two", said).unwrap();
    assert!(
        receipt.contains("as the user asked: \"The staging database is wiped on Sundays\""),
        "{receipt}"
    );
    worked.den.drain();
    let rows = worked.den.items();
    let kept = rows
        .iter()
        .filter(|item| item.detail_flag(DetailFlag::OnPurpose) == Some(true));
    let titles: Vec<&str> = kept.map(|item| item.title.as_str()).collect();
    assert_eq!(titles, ["The staging database is wiped on Sundays"]);
}

#[test]
fn a_person_is_greeted_and_can_do_without() {
    let worked = Worked::new();
    let begin = |session: &str| {
        let event = worked.event(session, "SessionStart", json!({"source": "startup"}));
        let call = worked.den.remora(&["hook", "claude-code"]);
        let done = call
            .environment("CLAUDE_CODE_SESSION_ATTENDED", "1")
            .stdin(event.to_string())
            .go();
        let answer: Value = serde_json::from_str(&done.raw).unwrap();
        answer["systemMessage"].as_str().map(str::to_owned)
    };
    let message = begin("two").unwrap();
    assert!(
        message.starts_with("Remora remembers: 1 summary, "),
        "{message}"
    );
    assert_eq!(
        worked.den.begin("three", &worked.folder).message,
        None,
        "nobody is there"
    );
    fs::write(worked.den.paths.config_file(), "[ui]\ngreet = false\n").unwrap();
    assert_eq!(begin("four"), None);
}

#[test]
fn the_first_session_is_told_once_that_remora_is_on() {
    let den = Den::new();
    let _deaf = den.deaf();
    let begin = |session: &str| {
        let event = json!({"session_id": session, "cwd": den.sandbox.path("project"),
            "hook_event_name": "SessionStart", "source": "startup"});
        let call = den.remora(&["hook", "claude-code"]);
        let done = call
            .environment("CLAUDE_CODE_SESSION_ATTENDED", "1")
            .stdin(event.to_string())
            .go();
        serde_json::from_str::<Value>(&done.raw).unwrap()["systemMessage"].clone()
    };
    assert!(begin("one").as_str().unwrap().starts_with("Remora is on"));
    assert_eq!(begin("two"), Value::Null);
}

#[test]
fn limits_and_pauses_are_kept() {
    let worked = Worked::new();
    let prompt = "why is the retry limit 3?";
    fs::write(
        worked.den.paths.config_file(),
        "[recall]\nprompt_tokens = 0\nstart_tokens = 0\n",
    )
    .unwrap();
    assert_eq!(worked.asked("two", prompt), None);
    assert_eq!(worked.den.begin("two", &worked.folder).context, None);
    // Settings that cannot be read are the defaults, and no harm.
    fs::write(worked.den.paths.config_file(), "[recall\n").unwrap();
    assert!(worked.asked("three", prompt).is_some());
    fs::remove_file(worked.den.paths.config_file()).unwrap();
    let waiting = worked.den.events().len() + worked.den.spooled().len();
    assert_eq!(worked.den.remora(&["pause"]).go().code, Some(0));
    // Where stdout is text, the model would read an empty object.
    for (name, rest) in [
        ("UserPromptSubmit", json!({"prompt": prompt})),
        ("PreCompact", json!({"trigger": "auto"})),
        ("PostCompact", json!({"trigger": "auto"})),
    ] {
        let event = worked.event("four", name, rest);
        assert_eq!(worked.den.hook(event.to_string()).raw, "", "{name}");
    }
    assert_eq!(worked.den.remora(&["pause", "--off"]).go().code, Some(0));
    worked.den.drain();
    assert_eq!(
        worked.den.events().len(),
        waiting,
        "what happens in a pause is not kept"
    );
    assert!(worked.asked("five", prompt).is_some());
}

#[test]
fn a_compaction_gets_back_what_its_summary_left_out() {
    let worked = Worked::new();
    let event = worked.event("one", "PreCompact", json!({"trigger": "manual"}));
    let done = worked
        .den
        .remora(&["hook", "claude-code"])
        .stdin(event.to_string())
        .go();
    assert!(
        done.raw.starts_with("Keep in the summary:")
            && done.raw.contains("keep the retry limit at 3"),
        "{done}"
    );
    let compacted = |summary: &str| {
        let last = json!({"agent_id": "a", "agent_type": "", "last_assistant_message": summary});
        worked.tell("one", "SubagentStop", last);
        worked.den.drain();
        let id = summary.len().to_string();
        worked.given(
            "one",
            "SessionStart",
            json!({"source": "compact", "tool_use_id": id}),
        )
    };
    let told = compacted("<summary>We worked on the fetcher.</summary>").unwrap();
    assert!(told.contains("keep the retry limit at 3"), "{told}");
    let said = "<summary>Mend the fetcher. Let's keep the retry limit at 3 because the server bans us after that. \
        cargo test: 1 of 1 tests failed (retry::gives_up) → Changed the condition in src/retry.rs: n <= limit -> n < limit</summary>";
    let told = compacted(said).unwrap_or_default();
    assert!(!told.contains("keep the retry limit at 3"), "{told}");
}

#[test]
fn the_guard_holds_a_stop_up_once_if_asked_to() {
    let worked = Worked::new();
    let stop = |active: bool, id: u8| {
        let rest = json!({"stop_hook_active": active, "last_assistant_message": "Done.", "tool_use_id": id.to_string()});
        worked.tell("one", "Stop", rest)
    };
    assert_eq!(stop(false, 1), json!({}));
    fs::write(
        worked.den.paths.config_file(),
        "[recall]\nguard_edits = 1\n",
    )
    .unwrap();
    assert_eq!(stop(true, 2), json!({}));
    assert_eq!(stop(false, 3)["decision"], "block");
    assert_eq!(stop(false, 4), json!({}));
}

#[test]
fn an_answer_that_comes_too_late_is_not_given_and_costs_nothing() {
    let worked = Worked::new();
    let prompt = "why is the retry limit 3?";
    let event = worked.event("two", "UserPromptSubmit", json!({"prompt": prompt}));
    let hook = worked.den.remora(&["hook", "claude-code"]);
    let late = hook
        .environment("REMORA_DEADLINE_MS", "0")
        .stdin(event.to_string())
        .go();
    assert_eq!((late.code, late.raw.as_str()), (Some(0), "{}\n"), "{late}");
    worked.den.drain();
    let kept = |row: &LoggedEvent| row.session == "two" && row.name == "UserPromptSubmit";
    assert!(worked.den.events().iter().any(kept));
    // What was not given may come later.
    let again = format!("{prompt} Please.");
    assert!(worked.asked("two", &again).is_some());
}

#[test]
fn a_damaged_database_means_silence() {
    let worked = Worked::new();
    worked.den.stop();
    let file = worked.den.paths.database_file();
    let mut bytes = fs::read(&file).unwrap();
    bytes.fill(0x55);
    fs::write(&file, bytes).unwrap();
    let _deaf = worked.den.deaf();
    assert_eq!(worked.asked("two", "why is the retry limit 3?"), None);
    assert_eq!(worked.den.begin("two", &worked.folder).context, None);
    assert!(!worked.den.spooled().is_empty());
}

#[test]
fn a_session_starts_clean_where_recall_is_paused_and_is_still_captured() {
    let worked = Worked::new();
    let den = &worked.den;
    let before = den.events().len();
    let pause = |line: &[&str]| {
        let args = [&["pause", "--recall"], line].concat();
        let done = den.remora(&args).go();
        assert_eq!(done.code, Some(0), "{done}");
    };
    let session = "00000000-0000-4000-8000-00000000abcd";
    let begun = |session: &str| den.begin(session, &worked.folder).context;
    pause(&["--session", session]);
    assert_eq!(begun(session), None);
    assert!(begun("another").is_some());
    pause(&["--off", "--session", session]);
    let folder = worked.folder.display().to_string();
    pause(&["--project", &folder]);
    let prompt = "why is the retry limit 3? what was the reason?";
    assert_eq!(begun("third"), None);
    assert_eq!(worked.asked("third", prompt), None);
    assert_eq!(worked.failed("third", FAILED), None);
    pause(&["--off", "--project", &folder]);
    assert!(worked.asked("fifth", prompt).is_some());
    let event = worked.event("fourth", "UserPromptSubmit", json!({"prompt": prompt}));
    let quiet = den
        .remora(&["hook", "claude-code"])
        .environment("REMORA_RECALL", "off")
        .stdin(event.to_string())
        .go();
    assert!(!quiet.raw.contains("retry"), "{quiet}");
    den.drain();
    assert_eq!(den.events().len(), before + 7);
}

#[test]
fn a_fix_that_is_wrong_is_not_suggested_again() {
    let worked = Worked::new();
    let fix = worked.den.items().into_iter();
    let mut fix = fix.filter(|item| item.kind == remora_core::record::Kind::Fix);
    let id = fix.next_back().unwrap().id.to_string();
    assert!(worked.failed("two", FAILED).is_some());
    let done = worked.den.remora(&["wrong", &id]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert_eq!(worked.failed("three", FAILED), None);
    let done = worked.den.remora(&["wrong", &id, "--undo"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    assert!(worked.failed("four", FAILED).is_some());
}

#[test]
fn subagents_are_briefed_for_the_task_they_were_given() {
    let worked = Worked::new();
    let call = |session: &str, kind: Value, prompt: &str| {
        let input = json!({"description": "Look into it", "prompt": prompt, "subagent_type": kind});
        let call = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": prompt});
        assert_eq!(worked.given(session, "PreToolUse", call), None);
    };
    let begin = |session: &str, id: &str, kind: &str| {
        let begun = json!({"agent_id": id, "agent_type": kind, "tool_use_id": ""});
        worked.given(session, "SubagentStart", begun)
    };
    let limit = "Find every place where the retry limit of the fetcher is set";
    call("two", Value::Null, limit);
    call("two", json!("Explore"), "Draw a picture of a tortoise");
    // They begin in any order; each has the task of its kind.
    assert_eq!(begin("two", "a", "Explore"), None);
    let brief = begin("two", "b", "general-purpose").unwrap();
    assert!(brief.contains("the server bans us after that"), "{brief}");
    // No task is left, and nothing was asked in this session.
    assert_eq!(begin("two", "c", "general-purpose"), None);
    let waiting = || {
        let files = fs::read_dir(worked.den.paths.injection_log_dir()).unwrap();
        let names = files.map(|file| file.unwrap().path());
        names
            .filter(|path| path.extension().is_some_and(|end| end == "tasks"))
            .collect::<Vec<_>>()
    };
    assert_eq!(waiting(), Vec::<PathBuf>::new());
    // What is private does not even wait in the file.
    call(
        "three",
        json!("Plan"),
        "Plan it <private>with the otter</private> soon",
    );
    let kept = fs::read_to_string(waiting().pop().unwrap()).unwrap();
    assert!(
        kept.contains("Plan it") && !kept.contains("otter"),
        "{kept}"
    );
}

#[test]
fn a_read_of_a_file_that_was_moved_is_told_where_it_is() {
    let world = crate::acceptance::World::new();
    let alpha = world.project("alpha");
    fs::create_dir_all(alpha.join("lib")).unwrap();
    fs::write(alpha.join("lib/cart.rs"), "pub fn total() {}\n").unwrap();
    let moved = json!({
        "tool_name": "Bash", "tool_input": { "command": "git mv src/cart.rs lib/cart.rs" },
        "tool_response": { "stdout": "", "stderr": "" },
    });
    world.tell("one", &alpha, "PostToolUse", moved);
    world.den.drain();
    let failed = |error: &str| {
        json!({
            "tool_name": "Read", "tool_input": { "file_path": alpha.join("src/cart.rs") },
            "error": error,
        })
    };
    let other = failed("File content exceeds maximum allowed tokens");
    let text = world.injected("two", &alpha, "PostToolUseFailure", other);
    assert_eq!(text, "");
    let text = world.injected(
        "two",
        &alpha,
        "PostToolUseFailure",
        failed("File does not exist."),
    );
    assert!(text.contains("it was moved to lib/cart.rs on "), "{text}");
}
