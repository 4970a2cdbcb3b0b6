//! The engine in the place of the client: it gets the events that the client gave its handlers,
//! in that order, and must run the same handlers, decide the same and have the same texts ready
//! at the same requests.
//!
//! Time is the client's: a handler's pause lasts until the moment at which the client's run of
//! it ended. So nothing here depends on how fast this machine is.

mod compare;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::dispatches::{Dispatch, title_event};
use super::drive::Change;
use super::facts::DeliveryRow;
use super::folder::{LiveFolder, make_executable, write_file};
use super::model::{LiveModel, RequestKind, SeenRequest};
use super::runs::{StubRun, is_alive, read_runs};
use super::serve::Serve;
use super::session::ClientPlay;
use super::texts::{find_markers, find_stub_id, list_commands, name_commands};
use crate::client::api::API_KEY;
use crate::client::process::finish_process;

/// The longest that the engine may take for what the client did at that point.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(20);

/// To open a pipe only if someone reads from it.
const O_NONBLOCK: i32 = if cfg!(target_os = "macos") {
    0x4
} else {
    0o4000
};

/// What happened next in the client's session.
enum TimelineStep<'a> {
    Changed(&'a Change),
    Fired(usize),
    Ended(usize),
    Asked(&'a SeenRequest),
}

/// One conversation's way through a turn.
#[derive(Clone, Copy, PartialEq)]
enum TurnState {
    Idle,
    Runs,
    /// A hook ended it: the model must not be asked any more.
    Stopped,
}

struct Replay<'a> {
    folder: &'a LiveFolder,
    play: &'a ClientPlay,
    dispatches: &'a [Dispatch],
    serve: Serve,
    session: String,
    /// Events that are not answered yet, by dispatch.
    pending: Vec<(usize, u64)>,
    /// What the next request of a conversation carries, by its agent.
    coming: BTreeMap<Option<String>, Vec<(String, String)>>,
    rows: BTreeSet<DeliveryRow>,
    turn: TurnState,
    point: Option<&'static str>,
    problems: Vec<String>,
    closed: bool,
}

/// Plays what the client did; a line for everything on which the engine differs.
pub(super) fn play_engine(
    folder: &LiveFolder,
    engine: &Path,
    play: &ClientPlay,
    dispatches: &[Dispatch],
) -> Result<Vec<String>> {
    let model = LiveModel::start(&folder.value["model"])?;
    build_stand_ins(folder)?;
    let mut replay = Replay {
        folder,
        play,
        dispatches,
        serve: Serve::start(build_engine(folder, engine, &model)?)?,
        session: String::new(),
        pending: Vec::new(),
        coming: BTreeMap::new(),
        rows: BTreeSet::new(),
        turn: TurnState::Idle,
        point: None,
        problems: Vec::new(),
        closed: false,
    };
    replay.open()?;
    for step in list_steps(play, dispatches) {
        replay.play_step(&step)?;
    }
    replay.finish()
}

fn list_steps<'a>(play: &'a ClientPlay, dispatches: &[Dispatch]) -> Vec<TimelineStep<'a>> {
    let mut steps: Vec<(u128, TimelineStep<'a>)> = Vec::new();
    let fired = dispatches.iter().enumerate();
    steps.extend(fired.map(|(index, dispatch)| (dispatch.at, TimelineStep::Fired(index))));
    for dispatch in dispatches {
        for index in &dispatch.runs {
            // The time of a file is coarser than the clock: it may lie before the beginning.
            let ended = play.runs[*index].ended;
            let ended = ended.map(|at| at.max(dispatch.at + 1));
            steps.extend(ended.map(|at| (at, TimelineStep::Ended(*index))));
        }
    }
    let changed = play.changes.iter();
    steps.extend(changed.map(|change| (change.at, TimelineStep::Changed(change))));
    let asked = play.requests.iter();
    steps.extend(asked.map(|request| (request.at, TimelineStep::Asked(request))));
    steps.sort_by_key(|(at, _)| *at);
    steps.into_iter().map(|(_, step)| step).collect()
}

/// Tools of the client are used again, but without their pauses.
fn build_stand_ins(folder: &LiveFolder) -> Result<()> {
    let sleep = folder.beside("quick/sleep");
    write_file(&sleep, "#!/bin/sh\nexit 0\n")?;
    make_executable(&sleep)
}

fn build_engine(folder: &LiveFolder, engine: &Path, model: &LiveModel) -> Result<Command> {
    let build = || {
        let mut command = folder.build_command(engine, &folder.app());
        command.env("REMORA_HOME", folder.beside("data"));
        command.env("ANTHROPIC_API_KEY", API_KEY);
        command
    };
    let mut choose = build();
    choose.args(["models", "use", "anthropic", &model.url()]);
    let output = finish_process(choose, None)?;
    ensure!(
        output.status.success(),
        "`remora models use` ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(build())
}

impl Replay<'_> {
    fn open(&mut self) -> Result<()> {
        let folder = self.folder;
        let attendance = match (folder.is_interactive(), folder.has_drive()) {
            (true, _) => "interactive",
            (false, true) => "streaming",
            (false, false) => "unattended",
        };
        let mut params = json!({
            "project": folder.app(), "home": folder.home, "managed": folder.beside("managed"),
            "attendance": attendance,
        });
        if let Some(plugin) = folder.find_argument("--plugin-dir") {
            params["plugins"] = json!([plugin]);
        }
        if let Some(servers) = folder.find_argument("--mcp-config") {
            params["mcp_config"] = json!([servers]);
        }
        if let Some(tools) = folder.find_argument("--allowedTools") {
            params["settings"] = json!({"permissions": {"allow": [tools]}});
        }
        let opened = self.serve.call("open", &params)?;
        let session = opened["session"].as_str().context("no session")?;
        session.clone_into(&mut self.session);
        if let Some(agent) = folder.find_argument("--agent") {
            self.add_head("agent", &agent, None);
        }
        Ok(())
    }

    fn call(&mut self, method: &str, mut params: Value) -> Result<Value> {
        params["session"] = self.session.clone().into();
        self.serve.call(method, &params)
    }

    /// The hooks of a skill or an agent, which a host reads from its page.
    fn add_head(&mut self, kind: &str, name: &str, agent: Option<&str>) {
        let head = &self.folder.value["heads"][format!("{kind}:{name}")];
        if head.is_null() {
            return; // it has no hooks
        }
        let mut params = head.clone();
        params["name"] = name.into();
        if let Some(agent) = agent {
            params["agent_id"] = agent.into();
        }
        // What is refused has no hooks; the handlers that ran tell whether that is right.
        let _ = self.call(&format!("add_{kind}"), params);
    }

    fn play_step(&mut self, step: &TimelineStep<'_>) -> Result<()> {
        match step {
            TimelineStep::Changed(change) => change.apply(self.folder, true),
            TimelineStep::Fired(index) => {
                let dispatch = &self.dispatches[*index];
                let title = title_event(&dispatch.event);
                self.fire(*index).with_context(|| format!("at {title}"))
            }
            TimelineStep::Ended(index) => {
                let run = &self.play.runs[*index];
                self.end_run(run)
                    .with_context(|| format!("at the end of `{}`", run.id))
            }
            TimelineStep::Asked(request) => self
                .take_request(request)
                .with_context(|| format!("at {} {}", request.kind.name(), request.number)),
        }
    }

    fn fire(&mut self, index: usize) -> Result<()> {
        let dispatches = self.dispatches;
        let dispatch = &dispatches[index];
        if dispatch.is_of_verifier() {
            return Ok(()); // the engine's own verifier makes them
        }
        self.settle(dispatch.at)?;
        let event = &dispatch.event;
        match dispatch.name() {
            "PostToolUse" | "PostToolUseFailure" => self.use_tool(event)?,
            "FileChanged" | "ConfigChange" => self.check_change(event)?,
            "UserPromptSubmit" => self.begin_turn(event)?,
            "SessionEnd" if self.turn == TurnState::Stopped => self.end_turn()?,
            "PostToolBatch" if event["agent_id"].is_null() => self.point = Some("next_request"),
            "Stop" => self.point = None,
            _ => {}
        }
        let mut fields = event.clone();
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("stop_hook_active"); // the engine's to say
        }
        let params = json!({"session": self.session, "event": fields});
        let id = self.serve.send("fire", &params)?;
        self.pending.push((index, id));
        Ok(())
    }

    /// Takes the answers of all events that were over in the client by then.
    fn settle(&mut self, before: u128) -> Result<()> {
        let (open, over): (Vec<_>, Vec<_>) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|(index, _)| self.is_open(&self.dispatches[*index], before));
        self.pending = open;
        for (index, id) in over {
            let title = title_event(&self.dispatches[index].event);
            let answer = self
                .wait_for_answer(id)
                .with_context(|| format!("the answer to {title}"))?;
            self.take_answer(index, &answer)?;
        }
        Ok(())
    }

    /// Whether the client still waited for a handler of it.
    fn is_open(&self, dispatch: &Dispatch, before: u128) -> bool {
        let waits = |index: &usize| {
            let run = &self.play.runs[*index];
            !self.is_background(run) && run.ended.is_some_and(|ended| ended > before)
        };
        dispatch.recorded.is_some_and(|ended| ended > before) || dispatch.runs.iter().any(waits)
    }

    fn is_background(&self, run: &StubRun) -> bool {
        let plain = !self.folder.is_interactive() && !self.folder.has_drive();
        let is_configured = |text: &Value| {
            let Ok(document) = serde_json::from_str::<Value>(text.as_str().unwrap_or_default())
            else {
                return false;
            };
            list_handlers(&document).iter().any(|handler| {
                let command = handler["command"].as_str().unwrap_or_default();
                let wakes = handler["asyncRewake"] == true && !plain;
                find_stub_id(command).as_ref() == Some(&run.id)
                    && (handler["async"] == true || wakes)
            })
        };
        let files = self.folder.value["files"].as_object();
        run.says_async
            || files
                .into_iter()
                .flatten()
                .any(|(_, text)| is_configured(text))
    }

    /// Meanwhile all pauses but the last of each handler end.
    fn wait_for_answer(&mut self, id: u64) -> Result<Value> {
        let end = Instant::now() + ENGINE_TIMEOUT;
        loop {
            if let Some(result) = self.serve.take_result(id)? {
                return Ok(result);
            }
            self.end_early_pauses()?;
            if Instant::now() > end {
                bail!("the engine does not answer");
            }
            thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn take_answer(&mut self, index: usize, answer: &Value) -> Result<()> {
        let dispatches = self.dispatches;
        let dispatch = &dispatches[index];
        let title = title_event(&dispatch.event);
        self.compare_answer(&title, dispatch, answer);
        let event = &dispatch.event;
        let outcome = &answer["report"]["outcome"];
        let in_main = event["agent_id"].is_null();
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let refuses = outcome["blocked"] == true || outcome["continue"] == false;
        let mut keeps = true;
        match dispatch.name() {
            "SubagentStart" => {
                let agent = text("agent_id");
                self.add_head("agent", &text("agent_type"), Some(&agent));
            }
            "UserPromptExpansion" => self.add_head("skill", &text("command_name"), None),
            "UserPromptSubmit" if in_main && refuses => {
                keeps = false;
                self.turn = TurnState::Stopped;
            }
            "Stop" => {
                let goes_on = answer["stop"] == "continues";
                keeps = goes_on;
                self.turn = if goes_on {
                    TurnState::Runs
                } else {
                    TurnState::Idle
                };
            }
            "SubagentStop" => keeps = answer["stop"] == "continues",
            "SessionEnd" if event["reason"] != "clear" => {
                self.call("close", json!({}))?;
                self.closed = true;
            }
            "SessionStart" | "SessionEnd" => {}
            _ if in_main && outcome["continue"] == false => self.turn = TurnState::Stopped,
            _ => {}
        }
        if keeps {
            self.keep_deliveries(&answer["deliveries"]);
        }
        Ok(())
    }

    fn keep_deliveries(&mut self, deliveries: &Value) {
        for delivery in deliveries.as_array().into_iter().flatten() {
            let agent = delivery["agent"].as_str().map(str::to_owned);
            let role = match delivery["place"].as_str() {
                Some("tool_result" | "user_message") => "user",
                _ => "system",
            };
            let text = delivery["text"].as_str().unwrap_or_default().to_owned();
            let coming = self.coming.entry(agent).or_default();
            coming.push((role.to_owned(), text));
        }
    }

    /// A prompt, of the user or of a handler that woke the model.
    fn begin_turn(&mut self, event: &Value) -> Result<()> {
        if self.turn == TurnState::Stopped {
            self.end_turn()?;
        }
        let prompt = event["prompt"].as_str().unwrap_or_default();
        let mut joins = self.turn == TurnState::Runs;
        if prompt.starts_with("<task-notification>") {
            let (role, ours, text) = self.wait_for_notification()?;
            joins = role == "system";
            if ours.trim() != prompt.trim() {
                self.problems.push(format!(
                    "the client wakes with {prompt:?}; the engine with {ours:?}"
                ));
            }
            let coming = self.coming.entry(None).or_default();
            coming.push((role.to_owned(), text));
        }
        if !joins {
            self.point = Some("next_prompt");
        }
        self.turn = TurnState::Runs;
        Ok(())
    }

    /// Role, prompt and text of what a handler in the background has to say.
    fn wait_for_notification(&mut self) -> Result<(&'static str, String, String)> {
        let end = Instant::now() + ENGINE_TIMEOUT;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        loop {
            if let Some(wake) = self.serve.take_wake_up() {
                return Ok(("user", text(&wake["prompt"]), text(&wake["text"])));
            }
            if self.turn == TurnState::Runs {
                let taken = self.call("take_deliveries", json!({"point": "next_request"}))?;
                let mut deliveries = taken["deliveries"].as_array().cloned().unwrap_or_default();
                let is_notice = |delivery: &Value| delivery["place"]["notification"].is_object();
                if let Some(at) = deliveries.iter().position(is_notice) {
                    let notice = deliveries.remove(at);
                    self.keep_deliveries(&deliveries.into());
                    let prompt = &notice["place"]["notification"]["prompt"];
                    return Ok(("system", text(prompt), text(&notice["text"])));
                }
                self.keep_deliveries(&deliveries.into());
            }
            if Instant::now() > end {
                bail!("the client's model was woken, the engine's is not");
            }
            thread::park_timeout(Duration::from_millis(10));
        }
    }

    fn end_turn(&mut self) -> Result<()> {
        self.turn = TurnState::Idle;
        self.call("end_turn", json!({})).map(drop)
    }

    /// The model was asked: what was ready for it?
    fn take_request(&mut self, request: &SeenRequest) -> Result<()> {
        let agent = match request.kind {
            RequestKind::Main => None,
            RequestKind::Subagent => request.agent.clone(),
            _ => return Ok(()),
        };
        self.settle(request.at)?;
        if request.kind == RequestKind::Main {
            if self.turn != TurnState::Runs && self.has_prompts() {
                self.problems.push(format!(
                    "request {}: the client asked the model; to the engine the turn is over",
                    request.number
                ));
            }
            if let Some(point) = self.point.take() {
                let taken = self.call("take_deliveries", json!({"point": point}))?;
                self.keep_deliveries(&taken["deliveries"]);
            }
        }
        let commands = list_commands(self.folder);
        for (role, text) in self.coming.remove(&agent).unwrap_or_default() {
            let text = name_commands(&commands, &self.folder.restore_paths(&text));
            for marker in find_markers(&text) {
                self.rows.insert(DeliveryRow {
                    marker,
                    to: request.kind.name(),
                    request: request.number,
                    place: String::new(),
                    role: role.clone(),
                    text: text.clone(),
                });
            }
        }
        Ok(())
    }

    /// A compaction asks the model outside any turn.
    fn has_prompts(&self) -> bool {
        !self
            .dispatches
            .iter()
            .any(|dispatch| dispatch.name() == "PreCompact")
    }

    /// The client's run of a handler ended; so may the engine's.
    fn end_run(&mut self, run: &StubRun) -> Result<()> {
        let of_id = |runs: &[StubRun]| -> Vec<StubRun> {
            let runs = runs.iter().filter(|other| other.id == run.id);
            runs.cloned().collect()
        };
        let number = of_id(&self.play.runs)
            .iter()
            .position(|other| other.path == run.path)
            .unwrap_or_default();
        let end = Instant::now() + ENGINE_TIMEOUT;
        loop {
            let runs = read_runs(&self.folder.runs())?;
            if let Some(ours) = of_id(&runs).get(number) {
                if ours.ended.is_some() {
                    break;
                }
                open_gate(ours);
            }
            if Instant::now() > end {
                self.problems.push(format!(
                    "`{}` ends in the client for the {}. time; in the engine it does not",
                    run.id,
                    number + 1
                ));
                return Ok(());
            }
            thread::park_timeout(Duration::from_millis(5));
        }
        self.wait_until_known(end)
    }

    /// The engine has taken in that handlers in the background ended.
    fn wait_until_known(&mut self, end: Instant) -> Result<()> {
        while !self.closed {
            let status = self.call("status", json!({}))?;
            let running = status["running"].as_array().map_or(0, Vec::len);
            let runs = read_runs(&self.folder.runs())?;
            let alive = runs
                .iter()
                .filter(|run| run.ended.is_none() && is_alive(run.pid));
            if running <= alive.count() {
                break;
            }
            if Instant::now() > end {
                bail!("a handler has ended, and to the engine it runs");
            }
            thread::park_timeout(Duration::from_millis(5));
        }
        Ok(())
    }

    /// A handler with several pauses goes to the last by itself.
    fn end_early_pauses(&self) -> Result<()> {
        let commands = list_commands(self.folder);
        for run in read_runs(&self.folder.runs())? {
            let pauses = commands
                .iter()
                .filter(|(_, id)| **id == run.id)
                .map(|(command, _)| command.matches(" s ").count())
                .max();
            if run.ended.is_none() && pauses > Some(1) && !run.says_async {
                open_gate(&run);
            }
        }
        Ok(())
    }
}

/// All objects with a `command` in a document.
fn list_handlers(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().flat_map(list_handlers).collect(),
        Value::Object(map) if map.contains_key("command") => vec![value],
        Value::Object(map) => map.values().flat_map(list_handlers).collect(),
        _ => Vec::new(),
    }
}

/// Ends the pause of a handler that is in one.
fn open_gate(run: &StubRun) {
    // Without a reader it cannot be opened: the handler is between its name and its read.
    let pipe = fs::OpenOptions::new()
        .write(true)
        .custom_flags(O_NONBLOCK)
        .open(run.beside("gate"));
    if let Ok(mut pipe) = pipe {
        let _ = pipe.write_all(b"\n"); // one that was killed meanwhile needs no word
    }
}
