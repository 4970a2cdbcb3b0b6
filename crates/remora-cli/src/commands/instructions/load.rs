//! `remora instructions load`: loads as a session would and runs the hooks
//! engine about each file. Here the two meet; neither knows the other.

use std::collections::BTreeMap;

use remora_core::{Event, EventName};
use remora_hooks::{
    Engine, EngineMode, EngineOptions, FlagSettings, HandlerStatus, Host, Interactivity,
    SampleSession, SettingSources, SettingsPaths, Trust,
};
use remora_instructions::{Instructions, LoadedFile, ResetReason, render};
use serde_json::{Map, Value, json};

use super::{ResolvedSession, resolve_touched_file};
use crate::args::{InstructionsLoadArgs, ResetKind};
use crate::commands::hooks;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

pub(super) fn run(args: &InstructionsLoadArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let resolved = args.place.resolve(&environment)?;
    let firing = if args.fire {
        Some(HookRunner::new(&resolved, &environment)?)
    } else {
        None
    };
    let mut instructions = Instructions::load(resolved.places, resolved.options);
    print_loaded_files(instructions.start(), firing.as_ref(), args.json, out)?;
    for file in &args.place.read {
        let new = instructions.on_read(&resolve_touched_file(file, &instructions));
        print_loaded_files(&new, firing.as_ref(), args.json, out)?;
    }
    if let Some(kind) = args.reset {
        instructions.reset(match kind {
            ResetKind::Compact => ResetReason::Compact,
            ResetKind::Clear => ResetReason::Clear,
        });
        print_loaded_files(instructions.start(), firing.as_ref(), args.json, out)?;
    }
    Ok(Exit::GoOn)
}

/// What is needed to run hooks.
struct HookRunner {
    engine: Engine,
    handlers: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    session: SampleSession,
}

impl HookRunner {
    fn new(resolved: &ResolvedSession, environment: &Environment) -> Result<Self, CliError> {
        let from = &resolved.places;
        let mut places = SettingsPaths::new(from.cwd.clone(), from.home.clone());
        places.config_dir.clone_from(&from.config_dir);
        places.managed.clone_from(&from.managed);
        places.flag = resolved.options.settings.clone().map(FlagSettings::Json);
        let sources = resolved.options.sources;
        places.sources = SettingSources {
            user: sources.user,
            project: sources.project,
            local: sources.local,
        };
        let mode = match resolved.options.mode {
            remora_instructions::LoadMode::Full => EngineMode::Full,
            remora_instructions::LoadMode::Bare => EngineMode::Bare,
        };
        let options = EngineOptions {
            // In an unattended session the client does not ask.
            trust: Trust::Trusted,
            mode,
            permission_mode: None,
        };
        environment.check_run_depth()?;
        let handlers = environment.for_handlers(&places.home);
        let session = hooks::sample_session(&places);
        Ok(Self {
            engine: Engine::load(places, options)?,
            handlers,
            session,
        })
    }

    /// Runs the handlers of one file's event; how many ended in which way.
    fn run_handlers(
        &self,
        fact: &Map<String, Value>,
    ) -> Result<BTreeMap<&'static str, usize>, CliError> {
        let mut event = self.session.begin_event(EventName::InstructionsLoaded);
        event.extend(fact.clone());
        let event = Event::from_value(Value::Object(event), None)?;
        let host = Host {
            environment: self.handlers.clone(),
            attendance: Interactivity::Unattended,
            ..Host::default()
        };
        let run = self.engine.run(&event, &host);
        let mut ended = BTreeMap::new();
        for handler in &run.report.handlers {
            *ended.entry(status_name(handler.status)).or_default() += 1;
        }
        // Nobody reads their answers, but they shall finish.
        for handler in run.background {
            handler.wait();
        }
        Ok(ended)
    }
}

fn status_name(status: HandlerStatus) -> &'static str {
    match status {
        HandlerStatus::Ok => "ok",
        HandlerStatus::Blocked | HandlerStatus::Error => "failed",
        HandlerStatus::Timeout | HandlerStatus::Cancelled => "timed out",
        HandlerStatus::Background => "in the background",
        HandlerStatus::Skipped => "skipped",
    }
}

fn print_loaded_files(
    files: &[LoadedFile],
    firing: Option<&HookRunner>,
    as_json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    for file in files {
        let Some(Value::Object(fact)) = render::build_hook_payload(file) else {
            continue;
        };
        let ended = match firing {
            Some(firing) => Some(firing.run_handlers(&fact)?),
            None => None,
        };
        if as_json {
            let mut line = fact;
            if let Some(ended) = ended {
                line.insert("handlers".into(), json!(ended));
            }
            out.print_json(&line)?;
            continue;
        }
        let path = escape_invisible(&file.path.display().to_string());
        let ended = ended.map_or_else(String::new, |ended| {
            let parts: Vec<String> = ended.iter().map(|(w, n)| format!("{n} {w}")).collect();
            let parts = if parts.is_empty() {
                "no hook listens".to_owned()
            } else {
                parts.join(", ")
            };
            format!("  {}", out.paint(Style::Dim, &parts))
        });
        let reason = out.paint(Style::Bold, file.reason.as_str());
        out.print_text(&format!("{reason} {path} {}{ended}\n", file.kind.as_str()))?;
    }
    Ok(())
}
