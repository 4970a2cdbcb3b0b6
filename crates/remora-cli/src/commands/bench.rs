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

use remora_client::DataPaths;
use remora_embed::LazyEncoder;
use remora_memory::ask::SearchInput;
use remora_memory::rank::RankWeights;
use remora_memory::store::{FileMatch, Filter, Store};
use remora_memory::words::Query;
use remora_redact::{RedactionRules, Redactor};
use remora_store::Access;
use serde_json::{Value, json};

use crate::args::SearchTierArg;
use crate::args::{BenchCommand, BenchRetrievalArgs};
use crate::commands::data::DataDir;
use crate::commands::import::{self, ImportSource};
use crate::commands::progress::Progress;
use crate::commands::vectors;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};
use remora_app::SearchTier;
use score::{BenchAnswer, BenchResult, format_header, score_answers};
use set::{BenchQuery, BenchSet, list_sets, read_queries};

/// Results asked for.
const RESULT_LIMIT: usize = 20;

/// What was found out about a set.
struct BenchMeasurement {
    name: String,
    documents: u64,
    queries: usize,
    import_seconds: f64,
    embed_seconds: f64,
    /// One for all queries, then one a category.
    rows: Vec<BenchResult>,
    /// For each part that was switched off, all queries.
    without: Vec<(&'static str, BenchResult)>,
}

pub(crate) fn run(command: &BenchCommand, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        BenchCommand::Retrieval(args) => run_retrieval(args, out),
        BenchCommand::Recall(args) => recall::run(args, out),
        BenchCommand::Decisions(args) => decisions::run(args, out),
        BenchCommand::Replay(args) => replay::run(args, out),
    }
}

fn run_retrieval(args: &BenchRetrievalArgs, out: &mut Output) -> Result<Exit, CliError> {
    let sets = list_sets(args)?;
    let encoder = match args.tier {
        SearchTierArg::Fast => None,
        SearchTierArg::Full => Some(load_encoder()?),
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
        let found = measure_set(args, set, encoder.as_ref())?;
        if !args.json {
            if sets.len() > 1 {
                let name = out.paint(Style::Bold, &escape_invisible(&set.name));
                out.print_text(&format!("{name}: "))?;
            }
            print_measurement(args.tier, &found, out)?;
        }
        measured.push(found);
    }
    if args.json {
        let sets: Vec<Value> = sets.iter().zip(&measured).map(as_json).collect();
        out.print_json(&json!({ "tier": SearchTier::from(args.tier).name(), "sets": sets }))?;
        return Ok(Exit::GoOn);
    }
    if measured.len() > 1 {
        out.print_text(&format!(
            "{}\n",
            out.paint(Style::Bold, &format_header("set"))
        ))?;
        for set in &measured {
            for row in set.rows.iter().take(1) {
                out.print_text(&format!(
                    "{}\n",
                    escape_invisible(&row.format_line(Some(&set.name)))
                ))?;
            }
        }
        out.print_text("\n")?;
    }
    say_without(&measured, out)?;
    Ok(Exit::GoOn)
}

/// The encoder, loaded. Here somebody wants to know how good it is, so that
/// one that does not work is an error.
pub(super) fn load_encoder() -> Result<LazyEncoder, CliError> {
    let data = DataDir::open()?;
    let needed = |why: &str| CliError::Usage(format!("the full tier needs its model: {why}"));
    let encoder =
        remora_app::build_encoder(&data.app.config).ok_or_else(|| needed("search.model is off"))?;
    remora_app::embed_query(&encoder, &Query::parse("word")).map_err(|e| needed(&e.to_string()))?;
    Ok(encoder)
}

fn measure_set(
    args: &BenchRetrievalArgs,
    set: &BenchSet,
    encoder: Option<&LazyEncoder>,
) -> Result<BenchMeasurement, CliError> {
    let queries = read_queries(&set.queries)?;
    let folder = tempfile::tempdir()?;
    let paths = DataPaths::new(folder.path());
    paths.prepare_data_dir()?;
    let source = ImportSource::open(&set.corpus, folder.path())?;
    let redactor = Redactor::new(&RedactionRules::default())
        .map_err(|e| CliError::Usage(format!("the built-in rules: {e}")))?;
    let started = Instant::now();
    let store = remora_server::open_database(&paths.database_file(), Access::Write)?;
    let loaded = import::into_store(&source, &store, &redactor)?;
    let import_seconds = started.elapsed().as_secs_f64();
    let mut embed_seconds = 0.0;
    if let Some(encoder) = encoder {
        let made = vectors::embed_waiting(&store, encoder, u64::MAX)?;
        if let Some(trouble) = made.trouble {
            return Err(CliError::Usage(trouble.to_string()));
        }
        if made.waiting > 0 {
            return Err(CliError::Usage("stopped".to_owned()));
        }
        embed_seconds = made.seconds;
    }
    drop(store);
    let store = remora_server::open_database(&paths.database_file(), Access::Read)?;
    let (answers, asked) = run_queries(&store, &queries, encoder)?;
    if let Some(path) = &set.out {
        write_answers(path, &answers)?;
    }
    let mut without = Vec::new();
    if args.ablate {
        for (name, weights) in ablate::ablate_weights(args.tier) {
            let answers = ask_again(&store, &queries, &asked, weights)?;
            without.extend(
                score_answers(&answers)
                    .into_iter()
                    .next()
                    .map(|row| (name, row)),
            );
        }
    }
    Ok(BenchMeasurement {
        name: set.name.clone(),
        documents: loaded.items,
        queries: queries.len(),
        import_seconds,
        embed_seconds,
        rows: score_answers(&answers),
        without,
    })
}

/// The answers, and each query as it was asked.
fn run_queries<'a>(
    store: &dyn Store,
    queries: &'a [BenchQuery],
    encoder: Option<&LazyEncoder>,
) -> Result<(Vec<BenchAnswer<'a>>, Vec<SearchInput>), CliError> {
    let mut progress = Progress::new("asking");
    let mut answers = Vec::with_capacity(queries.len());
    let mut all = Vec::with_capacity(queries.len());
    for (at, asked) in queries.iter().enumerate() {
        let started = Instant::now();
        // Nobody asks for a stretch of time here.
        let mut ask = SearchInput::parse(&asked.text, |_| None);
        if let Some(encoder) = encoder {
            let meaning = remora_app::embed_query(encoder, &ask.query);
            let meaning = meaning.map_err(|e| CliError::Usage(e.to_string()))?;
            ask.query = ask.query.with_meaning(meaning);
        }
        answers.push(answer_query(store, asked, &ask, started)?);
        all.push(ask);
        progress.update_line(at as u64, queries.len() as u64, &asked.category);
    }
    Ok((answers, all))
}

/// The same queries with other weights.
fn ask_again<'a>(
    store: &dyn Store,
    queries: &'a [BenchQuery],
    asked: &[SearchInput],
    weights: RankWeights,
) -> Result<Vec<BenchAnswer<'a>>, CliError> {
    let mut progress = Progress::new("asking");
    let mut answers = Vec::with_capacity(queries.len());
    for (at, (one, ask)) in queries.iter().zip(asked).enumerate() {
        let ask = SearchInput {
            query: ask.query.clone().with_weights(weights),
            ..ask.clone()
        };
        answers.push(answer_query(store, one, &ask, Instant::now())?);
        progress.update_line(at as u64, queries.len() as u64, &one.category);
    }
    Ok(answers)
}

fn answer_query<'a>(
    store: &dyn Store,
    asked: &'a BenchQuery,
    ask: &SearchInput,
    started: Instant,
) -> Result<BenchAnswer<'a>, CliError> {
    let filter = Filter {
        project: Some(asked.conv.clone().into()),
        kinds: ask.filter.kinds.clone(),
        file: ask.filter.file.clone().map(FileMatch::Like),
        ..Filter::default()
    };
    let hits = store.search(&ask.query, &filter, RESULT_LIMIT)?;
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(BenchAnswer {
        id: &asked.id,
        category: &asked.category,
        relevant: &asked.relevant,
        results: hits
            .into_iter()
            .map(|hit| hit.item.external_id.unwrap_or(hit.item.uid.into()))
            .collect(),
        ms,
    })
}

fn as_json((set, measured): (&BenchSet, &BenchMeasurement)) -> Value {
    let rows: Vec<Value> = measured.rows.iter().map(BenchResult::to_json).collect();
    let without: serde_json::Map<String, Value> = measured
        .without
        .iter()
        .map(|(name, row)| ((*name).to_owned(), row.to_json()))
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

fn print_measurement(
    tier: SearchTierArg,
    measured: &BenchMeasurement,
    out: &mut Output,
) -> Result<(), CliError> {
    out.print_text(&format!(
        "{} documents, {} queries, {} tier\n{}\n",
        measured.documents,
        measured.queries,
        SearchTier::from(tier).name(),
        out.paint(Style::Bold, &format_header("category"))
    ))?;
    for row in &measured.rows {
        out.print_text(&format!("{}\n", escape_invisible(&row.format_line(None))))?;
    }
    out.print_text("\n")
}

/// A line for each part that was switched off, a column for each set.
fn say_without(measured: &[BenchMeasurement], out: &mut Output) -> Result<(), CliError> {
    let Some(first) = measured.first().filter(|set| !set.without.is_empty()) else {
        return Ok(());
    };
    let line = |name: &str, of: &dyn Fn(&BenchMeasurement) -> String| {
        let cells: Vec<String> = measured
            .iter()
            .map(|set| format!("{:>12}", of(set)))
            .collect();
        escape_invisible(&format!("{name:<28}{}", cells.concat()))
    };
    let figure = |row: Option<&BenchResult>| {
        row.map_or_else(String::new, |row| format!("{:.2}", row.recall10 * 100.0))
    };
    let head = line("recall@10", &|set| set.name.chars().take(11).collect());
    out.print_text(&format!("{}\n", out.paint(Style::Bold, &head)))?;
    let whole = line("everything", &|set| figure(set.rows.first()));
    out.print_text(&format!("{whole}\n"))?;
    for (at, (name, _)) in first.without.iter().enumerate() {
        let row = line(&format!("without {name}"), &|set| {
            figure(set.without.get(at).map(|(_, row)| row))
        });
        out.print_text(&format!("{row}\n"))?;
    }
    Ok(())
}

fn write_answers(path: &Path, answers: &[BenchAnswer<'_>]) -> Result<(), CliError> {
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
