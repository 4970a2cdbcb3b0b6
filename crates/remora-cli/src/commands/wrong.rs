//! `remora wrong`: an item that is not true stays as a tombstone. It is shown
//! with its reason, is injected nowhere, and is not learned again.

use remora_memory::overrides::{Overrides, statement_key};
use remora_memory::store::{Hit, Store};
use remora_protocol::record::{Item, Rejection};
use remora_protocol::time::rfc3339;
use serde_json::{Value, json};

use crate::args::Wrong;
use crate::clock;
use crate::commands::correct::{self, Corrected, clean, correct, find_tombstone, refuse_address};
use crate::commands::data::Data;
use crate::commands::reader::{Reader, refuse_agent};
use crate::commands::show::lines::{flat, hang};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(super) fn run(args: &Wrong, out: &mut Output) -> Result<Exit, CliError> {
    refuse_address(&args.item)?;
    let data = Data::open()?;
    let corrected = if args.undo {
        refuse_agent(&data.environment, "a rejection is taken back")?;
        take_back(&data, &args.item)?
    } else {
        let reader = Reader::of(&data)?;
        let allows = |item: &Item| reader.check(item.clone()).is_ok();
        reject(&data, &args.item, args.because.as_deref(), &allows)?
    };
    let Corrected { item, said } = corrected;
    if args.json {
        let mut value = correct::as_json(&item);
        value["wrong"] = said.rejected.as_ref().map_or(Value::Null, as_json);
        out.json(&value)?;
        return Ok(Exit::GoOn);
    }
    let title = flat(&item.title);
    let head = match &said.rejected {
        Some(_) => format!("marked wrong: #{} {} · {title}", item.id, item.kind),
        None => format!("no longer wrong: #{} {} · {title}", item.id, item.kind),
    };
    out.text(&out.paint(Style::Green, &hang("", &head)))?;
    if said.rejected.is_some() {
        let text = format!(
            "It is not injected or learned again. `remora wrong {} --undo` takes this back.",
            item.id
        );
        out.text(&hang("  ", &text))?;
    }
    Ok(Exit::GoOn)
}

/// Marks an item as wrong; it loses its pin.
pub(super) fn reject(
    data: &Data,
    name: &str,
    because: Option<&str>,
    allows: &dyn Fn(&Item) -> bool,
) -> Result<Corrected, CliError> {
    let reason = flat(&clean(data, because.unwrap_or_default())?);
    correct(data, name, allows, |_, item, said| {
        said.statement = statement_key(&item.title);
        said.pinned = None;
        said.rejected = Some(Rejection {
            time: clock::millis(),
            reason,
            kind: Some(item.kind),
        });
        Ok(None)
    })
}

fn take_back(data: &Data, name: &str) -> Result<Corrected, CliError> {
    correct(data, name, &|_| true, |store, item, said| {
        if said.rejected.take().is_some() {
            return Ok(None);
        }
        Err(CliError::Usage(match find_tombstone(store, item)? {
            Some(id) => format!(
                "#{} says the same as #{id}, which is marked wrong; use `remora wrong {id} --undo`",
                item.id
            ),
            None => format!("#{} is not marked wrong", item.id),
        }))
    })
}

fn as_json(rejection: &Rejection) -> Value {
    json!({ "reason": rejection.reason, "time": rfc3339(rejection.time) })
}

/// Which items users marked wrong, for whatever shows items.
#[derive(Debug, Default)]
pub(crate) struct Rejections(Overrides);

impl Rejections {
    /// All that the store knows.
    pub(crate) fn load(store: &dyn Store) -> Result<Self, CliError> {
        Ok(Self(Overrides::new(store.overrides(None)?)))
    }

    /// What is said of an item that was marked wrong.
    pub(crate) fn mark(&self, item: &Item) -> Option<String> {
        self.0.rejection(item).map(|rejection| {
            if rejection.reason.is_empty() {
                "marked wrong".to_owned()
            } else {
                format!("marked wrong: {}", rejection.reason)
            }
        })
    }

    /// The same for programs; nothing where nothing is said.
    pub(crate) fn json(&self, item: &Item) -> Option<Value> {
        self.0.rejection(item).map(as_json)
    }

    /// Whether the words of an item are the user's own.
    pub(crate) fn is_edited(&self, item: &Item) -> bool {
        self.0.of(&item.uid).is_some_and(|said| said.edit.is_some())
    }

    /// Whether an item is pinned.
    pub(crate) fn is_pinned(&self, item: &Item) -> bool {
        self.0
            .of(&item.uid)
            .is_some_and(|said| said.pinned.is_some())
    }

    /// Puts what is wrong behind everything else.
    pub(crate) fn sort_last(&self, hits: &mut [Hit]) {
        hits.sort_by_key(|hit| self.0.rejection(&hit.item).is_some());
    }
}
