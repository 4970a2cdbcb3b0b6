//! A silent failure: a command that exited with 0 because the failing part is
//! piped into a filter or is not the last of the line. The client reports a
//! success; the output says otherwise.

use super::failure::{known_fix, recall_for_failure};
use super::reader::RecallReader;
use super::{RecallContext, RecallResult};
use crate::fingerprint::error_signs;
use crate::output::{self, CommandOutcome};
use crate::store::Result;
use remora_redact::private::{strip_injected, strip_private};

/// Bytes of an output that are read, from its end, where tools report results.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Whether the output of a command that exited with 0 is that of a failure whose
/// message can be recognised again. Reads no store, so that a hook opens the
/// database only after this has said yes.
pub fn fails_silently(command: &str, printed: &str) -> bool {
    let from = printed.len().saturating_sub(MAX_OUTPUT_BYTES);
    // As the worker does before it computes a fingerprint; otherwise the two would
    // differ.
    let printed = strip_private(&printed[printed.ceil_char_boundary(from)..]);
    let printed = strip_injected(&printed);
    let reading = output::read_output(command, &printed, CommandOutcome::Passed);
    let failed = reading.filter(|reading| reading.outcome == CommandOutcome::Failed);
    failed.is_some_and(|reading| {
        let signs = error_signs(command, &printed, Some(&reading));
        signs.print.is_some()
    })
}

/// Recalls for such a failure as for any other, unless this session fixed the
/// error itself: filtered commands are run again and again during the work.
pub(super) fn silent_failure(
    store: &RecallReader<'_>,
    scene: &RecallContext<'_>,
    command: &str,
    printed: &str,
) -> Result<RecallResult> {
    if !fails_silently(command, printed) {
        return Ok(RecallResult::default());
    }
    let fix = known_fix(store, scene.project, command, printed)?;
    if fix.is_some_and(|(fix, _)| fix.session == *scene.session) {
        return Ok(RecallResult::default());
    }
    recall_for_failure(store, scene, command, printed)
}
