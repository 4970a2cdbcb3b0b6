//! The memory through the real client: install, sessions, search, uninstall.
//!
//! Each case has a house of its own (a home, projects, a data directory, the program), plays
//! scripted sessions in it, and looks at what was stored and at what the client was shown. It
//! ends every process that it caused.

mod asked;
mod codex;
mod day;
mod harmless;
mod house;
mod kept;
mod recall;
mod remembered;
mod resumed;
mod settings;
mod talk;
mod together;
mod trust;

use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::{CaseVerdict, Stage};
pub(super) use house::format_output;
use house::{ClientSandbox, SandboxParts};
use talk::{TalkRequest, TalkResult};

/// Our processes are gone this long after they were asked to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

type PlayCase = fn(&mut MemoryCase) -> Result<()>;

const MEMORY_CASES: &[(&str, PlayCase)] = &[
    ("memory-every-call-is-found", remembered::every_call),
    ("memory-the-next-session-knows", remembered::next_session),
    ("memory-resume-clear-compact", resumed::goes_on),
    ("memory-background-agent", resumed::background_agent),
    ("memory-two-sessions-at-once", together::two_sessions),
    ("memory-installed-twice", together::installed_twice),
    ("memory-hook-missing", harmless::play_missing),
    ("memory-hook-slow", harmless::play_slow),
    ("memory-hook-failing", harmless::play_failing),
    ("memory-no-place-to-write", harmless::no_place),
    ("memory-disk-full", harmless::full_disk),
    ("memory-uninstall", settings::play_uninstall),
    ("memory-uninstall-project", settings::uninstall_project),
    ("trust-upgrade-behind-a-link", trust::upgraded_behind_a_link),
    ("trust-two-clones", trust::two_clones),
    ("trust-forged-remote", trust::forged_remote),
    ("trust-project-environment", trust::project_environment),
    ("recall-the-second-session", recall::second::play_second),
    ("newcomer-goes-on", recall::newcomer::goes_on),
    ("newcomer-rule-holds", recall::newcomer::rule_holds),
    ("newcomer-rule-is-listed", recall::newcomer::rule_is_listed),
    (
        "newcomer-changed-decision",
        recall::newcomer::changed_decision,
    ),
    ("newcomer-remembers", recall::newcomer::play_remembers),
    (
        "newcomer-wrapped-failure",
        recall::newcomer::wrapped_failure,
    ),
    ("newcomer-piped-failure", recall::newcomer::piped_failure),
    ("newcomer-moved-file", recall::newcomer::moved_file),
    ("newcomer-silence", recall::newcomer::play_silence),
    ("newcomer-with-encoder", recall::newcomer::with_encoder),
    ("recall-mcp", recall::server::play_tools),
    ("recall-mcp-for-the-person", recall::server::for_the_user),
    ("recall-resume-clear-compact", recall::onward::goes_on),
    ("recall-subagent", recall::subagents::play_one),
    (
        "recall-parallel-subagents",
        recall::subagents::play_parallel,
    ),
    ("recall-worktree", recall::others::play_worktree),
    ("recall-two-sessions", recall::others::two_sessions),
    ("recall-unharmed", recall::unharmed::play_unharmed),
    ("recall-interactive", recall::screen::play_screen),
    ("recall-hostile", recall::hostile::play_hostile),
    ("recall-plugin", recall::plugin::beside_settings),
    (
        "model-command-line-answers",
        asked::answers_and_keeps_nothing,
    ),
    (
        "model-command-line-deadline",
        asked::is_gone_at_the_deadline,
    ),
    ("model-command-line-once", asked::never_asks_itself),
    ("codex-every-call-is-found", codex::every_call),
    ("codex-remembers-claude-code", codex::remembers_claude_code),
    ("codex-is-remembered", codex::is_remembered),
    ("codex-start-briefing", codex::start_briefing),
    ("codex-subagent", codex::play_subagent),
    ("codex-compaction", codex::play_compaction),
    ("codex-read-brings-memory", codex::read_brings_memory),
    ("codex-known-failure", codex::known_failure),
    ("codex-asks-memory", codex::asks_memory),
    ("codex-uninstall", codex::play_uninstall),
];

/// Whether a case plays sessions of Codex.
pub(super) fn needs_codex(name: &str) -> bool {
    name.starts_with("codex-")
}

/// The names of all cases.
pub(super) fn list_names() -> impl Iterator<Item = &'static str> {
    MEMORY_CASES.iter().map(|(name, _)| *name)
}

/// A case while it is played.
struct MemoryCase {
    house: ClientSandbox,
    problems: Vec<String>,
    /// What could not be tried here, and why.
    skipped: Vec<String>,
    sessions: usize,
}

impl MemoryCase {
    fn check_that(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }

    fn check_equal<T: PartialEq + Debug>(&mut self, what: &str, found: &T, wanted: &T) {
        self.check_that(found == wanted, || {
            format!("{what}: {found:?}, expected {wanted:?}")
        });
    }

    /// A session that ends as it should.
    fn run_talk(&mut self, ask: &TalkRequest<'_>) -> Result<TalkResult> {
        self.sessions += 1;
        let talk = self.house.run_client(ask)?;
        self.check_talk(&talk)?;
        Ok(talk)
    }

    fn check_talk(&mut self, talk: &TalkResult) -> Result<()> {
        self.check_equal("the client's exit code", &talk.code, &Some(0));
        let result = talk.find_result()?.clone();
        self.check_that(result["is_error"] == false, || {
            format!("the session ended badly: {result}")
        });
        Ok(())
    }

    /// Ends the worker and looks that nothing of ours is left.
    fn close(&mut self) -> Result<()> {
        if self.house.remora_path().exists() && !self.house.list_workers().is_empty() {
            self.house.run_remora("project", &["worker", "stop"])?;
        }
        let end = Instant::now() + EXIT_TIMEOUT;
        while !self.house.list_processes().is_empty() && Instant::now() < end {
            thread::park_timeout(Duration::from_millis(20));
        }
        let left = self.house.list_processes();
        self.check_that(left.is_empty(), || {
            format!("processes are left after `worker stop`: {left:?}")
        });
        Ok(())
    }
}

/// Plays one case.
pub(super) fn play_case(stage: &Stage, name: &str, verdict: &mut CaseVerdict) -> Result<()> {
    let known = MEMORY_CASES.iter().find(|(known, _)| *known == name);
    let (name, play) = known.with_context(|| format!("no case is called `{name}`"))?;
    let remora = stage.engine.as_deref();
    let house = ClientSandbox::build(&SandboxParts {
        parent: &stage.work,
        name,
        client: &stage.client,
        codex: stage.codex.as_deref(),
        remora: remora.context("the memory's cases need the program")?,
        search: &stage.search,
        keep: stage.options.keep,
    })?;
    if stage.options.keep {
        println!("     {name} is in {}", house.path("").display());
    }
    let mut case = MemoryCase {
        house,
        problems: Vec::new(),
        skipped: Vec::new(),
        sessions: 0,
    };
    let played = play(&mut case);
    let closed = case.close();
    verdict.sessions = case.sessions;
    verdict.problems.append(&mut case.problems);
    verdict.skipped.append(&mut case.skipped);
    played.and(closed)
}
