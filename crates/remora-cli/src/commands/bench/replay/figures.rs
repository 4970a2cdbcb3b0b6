//! The figures of a replay.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// The names of the arms, in their order.
const ARM_NAMES: [&str; 3] = ["recall", "last turns", "by lot"];

/// Part of a whole.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    part: usize,
    whole: usize,
}

impl Share {
    fn count(&mut self, is: bool) {
        self.part += usize::from(is);
        self.whole += 1;
    }

    fn absorb(&mut self, other: Self) {
        self.part += other.part;
        self.whole += other.whole;
    }

    #[expect(clippy::cast_precision_loss, reason = "a few thousand at most")]
    fn to_text(self) -> String {
        let Self { part, whole } = self;
        let share = 100.0 * part as f64 / whole.max(1) as f64;
        format!("{part} of {whole} ({share:.1} %)")
    }

    fn to_json(self) -> Value {
        json!({ "part": self.part, "whole": self.whole })
    }
}

/// First and later prompts of sessions.
#[derive(Debug, Default)]
pub(super) struct PromptShares {
    first: Share,
    later: Share,
}

impl PromptShares {
    pub(super) fn count(&mut self, is_first: bool, is: bool) {
        if is_first {
            self.first.count(is);
        } else {
            self.later.count(is);
        }
    }

    fn absorb(&mut self, other: &Self) {
        self.first.absorb(other.first);
        self.later.absorb(other.later);
    }

    fn to_json(&self) -> Value {
        json!({ "first": self.first.to_json(), "later": self.later.to_json() })
    }
}

/// What became of what an arm gave.
#[derive(Debug, Default)]
pub(super) struct ArmStats {
    deeds: PromptShares,
    echoes: PromptShares,
    either: PromptShares,
}

impl ArmStats {
    pub(super) fn count(&mut self, is_first: bool, deed: bool, echo: bool) {
        self.deeds.count(is_first, deed);
        self.echoes.count(is_first, echo);
        self.either.count(is_first, deed || echo);
    }

    fn absorb(&mut self, other: &Self) {
        self.deeds.absorb(&other.deeds);
        self.echoes.absorb(&other.echoes);
        self.either.absorb(&other.either);
    }

    fn to_json(&self) -> Value {
        json!({
            "deeds": self.deeds.to_json(),
            "words": self.echoes.to_json(),
            "either": self.either.to_json(),
        })
    }
}

/// Failures with and without something given: whether the command passed within
/// the next calls.
#[derive(Debug, Default)]
pub(super) struct FailureStats {
    with_injection: Share,
    not_given: Share,
}

impl FailureStats {
    pub(super) fn count_failure(&mut self, has_given: bool, passed: bool) {
        if has_given {
            self.with_injection.count(passed);
        } else {
            self.not_given.count(passed);
        }
    }
}

/// What the ledger says, by moment.
#[derive(Debug, Default)]
pub(super) struct UseStats(BTreeMap<String, Share>);

impl UseStats {
    pub(super) fn count(&mut self, trigger: &str, is_used: bool) {
        self.0.entry(trigger.to_owned()).or_default().count(is_used);
    }
}

/// The tokens of a session, by moment.
#[derive(Debug, Default, Clone)]
pub(super) struct SessionTokens(BTreeMap<&'static str, u32>);

impl SessionTokens {
    pub(super) fn add_tokens(&mut self, trigger: &'static str, tokens: u32) {
        *self.0.entry(trigger).or_default() += tokens;
    }

    fn total_tokens(&self) -> u32 {
        self.0.values().sum()
    }
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct ReplayStats {
    pub(super) sessions: Vec<SessionTokens>,
    pub(super) prompts: PromptShares,
    pub(super) arms: [ArmStats; 3],
    pub(super) failures: FailureStats,
    pub(super) ledger: UseStats,
}

impl ReplayStats {
    pub(super) fn absorb(&mut self, other: &Self) {
        self.sessions.extend(other.sessions.iter().cloned());
        self.prompts.absorb(&other.prompts);
        for (arm, more) in self.arms.iter_mut().zip(&other.arms) {
            arm.absorb(more);
        }
        self.failures
            .with_injection
            .absorb(other.failures.with_injection);
        self.failures.not_given.absorb(other.failures.not_given);
        for (trigger, share) in &other.ledger.0 {
            self.ledger
                .0
                .entry(trigger.clone())
                .or_default()
                .absorb(*share);
        }
    }

    /// Median and 90th percentile of what a session costs.
    fn token_percentiles(&self) -> (u32, u32) {
        let mut all: Vec<u32> = self
            .sessions
            .iter()
            .map(SessionTokens::total_tokens)
            .collect();
        all.sort_unstable();
        let at = |part: usize| all.get((all.len() * part / 100).min(all.len().saturating_sub(1)));
        (at(50).copied().unwrap_or(0), at(90).copied().unwrap_or(0))
    }

    /// Tokens of all sessions, by moment.
    fn by_trigger(&self) -> BTreeMap<&'static str, u64> {
        let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (trigger, tokens) in self.sessions.iter().flat_map(|session| &session.0) {
            *sums.entry(trigger).or_default() += u64::from(*tokens);
        }
        sums
    }

    pub(super) fn to_json(&self) -> Value {
        let (median, p90) = self.token_percentiles();
        let arms: BTreeMap<&str, Value> = ARM_NAMES
            .into_iter()
            .zip(self.arms.iter().map(ArmStats::to_json))
            .collect();
        let ledger: BTreeMap<&str, Value> = self
            .ledger
            .0
            .iter()
            .map(|(m, s)| (m.as_str(), s.to_json()))
            .collect();
        json!({
            "sessions": self.sessions.len(),
            "prompts_with_something_given": self.prompts.to_json(),
            "tokens": { "median": median, "p90": p90, "by_moment": self.by_trigger(),
                "each": self.sessions.iter().map(SessionTokens::total_tokens).collect::<Vec<_>>() },
            "used": arms,
            "ledger": ledger,
            "failures": {
                "passed_with_something_given": self.failures.with_injection.to_json(),
                "passed_with_nothing_given": self.failures.not_given.to_json(),
            },
        })
    }

    pub(super) fn to_text(&self) -> String {
        let (median, p90) = self.token_percentiles();
        let mut text = format!(
            "{} sessions, tokens a session: median {median}, 90 % below {p90}\n",
            self.sessions.len()
        );
        let triggers = self.by_trigger();
        let triggers: Vec<String> = triggers
            .iter()
            .map(|(name, sum)| format!("{name} {sum}"))
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "tokens in all: {}", triggers.join(", "));
        let _ = writeln!(
            text,
            "given at a first prompt {}, at a later one {}",
            self.prompts.first.to_text(),
            self.prompts.later.to_text()
        );
        for (name, arm) in ARM_NAMES.iter().zip(&self.arms) {
            for (which, part) in [("first", 0), ("later", 1)] {
                let of = |prompts: &PromptShares| [prompts.first, prompts.later][part].to_text();
                let (either, deeds, words) = (of(&arm.either), of(&arm.deeds), of(&arm.echoes));
                let _ = writeln!(
                    text,
                    "used, {name}, {which} prompts: {either}; by a deed {deeds}, by its words {words}"
                );
            }
        }
        for (trigger, share) in &self.ledger.0 {
            let _ = writeln!(text, "ledger, {trigger}: used {}", share.to_text());
        }
        let _ = writeln!(
            text,
            "failed commands that passed soon: {} with something given, {} without",
            self.failures.with_injection.to_text(),
            self.failures.not_given.to_text()
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_told_by_their_middle_and_their_upper_end() {
        let mut figures = ReplayStats::default();
        for tokens in 1..=10 {
            let mut session = SessionTokens::default();
            session.add_tokens("start", tokens);
            session.add_tokens("prompt", 100);
            figures.sessions.push(session);
        }
        assert_eq!(figures.token_percentiles(), (106, 110));
        assert_eq!(figures.by_trigger()["prompt"], 1_000);
    }
}
