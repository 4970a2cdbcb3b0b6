//! The cases: recorded sessions, and which of them the stage plays.
//!
//! `fixtures/client/live/cases.json` names cases of the books of recorded sessions. A book is never
//! edited; what a case needs on a busy machine (a condition in the place of a pause) stands
//! beside its name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Books of recorded sessions, the later for what the earlier do not have.
const BOOKS: [&str; 2] = [
    "fixtures/hooks/live.json",
    "fixtures/client/live/recorded.json",
];

/// One case that the stage plays.
pub(crate) struct LiveDraft {
    pub(crate) name: String,
    /// As recorded, with what the stage plays in another way.
    pub(super) recorded: Value,
    /// The program behind every handler that leaves a trace.
    pub(super) stub: String,
    /// Why the engine does not play it, if it does not.
    pub(super) client_only: Option<String>,
}

/// All cases of the stage.
pub(crate) fn load_drafts(root: &Path) -> Result<Vec<LiveDraft>> {
    let mut stub = None;
    let mut recorded = BTreeMap::new();
    for book in BOOKS {
        let mut book = read_json(&root.join(book))?;
        if let Some(text) = book["stub"].as_str() {
            stub = stub.or_else(|| Some(text.to_owned()));
        }
        for case in book["cases"].as_array_mut().into_iter().flatten() {
            let name = case["name"].as_str().context("a case has no name")?;
            recorded
                .entry(name.to_owned())
                .or_insert_with(|| case.take());
        }
    }
    let stub = stub.context("no book has the `stub`")?;
    let path = root.join("fixtures/client/live/cases.json");
    let selection = read_json(&path)?;
    let mut drafts = Vec::new();
    for selected in selection["cases"].as_array().context("no `cases`")? {
        let name = selected["name"].as_str().context("a case has no `name`")?;
        let mut value = recorded
            .remove(name)
            .with_context(|| format!("no book has the case `{name}`, or it is named twice"))?;
        if selected["drive"].is_array() {
            ensure!(value["drive"].is_array(), "`{name}` has no drive");
            value["drive"] = selected["drive"].clone();
        }
        // What a host reads from the pages of skills and agents.
        value["heads"] = selected["heads"].clone();
        drafts.push(LiveDraft {
            name: format!("live-{name}"),
            recorded: value,
            stub: stub.clone(),
            client_only: selected["client_only"].as_str().map(str::to_owned),
        });
    }
    Ok(drafts)
}

fn read_json(path: &Path) -> Result<Value> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", path.display()))
}
