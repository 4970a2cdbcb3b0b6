//! When a failed request is worth another try, and how long to wait before it.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use remora_core::model::{ModelError, ModelErrorKind};

/// How often and how fast a failed request is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Requests in all, the first included.
    pub max_attempts: u32,
    /// The wait before the second attempt; it doubles with each.
    pub first_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            first_delay: Duration::from_millis(500),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after attempt `attempt` (from 1 on) failed like this, if
    /// another one is worth it and fits before the deadline.
    pub(crate) fn next_delay(
        &self,
        attempt: u32,
        error: &ModelError,
        now: Instant,
        deadline: Instant,
    ) -> Option<Duration> {
        let passes = matches!(
            error.kind,
            ModelErrorKind::RateLimited | ModelErrorKind::Server | ModelErrorKind::Connection
        );
        if !passes || attempt >= self.max_attempts {
            return None;
        }
        let backoff = self.first_delay * 2_u32.saturating_pow(attempt.saturating_sub(1)).min(64);
        let delay = match error.retry_after {
            // The provider knows; asking earlier only costs an attempt.
            Some(wanted) => wanted,
            None => jitter(backoff),
        };
        let again = now.checked_add(delay)?;
        (again < deadline).then_some(delay)
    }
}

/// Between half and all of it, so that clients that failed together do not come
/// back together.
fn jitter(delay: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) % 512;
    // Of 1024 parts, 512 to 1023.
    delay * u32::try_from(512 + random).unwrap_or(1024) / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: 3,
        first_delay: Duration::from_secs(4),
    };

    fn delay(attempt: u32, kind: ModelErrorKind, after: Option<u64>) -> Option<Duration> {
        let error = ModelError {
            retry_after: after.map(Duration::from_secs),
            ..ModelError::new(kind, "")
        };
        let now = Instant::now();
        POLICY.next_delay(attempt, &error, now, now + Duration::from_secs(30))
    }

    #[test]
    fn only_failures_that_pass_are_tried_again() {
        use ModelErrorKind as K;
        let again = |kind| delay(1, kind, None).is_some();
        let kinds = [
            (K::NotConfigured, false),
            (K::Auth, false),
            (K::RateLimited, true),
            (K::BadRequest, false),
            (K::Server, true),
            (K::Connection, true),
            (K::Timeout, false),
            (K::Malformed, false),
            (K::TooLarge, false),
        ];
        assert_eq!(kinds.map(|(k, _)| (k, again(k))), kinds);
    }

    #[test]
    fn the_wait_doubles_and_ends_with_the_attempts() {
        let within = |attempt, full: u64| {
            let delay = delay(attempt, ModelErrorKind::Server, None).unwrap();
            let full = Duration::from_secs(full);
            assert!(delay >= full / 2 && delay < full, "{attempt}: {delay:?}");
        };
        within(1, 4);
        within(2, 8);
        assert_eq!(delay(3, ModelErrorKind::Server, None), None);
    }

    #[test]
    fn a_wanted_wait_is_kept_or_the_error_is_final() {
        let limited = |after| delay(1, ModelErrorKind::RateLimited, Some(after));
        assert_eq!(limited(7), Some(Duration::from_secs(7)));
        assert_eq!(limited(30), None);
        assert_eq!(limited(3600), None);
        assert_eq!(limited(u64::MAX), None);
    }
}
