//! Sums over injections: by trigger, by kind of item, and of all.

use std::collections::HashSet;

use remora_core::record::Kind;
use serde::Serialize;

use super::rows::InjectionRow;

/// Moments in the order in which a session meets them.
const TRIGGER_NAMES: &[&str] = &[
    "start", "index", "prompt", "read", "failure", "subagent", "compact",
];

/// What some lines come to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "StatsWithRate")]
pub struct InjectionStats {
    /// How many items were injected.
    pub items: u64,
    /// How many of them were of use.
    pub used: u64,
    /// What they cost.
    pub tokens: u64,
    /// What those cost that were of use.
    pub used_tokens: u64,
}

/// The sums with what follows from them.
#[derive(Serialize)]
struct StatsWithRate {
    items: u64,
    used: u64,
    tokens: u64,
    used_tokens: u64,
    rate: Option<f64>,
}

impl From<InjectionStats> for StatsWithRate {
    fn from(stats: InjectionStats) -> Self {
        Self {
            items: stats.items,
            used: stats.used,
            tokens: stats.tokens,
            used_tokens: stats.used_tokens,
            rate: stats.use_rate(),
        }
    }
}

impl InjectionStats {
    fn add_row(&mut self, row: &InjectionRow) {
        let tokens = u64::from(row.injection.tokens);
        self.items += 1;
        self.tokens += tokens;
        if row.injection.used.is_some() {
            self.used += 1;
            self.used_tokens += tokens;
        }
    }

    /// Of a thousand tokens, those of use, to the nearest; `None` of nothing.
    pub fn per_mille(&self) -> Option<u64> {
        (self.used_tokens * 1000 + self.tokens / 2).checked_div(self.tokens)
    }

    /// The same as a part of one.
    fn use_rate(&self) -> Option<f64> {
        let whole = u32::try_from(self.per_mille()?).ok()?;
        Some(f64::from(whole) / 1000.0)
    }
}

/// All sums.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct InjectionTally {
    pub(super) all: InjectionStats,
    pub(super) sessions: u64,
    /// Those that occur, in the order of a session.
    pub(super) triggers: Vec<(String, InjectionStats)>,
    /// Those that occur, in the order in which kinds are listed.
    pub(super) kinds: Vec<(String, InjectionStats)>,
}

impl InjectionTally {
    pub(super) fn from_rows(rows: &[InjectionRow]) -> Self {
        let mut tally = Self::default();
        let mut sessions = HashSet::new();
        for row in rows {
            tally.all.add_row(row);
            find_or_insert(&mut tally.triggers, &row.injection.trigger).add_row(row);
            find_or_insert(&mut tally.kinds, row.kind).add_row(row);
            sessions.insert(row.injection.session.as_str());
        }
        tally.sessions = sessions.len() as u64;
        let trigger_order = |name: &str| TRIGGER_NAMES.iter().position(|trigger| *trigger == name);
        let of_kind = |name: &str| Kind::ALL.iter().position(|kind| kind.name() == name);
        sort_parts(&mut tally.triggers, trigger_order);
        sort_parts(&mut tally.kinds, of_kind);
        tally
    }
}

fn find_or_insert<'a>(
    parts: &'a mut Vec<(String, InjectionStats)>,
    name: &str,
) -> &'a mut InjectionStats {
    let at = parts.iter().position(|(known, _)| known == name);
    let at = at.unwrap_or_else(|| {
        parts.push((name.to_owned(), InjectionStats::default()));
        parts.len() - 1
    });
    &mut parts[at].1
}

/// What has no place comes last, by name.
fn sort_parts(parts: &mut [(String, InjectionStats)], place: impl Fn(&str) -> Option<usize>) {
    parts.sort_by(|(a, _), (b, _)| {
        let of = |name: &str| place(name).unwrap_or(usize::MAX);
        (of(a), a).cmp(&(of(b), b))
    });
}

#[cfg(test)]
mod tests {
    use remora_core::record::{Injection, InjectionUse};

    use super::*;

    fn row(
        session: &str,
        trigger: &str,
        kind: &'static str,
        tokens: u32,
        used: bool,
    ) -> InjectionRow {
        InjectionRow {
            injection: Injection {
                session: session.into(),
                line: 0,
                item: "#1".into(),
                subagent: None,
                trigger: trigger.into(),
                why: String::new(),
                tokens,
                time: 0,
                used: used.then(|| InjectionUse {
                    how: "run".into(),
                    time: 1,
                }),
            },
            kind,
            title: None,
        }
    }

    #[test]
    fn sums_by_moment_and_kind() {
        let tally = InjectionTally::from_rows(&[
            row("a", "odd", "gone", 0, true),
            row("a", "failure", "fix", 100, true),
            row("b", "start", "decision", 200, false),
            row("b", "start", "fix", 33, true),
        ]);
        let names = |parts: &[(String, InjectionStats)]| -> Vec<String> {
            parts.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&tally.triggers), ["start", "failure", "odd"]);
        assert_eq!(names(&tally.kinds), ["decision", "fix", "gone"]);
        let sum = |items, used, tokens, used_tokens| InjectionStats {
            items,
            used,
            tokens,
            used_tokens,
        };
        assert_eq!(tally.all, sum(4, 3, 333, 133));
        assert_eq!(tally.triggers[0].1, sum(2, 1, 233, 33));
        assert_eq!(tally.kinds[1].1, sum(2, 2, 133, 133));
        assert_eq!(tally.sessions, 2);
        assert_eq!(tally.all.per_mille(), Some(399));
        assert_eq!(tally.triggers[2].1.per_mille(), None);
        assert_eq!(InjectionTally::from_rows(&[]).all.use_rate(), None);
    }
}
