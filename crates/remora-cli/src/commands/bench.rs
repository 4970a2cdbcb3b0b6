//! `remora bench retrieval`: how well searching finds what is known to be
//! right, through the same import and search that people use, in a data
//! directory of its own.

mod score;

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::time::Instant;

use remora_client::Paths;
use remora_memory::redact::{Redactor, Rules};
use remora_memory::store::{Filter, Store};
use remora_memory::words::Query;
use remora_store::Access;
use serde::Deserialize;
use serde_json::json;

use crate::args::{Bench, BenchRetrieval};
use crate::commands::import::{self, Source};
use crate::commands::progress::Progress;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};
use score::{Answer, Row, table};

/// Results asked for.
const LIMIT: usize = 20;

/// A query and what should be found.
#[derive(Debug, Deserialize)]
struct Asked {
    id: String,
    conv: String,
    #[serde(default)]
    category: String,
    text: String,
    #[serde(default)]
    relevant: Vec<String>,
}

pub(crate) fn run(command: &Bench, out: &mut Output) -> Result<Exit, CliError> {
    match command {
        Bench::Retrieval(args) => retrieval(args, out),
    }
}

fn retrieval(args: &BenchRetrieval, out: &mut Output) -> Result<Exit, CliError> {
    let queries = read(&args.queries)?;
    let folder = tempfile::tempdir()?;
    let paths = Paths::new(folder.path());
    paths.prepare()?;
    let source = Source::open(&args.corpus, folder.path())?;
    let redactor = Redactor::new(&Rules::default())
        .map_err(|e| CliError::Usage(format!("the built-in rules: {e}")))?;
    let started = Instant::now();
    let store = remora_store::open(&paths.database(), Access::Write)?;
    let loaded = import::into_store(&source, &store, &redactor)?;
    drop(store);
    let import_seconds = started.elapsed().as_secs_f64();
    let store = remora_store::open(&paths.database(), Access::Read)?;
    let answers = ask(&store, &queries)?;
    write(&args.out, &answers)?;
    let rows = table(&answers);
    if args.json {
        let rows: Vec<_> = rows.iter().map(Row::json).collect();
        out.json(&json!({
            "documents": loaded.items,
            "queries": queries.len(),
            "import_seconds": import_seconds,
            "out": args.out,
            "rows": rows,
        }))?;
        return Ok(Exit::GoOn);
    }
    let head = format!(
        "{:<28} {:>6} {:>8} {:>9} {:>7} {:>7} {:>7}",
        "category", "n", "recall@5", "recall@10", "MRR@10", "p50 ms", "p95 ms"
    );
    out.text(&format!(
        "{} documents, {} queries\n{}\n",
        loaded.items,
        queries.len(),
        out.paint(Style::Bold, &head)
    ))?;
    for row in rows {
        out.text(&format!("{}\n", visible(&row.line())))?;
    }
    Ok(Exit::GoOn)
}

fn read(path: &Path) -> Result<Vec<Asked>, CliError> {
    let fault = |source| CliError::File {
        path: path.to_path_buf(),
        source,
    };
    let file = fs::File::open(path).map_err(fault)?;
    let mut queries = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(fault)?;
        if !line.trim().is_empty() {
            let query = serde_json::from_str(&line).map_err(|e| {
                CliError::Usage(format!("{}:{}: not a query: {e}", path.display(), at + 1))
            })?;
            queries.push(query);
        }
    }
    Ok(queries)
}

fn ask<'a>(store: &dyn Store, queries: &'a [Asked]) -> Result<Vec<Answer<'a>>, CliError> {
    let mut progress = Progress::new("asking");
    let mut answers = Vec::with_capacity(queries.len());
    for (at, asked) in queries.iter().enumerate() {
        let filter = Filter {
            project: Some(asked.conv.clone()),
            ..Filter::default()
        };
        let started = Instant::now();
        let hits = store.search(&Query::parse(&asked.text), &filter, LIMIT)?;
        let ms = started.elapsed().as_secs_f64() * 1000.0;
        answers.push(Answer {
            id: &asked.id,
            category: &asked.category,
            relevant: &asked.relevant,
            results: hits
                .into_iter()
                .map(|hit| hit.item.external_id.unwrap_or(hit.item.uid))
                .collect(),
            ms,
        });
        progress.at(at as u64, queries.len() as u64, &asked.category);
    }
    Ok(answers)
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
