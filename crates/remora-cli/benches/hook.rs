//! What a hook costs, against a bare process that only reads stdin, in turns
//! within one run; and what the worker behind it takes of the memory.
//!
//! `cargo bench -p remora-cli --bench hook -- 600` takes another number of runs.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use remora_client::{
    DataPaths, HookInput, ProjectLocation, RootClaim, request_embedding, send_request, spool_event,
};
use remora_core::ids::SessionId;
use remora_core::record::{Item, Kind};
use remora_core::request::{Reply, Request};
use remora_embed::{EMBEDDING_DIMS, Embedding, MODEL_ID};
use remora_memory::recall::error_print;
use remora_memory::store::{Filter, IndexState, PageRequest, SortOrder, Store};
use remora_memory::testing::generator::{Generator, Made};
use remora_store::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

fn agent() -> &'static str {
    remora_agents::recorded_agent().name
}

const PATIENCE: Duration = Duration::from_mins(5);
const PROMPT_ID: &str = "954697cc-2149-4a8b-8c45-09bc7ecae928";

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let asked = std::env::args().find_map(|a| a.parse().ok());
    let runs = asked.unwrap_or(if quick { 2 } else { 400 });
    let events = if quick { 20 } else { 10_000 };
    let site = Site::new();
    let bare = bare(site.dir.path());
    let idle = site.start();
    println!("worker: {idle:.1} MB after its start (aim < 25)");
    for (what, size, aim) in [
        ("PostToolUse, 1 KB", 1_000, "1.1"),
        ("PostToolUse, 100 KB", 100_000, "1.3"),
    ] {
        let moment = MeasuredEvent::new(what, site.call(size), aim);
        site.compare(&bare, &moment, runs);
    }
    let (peak, rest) = site.fill(events);
    println!("worker: {rest:.1} MB after {events} events (aim < 60), {peak:.1} MB at most");
    let rows = if quick { 300 } else { 100_000 };
    let failures = site.fill_rows(rows);
    site.settle();
    let loaded = site.load_encoder();
    println!("worker: {loaded:.1} MB with the encoder loaded (aim < 120)");
    for moment in site.moments(&failures, runs) {
        site.compare(&bare, &moment, runs);
    }
}

/// An event that is measured.
struct MeasuredEvent {
    what: &'static str,
    payload: Vec<u8>,
    aim: &'static str,
    /// Sessions that it is of, one after the other; without any, each time
    /// another one that nobody knows.
    sessions: Vec<SessionId>,
    /// How long it may wait for an embedding, if not as usual.
    budget: Option<&'static str>,
    /// An event of the same session that comes before it and is not measured.
    before: Option<Vec<u8>>,
}

impl MeasuredEvent {
    fn new(what: &'static str, payload: Vec<u8>, aim: &'static str) -> Self {
        Self {
            what,
            payload,
            aim,
            sessions: Vec::new(),
            budget: None,
            before: None,
        }
    }
}

/// A data directory with a worker, and a project with a repository.
struct Site {
    dir: TempDir,
    paths: DataPaths,
    project: PathBuf,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@git.example.org:acme/app.git\n";
        fs::write(project.join(".git/config"), config).unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        Self {
            dir,
            paths,
            project,
        }
    }

    fn remora(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_remora"));
        command
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .env("REMORA_HOME", self.paths.home())
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .current_dir(&self.project);
        command
    }

    fn hook(&self) -> Command {
        let mut command = self.remora();
        command.args(["hook", agent()]);
        command
    }

    fn moment_hook(&self, moment: &MeasuredEvent) -> Command {
        let mut hook = self.hook();
        if let Some(budget) = moment.budget {
            hook.env("REMORA_EMBEDDING_BUDGET_MS", budget);
        }
        hook
    }

    /// Starts the worker with a first event; its memory when it rests.
    fn start(&self) -> f64 {
        time(self.hook(), &self.call(500));
        let end = Instant::now() + PATIENCE;
        while self.ask(&Request::Status).is_none() {
            assert!(Instant::now() < end, "the worker did not start");
            std::thread::yield_now();
        }
        self.drain();
        self.memory("VmRSS")
    }

    fn ask(&self, request: &Request) -> Option<Reply> {
        send_request(&self.paths.socket_file(), request, PATIENCE).ok()
    }

    /// Waits until the worker rests, so that it does not run beside what is
    /// measured next.
    fn drain(&self) -> Reply {
        self.ask(&Request::Drain).unwrap()
    }

    fn memory(&self, field: &str) -> f64 {
        let pid = self.ask(&Request::Status).unwrap().pid;
        let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = text.lines().find(|l| l.starts_with(field)).unwrap();
        let kilobytes: u32 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        f64::from(kilobytes) / 1024.0
    }

    fn event(&self, name: &str, rest: Value) -> Vec<u8> {
        let mut event = json!({
            "session_id": "4be1a0f6-6a0e-4a3a-9b1c-0d9d5a3c7e21",
            "transcript_path": "/home/dev/.agent/projects/app/4be1a0f6.jsonl",
            "cwd": self.project,
            "prompt_id": PROMPT_ID,
            "permission_mode": "default",
            "hook_event_name": name,
        });
        let Value::Object(rest) = rest else {
            panic!("fields")
        };
        event.as_object_mut().unwrap().extend(rest);
        format!("{event}\n").into_bytes()
    }

    /// A command with so many bytes of event in all.
    fn call(&self, size: usize) -> Vec<u8> {
        let with = |output: &str| {
            self.event(
                "PostToolUse",
                json!({
                    "effort": {"level": "medium"},
                    "tool_name": "Bash",
                    "tool_input": {"command": "./check", "description": "Check it"},
                    "tool_response": {"stdout": output, "stderr": "", "interrupted": false},
                    "tool_use_id": "toolu_000000000000000000000000",
                    "duration_ms": 37,
                }),
            )
        };
        let line = "checked another part of the whole, and it is as it should be\n";
        let room = size.saturating_sub(with("").len());
        let mut output = line.repeat(room / (line.len() + 1));
        output.push_str(&"x".repeat(size.saturating_sub(with(&output).len())));
        with(&output)
    }

    /// Fills the store until it has so many observations; what failed on the way.
    fn fill_rows(&self, rows: u64) -> Vec<Value> {
        let count = || {
            let store =
                remora_server::open_database(&self.paths.database_file(), Access::Read).unwrap();
            let counts = store.count_contents().unwrap().items;
            let of = |(kind, count): &(Kind, u64)| kind.is_observation().then_some(*count);
            counts.iter().filter_map(of).sum::<u64>()
        };
        let mut generator = Generator::new(6);
        let mut failures = Vec::new();
        while count() < rows {
            let made: Vec<Made> = generator.by_ref().take(10_000).collect();
            let failed = made.iter().map(|made| &made.event);
            failures.extend(
                failed
                    .filter(|e| e["hook_event_name"] == "PostToolUseFailure")
                    .cloned(),
            );
            self.store(made);
        }
        println!("store: {} observations", count());
        failures
    }

    /// The worker's memory once it embeds prompts.
    fn load_encoder(&self) -> f64 {
        let end = Instant::now() + PATIENCE;
        while request_embedding(&self.paths, "a prompt", PATIENCE).is_none() {
            assert!(Instant::now() < end, "the worker embeds nothing");
            std::thread::yield_now();
        }
        self.memory("VmRSS")
    }

    /// The store as the worker leaves it after a quiet moment, of which there
    /// are none here. Embeddings are made up: a hundred thousand would take a
    /// quarter of an hour.
    fn settle(&self) {
        self.ask(&Request::Stop).unwrap();
        let store =
            remora_server::open_database(&self.paths.database_file(), Access::Write).unwrap();
        while store.optimize_index().unwrap() == IndexState::Partly {}
        loop {
            let waiting = store.list_unembedded(MODEL_ID, 1_000).unwrap();
            let made_up = |item: &Item| (item.id, direction(item.id.cast_unsigned()));
            let some: Vec<(i64, Embedding)> = waiting.iter().map(made_up).collect();
            if some.is_empty() {
                break;
            }
            store.store_embeddings(MODEL_ID, &some).unwrap();
        }
        drop(store);
        self.start();
    }

    /// One event of each kind that is answered, chosen so that there is an
    /// answer; then some for which there is none, which takes longer to know.
    fn moments(&self, failures: &[Value], runs: usize) -> Vec<MeasuredEvent> {
        let store =
            remora_server::open_database(&self.paths.database_file(), Access::Read).unwrap();
        let project = remora_client::locate_project(&self.paths, &self.project, None)
            .project
            .key;
        let list_newest = |kind| {
            let filter = Filter {
                project: Some(project.clone()),
                kinds: vec![kind],
                ..Filter::default()
            };
            let page = PageRequest {
                order: SortOrder::Newest,
                beyond: None,
                limit: 100,
            };
            store.list_items(&filter, page).unwrap()
        };
        let bugfixes = list_newest(Kind::Bugfix);
        let file = bugfixes.iter().find_map(|item| item.files_modified.first());
        let file = self.project.join(file.map_or("", String::as_str));
        let mended = |event: &&Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let print = error_print(
                &text(&event["tool_input"]["command"]),
                &text(&event["error"]),
            );
            let known = |print: String| store.find_by_key(&project, Kind::Fix, &print).unwrap();
            print.and_then(known).is_some()
        };
        let failed = failures
            .iter()
            .rev()
            .find(mended)
            .or(failures.last())
            .unwrap();
        let call = "toolu_000000000000000000000000";
        let start = |source| self.event("SessionStart", json!({"source": source}));
        let read = |file: &Path| {
            self.event(
                "PreToolUse",
                json!({"tool_name": "Read", "tool_input": {"file_path": file}, "tool_use_id": call}),
            )
        };
        let failure = |input: &Value, error: &Value| {
            self.event(
                "PostToolUseFailure",
                json!({"tool_name": "Bash", "tool_input": input, "error": error, "tool_use_id": call}),
            )
        };
        let of_project = Filter {
            project: Some(project.clone()),
            ..Filter::default()
        };
        let before = store.list_sessions(&of_project, runs * 2).unwrap();
        let resumed = MeasuredEvent {
            // Much has happened since the older ones.
            sessions: before.into_iter().rev().map(|session| session.id).collect(),
            ..MeasuredEvent::new("SessionStart, resume", start("resume"), "6")
        };
        let unmet = failure(
            &json!({"command": "make release"}),
            &json!(
                "Exit code 2\nerror: the linker could not place 17 sections of libwalrus.a in the boot image\nmake: *** [release] Error 2"
            ),
        );
        let mut moments = vec![MeasuredEvent::new("SessionStart", start("startup"), "6")];
        moments.extend(self.prompts(&list_newest(Kind::Decision)));
        moments.extend([
            MeasuredEvent::new("PreToolUse(Read)", read(&file), "3"),
            MeasuredEvent::new(
                "PostToolUseFailure",
                failure(&failed["tool_input"], &failed["error"]),
                "3",
            ),
            resumed,
            MeasuredEvent::new(
                "PreToolUse(Read), unknown file",
                read(&self.project.join("lib/nobody/knows.rs")),
                "3",
            ),
            MeasuredEvent::new("PostToolUseFailure, unknown error", unmet, "3"),
        ]);
        moments
    }

    /// Prompts that ask for something that was decided, and a reply.
    fn prompts(&self, decided: &[Item]) -> [MeasuredEvent; 5] {
        let prompt = |text: &str| self.event("UserPromptSubmit", json!({"prompt": text}));
        let ask = |item: Option<&Item>| {
            let said = item.map_or("", |item| item.title.as_str());
            prompt(&format!("why did we say this: {said}?"))
        };
        let first = ask(decided.first());
        let later = |what, payload| MeasuredEvent {
            before: Some(first.clone()),
            ..MeasuredEvent::new(what, payload, "4")
        };
        [
            MeasuredEvent {
                budget: Some("0"),
                ..MeasuredEvent::new("first prompt, words alone", first.clone(), "12")
            },
            MeasuredEvent::new(
                "first prompt, with the worker",
                first.clone(),
                "12, p95 25 ms",
            ),
            // Of something else, or it was given before.
            later("later prompt, a question", ask(decided.last())),
            later(
                "later prompt, new work",
                prompt("add a page for the report and cover the exchange with more checks"),
            ),
            later("later prompt, a reply", prompt("can you commit it?")),
        ]
    }

    /// Has the worker store generated events; its memory at most and after.
    fn fill(&self, events: usize) -> (f64, f64) {
        self.store(Generator::new(5).take(events));
        (self.memory("VmHWM"), self.memory("VmRSS"))
    }

    /// Has the worker store these events as if they were of this project.
    fn store(&self, made: impl IntoIterator<Item = Made>) {
        let project = remora_client::locate_project(&self.paths, &self.project, None).project;
        for made in made {
            let input = HookInput {
                bytes: made.event.to_string().into_bytes(),
                cut: false,
            };
            let place = ProjectLocation {
                project: project.clone(),
                branch: Some(made.branch),
                main: project.root.clone(),
                claim: RootClaim::None,
            };
            spool_event(&self.paths, agent(), made.time, Some(place), &input, false).unwrap();
        }
        let stored = self.drain();
        assert_eq!((stored.dead, stored.trouble), (0, None));
    }

    fn compare(&self, bare: &Path, moment: &MeasuredEvent, runs: usize) {
        let MeasuredEvent { what, aim, .. } = moment;
        let (mut plain, mut ours) = (Vec::new(), Vec::new());
        for run in 0..=runs + runs / 10 {
            if let Some(before) = &moment.before {
                // The same prompt twice would be taken for one that was answered.
                let before = String::from_utf8_lossy(before).replace(PROMPT_ID, "before");
                answer(self.hook(), &fresh(moment, before.as_bytes(), run));
                self.drain();
            }
            let payload = fresh(moment, &moment.payload, run);
            if run == 0 {
                let bytes = answer(self.moment_hook(moment), &payload);
                println!("{what}: {bytes} bytes of answer");
                self.drain();
                continue;
            }
            let mut measure_bare = || plain.push(time(Command::new(bare), &payload));
            // Neither always comes first.
            if run % 2 == 0 {
                measure_bare();
            }
            ours.push(time(self.moment_hook(moment), &payload));
            self.drain();
            if run % 2 == 1 {
                measure_bare();
            }
        }
        let (plain, ours) = (percentiles(&plain, runs), percentiles(&ours, runs));
        println!(
            "{what}: p50 {:.3} ms, p95 {:.3} ms; bare p50 {:.3} ms, p95 {:.3} ms; ratio p50 {:.2}, p95 {:.2} (aim {aim})",
            ours.0,
            ours.1,
            plain.0,
            plain.1,
            ours.0 / plain.0,
            ours.1 / plain.1
        );
    }
}

/// Numbers without a pattern, the same in every run.
fn direction(seed: u64) -> Embedding {
    let mut state = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state >> 56).map_or(0.0, |byte| f32::from(byte) - 127.5)
    };
    Embedding::from_vector(&(0..EMBEDDING_DIMS).map(|_| next()).collect::<Vec<f32>>())
}

impl Drop for Site {
    fn drop(&mut self) {
        // A worker that is gone already needs no end.
        let _ = self.ask(&Request::Stop);
    }
}

/// Another call each time: the same one twice would be dropped as a repetition.
fn fresh(moment: &MeasuredEvent, payload: &[u8], run: usize) -> Vec<u8> {
    // Two moments may have the same payload.
    let size = moment.payload.len() + moment.what.len();
    let text = String::from_utf8_lossy(payload);
    let id = format!("toolu_{size:08}{run:016}");
    // A session that was told something is not told again.
    let known = moment.sessions.iter().cycle().nth(run).cloned();
    let session = known
        .unwrap_or_else(|| format!("4be1a0f6-6a0e-4a3a-{:04x}-{run:012x}", size & 0xffff).into());
    text.replace("toolu_000000000000000000000000", &id)
        .replace("4be1a0f6-6a0e-4a3a-9b1c-0d9d5a3c7e21", &session)
        .into_bytes()
}

/// How long the answer is.
fn answer(mut command: Command, payload: &[u8]) -> usize {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    child.wait_with_output().unwrap().stdout.len()
}

/// Start, input, answer and end of a process, as the agent sees it.
fn time(mut command: Command, payload: &[u8]) -> Duration {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload).unwrap();
    let output = child.wait_with_output().unwrap();
    let time = start.elapsed();
    assert!(output.status.success());
    time
}

/// The first runs warm up and are left out.
fn percentiles(times: &[Duration], runs: usize) -> (f64, f64) {
    let mut times = times[times.len() - runs..].to_vec();
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    (at(50), at(95))
}

/// Builds the bare process as the release profile would.
fn bare(dir: &Path) -> PathBuf {
    let program = dir.join("bare");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hook/bare.rs");
    let built = Command::new("rustc")
        .args(["--edition", "2024", "-Copt-level=3", "-Cpanic=abort"])
        .args(["-Clto=fat", "-Cstrip=symbols", "-o"])
        .args([&program, &source])
        .status()
        .unwrap();
    assert!(built.success(), "rustc could not build the bare process");
    program
}
