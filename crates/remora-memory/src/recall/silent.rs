//! A command that failed and exited with 0: the failing part is piped into a
//! filter, or its end is not the end of the line. The client calls that a
//! success; what was printed says otherwise.

use super::failure::{known_fix, recall_for_failure};
use super::reader::RecallReader;
use super::{RecallContext, RecallResult};
use crate::fingerprint::error_signs;
use crate::output::{self, CommandOutcome};
use crate::private::{strip_injected, strip_private};
use crate::store::Result;

/// Bytes of an output that are read, from its end.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Whether the output of a command that exited with 0 is that of a failure, with
/// a message by which it can be known again. Opens nothing.
pub fn fails_silently(command: &str, printed: &str) -> bool {
    let from = printed.len().saturating_sub(MAX_OUTPUT_BYTES);
    // What is stored was cleaned like this before it was read.
    let printed = strip_private(&printed[printed.ceil_char_boundary(from)..]);
    let printed = strip_injected(&printed);
    let reading = output::read_output(command, &printed, CommandOutcome::Passed);
    let failed = reading.filter(|reading| reading.outcome == CommandOutcome::Failed);
    failed.is_some_and(|reading| {
        let signs = error_signs(command, &printed, Some(&reading));
        signs.print.is_some()
    })
}

/// What such a failure brings back: the same as any other, unless this session
/// mended the error itself. Filters are run again and again while one works.
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
    if fix.is_some_and(|(fix, _)| fix.session == scene.session) {
        return Ok(RecallResult::default());
    }
    recall_for_failure(store, scene, command, printed)
}
