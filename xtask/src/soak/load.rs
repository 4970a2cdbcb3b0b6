//! Eight sessions of one server, each with one event under way, a tenth of them with handlers
//! in the background. Every 1,000 events all is waited for, and the server looked at.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::server::Server;
use super::usage::{Thirds, Usage, read_usage};
use super::{SESSIONS, write_home};

/// Events between two looks.
const SAMPLE_EVENTS: usize = 1000;

/// The events of a turn, again and again: ten, one of them with handlers in the background.
const TURN: [&str; 10] = [
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreToolUse",
    "PostToolUse",
    "PreToolUse",
    "PostToolUse",
    "PreToolUse",
    "PostToolUse",
    "Stop",
];
/// The place of the event whose tool is `Slow`.
const SLOW_PLACE: usize = 8;

/// What one session does.
#[derive(Default)]
struct Lane {
    name: String,
    /// Its place in the turn.
    place: usize,
    /// Prompts of wake-ups that have not begun their turn.
    wakes: Vec<String>,
}

struct Load {
    server: Server,
    lanes: Vec<Lane>,
    /// The lane of each request that is not answered.
    waiting: HashMap<u64, usize>,
    events: usize,
    /// Handlers that went to the background, and those that ended there.
    background: usize,
    ended: usize,
    wake_ups: usize,
}

/// Fires the events. Says what was seen, or what grew.
pub(super) fn run(program: &Path, events: usize) -> Result<String> {
    let home = tempfile::tempdir()?;
    let project = write_home(home.path(), &build_hooks())?;
    let mut server = Server::start(program, home.path())?;
    let mut lanes = Vec::new();
    for _ in 0..SESSIONS {
        let name = server.open(&project)?;
        lanes.push(Lane {
            name,
            ..Lane::default()
        });
    }
    let mut load = Load {
        server,
        lanes,
        waiting: HashMap::new(),
        events: 0,
        background: 0,
        ended: 0,
        wake_ups: 0,
    };
    let mut samples: Vec<Usage> = Vec::new();
    let started = Instant::now();
    while load.events < events {
        load.fire_until(events.min(load.events + SAMPLE_EVENTS))?;
        samples.push(read_usage(load.server.pid(), home.path())?);
    }
    let took = started.elapsed();
    let Load {
        server,
        background,
        wake_ups,
        ..
    } = load;
    ensure!(background > 0, "no handler went to the background");
    ensure!(wake_ups > 0, "no handler woke its session");
    server.hang_up()?;
    let thirds = Thirds::compare(&samples)?;
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = events as f64 / took.as_secs_f64();
    Ok(format!(
        "load: {events} events from {SESSIONS} sessions in {:.0} s, {rate:.0} a second; \
         {background} handlers in the background, {wake_ups} wake-ups\n{thirds}",
        took.as_secs_f64()
    ))
}

/// Each event runs one command; the tool `Slow` runs two more that go on.
fn build_hooks() -> Value {
    let quick = json!([{"hooks": [{"type": "command", "command": "exit 0"}]}]);
    let late = "echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PostToolUse\", \
                \"additionalContext\": \"late\"}}'";
    json!({
        "UserPromptSubmit": quick, "PreToolUse": quick, "Stop": quick,
        "PostToolUse": [
            {"hooks": [{"type": "command", "command": "exit 0"}]},
            {"matcher": "Slow", "hooks": [
                {"type": "command", "async": true, "command": late},
                {"type": "command", "asyncRewake": true, "command": "echo look >&2; exit 2"},
            ]},
        ],
    })
}

impl Load {
    /// Fires until so many events were fired, then waits for all that they started.
    fn fire_until(&mut self, goal: usize) -> Result<()> {
        for at in 0..self.lanes.len() {
            self.fire_next(at, goal)?;
        }
        while !self.waiting.is_empty() || self.ended < self.background {
            let message = self.server.read()?;
            self.handle_message(&message, goal)?;
        }
        Ok(())
    }

    fn handle_message(&mut self, message: &Value, goal: usize) -> Result<()> {
        match message["method"].as_str() {
            Some("background_ended") => self.ended += 1,
            Some("wake_up") => {
                let session = message["params"]["session"].as_str();
                let lane = self
                    .lanes
                    .iter_mut()
                    .find(|lane| Some(&*lane.name) == session);
                let prompt = message["params"]["prompt"].as_str();
                let prompt = prompt.context("a wake-up without a prompt")?;
                let lane = lane.context("a wake-up of no session")?;
                lane.wakes.push(prompt.to_owned());
                self.wake_ups += 1;
            }
            Some(other) => ensure!(other == "changed", "the server says {message}"),
            None => {
                let id = message["id"].as_u64().context("an answer without an id")?;
                let at = self.waiting.remove(&id).context("an answer to nothing")?;
                self.handle_answer(at, &message["result"], goal)?;
            }
        }
        Ok(())
    }

    fn handle_answer(&mut self, at: usize, result: &Value, goal: usize) -> Result<()> {
        let handlers = result["report"]["handlers"].as_array();
        let statuses = handlers
            .into_iter()
            .flatten()
            .map(|handler| &handler["status"]);
        self.background += statuses.filter(|status| *status == "background").count();
        let deliveries = result["deliveries"].as_array().into_iter().flatten();
        let places = deliveries.map(|delivery| &delivery["place"]);
        self.wake_ups += places
            .filter(|place| place.get("notification").is_some())
            .count();
        let lane = &self.lanes[at];
        // What has ended meanwhile goes into a request, as in every host.
        if handlers.is_some() && lane.place == SLOW_PLACE + 1 {
            let params = json!({"session": lane.name, "point": "next_request"});
            let id = self.server.send("take_deliveries", &params)?;
            self.waiting.insert(id, at);
            return Ok(());
        }
        self.fire_next(at, goal)
    }

    fn fire_next(&mut self, at: usize, goal: usize) -> Result<()> {
        if self.events >= goal {
            return Ok(());
        }
        let lane = &mut self.lanes[at];
        let name = TURN[lane.place];
        let mut event = json!({"hook_event_name": name, "session_id": lane.name, "cwd": "/",
            "tool_use_id": "t", "tool_input": {"command": "x"}, "tool_response": {"stdout": ""},
            "tool_name": if lane.place == SLOW_PLACE { "Slow" } else { "Quick" }});
        if lane.place == 0 {
            event["prompt"] = lane.wakes.pop().unwrap_or_else(|| "go on".into()).into();
        }
        lane.place = (lane.place + 1) % TURN.len();
        let params = json!({"session": lane.name, "event": event});
        let id = self.server.send("fire", &params)?;
        self.waiting.insert(id, at);
        self.events += 1;
        Ok(())
    }
}
