//! Completes events by the session file of their agent, in the worker: a hook
//! never waits for another file.
//!
//! What is found becomes part of the event, or an event of its own, before
//! anything is redacted and archived. So a rebuild needs no session file, and
//! makes the same items when that file is long gone.

use std::path::Path;

use remora_agents::AgentSpec;
use remora_agents::transcript::TranscriptEvent;
use remora_core::Event;

/// What is read first: an event is stored within a second, when little has been
/// written since.
const SHORT_TAIL_BYTES: u64 = 256 * 1024;
/// The most that is read of a file's end. One turn rarely writes more; what lies
/// before it is left as the hooks sent it.
const LONG_TAIL_BYTES: u64 = 8 * 1024 * 1024;

/// Completes the event, if its agent keeps a file that says more about it, and lists
/// what happened before it and no hook received. If the file cannot be read, the
/// event is stored as it came.
pub(crate) fn complete_event(agent: &AgentSpec, event: &mut Event) -> Vec<TranscriptEvent> {
    let Some(spec) = &agent.session_file else {
        return Vec::new();
    };
    let Some(source) = (spec.find_source)(event).map(Path::to_path_buf) else {
        return Vec::new();
    };
    let mut unreported_events = Vec::new();
    for max_bytes in [SHORT_TAIL_BYTES, LONG_TAIL_BYTES] {
        let Ok(tail) = remora_files::read_file_end(&source, max_bytes) else {
            break;
        };
        unreported_events = (spec.list_unreported_events)(event, &tail);
        let is_whole_file = (tail.len() as u64) < max_bytes;
        if (spec.complete_event)(event, &tail) || is_whole_file {
            break;
        }
    }
    unreported_events
}
