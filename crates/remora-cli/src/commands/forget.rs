//! `remora forget`: deletes what is remembered, for good. Shows what that comes
//! to and asks first; saved memories go as `memory rm` removes them.

use std::io::{self, BufRead, IsTerminal, Write as _};

use remora_core::record::{Item, Kind};
use remora_core::time::format_rfc3339;
use remora_instructions::memories::MEMORY_URI_SCHEME;
use remora_memory::store::{Filter, ItemRef, Store};
use remora_memory::words::Query;
use remora_server::forget::{self, DeletionPlan, Selection};
use remora_server::{Log, SpoolIngest};
use serde_json::{Value, json};

use crate::args::{DirectoryArgs, ForgetArgs, MemoryLocationArgs, MemoryRmArgs};
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::exclusive::WorkerLock;
use crate::commands::reader::Requester;
use crate::commands::search::scope;
use crate::commands::show::lines::{TimeFormatter, flatten_text, format_count, hang_text};
use crate::commands::{memory, show, worker};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Items that are shown before the question.
const MAX_PREVIEW_ITEMS: usize = 8;
/// Items that one search may find; for more, users name a session or a project.
const MAX_MATCHING_ITEMS: usize = 100_000;

pub(super) fn run(args: &ForgetArgs, out: &mut Output) -> Result<Exit, CliError> {
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
    let data = DataDir::open()?;
    let Some(store) = data.open_store()? else {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    };
    let selection = build_selection(args, &data, &store)?;
    let order = forget::plan_deletion(&store, &data.paths, &selection, clock::now_ms())?;
    let preview = DeletionPreview::for_plan(&store, &order)?;
    // Before the lock: a connection of this process must not be open while the
    // files are rewritten.
    drop(store);
    if order.is_empty() {
        return said_nothing(args, out);
    }
    if args.dry_run {
        return print_result(args, &order, &preview, out);
    }
    if !args.yes {
        if args.json || !io::stdin().is_terminal() {
            return Err(CliError::Usage(format!(
                "this would delete {}; add --yes to do it, or --dry-run to see it",
                describe_deletion(&order)
            )));
        }
        preview.print_preview(&order, out)?;
        if !confirm_deletion(out)? {
            out.print_text("nothing was deleted\n")?;
            return Ok(Exit::GoOn);
        }
    }
    // Selected again under the lock: events that came since the preview belong
    // to it too.
    let order = delete_selection(&data, |store| build_selection(args, &data, store))?;
    print_result(args, &order, &preview, out)
}

/// Whether a name is an item's number. A shell may take `#12` for a comment, so
/// the number alone is enough; a saved memory of that name has its address.
fn is_number(name: &str) -> bool {
    name.starts_with('#') || !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit())
}

/// Deletes what `select` names, once everything that waits is stored: an event
/// in the spool would bring it back.
pub(super) fn delete_selection(
    data: &DataDir,
    select: impl FnOnce(&dyn Store) -> Result<Selection, CliError>,
) -> Result<DeletionPlan, CliError> {
    let _guard = WorkerLock::acquire_lock(&data.paths)?;
    let ingest = drain_and_open(data)?;
    let selection = select(ingest.store())?;
    let order = forget::plan_deletion(ingest.store(), &data.paths, &selection, clock::now_ms())?;
    drop(ingest);
    forget::carry_out(&data.paths, &order)?;
    Ok(order)
}

/// The store, once everything that waits is in it. Only for a process that holds
/// the worker's lock.
pub(super) fn drain_and_open(data: &DataDir) -> Result<SpoolIngest, CliError> {
    let mut ingest = SpoolIngest::new(
        data.paths.clone(),
        Box::new(data.open_writable_store()?),
        worker::build_capture_policy(data),
        data.config.get_list("capture.ignore"),
        Log::open(data.paths.worker_log()),
    )?;
    // What is still in the spool would be stored after the deletion and bring
    // its text back.
    while ingest.ingest_batch(clock::now_ms())?.removed > 0 {}
    Ok(ingest)
}

fn forget_saved(args: &ForgetArgs, items: &[&String], out: &mut Output) -> Result<Exit, CliError> {
    if !items.is_empty() {
        return Err(CliError::Usage(
            "items (#12) and saved memories are forgotten one kind at a time".to_owned(),
        ));
    }
    let args = MemoryRmArgs {
        names: args.names.clone(),
        whose: args.whose.clone(),
        place: MemoryLocationArgs {
            directory: DirectoryArgs {
                project: args.project.clone(),
                cwd: args.cwd.clone(),
            },
            home: args.home.clone(),
            json: args.json,
        },
    };
    memory::run_forget(&args, out)
}

fn build_selection(
    args: &ForgetArgs,
    data: &DataDir,
    store: &dyn Store,
) -> Result<Selection, CliError> {
    // The preview shows what goes, so an agent may name its own project only.
    let reader = Requester::from_data(data)?;
    if let Some(id) = &args.session {
        return reader.resolve_session(store, id).map(Selection::Session);
    }
    let project = args.project.as_deref();
    let project = project
        .map(|text| scope::resolve_named_project(data, store, text))
        .transpose()?;
    let Some(words) = &args.matching else {
        let Some(key) = project else {
            let items = find_items(store, &args.names)?.into_iter();
            let items = items.map(|item| reader.check_item(item));
            return items.collect::<Result<_, _>>().map(Selection::Items);
        };
        reader.check_project(Some(&key))?;
        return Ok(Selection::Project(key));
    };
    let project = match project {
        None if !args.all => Some(data.current_project()?),
        other => other,
    };
    reader.check_project(project.as_deref())?;
    let filter = Filter {
        project: project.clone(),
        ..Filter::default()
    };
    let hits = store.search(&Query::parse(words), &filter, MAX_MATCHING_ITEMS)?;
    // A search also returns items with some of the words or a similar meaning;
    // only exact matches may go.
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
pub(super) fn find_items(store: &dyn Store, names: &[String]) -> Result<Vec<Item>, CliError> {
    let mut items = Vec::new();
    for name in names {
        let item = show::find_named_item(store, name)?;
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

/// Whether it is the item of a file, which decides what it says.
pub(super) fn is_saved(item: &Item) -> bool {
    item.kind == Kind::Memory
        && item
            .key
            .as_deref()
            .is_some_and(|key| key.starts_with(MEMORY_URI_SCHEME))
}

/// What a deletion comes to, in words.
pub(super) struct DeletionPreview {
    items: Vec<Item>,
    more: usize,
}

impl DeletionPreview {
    fn for_plan(store: &dyn Store, order: &DeletionPlan) -> Result<Self, CliError> {
        let names = order.erase.items.iter().take(MAX_PREVIEW_ITEMS);
        let names: Vec<ItemRef> = names.map(|uid| ItemRef::Uid(uid.clone())).collect();
        let items = store.find_items(&names)?;
        Ok(Self {
            more: order.erase.items.len() - items.len(),
            items,
        })
    }

    fn print_preview(&self, order: &DeletionPlan, out: &mut Output) -> Result<(), CliError> {
        let local = TimeFormatter::new();
        out.print_text(&format!("This deletes {}:\n", describe_deletion(order)))?;
        for item in &self.items {
            let head = format!(
                "  #{} {} {}  ",
                item.id,
                local.format_day(item.time),
                item.kind
            );
            out.print_text(&hang_text(&head, &flatten_text(&item.title)))?;
        }
        if self.more > 0 {
            out.print_text(&format!("  and {} more\n", self.more))?;
        }
        out.print_text("Old copies of the database in the data directory go as well.\n")
    }
}

/// How much an order deletes, in words.
pub(super) fn describe_deletion(order: &DeletionPlan) -> String {
    let mut parts = vec![
        format_count(order.receipt.items, "item", "items"),
        format_count(order.receipt.events, "event", "events"),
    ];
    if !order.files.is_empty() {
        let files = order.files.len() as u64;
        parts.push(format_count(
            files,
            "waiting or dead event",
            "waiting or dead events",
        ));
    }
    parts.join(" and ")
}

fn confirm_deletion(out: &mut Output) -> Result<bool, CliError> {
    out.print_text("Delete for good? [y/N] ")?;
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn said_nothing(args: &ForgetArgs, out: &mut Output) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(&json!({ "dry_run": args.dry_run, "items": 0, "events": 0 }))?;
    } else {
        out.print_text("nothing is remembered that matches\n")?;
    }
    Ok(Exit::GoOn)
}

fn print_result(
    args: &ForgetArgs,
    order: &DeletionPlan,
    preview: &DeletionPreview,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(&as_json(args.dry_run, order))?;
    } else if args.dry_run {
        preview.print_preview(order, out)?;
        out.print_text("nothing was deleted: this was a dry run\n")?;
    } else {
        let head = format!("deleted {}", describe_deletion(order));
        out.print_text(&(out.paint(Style::Green, &head) + "\n"))?;
        out.print_text(&format!("receipt {}\n", order.receipt.receipt))?;
    }
    Ok(Exit::GoOn)
}

fn as_json(dry_run: bool, order: &DeletionPlan) -> Value {
    let receipt = &order.receipt;
    json!({
        "dry_run": dry_run,
        "what": receipt.what,
        "items": receipt.items,
        "events": receipt.events,
        "numbers": order.numbers,
        "sessions": order.erase.sessions,
        "receipt": (!dry_run).then_some(&receipt.receipt),
        "time": format_rfc3339(receipt.at),
    })
}
