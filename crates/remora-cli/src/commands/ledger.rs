//! `remora ledger`: what was injected into sessions, what it cost, and how
//! much of it was of use.

use remora_app::injections::{
    InjectionRow, InjectionStats, InjectionsRequest, InjectionsResponse, NoInjections,
};
use remora_app::recall_environment::TITLE_ONLY_SUFFIX;

use crate::args::LedgerArgs;
use crate::commands::data::open_app;
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, format_count};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style};

/// Columns of the first word of a line in a table, at least.
const MIN_NAME_COLUMNS: usize = 12;
/// Columns of an item's name at most.
const MAX_ITEM_COLUMNS: usize = 40;

pub(super) fn run(args: &LedgerArgs, out: &mut Output) -> Result<Exit, CliError> {
    let found = open_app()?.list_injections(&InjectionsRequest {
        project: args.place.to_choice(),
        span: args.span.to_request(),
        session: args.session.clone(),
        limit: args.limit,
    })?;
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    if let Some(none) = found.none {
        out.print_text(explain_none(none))?;
        return Ok(Exit::GoOn);
    }
    print_totals(&found, out)?;
    let triggers = found.triggers.iter();
    let triggers = triggers.map(|t| (t.trigger.as_str(), t.stats));
    print_table("moment", &triggers.collect::<Vec<_>>(), out)?;
    let kinds = found.kinds.iter().map(|k| (k.kind.as_str(), k.stats));
    print_table("kind", &kinds.collect::<Vec<_>>(), out)?;
    let local = TimeFormatter::new();
    let mut day = String::new();
    for line in &found.lines {
        let row = &line.row;
        let today = local.format_day(row.injection.time);
        if day != today {
            let head = format!("{today} {}", local.format_weekday(row.injection.time));
            out.print_text(&format!("\n{}\n", out.paint(Style::Bold, &head)))?;
            day = today;
        }
        print_injection(row, &local, out)?;
    }
    if found.total > args.limit && args.limit > 0 {
        let more = (found.total - args.limit) as u64;
        let more = format!(
            "\nand {}; see --limit\n",
            format_count(more, "line more", "lines more")
        );
        out.print_text(&out.paint(Style::Dim, &more))?;
    }
    Ok(Exit::GoOn)
}

fn explain_none(none: NoInjections) -> &'static str {
    match none {
        NoInjections::AtThatTime => "nothing was injected in that time\n",
        NoInjections::IntoSession => "nothing was injected into this session yet\n",
        NoInjections::InProject => {
            "nothing was injected in this project yet; `--all` looks in every project\n"
        }
        NoInjections::Ever => {
            "nothing was injected into any session yet; `remora context` shows what would be\n"
        }
    }
}

fn print_totals(found: &InjectionsResponse, out: &mut Output) -> Result<(), CliError> {
    let all = &found.all;
    let of_use = out.paint(Style::Bold, &format_percent(all));
    let cost = format_count(all.tokens, "token", "tokens");
    let used = format_count(all.used_tokens, "token", "tokens");
    let items = |n: u64| format_count(n, "item", "items");
    let sessions = format_count(found.sessions, "session", "sessions");
    out.print_text(&format!(
        "given   {cost} in {}, {sessions}\nof use  {used} in {}\nrate    {of_use} of the tokens\n",
        items(all.items),
        items(all.used),
    ))
}

fn print_table(
    name: &str,
    sums: &[(&str, InjectionStats)],
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
