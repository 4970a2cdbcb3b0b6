//! Sums over lines of the ledger: by moment, by kind of row, and of all.

use std::collections::HashSet;

use remora_protocol::record::Kind;

use super::rows::Row;

/// Moments in the order in which a session meets them.
const MOMENTS: &[&str] = &[
    "start", "index", "prompt", "read", "failure", "subagent", "compact",
];

/// What some lines come to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) items: u64,
    pub(super) used: u64,
    pub(super) tokens: u64,
    pub(super) used_tokens: u64,
}

impl Sum {
    fn add(&mut self, row: &Row) {
        let tokens = u64::from(row.given.tokens);
        self.items += 1;
        self.tokens += tokens;
        if row.given.used.is_some() {
            self.used += 1;
            self.used_tokens += tokens;
        }
    }

    /// Of a thousand tokens, those of use, to the nearest; `None` of nothing.
    pub(super) fn per_mille(&self) -> Option<u64> {
        (self.used_tokens * 1000 + self.tokens / 2).checked_div(self.tokens)
    }

    /// The same as a part of one.
    pub(super) fn rate(&self) -> Option<f64> {
        let whole = u32::try_from(self.per_mille()?).ok()?;
        Some(f64::from(whole) / 1000.0)
    }
}

/// All sums.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) all: Sum,
    pub(super) sessions: u64,
    /// Those that occur, in the order of a session.
    pub(super) moments: Vec<(String, Sum)>,
    /// Those that occur, in the order in which kinds are listed.
    pub(super) kinds: Vec<(String, Sum)>,
}

impl Tally {
    pub(super) fn of(rows: &[Row]) -> Self {
        let mut tally = Self::default();
        let mut sessions = HashSet::new();
        for row in rows {
            tally.all.add(row);
            part(&mut tally.moments, &row.given.moment).add(row);
            part(&mut tally.kinds, row.kind).add(row);
            sessions.insert(row.given.session.as_str());
        }
        tally.sessions = sessions.len() as u64;
        let of_moment = |name: &str| MOMENTS.iter().position(|moment| *moment == name);
        let of_kind = |name: &str| Kind::ALL.iter().position(|kind| kind.name() == name);
        sort(&mut tally.moments, of_moment);
        sort(&mut tally.kinds, of_kind);
        tally
    }
}

fn part<'a>(parts: &'a mut Vec<(String, Sum)>, name: &str) -> &'a mut Sum {
    let at = parts.iter().position(|(known, _)| known == name);
    let at = at.unwrap_or_else(|| {
        parts.push((name.to_owned(), Sum::default()));
        parts.len() - 1
    });
    &mut parts[at].1
}

/// What has no place comes last, by name.
fn sort(parts: &mut [(String, Sum)], place: impl Fn(&str) -> Option<usize>) {
    parts.sort_by(|(a, _), (b, _)| {
        let of = |name: &str| place(name).unwrap_or(usize::MAX);
        (of(a), a).cmp(&(of(b), b))
    });
}

#[cfg(test)]
mod tests {
    use remora_protocol::record::{Given, Used};

    use super::*;

    fn row(session: &str, moment: &str, kind: &'static str, tokens: u32, used: bool) -> Row {
        Row {
            given: Given {
                session: session.into(),
                line: 0,
                item: "#1".into(),
                subagent: None,
                moment: moment.into(),
                why: String::new(),
                tokens,
                time: 0,
                used: used.then(|| Used {
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
        let tally = Tally::of(&[
            row("a", "odd", "gone", 0, true),
            row("a", "failure", "fix", 100, true),
            row("b", "start", "decision", 200, false),
            row("b", "start", "fix", 33, true),
        ]);
        let names = |parts: &[(String, Sum)]| -> Vec<String> {
            parts.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&tally.moments), ["start", "failure", "odd"]);
        assert_eq!(names(&tally.kinds), ["decision", "fix", "gone"]);
        let sum = |items, used, tokens, used_tokens| Sum {
            items,
            used,
            tokens,
            used_tokens,
        };
        assert_eq!(tally.all, sum(4, 3, 333, 133));
        assert_eq!(tally.moments[0].1, sum(2, 1, 233, 33));
        assert_eq!(tally.kinds[1].1, sum(2, 2, 133, 133));
        assert_eq!(tally.sessions, 2);
        assert_eq!(tally.all.per_mille(), Some(399));
        assert_eq!(tally.moments[2].1.per_mille(), None);
        assert_eq!(Tally::of(&[]).all.rate(), None);
    }
}
