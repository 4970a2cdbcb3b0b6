//! The figures: recall among the first 5 and 10, how high the right ones of the
//! first 10 stand (nDCG), the reciprocal rank of the first of them, and times.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

/// Questions that have no answer in the corpus; told apart, not counted in.
const UNANSWERABLE_CATEGORY: &str = "adversarial";

/// What was found for a query.
pub(super) struct BenchAnswer<'a> {
    pub(super) id: &'a str,
    pub(super) category: &'a str,
    pub(super) relevant: &'a [String],
    pub(super) results: Vec<String>,
    pub(super) ms: f64,
}

/// The figures of one category, or of all.
#[derive(Debug, PartialEq)]
pub(super) struct BenchResult {
    category: String,
    queries: usize,
    recall5: f64,
    pub(super) recall10: f64,
    ndcg10: f64,
    mrr10: f64,
    p50: f64,
    p95: f64,
}

/// The names of the columns.
pub(super) fn format_header(first: &str) -> String {
    format!(
        "{first:<28} {:>6} {:>8} {:>9} {:>7} {:>7} {:>7} {:>7}",
        "n", "recall@5", "recall@10", "nDCG@10", "MRR@10", "p50 ms", "p95 ms"
    )
}

/// One line for all queries, then one for each category.
pub(super) fn score_answers(answers: &[BenchAnswer<'_>]) -> Vec<BenchResult> {
    let known: Vec<&BenchAnswer<'_>> = answers.iter().filter(|a| !a.relevant.is_empty()).collect();
    let mut categories: BTreeMap<&str, Vec<&BenchAnswer<'_>>> = BTreeMap::new();
    for answer in &known {
        categories.entry(answer.category).or_default().push(answer);
    }
    let counted: Vec<&BenchAnswer<'_>> = known
        .into_iter()
        .filter(|a| a.category != UNANSWERABLE_CATEGORY)
        .collect();
    let mut rows = vec![score_category("all", &counted)];
    if categories.len() > 1 {
        rows.extend(
            categories
                .iter()
                .map(|(name, answers)| score_category(name, answers)),
        );
    }
    rows
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no set has so many queries that it would show"
)]
fn score_category(category: &str, answers: &[&BenchAnswer<'_>]) -> BenchResult {
    let mean = |of: &dyn Fn(&BenchAnswer<'_>) -> f64| {
        answers.iter().map(|a| of(a)).sum::<f64>() / answers.len().max(1) as f64
    };
    let mut times: Vec<f64> = answers.iter().map(|a| a.ms).collect();
    times.sort_by(f64::total_cmp);
    let part = |hundredths: usize| {
        let at = times.len() * hundredths / 100;
        times.get(at).copied().unwrap_or_default()
    };
    BenchResult {
        category: category.to_owned(),
        queries: answers.len(),
        recall5: mean(&|a| compute_recall(a, 5)),
        recall10: mean(&|a| compute_recall(a, 10)),
        ndcg10: mean(&compute_ndcg),
        mrr10: mean(&compute_reciprocal_rank),
        p50: part(50),
        p95: part(95),
    }
}

/// For every result, in order and each once, whether it is right.
fn mark_relevant(answer: &BenchAnswer<'_>) -> Vec<bool> {
    let mut seen = HashSet::new();
    let mut results = answer.results.iter().filter(|r| seen.insert(r.as_str()));
    results
        .by_ref()
        .map(|result| answer.relevant.contains(result))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn compute_recall(answer: &BenchAnswer<'_>, among: usize) -> f64 {
    let wanted: HashSet<&String> = answer.relevant.iter().collect();
    let found = mark_relevant(answer)
        .iter()
        .take(among)
        .filter(|r| **r)
        .count();
    found as f64 / wanted.len().max(1) as f64
}

/// What the right ones among the first ten are worth at their places, of what
/// they could be worth.
fn compute_ndcg(answer: &BenchAnswer<'_>) -> f64 {
    let worth = |place: u32| 1.0 / f64::from(place + 2).log2();
    let wanted: HashSet<&String> = answer.relevant.iter().collect();
    let found: f64 = (0..10)
        .zip(mark_relevant(answer))
        .filter(|(_, right)| *right)
        .map(|(place, _)| worth(place))
        .sum();
    let best: f64 = (0..10).zip(&wanted).map(|(place, _)| worth(place)).sum();
    if best > 0.0 { found / best } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "at most ten")]
fn compute_reciprocal_rank(answer: &BenchAnswer<'_>) -> f64 {
    let first = mark_relevant(answer)
        .iter()
        .take(10)
        .position(|right| *right);
    first.map_or(0.0, |at| 1.0 / (at + 1) as f64)
}

impl BenchResult {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "category": self.category,
            "queries": self.queries,
            "recall5": self.recall5,
            "recall10": self.recall10,
            "ndcg10": self.ndcg10,
            "mrr10": self.mrr10,
            "p50_ms": self.p50,
            "p95_ms": self.p95,
        })
    }

    /// In per cent, for people; named by its category, or as `name` says.
    pub(super) fn format_line(&self, name: Option<&str>) -> String {
        format!(
            "{:<28} {:>6} {:>8.2} {:>9.2} {:>7.2} {:>7.2} {:>7.2} {:>7.2}",
            name.unwrap_or(&self.category),
            self.queries,
            self.recall5 * 100.0,
            self.recall10 * 100.0,
            self.ndcg10 * 100.0,
            self.mrr10 * 100.0,
            self.p50,
            self.p95
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_count_each_result_once_and_leave_out_what_has_no_answer() {
        let two = ["a".to_owned(), "b".to_owned()];
        let none = ["z".to_owned()];
        let answer = |category, relevant, results: &[&str], ms| BenchAnswer {
            id: "q",
            category,
            relevant,
            results: results.iter().map(|r| (*r).to_owned()).collect(),
            ms,
        };
        let filler = ["x", "a", "a", "y", "x", "1", "2", "b", "3", "4", "5", "6"];
        let answers = [
            answer("one", &two[..], &filler, 2.0),
            answer("one", &two[..], &["b", "a"], 4.0),
            answer(UNANSWERABLE_CATEGORY, &none[..], &[], 9.0),
            answer("one", &[][..], &["a"], 9.0),
        ];
        let rows = score_answers(&answers);
        let names: Vec<&str> = rows.iter().map(|r| r.category.as_str()).collect();
        assert_eq!(names, ["all", UNANSWERABLE_CATEGORY, "one"]);
        // The first has its two right ones at places 2 and 6, the second at 1
        // and 2.
        let best = 1.0 + 1.0 / 3.0_f64.log2();
        let first = (1.0 / 3.0_f64.log2() + 1.0 / 7.0_f64.log2()) / best;
        assert_eq!(
            rows[0],
            BenchResult {
                category: "all".to_owned(),
                queries: 2,
                recall5: 0.75,
                recall10: 1.0,
                ndcg10: f64::midpoint(first, 1.0),
                mrr10: 0.75,
                p50: 4.0,
                p95: 4.0,
            }
        );
    }
}
