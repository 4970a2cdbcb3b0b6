//! `cargo xtask client`: the same settings and scenario through the real client and through
//! our hooks engine, and a comparison of what happened.
//!
//! Its second part (`memory`) plays whole sessions with the memory installed; its third
//! (`instructions`) compares which instruction files reach the model.
//!
//! Cases are data (`fixtures/client/`). Each carries what the pinned client did when it was
//! recorded; the stage fails when the client differs from that, or the engine from the client.
#![expect(clippy::print_stdout, reason = "xtask talks to people")]

mod api;
mod case;
mod compare;
mod http;
mod install;
mod instructions;
mod layout;
mod live;
mod memory;
pub(crate) mod process;
mod responses;
mod seen;
mod session;
mod sink;
mod terminal;

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use case::{CaseDraft, EventCheck, HookCase};
use compare::Facts;
use instructions::InstructionTree;
use live::LiveDraft;
use session::{CaseTree, ClientRun};
use sink::HttpSink;

const USAGE: &str =
    "usage: cargo xtask client [--filter NAME] [--list] [--live] [--memory] [--instructions] \
                     [--client-only] [--record] [--keep] [--engine PROGRAM] [--trees FILE]
  --filter NAME     only cases whose name contains NAME
  --list            print the cases' names
  --live            only the sessions that live on
  --memory          only the memory's cases
  --instructions    only the instruction trees
  --trees FILE      the instruction trees of this file instead
  --client-only     check the client against what was recorded; leave the engine out
  --record          write what the client does into the case files
  --keep            keep the temporary folders and print where they are
  --engine PROGRAM  the `remora` to test (default: $REMORA_BIN, else cargo builds it)
The client is cached in $REMORA_CLIENT_CACHE (default: target/client-cache).";

/// Sessions at the same time.
const MAX_PARALLEL_SESSIONS: usize = 2;
/// The same for sessions that live on: most of them wait.
const MAX_PARALLEL_LIVE: usize = 4;

#[derive(Default)]
struct ClientOptions {
    filter: String,
    task: ClientTask,
    part: ClientPart,
    keep: bool,
    engine: Option<PathBuf>,
    /// Trees to play instead of the stage's own.
    trees: Option<PathBuf>,
}

#[derive(Default, PartialEq)]
enum ClientTask {
    /// Client against record, engine against client.
    #[default]
    Compare,
    ClientOnly,
    Record,
    List,
}

#[derive(Default, PartialEq)]
enum ClientPart {
    #[default]
    Whole,
    Live,
    Memory,
    Instructions,
}

/// What all cases share.
struct Stage {
    client: PathBuf,
    /// The second client, for the cases that need it.
    codex: Option<PathBuf>,
    engine: Option<PathBuf>,
    /// Parent of the cases' folders.
    work: PathBuf,
    /// `PATH` for client, engine and handlers.
    search: String,
    options: ClientOptions,
}

/// What became of one case.
#[derive(Default)]
struct CaseVerdict {
    name: String,
    /// Empty: all agreed.
    problems: Vec<String>,
    /// What could not be tried on this machine.
    skipped: Vec<String>,
    events: usize,
    handlers: usize,
    /// Whole sessions of the client.
    sessions: usize,
    /// What was found each time that a case was played once more.
    repeats: Vec<String>,
    /// Trees of instruction files, and the files that reached the model.
    trees: usize,
    files: usize,
    took: Duration,
}

/// The cases of all parts that were asked for.
struct StageCases {
    drafts: Vec<CaseDraft>,
    lives: Vec<LiveDraft>,
    scenes: Vec<&'static str>,
    trees: Vec<InstructionTree>,
}

impl StageCases {
    fn load(root: &Path, options: &ClientOptions) -> Result<Self> {
        let is_asked = |part: ClientPart, name: &str| {
            (options.part == ClientPart::Whole || options.part == part)
                && name.contains(&options.filter)
        };
        let mut cases = Self {
            drafts: case::load_cases(&root.join("fixtures").join("client"))?,
            lives: live::load_drafts(root)?,
            scenes: memory::list_names().collect(),
            trees: instructions::load_trees(root, options.trees.as_deref())?,
        };
        cases
            .drafts
            .retain(|draft| is_asked(ClientPart::Whole, &draft.name));
        cases
            .lives
            .retain(|draft| is_asked(ClientPart::Live, &draft.name));
        cases
            .scenes
            .retain(|name| is_asked(ClientPart::Memory, name));
        cases
            .trees
            .retain(|tree| is_asked(ClientPart::Instructions, &tree.name));
        Ok(cases)
    }

    /// Leaves out what the task has no use for.
    fn retain_playable(&mut self, options: &ClientOptions) {
        if options.task != ClientTask::Compare {
            self.scenes.clear(); // they have no record, and need the program
        }
        if options.task != ClientTask::Compare && options.part == ClientPart::Whole {
            self.trees.clear(); // only those of a file that is named have a record
        }
        if options.task == ClientTask::Record {
            self.lives.clear(); // their record is never written here
        }
    }

    fn count(&self) -> usize {
        self.drafts.len() + self.lives.len() + self.scenes.len() + self.trees.len()
    }

    fn print_names(&self) {
        let names = self.drafts.iter().map(|draft| draft.name.as_str());
        let lives = self.lives.iter().map(|draft| draft.name.as_str());
        let scenes = self.scenes.iter().copied();
        let trees = self.trees.iter().map(|tree| tree.name.as_str());
        for name in names.chain(lives).chain(scenes).chain(trees) {
            println!("{name}");
        }
    }

    fn play(&self, stage: &Stage) -> Vec<CaseVerdict> {
        let mut verdicts = play_all(&self.drafts, MAX_PARALLEL_SESSIONS, |draft, verdict| {
            verdict.name.clone_from(&draft.name);
            play_case(stage, draft, verdict)
        });
        verdicts.extend(play_all(
            &self.lives,
            MAX_PARALLEL_LIVE,
            |draft, verdict| {
                verdict.name.clone_from(&draft.name);
                live::play_case(stage, draft, verdict)
            },
        ));
        verdicts.extend(play_all(
            &self.scenes,
            MAX_PARALLEL_SESSIONS,
            |name, verdict| {
                (*name).clone_into(&mut verdict.name);
                memory::play_case(stage, name, verdict)
            },
        ));
        verdicts.extend(play_all(
            &self.trees,
            MAX_PARALLEL_SESSIONS,
            |tree, verdict| {
                verdict.name.clone_from(&tree.name);
                instructions::play_tree(stage, tree, verdict)
            },
        ));
        verdicts
    }

    /// A stage with fewer cases would not show what it claims.
    fn check_count(&self, options: &ClientOptions) -> Result<()> {
        let is_whole = options.filter.is_empty()
            && options.task == ClientTask::Compare
            && matches!(options.part, ClientPart::Whole | ClientPart::Live);
        if is_whole && self.lives.len() < live::MIN_LIVE_CASES {
            bail!(
                "only {} whole sessions with hooks were played, at least {} are due",
                self.lives.len(),
                live::MIN_LIVE_CASES
            );
        }
        Ok(())
    }
}

/// Runs the stage.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let options = parse_options(args)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("xtask has no parent")?;
    let mut cases = StageCases::load(root, &options)?;
    if options.task == ClientTask::List {
        cases.print_names();
        return Ok(());
    }
    cases.retain_playable(&options);
    if cases.count() == 0 {
        bail!("no case's name contains `{}`", options.filter);
    }
    let started = Instant::now();
    let cache = read_variable("REMORA_CLIENT_CACHE")
        .map_or_else(|| root.join("target/client-cache"), PathBuf::from);
    let needs_codex = cases.scenes.iter().any(|name| memory::needs_codex(name));
    let stage = Stage {
        client: install::CLAUDE_CODE.install(&cache)?,
        codex: needs_codex
            .then(|| install::CODEX.install(&cache))
            .transpose()?,
        engine: find_engine(root, &options)?,
        work: work_folder()?,
        search: read_variable("PATH").context("PATH is not set")?,
        options,
    };
    println!(
        "clients {} and {}, {} cases, {MAX_PARALLEL_SESSIONS} to {MAX_PARALLEL_LIVE} at a time",
        install::CLAUDE_CODE.version,
        install::CODEX.version,
        cases.count()
    );
    let verdicts = cases.play(&stage);
    if !stage.options.keep {
        let _ = fs::remove_dir_all(&stage.work);
    }
    let failed = verdicts
        .iter()
        .filter(|verdict| !verdict.problems.is_empty())
        .count();
    print_summary(&stage, &verdicts, failed, started.elapsed());
    cases.check_count(&stage.options)?;
    if failed > 0 {
        bail!("{failed} of {} real-client cases disagree", verdicts.len());
    }
    Ok(())
}

fn print_summary(stage: &Stage, verdicts: &[CaseVerdict], failed: usize, took: Duration) {
    let against = if stage.engine.is_some() {
        "client and engine"
    } else {
        "client and record"
    };
    let sum = |count: fn(&CaseVerdict) -> usize| verdicts.iter().map(count).sum::<usize>();
    println!(
        "{against}: {} of {} cases agree ({} events, {} handler runs, {} whole sessions, {} played \
         again, {} trees with {} instruction files, {} things skipped) in {:.0} s",
        verdicts.len() - failed,
        verdicts.len(),
        sum(|verdict| verdict.events),
        sum(|verdict| verdict.handlers),
        sum(|verdict| verdict.sessions),
        sum(|verdict| verdict.repeats.len()),
        sum(|verdict| verdict.trees),
        sum(|verdict| verdict.files),
        sum(|verdict| verdict.skipped.len()),
        took.as_secs_f64(),
    );
}

fn parse_options(args: &[String]) -> Result<ClientOptions> {
    let mut options = ClientOptions::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--list" => options.task = ClientTask::List,
            "--live" => options.part = ClientPart::Live,
            "--memory" => options.part = ClientPart::Memory,
            "--instructions" => options.part = ClientPart::Instructions,
            "--trees" => {
                options.part = ClientPart::Instructions;
                options.trees = Some(args.next().context("--trees needs a file")?.into());
            }
            "--client-only" => options.task = ClientTask::ClientOnly,
            "--record" => options.task = ClientTask::Record,
            "--keep" => options.keep = true,
            "--filter" => options
                .filter
                .clone_from(args.next().context("--filter needs a name")?),
            "--engine" => {
                options.engine = Some(args.next().context("--engine needs a program")?.into());
            }
            _ => bail!("{USAGE}"),
        }
    }
    Ok(options)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the stage's own settings; xtask has no settings layer"
)]
fn read_variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The engine under test; cargo says where it put it.
fn find_engine(root: &Path, options: &ClientOptions) -> Result<Option<PathBuf>> {
    if options.task != ClientTask::Compare {
        return Ok(None);
    }
    let named = options
        .engine
        .clone()
        .or_else(|| read_variable("REMORA_BIN").map(PathBuf::from));
    if let Some(named) = named {
        let found = named
            .canonicalize()
            .with_context(|| format!("no engine at {}", named.display()))?;
        return Ok(Some(found));
    }
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--bin",
            "remora",
            "--message-format",
            "json-render-diagnostics",
        ])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&built.stdout);
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let path = lines
        .filter_map(|line| line["executable"].as_str().map(PathBuf::from))
        .next_back();
    if !built.status.success() {
        bail!("cargo could not build `remora`");
    }
    Ok(Some(path.context("cargo built no `remora`")?))
}

/// A folder nobody else uses, its real path (handlers log theirs).
fn work_folder() -> Result<PathBuf> {
    let parent = std::env::temp_dir()
        .canonicalize()
        .context("no temporary folder")?;
    for number in 0..1000 {
        let folder = parent.join(format!("remora-client-{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("in {}", parent.display())),
        }
    }
    bail!(
        "{} is full of old `remora-client-*` folders",
        parent.display()
    )
}

/// All cases, a few at a time, one line each as they end.
fn play_all<T: Sync>(
    cases: &[T],
    most: usize,
    play: impl Fn(&T, &mut CaseVerdict) -> Result<()> + Sync,
) -> Vec<CaseVerdict> {
    let waiting: Mutex<VecDeque<&T>> = Mutex::new(cases.iter().collect());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..most.min(cases.len()) {
            scope.spawn(|| {
                loop {
                    let next = waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some(case) = next else { break };
                    let started = Instant::now();
                    let mut verdict = CaseVerdict::default();
                    if let Err(error) = play(case, &mut verdict) {
                        verdict.problems.push(format!("{error:#}"));
                    }
                    verdict.took = started.elapsed();
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    print_verdict(&verdict);
                    done.push(verdict);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn print_verdict(verdict: &CaseVerdict) {
    let word = if verdict.problems.is_empty() {
        "ok  "
    } else {
        "FAIL"
    };
    let what = match (verdict.sessions, verdict.trees) {
        (0, 0) => format!("{} events, {:>2} runs", verdict.events, verdict.handlers),
        (0, _) => format!("{:>2} files         ", verdict.files),
        (sessions, _) => format!("{sessions:>2} sessions      "),
    };
    println!(
        "{word} {:<44} {what} {:>5.1} s",
        verdict.name,
        verdict.took.as_secs_f64()
    );
    for (number, found) in verdict.repeats.iter().enumerate() {
        println!("AGAIN  after play {}: {found}", number + 1);
    }
    for skipped in &verdict.skipped {
        println!("SKIP   {skipped}");
    }
    for problem in &verdict.problems {
        println!("       {problem}");
    }
}

fn play_case(stage: &Stage, draft: &CaseDraft, verdict: &mut CaseVerdict) -> Result<()> {
    let mut tree = CaseTree::new(&stage.work, &draft.name, &stage.search)?;
    tree.keep = stage.options.keep;
    if tree.keep {
        println!("     {} is in {}", draft.name, tree.path("").display());
    }
    let (sink, answers) = HttpSink::start()?;
    let places = tree.list_placeholders(&sink.url());
    let case = draft.fill_placeholders(&places)?;
    answers.set_answers(case.http.clone());
    tree.build(&case)?;
    let mut client = tree.run_client(&stage.client, &case)?;
    client.runs.extend(sink.drain_runs());
    let mut recorded = Vec::new();
    for check in &case.checks {
        let facts = compare::client_facts(check, &client);
        verdict.events += 1;
        verdict.handlers += compare::runs_of(check, &client.runs).len();
        if stage.options.task == ClientTask::Record {
            recorded.push(Some(restore_placeholders(&facts, &places)));
            continue;
        }
        let expected: Facts = match &check.expect {
            Some(expect) => serde_json::from_value(expect.clone()).context("`expect`")?,
            None => bail!(
                "{}: nothing recorded; run with --record and read the result",
                check.event
            ),
        };
        let found = compare::list_differences("recorded", &expected, "the client now", &facts);
        verdict.problems.extend(
            found
                .into_iter()
                .map(|line| format!("{}: {line}", check.event)),
        );
        if let Some(engine) = &stage.engine {
            let found = against_engine(&tree, engine, &case, check, &client, &sink)?;
            verdict.problems.extend(
                found
                    .into_iter()
                    .map(|line| format!("{}: {line}", check.event)),
            );
        }
    }
    if stage.options.task == ClientTask::Record {
        static FILES: Mutex<()> = Mutex::new(());
        let _one_at_a_time = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        case::record_facts(draft, &recorded)?;
    }
    Ok(())
}

/// Gives the engine the event that the client gave its handlers, over the same files.
fn against_engine(
    tree: &CaseTree,
    engine: &Path,
    case: &HookCase,
    check: &EventCheck,
    client: &ClientRun,
    sink: &HttpSink,
) -> Result<Vec<String>> {
    let runs = compare::runs_of(check, &client.runs);
    let event = match (runs.first(), &check.event_json) {
        (Some(run), _) => run.stdin.clone(),
        (None, Some(event)) => event.to_string(),
        (None, None) => bail!(
            "{}: no handler recorded it and the case gives none",
            check.event
        ),
    };
    tree.build(case)?;
    let mut ours = tree.run_engine(engine, case, &event)?;
    ours.runs.extend(sink.drain_runs());
    let event: Value = serde_json::from_str(&event).context("the client's event is not JSON")?;
    let expected = compare::client_facts(check, client);
    let facts = compare::engine_facts(check, client, &event, &ours);
    let mut found = compare::list_differences("client", &expected, "engine", &facts);
    found.extend(compare::input_differences(&event, &runs, &ours.runs));
    if ours.orphans > 0 {
        found.push(format!("the engine left {} processes behind", ours.orphans));
    }
    if !found.is_empty() {
        found.push(format!(
            "handlers by the engine: {}",
            ours.report["handlers"]
        ));
    }
    Ok(found)
}

/// Facts with this run's paths put back into placeholders.
fn restore_placeholders(facts: &Facts, places: &[(&str, String)]) -> Value {
    let mut facts = json!(facts);
    case::replace_strings(&mut facts, &|text| {
        places.iter().fold(text.to_owned(), |text, (name, place)| {
            text.replace(place, name)
        })
    });
    facts
}
