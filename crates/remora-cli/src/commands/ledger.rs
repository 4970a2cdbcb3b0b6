//! `remora ledger`: what was injected into sessions, what it cost, and how
//! much of it was of use.

mod rows;
mod tally;

use remora_core::time::format_rfc3339;
use remora_memory::store::{Filter, Store};
use serde_json::{Value, json};

use crate::args::LedgerArgs;
use crate::commands::data::DataDir;
use crate::commands::reader::Requester;
use crate::commands::search::{scope, when};
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, format_count};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use crate::recall::TITLE_ONLY_SUFFIX;
use rows::InjectionRow;
use tally::{InjectionStats, InjectionTally};

/// Columns of the first word of a line in a table, at least.
const MIN_NAME_COLUMNS: usize = 12;
/// Columns of an item's name at most.
const MAX_ITEM_COLUMNS: usize = 40;

pub(super) fn run(args: &LedgerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let span = when::resolve_time_span(&args.span)?;
    let mut filter = Filter {
        since: span.since,
        until: span.until,
        ..Filter::default()
    };
    let store = data.open_store()?;
    let mut rows = Vec::new();
    if let Some(store) = &store {
        let reader = Requester::from_data(&data)?;
        let session = args.session.as_deref();
        filter.session = session
            .map(|id| reader.resolve_session(store, id))
            .transpose()?;
        // A session is of one project; it need not be this one.
        if filter.session.is_none() || args.place.project.is_some() {
            filter.project = reader.resolve_project(&data, store, &args.place)?;
        }
        rows = rows::list_injection_rows(store, &filter)?;
    } else if let Some(id) = &args.session {
        return Err(scope::no_session(id));
    }
    let tally = InjectionTally::from_rows(&rows);
    // The newest first.
    let last = || rows.iter().rev().take(args.limit);
    if args.json {
        out.print_json(&as_json(&tally, last()))?;
        return Ok(Exit::GoOn);
    }
    if rows.is_empty() {
        let port = store.as_ref().map(|store| store as &dyn Store);
        out.print_text(&explain_empty(port, &filter)?)?;
        return Ok(Exit::GoOn);
    }
    print_totals(&tally, out)?;
    print_table("moment", &tally.triggers, out)?;
    print_table("kind", &tally.kinds, out)?;
    let local = TimeFormatter::new();
    let mut day = String::new();
    for row in last() {
        let today = local.format_day(row.injection.time);
        if day != today {
            let head = format!("{today} {}", local.format_weekday(row.injection.time));
            out.print_text(&format!("\n{}\n", out.paint(Style::Bold, &head)))?;
            day = today;
        }
        print_injection(row, &local, out)?;
    }
    if rows.len() > args.limit && args.limit > 0 {
        let more = (rows.len() - args.limit) as u64;
        let more = format!(
            "\nand {}; see --limit\n",
            format_count(more, "line more", "lines more")
        );
        out.print_text(&out.paint(Style::Dim, &more))?;
    }
    Ok(Exit::GoOn)
}

/// Why there is nothing to show.
fn explain_empty(store: Option<&dyn Store>, filter: &Filter) -> Result<String, CliError> {
    let any = |filter: &Filter| match store {
        Some(store) => Ok::<bool, CliError>(!store.list_injections(filter, 1)?.is_empty()),
        None => Ok(false),
    };
    let always = Filter {
        since: None,
        until: None,
        ..filter.clone()
    };
    let timed = filter.since.is_some() || filter.until.is_some();
    let text = if timed && any(&always)? {
        "nothing was injected in that time\n"
    } else if filter.session.is_some() {
        "nothing was injected into this session yet\n"
    } else if filter.project.is_some() && any(&Filter::default())? {
        "nothing was injected in this project yet; `--all` looks in every project\n"
    } else {
        "nothing was injected into any session yet; `remora context` shows what would be\n"
    };
    Ok(text.to_owned())
}

fn print_totals(tally: &InjectionTally, out: &mut Output) -> Result<(), CliError> {
    let all = &tally.all;
    let of_use = out.paint(Style::Bold, &format_percent(all));
    let cost = format_count(all.tokens, "token", "tokens");
    let used = format_count(all.used_tokens, "token", "tokens");
    let items = |n: u64| format_count(n, "item", "items");
    let sessions = format_count(tally.sessions, "session", "sessions");
    out.print_text(&format!(
        "given   {cost} in {}, {sessions}\nof use  {used} in {}\nrate    {of_use} of the tokens\n",
        items(all.items),
        items(all.used),
    ))
}

fn print_table(
    name: &str,
    sums: &[(String, InjectionStats)],
    out: &mut Output,
) -> Result<(), CliError> {
    let widest = sums
        .iter()
        .map(|(name, _)| lines::text_width(&flatten_text(name)) + 1);
    let wide = widest
        .max()
        .unwrap_or_default()
        .clamp(MIN_NAME_COLUMNS, 2 * MIN_NAME_COLUMNS);
    let title = format!(
        "\n{name:<wide$}{:>8}{:>8}{:>10}{:>10}{:>9}\n",
        "items", "used", "tokens", "of use", "rate"
    );
    out.print_text(&out.paint(Style::Dim, &title))?;
    for (name, sum) in sums {
        let name = lines::truncate_columns(&flatten_text(name), wide - 1);
        let pad = " ".repeat(wide - lines::text_width(&name));
        out.print_text(&format!(
            "{name}{pad}{:>8}{:>8}{:>10}{:>10}{:>9}\n",
            lines::format_number(sum.items),
            lines::format_number(sum.used),
            lines::format_number(sum.tokens),
            lines::format_number(sum.used_tokens),
            format_percent(sum),
        ))?;
    }
    Ok(())
}

fn format_percent(sum: &InjectionStats) -> String {
    match sum.per_mille() {
        None => "-".to_owned(),
        Some(n) => format!("{}.{} %", n / 10, n % 10),
    }
}

fn print_injection(
    row: &InjectionRow,
    local: &TimeFormatter,
    out: &mut Output,
) -> Result<(), CliError> {
    let injection = &row.injection;
    let time = local.format_clock(injection.time);
    let named = injection.trigger.strip_suffix(TITLE_ONLY_SUFFIX);
    let trigger = lines::truncate_columns(&flatten_text(named.unwrap_or(&injection.trigger)), 8);
    let lead = format!("  {time}  {trigger:<8}  ");
    let item = lines::truncate_columns(&flatten_text(&injection.item), MAX_ITEM_COLUMNS);
    let title = match &row.title {
        Some(title) => flatten_text(title),
        None => "(no longer there)".to_owned(),
    };
    let cost = format_count(u64::from(injection.tokens), "token", "tokens");
    let (used, style) = match &injection.used {
        Some(used) => {
            let when = local.format_clock(used.time);
            (format!("{} {when}", flatten_text(&used.how)), Style::Green)
        }
        None => ("not used".to_owned(), Style::Dim),
    };
    let column = lines::text_width(&lead);
    let room = lines::line_width().saturating_sub(column + lines::text_width(&item) + 2);
    out.print_text(&format!(
        "  {}  {trigger:<8}  {}  {}\n",
        out.paint(Style::Dim, &time),
        out.paint(Style::Cyan, &item),
        lines::truncate_columns(&title, room),
    ))?;
    let mut about = vec![cost];
    about.extend(named.map(|_| "title only".to_owned()));
    about.extend(
        injection
            .subagent
            .as_deref()
            .map(|_| "to a subagent".to_owned()),
    );
    about.extend(Some(flatten_text(&injection.why)).filter(|why| !why.is_empty()));
    let indent = " ".repeat(column);
    let room = lines::line_width().saturating_sub(column + lines::text_width(&used) + 3);
    let about = lines::truncate_columns(&about.join(" · "), room);
    let about = out.paint(Style::Dim, &format!("{about} · "));
    let used = out.paint(style, &used);
    out.print_text(&format!("{indent}{about}{used}\n"))
}

fn as_json<'a>(tally: &InjectionTally, rows: impl Iterator<Item = &'a InjectionRow>) -> Value {
    let sum = |sum: &InjectionStats| {
        json!({
            "items": sum.items,
            "used": sum.used,
            "tokens": sum.tokens,
            "used_tokens": sum.used_tokens,
            "rate": sum.use_rate(),
        })
    };
    let parts = |name: &str, sums: &[(String, InjectionStats)]| -> Vec<Value> {
        sums.iter()
            .map(|(word, part)| {
                let mut value = json!({ name: word });
                if let (Value::Object(all), Value::Object(sums)) = (&mut value, sum(part)) {
                    all.extend(sums);
                }
                value
            })
            .collect()
    };
    let rows: Vec<Value> = rows
        .map(|row| {
            let injection = &row.injection;
            json!({
                "time": format_rfc3339(injection.time),
                "session": injection.session,
                "line": injection.line,
                "moment": injection.trigger,
                "item": injection.item,
                "kind": row.kind,
                "title": row.title,
                "why": injection.why,
                "tokens": injection.tokens,
                "subagent": injection.subagent,
                "used": injection.used.as_ref().map(|used| json!({
                    "how": used.how,
                    "time": format_rfc3339(used.time),
                })),
            })
        })
        .collect();
    let mut value = sum(&tally.all);
    value["sessions"] = json!(tally.sessions);
    value["moments"] = json!(parts("moment", &tally.triggers));
    value["kinds"] = json!(parts("kind", &tally.kinds));
    value["lines"] = json!(rows);
    value
}
