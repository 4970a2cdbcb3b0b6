//! `remora forget`: deletes what is remembered, for good. Shows what that comes
//! to and asks first; saved memories go as `memory rm` removes them.

use std::io::{self, BufRead, IsTerminal, Write as _};

use remora_instructions::memories::SCHEME;
use remora_memory::store::{Filter, Name, Store};
use remora_memory::words::Query;
use remora_protocol::record::{Item, Kind};
use remora_protocol::time::rfc3339;
use remora_server::forget::{self, Order, Selection};
use remora_server::{Inbox, Log};
use serde_json::{Value, json};

use crate::args::{Directory, Forget, MemoryRm, SavedPlace};
use crate::clock;
use crate::commands::data::Data;
use crate::commands::exclusive::Exclusive;
use crate::commands::reader::Reader;
use crate::commands::search::scope;
use crate::commands::show::lines::{Local, count, flat, hang};
use crate::commands::{memory, show, worker};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Items that are shown before the question.
const PREVIEW_ITEMS: usize = 8;
/// Items that one search may find; who means more names a session or a project.
const MATCHING_ITEMS: usize = 100_000;

pub(super) fn run(args: &Forget, out: &mut Output) -> Result<Exit, CliError> {
    let (items, saved): (Vec<&String>, Vec<&String>) =
        args.names.iter().partition(|name| is_number(name));
    if !items.is_empty() && args.project.is_some() {
        return Err(CliError::Usage(
            "an item is known by its number alone; leave out --project".to_owned(),
        ));
    }
    if !saved.is_empty() {
        return forget_saved(args, &items, out);
    }
    let data = Data::open()?;
    let Some(store) = data.store()? else {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    };
    let selection = select(args, &data, &store)?;
    let order = forget::plan(&store, &data.paths, &selection, clock::millis())?;
    let preview = Preview::of(&store, &order)?;
    drop(store);
    if order.is_empty() {
        return said_nothing(args, out);
    }
    if args.dry_run {
        return said(args, &order, &preview, out);
    }
    if !args.yes {
        if args.json || !io::stdin().is_terminal() {
            return Err(CliError::Usage(format!(
                "this would delete {}; add --yes to do it, or --dry-run to see it",
                sum(&order)
            )));
        }
        preview.show(&order, out)?;
        if !confirmed(out)? {
            out.text("nothing was deleted\n")?;
            return Ok(Exit::GoOn);
        }
    }
    let order = delete(&data, |store| select(args, &data, store))?;
    said(args, &order, &preview, out)
}

/// Whether an item is meant. A shell may take `#12` for a comment, so the number
/// alone is enough; a saved memory of that name has its address.
fn is_number(name: &str) -> bool {
    name.starts_with('#') || !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit())
}

/// Deletes what `select` names, once everything that waits is stored: an event
/// in the spool would bring it back.
pub(super) fn delete(
    data: &Data,
    select: impl FnOnce(&dyn Store) -> Result<Selection, CliError>,
) -> Result<Order, CliError> {
    let _guard = Exclusive::take(&data.paths)?;
    let inbox = drained_inbox(data)?;
    let selection = select(inbox.store())?;
    let order = forget::plan(inbox.store(), &data.paths, &selection, clock::millis())?;
    drop(inbox);
    forget::carry_out(&data.paths, &order)?;
    Ok(order)
}

/// The store, once everything that waits is in it. Only for a process that holds
/// the worker's lock.
pub(super) fn drained_inbox(data: &Data) -> Result<Inbox, CliError> {
    let mut inbox = Inbox::new(
        data.paths.clone(),
        Box::new(data.writable()?),
        worker::policy(data),
        data.config.list("capture.ignore"),
        Log::open(data.paths.worker_log()),
    )?;
    while inbox.round(clock::millis())?.taken > 0 {}
    Ok(inbox)
}

fn forget_saved(args: &Forget, items: &[&String], out: &mut Output) -> Result<Exit, CliError> {
    if !items.is_empty() {
        return Err(CliError::Usage(
            "items (#12) and saved memories are forgotten one kind at a time".to_owned(),
        ));
    }
    let args = MemoryRm {
        names: args.names.clone(),
        whose: args.whose.clone(),
        place: SavedPlace {
            directory: Directory {
                project: args.project.clone(),
                cwd: args.cwd.clone(),
            },
            home: args.home.clone(),
            json: args.json,
        },
    };
    memory::forget(&args, out)
}

fn select(args: &Forget, data: &Data, store: &dyn Store) -> Result<Selection, CliError> {
    // What goes is shown before, so an agent names its own project alone.
    let reader = Reader::of(data)?;
    if let Some(id) = &args.session {
        return reader.session(store, id).map(Selection::Session);
    }
    let project = args.project.as_deref();
    let project = project
        .map(|text| scope::named(data, store, text))
        .transpose()?;
    let Some(words) = &args.matching else {
        let Some(key) = project else {
            let items = items(store, &args.names)?.into_iter();
            let items = items.map(|item| reader.check(item));
            return items.collect::<Result<_, _>>().map(Selection::Items);
        };
        reader.check_project(Some(&key))?;
        return Ok(Selection::Project(key));
    };
    let project = match project {
        None if !args.all => Some(data.project()?),
        other => other,
    };
    reader.check_project(project.as_deref())?;
    let filter = Filter {
        project: project.clone(),
        ..Filter::default()
    };
    let hits = store.search(&Query::parse(words), &filter, MATCHING_ITEMS)?;
    let hits = hits.into_iter().filter(|hit| hit.all_words);
    let items: Vec<Item> = hits
        .map(|hit| hit.item)
        .filter(|item| !is_saved(item))
        .collect();
    let strip = |word: &str| word.trim_matches(['"', '\'']).to_lowercase();
    let words = words.split_whitespace().map(strip);
    Ok(Selection::Matching {
        items,
        words: words.filter(|word| !word.is_empty()).collect(),
        project,
    })
}

/// The items of these numbers.
pub(super) fn items(store: &dyn Store, names: &[String]) -> Result<Vec<Item>, CliError> {
    let mut items = Vec::new();
    for name in names {
        let item = show::find(store, name)?;
        let item = item.ok_or_else(|| {
            CliError::Usage(format!(
                "{name}: no such item; `remora search` gives numbers"
            ))
        })?;
        if is_saved(&item) {
            let address = item.key.as_deref().unwrap_or_default();
            return Err(CliError::Usage(format!(
                "{name} is a saved memory; `remora forget {address}` removes its file"
            )));
        }
        items.push(item);
    }
    Ok(items)
}

/// Whether it is the row of a file, which decides what it says.
pub(super) fn is_saved(item: &Item) -> bool {
    item.kind == Kind::Memory
        && item
            .key
            .as_deref()
            .is_some_and(|key| key.starts_with(SCHEME))
}

/// What a deletion comes to, in words.
pub(super) struct Preview {
    items: Vec<Item>,
    more: usize,
}

impl Preview {
    fn of(store: &dyn Store, order: &Order) -> Result<Self, CliError> {
        let names = order.erase.items.iter().take(PREVIEW_ITEMS);
        let names: Vec<Name> = names.map(|uid| Name::Uid(uid.clone())).collect();
        let items = store.items(&names)?;
        Ok(Self {
            more: order.erase.items.len() - items.len(),
            items,
        })
    }

    fn show(&self, order: &Order, out: &mut Output) -> Result<(), CliError> {
        let local = Local::new();
        out.text(&format!("This deletes {}:\n", sum(order)))?;
        for item in &self.items {
            let head = format!("  #{} {} {}  ", item.id, local.day(item.time), item.kind);
            out.text(&hang(&head, &flat(&item.title)))?;
        }
        if self.more > 0 {
            out.text(&format!("  and {} more\n", self.more))?;
        }
        out.text("Old copies of the database in the data directory go as well.\n")
    }
}

/// How much an order deletes, in words.
pub(super) fn sum(order: &Order) -> String {
    let mut parts = vec![
        count(order.receipt.items, "item", "items"),
        count(order.receipt.events, "event", "events"),
    ];
    if !order.files.is_empty() {
        let files = order.files.len() as u64;
        parts.push(count(
            files,
            "waiting or dead event",
            "waiting or dead events",
        ));
    }
    parts.join(" and ")
}

fn confirmed(out: &mut Output) -> Result<bool, CliError> {
    out.text("Delete for good? [y/N] ")?;
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn said_nothing(args: &Forget, out: &mut Output) -> Result<Exit, CliError> {
    if args.json {
        out.json(&json!({ "dry_run": args.dry_run, "items": 0, "events": 0 }))?;
    } else {
        out.text("nothing is remembered that matches\n")?;
    }
    Ok(Exit::GoOn)
}

fn said(
    args: &Forget,
    order: &Order,
    preview: &Preview,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.json(&as_json(args.dry_run, order))?;
    } else if args.dry_run {
        preview.show(order, out)?;
        out.text("nothing was deleted: this was a dry run\n")?;
    } else {
        let head = format!("deleted {}", sum(order));
        out.text(&(out.paint(Style::Green, &head) + "\n"))?;
        out.text(&format!("receipt {}\n", order.receipt.receipt))?;
    }
    Ok(Exit::GoOn)
}

fn as_json(dry_run: bool, order: &Order) -> Value {
    let receipt = &order.receipt;
    json!({
        "dry_run": dry_run,
        "what": receipt.what,
        "items": receipt.items,
        "events": receipt.events,
        "numbers": order.numbers,
        "sessions": order.erase.sessions,
        "receipt": (!dry_run).then_some(&receipt.receipt),
        "time": rfc3339(receipt.at),
    })
}
