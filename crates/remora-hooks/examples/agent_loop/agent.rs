//! The loop of an agent that runs hooks: every event of a turn, and what the agent makes
//! of each outcome. `docs/guide/embedding.md` quotes the middle of it.

use std::time::Duration;

use remora_core::{Event, EventName, Permission};
use remora_hooks::{Delivery, DeliveryPlace, Fired, Host, RequestPoint, Session};
use remora_hooks::{SessionNotice, StopDecision};
use serde_json::{Map, Value, json};

use super::world::{Call, Reply, World};

/// How long an idle agent waits before it looks again.
const IDLE_WAIT: Duration = Duration::from_mins(1);

/// An agent in its session.
pub(crate) struct Agent<'a, W> {
    pub(crate) session: &'a Session,
    /// What the engine is lent: an environment, callbacks, a model, servers.
    pub(crate) host: Host<'a>,
    /// The agent's own: its model, its tools, its user.
    pub(crate) world: W,
    /// What every event carries.
    pub(crate) base: Map<String, Value>,
    /// Texts that the next request carries behind the prompt or the results.
    pub(crate) asides: Vec<String>,
}

// The guide quotes from here.
impl<W: World> Agent<'_, W> {
    /// A turn: from a prompt to an end that the hooks allow.
    fn run_turn(&mut self, prompt: &str, shown: &str) {
        let fired = self.fire(EventName::UserPromptSubmit, json!({"prompt": prompt}));
        if !self.accept_prompt(&fired, prompt) {
            return;
        }
        self.world.add("user", shown);
        self.deliver(fired.deliveries);
        self.deliver(self.session.take_deliveries(RequestPoint::NextPrompt));
        while let Some(reply) = self.ask_model() {
            if reply.calls.is_empty() {
                let said = json!({"last_assistant_message": reply.text});
                let fired = self.fire(EventName::Stop, said);
                self.deliver(fired.deliveries);
                if fired.stop == Some(StopDecision::Continues) {
                    continue;
                }
                return;
            }
            let mut results = Vec::new();
            for call in &reply.calls {
                results.push(self.make_call(call));
            }
            let mut goes_on = results.iter().all(|(_, goes_on)| *goes_on);
            if goes_on {
                let calls: Vec<Value> = results.into_iter().map(|(call, _)| call).collect();
                let fired = self.fire(EventName::PostToolBatch, json!({"tool_calls": calls}));
                self.deliver(fired.deliveries);
                goes_on = fired.report.outcome.go_on;
            }
            if !goes_on {
                break;
            }
            self.deliver(self.session.take_deliveries(RequestPoint::NextRequest));
        }
        self.session.end_turn();
    }

    /// One call, and whether the turn goes on behind it.
    fn make_call(&mut self, call: &Call) -> (Value, bool) {
        let mut about = json!({"tool_name": call.tool, "tool_input": call.input,
            "tool_use_id": call.id});
        let (refused, mut goes_on) = self.decide(&mut about);
        let text = refused.unwrap_or_else(|| {
            let prelude = self.session.shell_prelude();
            let made = self
                .world
                .call_tool(&call.tool, &about["tool_input"], &prelude);
            let (event, key, value) = match &made {
                Ok(output) => (EventName::PostToolUse, "tool_response", output.clone()),
                Err(error) => (EventName::PostToolUseFailure, "error", json!(error)),
            };
            let mut after = about.clone();
            after[key] = value;
            let fired = self.fire(event, after);
            self.deliver(fired.deliveries);
            goes_on &= fired.report.outcome.go_on;
            let output = fired.report.outcome.updated_output.map_or(made, Ok);
            output.map_or_else(|error| error, |output| read_text(&output))
        });
        self.world.add("result", &text);
        about["tool_response"] = text.into();
        (about, goes_on)
    }
}
// The guide quotes up to here.

impl<W: World> Agent<'_, W> {
    /// A whole session: the user's prompts, and the turns that hooks begin.
    pub(crate) fn run_session(&mut self, prompts: Vec<String>) {
        let started = self.fire(EventName::SessionStart, json!({"source": "startup"}));
        let first = started.report.outcome.initial_user_message;
        self.deliver(started.deliveries);
        for prompt in first.into_iter().chain(prompts) {
            self.run_turn(&prompt, &prompt);
        }
        loop {
            let nothing_runs = self.session.list_running().is_empty();
            let notices = self.session.tick();
            if nothing_runs && notices.is_empty() {
                break;
            }
            for notice in notices {
                if let SessionNotice::WakeUp(wake) = notice {
                    self.run_turn(&wake.prompt, &wake.text);
                }
            }
            self.session.wait_for_notice(IDLE_WAIT);
        }
        self.fire(EventName::SessionEnd, json!({"reason": "other"}));
        self.session.close().end();
    }

    /// Hooks, rules and the user about one call: why it is not made, if it is not, and
    /// whether the turn goes on.
    fn decide(&mut self, about: &mut Value) -> (Option<String>, bool) {
        let mut fired = self.fire(EventName::PreToolUse, about.clone());
        let mut goes_on = fired.report.outcome.go_on;
        replace_input(about, &fired);
        if fired.report.outcome.final_decision == Some(Permission::Ask) {
            self.deliver(fired.deliveries);
            fired = self.fire(EventName::PermissionRequest, about.clone());
            goes_on &= fired.report.outcome.interrupt != Some(true);
            replace_input(about, &fired);
            // Rules had their say before; where hooks say nothing, the user is asked.
            if fired.report.outcome.permission.is_none() {
                fired.report.outcome.final_decision = Some(Permission::Ask);
            }
        }
        let outcome = fired.report.outcome;
        let labelled = self.deliver(fired.deliveries);
        let refused = match outcome.final_decision {
            None | Some(Permission::Allow) => None,
            Some(Permission::Ask) => self.ask_user(about),
            Some(decision) => {
                // Deferred only where no user can be asked: whoever started the run decides.
                goes_on &= decision != Permission::Defer;
                let why = labelled.or(outcome.final_why);
                Some(why.unwrap_or_else(|| "The call is refused.".into()))
            }
        };
        (refused, goes_on)
    }

    /// Puts texts where they belong. Returns the one that is the result of a call.
    fn deliver(&mut self, deliveries: Vec<Delivery>) -> Option<String> {
        let mut result = None;
        for delivery in deliveries.into_iter().filter(|d| d.agent.is_none()) {
            match delivery.place {
                DeliveryPlace::Aside => self.asides.push(delivery.text),
                DeliveryPlace::ToolResult => result = Some(delivery.text),
                DeliveryPlace::UserMessage => self.world.add("user", &delivery.text),
                DeliveryPlace::Notification { prompt } => {
                    let fired = self.fire(EventName::UserPromptSubmit, json!({"prompt": prompt}));
                    if self.accept_prompt(&fired, &prompt) {
                        self.asides.push(delivery.text);
                        self.deliver(fired.deliveries);
                    }
                }
            }
        }
        result
    }

    /// Fires an event and shows the user what hooks say to them.
    fn fire(&mut self, name: EventName, about: Value) -> Fired {
        let mut fields = self.base.clone();
        fields.insert("hook_event_name".into(), name.as_str().into());
        if let Value::Object(about) = about {
            fields.extend(about);
        }
        let fired = self.session.fire(&Event { name, fields }, &self.host);
        let outcome = &fired.report.outcome;
        for text in &outcome.messages {
            self.world.show("message", text);
        }
        if let Some(reason) = outcome.stop_reason.as_ref().filter(|_| !outcome.go_on) {
            self.world.show("stopped", reason);
        }
        for (kind, text) in [
            ("title", &outcome.session_title),
            ("terminal", &outcome.terminal_sequence),
        ] {
            if let Some(text) = text {
                self.world.show(kind, text);
            }
        }
        fired
    }

    /// Whether hooks let the prompt through; if not, the user is told and gets it back.
    fn accept_prompt(&mut self, fired: &Fired, prompt: &str) -> bool {
        let outcome = &fired.report.outcome;
        if outcome.blocked {
            let reason = outcome.reason.as_deref().unwrap_or_default();
            self.world.show("refused", reason);
            if outcome.suppress_original_prompt != Some(true) {
                self.world.show("prompt", prompt);
            }
        }
        !outcome.blocked && outcome.go_on
    }

    /// The next request; `None` if the model fails.
    fn ask_model(&mut self) -> Option<Reply> {
        for text in std::mem::take(&mut self.asides) {
            self.world.add("system", &text);
        }
        match self.world.ask_model() {
            Ok(reply) => {
                if reply.text.is_empty() {
                    return Some(reply);
                }
                let display = json!({"turn_id": "turn", "message_id": "message", "index": 0,
                    "final": true, "delta": reply.text});
                let shown = self
                    .fire(EventName::MessageDisplay, display)
                    .report
                    .outcome
                    .display_content;
                self.world.add("assistant", &reply.text);
                self.world
                    .show("assistant", shown.as_ref().unwrap_or(&reply.text));
                Some(reply)
            }
            Err(error) => {
                self.fire(
                    EventName::StopFailure,
                    json!({"error": "unknown", "last_assistant_message": error}),
                );
                self.world.show("failed", &error);
                None
            }
        }
    }

    /// Asks the user about a call; the answer is why it is not made.
    fn ask_user(&mut self, about: &Value) -> Option<String> {
        let tool = about["tool_name"].as_str().unwrap_or_default();
        let question = format!("{tool} {}", about["tool_input"]);
        self.fire(
            EventName::Notification,
            json!({"message": "Permission is needed",
            "notification_type": "permission_prompt"}),
        );
        let allowed = self.world.ask_user(&question);
        (!allowed).then(|| "The user does not want this call.".to_owned())
    }
}

fn replace_input(about: &mut Value, fired: &Fired) {
    if let Some(input) = &fired.report.outcome.updated_input {
        about["tool_input"] = Value::Object(input.clone());
    }
}

/// What the model reads of a tool's output.
fn read_text(output: &Value) -> String {
    let text = output.get("stdout").unwrap_or(output);
    text.as_str()
        .map_or_else(|| text.to_string(), str::to_owned)
}
