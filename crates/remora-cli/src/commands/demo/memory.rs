//! The second part of the demo: a recorded session, remembered.

use std::path::Path;

use remora_agents::recorded_agent;
use remora_client::{DataPaths, HookInput, locate_project, spool_event};
use remora_core::record::Item;
use remora_memory::CapturePolicy;
use remora_memory::store::{Filter, PageRequest, SortOrder, Store};
use remora_server::{Log, SpoolIngest};
use remora_store::Access;

use crate::clock;
use crate::error::CliError;

const SESSION_EVENTS: &str = include_str!("memory.jsonl");

/// Spools and ingests the session in a data directory of its own, and
/// returns what is remembered.
pub(super) fn store_session(paths: &DataPaths, project: &Path) -> Result<Vec<Item>, CliError> {
    paths.prepare_data_dir()?;
    // Made up here, so that no scanner takes the demo for a leak.
    let token = format!("gh{}_{}", "p", "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX");
    // One event a second, as in a session; the last one is now.
    let lines = SESSION_EVENTS.lines().count();
    let start = clock::now_ms() - 1000 * i64::try_from(lines).unwrap_or(0);
    for (at, line) in (start..).step_by(1000).zip(SESSION_EVENTS.lines()) {
        let text = line
            .replace("$PROJECT", &project.to_string_lossy())
            .replace("$TOKEN", &token);
        let input = HookInput {
            bytes: text.into_bytes(),
            cut: false,
        };
        let place = Some(locate_project(paths, project, None));
        spool_event(paths, recorded_agent().name, at, place, &input, false)?;
    }
    let store = remora_server::open_database(&paths.database_file(), Access::Write)?;
    let log = Log::open(paths.worker_log());
    let mut ingest = SpoolIngest::new(
        paths.clone(),
        Box::new(store),
        CapturePolicy::default(),
        Vec::new(),
        log,
    )?;
    while ingest.ingest_batch(clock::now_ms())?.removed > 0 {}
    let page = PageRequest {
        order: SortOrder::Oldest,
        beyond: None,
        limit: 100,
    };
    let store = remora_server::open_database(&paths.database_file(), Access::Read)?;
    Ok(store.list_items(&Filter::default(), page)?)
}
