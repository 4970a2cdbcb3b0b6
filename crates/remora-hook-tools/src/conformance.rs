//! Recorded cases played against any engine: what the real client did with known
//! settings, events and handlers.
//!
//! Each case is laid out in a folder of its own. The engine gets a request on
//! stdin and answers with an outcome on stdout; which handlers ran is seen from
//! what they wrote themselves, whatever the engine says.

mod compare;
mod program;
mod stage;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use remora_core::{DecodeError, Event};
use remora_files::read_text;
use remora_hooks::{
    Engine, EngineMode, EngineOptions, FlagSettings, Host, Run, SettingSources, SettingsPaths,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use stage::EngineRequest;

/// The longest file with cases that is read.
const MAX_CASES_BYTES: u64 = 64 << 20;

/// Why cases cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The file with cases cannot be used.
    #[error("{}: {problem}", file.display())]
    Cases {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A case cannot be laid out.
    #[error("cannot lay out a case: {0}")]
    Stage(#[from] io::Error),
}

/// Recorded cases and what they share.
#[derive(Debug, Clone, Deserialize)]
pub struct CaseBook {
    /// The handler program of all cases.
    stub: String,
    /// Settings that many cases share.
    layer_sets: Map<String, Value>,
    /// The cases.
    cases: Vec<RecordedCase>,
}

/// One recorded case.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RecordedCase {
    name: String,
    #[serde(default)]
    family: String,
    event: Value,
    /// What the client did.
    #[serde(rename = "truth")]
    facts: Map<String, Value>,
    layers: Value,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Map<String, Value>,
    #[serde(default)]
    files: Map<String, Value>,
    #[serde(default)]
    setup: Vec<String>,
    cwd: Option<String>,
}

impl CaseBook {
    /// Reads a file of cases.
    pub fn read(file: &Path) -> Result<Self, ConformanceError> {
        let failed = |problem: String| ConformanceError::Cases {
            file: file.to_path_buf(),
            problem,
        };
        let text = read_text(file, MAX_CASES_BYTES).map_err(|error| failed(error.to_string()))?;
        let book: Self = serde_json::from_str(&text)
            .map_err(|error| failed(format!("not a file of recorded cases: {error}")))?;
        Ok(book)
    }

    /// Keeps the cases whose name or family holds a text.
    pub fn filter(&mut self, text: &str) {
        self.cases
            .retain(|case| case.name.contains(text) || case.family.contains(text));
    }

    /// How many there are.
    pub fn case_count(&self) -> usize {
        self.cases.len()
    }
}

/// How an engine did on one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseVerdict {
    /// The case.
    pub name: String,
    /// What it is about.
    pub family: String,
    /// Where the engine differs from the client; empty if it agrees.
    pub differences: Vec<String>,
}

/// How cases are played.
#[derive(Debug, Clone, Copy)]
pub struct ConformanceRun<'a> {
    /// The engine's command, for `sh -c`.
    pub engine: &'a str,
    /// A folder for the cases; they are removed when they are done.
    pub folder: &'a Path,
    /// How many cases are played at once.
    pub jobs: usize,
}

/// Plays all cases; the verdicts are in their order.
pub fn play_book(
    book: &CaseBook,
    run: &ConformanceRun<'_>,
) -> Result<Vec<CaseVerdict>, ConformanceError> {
    // Written once, before any child is started: a program that is open for writing
    // somewhere cannot be run.
    let stub = run.folder.join("h.sh");
    stage::write_program(&stub, &book.stub)?;
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(Vec::with_capacity(book.cases.len()));
    thread::scope(|scope| {
        for _ in 0..run.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = book.cases.get(at) else {
                        return;
                    };
                    let verdict = play_case(at, case, book, &stub, run);
                    if let Ok(mut verdicts) = verdicts.lock() {
                        verdicts.push((at, verdict));
                    }
                }
            });
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap_or_default();
    verdicts.sort_by_key(|(at, _)| *at);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

fn play_case(
    at: usize,
    case: &RecordedCase,
    book: &CaseBook,
    stub: &Path,
    run: &ConformanceRun<'_>,
) -> Result<CaseVerdict, ConformanceError> {
    let root = run.folder.join(at.to_string());
    fs::create_dir_all(&root)?;
    let staged = stage::StagedCase::lay_out(case, book, stub, &root)?;
    let differences = match program::ask_engine(run.engine, &staged.request) {
        Ok(answer) => compare::list_differences(&case.facts, &case.event, &answer, &staged),
        Err(problem) => vec![problem],
    };
    fs::remove_dir_all(&root)?;
    Ok(CaseVerdict {
        name: case.name.clone(),
        family: case.family.clone(),
        differences,
    })
}

/// Why a request cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// It is no request.
    #[error("not a request: {0}")]
    Json(#[from] serde_json::Error),
    /// Its event is none.
    #[error("{0}")]
    Event(#[from] DecodeError),
}

/// Answers a request with this engine: what `remora conformance --as-engine`
/// prints, and an example of what others print.
pub fn answer_request(request: &[u8]) -> Result<Value, RequestError> {
    let request: EngineRequest = serde_json::from_slice(request)?;
    let event = Event::from_value(request.event, None)?;
    let mut places = SettingsPaths::new(request.project, request.home);
    places.config_dir = request.config_dir;
    places.managed = Some(request.managed_dir);
    places.flag = request.flag_settings.map(FlagSettings::File);
    places.plugins = request.plugins;
    if let Some(sources) = &request.setting_sources {
        let has = |name: &str| sources.iter().any(|source| source == name);
        places.sources = SettingSources {
            user: has("user"),
            project: has("project"),
            local: has("local"),
        };
    }
    let mode = if request.bare {
        EngineMode::Bare
    } else if request.safe_mode {
        EngineMode::Safe
    } else {
        EngineMode::Full
    };
    let options = EngineOptions {
        mode,
        ..EngineOptions::default()
    };
    let engine = match Engine::load(places, options) {
        Ok(engine) => engine,
        Err(error) => return Ok(json!({ "refused": error.to_string() })),
    };
    let environment = request.environment.iter();
    let host = Host {
        environment: environment
            .map(|(name, value)| (name.into(), value.as_str().unwrap_or_default().into()))
            .collect(),
        session_dir: Some(request.session_dir),
        ..Host::default()
    };
    let Run {
        report, background, ..
    } = engine.run(&event, &host);
    drop(background);
    Ok(json!({ "outcome": report.outcome }))
}

#[cfg(test)]
mod tests;
