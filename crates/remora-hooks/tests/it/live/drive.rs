//! The script of a longer session: what the user types and does to files, and
//! what is waited for in between.

use serde_json::Value;

use super::clock::to_us;

/// How long a wait lasts that has no limit of its own.
const DEFAULT_LIMIT_SECONDS: f64 = 20.0;

#[derive(Debug)]
pub(super) struct Drive {
    steps: Vec<Value>,
    at: usize,
    since_us: u64,
}

impl Drive {
    pub(super) fn new(script: &Value) -> Self {
        Self {
            steps: script.as_array().cloned().unwrap_or_default(),
            at: 0,
            since_us: 0,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.at == self.steps.len()
    }

    /// The step that waits to be done.
    pub(super) fn step(&self) -> Option<&Value> {
        self.steps.get(self.at)
    }

    pub(super) fn advance(&mut self, now_us: u64) {
        self.at += 1;
        self.since_us = now_us;
    }

    /// When the step is over whatever happens.
    pub(super) fn due_us(&self) -> Option<u64> {
        let step = self.step()?;
        let seconds = match step[0].as_str()? {
            "sleep" => step[1].as_f64()?,
            "result" | "requests" => step[2].as_f64().unwrap_or(DEFAULT_LIMIT_SECONDS),
            "event" | "run" | "done" => step[3].as_f64().unwrap_or(DEFAULT_LIMIT_SECONDS),
            _ => return None,
        };
        Some(self.since_us + to_us(seconds))
    }
}
