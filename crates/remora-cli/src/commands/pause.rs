//! `remora pause`: begins, ends and lists pauses. The marks are
//! `remora_client::Pause`'s; hooks look at them, this command only sets them.
//! It reads no configuration, so that it works with a broken one.

use jiff::{Span, Zoned};
use remora_app::pauses::PauseView;
use remora_client::{DataPaths, Pause as Pauses, PauseEffect, PauseEntry, PauseScope};
use remora_core::ids::{ProjectKey, SessionId};
use remora_server::identity::look_up_project;
use serde_json::json;

use crate::args::PauseArgs;
use crate::clock;
use crate::commands::data::{DataDir, system_clock, usable_paths};
use crate::commands::show::lines::{TimeFormatter, flatten_text, hang_text};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF_VARIABLE, RECALL_VARIABLE};
use crate::output::{Output, Style};
use remora_app::scope;
use remora_app::worker_lock::prepare_data_dir;

/// Said where the switch is set.
pub(crate) const SWITCHED_OFF: &str = "REMORA_OFF is set: hooks started from here capture nothing";

/// Said where recall alone is switched off.
pub(crate) const RECALL_SWITCHED_OFF: &str =
    "REMORA_RECALL is off: hooks started from here capture, and inject nothing";

/// The length of an id that the store need not know to be believed.
const SESSION_ID_BYTES: usize = 36;

pub(super) fn run(args: &PauseArgs, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::from_process();
    let paths = usable_paths(&environment)?;
    let pauses = Pauses::for_data_dir(&paths);
    let trouble = |source| CliError::File {
        path: paths.run_dir().join("off"),
        source,
    };
    let change = if args.status {
        None
    } else {
        Some(parse_change(args, &environment, &paths)?)
    };
    match &change {
        None => {}
        Some(PauseChange::Begin(mark)) => {
            prepare_data_dir(&paths)?;
            pauses.set_pause(mark).map_err(trouble)?;
        }
        Some(PauseChange::End(what, stops)) => {
            // Those that are over do not count as there.
            pauses.list_pauses(clock::now_ms()).map_err(trouble)?;
            let was_there = pauses.clear(what, *stops).map_err(trouble)?;
            let marks = pauses.list_pauses(clock::now_ms()).map_err(trouble)?;
            return print_ended((what, *stops), was_there, &marks, args.json, out);
        }
    }
    let marks = pauses.list_pauses(clock::now_ms()).map_err(trouble)?;
    match change {
        _ if args.json => out.print_json(&json!({ "pauses": to_views(&marks) }))?,
        Some(PauseChange::Begin(mark)) => print_begun(&mark, out)?,
        _ if environment.is_on(OFF_VARIABLE) || environment.is_off(RECALL_VARIABLE) => {
            let text = if environment.is_on(OFF_VARIABLE) {
                SWITCHED_OFF
            } else {
                RECALL_SWITCHED_OFF
            };
            out.print_text(&out.paint(Style::Yellow, &hang_text("", text)))?;
            if !marks.is_empty() {
                print_list(&marks, out)?;
            }
        }
        _ => print_list(&marks, out)?,
    }
    Ok(Exit::GoOn)
}

/// What the command line asks for.
enum PauseChange {
    Begin(PauseEntry),
    End(PauseScope, PauseEffect),
}

fn parse_change(
    args: &PauseArgs,
    environment: &Environment,
    paths: &DataPaths,
) -> Result<PauseChange, CliError> {
    let what = match (&args.project, &args.session) {
        // Works without a store and with a broken configuration.
        (Some(text), _) if text == "." => {
            PauseScope::Project(find_current_project(environment, paths)?.into_string())
        }
        (Some(text), _) => PauseScope::Project(find_project(text)?.into_string()),
        (None, Some(id)) => PauseScope::Session(find_session(id)?.into_string()),
        (None, None) => PauseScope::All,
    };
    let stops = if args.recall {
        PauseEffect::Recall
    } else {
        PauseEffect::Everything
    };
    if args.off {
        return Ok(PauseChange::End(what, stops));
    }
    let now = system_clock().now();
    let until = args.span.as_deref().map(|text| parse_pause_end(text, &now));
    Ok(PauseChange::Begin(PauseEntry {
        what,
        stops,
        since: now.timestamp().as_millisecond(),
        until: until.transpose()?,
    }))
}

fn find_current_project(
    environment: &Environment,
    paths: &DataPaths,
) -> Result<ProjectKey, CliError> {
    let here = environment.directory().ok_or_else(|| {
        CliError::Usage("the current directory is gone; name the project".to_owned())
    })?;
    Ok(look_up_project(paths, here, None).project.key)
}

/// The key of the project of this key, name or path.
fn find_project(text: &str) -> Result<ProjectKey, CliError> {
    let data = DataDir::with_default_config()?;
    if let Some(store) = data.app.open_store()? {
        return Ok(data.app.resolve_named_project(&*store, text)?);
    }
    let folder = data.environment.directory().map(|here| here.join(text));
    match folder.and_then(|folder| folder.canonicalize().ok()) {
        Some(folder) if folder.is_dir() => Ok(data.app.locate_folder(&folder).project.key),
        _ => Err(CliError::Usage(format!(
            "--project: `{text}` is neither a project nor a folder; nothing is remembered yet"
        ))),
    }
}

/// The session of this id, or of the beginning of one. A session that has just
/// begun may not be stored yet.
fn find_session(text: &str) -> Result<SessionId, CliError> {
    if text.trim().is_empty() {
        return Err(CliError::Usage(
            "--session: the id is empty; `remora sessions --all` lists them".to_owned(),
        ));
    }
    if text.len() == SESSION_ID_BYTES {
        return Ok(text.into());
    }
    match DataDir::with_default_config()?.app.open_store()? {
        Some(store) => Ok(scope::find_session(&*store, text)?),
        None => Err(scope::unknown_session_error(text).into()),
    }
}

/// The time that lies so far ahead.
fn parse_pause_end(text: &str, now: &Zoned) -> Result<i64, CliError> {
    let bad = || {
        CliError::Usage(format!(
            "--for: `{text}` is not a length of time; try 30m, 2h or 1d"
        ))
    };
    let span: Span = text.trim().parse().map_err(|_| bad())?;
    let end = now.checked_add(span).map_err(|_| bad())?;
    if end <= *now {
        return Err(bad());
    }
    Ok(end.timestamp().as_millisecond())
}

fn to_views(marks: &[PauseEntry]) -> Vec<PauseView> {
    marks.iter().map(PauseView::from).collect()
}

/// What a pause is of, in words.
fn describe_scope(what: &PauseScope) -> String {
    match what {
        PauseScope::All => "everywhere".to_owned(),
        PauseScope::Project(key) => format!("in the project {}", flatten_text(key)),
        PauseScope::Session(id) => format!("in the session {}", flatten_text(id)),
    }
}

/// The command that ends it.
fn format_end_command(what: &PauseScope, stops: PauseEffect) -> String {
    let recall = match stops {
        PauseEffect::Everything => "",
        PauseEffect::Recall => " --recall",
    };
    match what {
        PauseScope::All => format!("remora pause{recall} --off"),
        PauseScope::Project(key) => {
            format!("remora pause{recall} --off --project {}", flatten_text(key))
        }
        PauseScope::Session(id) => {
            format!("remora pause{recall} --off --session {}", flatten_text(id))
        }
    }
}

/// A pause in words.
#[derive(Debug)]
pub(crate) struct PauseDescription {
    pub(crate) what: String,
    /// The command that ends it.
    pub(crate) ender: String,
}

/// Every pause in words, for `status` and `doctor`. What cannot be read is not
/// named here.
pub(crate) fn describe_pauses(paths: &DataPaths) -> Vec<PauseDescription> {
    let marks = Pauses::for_data_dir(paths)
        .list_pauses(clock::now_ms())
        .unwrap_or_default();
    marks.iter().map(in_words).collect()
}

/// A pause in words.
pub(crate) fn in_words(mark: &PauseEntry) -> PauseDescription {
    let what = describe_scope(&mark.what);
    let until = format_until(mark);
    PauseDescription {
        what: match mark.stops {
            PauseEffect::Everything => {
                format!("paused {what}{until}: nothing is captured or recalled")
            }
            PauseEffect::Recall => {
                format!("recall paused {what}{until}: capture goes on, nothing is injected")
            }
        },
        ender: format_end_command(&mark.what, mark.stops),
    }
}

fn format_line(mark: &PauseEntry) -> String {
    let PauseDescription { what, ender } = in_words(mark);
    format!("{what}; `{ender}` ends it")
}

fn format_until(mark: &PauseEntry) -> String {
    match mark.until {
        Some(until) => format!(" until {}", TimeFormatter::new().format_timestamp(until)),
        None => String::new(),
    }
}

fn print_begun(mark: &PauseEntry, out: &mut Output) -> Result<(), CliError> {
    let (verb, means) = match mark.stops {
        PauseEffect::Everything => (
            "paused",
            "Hooks answer empty and capture nothing; what happens now is not remembered.",
        ),
        PauseEffect::Recall => (
            "recall paused",
            "Hooks capture and inject nothing; what was injected into a session stays in it.",
        ),
    };
    let head = format!(
        "{verb} {}{}",
        describe_scope(&mark.what),
        format_until(mark)
    );
    out.print_text(&out.paint(Style::Yellow, &hang_text("", &head)))?;
    out.print_text(&hang_text("  ", means))?;
    let ender = format_end_command(&mark.what, mark.stops);
    out.print_text(&hang_text("  ", &format!("`{ender}` ends it")))
}

fn print_ended(
    (what, stops): (&PauseScope, PauseEffect),
    was_there: bool,
    marks: &[PauseEntry],
    json: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if json {
        out.print_json(&json!({ "ended": was_there, "pauses": to_views(marks) }))?;
        return Ok(Exit::GoOn);
    }
    let (of, named) = match stops {
        PauseEffect::Everything => ("it", describe_scope(what)),
        PauseEffect::Recall => ("recall", describe_scope(what)),
    };
    let text = match (was_there, stops) {
        (true, PauseEffect::Everything) => format!("no longer paused {named}"),
        (true, PauseEffect::Recall) => format!("recall is no longer paused {named}"),
        (false, _) => format!("{of} was not paused {named}"),
    };
    out.print_text(&hang_text("", &text))?;
    // A pause of one project may be meant for good: it is not ended with the
    // pause of everything, but a user should not have to guess that.
    for mark in marks {
        out.print_text(&hang_text("  ", &format!("still {}", format_line(mark))))?;
    }
    Ok(Exit::GoOn)
}

fn print_list(marks: &[PauseEntry], out: &mut Output) -> Result<(), CliError> {
    if marks.is_empty() {
        return out.print_text("nothing is paused\n");
    }
    for mark in marks {
        let text = format_line(mark);
        out.print_text(&out.paint(Style::Yellow, &hang_text("", &text)))?;
    }
    Ok(())
}
