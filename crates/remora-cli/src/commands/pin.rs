//! `remora pin`: items that every session of their project begins with.

use remora_core::record::Item;
use remora_memory::overrides::Overrides;
use remora_memory::store::{ItemRef, Store};
use serde_json::{Value, json};

use crate::args::PinArgs;
use crate::clock;
use crate::commands::correct::{self, CorrectedItem, correct_item, refuse_address, refuse_wrong};
use crate::commands::data::DataDir;
use crate::commands::reader::refuse_agent;
use crate::commands::show::lines::{flatten_text, format_count, hang_text};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Output, Style};
use crate::recall::RecallSettings;

/// Pins of one project: what always comes must stay little.
const MAX_PINS: usize = 12;

pub(super) fn run(args: &PinArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let Some(name) = &args.item else {
        return print_pins(&data, args.json, out);
    };
    refuse_address(name)?;
    refuse_agent(&data.environment, "items are pinned")?;
    let CorrectedItem { item, said } = if args.off {
        unpin_item(&data, name)?
    } else {
        pin_item(&data, name)?
    };
    if args.json {
        let mut value = correct::as_json(&item);
        value["pinned"] = json!(said.pinned.is_some());
        out.print_json(&value)?;
        return Ok(Exit::GoOn);
    }
    let verb = if said.pinned.is_some() {
        "pinned"
    } else {
        "no longer pinned"
    };
    let head = format!(
        "{verb}: #{} {} · {}",
        item.id,
        item.kind,
        flatten_text(&item.title)
    );
    out.print_text(&out.paint(Style::Green, &hang_text("", &head)))?;
    if said.pinned.is_some() {
        let text = format!(
            "Every session of {} begins with it. `remora pin {} --off` ends that.",
            flatten_text(&item.project),
            item.id
        );
        out.print_text(&hang_text("  ", &text))?;
        warn_of_cost(&data, &item.project)?;
    }
    Ok(Exit::GoOn)
}

fn pin_item(data: &DataDir, name: &str) -> Result<CorrectedItem, CliError> {
    correct_item(data, name, &|_| true, |store, item, said| {
        refuse_wrong(store, item, said)?;
        let pins = list_pinned_items(store, &item.project)?;
        if said.pinned.is_none() && pins.len() >= MAX_PINS {
            return Err(CliError::Usage(format!(
                "{MAX_PINS} items are pinned in {} already; `remora pin` lists them and `remora \
                 pin N --off` makes room",
                item.project
            )));
        }
        said.pinned = said.pinned.or(Some(clock::now_ms()));
        Ok(None)
    })
}

fn unpin_item(data: &DataDir, name: &str) -> Result<CorrectedItem, CliError> {
    correct_item(data, name, &|_| true, |_, item, said| {
        if said.pinned.take().is_none() {
            return Err(CliError::Usage(format!("#{} is not pinned", item.id)));
        }
        Ok(None)
    })
}

/// The pinned items of a project, the first pinned first.
fn list_pinned_items(store: &dyn Store, project: &str) -> Result<Vec<Item>, CliError> {
    let overrides = Overrides::new(store.list_overrides(Some(project))?);
    let names = overrides.pinned_uids().into_iter();
    let names: Vec<ItemRef> = names.map(|uid| ItemRef::Uid(uid.to_owned())).collect();
    Ok(store.find_items(&names)?)
}

fn count_tokens(items: &[Item]) -> u32 {
    items.iter().map(|item| item.digest_tokens).sum()
}

/// Says so where pins leave little room for anything else at a start.
fn warn_of_cost(data: &DataDir, project: &str) -> Result<(), CliError> {
    let Some(store) = data.open_store()? else {
        return Ok(());
    };
    let room = RecallSettings::from_config(&data.config)
        .limits
        .start_tokens;
    let cost = count_tokens(&list_pinned_items(&store, project)?);
    if cost > room / 2 {
        output::print_note(&format!(
            "pinned items are about {cost} tokens, and a session begins with {room} at most \
             (recall.start_tokens): `remora context` shows what fits"
        ));
    }
    Ok(())
}

fn print_pins(data: &DataDir, as_json: bool, out: &mut Output) -> Result<Exit, CliError> {
    let project = data.current_project()?;
    let items = match data.open_store()? {
        Some(store) => list_pinned_items(&store, &project)?,
        None => Vec::new(),
    };
    if as_json {
        let pins: Vec<Value> = items.iter().map(correct::as_json).collect();
        out.print_json(&json!({ "project": project, "pins": pins }))?;
        return Ok(Exit::GoOn);
    }
    if items.is_empty() {
        out.print_text("nothing is pinned in this project\n")?;
        return Ok(Exit::GoOn);
    }
    for item in &items {
        let lead = format!("#{} {} · ", item.id, item.kind);
        out.print_text(&hang_text(&lead, &flatten_text(&item.title)))?;
    }
    let number = format_count(items.len() as u64, "item", "items");
    let sum = format!("{number}, about {} tokens\n", count_tokens(&items));
    out.print_text(&out.paint(Style::Dim, &sum))?;
    Ok(Exit::GoOn)
}
