//! `remora pin`: items that every session of their project begins with.

use remora_memory::overrides::Overrides;
use remora_memory::store::{Name, Store};
use remora_protocol::record::Item;
use serde_json::{Value, json};

use crate::args::Pin;
use crate::clock;
use crate::commands::correct::{self, Corrected, correct, refuse_address, refuse_wrong};
use crate::commands::data::Data;
use crate::commands::reader::refuse_agent;
use crate::commands::show::lines::{count, flat, hang};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Output, Style};
use crate::recall::Settings;

/// Pins of one project: what always comes must stay little.
const MAX_PINS: usize = 12;

pub(super) fn run(args: &Pin, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let Some(name) = &args.item else {
        return list(&data, args.json, out);
    };
    refuse_address(name)?;
    refuse_agent(&data.environment, "items are pinned")?;
    let Corrected { item, said } = if args.off {
        unpin(&data, name)?
    } else {
        pin(&data, name)?
    };
    if args.json {
        let mut value = correct::as_json(&item);
        value["pinned"] = json!(said.pinned.is_some());
        out.json(&value)?;
        return Ok(Exit::GoOn);
    }
    let verb = if said.pinned.is_some() {
        "pinned"
    } else {
        "no longer pinned"
    };
    let head = format!("{verb}: #{} {} · {}", item.id, item.kind, flat(&item.title));
    out.text(&out.paint(Style::Green, &hang("", &head)))?;
    if said.pinned.is_some() {
        let text = format!(
            "Every session of {} begins with it. `remora pin {} --off` ends that.",
            flat(&item.project),
            item.id
        );
        out.text(&hang("  ", &text))?;
        warn_of_cost(&data, &item.project)?;
    }
    Ok(Exit::GoOn)
}

fn pin(data: &Data, name: &str) -> Result<Corrected, CliError> {
    correct(data, name, &|_| true, |store, item, said| {
        refuse_wrong(store, item, said)?;
        let pins = pinned(store, &item.project)?;
        if said.pinned.is_none() && pins.len() >= MAX_PINS {
            return Err(CliError::Usage(format!(
                "{MAX_PINS} items are pinned in {} already; `remora pin` lists them and `remora \
                 pin N --off` makes room",
                item.project
            )));
        }
        said.pinned = said.pinned.or(Some(clock::millis()));
        Ok(None)
    })
}

fn unpin(data: &Data, name: &str) -> Result<Corrected, CliError> {
    correct(data, name, &|_| true, |_, item, said| {
        if said.pinned.take().is_none() {
            return Err(CliError::Usage(format!("#{} is not pinned", item.id)));
        }
        Ok(None)
    })
}

/// The pinned items of a project, the first pinned first.
fn pinned(store: &dyn Store, project: &str) -> Result<Vec<Item>, CliError> {
    let overrides = Overrides::new(store.overrides(Some(project))?);
    let names = overrides.pinned().into_iter();
    let names: Vec<Name> = names.map(|uid| Name::Uid(uid.to_owned())).collect();
    Ok(store.items(&names)?)
}

fn tokens(items: &[Item]) -> u32 {
    items.iter().map(|item| item.digest_tokens).sum()
}

/// Says so where pins leave little room for anything else at a start.
fn warn_of_cost(data: &Data, project: &str) -> Result<(), CliError> {
    let Some(store) = data.store()? else {
        return Ok(());
    };
    let room = Settings::of(&data.config).limits.start_tokens;
    let cost = tokens(&pinned(&store, project)?);
    if cost > room / 2 {
        output::note(&format!(
            "pinned items are about {cost} tokens, and a session begins with {room} at most \
             (recall.start_tokens): `remora context` shows what fits"
        ));
    }
    Ok(())
}

fn list(data: &Data, as_json: bool, out: &mut Output) -> Result<Exit, CliError> {
    let project = data.project()?;
    let items = match data.store()? {
        Some(store) => pinned(&store, &project)?,
        None => Vec::new(),
    };
    if as_json {
        let pins: Vec<Value> = items.iter().map(correct::as_json).collect();
        out.json(&json!({ "project": project, "pins": pins }))?;
        return Ok(Exit::GoOn);
    }
    if items.is_empty() {
        out.text("nothing is pinned in this project\n")?;
        return Ok(Exit::GoOn);
    }
    for item in &items {
        let lead = format!("#{} {} · ", item.id, item.kind);
        out.text(&hang(&lead, &flat(&item.title)))?;
    }
    let number = count(items.len() as u64, "item", "items");
    let sum = format!("{number}, about {} tokens\n", tokens(&items));
    out.text(&out.paint(Style::Dim, &sum))?;
    Ok(Exit::GoOn)
}
