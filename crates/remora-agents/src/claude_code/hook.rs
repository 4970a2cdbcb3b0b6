//! What a hook must know of Claude Code before it knows the event.

use std::path::Path;

use remora_core::{Answers, EventName, PlainText};

use super::environment::CONFIG_DIR_VARIABLE;
use super::wire::tool;
use crate::environment::EnvironmentLookup;
use crate::hook_payload::{PeekedHeader, may_report_failure, peek_header};
use crate::spec::{HookSpec, ResponsePart};

/// What a hook of Claude Code must know before the event.
pub(super) const HOOK_SPEC: HookSpec = HookSpec {
    peek_header,
    may_report_failure: |payload| may_report_failure(payload, tool::SHELL),
    // It has a tool for it, and says before what it will read.
    may_show_file: |_| false,
    is_sender,
    default_subagent: "general-purpose",
    answers: list_answers,
};

/// Transcripts lie below the folder of the user's settings.
fn is_sender(payload: &PeekedHeader<'_>, lookup: EnvironmentLookup<'_>) -> bool {
    let Some(transcript) = payload.transcript.as_deref().map(Path::new) else {
        return false;
    };
    let in_settings = |folder: std::ffi::OsString| transcript.starts_with(folder);
    transcript.components().any(|c| c.as_os_str() == ".claude")
        // A moved settings folder need not be called `.claude`.
        || lookup(CONFIG_DIR_VARIABLE).is_some_and(in_settings)
}

/// What the client takes from us at an event.
pub(super) fn list_answers(event: EventName) -> &'static [ResponsePart] {
    use ResponsePart::{Block, Context, Instructions, Message};
    let def = event.def();
    match def.plain {
        // Text on stdout is added to the summary's instructions, JSON or not.
        PlainText::CompactInstructions => return &[Instructions],
        // The client would read it as a path.
        PlainText::WorktreePath => return &[],
        _ => {}
    }
    match event {
        // It is shown to the user as it is.
        EventName::PostCompact => return &[],
        // At the end of a turn, context would make the model run once more.
        EventName::Stop => return &[Message, Block],
        EventName::SubagentStop => return &[Message],
        _ => {}
    }
    let takes = |answer| def.answers.contains(answer);
    match (takes(Answers::CONTEXT), takes(Answers::MESSAGE)) {
        (true, true) => &[Context, Message],
        (true, false) => &[Context],
        (false, true) => &[Message],
        (false, false) => &[],
    }
}
