//! `remora hooks`: the host side of hooks from the command line.

use std::fs::File;
use std::io::{self, IsTerminal, Read};

use remora_app::config::Config;
use remora_core::model::Model;
use remora_core::{Event, EventName, Outcome, Permission};
use remora_hooks::{Engine, HandlerKind, Host, Run as EngineRun, ToolServers, VerifierShell};
use remora_model::Provider;
use tempfile::TempDir;

use crate::args::{
    HooksCommand, HooksExplainArgs, HooksListArgs, HooksRunArgs, HooksTryArgs, SessionArgs,
};
use crate::commands::data::usable_paths;
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::model_provider::read_settings;
use crate::output::{Output, print_trace};
use crate::settings::SessionSettings;
use crate::signals;

mod build;
mod edit;
mod health;
mod lint;
mod record;
mod replay;
pub(super) mod schema;
mod serve;
mod servers;
pub(super) mod show;
mod test;
mod ui;
mod watch;

pub(super) use build::sample_session;
use edit::HookChange;

/// What to do without an event.
const EVENT_INPUT_HELP: &str =
    "pipe its JSON in, name a file with --input, or let `remora hooks try EVENT` build one";
/// The longest event that is read.
const MAX_EVENT_BYTES: u64 = 64 << 20;

pub(super) fn dispatch(command: &HooksCommand, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        HooksCommand::Run(args) => run(args, out),
        HooksCommand::Explain(args) => run_explain(args, out),
        HooksCommand::Try(args) => try_event(args, out),
        HooksCommand::List(args) => run_list(args, out),
        HooksCommand::Lint(args) => lint::run(args, out),
        HooksCommand::Test(args) => test::run(args, out),
        HooksCommand::Health(args) => health::run(args, out),
        HooksCommand::Record(args) => record::run(args, out),
        HooksCommand::Replay(args) => replay::run(args, out),
        HooksCommand::Serve(args) => serve::run(args),
        HooksCommand::Schema(args) => schema::run(args, out),
        HooksCommand::Ui(args) => ui::run(args, out),
        HooksCommand::Add(args) => edit::run_add(args, out),
        HooksCommand::Remove(args) => edit::run_change(HookChange::Remove, args, out),
        HooksCommand::Enable(args) => edit::run_change(HookChange::Enable, args, out),
        HooksCommand::Disable(args) => edit::run_change(HookChange::Disable, args, out),
    }
}

fn run(args: &HooksRunArgs, out: &mut Output) -> Result<Exit, CliError> {
    let settings = SessionSettings::from_args(&args.session, Environment::from_process())?;
    let event = read_event(&args.event)?;
    run_event(&settings, &event, &args.session, args.wait, out)
}

fn run_explain(args: &HooksExplainArgs, out: &mut Output) -> Result<Exit, CliError> {
    let settings = SessionSettings::from_args(&args.session, Environment::from_process())?;
    let event = read_event(&args.event)?;
    explain_event(&settings, &event, &args.session, out)
}

fn try_event(args: &HooksTryArgs, out: &mut Output) -> Result<Exit, CliError> {
    let settings = SessionSettings::from_args(&args.session, Environment::from_process())?;
    let event = build::build_event(&args.event, &args.fields, &settings)?;
    if args.explain {
        explain_event(&settings, &event, &args.session, out)
    } else {
        run_event(&settings, &event, &args.session, args.wait, out)
    }
}

fn run_list(args: &HooksListArgs, out: &mut Output) -> Result<Exit, CliError> {
    let settings = SessionSettings::from_args(&args.session, Environment::from_process())?;
    let only = args.event.as_deref().map(event_name).transpose()?;
    let engine = load_engine(&settings, args.session.verbose)?;
    if args.session.json {
        out.print_json(&show::list_json(&engine, only))?;
    } else {
        let text = show::list_text(&engine, only, out);
        out.print_text(&text)?;
    }
    Ok(Exit::GoOn)
}

fn explain_event(
    settings: &SessionSettings,
    event: &Event,
    session: &SessionArgs,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let engine = load_engine(settings, session.verbose)?;
    let explanation = engine.explain(event);
    if session.json {
        out.print_json(&explanation)?;
    } else {
        let text = show::render_explanation(&explanation, out);
        out.print_text(&text)?;
    }
    Ok(Exit::GoOn)
}

fn run_event(
    settings: &SessionSettings,
    event: &Event,
    session: &SessionArgs,
    wait: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    settings.environment.check_run_depth()?;
    let engine = load_engine(settings, session.verbose)?;
    // A private folder for session variables and long texts; it stays only if
    // a long text was put there.
    let folder = tempfile::Builder::new().prefix("remora-").tempdir();
    signals::watch_signals(folder.as_ref().ok().map(|f| f.path().to_path_buf()))?;
    let tracer = |line: &str| print_trace(line);
    let models = load_models(&engine, event, &settings.environment);
    let mut warnings = Vec::new();
    let servers =
        servers::load_servers(&engine, event, settings, &session.mcp_config, &mut warnings)?;
    let host = Host {
        environment: settings.environment.for_handlers(&settings.places.home),
        session_dir: folder.as_ref().ok().map(|f| f.path().to_path_buf()),
        attendance: settings.attendance,
        trace: session.verbose.then_some(&tracer),
        model: models.provider.as_ref().map(|p| p as &dyn Model),
        servers: servers.as_ref().map(|s| s as &dyn ToolServers),
        verifier_shell: models.verifier_shell,
        ..Host::default()
    };
    let EngineRun {
        mut report,
        background,
        ..
    } = engine.run(event, &host);
    report
        .warnings
        .extend(warnings.into_iter().chain(models.warning));
    drop(servers);
    if let Err(error) = &folder {
        report.warnings.push(format!(
            "no temporary folder ({error}): long texts are cut and variables are not collected"
        ));
    }
    if wait {
        for handler in background {
            let row = &mut report.handlers[handler.handler];
            let late = handler.wait();
            row.status = late.status;
            row.why = late.why;
            row.exit_code = late.exit_code;
            row.duration_ms = late.duration_ms;
            row.stdout = late.stdout;
            row.stderr = late.stderr;
            row.answer = late.answer;
            report.outcome.context.extend(late.context);
        }
    } else {
        drop(background);
    }
    if let Ok(folder) = folder {
        keep_long_texts(folder);
    }
    if session.json {
        out.print_json(&report)?;
    } else {
        let text = show::render_report(&report, out);
        out.print_text(&text)?;
    }
    Ok(exit_of(&report.outcome))
}

/// What handlers that ask a model get.
#[derive(Default)]
struct HookModels {
    provider: Option<Provider>,
    verifier_shell: VerifierShell,
    warning: Option<String>,
}

/// The user's model, if a handler of the event may ask one. A run never fails for
/// want of it: the handlers are skipped, and a warning says why.
fn load_models(engine: &Engine, event: &Event, environment: &Environment) -> HookModels {
    let asks =
        |kind: &HandlerKind| matches!(kind, HandlerKind::Prompt { .. } | HandlerKind::Agent { .. });
    if !engine
        .handlers()
        .any(|(entry, _)| entry.event == event.name && asks(&entry.config.kind))
    {
        return HookModels::default();
    }
    read_models(environment)
}

/// The user's model, whatever asks it.
fn read_models(environment: &Environment) -> HookModels {
    let fail = |why: String| HookModels {
        warning: Some(format!("no model is asked: {why}")),
        ..HookModels::default()
    };
    let paths = match usable_paths(environment) {
        Ok(paths) => paths,
        Err(error) => return fail(error.to_string()),
    };
    let config = match Config::load(&paths.config_file()) {
        Ok(config) => config,
        Err(error) => return fail(error.to_string()),
    };
    match read_settings(&config, environment, &paths).map(|settings| settings.built) {
        None => HookModels::default(),
        Some(Err(error)) => fail(error.message),
        Some(Ok(provider)) => HookModels {
            provider: Some(provider),
            verifier_shell: if config.get_flag("models.verifier_shell") {
                VerifierShell::On
            } else {
                VerifierShell::Off
            },
            warning: None,
        },
    }
}

/// The exit code of an outcome.
pub(super) fn exit_of(outcome: &Outcome) -> Exit {
    if outcome.blocked || !outcome.go_on || outcome.final_decision == Some(Permission::Deny) {
        Exit::Blocked
    } else {
        Exit::GoOn
    }
}

fn load_engine(settings: &SessionSettings, verbose: bool) -> Result<Engine, CliError> {
    let engine = settings.load_engine()?;
    if verbose {
        for note in engine.layer_reports() {
            let (source, place) = (note.place.source.as_str(), note.place.describe());
            print_trace(&format!("layer {source} {place}: {}", note.note));
        }
    }
    Ok(engine)
}

fn keep_long_texts(folder: TempDir) {
    let long = folder.path().read_dir().into_iter().flatten().flatten();
    if long
        .into_iter()
        .any(|e| e.path().extension().is_some_and(|x| x == "txt"))
    {
        let _ = folder.keep();
    }
}

fn event_name(text: &str) -> Result<EventName, CliError> {
    EventName::find(text).map_err(|error| CliError::Usage(error.to_string()))
}

fn read_event(args: &crate::args::EventArgs) -> Result<Event, CliError> {
    let name = args.event.as_deref().map(event_name).transpose()?;
    let bytes = match &args.input {
        Some(path) => {
            let file = File::open(path).map_err(|source| CliError::File {
                path: path.clone(),
                source,
            })?;
            read_bounded(file).map_err(|source| CliError::File {
                path: path.clone(),
                source,
            })?
        }
        None if io::stdin().is_terminal() => {
            return Err(CliError::Usage(format!("no event: {EVENT_INPUT_HELP}")));
        }
        None => read_bounded(io::stdin().lock()).map_err(CliError::Stdin)?,
    };
    if bytes.len() as u64 > MAX_EVENT_BYTES {
        return Err(CliError::Usage(format!(
            "the event is longer than {} MiB",
            MAX_EVENT_BYTES >> 20
        )));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(CliError::Usage(format!(
            "the event is empty: {EVENT_INPUT_HELP}"
        )));
    }
    Ok(Event::decode(&bytes, name)?)
}

fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_EVENT_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
