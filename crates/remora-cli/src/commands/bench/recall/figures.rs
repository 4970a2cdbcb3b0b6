//! The figures: how much of what had to be given was, how much of what was
//! given was right, and how often nothing was given where nothing should be.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ask::{LostStage, SituationVerdict};
use super::set::SituationKind;
use crate::args::BenchHalf;

/// All moments but starts: the index of a start holds so many items that nothing
/// else would count beside it.
const ALL_BUT_START: &str = "but start";

/// The figures of one half, for one kind of moment or for all but starts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RecallStats {
    pub(super) situations: usize,
    wanted: usize,
    found: usize,
    given: usize,
    right: usize,
    forbidden: usize,
    quiet: usize,
    kept_quiet: usize,
    tokens: u64,
    intents: usize,
    intents_right: usize,
    /// Of failures: how many fixes were lost at which stage.
    lost: BTreeMap<LostStage, usize>,
}

impl RecallStats {
    pub(super) fn from_verdicts<'a>(verdicts: impl Iterator<Item = &'a SituationVerdict>) -> Self {
        let mut sum = Self::default();
        for one in verdicts {
            sum.situations += 1;
            sum.wanted += one.wanted;
            sum.found += one.wanted - one.missed.len();
            sum.given += one.given;
            sum.right += one.given - one.wrong.len() - one.forbidden.len();
            sum.forbidden += one.forbidden.len();
            sum.quiet += usize::from(one.quiet);
            sum.kept_quiet += usize::from(one.quiet && one.given == 0);
            sum.tokens += u64::from(one.tokens);
            sum.intents += usize::from(one.has_intent);
            sum.intents_right += usize::from(one.has_intent && one.misread.is_none());
            for stage in &one.lost {
                *sum.lost.entry(*stage).or_default() += 1;
            }
        }
        sum
    }

    /// Of what was given, how much was right; nothing when nothing was given.
    pub(super) fn precision(&self) -> Option<f64> {
        compute_share(self.right, self.given)
    }

    /// Of what had to be given, how much was.
    pub(super) fn recall(&self) -> Option<f64> {
        compute_share(self.found, self.wanted)
    }

    /// Where nothing was to be given, how often nothing was.
    fn quiet_rate(&self) -> Option<f64> {
        compute_share(self.kept_quiet, self.quiet)
    }

    /// Tokens a situation.
    fn mean_tokens(&self) -> u64 {
        self.tokens / (self.situations.max(1) as u64)
    }

    pub(super) fn format_line(&self, half: BenchHalf, moment: Option<SituationKind>) -> String {
        format!(
            "{:<6}{:<14}{}",
            half.name(),
            moment.map_or(ALL_BUT_START, SituationKind::name),
            self.format_figures(),
        )
    }

    /// The same for the prompts of a project, or for those with an intent.
    pub(super) fn format_prompts(&self, half: BenchHalf, name: &str) -> String {
        format!("{:<6}{name:<14}{}", half.name(), self.format_figures())
    }

    fn format_figures(&self) -> String {
        let figure = |part: Option<f64>| {
            part.map_or_else(|| "-".to_owned(), |part| format!("{:.1}", part * 100.0))
        };
        format!(
            "{:>5}{:>11}{:>9}{:>9}{:>10}{:>9}{:>8}",
            self.situations,
            figure(self.precision()),
            figure(self.recall()),
            figure(self.quiet_rate()),
            self.forbidden,
            figure(compute_share(self.intents_right, self.intents)),
            self.mean_tokens(),
        )
    }

    /// `not learned 2, outweighed 1`; nothing where no fix was lost.
    pub(super) fn format_lost(&self) -> Option<String> {
        let told = |(stage, count): (&LostStage, &usize)| format!("{} {count}", stage.name());
        let told: Vec<String> = self.lost.iter().map(told).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    pub(super) fn to_json(&self, half: BenchHalf, moment: Option<SituationKind>) -> Value {
        let moment = moment.map_or(ALL_BUT_START, SituationKind::name);
        self.to_named_json(&[("half", half.name()), ("moment", moment)])
    }

    /// The figures after the names of what they are of.
    pub(super) fn to_named_json(&self, names: &[(&'static str, &str)]) -> Value {
        let names = names
            .iter()
            .map(|(name, of)| ((*name).to_owned(), json!(of)));
        let mut all: Map<String, Value> = names.collect();
        if let Value::Object(figures) = self.figures_to_json() {
            all.extend(figures);
        }
        Value::Object(all)
    }

    fn figures_to_json(&self) -> Value {
        json!({
            "situations": self.situations,
            "wanted": self.wanted,
            "found": self.found,
            "given": self.given,
            "right": self.right,
            "forbidden": self.forbidden,
            "precision": self.precision(),
            "recall": self.recall(),
            "quiet_situations": self.quiet,
            "quiet": self.quiet_rate(),
            "intents": self.intents,
            "intents_right": self.intents_right,
            "tokens": self.mean_tokens(),
            "lost": self
                .lost
                .iter()
                .map(|(stage, count)| (stage.name(), *count))
                .collect::<BTreeMap<_, _>>(),
        })
    }
}

/// The names of the columns.
pub(super) fn format_header() -> String {
    format!(
        "{:<6}{:<14}{:>5}{:>11}{:>9}{:>9}{:>10}{:>9}{:>8}",
        "half", "moment", "n", "precision", "recall", "quiet", "forbidden", "intent", "tokens"
    )
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred at most")]
fn compute_share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(wanted: usize, missed: usize, given: usize, wrong: usize) -> SituationVerdict {
        SituationVerdict {
            id: String::new(),
            project: String::new(),
            half: BenchHalf::Dev,
            moment: SituationKind::Prompt,
            wanted,
            missed: vec![String::new(); missed],
            lost: vec![LostStage::NotLearned; missed],
            given,
            wrong: vec![String::new(); wrong],
            forbidden: Vec::new(),
            quiet: wanted == 0,
            tokens: 100,
            misread: None,
            intent: None,
            has_intent: wanted > 0,
            is_question: false,
            candidates: Vec::new(),
            text: String::new(),
        }
    }

    #[test]
    fn rows_are_counted_over_all_situations() {
        let all = [
            verdict(2, 1, 3, 1),
            verdict(0, 0, 1, 1),
            verdict(0, 0, 0, 0),
        ];
        let sum = RecallStats::from_verdicts(all.iter());
        assert_eq!(sum.precision(), Some(0.5));
        assert_eq!(sum.recall(), Some(0.5));
        assert_eq!(sum.quiet_rate(), Some(0.5));
        assert_eq!(sum.mean_tokens(), 100);
        assert_eq!(RecallStats::default().precision(), None);
        assert_eq!(sum.format_lost().as_deref(), Some("not learned 1"));
        assert_eq!(
            sum.format_line(BenchHalf::Dev, None)
                .split_whitespace()
                .collect::<Vec<_>>(),
            [
                "dev", "but", "start", "3", "50.0", "50.0", "50.0", "0", "100.0", "100"
            ]
        );
    }
}
