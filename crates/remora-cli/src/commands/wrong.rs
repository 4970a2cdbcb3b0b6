//! `remora wrong`: an item that is not true stays as a tombstone. It is shown
//! with its reason, is injected nowhere, and is not learned again.

use remora_core::record::{Item, Rejection};
use remora_core::time::format_rfc3339;
use remora_memory::overrides::{Overrides, statement_key};
use remora_memory::store::{Hit, Store};
use serde_json::{Value, json};

use crate::args::WrongArgs;
use crate::clock;
use crate::commands::correct::{
    self, CorrectedItem, clean_text, correct_item, find_tombstone, refuse_address,
};
use crate::commands::data::DataDir;
use crate::commands::reader::{Requester, refuse_agent};
use crate::commands::show::lines::{flatten_text, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

pub(super) fn run(args: &WrongArgs, out: &mut Output) -> Result<Exit, CliError> {
    refuse_address(&args.item)?;
    let data = DataDir::open()?;
    let corrected = if args.undo {
        refuse_agent(&data.environment, "a rejection is taken back")?;
        take_back(&data, &args.item)?
    } else {
        let reader = Requester::from_data(&data)?;
        let allows = |item: &Item| reader.check_item(item.clone()).is_ok();
        reject_item(&data, &args.item, args.because.as_deref(), &allows)?
    };
    let CorrectedItem { item, said } = corrected;
    if args.json {
        let mut value = correct::as_json(&item);
        value["wrong"] = said.rejected.as_ref().map_or(Value::Null, as_json);
        out.print_json(&value)?;
        return Ok(Exit::GoOn);
    }
    let title = flatten_text(&item.title);
    let head = match &said.rejected {
        Some(_) => format!("marked wrong: #{} {} · {title}", item.id, item.kind),
        None => format!("no longer wrong: #{} {} · {title}", item.id, item.kind),
    };
    out.print_text(&out.paint(Style::Green, &hang_text("", &head)))?;
    if said.rejected.is_some() {
        let text = format!(
            "It is not injected or learned again. `remora wrong {} --undo` takes this back.",
            item.id
        );
        out.print_text(&hang_text("  ", &text))?;
    }
    Ok(Exit::GoOn)
}

/// Marks an item as wrong; it loses its pin.
pub(super) fn reject_item(
    data: &DataDir,
    name: &str,
    because: Option<&str>,
    allows: &dyn Fn(&Item) -> bool,
) -> Result<CorrectedItem, CliError> {
    let reason = flatten_text(&clean_text(data, because.unwrap_or_default())?);
    correct_item(data, name, allows, |_, item, said| {
        said.statement = statement_key(&item.title);
        said.pinned = None;
        said.rejected = Some(Rejection {
            time: clock::now_ms(),
            reason,
            kind: Some(item.kind),
        });
        Ok(None)
    })
}

fn take_back(data: &DataDir, name: &str) -> Result<CorrectedItem, CliError> {
    correct_item(data, name, &|_| true, |store, item, said| {
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
    json!({ "reason": rejection.reason, "time": format_rfc3339(rejection.time) })
}

/// Which items users marked wrong, for whatever shows items.
#[derive(Debug, Default)]
pub(crate) struct Rejections(Overrides);

impl Rejections {
    /// All that the store knows.
    pub(crate) fn load(store: &dyn Store) -> Result<Self, CliError> {
        Ok(Self(Overrides::new(store.list_overrides(None)?)))
    }

    /// What is said of an item that was marked wrong.
    pub(crate) fn describe_rejection(&self, item: &Item) -> Option<String> {
        self.0.find_rejection(item).map(|rejection| {
            if rejection.reason.is_empty() {
                "marked wrong".to_owned()
            } else {
                format!("marked wrong: {}", rejection.reason)
            }
        })
    }

    /// The same for programs; nothing where nothing is said.
    pub(crate) fn to_json(&self, item: &Item) -> Option<Value> {
        self.0.find_rejection(item).map(as_json)
    }

    /// Whether the words of an item are the user's own.
    pub(crate) fn is_edited(&self, item: &Item) -> bool {
        self.0
            .find_override(&item.uid)
            .is_some_and(|said| said.edit.is_some())
    }

    /// Whether an item is pinned.
    pub(crate) fn is_pinned(&self, item: &Item) -> bool {
        self.0
            .find_override(&item.uid)
            .is_some_and(|said| said.pinned.is_some())
    }

    /// Puts what is wrong behind everything else.
    pub(crate) fn sort_last(&self, hits: &mut [Hit]) {
        hits.sort_by_key(|hit| self.0.find_rejection(&hit.item).is_some());
    }
}
