//! `remora search`: words in, items out, best first.

mod score;

use remora_app::App;
use remora_app::scope;
use remora_app::search::{
    AskedSearch, KeptHits, MAX_COUNTED_HITS, ScoreDetail, SearchNote, SearchRequest,
    SearchResponse, SearchTerms, Snippet, build_snippet, list_files,
};
use remora_app::show::{ShowRequest, find_outdated_reason};
use remora_core::record::{Kind, Project};
use remora_memory::recall::is_untrusted;
use remora_memory::store::Hit;

use crate::args::SearchArgs;
use crate::commands::data::open_app;
use crate::commands::show;
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, hang_at};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Output, Style};
use score::format_score;

/// Lines of a snippet on a terminal.
const MAX_SNIPPET_LINES: usize = 2;

pub(crate) fn run(args: &SearchArgs, out: &mut Output) -> Result<Exit, CliError> {
    let app = open_app()?;
    let mut found = app.search(&build_request(args))?;
    for note in &mut found.notes {
        *note = SearchNote::Words(describe_note(note));
    }
    if !args.json {
        for note in &found.notes {
            output::print_note(&note.to_string());
        }
    }
    if args.open
        && let Some(best) = found.results.first()
    {
        let best = ShowRequest {
            ids: vec![best.hit.item.id.to_string()],
        };
        return show::print_items(&app, &app.show(&best)?, args.json, out);
    }
    if args.json {
        out.print_json(&found)?;
        return Ok(Exit::GoOn);
    }
    let Some(asked) = &found.asked else {
        out.print_text("nothing is remembered yet; `remora status` says whether capture works\n")?;
        return Ok(Exit::GoOn);
    };
    if found.results.is_empty() {
        let text = describe_nothing(&app, asked)?;
        out.print_text(&text)?;
        return Ok(Exit::GoOn);
    }
    print_results(args, &app, &found, asked, out)?;
    if let Some(why) = found.only_fast.filter(|_| args.explain) {
        output::print_note(&format!("the fast tier answered: {why}"));
    }
    Ok(Exit::GoOn)
}

fn build_request(args: &SearchArgs) -> SearchRequest {
    SearchRequest {
        query: join_words(&args.words),
        project: args.place.to_choice(),
        kinds: args.kind.iter().filter_map(|k| Kind::parse(k)).collect(),
        file: args.file.clone(),
        span: args.span.to_request(),
        session: args.session.clone(),
        agent: args.agent.clone(),
        limit: args.limit,
        tier: args.tier.into(),
        // Programs get as many as they asked for, users what is worth reading.
        keep: if args.json || args.open {
            KeptHits::All
        } else {
            KeptHits::Strong
        },
        parts: if args.explain {
            ScoreDetail::Parts
        } else {
            ScoreDetail::Sum
        },
    }
}

/// A note as users of the command line read it: fields are options here.
fn describe_note(note: &SearchNote) -> String {
    match note {
        SearchNote::FieldWins(_) => format!("--{note}"),
        SearchNote::OwnProjectOnly | SearchNote::Words(_) => note.to_string(),
    }
}

/// The words as one text. A shell takes the quotes away from `file:"a b"` and
/// `-"a b"`; when there are several words, the blanks show where they were.
fn join_words(words: &[String]) -> String {
    if let [one] = words {
        return one.clone();
    }
    let whole = |word: &String| {
        let plain = word.trim_start();
        let bare = plain.contains(char::is_whitespace) && !plain.contains('"');
        // `--amend was used` and `-> x` leave nothing out.
        let without = plain
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        let named = ["file:", "project:"]
            .iter()
            .find(|start| plain.starts_with(**start))
            .map(|start| start.len());
        let end = if without { Some(1) } else { named };
        match end.filter(|_| bare) {
            Some(end) => format!("{}\"{}\"", &plain[..end], &plain[end..]),
            None => word.clone(),
        }
    };
    words.iter().map(whole).collect::<Vec<String>>().join(" ")
}

/// What all results are shown with.
struct ResultPage<'a> {
    wanted: SearchTerms,
    local: TimeFormatter,
    now: i64,
    projects: &'a [Project],
}

fn print_results(
    args: &SearchArgs,
    app: &App,
    found: &SearchResponse,
    asked: &AskedSearch,
    out: &mut Output,
) -> Result<(), CliError> {
    let store = app.require_store()?;
    let page = ResultPage {
        wanted: SearchTerms::new(&asked.query),
        local: TimeFormatter::new(),
        now: app.clock.now_ms(),
        projects: &scope::list_named_projects(&*store, &asked.filter)?,
    };
    for (at, result) in found.results.iter().enumerate() {
        if at > 0 {
            out.print_text("\n")?;
        }
        let hit = &result.hit;
        print_hit(hit, &page, out)?;
        let indent = " ".repeat(hit.item.id.to_string().len() + 2);
        if let Some(wrong) = &result.wrong {
            let mark = flatten_text(&wrong.describe());
            out.print_text(&out.paint(Style::Red, &hang_at(0, &indent, &mark)))?;
        }
        if let Some(successor) = &result.superseded_by {
            let mark = flatten_text(&successor.describe());
            out.print_text(&out.paint(Style::Yellow, &hang_at(0, &indent, &mark)))?;
        }
        if args.explain {
            let line = out.paint(Style::Dim, &format_score(hit.score, &hit.parts));
            out.print_text(&format!("{indent}{line}\n"))?;
        }
    }
    Ok(())
}

fn describe_nothing(app: &App, asked: &AskedSearch) -> Result<String, CliError> {
    if asked.filter.project.is_none() {
        return Ok("nothing found\n".to_owned());
    }
    let others = app.count_hits_elsewhere(asked)?.unwrap_or_default();
    if others == 0 {
        return Ok("nothing found in this project\n".to_owned());
    }
    let more = if others == MAX_COUNTED_HITS {
        "at least "
    } else {
        ""
    };
    let others = lines::format_count(others as u64, "result", "results");
    Ok(format!(
        "nothing found in this project; {more}{others} in others: add --all\n"
    ))
}

fn print_hit(hit: &Hit, page: &ResultPage<'_>, out: &mut Output) -> Result<(), CliError> {
    let item = &hit.item;
    let id = format!("#{}", item.id);
    let title = flatten_text(&item.title);
    let lead = format!("{id} {} · ", item.kind);
    let indent = lines::text_width(&id) + 1;
    let wrapped = hang_at(indent, &lead, &title);
    // Colours come after the columns have been counted.
    let head = wrapped.replacen(
        &lead,
        &format!(
            "{} {} · ",
            out.paint(Style::Cyan, &id),
            out.paint(show::style_for_kind(item.kind), item.kind.name())
        ),
        1,
    );
    out.print_text(&head)?;
    let indent = " ".repeat(indent);
    let room = lines::line_width().saturating_sub(indent.len());
    let mut about = vec![page.local.format_timestamp(item.time)];
    about.extend(find_outdated_reason(item, page.now));
    if item.kind == Kind::Memory && is_untrusted(item) {
        about.push("not from the user".to_owned());
    }
    if item.seen > 1 {
        about.push(format!("{} times", item.seen));
    }
    if !hit.same.is_empty() {
        let more = lines::format_count(hit.same.len() as u64, "item", "items");
        about.push(format!("{more} like it"));
    }
    if !hit.any_words {
        // None of the words is in it, so it must say why it is here.
        let by_embedding = hit.parts.meaning > hit.parts.words;
        about.push(
            if by_embedding {
                "by meaning"
            } else {
                "beside a match"
            }
            .to_owned(),
        );
    }
    let project = page.projects.iter().find(|p| p.key == item.project);
    let elsewhere = project.map(|project| flatten_text(&project.name));
    about.extend(
        elsewhere
            .iter()
            .chain(&item.branch)
            .map(|part| flatten_text(part)),
    );
    let left = room.saturating_sub(lines::text_width(&about.join(" · ")) + 3);
    let files = lines::format_paths(&list_files(item), left);
    if !files.is_empty() && left > 12 {
        about.push(files);
    }
    let about = out.paint(
        Style::Dim,
        &lines::truncate_columns(&about.join(" · "), room),
    );
    out.print_text(&format!("{indent}{about}\n"))?;
    let part = build_snippet(
        item,
        &page.wanted,
        MAX_SNIPPET_LINES * (lines::line_width() - 5),
    );
    if part.text.is_empty() || part.text == title {
        return Ok(());
    }
    let mut from = 0;
    for line in lines::wrap_text(&part.text, room) {
        // A line is a stretch of the snippet, up to the blank it was broken at.
        let at = part.text[from..].find(&line).map_or(from, |at| from + at);
        let end = at + line.len();
        let words = part.words.iter().filter(|w| w.start >= at && w.end <= end);
        let line = Snippet {
            words: words.map(|w| w.start - at..w.end - at).collect(),
            text: line,
        };
        let marked = line.highlight_words(|word| out.paint(Style::Bold, word));
        out.print_text(&format!("{indent}{marked}\n"))?;
        from = end.min(part.text.len());
    }
    Ok(())
}
