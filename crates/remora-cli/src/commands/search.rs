//! `remora search`: words in, rows out.

use std::time::Instant;

use remora_memory::store::{Filter, Store};
use remora_memory::words::Query;
use remora_protocol::time::{date, rfc3339};
use serde_json::json;

use crate::args::Search;
use crate::commands::data::Data;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(crate) fn run(args: &Search, out: &mut Output) -> Result<Exit, CliError> {
    let data = Data::open()?;
    let started = Instant::now();
    let filter = Filter {
        project: match (&args.project, args.all) {
            (Some(project), _) => Some(project.clone()),
            (None, true) => None,
            (None, false) => Some(data.project()?),
        },
        ..Filter::default()
    };
    let query = Query::parse(&args.words.join(" "));
    let hits = match data.store()? {
        Some(store) => store.search(&query, &filter, args.limit)?,
        None => Vec::new(),
    };
    let ms = started.elapsed().as_secs_f64() * 1000.0;
    if args.json {
        let results: Vec<_> = hits
            .iter()
            .map(|hit| {
                json!({
                    "id": hit.item.id,
                    "external_id": hit.item.external_id,
                    "kind": hit.item.kind,
                    "title": hit.item.title,
                    "time": rfc3339(hit.item.time),
                    "project": hit.item.project,
                    "session": hit.item.session,
                    "files": hit.item.files_modified.iter().chain(&hit.item.files_read).collect::<Vec<_>>(),
                    "score": hit.score,
                    "snippet": hit.item.text,
                })
            })
            .collect();
        out.json(&json!({ "ms": ms, "results": results }))?;
        return Ok(Exit::GoOn);
    }
    for hit in &hits {
        let id = out.paint(Style::Cyan, &format!("#{}", hit.item.id));
        let kind = out.paint(
            Style::Dim,
            &format!("{} {}", date(hit.item.time), hit.item.kind),
        );
        out.text(&format!("{id} {kind} {}\n", visible(&hit.item.title)))?;
    }
    Ok(Exit::GoOn)
}
