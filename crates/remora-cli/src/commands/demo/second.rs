//! The last part of the demo: another session in the same project, and what it
//! gets of the first one, trigger by trigger, through the same recall.

use std::path::Path;

use remora_client::{DataPaths, InjectionLog, locate_project};
use remora_core::ids::SessionId;
use remora_memory::recall::{self, RecallTrigger};
use remora_store::Access;

use crate::clock;
use crate::error::CliError;
use remora_app::recall_environment::{RecallEnvironment, RecallSettings, SessionHistory};

/// What the session does, and what is injected for it.
#[derive(Debug)]
pub(super) struct DemoStep {
    pub(super) what: &'static str,
    pub(super) trigger: &'static str,
    pub(super) injected: Option<String>,
}

const SESSION_ID: &str = "33333333-4444-4555-8666-777777777777";
/// The same test fails again, in another line and with other timings.
const ERROR_OUTPUT: &str = "Exit code 101\nrunning 3 tests\ntest retry::gives_up ... FAILED\n\nfailures:\n\n\
    ---- retry::gives_up stdout ----\n\nthread 'retry::gives_up' panicked at src/retry.rs:58:9:\n\
    assertion `left == right` failed\n  left: 5\n right: 4\n\n\nfailures:\n    retry::gives_up\n\n\
    test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.04s\n";

/// Plays the session; the data directory is the one that the first one filled.
pub(super) fn play_session(paths: &DataPaths, project: &Path) -> Result<Vec<DemoStep>, CliError> {
    let store = remora_server::open_database(&paths.database_file(), Access::Read)?;
    let environment = RecallEnvironment::new(
        locate_project(paths, project, None),
        None,
        RecallSettings::default().limits,
    );
    let session = SessionId::from(SESSION_ID);
    let mut before = SessionHistory(Some(InjectionLog::open(paths, &session, None)?));
    let triggers = [
        ("a new session begins", RecallTrigger::Start),
        (
            "the agent reads src/retry.rs",
            RecallTrigger::Read("src/retry.rs"),
        ),
        (
            "the same test fails, elsewhere in the file",
            RecallTrigger::Failure {
                command: "cargo test",
                error: ERROR_OUTPUT,
            },
        ),
        (
            "the user says: raise the retry limit to 5",
            RecallTrigger::Prompt("raise the retry limit to 5"),
        ),
        ("the user says: thanks", RecallTrigger::Prompt("thanks")),
    ];
    let mut steps = Vec::new();
    for (what, trigger) in triggers {
        let context = environment.recall_context(&session, &before, clock::now_ms());
        let found = recall::recall(&store, &context, &trigger)?;
        before.record_injections(&found, trigger.name(), clock::now_ms())?;
        steps.push(DemoStep {
            what,
            trigger: trigger.name(),
            injected: found.text,
        });
    }
    Ok(steps)
}
