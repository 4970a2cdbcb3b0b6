//! `remora hook AGENT`: what the agent calls at every event.
//!
//! Whatever happens, it answers with something valid, writes nothing else, and
//! exits 0. No argument parser, settings stack, thread, regex or database write
//! is on this path; the database is read only where the event has an answer.

mod answer;
mod failing;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use remora_agents::{AgentSpec, Answer};
use remora_client::{
    Claim, Failure, Input, Paths, Pause, ProjectLocation, Quiet, append_line, glance,
    locate_project, read_input, spool, wake,
};
use remora_protocol::EventName;
use remora_server::identity::claim_project;

use crate::clock;
use crate::environment::Environment;
use crate::project_env::find_setter;
use crate::recall::Settings;

/// Set, hooks do nothing at all.
pub(crate) const OFF: &str = "REMORA_OFF";
/// Off, hooks capture and inject nothing. A project may say so as well: it can
/// only take away.
pub(crate) const RECALL: &str = "REMORA_RECALL";
/// Where the data directory is.
pub(crate) const HOME: &str = "REMORA_HOME";
/// More of an event is not read.
const LIMIT: usize = 16 * 1024 * 1024;
/// Nor waited for longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs the hook.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // A panic would end in a signal, which the agent would show as a failure.
    std::panic::set_hook(Box::new(|_| leave()));
    let environment = Environment::read();
    let name = arguments.next().unwrap_or_default();
    let spec = remora_agents::find(&name.to_string_lossy());
    if environment.switch(OFF) {
        return answer("");
    }
    let input = read_input(io::stdin().lock(), LIMIT, PATIENCE);
    let Some(paths) = data_directory(&environment) else {
        return answer("");
    };
    // Not even a log may be written into a folder of someone else; `doctor` and
    // every other command say why nothing is captured.
    if paths.refuses_hooks() {
        return answer("");
    }
    let hook = Hook {
        paths,
        environment,
        spec,
        agent: name.to_string_lossy().into_owned(),
    };
    hook.run(&input)
}

/// `REMORA_HOME`, else `.remora` in the home directory. A project cannot choose:
/// where its settings set the variable, the usual place counts, if it is there.
pub(crate) fn data_directory(environment: &Environment) -> Option<Paths> {
    let usual = || Some(environment.home()?.join(".remora"));
    let home = match environment.get(HOME) {
        None => usual()?,
        Some(home) if find_setter(environment, HOME, Some(home)).is_some() => {
            usual().filter(|home| home.is_dir())?
        }
        Some(home) => PathBuf::from(home),
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
            return answer("");
        };
        let seen = glance(&input.bytes).unwrap_or_default();
        let event = seen.event.as_deref().and_then(EventName::parse);
        let now = clock::millis();
        let Some(event) = event else {
            if Pause::of(&self.paths).is_off(None, "", now) {
                return answer("");
            }
            // The worker will say what is wrong with it, where it can be read.
            self.log("the input is not an event of this agent");
            if !input.bytes.is_empty() {
                match self.keep(spec, input, None) {
                    Ok(()) => self.wake(),
                    Err(reason) => drop(Failure::of(&self.paths).note(&reason)),
                }
            }
            return answer("");
        };
        let cwd = seen.cwd.map(PathBuf::from);
        let root = self.environment.get("CLAUDE_PROJECT_DIR").map(Path::new);
        let place = cwd
            .as_deref()
            .map(|cwd| locate_project(&self.paths, cwd, root));
        let session = seen.session.unwrap_or_default();
        let mut quiet = self.quiet(place.as_ref(), &session, now);
        if quiet == Quiet::Everything {
            return answer("");
        }
        let place = match place {
            Some(free) if free.claim == Claim::Free => {
                let until = Instant::now() + answer::deadline(&self.environment);
                let place = claim_project(&self.paths, free, until);
                quiet = self.quiet(Some(&place), &session, now);
                if quiet == Quiet::Everything {
                    return answer("");
                }
                Some(place)
            }
            known => known,
        };
        let starts = event == EventName::SessionStart;
        if starts {
            // What the start check noted is over: should the program go again,
            // that is news.
            let _ = std::fs::remove_file(self.paths.run().join("program-gone"));
        }
        let failed = if starts {
            Failure::of(&self.paths).take()
        } else {
            None
        };
        let kept = self.keep(spec, input, place.clone());
        let mut said = match &place {
            Some(place) if answer::is_answered(event) && quiet == Quiet::No => {
                let asked = answer::Asked::new(self, event, &input.bytes, place);
                let answer = asked.map(|asked| asked.answer(kept.is_ok()));
                answer.unwrap_or_default()
            }
            _ => Answer::default(),
        };
        match kept {
            // The event is there now; whoever digests it may begin.
            Ok(()) => self.wake(),
            Err(reason) if starts => said.message = Some(unrecorded(&reason)),
            // Nobody is told now; the next session will be. Best effort: there
            // may be no place left for a mark either.
            Err(reason) => drop(Failure::of(&self.paths).note(&reason)),
        }
        if let Some(reason) = failed {
            said.message = Some(unrecorded(&reason));
        }
        answer(&(spec.encode)(event, &said))
    }

    /// What is paused here. A checkout that waits for its remote's memory is also
    /// quiet when that is: its user said so of the project.
    fn quiet(&self, place: Option<&ProjectLocation>, session: &str, now: i64) -> Quiet {
        let project = place.map(|place| place.project.key.as_str());
        let awaited = place.and_then(ProjectLocation::awaited_key);
        let projects: Vec<&str> = project.into_iter().chain(awaited).collect();
        match Pause::of(&self.paths).quiet(&projects, session, now) {
            Quiet::No if self.environment.is_off(RECALL) => Quiet::Recall,
            quiet => quiet,
        }
    }

    /// Puts the event into the spool; says what went wrong if it could not.
    fn keep(
        &self,
        spec: &AgentSpec,
        input: &Input,
        place: Option<ProjectLocation>,
    ) -> Result<(), String> {
        let now = clock::millis();
        let sync = self.paths.sync_mark().exists();
        let spooled = spool(&self.paths, spec.name, now, place, input, sync);
        spooled.map(|_| ()).map_err(|e| {
            let reason = format!("{}: {e}", self.paths.spool().display());
            self.log(&format!("not captured: {reason}"));
            reason
        })
    }

    fn wake(&self) {
        let program = std::env::current_exe();
        let version = env!("CARGO_PKG_VERSION");
        let woken = program.and_then(|program| wake(&self.paths, &program, version, clock::now()));
        if let Err(e) = woken {
            // The event is safe; the next hook tries again.
            self.log(&format!("the worker could not be woken: {e}"));
        }
    }

    /// The person's settings; the defaults, and why, if they cannot be read.
    fn settings(&self) -> (Settings, Option<String>) {
        match Settings::load(&self.paths.config()) {
            Ok(settings) => (settings, None),
            Err(e) => {
                self.log(&format!("the settings do not count: {e}"));
                (Settings::default(), Some(e.to_string()))
            }
        }
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

fn unrecorded(reason: &str) -> String {
    format!("Remora could not record everything ({reason}). `remora doctor` says how to mend it.")
}

/// Nothing at all is valid at every event. An empty object is not: where stdout
/// is text, the model or the person would read it.
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
fn leave() {
    std::process::exit(0);
}
