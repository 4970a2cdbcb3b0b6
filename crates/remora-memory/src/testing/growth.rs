//! How the cost of work grows with its input, without a threshold in seconds:
//! machines differ, the shape of the curve does not.

use std::time::{Duration, Instant};

/// How many times larger the larger input is.
pub const GROWTH: usize = 64;
/// Work in proportion to its input grows by [`GROWTH`]; work in proportion to
/// its square by 4096. Between them lies room for a busy machine.
pub const MAX_GROWTH: f64 = 600.0;

/// How much longer `work` takes on a text [`GROWTH`] times as long, made of the
/// same unit again and again. The quickest of several runs counts: whatever else
/// the machine does only ever makes a run slower.
pub fn cost_growth(unit: &str, bytes: usize, work: impl Fn(&str)) -> f64 {
    let small = unit.repeat(bytes / unit.len());
    let large = small.repeat(GROWTH);
    let quickest = |text: &str, runs: usize| {
        let times = (0..runs).map(|_| {
            let started = Instant::now();
            work(text);
            started.elapsed()
        });
        times.min().unwrap_or_default()
    };
    // What is over at once says nothing about its curve.
    let small = quickest(&small, 12).max(Duration::from_micros(20));
    quickest(&large, 2).as_secs_f64() / small.as_secs_f64()
}
