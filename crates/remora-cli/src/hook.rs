//! `remora hook AGENT`: what the agent calls at every event.
//!
//! Whatever happens, it answers with something valid, writes nothing else, and
//! exits 0. No argument parser, settings stack, thread, regex or database write
//! is on this path; the database is read only where the event has an answer.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use remora_agents::{AgentSpec, Answer};
use remora_client::{Failure, Input, Paths, append_line, glance, place, read_input, spool, wake};
use remora_memory::context;
use remora_protocol::EventName;
use remora_store::Access;

use crate::clock;
use crate::environment::Environment;

/// More of an event is not read.
const LIMIT: usize = 16 * 1024 * 1024;
/// Nor waited for longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// The answer to a session's start is given up after this.
const DEADLINE: Duration = Duration::from_millis(150);

/// Runs the hook.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // A panic would end in a signal, which the agent would show as a failure.
    std::panic::set_hook(Box::new(|_| leave("{}")));
    let environment = Environment::read();
    let name = arguments.next().unwrap_or_default();
    let spec = remora_agents::find(&name.to_string_lossy());
    if environment.switch("REMORA_OFF") {
        return answer("{}");
    }
    let input = read_input(io::stdin().lock(), LIMIT, PATIENCE);
    let Some(paths) = data_directory(&environment) else {
        return answer("{}");
    };
    let hook = Hook {
        paths,
        environment,
        spec,
        agent: name.to_string_lossy().into_owned(),
    };
    hook.run(&input)
}

/// `REMORA_HOME`, else `.remora` in the home directory.
pub(crate) fn data_directory(environment: &Environment) -> Option<Paths> {
    let home = match environment.get("REMORA_HOME") {
        Some(home) => PathBuf::from(home),
        None => environment.home()?.join(".remora"),
    };
    home.is_absolute().then(|| Paths::new(home))
}

struct Hook {
    paths: Paths,
    environment: Environment,
    spec: Option<&'static AgentSpec>,
    agent: String,
}

impl Hook {
    fn run(&self, input: &Input) -> ExitCode {
        let Some(spec) = self.spec else {
            let known = remora_agents::known_names().join(", ");
            self.log(&format!("`{}` is not an agent; known: {known}", self.agent));
            return answer("{}");
        };
        let seen = glance(&input.bytes).unwrap_or_default();
        let event = seen.event.as_deref().and_then(EventName::parse);
        let Some(event) = event else {
            // The worker will say what is wrong with it, where it can be read.
            self.log("the input is not an event of this agent");
            if !input.bytes.is_empty() {
                self.keep_or_note(spec, input, None);
            }
            return answer("{}");
        };
        let cwd = seen.cwd.map(PathBuf::from);
        let root = self.environment.get("CLAUDE_PROJECT_DIR").map(Path::new);
        let place = cwd.as_deref().map(|cwd| place(cwd, root));
        if event != EventName::SessionStart {
            self.keep_or_note(spec, input, place);
            return answer(&(spec.encode)(event, &Answer::default()));
        }
        // Someone waits for this one: the answer first, the rest after it.
        let session = seen.session.unwrap_or_default();
        let project = place.as_ref().map(|p| p.project.key.clone());
        let context = project.and_then(|project| self.context(&project, &session));
        let failed = Failure::of(&self.paths).take();
        let failed = self.keep(spec, input, place).or(failed);
        let message = failed.map(|reason| {
            format!("Remora could not record everything ({reason}). `remora doctor` says how to mend it.")
        });
        answer(&(spec.encode)(event, &Answer { context, message }))
    }

    /// What the new session should know, from the database alone.
    fn context(&self, project: &str, session: &str) -> Option<String> {
        let database = self.paths.database();
        if !database.exists() {
            return None;
        }
        let found = remora_store::open(&database, Access::ReadUntil(Instant::now() + DEADLINE))
            .and_then(|store| context::session_start(&store, project, session));
        match found {
            Ok(context) => context,
            Err(e) => {
                self.log(&format!("no context: {e}"));
                None
            }
        }
    }

    /// Nobody is told now; the next session will be.
    fn keep_or_note(&self, spec: &AgentSpec, input: &Input, place: Option<remora_client::Place>) {
        if let Some(reason) = self.keep(spec, input, place) {
            // Best effort: there may be no place left for a mark either.
            let _ = Failure::of(&self.paths).note(&reason);
        }
    }

    /// Puts the event into the spool and wakes the worker; says what went
    /// wrong if the event could not be kept.
    fn keep(
        &self,
        spec: &AgentSpec,
        input: &Input,
        place: Option<remora_client::Place>,
    ) -> Option<String> {
        let now = clock::millis();
        let sync = self.paths.sync_mark().exists();
        if let Err(e) = spool(&self.paths, spec.name, now, place, input, sync) {
            let reason = format!("{}: {e}", self.paths.spool().display());
            self.log(&format!("not captured: {reason}"));
            return Some(reason);
        }
        let program = std::env::current_exe();
        let version = env!("CARGO_PKG_VERSION");
        let woken = program.and_then(|program| wake(&self.paths, &program, version, clock::now()));
        if let Err(e) = woken {
            // The event is safe; the next hook tries again.
            self.log(&format!("the worker could not be woken: {e}"));
        }
        None
    }

    fn log(&self, text: &str) {
        let file = self.paths.hook_log();
        let now = clock::millis();
        if let Err(e) = append_line(&file, now, text)
            && e.kind() == io::ErrorKind::NotFound
            && self.paths.prepare().is_ok()
        {
            // With nowhere to write there is nobody to tell.
            let _ = append_line(&file, now, text);
        }
    }
}

fn answer(text: &str) -> ExitCode {
    say(text);
    ExitCode::SUCCESS
}

/// A reader who has left early is no fault of ours.
fn say(text: &str) {
    let mut line = text.to_owned();
    if !line.is_empty() {
        line.push('\n');
    }
    let _ = io::stdout().write_all(line.as_bytes());
    let _ = io::stdout().flush();
}

#[expect(
    clippy::exit,
    reason = "called from a panic: unwinding or aborting would show"
)]
fn leave(text: &str) {
    say(text);
    std::process::exit(0);
}
