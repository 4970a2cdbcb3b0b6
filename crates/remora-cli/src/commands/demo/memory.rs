//! The second part of the demo: a recorded session, remembered.

use std::path::Path;

use remora_client::{Input, Paths, locate_project, spool};
use remora_memory::Policy;
use remora_memory::store::{Filter, Order, Page, Store};
use remora_protocol::record::Item;
use remora_server::{Inbox, Log};
use remora_store::Access;

use crate::clock;
use crate::error::CliError;

const SESSION: &str = include_str!("memory.jsonl");

/// Spools, digests and stores the session in a data directory of its own, and
/// returns what is remembered.
pub(super) fn remember(paths: &Paths, project: &Path) -> Result<Vec<Item>, CliError> {
    paths.prepare()?;
    // Made up here, so that no scanner takes the demo for a leak.
    let token = format!("gh{}_{}", "p", "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX");
    // One event a second, as in a session; the last one is now.
    let lines = SESSION.lines().count();
    let start = clock::millis() - 1000 * i64::try_from(lines).unwrap_or(0);
    for (at, line) in (start..).step_by(1000).zip(SESSION.lines()) {
        let text = line
            .replace("$PROJECT", &project.to_string_lossy())
            .replace("$TOKEN", &token);
        let input = Input {
            bytes: text.into_bytes(),
            cut: false,
        };
        let place = Some(locate_project(paths, project, None));
        spool(paths, agent(), at, place, &input, false)?;
    }
    let store = remora_store::open(&paths.database(), Access::Write)?;
    let log = Log::open(paths.worker_log());
    let mut inbox = Inbox::new(
        paths.clone(),
        Box::new(store),
        Policy::default(),
        Vec::new(),
        log,
    )?;
    while inbox.round(clock::millis())?.taken > 0 {}
    let page = Page {
        order: Order::Oldest,
        beyond: None,
        limit: 100,
    };
    let store = remora_store::open(&paths.database(), Access::Read)?;
    Ok(store.list(&Filter::default(), page)?)
}

/// The demo's session was recorded from the first agent of the table.
fn agent() -> &'static str {
    remora_agents::AGENTS.first().map_or("", |agent| agent.name)
}
