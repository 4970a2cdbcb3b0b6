//! `remora ledger`: what sessions were given from memory, what it cost, and how
//! much of it was of use.

mod rows;
mod tally;

use remora_memory::store::{Filter, Store};
use remora_protocol::time::rfc3339;
use serde_json::{Value, json};

use crate::args::Ledger;
use crate::commands::data::Data;
use crate::commands::reader::Reader;
use crate::commands::search::{scope, when};
use crate::commands::show::lines::{self, Local, count, flat};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};
use crate::recall::NAMED;
use rows::Row;
use tally::{Sum, Tally};

/// Columns of the first word of a line in a table, at least.
const NAME: usize = 12;
/// Columns of an item's name at most.
const ITEM: usize = 40;

pub(super) fn run(args: &Ledger, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let span = when::span(&args.span)?;
    let mut filter = Filter {
        since: span.since,
        until: span.until,
        ..Filter::default()
    };
    let store = data.store()?;
    let mut rows = Vec::new();
    if let Some(store) = &store {
        let reader = Reader::of(&data)?;
        let session = args.session.as_deref();
        filter.session = session.map(|id| reader.session(store, id)).transpose()?;
        // A session is of one project; it need not be this one.
        if filter.session.is_none() || args.place.project.is_some() {
            filter.project = reader.project(&data, store, &args.place)?;
        }
        rows = rows::find(store, &filter)?;
    } else if let Some(id) = &args.session {
        return Err(scope::no_session(id));
    }
    let tally = Tally::of(&rows);
    // The newest first.
    let last = || rows.iter().rev().take(args.limit);
    if args.json {
        out.json(&as_json(&tally, last()))?;
        return Ok(Exit::GoOn);
    }
    if rows.is_empty() {
        let port = store.as_ref().map(|store| store as &dyn Store);
        out.text(&nothing(port, &filter)?)?;
        return Ok(Exit::GoOn);
    }
    head(&tally, out)?;
    table("moment", &tally.moments, out)?;
    table("kind", &tally.kinds, out)?;
    let local = Local::new();
    let mut day = String::new();
    for row in last() {
        let today = local.day(row.given.time);
        if day != today {
            let head = format!("{today} {}", local.weekday(row.given.time));
            out.text(&format!("\n{}\n", out.paint(Style::Bold, &head)))?;
            day = today;
        }
        line(row, &local, out)?;
    }
    if rows.len() > args.limit && args.limit > 0 {
        let more = (rows.len() - args.limit) as u64;
        let more = format!(
            "\nand {}; see --limit\n",
            count(more, "line more", "lines more")
        );
        out.text(&out.paint(Style::Dim, &more))?;
    }
    Ok(Exit::GoOn)
}

/// Why there is nothing to show.
fn nothing(store: Option<&dyn Store>, filter: &Filter) -> Result<String, CliError> {
    let any = |filter: &Filter| match store {
        Some(store) => Ok::<bool, CliError>(!store.given(filter, 1)?.is_empty()),
        None => Ok(false),
    };
    let always = Filter {
        since: None,
        until: None,
        ..filter.clone()
    };
    let timed = filter.since.is_some() || filter.until.is_some();
    let text = if timed && any(&always)? {
        "nothing was given in that time\n"
    } else if filter.session.is_some() {
        "nothing was given to this session yet\n"
    } else if filter.project.is_some() && any(&Filter::default())? {
        "nothing was given in this project yet; `--all` looks in every project\n"
    } else {
        "nothing was given to any session yet; `remora context` shows what would be\n"
    };
    Ok(text.to_owned())
}

fn head(tally: &Tally, out: &mut Output) -> Result<(), CliError> {
    let all = &tally.all;
    let of_use = out.paint(Style::Bold, &percent(all));
    let given = count(all.tokens, "token", "tokens");
    let used = count(all.used_tokens, "token", "tokens");
    let items = |n: u64| count(n, "item", "items");
    let sessions = count(tally.sessions, "session", "sessions");
    out.text(&format!(
        "given   {given} in {}, {sessions}\nof use  {used} in {}\nrate    {of_use} of the tokens\n",
        items(all.items),
        items(all.used),
    ))
}

fn table(name: &str, sums: &[(String, Sum)], out: &mut Output) -> Result<(), CliError> {
    let widest = sums.iter().map(|(name, _)| lines::width(&flat(name)) + 1);
    let wide = widest.max().unwrap_or_default().clamp(NAME, 2 * NAME);
    let title = format!(
        "\n{name:<wide$}{:>8}{:>8}{:>10}{:>10}{:>9}\n",
        "items", "used", "tokens", "of use", "rate"
    );
    out.text(&out.paint(Style::Dim, &title))?;
    for (name, sum) in sums {
        let name = lines::fit(&flat(name), wide - 1);
        let pad = " ".repeat(wide - lines::width(&name));
        out.text(&format!(
            "{name}{pad}{:>8}{:>8}{:>10}{:>10}{:>9}\n",
            lines::number(sum.items),
            lines::number(sum.used),
            lines::number(sum.tokens),
            lines::number(sum.used_tokens),
            percent(sum),
        ))?;
    }
    Ok(())
}

fn percent(sum: &Sum) -> String {
    match sum.per_mille() {
        None => "-".to_owned(),
        Some(n) => format!("{}.{} %", n / 10, n % 10),
    }
}

fn line(row: &Row, local: &Local, out: &mut Output) -> Result<(), CliError> {
    let given = &row.given;
    let time = local.clock(given.time);
    let named = given.moment.strip_suffix(NAMED);
    let moment = lines::fit(&flat(named.unwrap_or(&given.moment)), 8);
    let lead = format!("  {time}  {moment:<8}  ");
    let item = lines::fit(&flat(&given.item), ITEM);
    let title = match &row.title {
        Some(title) => flat(title),
        None => "(no longer there)".to_owned(),
    };
    let cost = count(u64::from(given.tokens), "token", "tokens");
    let (used, style) = match &given.used {
        Some(used) => {
            let when = local.clock(used.time);
            (format!("{} {when}", flat(&used.how)), Style::Green)
        }
        None => ("not used".to_owned(), Style::Dim),
    };
    let column = lines::width(&lead);
    let room = lines::line_width().saturating_sub(column + lines::width(&item) + 2);
    out.text(&format!(
        "  {}  {moment:<8}  {}  {}\n",
        out.paint(Style::Dim, &time),
        out.paint(Style::Cyan, &item),
        lines::fit(&title, room),
    ))?;
    let mut about = vec![cost];
    about.extend(named.map(|_| "title only".to_owned()));
    about.extend(
        given
            .subagent
            .as_deref()
            .map(|_| "to a subagent".to_owned()),
    );
    about.extend(Some(flat(&given.why)).filter(|why| !why.is_empty()));
    let indent = " ".repeat(column);
    let room = lines::line_width().saturating_sub(column + lines::width(&used) + 3);
    let about = lines::fit(&about.join(" · "), room);
    let about = out.paint(Style::Dim, &format!("{about} · "));
    let used = out.paint(style, &used);
    out.text(&format!("{indent}{about}{used}\n"))
}

fn as_json<'a>(tally: &Tally, rows: impl Iterator<Item = &'a Row>) -> Value {
    let sum = |sum: &Sum| {
        json!({
            "items": sum.items,
            "used": sum.used,
            "tokens": sum.tokens,
            "used_tokens": sum.used_tokens,
            "rate": sum.rate(),
        })
    };
    let parts = |name: &str, sums: &[(String, Sum)]| -> Vec<Value> {
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
            let given = &row.given;
            json!({
                "time": rfc3339(given.time),
                "session": given.session,
                "line": given.line,
                "moment": given.moment,
                "item": given.item,
                "kind": row.kind,
                "title": row.title,
                "why": given.why,
                "tokens": given.tokens,
                "subagent": given.subagent,
                "used": given.used.as_ref().map(|used| json!({
                    "how": used.how,
                    "time": rfc3339(used.time),
                })),
            })
        })
        .collect();
    let mut value = sum(&tally.all);
    value["sessions"] = json!(tally.sessions);
    value["moments"] = json!(parts("moment", &tally.moments));
    value["kinds"] = json!(parts("kind", &tally.kinds));
    value["lines"] = json!(rows);
    value
}
