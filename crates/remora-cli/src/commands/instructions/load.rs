//! `remora instructions load`: loads as a session would and tells the hooks
//! engine about each file. Here the two meet; neither knows the other.

use std::collections::BTreeMap;

use remora_hooks::{
    Attendance, Engine, FlagSettings, Host, Mode, Options, Places, SettingSources, Status, Trust,
};
use remora_instructions::{Instructions, Loaded, Reset, render};
use remora_protocol::Event;
use serde_json::{Map, Value, json};

use super::{Resolved, touched};
use crate::args::{InstructionsLoad, ResetKind};
use crate::commands::hooks;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(super) fn run(args: &InstructionsLoad, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::read();
    let resolved = args.place.resolve(&environment)?;
    let firing = if args.fire {
        Some(Firing::new(&resolved, &environment)?)
    } else {
        None
    };
    let mut instructions = Instructions::load(resolved.places, resolved.options);
    tell(instructions.start(), firing.as_ref(), args.json, out)?;
    for file in &args.place.read {
        let new = instructions.on_read(&touched(file, &instructions));
        tell(&new, firing.as_ref(), args.json, out)?;
    }
    if let Some(kind) = args.reset {
        instructions.reset(match kind {
            ResetKind::Compact => Reset::Compact,
            ResetKind::Clear => Reset::Clear,
        });
        tell(instructions.start(), firing.as_ref(), args.json, out)?;
    }
    Ok(Exit::GoOn)
}

/// What is needed to run hooks.
struct Firing {
    engine: Engine,
    handlers: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    common: Map<String, Value>,
}

impl Firing {
    fn new(resolved: &Resolved, environment: &Environment) -> Result<Self, CliError> {
        let from = &resolved.places;
        let mut places = Places::new(from.cwd.clone(), from.home.clone());
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
            remora_instructions::Mode::Full => Mode::Full,
            remora_instructions::Mode::Bare => Mode::Bare,
        };
        let options = Options {
            // Without a person in front the client asks nobody.
            trust: Trust::Trusted,
            mode,
            permission_mode: None,
        };
        let handlers = environment.for_handlers(&places.home);
        let common = hooks::common_fields(&places);
        Ok(Self {
            engine: Engine::load(places, options)?,
            handlers,
            common,
        })
    }

    /// Runs the handlers of one file's event; how many ended in which way.
    fn fire(&self, fact: &Map<String, Value>) -> Result<BTreeMap<&'static str, usize>, CliError> {
        let mut event = self.common.clone();
        event.insert("hook_event_name".into(), "InstructionsLoaded".into());
        event.extend(fact.clone());
        let event = Event::from_value(Value::Object(event), None)?;
        let host = Host {
            environment: self.handlers.clone(),
            session_dir: None,
            attendance: Attendance::Unattended,
            trace: None,
        };
        let run = self.engine.run(&event, &host);
        let mut ended = BTreeMap::new();
        for handler in &run.report.handlers {
            *ended.entry(word(handler.status)).or_default() += 1;
        }
        // Nobody reads their answers, but they shall finish.
        for handler in run.background {
            handler.wait();
        }
        Ok(ended)
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Blocked | Status::Error => "failed",
        Status::Timeout | Status::Cancelled => "timed out",
        Status::Background => "in the background",
        Status::Skipped => "skipped",
    }
}

fn tell(
    files: &[Loaded],
    firing: Option<&Firing>,
    as_json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    for file in files {
        let Some(Value::Object(fact)) = render::fact(file) else {
            continue;
        };
        let ended = match firing {
            Some(firing) => Some(firing.fire(&fact)?),
            None => None,
        };
        if as_json {
            let mut line = fact;
            if let Some(ended) = ended {
                line.insert("handlers".into(), json!(ended));
            }
            out.json(&line)?;
            continue;
        }
        let path = visible(&file.path.display().to_string());
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
        out.text(&format!("{reason} {path} {}{ended}\n", file.kind.as_str()))?;
    }
    Ok(())
}
