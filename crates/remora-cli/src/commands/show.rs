//! `remora show`: items in full.

pub(crate) mod lines;

use remora_app::App;
use remora_app::show::{FIX_COUNTS, ShowRequest, ShowResponse, ShownItem};
use remora_core::detail::{DetailList, DetailNumber, DetailText};
use remora_core::record::{Item, Kind};
use remora_memory::commit::{reverted_by, short_hash};
use remora_memory::end_date::item_ended_on;

use crate::args::ShowArgs;
use crate::commands::data::open_app;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use lines::{TimeFormatter, flatten_text, format_number, hang_text};

pub(crate) fn run(args: &ShowArgs, out: &mut Output) -> Result<Exit, CliError> {
    let app = open_app()?;
    let found = app.show(&ShowRequest {
        ids: args.ids.clone(),
    })?;
    print_items(&app, &found, args.json, out)
}

/// Shows items, and says which were not found.
pub(crate) fn print_items(
    app: &App,
    found: &ShowResponse,
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if as_json {
        out.print_json(found)?;
    } else {
        let local = TimeFormatter::new();
        for (at, shown) in found.items.iter().enumerate() {
            if at > 0 {
                out.print_text("\n")?;
            }
            print_item(shown, app.clock.now_ms(), &local, out)?;
        }
    }
    if found.missing.is_empty() {
        return Ok(Exit::GoOn);
    }
    let names: Vec<String> = found.missing.iter().map(|n| format!("`{n}`")).collect();
    let text = format!("not found: {}", names.join(", "));
    if found.items.is_empty() {
        return Err(CliError::Usage(text));
    }
    crate::output::print_trace(&text);
    Ok(Exit::GoOn)
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
    shown: &ShownItem,
    now: i64,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let item = &shown.item;
    let id = out.paint(Style::Cyan, &format!("#{}", item.id));
    let kind = out.paint(style_for_kind(item.kind), item.kind.name());
    out.print_text(&format!("{id} {kind}\n"))?;
    for line in lines::wrap_text(&flatten_text(&item.title), lines::line_width()) {
        let line = out.paint(Style::Bold, &line);
        out.print_text(&format!("{line}\n"))?;
    }
    if let Some(wrong) = &shown.wrong {
        let mark = flatten_text(&wrong.describe());
        out.print_text(&out.paint(Style::Red, &hang_text("  ", &mark)))?;
    }
    if let Some(successor) = &shown.superseded_by {
        let mark = flatten_text(&successor.describe());
        out.print_text(&out.paint(Style::Yellow, &hang_text("  ", &mark)))?;
    }
    let own = [
        (shown.edited, "words", "yours, by `remora edit`"),
        (shown.pinned, "pinned", "every session begins with it"),
    ];
    for (_, name, value) in own.into_iter().filter(|(is, ..)| *is) {
        let lead = out.paint(Style::Dim, &format!("  {name:<9} "));
        out.print_text(&format!("{lead}{value}\n"))?;
    }
    for (name, value) in list_fields(item, &shown.project_name, now, local) {
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

/// What there is to say besides title, facts and text.
pub(crate) fn list_fields(
    item: &Item,
    project: &str,
    now: i64,
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
        None => item.session.to_string(),
    };
    // What no session did, such as a saved memory, names none.
    let done = [("session", session), ("agent", item.agent.to_string())];
    fields.extend(done.into_iter().filter(|(_, name)| !name.is_empty()));
    fields.extend(list_file_fields(item));
    fields.extend(list_commit_fields(item));
    let ended = item_ended_on(item, now);
    fields.extend(ended.map(|day| ("ended", format!("{day}, by its own words"))));
    fields.extend(item.subagent.clone().map(|name| ("subagent", name)));
    fields.extend(item.branch.clone().map(|name| ("branch", name)));
    fields.extend(item.speaker.clone().map(|name| ("said by", name)));
    fields.extend(item.tool.clone().map(|name| ("tool", name)));
    if item.kind == Kind::Fix {
        let words = ["fixed", "held", "came back"];
        let told: Vec<String> = FIX_COUNTS
            .into_iter()
            .zip(words)
            .map(|(counter, word)| {
                format!(
                    "{word} {}",
                    format_times(item.detail_count(counter).unwrap_or(0))
                )
            })
            .collect();
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
    fields.push(("name", item.uid.to_string()));
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
    if let Some(path) = detail.read_text(DetailText::Path) {
        fields.push((
            "file",
            format!("{path} (it is the truth; this is its index)"),
        ));
    }
    fields.extend(item.key.clone().map(|key| ("address", key)));
    let kind = detail.read_text(DetailText::MemoryType);
    fields.extend(kind.map(|kind| ("type", kind.to_owned())));
    if let Some(priority) = detail.read_count(DetailNumber::Priority) {
        fields.push(("priority", priority.to_string()));
    }
    let doubts = detail.list_entries(DetailList::Doubts);
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
