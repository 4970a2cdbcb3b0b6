//! The figures: recall among the first 5 and 10, the reciprocal rank of the
//! first right result among the first 10, and times.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

/// Questions that have no answer in the corpus; told apart, not counted in.
const APART: &str = "adversarial";

/// What was found for a query.
pub(super) struct Answer<'a> {
    pub(super) id: &'a str,
    pub(super) category: &'a str,
    pub(super) relevant: &'a [String],
    pub(super) results: Vec<String>,
    pub(super) ms: f64,
}

/// The figures of one category, or of all.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    category: String,
    queries: usize,
    recall5: f64,
    recall10: f64,
    mrr10: f64,
    p50: f64,
    p95: f64,
}

/// One row for all queries, then one a category.
pub(super) fn table(answers: &[Answer<'_>]) -> Vec<Row> {
    let known: Vec<&Answer<'_>> = answers.iter().filter(|a| !a.relevant.is_empty()).collect();
    let mut categories: BTreeMap<&str, Vec<&Answer<'_>>> = BTreeMap::new();
    for answer in &known {
        categories.entry(answer.category).or_default().push(answer);
    }
    let counted: Vec<&Answer<'_>> = known.into_iter().filter(|a| a.category != APART).collect();
    let mut rows = vec![row("all", &counted)];
    if categories.len() > 1 {
        rows.extend(categories.iter().map(|(name, answers)| row(name, answers)));
    }
    rows
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no set has so many queries that it would show"
)]
fn row(category: &str, answers: &[&Answer<'_>]) -> Row {
    let mean = |of: &dyn Fn(&Answer<'_>) -> f64| {
        answers.iter().map(|a| of(a)).sum::<f64>() / answers.len().max(1) as f64
    };
    let mut times: Vec<f64> = answers.iter().map(|a| a.ms).collect();
    times.sort_by(f64::total_cmp);
    let part = |hundredths: usize| {
        let at = times.len() * hundredths / 100;
        times.get(at).copied().unwrap_or_default()
    };
    Row {
        category: category.to_owned(),
        queries: answers.len(),
        recall5: mean(&|a| recall(a, 5)),
        recall10: mean(&|a| recall(a, 10)),
        mrr10: mean(&reciprocal),
        p50: part(50),
        p95: part(95),
    }
}

/// For every result, in order and each once, whether it is right.
fn right(answer: &Answer<'_>) -> Vec<bool> {
    let mut seen = HashSet::new();
    let mut results = answer.results.iter().filter(|r| seen.insert(r.as_str()));
    results
        .by_ref()
        .map(|result| answer.relevant.contains(result))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn recall(answer: &Answer<'_>, among: usize) -> f64 {
    let wanted: HashSet<&String> = answer.relevant.iter().collect();
    let found = right(answer).iter().take(among).filter(|r| **r).count();
    found as f64 / wanted.len().max(1) as f64
}

#[expect(clippy::cast_precision_loss, reason = "at most ten")]
fn reciprocal(answer: &Answer<'_>) -> f64 {
    let first = right(answer).iter().take(10).position(|right| *right);
    first.map_or(0.0, |at| 1.0 / (at + 1) as f64)
}

impl Row {
    pub(super) fn json(&self) -> Value {
        json!({
            "category": self.category,
            "queries": self.queries,
            "recall5": self.recall5,
            "recall10": self.recall10,
            "mrr10": self.mrr10,
            "p50_ms": self.p50,
            "p95_ms": self.p95,
        })
    }

    /// In per cent, for people.
    pub(super) fn line(&self) -> String {
        format!(
            "{:<28} {:>6} {:>8.2} {:>9.2} {:>7.2} {:>7.2} {:>7.2}",
            self.category,
            self.queries,
            self.recall5 * 100.0,
            self.recall10 * 100.0,
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
        let answer = |category, relevant, results: &[&str], ms| Answer {
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
            answer(APART, &none[..], &[], 9.0),
            answer("one", &[][..], &["a"], 9.0),
        ];
        let rows = table(&answers);
        let names: Vec<&str> = rows.iter().map(|r| r.category.as_str()).collect();
        assert_eq!(names, ["all", APART, "one"]);
        assert_eq!(
            rows[0],
            Row {
                category: "all".to_owned(),
                queries: 2,
                recall5: 0.75,
                recall10: 1.0,
                mrr10: 0.75,
                p50: 4.0,
                p95: 4.0,
            }
        );
    }
}
