//! `remora show`: items in full.

pub(crate) mod lines;

use remora_core::detail::{DetailList, DetailNumber, DetailText, ItemDetail};
use remora_core::record::{Item, Kind};
use remora_core::time::format_rfc3339;
use remora_instructions::memories::MEMORY_URI_SCHEME;
use remora_memory::commit::{reverted_by, short_hash};
use remora_memory::end_date::item_ended_on;
use remora_memory::store::{ItemRef, Store};
use serde_json::{Value, json};

use crate::args::ShowArgs;
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::reader::Requester;
use crate::commands::wrong::Rejections;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use lines::{TimeFormatter, flatten_text, format_number, hang_text};

/// Counts of a fix, and the words for them.
const FIX_COUNTS: [(DetailNumber, &str); 3] = [
    (DetailNumber::Fixed, "mended"),
    (DetailNumber::Held, "held"),
    (DetailNumber::Returned, "came back"),
];

pub(crate) fn run(args: &ShowArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let Some(store) = data.open_store()? else {
        return Err(CliError::Usage("nothing is remembered yet".to_owned()));
    };
    let reader = Requester::from_data(&data)?;
    let mut items = Vec::new();
    let mut missing = Vec::new();
    for text in &args.ids {
        let found = match find_saved_memory(&data, &store, text)? {
            None => find_named_item(&store, text)?,
            found => found,
        };
        match found {
            // An agent's shell may show items of its own project only.
            Some(item) => items.push(reader.check_item(item)?),
            None => missing.push(text.clone()),
        }
    }
    print_items(&store, &items, &missing, args.json, out)
}

/// The item of the memory with this address: of this project, or of everywhere.
fn find_saved_memory(
    data: &DataDir,
    store: &dyn Store,
    text: &str,
) -> Result<Option<Item>, CliError> {
    let address = text.trim();
    if !address.starts_with(MEMORY_URI_SCHEME) {
        return Ok(None);
    }
    let here = data.current_project().unwrap_or_default();
    Ok(match store.find_by_key(&here, Kind::Memory, address)? {
        None => store.find_by_key("", Kind::Memory, address)?,
        found => found,
    })
}

/// The item with this number or name.
pub(crate) fn find_named_item(store: &dyn Store, text: &str) -> Result<Option<Item>, CliError> {
    let text = text.trim();
    let digits = text.strip_prefix('#').unwrap_or(text);
    let number = digits.parse().ok().filter(|n| *n > 0).map(ItemRef::Id);
    let mut found = match number {
        Some(number) => store.find_items(&[number])?,
        None => Vec::new(),
    };
    // What was imported may be called by a number too.
    if found.is_empty() && !text.is_empty() {
        found = store.find_items(&[ItemRef::Uid(text.to_owned())])?;
    }
    Ok(found.pop())
}

/// Shows items, and says which were not found.
pub(crate) fn print_items(
    store: &dyn Store,
    items: &[Item],
    missing: &[String],
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let rejections = Rejections::load(store)?;
    if as_json {
        let full = |item: &Item| to_full_json(item, &rejections);
        let items: Vec<Value> = items.iter().map(full).collect::<Result<_, _>>()?;
        out.print_json(&json!({ "items": items, "missing": missing }))?;
    } else {
        let names = store.list_projects()?;
        let local = TimeFormatter::new();
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.print_text("\n")?;
            }
            let name = names.iter().find(|p| p.key == item.project);
            let name = name.map_or("", |p| p.name.as_str());
            print_item(item, name, &local, &rejections, out)?;
        }
    }
    if missing.is_empty() {
        return Ok(Exit::GoOn);
    }
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let text = format!("not found: {}", names.join(", "));
    if items.is_empty() {
        return Err(CliError::Usage(text));
    }
    crate::output::print_trace(&text);
    Ok(Exit::GoOn)
}

/// The item as it is, with its times as text and the `detail` of a summary or a
/// fix next to its fields.
fn to_full_json(item: &Item, rejections: &Rejections) -> Result<Value, CliError> {
    let mut value = serde_json::to_value(item)?;
    if let Some(wrong) = rejections.to_json(item) {
        value["wrong"] = wrong;
    }
    if rejections.is_edited(item) {
        value["edited"] = json!(true);
    }
    if rejections.is_pinned(item) {
        value["pinned"] = json!(true);
    }
    if let Some(day) = item_ended_on(item, clock::now_ms()) {
        value["ended"] = json!(day);
    }
    value["when"] = json!(format_rfc3339(item.time));
    value["last_when"] = json!(format_rfc3339(item.time.max(item.last_time)));
    match item.kind {
        Kind::Fix => {
            for (counter, _) in FIX_COUNTS {
                value[counter.name()] = json!(item.detail_count(counter).unwrap_or(0));
            }
        }
        Kind::Summary => {
            let detail = item.detail.as_ref().map(ItemDetail::to_value);
            if let Some(Value::Object(fields)) = detail {
                for (name, field) in fields {
                    // An item's own fields win over those of its detail.
                    if value.get(&name).is_none() {
                        value[name] = field;
                    }
                }
            }
        }
        Kind::Commit => {
            value["reverted_by"] = json!(reverted_by(item));
        }
        _ => {}
    }
    Ok(value)
}

/// The colour of a kind: failures and fixes should catch the eye.
pub(crate) fn style_for_kind(kind: Kind) -> Style {
    match kind {
        Kind::Failure => Style::Red,
        Kind::Fix | Kind::Bugfix => Style::Green,
        Kind::Decision | Kind::Preference | Kind::Correction => Style::Yellow,
        Kind::Summary | Kind::Memory => Style::Bold,
        _ => Style::Plain,
    }
}

fn print_item(
    item: &Item,
    project: &str,
    local: &TimeFormatter,
    rejections: &Rejections,
    out: &mut Output,
) -> Result<(), CliError> {
    let id = out.paint(Style::Cyan, &format!("#{}", item.id));
    let kind = out.paint(style_for_kind(item.kind), item.kind.name());
    out.print_text(&format!("{id} {kind}\n"))?;
    for line in lines::wrap_text(&flatten_text(&item.title), lines::line_width()) {
        let line = out.paint(Style::Bold, &line);
        out.print_text(&format!("{line}\n"))?;
    }
    if let Some(mark) = rejections.describe_rejection(item) {
        out.print_text(&out.paint(Style::Red, &hang_text("  ", &flatten_text(&mark))))?;
    }
    let own = [
        (
            rejections.is_edited(item),
            "words",
            "yours, by `remora edit`",
        ),
        (
            rejections.is_pinned(item),
            "pinned",
            "every session begins with it",
        ),
    ];
    for (_, name, value) in own.into_iter().filter(|(is, ..)| *is) {
        let lead = out.paint(Style::Dim, &format!("  {name:<9} "));
        out.print_text(&format!("{lead}{value}\n"))?;
    }
    for (name, value) in list_fields(item, project, local) {
        let lead = format!("  {name:<9} ");
        let text = hang_text(&lead, &flatten_text(&value));
        let painted = out.paint(Style::Dim, &lead);
        out.print_text(&text.replacen(&lead, &painted, 1))?;
    }
    if !item.facts.is_empty() {
        out.print_text("\n")?;
        for fact in &item.facts {
            out.print_text(&hang_text("  - ", &flatten_text(fact)))?;
        }
    }
    let body = item.text.trim();
    // Short items repeat their title or facts as their text.
    let is_told = [
        flatten_text(&item.title),
        flatten_text(&item.facts.join(" ")),
    ]
    .contains(&flatten_text(body));
    if !body.is_empty() && !is_told {
        out.print_text("\n")?;
        for line in body.lines() {
            let line = escape_invisible(line.trim_end());
            out.print_text(format!("  {line}").trim_end())?;
            out.print_text("\n")?;
        }
    }
    Ok(())
}

/// Why an item no longer holds, by its own words or by a later commit.
pub(crate) fn find_outdated_reason(item: &Item) -> Option<String> {
    let reverted = reverted_by(item).map(|hash| format!("reverted by {hash}"));
    let ended = || Some(format!("ended {}", item_ended_on(item, clock::now_ms())?));
    reverted.or_else(ended)
}

/// What there is to say besides title, facts and text.
pub(crate) fn list_fields(
    item: &Item,
    project: &str,
    local: &TimeFormatter,
) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    let first = local.format_timestamp(item.time);
    let time = if item.seen > 1 {
        let last = local.format_timestamp(item.time.max(item.last_time));
        format!("{first}; {} times, last {last}", item.seen)
    } else {
        first
    };
    fields.push(("time", time));
    fields.push((
        "project",
        if item.project.is_empty() {
            "all of them".to_owned()
        } else if project.is_empty() || project == item.project {
            item.project.to_string()
        } else {
            format!("{project} ({})", item.project)
        },
    ));
    let session = match item.prompt {
        Some(prompt) => format!("{}, prompt {prompt}", item.session),
        None => item.session.clone(),
    };
    // What no session did, such as a saved memory, names none.
    let done = [("session", session), ("agent", item.agent.clone())];
    fields.extend(done.into_iter().filter(|(_, name)| !name.is_empty()));
    fields.extend(list_file_fields(item));
    fields.extend(list_commit_fields(item));
    let ended = item_ended_on(item, clock::now_ms());
    fields.extend(ended.map(|day| ("ended", format!("{day}, by its own words"))));
    fields.extend(item.subagent.clone().map(|name| ("subagent", name)));
    fields.extend(item.branch.clone().map(|name| ("branch", name)));
    fields.extend(item.speaker.clone().map(|name| ("said by", name)));
    fields.extend(item.tool.clone().map(|name| ("tool", name)));
    if item.kind == Kind::Fix {
        let told = FIX_COUNTS.map(|(counter, word)| {
            format!(
                "{word} {}",
                format_times(item.detail_count(counter).unwrap_or(0))
            )
        });
        fields.push(("record", told.join(", ")));
    }
    for (name, files) in [
        ("changed", &item.files_modified),
        ("read", &item.files_read),
    ] {
        if !files.is_empty() {
            fields.push((name, files.join(", ")));
        }
    }
    if !item.concepts.is_empty() {
        fields.push(("about", item.concepts.join(", ")));
    }
    fields.push(("name", item.uid.clone()));
    fields.extend(item.external_id.clone().map(|name| ("elsewhere", name)));
    if item.raw_tokens > item.digest_tokens {
        let tokens = |n: u32| format_number(u64::from(n));
        let (raw, kept) = (tokens(item.raw_tokens), tokens(item.digest_tokens));
        fields.push(("tokens", format!("{kept} of {raw}")));
    }
    fields
}

/// The fields of the file behind a saved memory; the item only follows it.
fn list_file_fields(item: &Item) -> Vec<(&'static str, String)> {
    let Some(detail) = item.detail.as_ref().filter(|_| item.kind == Kind::Memory) else {
        return Vec::new();
    };
    let mut fields = Vec::new();
    if let Some(path) = detail.text(DetailText::Path) {
        fields.push((
            "file",
            format!("{path} (it is the truth; this is its index)"),
        ));
    }
    fields.extend(item.key.clone().map(|key| ("address", key)));
    let kind = detail.text(DetailText::MemoryType);
    fields.extend(kind.map(|kind| ("type", kind.to_owned())));
    if let Some(priority) = detail.count(DetailNumber::Priority) {
        fields.push(("priority", priority.to_string()));
    }
    let doubts = detail.list(DetailList::Doubts);
    fields.extend(doubts.map(|doubt| ("in doubt", doubt.to_owned())));
    fields
}

/// Which commit it is, and whether a later one took it back.
fn list_commit_fields(item: &Item) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    fields.extend(short_hash(item).map(|hash| ("commit", hash.to_owned())));
    fields.extend(reverted_by(item).map(|hash| ("reverted", format!("by {hash}"))));
    fields
}

fn format_times(n: u64) -> String {
    match n {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", format_number(more)),
    }
}
