//! How the cost of work grows with its input, without a threshold in seconds:
//! machines differ, the shape of the curve does not.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How many times larger the larger input is.
pub(crate) const GROWTH: usize = 64;
/// Work in proportion to its input grows by [`GROWTH`]; work in proportion to
/// its square by 4096. Between them lies room for a busy machine.
pub(crate) const MAX_GROWTH: f64 = 600.0;

/// How much longer `work` takes on a text [`GROWTH`] times as long, made of the
/// same unit again and again. The quickest of several runs counts: a cold cache
/// only ever makes a run slower.
pub(crate) fn cost_growth(unit: &str, bytes: usize, work: impl Fn(&str)) -> f64 {
    let small = unit.repeat(bytes / unit.len());
    let large = small.repeat(GROWTH);
    let quickest = |text: &str, runs: usize| {
        let times = (0..runs).map(|_| {
            let started = thread_time();
            work(text);
            thread_time().saturating_sub(started)
        });
        times.min().unwrap_or_default()
    };
    // What is over at once says nothing about its curve.
    let small = quickest(&small, 12).max(Duration::from_micros(20));
    quickest(&large, 2).as_secs_f64() / small.as_secs_f64()
}

/// The processor time that this thread has used. Unlike the time on the wall it
/// stands still while other work has the processor.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}
