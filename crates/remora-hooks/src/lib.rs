//! The hooks engine: settings layers in, one decision out.
//!
//! `Engine::load` reads the layers once. `Engine::plan` says which handlers an
//! event would run and why; `Engine::run` runs them and merges what they said.
//! An engine is immutable, so every event sees one snapshot of the settings;
//! to reload, load another and swap it. `Session` does that, and remembers what
//! lies between events: an agent's loop needs a session, a single event an engine.
//!
//! Blocking, with threads instead of a runtime. Knows nothing of memory,
//! agents, home folders or the environment: the host passes all of it in.

mod answer;
#[cfg(test)]
mod arbitrary;
mod condition;
mod config;
mod deliver;
mod error;
#[cfg(test)]
#[path = "../tests/it/fuzzing.rs"]
mod fuzzing;
mod handler;
mod host;
pub mod inspect;
mod layers;
mod limits;
mod matcher;
mod merge;
pub mod names;
mod observe;
mod path_rule;
mod permissions;
mod plan;
mod report;
mod run;
mod sample;
mod session;
mod session_env;
mod shell;
mod trust;
mod url;
mod verdict;
mod wildcard;

use std::path::{Path, PathBuf};

use remora_core::{EVENTS, Event};

pub use answer::HandlerStatus;
pub use config::{AfterNo, HandlerConfig, HandlerKind, OnFailure, RewakeTexts, Shell, WaitMode};
pub use deliver::{Delivery, DeliveryPlace};
pub use error::LoadError;
pub use handler::{
    CallbackCall, Callbacks, CancelToken, end_all_children, guard_children, record_children,
};
pub use host::{
    Host, Interactivity, ServerCall, ServerCallError, ServerReply, ToolServers, TraceSink,
    VerifierShell,
};
pub use layers::{
    ConfiguredHandler, FlagSettings, LayerFile, LayerReport, LayerSource, Plugin, PluginActivation,
    PluginOptions, SettingSources, SettingsPaths,
};
pub use observe::{HandlerNotice, HandlerObserver, HandlerStage};
pub use path_rule::PathBases;
pub use permissions::{
    PermissionDecision, PermissionMode, Permissions, RuleSubject, RuleText, build_call_input,
};
pub use plan::{Plan, PlanVerdict, PlannedHandler};
pub use report::{ExplainedHandler, Explanation, HandlerInfo, HandlerReport, Report};
pub use run::{BackgroundHandler, LateAnswer, Run, WakeUp};
pub use sample::{SAMPLE_SESSION_ID, SampleFields, SampleSession};
pub use session::{
    CallbackHandler, FileChangeKind, Fired, HeadHooks, HeadOrigin, NamedHooks, RegisterError,
    Reload, RequestPoint, RunningHandler, Session, SessionError, SessionNotice, SessionOptions,
    SessionPhase, SessionRemainder, SessionState, StopDecision,
};
pub use trust::{EngineMode, Trust};

/// How the session was started.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineOptions {
    /// Whether the folder is trusted.
    pub trust: Trust,
    /// Whether only managed handlers run (`--bare`, `--safe-mode`).
    pub mode: EngineMode,
    /// Overrides the mode that the event names.
    pub permission_mode: Option<PermissionMode>,
}

/// One snapshot of the settings, compiled and ready to plan and run events.
#[derive(Debug)]
pub struct Engine {
    layers: layers::Layers,
    compiled: Vec<plan::CompiledHandler>,
    /// Entry indices of each event, by the event's position in the table.
    by_event: Vec<Vec<usize>>,
    permissions: Permissions,
    places: SettingsPaths,
    options: EngineOptions,
}

impl Engine {
    /// Reads and compiles the layers.
    pub fn load(places: SettingsPaths, options: EngineOptions) -> Result<Self, LoadError> {
        let layers = layers::load_layers(&places, None)?;
        Ok(Self::compile(layers, places, options))
    }

    /// Reads again what the client reads again when a settings file changes.
    pub(crate) fn reload(&self) -> Result<Self, LoadError> {
        let layers = layers::load_layers(&self.places, Some(&self.layers))?;
        Ok(Self::compile(layers, self.places.clone(), self.options))
    }

    fn compile(layers: layers::Layers, places: SettingsPaths, options: EngineOptions) -> Self {
        let compiled = layers
            .entries
            .iter()
            .map(plan::CompiledHandler::new)
            .collect();
        let mut by_event = vec![Vec::new(); EVENTS.len()];
        for (index, entry) in layers.entries.iter().enumerate() {
            by_event[entry.event as usize].push(index);
        }
        // Kept as written: `WorkingDirs::contains_path` resolves `~` and relative paths for each
        // call, because the current directory follows `cd`.
        let directories = layers.directories.iter().map(PathBuf::from).collect();
        let permissions = Permissions::new(&layers.rules, directories);
        Self {
            layers,
            compiled,
            by_event,
            permissions,
            places,
            options,
        }
    }

    /// Which handlers the event would run, and why.
    pub fn plan<'a>(&'a self, event: &'a Event) -> Plan<'a> {
        self.plan_with(event, &[])
    }

    pub(crate) fn plan_with<'a>(
        &'a self,
        event: &'a Event,
        extra: &'a [&'a plan::SessionHandler],
    ) -> Plan<'a> {
        let inputs = plan::PlanInputs {
            layers: &self.layers,
            compiled: &self.compiled,
            of_event: &self.by_event[event.name as usize],
            extra,
            permissions: &self.permissions,
            trust: self.options.trust,
            mode: self.options.mode,
            bases: self.path_bases(event),
        };
        plan::plan_event(event, &inputs)
    }

    /// The plan in words.
    pub fn explain(&self, event: &Event) -> Explanation {
        let plan = self.plan(event);
        Explanation::new(event.name.as_str(), &plan, self.collect_warnings(&plan))
    }

    /// Runs the event's handlers and merges their answers.
    pub fn run(&self, event: &Event, host: &Host<'_>) -> Run {
        run::run_event(self, event, host, run::SessionHandlers::default())
    }

    /// Whether any handler is configured for the event.
    pub(crate) fn has_handlers(&self, event: remora_core::EventName) -> bool {
        !self.by_event[event as usize].is_empty()
    }

    /// Every configured handler, in enumeration order, with the reason it is
    /// held back, if it is.
    pub fn handlers(&self) -> impl Iterator<Item = (&ConfiguredHandler, Option<&'static str>)> {
        self.layers.entries.iter().map(|e| {
            (
                e,
                trust::held_back(e, &self.layers, self.options.trust, self.options.mode),
            )
        })
    }

    /// The plugins that were loaded, with hooks or without; of equal names the last
    /// one counts.
    pub fn plugins(&self) -> &[Plugin] {
        &self.layers.plugins
    }

    /// The merged permission rules.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// What was read, file by file.
    pub fn layer_reports(&self) -> &[LayerReport] {
        &self.layers.notes
    }

    /// What the user should fix in the settings.
    pub fn load_warnings(&self) -> Vec<String> {
        self.layers
            .warnings
            .iter()
            .chain(&self.permissions.warnings)
            .cloned()
            .collect()
    }

    fn collect_warnings(&self, plan: &Plan<'_>) -> Vec<String> {
        let mut warnings = self.load_warnings();
        for row in &plan.rows {
            if let Some(never) = row.never_reason() {
                warnings.push(format!("{}: {never}", row.id()));
            } else if row.verdict == PlanVerdict::WrongKind {
                warnings.push(format!("{}: {}", row.id(), row.explain_verdict(plan)));
            }
        }
        warnings
    }

    fn permission_mode(&self, event: &Event) -> PermissionMode {
        // Whatever the session's mode is, a verifier asks no user and changes nothing.
        let agent = event.str_field("agent_id").unwrap_or_default();
        if agent.starts_with(names::VERIFIER_PREFIX) {
            return PermissionMode::DontAsk;
        }
        let sent = event
            .str_field("permission_mode")
            .and_then(PermissionMode::parse);
        self.options.permission_mode.or(sent).unwrap_or_default()
    }

    fn path_bases<'a>(&'a self, event: &'a Event) -> PathBases<'a> {
        // Events that users build by hand often lack `cwd`.
        let cwd = event
            .str_field("cwd")
            .map_or(self.places.project.as_path(), Path::new);
        PathBases {
            home: &self.places.home,
            start: &self.places.project,
            cwd,
        }
    }
}
