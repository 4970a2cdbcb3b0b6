//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that reads it and passes it down"
)]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
