//! `remora search`: words in, items out, best first.

mod request;
pub(crate) mod scope;
mod snippet;
mod strength;
pub(crate) mod when;

use std::time::Instant;

use remora_core::record::{Item, Kind, Project};
use remora_core::time::format_rfc3339;
use remora_embed::LazyEncoder;
use remora_memory::commit::reverted_by;
use remora_memory::end_date::item_ended_on;
use remora_memory::recall::is_untrusted;
use remora_memory::store::{FileMatch, Filter, Hit, Store};
use remora_memory::words::Query;
use serde_json::{Value, json};

use crate::args::SearchArgs;
use crate::clock;
use crate::commands::data::DataDir;
use crate::commands::reader::Requester;
use crate::commands::show;
use crate::commands::show::lines::{self, TimeFormatter, flatten_text, hang_at};
use crate::commands::tier::{self, SearchTier};
use crate::commands::wrong::Rejections;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Output, Style};
use request::SearchRequest;
use snippet::{MAX_SNIPPET_CHARS, SearchTerms, build_snippet};
use strength::{format_score, keep_strong};

/// Hits elsewhere are counted up to this.
const MAX_COUNTED_HITS: usize = 100;
/// Lines of a snippet on a terminal.
const MAX_SNIPPET_LINES: usize = 2;

pub(crate) fn run(args: &SearchArgs, out: &mut Output) -> Result<Exit, CliError> {
    let data = DataDir::open()?;
    let asked = SearchRequest::from_args(args)?;
    if !args.json {
        for note in &asked.notes {
            output::print_note(note);
        }
    }
    let Some(store) = data.open_store()? else {
        return nothing_yet(args, &asked, out);
    };
    // From here on, so that the time shown is that of the search and not of
    // opening the store.
    let started = Instant::now();
    let encoder = tier::build_encoder(&data.config);
    let SearchOutcome {
        query,
        filter,
        mut hits,
        rejections,
        only_fast,
    } = run_search(args, &asked, &data, &store, encoder.as_ref())?;
    let query = &query;
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    if args.open
        && let Some(best) = hits.first()
    {
        return show::print_items(
            &store,
            std::slice::from_ref(&best.item),
            &[],
            args.json,
            out,
        );
    }
    let wanted = SearchTerms::new(query);
    if args.json {
        let results = hits
            .iter()
            .map(|hit| as_json(args, hit, &rejections, &wanted))
            .collect();
        let mut answer = to_answer_json(ms, &asked, results);
        let tier = query
            .text_embedding()
            .map_or(SearchTier::Fast, |_| SearchTier::Full);
        answer["tier"] = json!(tier.name());
        if let Some(why) = only_fast {
            answer["only_fast"] = json!(why);
        }
        out.print_json(&answer)?;
        return Ok(Exit::GoOn);
    }
    // Programs get as many as they asked for, users what is worth reading.
    keep_strong(&mut hits);
    if hits.is_empty() {
        let elsewhere = !Requester::from_data(&data)?.is_bound();
        return none_found(&store, query, &filter, elsewhere, out);
    }
    let projects = scope::list_named_projects(&store, &filter)?;
    let local = TimeFormatter::new();
    for (at, hit) in hits.iter().enumerate() {
        if at > 0 {
            out.print_text("\n")?;
        }
        print_hit(hit, &wanted, &local, &projects, out)?;
        if let Some(mark) = rejections.describe_rejection(&hit.item) {
            let indent = " ".repeat(hit.item.id.to_string().len() + 2);
            out.print_text(&out.paint(Style::Red, &hang_at(0, &indent, &flatten_text(&mark))))?;
        }
        if args.explain {
            print_score(hit, out)?;
        }
    }
    if let Some(why) = only_fast.filter(|_| args.explain) {
        output::print_note(&format!("the fast tier answered: {why}"));
    }
    Ok(Exit::GoOn)
}

/// What was found, and how it was asked for.
struct SearchOutcome {
    query: Query,
    filter: Filter,
    hits: Vec<Hit>,
    rejections: Rejections,
    only_fast: Option<String>,
}

fn run_search(
    args: &SearchArgs,
    asked: &SearchRequest,
    data: &DataDir,
    store: &dyn Store,
    encoder: Option<&LazyEncoder>,
) -> Result<SearchOutcome, CliError> {
    let reader = Requester::from_data(data)?;
    let session = match (asked.session.as_deref(), &asked.own) {
        (None, _) => None,
        (Some(id), None) => Some(reader.resolve_session(store, id)?),
        // Over MCP a session of another project is answered as one that does
        // not exist.
        (Some(id), Some(own)) => Some(scope::session_of(store, id, own)?),
    };
    let (query, only_fast) = tier::prepare_query(args.tier, encoder, store, asked.query.clone());
    let filter = Filter {
        // A session says which project it is in.
        project: match (&session, &asked.place.project) {
            _ if asked.own.is_some() => asked.own.clone(),
            (Some(_), None) => None,
            _ => reader.resolve_project(data, store, &asked.place)?,
        },
        kinds: asked.kinds.clone(),
        file: asked
            .file
            .as_deref()
            .map(|file| FileMatch::Like(scope::resolve_file(data, file))),
        since: asked.span.since,
        until: asked.span.until,
        session,
        agent: asked.agent.as_deref().map(scope::resolve_agent),
        ..Filter::default()
    };
    let mut hits = store.search(&query, &filter, args.limit)?;
    asked.sort(&mut hits);
    let rejections = Rejections::load(store)?;
    // Users must still find what they marked wrong; only recall leaves it out.
    rejections.sort_last(&mut hits);
    Ok(SearchOutcome {
        query,
        filter,
        hits,
        rejections,
        only_fast,
    })
}

/// What a search found for a caller that shows it in its own way.
pub(crate) struct SearchAnswer {
    /// What is worth reading; what was marked wrong comes last.
    pub(crate) hits: Vec<Hit>,
    /// What there is to say about the question.
    pub(crate) notes: Vec<String>,
    /// Whether only one project was searched.
    pub(crate) looked: SearchedProjects,
    /// Which items were marked wrong.
    pub(crate) rejections: Rejections,
}

/// What a search finds that is worth reading. With a project of its own it never
/// looks elsewhere, whatever the words say.
pub(crate) fn find_hits(
    args: &SearchArgs,
    data: &DataDir,
    store: &dyn Store,
    encoder: Option<&LazyEncoder>,
    own: Option<&str>,
) -> Result<SearchAnswer, CliError> {
    let mut asked = SearchRequest::from_args(args)?;
    if let Some(own) = own {
        asked.stay_in(own);
    }
    let mut answered = run_search(args, &asked, data, store, encoder)?;
    keep_strong(&mut answered.hits);
    let looked = match answered.filter.project {
        Some(_) => SearchedProjects::InOne,
        None => SearchedProjects::Everywhere,
    };
    Ok(SearchAnswer {
        hits: answered.hits,
        notes: asked.notes,
        looked,
        rejections: answered.rejections,
    })
}

/// Which projects a search covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchedProjects {
    InOne,
    Everywhere,
}

/// What a score is made of, on a line.
fn print_score(hit: &Hit, out: &mut Output) -> Result<(), CliError> {
    let indent = " ".repeat(hit.item.id.to_string().len() + 2);
    let line = out.paint(Style::Dim, &format_score(hit.score, &hit.parts));
    out.print_text(&format!("{indent}{line}\n"))
}

/// The whole answer for programs; notes only when there are any.
fn to_answer_json(ms: f64, asked: &SearchRequest, results: Vec<Value>) -> Value {
    let mut answer = json!({ "ms": (ms * 1000.0).round() / 1000.0 });
    if !asked.notes.is_empty() {
        answer["notes"] = json!(asked.notes);
    }
    answer["results"] = Value::Array(results);
    answer
}

fn nothing_yet(
    args: &SearchArgs,
    asked: &SearchRequest,
    out: &mut Output,
) -> Result<Exit, CliError> {
    if args.json {
        out.print_json(&to_answer_json(0.0, asked, Vec::new()))?;
    } else {
        out.print_text("nothing is remembered yet; `remora status` says whether capture works\n")?;
    }
    Ok(Exit::GoOn)
}

fn none_found(
    store: &dyn Store,
    query: &Query,
    filter: &Filter,
    elsewhere: bool,
    out: &mut Output,
) -> Result<Exit, CliError> {
    let mut text = vec!["nothing found".to_owned()];
    if filter.project.is_some() && !elsewhere {
        text.push(" in this project".to_owned());
    } else if filter.project.is_some() {
        let everywhere = Filter {
            project: None,
            ..filter.clone()
        };
        let others = store.search(query, &everywhere, MAX_COUNTED_HITS)?;
        // Neighbours and similar meanings are no reason to send the user
        // elsewhere.
        let others = others.iter().filter(|hit| hit.any_words).count();
        let more = if others == MAX_COUNTED_HITS {
            "at least "
        } else {
            ""
        };
        text.push(" in this project".to_owned());
        if others > 0 {
            let others = lines::format_count(others as u64, "result", "results");
            text.push(format!("; {more}{others} in others: add --all"));
        }
    }
    out.print_text(&format!("{}\n", text.concat()))?;
    Ok(Exit::GoOn)
}

/// Every file of an item, changed ones first.
pub(crate) fn list_files(item: &Item) -> Vec<&str> {
    let all = item.files_modified.iter().chain(&item.files_read);
    let mut files: Vec<&str> = Vec::new();
    for file in all {
        if !files.contains(&file.as_str()) {
            files.push(file);
        }
    }
    files
}

fn as_json(args: &SearchArgs, hit: &Hit, rejections: &Rejections, wanted: &SearchTerms) -> Value {
    let item = &hit.item;
    let mut value = json!({
        "id": item.id,
        "uid": item.uid,
        "external_id": item.external_id,
        "kind": item.kind,
        "title": item.title,
        "time": format_rfc3339(item.time),
        "project": item.project,
        "session": item.session,
        "agent": item.agent,
        "branch": item.branch,
        "files": list_files(item),
        "seen": item.seen,
        "score": hit.score,
        "all_words": hit.all_words,
        "any_words": hit.any_words,
        "same": hit.same,
        "snippet": build_snippet(item, wanted, MAX_SNIPPET_CHARS).text,
    });
    if let Some(wrong) = rejections.to_json(item) {
        value["wrong"] = wrong;
    }
    if let Some(hash) = reverted_by(item) {
        value["reverted_by"] = json!(hash);
    }
    if let Some(day) = item_ended_on(item, clock::now_ms()) {
        value["ended"] = json!(day);
    }
    if let Some(speaker) = &item.speaker {
        value["speaker"] = json!(speaker);
    }
    if args.explain {
        let parts = hit
            .parts
            .by_name()
            .map(|(name, part)| (name.to_owned(), json!(part)));
        value["parts"] = Value::Object(parts.into_iter().collect());
    }
    value
}

fn print_hit(
    hit: &Hit,
    wanted: &SearchTerms,
    local: &TimeFormatter,
    projects: &[Project],
    out: &mut Output,
) -> Result<(), CliError> {
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
    let mut about = vec![local.format_timestamp(item.time)];
    about.extend(show::find_outdated_reason(item));
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
    let project = projects.iter().find(|project| project.key == item.project);
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
    let part = build_snippet(item, wanted, MAX_SNIPPET_LINES * (lines::line_width() - 5));
    if part.text.is_empty() || part.text == title {
        return Ok(());
    }
    let mut from = 0;
    for line in lines::wrap_text(&part.text, room) {
        // A line is a stretch of the snippet, up to the blank it was broken at.
        let at = part.text[from..].find(&line).map_or(from, |at| from + at);
        let end = at + line.len();
        let words = part.words.iter().filter(|w| w.start >= at && w.end <= end);
        let line = snippet::Snippet {
            words: words.map(|w| w.start - at..w.end - at).collect(),
            text: line,
        };
        let marked = line.highlight_words(|word| out.paint(Style::Bold, word));
        out.print_text(&format!("{indent}{marked}\n"))?;
        from = end.min(part.text.len());
    }
    Ok(())
}
