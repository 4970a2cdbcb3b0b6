//! `remora memory index`: the index beside the memories, made true again.

use remora_instructions::memories::Scope;
use remora_instructions::memories::folder::{IndexRun, IndexState};
use serde_json::{Value, json};

use super::{Shelf, secrets};
use crate::args::MemoryIndex;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, visible};

pub(super) fn run(args: &MemoryIndex, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = Shelf::open(&args.place)?;
    let run = if args.check {
        IndexRun::Check
    } else {
        IndexRun::Write
    };
    let folder = shelf.folder(args.whose.scope().unwrap_or(Scope::Project));
    let state = folder.index(run)?;
    if run == IndexRun::Write && !state.is_true() {
        shelf.changed();
    }
    // What is shared by hand does not pass through `add`.
    let private = if folder.scope() == Scope::Team {
        let redactor = shelf.redactor()?;
        folder.unshareable(&|text| secrets(&redactor, text))?
    } else {
        Vec::new()
    };
    let private: Vec<(String, Vec<String>)> = private
        .into_iter()
        .map(|(uri, reasons)| (uri.to_string(), reasons))
        .collect();
    if args.place.json {
        let private: Vec<Value> = private
            .iter()
            .map(|(uri, reasons)| json!({ "uri": uri, "reasons": reasons }))
            .collect();
        out.json(&json!({
            "path": state.path,
            "was_true": state.is_true(),
            "written": !args.check && !state.is_true(),
            "advice": state.judgement.advice(),
            "warnings": state.warnings,
            "not_to_share": private,
        }))?;
    } else {
        told(args, &state, &private, out)?;
    }
    let fails = (args.check && !state.is_true()) || !private.is_empty();
    Ok(if fails { Exit::Failed } else { Exit::GoOn })
}

fn told(
    args: &MemoryIndex,
    state: &IndexState,
    private: &[(String, Vec<String>)],
    out: &mut Output,
) -> Result<(), CliError> {
    let path = visible(&state.path.display().to_string());
    let text = match (state.is_true(), args.check) {
        (true, _) => format!("{path} is up to date\n"),
        (false, true) => format!("{path} is not up to date; run this without --check\n"),
        (false, false) => format!("wrote {path}\n"),
    };
    out.text(&text)?;
    let mut notes: Vec<String> = state.warnings.clone();
    notes.extend(state.judgement.advice());
    notes.extend(
        private
            .iter()
            .map(|(uri, reasons)| format!("{uri} should not be shared: {}", reasons.join("; "))),
    );
    for note in notes {
        let mark = out.paint(Style::Yellow, "!");
        out.text(&format!("{mark} {}\n", visible(&note)))?;
    }
    Ok(())
}
