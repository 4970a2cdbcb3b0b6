//! `remora hook AGENT`: what the agent calls at every event.
//!
//! Whatever happens, it answers with something valid, writes nothing else, and
//! exits 0. No argument parser, settings stack, thread, regex or database write
//! is on this path; the database is read only where the event has an answer.

mod answer;
mod asked_event;
mod compaction;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use remora_agents::{AgentSpec, HookResponse, find_sender};
use remora_client::{
    CaptureFailureMark, DataPaths, HookInput, Pause, PauseState, ProjectLocation, RootClaim,
    append_line, locate_project, notify_worker, read_input, spool_event,
};
use remora_core::EventName;
use remora_server::identity::claim_project;

use crate::clock;
use crate::environment::Environment;
use crate::project_env::{find_agent_setter, find_setter};
use remora_app::recall_environment::RecallSettings;

/// If set, hooks do nothing at all.
pub(crate) const OFF_VARIABLE: &str = "REMORA_OFF";
/// If off, hooks still capture but inject nothing. A project may set it as
/// well: it can only take away.
pub(crate) const RECALL_VARIABLE: &str = "REMORA_RECALL";
/// Where the data directory is.
pub(crate) const HOME_VARIABLE: &str = "REMORA_HOME";
/// The most that a hook reads of an event; a longer one is spooled cut.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;
/// The longest that a hook waits for the end of its input.
const STDIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs the hook.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // A panic would end in a signal, which the agent would show as a failure.
    std::panic::set_hook(Box::new(|_| exit_silently()));
    let environment = Environment::from_process();
    let name = arguments.next().unwrap_or_default();
    let spec = remora_agents::find_agent(&name.to_string_lossy());
    // Before stdin is read: switched off, a hook costs no more than its
    // process.
    if environment.is_on(OFF_VARIABLE) {
        return print_response("");
    }
    let input = read_input(io::stdin().lock(), MAX_EVENT_BYTES, STDIN_TIMEOUT);
    let is_set_by_project = |home: &OsStr| match spec {
        Some(spec) => find_agent_setter(spec, &environment, HOME_VARIABLE, Some(home)),
        None => find_setter(&environment, HOME_VARIABLE, Some(home)),
    };
    let Some(paths) = choose_data_directory(&environment, |home| is_set_by_project(home).is_some())
    else {
        return print_response("");
    };
    // Not even a log may be written into a folder of someone else; `doctor` and
    // every other command say why nothing is captured.
    if paths.refuses_hooks() {
        return print_response("");
    }
    // Never dropped: the process ends here, and giving memory back piece by piece
    // would only make the agent wait.
    let input = ManuallyDrop::new(input);
    let mut hook = ManuallyDrop::new(Hook {
        paths,
        environment,
        spec,
        agent: name.to_string_lossy().into_owned(),
    });
    hook.run(&input)
}

/// `REMORA_HOME`, else `.remora` in the home directory. A project cannot choose:
/// where its settings set the variable, the usual place counts, if it is there.
pub(crate) fn data_directory(environment: &Environment) -> Option<DataPaths> {
    choose_data_directory(environment, |home| {
        find_setter(environment, HOME_VARIABLE, Some(home)).is_some()
    })
}

fn choose_data_directory(
    environment: &Environment,
    is_set_by_project: impl Fn(&OsStr) -> bool,
) -> Option<DataPaths> {
    let usual = || Some(environment.home()?.join(".remora"));
    let home = match environment.get(HOME_VARIABLE) {
        None => usual()?,
        Some(home) if is_set_by_project(home) => usual().filter(|home| home.is_dir())?,
        Some(home) => PathBuf::from(home),
    };
    home.is_absolute().then(|| DataPaths::new(home))
}

struct Hook {
    paths: DataPaths,
    environment: Environment,
    spec: Option<&'static AgentSpec>,
    agent: String,
}

impl Hook {
    fn run(&mut self, input: &HookInput) -> ExitCode {
        let Some(named) = self.spec else {
            let known = remora_agents::known_names().join(", ");
            self.log_message(&format!("`{}` is not an agent; known: {known}", self.agent));
            return print_response("");
        };
        let seen = (named.hook.peek_header)(&input.bytes).unwrap_or_default();
        let spec = find_sender(named, &seen, &self.environment.lookup());
        if spec.name != named.name {
            self.spec = Some(spec);
            spec.name.clone_into(&mut self.agent);
        }
        let event = seen.event.as_deref().and_then(EventName::parse);
        let now = clock::now_ms();
        let Some(event) = event else {
            if Pause::for_data_dir(&self.paths).is_off(None, "", now) {
                return print_response("");
            }
            // The worker will say what is wrong with it, where it can be read.
            self.log_message("the input is not an event of this agent");
            if !input.bytes.is_empty() {
                match self.spool_event(spec, input, None) {
                    Ok(()) => self.notify_worker(),
                    Err(reason) => {
                        drop(CaptureFailureMark::for_data_dir(&self.paths).record_failure(&reason));
                    }
                }
            }
            return print_response("");
        };
        let cwd = seen.cwd.as_deref().map(Path::new);
        let root = (spec.environment.project_dir)(&self.environment.lookup());
        let place = cwd.map(|cwd| locate_project(&self.paths, cwd, root.as_deref()));
        let session = seen.session.unwrap_or_default();
        // Before the claim: a paused project must leave no trace, and a claim
        // is one.
        let mut quiet = self.pause_state(place.as_ref(), &session, now);
        if quiet == PauseState::Everything {
            return print_response("");
        }
        let place = match place {
            Some(free) if free.claim == RootClaim::Free => {
                let until = Instant::now() + answer::answer_budget(&self.environment);
                let place = claim_project(&self.paths, free, until);
                // The claim may have changed the key, and the pause may be of
                // the other one.
                quiet = self.pause_state(Some(&place), &session, now);
                if quiet == PauseState::Everything {
                    return print_response("");
                }
                Some(place)
            }
            known => known,
        };
        let starts = event == EventName::SessionStart;
        if starts {
            // What the start check noted is over: should the program go again,
            // that is news.
            let _ = std::fs::remove_file(self.paths.run_dir().join("program-gone"));
        }
        let failed = if starts {
            CaptureFailureMark::for_data_dir(&self.paths).take_failure()
        } else {
            None
        };
        // Spooled before it is answered: recall may fail or run out of time,
        // the event must not be lost with it.
        let kept = self.spool_event(spec, input, place.clone());
        let mut said = match &place {
            Some(place)
                if answer::is_answered(event)
                    && !(spec.hook.answers)(event).is_empty()
                    && quiet == PauseState::No =>
            {
                let asked = answer::HookRequest::new(self, event, &input.bytes, place);
                let answer = asked.map(|asked| asked.build_response(kept.is_ok()));
                answer.unwrap_or_default()
            }
            _ => HookResponse::default(),
        };
        match kept {
            // The event is in the spool now; the worker may begin.
            Ok(()) => self.notify_worker(),
            Err(reason) if starts => said.message = Some(format_capture_failure(&reason)),
            // Not reported now but at the next session's start. Best effort:
            // there may be no room left for a mark either.
            Err(reason) => {
                drop(CaptureFailureMark::for_data_dir(&self.paths).record_failure(&reason));
            }
        }
        if let Some(reason) = failed {
            said.message = Some(format_capture_failure(&reason));
        }
        print_response(&(spec.encode_response)(event, &said))
    }

    /// What is paused here. A checkout that waits for its remote's memory is also
    /// quiet when that is: its user said so of the project.
    fn pause_state(&self, place: Option<&ProjectLocation>, session: &str, now: i64) -> PauseState {
        let project = place.map(|place| place.project.key.as_str());
        let awaited = place.and_then(ProjectLocation::awaited_key);
        let projects: Vec<&str> = project.into_iter().chain(awaited).collect();
        match Pause::for_data_dir(&self.paths).pause_state(&projects, session, now) {
            PauseState::No if self.environment.is_off(RECALL_VARIABLE) => PauseState::Recall,
            quiet => quiet,
        }
    }

    /// Puts the event into the spool; says what went wrong if it could not.
    fn spool_event(
        &self,
        spec: &AgentSpec,
        input: &HookInput,
        place: Option<ProjectLocation>,
    ) -> Result<(), String> {
        let now = clock::now_ms();
        let sync = self.paths.sync_mark().exists();
        let spooled = spool_event(&self.paths, spec.name, now, place, input, sync);
        spooled.map(|_| ()).map_err(|e| {
            let reason = format!("{}: {e}", self.paths.spool_dir().display());
            self.log_message(&format!("not captured: {reason}"));
            reason
        })
    }

    fn notify_worker(&self) {
        let program = std::env::current_exe();
        let version = env!("CARGO_PKG_VERSION");
        let woken =
            program.and_then(|program| notify_worker(&self.paths, &program, version, clock::now()));
        if let Err(e) = woken {
            // The event is safe; the next hook tries again.
            self.log_message(&format!("the worker could not be woken: {e}"));
        }
    }

    /// The user's settings; the defaults, and why, if they cannot be read.
    fn load_settings(&self) -> (RecallSettings, Option<String>) {
        match RecallSettings::load(&self.paths.config_file()) {
            Ok(settings) => (settings, None),
            Err(e) => {
                self.log_message(&format!("the settings do not count: {e}"));
                (RecallSettings::default(), Some(e.to_string()))
            }
        }
    }

    fn log_message(&self, text: &str) {
        let file = self.paths.hook_log();
        let now = clock::now_ms();
        if let Err(e) = append_line(&file, now, text)
            && e.kind() == io::ErrorKind::NotFound
            && self.paths.prepare_data_dir().is_ok()
        {
            // With nowhere to write, the message is lost.
            let _ = append_line(&file, now, text);
        }
    }
}

fn format_capture_failure(reason: &str) -> String {
    format!("Remora missed some events ({reason}). Run `remora doctor` to fix it.")
}

/// Nothing at all is valid at every event. An empty object is not: where stdout
/// is text, the model or the user would read it.
fn print_response(text: &str) -> ExitCode {
    print_stdout(text);
    ExitCode::SUCCESS
}

/// A reader who has left early is no fault of ours.
fn print_stdout(text: &str) {
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
fn exit_silently() {
    std::process::exit(0);
}
