//! The last part of the demo: another session in the same project, and what it
//! is given of the first one, moment by moment, through the same recall.

use std::path::Path;

use remora_client::{GivenFile, Paths, locate_project};
use remora_memory::recall::{self, Moment};
use remora_store::Access;

use crate::clock;
use crate::error::CliError;
use crate::recall::{Before, Ground, Settings};

/// What the session does, and what it is given for it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) what: &'static str,
    pub(super) moment: &'static str,
    pub(super) given: Option<String>,
}

const SESSION: &str = "33333333-4444-4555-8666-777777777777";
/// The same test fails again, in another line and with other timings.
const ERROR: &str = "Exit code 101\nrunning 3 tests\ntest retry::gives_up ... FAILED\n\nfailures:\n\n\
    ---- retry::gives_up stdout ----\n\nthread 'retry::gives_up' panicked at src/retry.rs:58:9:\n\
    assertion `left == right` failed\n  left: 5\n right: 4\n\n\nfailures:\n    retry::gives_up\n\n\
    test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.04s\n";

/// Plays the session; the data directory is the one that the first one filled.
pub(super) fn play(paths: &Paths, project: &Path) -> Result<Vec<Step>, CliError> {
    let store = remora_store::open(&paths.database(), Access::Read)?;
    let ground = Ground::new(
        locate_project(paths, project, None),
        None,
        Settings::default().limits,
    );
    let mut before = Before(Some(GivenFile::open(paths, SESSION, None)?));
    let moments = [
        ("a new session begins", Moment::Start),
        ("the agent reads src/retry.rs", Moment::Read("src/retry.rs")),
        (
            "the same test fails, elsewhere in the file",
            Moment::Failure {
                command: "cargo test",
                error: ERROR,
            },
        ),
        (
            "the person asks: why is the retry limit 3?",
            Moment::Prompt("why is the retry limit 3?"),
        ),
        ("the person says: thanks", Moment::Prompt("thanks")),
    ];
    let mut steps = Vec::new();
    for (what, moment) in moments {
        let scene = ground.scene(SESSION, &before);
        let found = recall::recall(&store, &scene, &moment)?;
        before.note(&found, moment.name(), clock::millis())?;
        steps.push(Step {
            what,
            moment: moment.name(),
            given: found.text,
        });
    }
    Ok(steps)
}
