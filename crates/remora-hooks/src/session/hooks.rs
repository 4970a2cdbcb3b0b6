//! Hooks that live as long as a part of the session: of skills that were used, of
//! agents that run, of the host and its own code. Which of them an event reaches is
//! decided here; the rest of the plan treats them like any handler.

use std::path::PathBuf;
use std::sync::Arc;

use remora_core::{Event, EventName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::config::check::{GroupProblems, read_groups};
use crate::config::{HandlerConfig, HandlerKind, OnFailure};
use crate::layers::{
    ConfiguredHandler, LayerFile, LayerSource, Plugin, PluginActivation, PluginOptions,
};
use crate::plan::{CompiledHandler, SessionHandler};
use crate::trust::Trust;

/// The hooks in the head of a skill or an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeadHooks {
    /// The name of the skill or the agent's type.
    pub name: String,
    /// The value of the head's `hooks`.
    pub hooks: Value,
    /// The file that the head was read from.
    pub file: Option<PathBuf>,
    /// Where it comes from.
    pub origin: HeadOrigin,
}

/// Where a skill or an agent was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadOrigin {
    /// The project.
    Project,
    /// The user's own folder.
    User,
    /// The command line, or the host.
    Session,
    /// A plugin.
    Plugin {
        /// Its name.
        name: String,
        /// Its folder.
        root: PathBuf,
        /// Where it keeps its state.
        data: PathBuf,
    },
}

/// Hooks that the host brings for one session, by a name of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedHooks {
    /// By which the host takes them back.
    pub name: String,
    /// As the value of `hooks` in settings.
    pub hooks: Value,
    /// The file that they were read from, for reports.
    pub file: Option<PathBuf>,
}

/// A handler that the host runs in its own code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallbackHandler {
    /// By which the host knows it.
    pub id: String,
    /// The event's name.
    pub event: String,
    /// As in settings.
    pub matcher: Option<String>,
    /// Its time limit in seconds; the event's if it has none.
    pub timeout_seconds: Option<f64>,
    /// A failure blocks, where the event can be blocked.
    #[serde(default)]
    pub failure_blocks: bool,
}

/// Why hooks were not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// One entry is malformed, so none of them counts.
    #[error("{name}: {problem}; none of its hooks count")]
    Malformed {
        /// The skill or agent.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A plugin may not bring hooks with an agent.
    #[error("{0}: agents of plugins bring no hooks")]
    PluginAgent(String),
    /// The folder is not trusted.
    #[error("{0}: hooks of a project's agents need a trusted folder")]
    Untrusted(String),
    /// There is no such event.
    #[error("`{0}`: no such event")]
    UnknownEvent(String),
}

/// For whom registered hooks run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Audience {
    /// The main conversation, not its subagents.
    Main,
    /// One subagent.
    Agent(String),
    /// The whole session.
    Session,
}

/// What brought hooks in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Registered {
    Skill(HeadHooks),
    Agent(HeadHooks),
    Named(NamedHooks),
    Callback(CallbackHandler),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Registration {
    scope: String,
    audience: Audience,
    what: Registered,
    /// Ids of handlers that run once and have.
    spent: Vec<String>,
}

impl Registration {
    fn new(scope: String, audience: Audience, what: Registered) -> Self {
        Self {
            scope,
            audience,
            what,
            spent: Vec::new(),
        }
    }
}

/// All of them, as values.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct SessionHooks {
    list: Vec<Registration>,
    #[serde(skip)]
    compiled: Vec<Vec<Arc<SessionHandler>>>,
}

impl PartialEq for SessionHooks {
    /// What was compiled follows from the list.
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl SessionHooks {
    /// A skill was used: its hooks run in the main conversation from now on. Used
    /// again, it has its hooks once, and those that had run once are armed.
    pub(crate) fn add_skill(&mut self, skill: HeadHooks) -> Result<(), RegisterError> {
        let scope = format!("skill:{}", skill.name);
        if let Some(at) = self.list.iter().position(|r| r.scope == scope) {
            self.list[at].spent.clear();
            return Ok(());
        }
        self.add(scope, Audience::Main, Registered::Skill(skill))
    }

    /// A subagent runs: its hooks run for it alone.
    pub(crate) fn add_agent(
        &mut self,
        agent_id: &str,
        agent: HeadHooks,
        folder: Trust,
    ) -> Result<(), RegisterError> {
        self.remove_agent(agent_id);
        check_agent(&agent, folder)?;
        let audience = Audience::Agent(agent_id.to_owned());
        self.add(
            format!("agent:{agent_id}"),
            audience,
            Registered::Agent(agent),
        )
    }

    /// The session itself is that agent.
    pub(crate) fn add_main_agent(
        &mut self,
        agent: HeadHooks,
        folder: Trust,
    ) -> Result<(), RegisterError> {
        check_agent(&agent, folder)?;
        let scope = format!("agent:{}", agent.name);
        let what = Registered::Agent(agent);
        let registration = Registration::new(scope, Audience::Session, what);
        let compiled = compile(&registration)?;
        self.remove_main_agent();
        self.push(registration, compiled);
        Ok(())
    }

    /// The session is no agent any more; `false` if it was none.
    pub(crate) fn remove_main_agent(&mut self) -> bool {
        self.remove(|r| r.audience == Audience::Session && matches!(r.what, Registered::Agent(_)))
    }

    /// Hooks of the host's, for the whole session. Those that it brought under the
    /// same name go, unless the new ones are malformed.
    pub(crate) fn add_named(&mut self, named: NamedHooks) -> Result<(), RegisterError> {
        let scope = format!("session:{}", named.name);
        let what = Registered::Named(named);
        let registration = Registration::new(scope, Audience::Session, what);
        let compiled = compile(&registration)?;
        self.remove(|r| r.scope == registration.scope);
        self.push(registration, compiled);
        Ok(())
    }

    /// The host takes hooks back; `false` if there are none of that name.
    pub(crate) fn remove_named(&mut self, name: &str) -> bool {
        self.remove(|r| matches!(&r.what, Registered::Named(named) if named.name == name))
    }

    /// The host's own code.
    pub(crate) fn add_callback(&mut self, callback: CallbackHandler) -> Result<(), RegisterError> {
        let scope = format!("callback:{}", callback.id);
        self.add(scope, Audience::Session, Registered::Callback(callback))
    }

    /// The subagent has ended; `false` if it had no hooks.
    pub(crate) fn remove_agent(&mut self, agent_id: &str) -> bool {
        self.remove(|r| r.audience == Audience::Agent(agent_id.to_owned()))
    }

    /// The conversation was cleared.
    pub(crate) fn remove_skills(&mut self) {
        self.remove(|r| matches!(r.what, Registered::Skill(_)));
    }

    /// The host takes a callback back; `false` if there is none of that id.
    pub(crate) fn remove_callback(&mut self, id: &str) -> bool {
        self.remove(|r| matches!(&r.what, Registered::Callback(c) if c.id == id))
    }

    /// Compiles what was read back from a stored state.
    pub(crate) fn compile_all(&mut self) {
        self.compiled = self
            .list
            .iter()
            // Checked when they were registered; what is malformed now has no handlers.
            .map(|r| compile(r).unwrap_or_default())
            .collect();
    }

    /// The handlers that the event reaches.
    pub(crate) fn list_for(&self, event: &Event) -> Vec<Arc<SessionHandler>> {
        let agent = event.str_field("agent_id");
        let mut handlers = Vec::new();
        for (registration, compiled) in self.list.iter().zip(&self.compiled) {
            let reached = match &registration.audience {
                Audience::Session => true,
                // A session's end comes too late for a skill.
                Audience::Main => agent.is_none() && event.name != EventName::SessionEnd,
                Audience::Agent(id) => {
                    agent == Some(id.as_str()) && !begins_before_agent(event.name)
                }
            };
            let armed = |handler: &&Arc<SessionHandler>| {
                handler.entry.event == event.name
                    && !(handler.entry.config.once
                        && registration
                            .spent
                            .contains(&crate::plan::handler_id(&handler.entry)))
            };
            if reached {
                handlers.extend(compiled.iter().filter(armed).cloned());
            }
        }
        handlers
    }

    /// The handlers that run for whoever acts in the session, of all events.
    pub(crate) fn list_everywhere(&self) -> Vec<Arc<SessionHandler>> {
        let both = self.list.iter().zip(&self.compiled);
        both.filter(|(registration, _)| registration.audience == Audience::Session)
            .flat_map(|(_, compiled)| compiled.iter().cloned())
            .collect()
    }

    /// A handler has succeeded: one that runs once is spent. `once` counts for
    /// skills alone.
    pub(crate) fn note_success(&mut self, handler_id: &str) {
        for (registration, compiled) in self.list.iter_mut().zip(&self.compiled) {
            let ran = compiled.iter().any(|handler| {
                handler.entry.config.once && crate::plan::handler_id(&handler.entry) == handler_id
            });
            if ran && matches!(registration.what, Registered::Skill(_)) {
                registration.spent.push(handler_id.to_owned());
            }
        }
    }

    fn add(
        &mut self,
        scope: String,
        audience: Audience,
        what: Registered,
    ) -> Result<(), RegisterError> {
        let registration = Registration::new(scope, audience, what);
        let compiled = compile(&registration)?;
        self.push(registration, compiled);
        Ok(())
    }

    fn push(&mut self, registration: Registration, compiled: Vec<Arc<SessionHandler>>) {
        self.list.push(registration);
        self.compiled.push(compiled);
    }

    /// Removes what fits; `false` if nothing does.
    fn remove(&mut self, goes: impl Fn(&Registration) -> bool) -> bool {
        let before = self.list.len();
        let mut gone = self.list.iter().map(&goes).collect::<Vec<_>>().into_iter();
        self.compiled.retain(|_| !gone.next().unwrap_or_default());
        self.list.retain(|r| !goes(r));
        self.list.len() < before
    }
}

/// Entries of these events never run for a subagent: they are over, or are not
/// about it.
fn begins_before_agent(event: EventName) -> bool {
    matches!(
        event,
        EventName::SubagentStart
            | EventName::SessionStart
            | EventName::UserPromptSubmit
            | EventName::SessionEnd
    )
}

fn check_agent(agent: &HeadHooks, folder: Trust) -> Result<(), RegisterError> {
    match (&agent.origin, folder) {
        (HeadOrigin::Plugin { .. }, _) => Err(RegisterError::PluginAgent(agent.name.clone())),
        (HeadOrigin::Project, Trust::Untrusted) => {
            Err(RegisterError::Untrusted(agent.name.clone()))
        }
        _ => Ok(()),
    }
}

fn compile(registration: &Registration) -> Result<Vec<Arc<SessionHandler>>, RegisterError> {
    let scope: Arc<str> = registration.scope.as_str().into();
    let entries = match &registration.what {
        Registered::Skill(head) => read_head(head, LayerSource::Skill)?,
        Registered::Agent(head) => {
            let mut entries = read_head(head, LayerSource::Agent)?;
            if matches!(registration.audience, Audience::Agent(_)) {
                convert_stops(&mut entries);
            }
            for entry in &mut entries {
                entry.config.once = false;
            }
            entries
        }
        Registered::Named(named) => {
            let mut entries = read_entries(
                &named.name,
                &named.hooks,
                LayerFile {
                    source: LayerSource::Session,
                    file: named.file.clone(),
                    plugin: None,
                },
            )?;
            // As in settings, where it says nothing.
            for entry in &mut entries {
                entry.config.once = false;
            }
            entries
        }
        Registered::Callback(callback) => vec![read_callback(callback)?],
    };
    let compiled = entries.into_iter().map(|mut entry| {
        entry.scope = Some(scope.clone());
        let compiled = CompiledHandler::new(&entry);
        Arc::new(SessionHandler { entry, compiled })
    });
    Ok(compiled.collect())
}

/// An agent's end is a subagent's: its `Stop` entries wait for that, and their
/// matchers are tested on the agent's type.
fn convert_stops(entries: &mut [ConfiguredHandler]) {
    for entry in entries {
        if entry.event == EventName::Stop {
            entry.event = EventName::SubagentStop;
            // Behind the written entries of that event, so that ids stay apart.
            entry.position.0 += 1_000;
        }
    }
}

fn read_head(
    head: &HeadHooks,
    source: LayerSource,
) -> Result<Vec<ConfiguredHandler>, RegisterError> {
    let plugin = match &head.origin {
        HeadOrigin::Plugin { name, root, data } => Some(Plugin {
            name: name.clone(),
            root: root.clone(),
            data: data.clone(),
            enabled: PluginActivation::ByUser,
            // Heads of skills get none, as in the client.
            options: PluginOptions::default(),
        }),
        _ => None,
    };
    let place = LayerFile {
        source,
        file: head.file.clone(),
        plugin,
    };
    read_entries(&head.name, &head.hooks, place)
}

/// Stricter than settings: one malformed entry under any event voids all of them.
fn read_entries(
    name: &str,
    hooks: &Value,
    place: LayerFile,
) -> Result<Vec<ConfiguredHandler>, RegisterError> {
    let malformed = |problem: String| RegisterError::Malformed {
        name: name.to_owned(),
        problem,
    };
    let document = Map::from_iter([("hooks".to_owned(), hooks.clone())]);
    let mut problems = GroupProblems::default();
    let groups = read_groups(&document, &mut problems).map_err(malformed)?;
    if let Some(problem) = problems.malformed {
        return Err(malformed(problem));
    }
    let place = Arc::new(place);
    let mut entries = Vec::new();
    for group in groups {
        let canon: Arc<str> = group.canon.as_str().into();
        for (index, config) in group.handlers {
            entries.push(ConfiguredHandler {
                place: place.clone(),
                position: (group.position, index),
                matcher: group.matcher.clone(),
                config,
                file_number: 0,
                group: canon.clone(),
                event: group.event,
                scope: None,
            });
        }
    }
    Ok(entries)
}

fn read_callback(callback: &CallbackHandler) -> Result<ConfiguredHandler, RegisterError> {
    let event = EventName::parse(&callback.event)
        .ok_or_else(|| RegisterError::UnknownEvent(callback.event.clone()))?;
    let timeout = callback.timeout_seconds.filter(|s| *s > 0.0);
    Ok(ConfiguredHandler {
        place: Arc::new(LayerFile {
            source: LayerSource::Callback,
            file: None,
            plugin: None,
        }),
        position: (0, 0),
        matcher: callback.matcher.clone(),
        config: HandlerConfig {
            kind: HandlerKind::Callback {
                id: callback.id.clone(),
            },
            condition: None,
            timeout: timeout.map(|s| std::time::Duration::from_secs_f64(s.min(1e8))),
            status_message: None,
            on_failure: if callback.failure_blocks {
                OnFailure::Block
            } else {
                OnFailure::Continue
            },
            once: false,
        },
        file_number: 0,
        group: json!([callback.id]).to_string().into(),
        event,
        scope: None,
    })
}
