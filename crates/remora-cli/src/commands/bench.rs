//! `remora bench retrieval`: how well searching finds what is known to be
//! right, through the same import and search that people use, in a data
//! directory of its own.

mod ablate;
mod decisions;
mod recall;
mod replay;
mod score;
mod set;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use remora_client::Paths;
use remora_embed::OnDemand;
use remora_memory::ask::Ask;
use remora_memory::rank::Weights;
use remora_memory::redact::{Redactor, Rules};
use remora_memory::store::{FileMatch, Filter, Store};
use remora_memory::words::Query;
use remora_store::Access;
use serde_json::{Value, json};

use crate::args::{Bench, BenchRetrieval};
use crate::commands::data::Data;
use crate::commands::import::{self, Source};
use crate::commands::progress::Progress;
use crate::commands::tier::{self, Tier};
use crate::commands::vectors;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};
use score::{Answer, Row, head, table};
use set::{Asked, Set, read, sets};

/// Results asked for.
const LIMIT: usize = 20;

/// What was found out about a set.
struct Measured {
    name: String,
    documents: u64,
    queries: usize,
    import_seconds: f64,
    embed_seconds: f64,
    /// One for all queries, then one a category.
    rows: Vec<Row>,
    /// For each part that was switched off, all queries.
    without: Vec<(&'static str, Row)>,
}

pub(crate) fn run(command: &Bench, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        Bench::Retrieval(args) => retrieval(args, out),
        Bench::Recall(args) => recall::run(args, out),
        Bench::Decisions(args) => decisions::run(args, out),
        Bench::Replay(args) => replay::run(args, out),
    }
}

fn retrieval(args: &BenchRetrieval, out: &mut Output) -> Result<Exit, CliError> {
    let sets = sets(args)?;
    let encoder = match args.tier {
        Tier::Fast => None,
        Tier::Full => Some(warm()?),
    };
    if sets.len() > 1
        && let Some(folder) = &args.out
    {
        fs::create_dir_all(folder).map_err(|source| CliError::File {
            path: folder.clone(),
            source,
        })?;
    }
    let mut measured = Vec::with_capacity(sets.len());
    for set in &sets {
        let found = measure(args, set, encoder.as_ref())?;
        if !args.json {
            if sets.len() > 1 {
                let name = out.paint(Style::Bold, &visible(&set.name));
                out.text(&format!("{name}: "))?;
            }
            say(args.tier, &found, out)?;
        }
        measured.push(found);
    }
    if args.json {
        let sets: Vec<Value> = sets.iter().zip(&measured).map(as_json).collect();
        out.json(&json!({ "tier": args.tier.name(), "sets": sets }))?;
        return Ok(Exit::GoOn);
    }
    if measured.len() > 1 {
        out.text(&format!("{}\n", out.paint(Style::Bold, &head("set"))))?;
        for set in &measured {
            for row in set.rows.iter().take(1) {
                out.text(&format!("{}\n", visible(&row.line(Some(&set.name)))))?;
            }
        }
        out.text("\n")?;
    }
    say_without(&measured, out)?;
    Ok(Exit::GoOn)
}

/// The encoder, loaded. Here somebody wants to know how good it is, so that
/// one that does not work is an error.
pub(super) fn warm() -> Result<OnDemand, CliError> {
    let data = Data::open()?;
    let needed = |why: &str| CliError::Usage(format!("the full tier needs its model: {why}"));
    let encoder = tier::encoder(&data.config).ok_or_else(|| needed("search.model is off"))?;
    tier::meaning(&encoder, &Query::parse("word")).map_err(|e| needed(&e.to_string()))?;
    Ok(encoder)
}

fn measure(
    args: &BenchRetrieval,
    set: &Set,
    encoder: Option<&OnDemand>,
) -> Result<Measured, CliError> {
    let queries = read(&set.queries)?;
    let folder = tempfile::tempdir()?;
    let paths = Paths::new(folder.path());
    paths.prepare()?;
    let source = Source::open(&set.corpus, folder.path())?;
    let redactor = Redactor::new(&Rules::default())
        .map_err(|e| CliError::Usage(format!("the built-in rules: {e}")))?;
    let started = Instant::now();
    let store = remora_store::open(&paths.database(), Access::Write)?;
    let loaded = import::into_store(&source, &store, &redactor)?;
    let import_seconds = started.elapsed().as_secs_f64();
    let mut embed_seconds = 0.0;
    if let Some(encoder) = encoder {
        let made = vectors::make(&store, encoder, u64::MAX)?;
        if let Some(trouble) = made.trouble {
            return Err(CliError::Usage(trouble.to_string()));
        }
        if made.waiting > 0 {
            return Err(CliError::Usage("stopped".to_owned()));
        }
        embed_seconds = made.seconds;
    }
    drop(store);
    let store = remora_store::open(&paths.database(), Access::Read)?;
    let (answers, asked) = ask(&store, &queries, encoder)?;
    if let Some(path) = &set.out {
        write(path, &answers)?;
    }
    let mut without = Vec::new();
    if args.ablate {
        for (name, weights) in ablate::weights(args.tier) {
            let answers = ask_again(&store, &queries, &asked, weights)?;
            without.extend(table(&answers).into_iter().next().map(|row| (name, row)));
        }
    }
    Ok(Measured {
        name: set.name.clone(),
        documents: loaded.items,
        queries: queries.len(),
        import_seconds,
        embed_seconds,
        rows: table(&answers),
        without,
    })
}

/// The answers, and each query as it was asked.
fn ask<'a>(
    store: &dyn Store,
    queries: &'a [Asked],
    encoder: Option<&OnDemand>,
) -> Result<(Vec<Answer<'a>>, Vec<Ask>), CliError> {
    let mut progress = Progress::new("asking");
    let mut answers = Vec::with_capacity(queries.len());
    let mut all = Vec::with_capacity(queries.len());
    for (at, asked) in queries.iter().enumerate() {
        let started = Instant::now();
        // Nobody asks for a stretch of time here.
        let mut ask = Ask::parse(&asked.text, |_| None);
        if let Some(encoder) = encoder {
            let meaning = tier::meaning(encoder, &ask.query);
            let meaning = meaning.map_err(|e| CliError::Usage(e.to_string()))?;
            ask.query = ask.query.with_meaning(meaning);
        }
        answers.push(answer(store, asked, &ask, started)?);
        all.push(ask);
        progress.at(at as u64, queries.len() as u64, &asked.category);
    }
    Ok((answers, all))
}

/// The same queries with other weights.
fn ask_again<'a>(
    store: &dyn Store,
    queries: &'a [Asked],
    asked: &[Ask],
    weights: Weights,
) -> Result<Vec<Answer<'a>>, CliError> {
    let mut progress = Progress::new("asking");
    let mut answers = Vec::with_capacity(queries.len());
    for (at, (one, ask)) in queries.iter().zip(asked).enumerate() {
        let ask = Ask {
            query: ask.query.clone().with_weights(weights),
            ..ask.clone()
        };
        answers.push(answer(store, one, &ask, Instant::now())?);
        progress.at(at as u64, queries.len() as u64, &one.category);
    }
    Ok(answers)
}

fn answer<'a>(
    store: &dyn Store,
    asked: &'a Asked,
    ask: &Ask,
    started: Instant,
) -> Result<Answer<'a>, CliError> {
    let filter = Filter {
        project: Some(asked.conv.clone()),
        kinds: ask.filter.kinds.clone(),
        file: ask.filter.file.clone().map(FileMatch::Like),
        ..Filter::default()
    };
    let hits = store.search(&ask.query, &filter, LIMIT)?;
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(Answer {
        id: &asked.id,
        category: &asked.category,
        relevant: &asked.relevant,
        results: hits
            .into_iter()
            .map(|hit| hit.item.external_id.unwrap_or(hit.item.uid))
            .collect(),
        ms,
    })
}

fn as_json((set, measured): (&Set, &Measured)) -> Value {
    let rows: Vec<Value> = measured.rows.iter().map(Row::json).collect();
    let without: serde_json::Map<String, Value> = measured
        .without
        .iter()
        .map(|(name, row)| ((*name).to_owned(), row.json()))
        .collect();
    json!({
        "name": measured.name,
        "documents": measured.documents,
        "queries": measured.queries,
        "import_seconds": measured.import_seconds,
        "embed_seconds": measured.embed_seconds,
        "out": set.out,
        "rows": rows,
        "without": without,
    })
}

fn say(tier: Tier, measured: &Measured, out: &mut Output) -> Result<(), CliError> {
    out.text(&format!(
        "{} documents, {} queries, {} tier\n{}\n",
        measured.documents,
        measured.queries,
        tier.name(),
        out.paint(Style::Bold, &head("category"))
    ))?;
    for row in &measured.rows {
        out.text(&format!("{}\n", visible(&row.line(None))))?;
    }
    out.text("\n")
}

/// A line for each part that was switched off, a column for each set.
fn say_without(measured: &[Measured], out: &mut Output) -> Result<(), CliError> {
    let Some(first) = measured.first().filter(|set| !set.without.is_empty()) else {
        return Ok(());
    };
    let line = |name: &str, of: &dyn Fn(&Measured) -> String| {
        let cells: Vec<String> = measured
            .iter()
            .map(|set| format!("{:>12}", of(set)))
            .collect();
        visible(&format!("{name:<28}{}", cells.concat()))
    };
    let figure = |row: Option<&Row>| {
        row.map_or_else(String::new, |row| format!("{:.2}", row.recall10 * 100.0))
    };
    let head = line("recall@10", &|set| set.name.chars().take(11).collect());
    out.text(&format!("{}\n", out.paint(Style::Bold, &head)))?;
    let whole = line("everything", &|set| figure(set.rows.first()));
    out.text(&format!("{whole}\n"))?;
    for (at, (name, _)) in first.without.iter().enumerate() {
        let row = line(&format!("without {name}"), &|set| {
            figure(set.without.get(at).map(|(_, row)| row))
        });
        out.text(&format!("{row}\n"))?;
    }
    Ok(())
}

fn write(path: &Path, answers: &[Answer<'_>]) -> Result<(), CliError> {
    let mut text = Vec::new();
    for answer in answers {
        let ms = (answer.ms * 1000.0).round() / 1000.0;
        let line = json!({ "id": answer.id, "results": answer.results, "ms": ms });
        writeln!(text, "{line}")?;
    }
    fs::write(path, text).map_err(|source| CliError::File {
        path: path.to_path_buf(),
        source,
    })
}
