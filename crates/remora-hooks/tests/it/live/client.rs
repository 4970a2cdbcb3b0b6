//! The client as far as hooks see it: prompts, turns, tool calls, requests. The
//! model's answers are scripted; everything that hooks decide is asked of the
//! session.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;

use remora_hooks::{
    Delivery, DeliveryPlace, Fired, Reload, RequestPoint, SessionNotice, StopDecision,
};
use serde_json::{Map, Value, json};

use super::heads;
use super::model::{Model, Reply};
use super::world::{Interruption, World};

mod calls;

const SESSION_ID: &str = "11111111-2222-4333-8444-555555555555";

/// A text that reached a model.
#[derive(Debug, Clone)]
pub(super) struct Delivered {
    pub(super) to: &'static str,
    pub(super) request: usize,
    pub(super) role: &'static str,
    pub(super) text: String,
    pub(super) notification: bool,
}

/// One tool call that is over.
#[derive(Debug, Clone)]
pub(super) struct ToolEnd {
    pub(super) ended: &'static str,
    pub(super) result: String,
}

/// One conversation.
struct Talk {
    /// Its agent; `None` for the main one.
    agent: Option<(String, String)>,
    /// What the model has read.
    messages: Vec<(&'static str, String)>,
    /// What the next request carries of hooks.
    coming: Vec<Delivered>,
    cwd: PathBuf,
    last_text: String,
}

/// How a batch of calls or a turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    GoesOn,
    Ends(&'static str),
}

pub(super) struct Client<'a> {
    pub(super) world: &'a World<'a>,
    model: RefCell<Model>,
    mode: RefCell<String>,
    main: RefCell<Talk>,
    agents: Cell<usize>,
    /// Tools that a handler allowed for the session.
    allowed: RefCell<Vec<String>>,
    pub(super) delivered: RefCell<Vec<Delivered>>,
    pub(super) tools: RefCell<BTreeMap<String, ToolEnd>>,
    /// How each turn ended.
    pub(super) ends: RefCell<Vec<Option<&'static str>>>,
}

impl<'a> Client<'a> {
    pub(super) fn new(world: &'a World<'a>) -> Self {
        let case = world.case;
        Self {
            world,
            model: RefCell::new(Model::new(&case.value["model"])),
            mode: RefCell::new(case.permission_mode()),
            main: RefCell::new(Talk::new(None, case.app())),
            agents: Cell::new(0),
            allowed: RefCell::default(),
            delivered: RefCell::default(),
            tools: RefCell::default(),
            ends: RefCell::default(),
        }
    }

    /// The whole session.
    pub(super) fn play(&self) {
        if let Some(name) = self.world.case.arg_value("--agent")
            && let Some(agent) = heads::find_agent(self.world.case, &name)
        {
            self.world.session.add_main_agent(agent).unwrap();
        }
        if let Some(trigger) = self.world.case.setup_trigger() {
            let fired = self.fire(None, "Setup", &json!({"trigger": trigger}));
            self.keep(&fired);
        }
        self.start_session("startup");
        let reason = if self.world.has_drive() {
            self.live()
        } else {
            let prompt = self.world.case.value["prompt"].as_str().unwrap().to_owned();
            self.run_prompt(&prompt);
            "other"
        };
        self.fire(None, "SessionEnd", &json!({"reason": reason}));
    }

    /// Idle and busy until the script is over; the reason of the end.
    fn live(&self) -> &'static str {
        let world = self.world;
        let wake = RefCell::new(None);
        loop {
            let tick = || {
                for notice in world.session.tick() {
                    if let SessionNotice::WakeUp(wake_up) = notice {
                        *wake.borrow_mut() = Some(wake_up);
                    }
                }
                wake.borrow().is_some()
            };
            world.run_until(|| {
                !world.prompts.borrow().is_empty()
                    || world.has_change()
                    || world.interruption.get().is_some()
                    || tick()
                    || world.is_drive_over()
            });
            if let Some(how) = world.interruption.get() {
                match how {
                    Interruption::Escape => world.interruption.set(None),
                    Interruption::Exit => return "prompt_input_exit",
                    Interruption::Signal => return "other",
                }
            }
            self.fire_changes();
            let prompt = world.prompts.borrow_mut().pop_front();
            if let Some(wake_up) = wake.borrow_mut().take() {
                if let Some(prompt) = prompt {
                    world.prompts.borrow_mut().push_front(prompt);
                }
                self.run_turn(&wake_up.prompt, Some(wake_up.text));
                continue;
            }
            match prompt.as_deref() {
                Some("/exit") => return "prompt_input_exit",
                Some(prompt) => self.run_prompt(prompt),
                None if world.is_drive_over() && !world.has_change() => return "other",
                None => {}
            }
        }
    }

    fn run_prompt(&self, prompt: &str) {
        match prompt {
            "/clear" => {
                self.fire(None, "SessionEnd", &json!({"reason": "clear"}));
                *self.main.borrow_mut() = Talk::new(None, self.world.case.app());
                self.start_session("clear");
                self.end_turn(None);
            }
            "/compact" => self.compact(),
            _ => self.run_turn(prompt, None),
        }
    }

    fn start_session(&self, source: &str) {
        let fired = self.fire(None, "SessionStart", &json!({"source": source}));
        self.keep(&fired);
    }

    /// Texts that wait for the first prompt.
    fn keep(&self, fired: &Fired) {
        self.main.borrow_mut().take(&fired.deliveries);
    }

    fn compact(&self) {
        self.fire(
            None,
            "PreCompact",
            &json!({"trigger": "manual", "custom_instructions": null}),
        );
        self.count_request("main");
        let _ = self.model.borrow_mut().answer(false, &[]);
        let end = json!({"agent_id": "compaction", "agent_type": "", "stop_hook_active": false});
        self.fire(None, "SubagentStop", &end);
        self.start_session("compact");
        self.fire(
            None,
            "PostCompact",
            &json!({"trigger": "manual", "compact_summary": "S"}),
        );
        self.end_turn(None);
    }

    /// A prompt, of the user or of a hook that woke the model.
    fn run_turn(&self, prompt: &str, woken: Option<String>) {
        self.fire_changes();
        let fired = self.fire(None, "UserPromptSubmit", &json!({"prompt": prompt}));
        if fired.report.outcome.blocked || !fired.report.outcome.go_on {
            self.end_turn(None);
            return;
        }
        let mut talk = self.take_main();
        talk.messages.push(("user", prompt.to_owned()));
        if let Some(text) = woken {
            talk.coming.push(Delivered::notification("user", text));
        }
        talk.take(&fired.deliveries);
        if let Some(skill) = prompt.strip_prefix('/') {
            let (name, args) = skill.split_once(' ').unwrap_or((skill, ""));
            let expansion = json!({"expansion_type": "slash_command", "command_name": name,
                "command_args": args, "command_source": "projectSettings", "prompt": prompt});
            let fired = self.fire(None, "UserPromptExpansion", &expansion);
            talk.take(&fired.deliveries);
            self.use_skill(name);
        }
        let end = self.converse(&mut talk);
        *self.main.borrow_mut() = talk;
        self.world.session.end_turn();
        self.end_turn(end);
    }

    fn take_main(&self) -> Talk {
        let empty = Talk::new(None, PathBuf::new());
        std::mem::replace(&mut *self.main.borrow_mut(), empty)
    }

    fn end_turn(&self, reason: Option<&'static str>) {
        self.ends.borrow_mut().push(reason);
        self.world.results.set(self.world.results.get() + 1);
    }

    /// Requests and answers until the agent stops; how it ended.
    fn converse(&self, talk: &mut Talk) -> Option<&'static str> {
        let mut point = Some(RequestPoint::NextPrompt);
        let most = self.world.case.arg_value("--max-turns");
        let mut left = most.map(|text| text.parse::<usize>().unwrap());
        loop {
            if talk.agent.is_none() {
                match left.as_mut() {
                    Some(0) => return Some("max_turns"),
                    Some(left) => *left -= 1,
                    None => {}
                }
            }
            if talk.agent.is_none()
                && let Some(point) = point
            {
                self.add_late_texts(talk, point);
            }
            let reply = self.request(talk)?;
            match reply {
                Reply::Text(text) => {
                    talk.messages.push(("assistant", text.clone()));
                    talk.last_text = text;
                    let (event, own) = match &talk.agent {
                        None => ("Stop", json!({})),
                        Some(_) => ("SubagentStop", json!({})),
                    };
                    let fired = self.fire(Some(talk), event, &own);
                    if self.world.interruption.get().is_some() {
                        return None;
                    }
                    match fired.stop {
                        Some(StopDecision::Continues) => talk.take(&fired.deliveries),
                        _ if !fired.report.outcome.go_on => return Some("stop_hook_prevented"),
                        _ => return Some("completed"),
                    }
                    point = None;
                }
                Reply::Tools(calls) => {
                    if let Course::Ends(reason) = self.run_batch(talk, &calls) {
                        return (!reason.is_empty()).then_some(reason);
                    }
                    point = Some(RequestPoint::NextRequest);
                }
            }
        }
    }

    /// What came from handlers in the background, and from the user meanwhile.
    fn add_late_texts(&self, talk: &mut Talk, point: RequestPoint) {
        self.fire_changes();
        for delivery in self.world.session.take_deliveries(point) {
            if let DeliveryPlace::Notification { prompt } = &delivery.place {
                let fired = self.fire(Some(talk), "UserPromptSubmit", &json!({"prompt": prompt}));
                if fired.report.outcome.blocked {
                    continue;
                }
                talk.coming
                    .push(Delivered::notification("system", delivery.text));
                talk.take(&fired.deliveries);
            } else {
                talk.take(&[delivery]);
            }
        }
        if point == RequestPoint::NextPrompt {
            return;
        }
        let joined = std::mem::take(&mut *self.world.prompts.borrow_mut());
        for prompt in joined {
            let fired = self.fire(Some(talk), "UserPromptSubmit", &json!({"prompt": prompt}));
            talk.messages.push(("user", prompt));
            talk.take(&fired.deliveries);
        }
    }

    fn count_request(&self, kind: &'static str) -> usize {
        let mut requests = self.world.requests.borrow_mut();
        let n = requests.entry(kind).or_insert(0);
        *n += 1;
        *n
    }

    fn request(&self, talk: &mut Talk) -> Option<Reply> {
        let kind = talk.kind();
        let request = self.count_request(kind);
        for mut delivered in std::mem::take(&mut talk.coming) {
            delivered.to = kind;
            delivered.request = request;
            talk.messages.push((delivered.role, delivered.text.clone()));
            self.delivered.borrow_mut().push(delivered);
        }
        let mut model = self.model.borrow_mut();
        let (reply, delay) = model.answer(talk.agent.is_some(), &talk.messages);
        drop(model);
        if let Some(seconds) = delay {
            self.world.pass(seconds);
        }
        self.world.interruption.get().is_none().then_some(reply)
    }

    /// Changes that were noticed since.
    fn fire_changes(&self) {
        while let Some((path, kind)) = self.world.take_change() {
            for event in self.world.session.describe_change(&path, kind) {
                let fired = self.world.fire(Value::Object(event.fields));
                assert!(!matches!(fired.reload, Some(Reload::Failed(_))));
            }
        }
    }

    fn fire(&self, talk: Option<&Talk>, event: &str, own: &Value) -> Fired {
        let case = self.world.case;
        let main_cwd = self.main.borrow().cwd.clone();
        let mut fields = Map::new();
        fields.insert("session_id".into(), SESSION_ID.into());
        let transcript = case
            .root
            .join(format!(".claude/projects/-home-dev-app/{SESSION_ID}.jsonl"));
        fields.insert(
            "transcript_path".into(),
            transcript.to_string_lossy().into(),
        );
        let cwd = talk.map_or(main_cwd, |talk| talk.cwd.clone());
        let cwd = if cwd.as_os_str().is_empty() {
            case.app()
        } else {
            cwd
        };
        fields.insert("cwd".into(), cwd.to_string_lossy().into());
        let quiet = [
            "SessionStart",
            "SessionEnd",
            "Setup",
            "PreCompact",
            "PostCompact",
            "CwdChanged",
        ];
        if !quiet.contains(&event) {
            let mode = self.mode.borrow().clone();
            fields.insert("permission_mode".into(), mode.into());
            if let Some(agent) = case.arg_value("--agent") {
                fields.insert("agent_type".into(), agent.into());
            }
        }
        if let Some((id, kind)) = talk.and_then(|talk| talk.agent.as_ref()) {
            fields.insert("agent_id".into(), id.clone().into());
            fields.insert("agent_type".into(), kind.clone().into());
        }
        fields.insert("hook_event_name".into(), event.into());
        if let (Some(talk), "Stop" | "SubagentStop") = (talk, event) {
            fields.insert("stop_hook_active".into(), false.into());
            fields.insert(
                "last_assistant_message".into(),
                talk.last_text.clone().into(),
            );
        }
        fields.extend(own.as_object().unwrap().clone());
        self.world.fire(Value::Object(fields))
    }
}

impl Course {
    fn stopped(stops: bool) -> Self {
        if stops {
            Self::Ends("hook_stopped")
        } else {
            Self::GoesOn
        }
    }

    fn and(self, later: Self) -> Self {
        if self == Self::GoesOn { later } else { self }
    }
}

impl Talk {
    fn new(agent: Option<(String, String)>, cwd: PathBuf) -> Self {
        Self {
            agent,
            messages: Vec::new(),
            coming: Vec::new(),
            cwd,
            last_text: String::new(),
        }
    }

    fn kind(&self) -> &'static str {
        if self.agent.is_some() {
            "subagent"
        } else {
            "main"
        }
    }

    fn cwd_mut(&mut self) -> &mut PathBuf {
        &mut self.cwd
    }

    fn take(&mut self, deliveries: &[Delivery]) {
        for delivery in deliveries {
            let role = match delivery.place {
                DeliveryPlace::Aside | DeliveryPlace::Notification { .. } => "system",
                DeliveryPlace::ToolResult | DeliveryPlace::UserMessage => "user",
            };
            self.coming.push(Delivered {
                to: self.kind(),
                request: 0,
                role,
                text: delivery.text.clone(),
                notification: false,
            });
        }
    }
}

impl Delivered {
    fn notification(role: &'static str, text: String) -> Self {
        Self {
            to: "main",
            request: 0,
            role,
            text,
            notification: true,
        }
    }
}
