//! The cases: recorded sessions, and which of them the stage plays.
//!
//! `fixtures/client/live/cases.json` names cases of the book of recorded sessions. The book is
//! never edited; what a case needs besides stands with its name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// The recorded sessions.
const BOOK: &str = "fixtures/hooks/live.json";
/// Those that are played here.
const SELECTION: &str = "fixtures/client/live/cases.json";

/// One case that the stage plays.
pub(crate) struct LiveDraft {
    pub(crate) name: String,
    /// As recorded, with a drive or heads of the selection.
    pub(super) recorded: Value,
    /// The program behind every handler that leaves a trace.
    pub(super) stub: String,
    /// Why the engine does not play it, if it does not.
    pub(super) client_only: Option<String>,
}

/// All cases of the stage.
pub(crate) fn load_drafts(root: &Path) -> Result<Vec<LiveDraft>> {
    let mut book = read_json(&root.join(BOOK))?;
    let stub = book["stub"].as_str().context("the book has no `stub`")?;
    let stub = stub.to_owned();
    let mut recorded = BTreeMap::new();
    for case in book["cases"].as_array_mut().into_iter().flatten() {
        let name = case["name"].as_str().context("a case has no name")?;
        recorded.insert(name.to_owned(), case.take());
    }
    let selection = read_json(&root.join(SELECTION))?;
    let mut drafts = Vec::new();
    for selected in selection["cases"].as_array().context("no `cases`")? {
        let name = selected["name"].as_str().context("a case has no `name`")?;
        let mut value = recorded
            .remove(name)
            .with_context(|| format!("the book has no case `{name}`, or it is named twice"))?;
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
