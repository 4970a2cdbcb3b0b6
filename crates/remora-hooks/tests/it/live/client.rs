//! The client as far as hooks see it: prompts, turns, tool calls, requests. The
//! model's answers are scripted; everything that hooks decide is asked of the
//! session.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;

use remora_core::model::ModelMessage;
use remora_hooks::{
    Delivery, DeliveryPlace, Fired, Reload, RequestPoint, SessionNotice, StopDecision,
};
use serde_json::{Value, json};

use super::heads;
use super::world::{Interruption, World};

mod calls;
mod payload;

/// A text that reached a model.
#[derive(Debug, Clone)]
pub(super) struct Delivered {
    pub(super) to: &'static str,
    pub(super) request: usize,
    pub(super) role: &'static str,
    pub(super) text: String,
    pub(super) notification: bool,
}

/// What a model says.
enum Reply {
    Text(String),
    Tools(Vec<Value>),
    Failed(Value),
}

/// How often a request is made that the provider does not accept.
const REFUSED_TRIES: usize = 4;

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
    /// What requests have carried of them.
    carried: Vec<Delivered>,
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
    mode: RefCell<String>,
    /// The user has said something.
    prompted: Cell<bool>,
    main: RefCell<Talk>,
    agents: Cell<usize>,
    /// Tools that a handler allowed for the session.
    allowed: RefCell<Vec<String>>,
    /// Tasks of the list, by number.
    tasks: RefCell<Vec<Value>>,
    pub(super) delivered: RefCell<Vec<Delivered>>,
    pub(super) tools: RefCell<BTreeMap<String, ToolEnd>>,
    /// Blocks of agents that ended in spite of them.
    pub(super) overrides: RefCell<Vec<u32>>,
    /// How each turn ended.
    pub(super) ends: RefCell<Vec<Option<&'static str>>>,
}

impl<'a> Client<'a> {
    pub(super) fn new(world: &'a World<'a>) -> Self {
        let case = world.case;
        Self {
            world,
            mode: RefCell::new(case.permission_mode()),
            prompted: Cell::new(false),
            main: RefCell::new(Talk::new(None, case.app())),
            agents: Cell::new(0),
            allowed: RefCell::default(),
            tasks: RefCell::default(),
            delivered: RefCell::default(),
            tools: RefCell::default(),
            overrides: RefCell::default(),
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
            _ if prompt.split(' ').next() == Some("/compact") => self.compact(prompt),
            _ => self.run_turn(prompt, None),
        }
    }

    fn start_session(&self, source: &str) {
        let fired = self.fire(None, "SessionStart", &json!({"source": source}));
        self.keep(&fired);
    }

    /// Texts that wait for the first prompt.
    fn keep(&self, fired: &Fired) {
        self.main
            .borrow_mut()
            .take(&fired.deliveries, self.world.model.is_old_style());
    }

    fn compact(&self, prompt: &str) {
        let wishes = prompt.split_once(' ').map(|(_, wishes)| wishes);
        let own = json!({"trigger": "manual", "custom_instructions": wishes});
        let fired = self.fire(None, "PreCompact", &own);
        if fired.report.outcome.blocked {
            self.end_turn(None);
            return;
        }
        self.world.seen.count_request("main");
        let request = [(
            "user",
            "Write a summary of the conversation so far.".to_owned(),
        )];
        let turn = self.world.model.answer(false, &request);
        let end = json!({"agent_id": "compaction", "agent_type": "", "stop_hook_active": false});
        self.fire(None, "SubagentStop", &end);
        let summary = turn["text"].as_str().unwrap_or_default().to_owned();
        let mut main = self.main.borrow_mut();
        main.carried.clear();
        main.messages = vec![(
            "user",
            format!("The summary of what was before:\n{summary}"),
        )];
        drop(main);
        self.start_session("compact");
        let own = json!({"trigger": "manual", "compact_summary": summary});
        self.fire(None, "PostCompact", &own);
        self.end_turn(None);
    }

    /// A prompt, of the user or of a hook that woke the model.
    fn run_turn(&self, prompt: &str, woken: Option<String>) {
        self.fire_changes();
        self.prompted.set(true);
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
        self.take(&mut talk, &fired);
        if let Some(skill) = prompt.strip_prefix('/') {
            let (name, args) = skill.split_once(' ').unwrap_or((skill, ""));
            let expansion = json!({"expansion_type": "slash_command", "command_name": name,
                "command_args": args, "command_source": "projectSettings", "prompt": prompt});
            let fired = self.fire(None, "UserPromptExpansion", &expansion);
            if fired.report.outcome.blocked || !fired.report.outcome.go_on {
                talk.messages.pop();
                talk.coming.clear();
                *self.main.borrow_mut() = talk;
                self.world.session.end_turn();
                self.end_turn(None);
                return;
            }
            self.take(&mut talk, &fired);
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
                Reply::Failed(error) => {
                    // A session with one prompt ends before its handlers begin.
                    if self.world.has_drive() || talk.agent.is_some() {
                        let own = json!({"error": "unknown",
                            "last_assistant_message": error["message"]});
                        self.fire(Some(talk), "StopFailure", &own);
                    }
                    return Some("completed");
                }
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
                    // Of a subagent's end the client says nothing.
                    if let Some(StopDecision::Overridden { blocks }) = fired.stop
                        && talk.agent.is_none()
                    {
                        self.overrides.borrow_mut().push(blocks);
                    }
                    match fired.stop {
                        Some(StopDecision::Continues) => self.take(talk, &fired),
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
                let role = role_of_asides(self.world.model.is_old_style());
                talk.coming
                    .push(Delivered::notification(role, delivery.text));
                self.take(talk, &fired);
            } else {
                talk.take(&[delivery], self.world.model.is_old_style());
            }
        }
        if point == RequestPoint::NextPrompt {
            return;
        }
        let joined = std::mem::take(&mut *self.world.prompts.borrow_mut());
        for prompt in joined {
            let fired = self.fire(Some(talk), "UserPromptSubmit", &json!({"prompt": prompt}));
            talk.messages.push(("user", prompt));
            self.take(talk, &fired);
        }
    }

    fn take(&self, talk: &mut Talk, fired: &Fired) {
        talk.take(&fired.deliveries, self.world.model.is_old_style());
    }

    fn request(&self, talk: &mut Talk) -> Option<Reply> {
        let kind = talk.kind();
        let request = self.world.seen.count_request(kind);
        for mut delivered in std::mem::take(&mut talk.coming) {
            delivered.to = kind;
            delivered.request = request;
            talk.messages.push((delivered.role, delivered.text.clone()));
            talk.carried.push(delivered.clone());
            self.delivered.borrow_mut().push(delivered);
        }
        let in_agent = talk.agent.is_some();
        let mut turn = self.world.model.answer(in_agent, &talk.messages);
        for _ in 1..REFUSED_TRIES {
            if !matches!(turn["error"]["status"].as_u64(), Some(400 | 404)) {
                break;
            }
            self.world.seen.count_request(kind);
            turn = self.world.model.answer(in_agent, &talk.messages);
        }
        if let Some(seconds) = turn["delay"].as_f64() {
            self.world.pass(seconds);
        }
        let reply = match turn["tools"].as_array() {
            _ if turn["error"].is_object() => Reply::Failed(turn["error"].clone()),
            Some(calls) => Reply::Tools(calls.clone()),
            None => Reply::Text(turn["text"].as_str().unwrap_or_default().to_owned()),
        };
        self.world.interruption.get().is_none().then_some(reply)
    }

    /// Changes that were noticed since.
    fn fire_changes(&self) {
        while let Some((path, kind)) = self.world.take_change() {
            for event in self.world.session.describe_change(&path, kind) {
                let fired = self.world.fire(Value::Object(event.fields), &[]);
                assert!(!matches!(fired.reload, Some(Reload::Failed(_))));
            }
        }
    }

    fn fire(&self, talk: Option<&Talk>, event: &str, own: &Value) -> Fired {
        let fields = self.build_payload(talk, event, own);
        let Some(talk) = talk.filter(|_| ["Stop", "SubagentStop"].contains(&event)) else {
            return self.world.fire(fields, &[]);
        };
        self.world.model.note_judged(talk.carried.clone());
        let so_far = talk.messages.iter().map(|(role, text)| match *role {
            "assistant" => ModelMessage::Assistant {
                text: text.clone(),
                calls: Vec::new(),
            },
            _ => ModelMessage::User(text.clone()),
        });
        self.world.fire(fields, &so_far.collect::<Vec<_>>())
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
            carried: Vec::new(),
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

    fn take(&mut self, deliveries: &[Delivery], old_style: bool) {
        for delivery in deliveries {
            let role = match delivery.place {
                DeliveryPlace::Aside | DeliveryPlace::Notification { .. } => {
                    role_of_asides(old_style)
                }
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

fn role_of_asides(old_style: bool) -> &'static str {
    if old_style { "user" } else { "system" }
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
