//! `remora pause`: begins, ends and lists pauses. The marks are
//! `remora_client::Pause`'s; hooks look at them, this command only sets them.
//! It reads no configuration, so that it works with a broken one.

use jiff::{Span, Zoned};
use remora_client::{Mark, Paths, Pause as Pauses, Paused, Stops};
use remora_protocol::time::rfc3339;
use remora_server::identity::look_up_project;
use serde_json::{Value, json};

use crate::args::{Pause, Where};
use crate::clock;
use crate::commands::data::{Data, usable_paths};
use crate::commands::search::{scope, when};
use crate::commands::show::lines::{Local, flat, hang};
use crate::environment::Environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::hook::{OFF, RECALL};
use crate::output::{Output, Style};

/// Said where the switch is set.
pub(crate) const SWITCHED_OFF: &str = "REMORA_OFF is set: hooks started from here capture nothing";

/// Said where recall alone is switched off.
pub(crate) const RECALL_SWITCHED_OFF: &str =
    "REMORA_RECALL is off: hooks started from here capture, and inject nothing";

/// The length of an id that the store need not know to be believed.
const WHOLE_ID: usize = 36;

pub(super) fn run(args: &Pause, out: &mut Output) -> Result<Exit, CliError> {
    let environment = Environment::read();
    let paths = usable_paths(&environment)?;
    let pauses = Pauses::of(&paths);
    let trouble = |source| CliError::File {
        path: paths.run().join("off"),
        source,
    };
    let change = if args.status {
        None
    } else {
        Some(change(args, &environment, &paths)?)
    };
    match &change {
        None => {}
        Some(Change::Begin(mark)) => {
            paths.prepare().map_err(|source| CliError::File {
                path: paths.home().to_path_buf(),
                source,
            })?;
            pauses.set(mark).map_err(trouble)?;
        }
        Some(Change::End(what, stops)) => {
            // Those that are over do not count as there.
            pauses.list(clock::millis()).map_err(trouble)?;
            let was_there = pauses.clear(what, *stops).map_err(trouble)?;
            let marks = pauses.list(clock::millis()).map_err(trouble)?;
            return ended((what, *stops), was_there, &marks, args.json, out);
        }
    }
    let marks = pauses.list(clock::millis()).map_err(trouble)?;
    match change {
        _ if args.json => out.json(&json!({ "pauses": listed(&marks) }))?,
        Some(Change::Begin(mark)) => begun(&mark, out)?,
        _ if environment.switch(OFF) || environment.is_off(RECALL) => {
            let text = if environment.switch(OFF) {
                SWITCHED_OFF
            } else {
                RECALL_SWITCHED_OFF
            };
            out.text(&out.paint(Style::Yellow, &hang("", text)))?;
            if !marks.is_empty() {
                list(&marks, out)?;
            }
        }
        _ => list(&marks, out)?,
    }
    Ok(Exit::GoOn)
}

/// What the command line asks for.
enum Change {
    Begin(Mark),
    End(Paused, Stops),
}

fn change(args: &Pause, environment: &Environment, paths: &Paths) -> Result<Change, CliError> {
    let what = match (&args.project, &args.session) {
        // Works without a store and with a broken configuration.
        (Some(text), _) if text == "." => Paused::Project(here(environment, paths)?),
        (Some(text), _) => Paused::Project(project(text)?),
        (None, Some(id)) => Paused::Session(session(id)?),
        (None, None) => Paused::All,
    };
    let stops = if args.recall {
        Stops::Recall
    } else {
        Stops::Everything
    };
    if args.off {
        return Ok(Change::End(what, stops));
    }
    let now = when::now();
    let until = args.span.as_deref().map(|text| end(text, &now));
    Ok(Change::Begin(Mark {
        what,
        stops,
        since: now.timestamp().as_millisecond(),
        until: until.transpose()?,
    }))
}

fn here(environment: &Environment, paths: &Paths) -> Result<String, CliError> {
    let here = environment.directory().ok_or_else(|| {
        CliError::Usage("the current directory is gone; name the project".to_owned())
    })?;
    Ok(look_up_project(paths, here, None).project.key)
}

/// The key of the project of this key, name or path.
fn project(text: &str) -> Result<String, CliError> {
    let data = Data::unconfigured()?;
    if let Some(store) = data.store()? {
        let place = Where {
            all: false,
            project: Some(text.to_owned()),
        };
        if let Some(key) = scope::project(&data, &store, &place)? {
            return Ok(key);
        }
    }
    let folder = data.environment.directory().map(|here| here.join(text));
    match folder.and_then(|folder| folder.canonicalize().ok()) {
        Some(folder) if folder.is_dir() => Ok(data.locate(&folder).project.key),
        _ => Err(CliError::Usage(format!(
            "--project: `{text}` is neither a project nor a folder; nothing is remembered yet"
        ))),
    }
}

/// The session of this id, or of the beginning of one. A session that has just
/// begun may not be stored yet.
fn session(text: &str) -> Result<String, CliError> {
    if text.trim().is_empty() {
        return Err(CliError::Usage(
            "--session: the id is empty; `remora sessions --all` lists them".to_owned(),
        ));
    }
    if text.len() == WHOLE_ID {
        return Ok(text.to_owned());
    }
    match Data::unconfigured()?.store()? {
        Some(store) => scope::session(&store, text),
        None => Err(scope::no_session(text)),
    }
}

/// The moment that lies so far ahead.
fn end(text: &str, now: &Zoned) -> Result<i64, CliError> {
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

/// Every pause as JSON, for `status`.
pub(crate) fn as_json(paths: &Paths) -> Vec<Value> {
    let marks = Pauses::of(paths).list(clock::millis());
    listed(&marks.unwrap_or_default())
}

fn listed(marks: &[Mark]) -> Vec<Value> {
    let one = |mark: &Mark| {
        let (scope, key) = match &mark.what {
            Paused::All => ("all", None),
            Paused::Project(key) => ("project", Some(key)),
            Paused::Session(id) => ("session", Some(id)),
        };
        json!({
            "scope": scope,
            "key": key,
            "stops": mark.stops,
            "since": rfc3339(mark.since),
            "until": mark.until.map(rfc3339),
        })
    };
    marks.iter().map(one).collect()
}

/// What a pause is of, in words.
fn named(what: &Paused) -> String {
    match what {
        Paused::All => "everywhere".to_owned(),
        Paused::Project(key) => format!("in the project {}", flat(key)),
        Paused::Session(id) => format!("in the session {}", flat(id)),
    }
}

/// The command that ends it.
fn ender(what: &Paused, stops: Stops) -> String {
    let recall = match stops {
        Stops::Everything => "",
        Stops::Recall => " --recall",
    };
    match what {
        Paused::All => format!("remora pause{recall} --off"),
        Paused::Project(key) => format!("remora pause{recall} --off --project {}", flat(key)),
        Paused::Session(id) => format!("remora pause{recall} --off --session {}", flat(id)),
    }
}

/// A pause in words.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) what: String,
    /// The command that ends it.
    pub(crate) ender: String,
}

/// Every pause in words, for `status` and `doctor`. What cannot be read is not
/// told here.
pub(crate) fn told(paths: &Paths) -> Vec<Told> {
    let marks = Pauses::of(paths).list(clock::millis()).unwrap_or_default();
    marks.iter().map(in_words).collect()
}

fn in_words(mark: &Mark) -> Told {
    let what = named(&mark.what);
    let until = until(mark);
    Told {
        what: match mark.stops {
            Stops::Everything => format!("paused {what}{until}: nothing is captured or recalled"),
            Stops::Recall => {
                format!("recall paused {what}{until}: capture goes on, nothing is injected")
            }
        },
        ender: ender(&mark.what, mark.stops),
    }
}

fn line(mark: &Mark) -> String {
    let Told { what, ender } = in_words(mark);
    format!("{what}; `{ender}` ends it")
}

fn until(mark: &Mark) -> String {
    match mark.until {
        Some(until) => format!(" until {}", Local::new().moment(until)),
        None => String::new(),
    }
}

fn begun(mark: &Mark, out: &mut Output) -> Result<(), CliError> {
    let (verb, means) = match mark.stops {
        Stops::Everything => (
            "paused",
            "Hooks answer empty and capture nothing; what happens now is not remembered.",
        ),
        Stops::Recall => (
            "recall paused",
            "Hooks capture and inject nothing; what a session has been told already stays in it.",
        ),
    };
    let head = format!("{verb} {}{}", named(&mark.what), until(mark));
    out.text(&out.paint(Style::Yellow, &hang("", &head)))?;
    out.text(&hang("  ", means))?;
    let ender = ender(&mark.what, mark.stops);
    out.text(&hang("  ", &format!("`{ender}` ends it")))
}

fn ended(
    (what, stops): (&Paused, Stops),
    was_there: bool,
    marks: &[Mark],
    json: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if json {
        out.json(&json!({ "ended": was_there, "pauses": listed(marks) }))?;
        return Ok(Exit::GoOn);
    }
    let (of, named) = match stops {
        Stops::Everything => ("it", named(what)),
        Stops::Recall => ("recall", named(what)),
    };
    let text = match (was_there, stops) {
        (true, Stops::Everything) => format!("no longer paused {named}"),
        (true, Stops::Recall) => format!("recall is no longer paused {named}"),
        (false, _) => format!("{of} was not paused {named}"),
    };
    out.text(&hang("", &text))?;
    // A pause of one project may be meant for good: it is not ended with the
    // pause of everything, but nobody should have to guess that.
    for mark in marks {
        out.text(&hang("  ", &format!("still {}", line(mark))))?;
    }
    Ok(Exit::GoOn)
}

fn list(marks: &[Mark], out: &mut Output) -> Result<(), CliError> {
    if marks.is_empty() {
        return out.text("nothing is paused\n");
    }
    for mark in marks {
        let text = line(mark);
        out.text(&out.paint(Style::Yellow, &hang("", &text)))?;
    }
    Ok(())
}
