//! What a hook must know of Codex before it knows the event.

use remora_core::EventName;

use super::environment::CONFIG_DIR_VARIABLE;
use super::sender::is_sender;
use super::wire::{field, tool};
use crate::environment::EnvironmentLookup;
use crate::hook_payload::{PeekedHeader, may_report_failure, may_show_file, peek_header};
use crate::spec::{HookSpec, ResponsePart};

/// What a hook of Codex must know before the event.
pub(super) const HOOK_SPEC: HookSpec = HookSpec {
    peek_header,
    may_report_failure: |payload| may_report_failure(payload, tool::SHELL),
    may_show_file: |payload| may_show_file(payload, tool::SHELL, field::COMMAND),
    is_sender: is_payload_sender,
    default_subagent: "default",
    answers: list_answers,
};

fn is_payload_sender(payload: &PeekedHeader<'_>, lookup: EnvironmentLookup<'_>) -> bool {
    let path = payload.transcript.as_deref().unwrap_or_default();
    is_sender(path, || lookup(CONFIG_DIR_VARIABLE))
}

/// What the client takes at an event of what we may want to say there. It takes
/// a message for the user at some others too, where we have none.
pub(super) fn list_answers(event: EventName) -> &'static [ResponsePart] {
    use ResponsePart::{Block, Context, Message};
    match event {
        EventName::SessionStart
        | EventName::UserPromptSubmit
        | EventName::PreToolUse
        | EventName::PostToolUse
        | EventName::SubagentStart => &[Context, Message],
        EventName::Stop => &[Message, Block],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use std::ffi::OsString;

    use super::*;

    #[test]
    fn every_recorded_payload_shows_who_sent_it_at_the_first_look() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents/codex");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let header = peek_header(&bytes).unwrap();
            assert!(header.event.is_some() && header.session.is_some() && header.cwd.is_some());
            assert!(is_payload_sender(&header, &|_| None), "{}", path.display());
        }
    }

    #[test]
    fn a_moved_folder_is_known_by_its_variable() {
        let header = PeekedHeader {
            transcript: Some("/data/cx/sessions/2026/11/18/rollout-1.jsonl".into()),
            ..PeekedHeader::default()
        };
        let moved = |name: &str| (name == "CODEX_HOME").then(|| OsString::from("/data/cx"));
        assert!(is_payload_sender(&header, &moved));
        assert!(!is_payload_sender(&header, &|_| None));
        assert!(!is_payload_sender(&PeekedHeader::default(), &moved));
    }
}
