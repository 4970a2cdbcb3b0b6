//! `remora memory index`: the index beside the memories, made true again.

use remora_notes::MemoryScope;
use remora_notes::folder::{IndexMode, IndexUpdate};
use serde_json::{Value, json};

use super::{MemoryWorkspace, list_secrets};
use crate::args::MemoryIndexArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{Output, Style, escape_invisible};

pub(super) fn run(args: &MemoryIndexArgs, out: &mut Output) -> Result<Exit, CliError> {
    let shelf = MemoryWorkspace::open(&args.place)?;
    let run = if args.check {
        IndexMode::Check
    } else {
        IndexMode::Write
    };
    let folder = shelf.folder_for(args.whose.memory_scope().unwrap_or(MemoryScope::Project));
    let state = folder.index(run)?;
    if run == IndexMode::Write && !state.is_true() {
        shelf.notify_changed();
    }
    // What is shared by hand does not pass through `add`.
    let private = if folder.scope() == MemoryScope::Team {
        let redactor = shelf.build_redactor()?;
        folder.list_unshareable(&|text| list_secrets(&redactor, text))?
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
        out.print_json(&json!({
            "path": state.path,
            "was_true": state.is_true(),
            "written": !args.check && !state.is_true(),
            "advice": state.judgement.render_advice(),
            "warnings": state.warnings,
            "not_to_share": private,
        }))?;
    } else {
        print_report(args, &state, &private, out)?;
    }
    let fails = (args.check && !state.is_true()) || !private.is_empty();
    Ok(if fails { Exit::Failed } else { Exit::GoOn })
}

fn print_report(
    args: &MemoryIndexArgs,
    state: &IndexUpdate,
    private: &[(String, Vec<String>)],
    out: &mut Output,
) -> Result<(), CliError> {
    let path = escape_invisible(&state.path.display().to_string());
    let text = match (state.is_true(), args.check) {
        (true, _) => format!("{path} is up to date\n"),
        (false, true) => format!("{path} is not up to date; run this without --check\n"),
        (false, false) => format!("wrote {path}\n"),
    };
    out.print_text(&text)?;
    let mut notes: Vec<String> = state.warnings.clone();
    notes.extend(state.judgement.render_advice());
    notes.extend(
        private
            .iter()
            .map(|(uri, reasons)| format!("{uri} should not be shared: {}", reasons.join("; "))),
    );
    for note in notes {
        let mark = out.paint(Style::Yellow, "!");
        out.print_text(&format!("{mark} {}\n", escape_invisible(&note)))?;
    }
    Ok(())
}
