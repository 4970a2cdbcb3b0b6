//! Relevance: the probability that a candidate is useful for a prompt, by a
//! logistic regression over what the search knows of it. The weights are data,
//! fitted by `scripts/fit_relevance.py` on labelled sets; `docs/benchmarks.md` has
//! the figures. There are two sets: with the encoder's similarity, and without.

use std::sync::LazyLock;

use remora_core::record::{Item, Kind};

use super::intent::PromptIntent;
use super::prompt_search::is_rule;
use super::subject::{asks_about_own, is_chore, is_private};
use super::supersession::is_stated;
use crate::sentence::is_wide;
use crate::store::Hit;

/// About the weight of a word that occurs in one item of a medium-sized project.
const RARE_IDF: f64 = 6.0;
/// The similarity of two unrelated items, by static embeddings.
const STATIC_NOISE: f64 = 0.35;
/// The same by the encoder.
const ENCODER_NOISE: f64 = 0.15;

/// The probability from which a candidate is injected, with the encoder's
/// similarity and without: words alone overestimate it. Chosen by leaving out one
/// project at a time.
const MIN_PROBABILITY_WITH_ENCODER: f64 = 0.44;
const MIN_PROBABILITY_BY_WORDS: f64 = 0.45;

/// The share of it that is enough for a question about the past, or about what users
/// do in their project: who asks one wants an answer, and in one of a hundred
/// labelled cases silence was right.
const MIN_SHARE_FOR_QUESTION: f64 = 0.75;

/// The probability from which a candidate is injected at this prompt.
pub(super) fn least_probability(prompt: &str, has_embedding: bool, intent: PromptIntent) -> f64 {
    let least = if has_embedding && can_encode(prompt) {
        MIN_PROBABILITY_WITH_ENCODER
    } else {
        MIN_PROBABILITY_BY_WORDS
    };
    if is_question(prompt, intent) {
        MIN_SHARE_FOR_QUESTION * least
    } else {
        least
    }
}

/// Whether the prompt asks about the past, or about what users do in their project.
pub(super) fn is_question(prompt: &str, intent: PromptIntent) -> bool {
    intent == PromptIntent::Past || asks_about_own(prompt)
}

/// Verbs of nearly every statement: sharing one with a prompt means nothing.
const COMMON_VERBS: &[&str] = &[
    "add", "added", "adding", "choose", "chose", "chosen", "decide", "decided", "get", "gets",
    "getting", "got", "make", "makes", "making", "made", "set", "sets", "setting", "use", "used",
    "uses", "using",
];

/// Whether the folded word is one that too many items contain.
pub(super) fn is_common(term: &str) -> bool {
    COMMON_VERBS.contains(&term)
}

/// The features by name. `compute_features` fills them in this order, and
/// `relevance.tsv` names them; add new ones at both places and fit again.
const FEATURE_NAMES: [&str; 26] = [
    "share",
    "share_asked",
    "share_said",
    "share_stated",
    "share_lead",
    "rare",
    "static",
    "static_asked",
    "static_said",
    "encoder",
    "encoder_asked",
    "encoder_said",
    "encoder_stated",
    "encoder_lead",
    "stated",
    "memory",
    "deed",
    "past",
    "mend",
    "both",
    "words",
    "meaning",
    "score_lead",
    "first",
    "private",
    "chore",
];

/// The features of a candidate, each from 0 to about 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RelevanceFeatures([f64; FEATURE_NAMES.len()]);

impl RelevanceFeatures {
    /// By name, for `remora context`.
    pub(super) fn by_name(&self) -> Vec<(&'static str, f64)> {
        FEATURE_NAMES.into_iter().zip(self.0).collect()
    }
}

/// The weights: the bias, and one per feature.
#[derive(Debug, Default)]
struct RelevanceWeights {
    bias: f64,
    each: [f64; FEATURE_NAMES.len()],
}

#[derive(Debug, Default)]
struct RelevanceModel {
    full: RelevanceWeights,
    fast: RelevanceWeights,
}

/// Each line has a name and its weight with and without the encoder.
static RELEVANCE_MODEL: LazyLock<RelevanceModel> =
    LazyLock::new(|| read_model(include_str!("relevance.tsv")));

fn read_model(text: &str) -> RelevanceModel {
    let mut model = RelevanceModel::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (Some(name), Some(full), Some(fast)) = (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        let full: f64 = full.parse().unwrap_or(0.0);
        let fast: f64 = fast.parse().unwrap_or(0.0);
        if name == "bias" {
            model.full.bias = full;
            model.fast.bias = fast;
        } else if let Some(at) = FEATURE_NAMES.iter().position(|known| *known == name) {
            model.full.each[at] = full;
            model.fast.each[at] = fast;
        }
    }
    model
}

/// What kind of prompt it is, whatever was found.
#[derive(Debug)]
struct PromptTraits {
    is_private: bool,
    is_chore: bool,
}

/// What all hits of one search have in common: the best values, against which
/// each candidate is measured.
#[derive(Debug)]
pub(super) struct Relevance {
    intent: PromptIntent,
    best_share: f64,
    best_encoder: f64,
    best_score: f64,
    has_encoder: bool,
    prompt: PromptTraits,
}

impl Relevance {
    pub(super) fn of_search(hits: &[Hit], intent: PromptIntent, prompt: &str) -> Self {
        let most = |of: fn(&Hit) -> f64| hits.iter().map(of).fold(0.0, f64::max);
        let items = || hits.iter().map(|hit| &hit.item);
        let texts = items().flat_map(|item| [item.title.as_str(), item.text.as_str()]);
        let texts: Vec<&str> = texts.collect();
        Self {
            prompt: PromptTraits {
                is_private: is_private(prompt, &texts),
                is_chore: is_chore(prompt),
            },
            intent,
            best_share: most(|hit| hit.fit.share),
            best_encoder: most(encoder_similarity),
            best_score: most(|hit| hit.score),
            has_encoder: can_encode(prompt) && hits.iter().any(|hit| hit.fit.meaning.is_some()),
        }
    }

    pub(super) fn compute_features(&self, hits: &[Hit]) -> RelevanceFeatures {
        let most = |of: &dyn Fn(&Hit) -> f64, is: &dyn Fn(&Item) -> bool| {
            let of_kind = hits.iter().filter(|hit| is(&hit.item)).map(of);
            of_kind.fold(0.0, f64::max)
        };
        let any = |_: &Item| true;
        // A saved memory is both question and answer: it stands alone, without a turn.
        let asked =
            |item: &Item| matches!(item.kind, Kind::Prompt | Kind::Memory) || is_stated(item.kind);
        let said = |item: &Item| matches!(item.kind, Kind::Summary | Kind::Memory | Kind::Commit);
        let stated = |item: &Item| is_rule(item.kind);
        let share = |hit: &Hit| hit.fit.share;
        let encoder = |hit: &Hit| {
            if self.has_encoder {
                encoder_similarity(hit)
            } else {
                0.0
            }
        };
        let meaning = |hit: &Hit| {
            if self.has_encoder {
                hit.parts.meaning.min(2.0)
            } else {
                0.0
            }
        };
        let flag = |is: bool| f64::from(u8::from(is));
        let has = |is: &dyn Fn(&Item) -> bool| hits.iter().any(|hit| is(&hit.item));
        let beside = |value: f64, best: f64| if best > 0.0 { value / best } else { 0.0 };
        let word = |item: &Item| asked(item) || said(item) || stated(item);
        RelevanceFeatures([
            most(&share, &any),
            most(&share, &asked),
            most(&share, &said),
            most(&share, &stated),
            beside(most(&share, &any), self.best_share),
            most(&|hit| (hit.fit.weight / (3.0 * RARE_IDF)).min(1.0), &any),
            most(&static_similarity, &any),
            most(&static_similarity, &asked),
            most(&static_similarity, &said),
            most(&encoder, &any),
            most(&encoder, &asked),
            most(&encoder, &said),
            most(&encoder, &stated),
            beside(most(&encoder, &any), self.best_encoder),
            flag(has(&|item| is_stated(item.kind))),
            flag(has(&|item| item.kind == Kind::Memory)),
            flag(!has(&word)),
            flag(self.intent == PromptIntent::Past),
            flag(self.intent == PromptIntent::Mend),
            flag(has(&asked) && has(&said)),
            most(&|hit| hit.parts.words, &any),
            most(&meaning, &any),
            beside(most(&|hit| hit.score, &any), self.best_score),
            flag(most(&|hit| hit.score, &any) >= self.best_score),
            flag(self.prompt.is_private),
            flag(self.prompt.is_chore),
        ])
    }

    pub(super) fn predict_probability(&self, features: &RelevanceFeatures) -> f64 {
        let weights = if self.has_encoder {
            &RELEVANCE_MODEL.full
        } else {
            &RELEVANCE_MODEL.fast
        };
        let each = weights.each.iter().zip(features.0);
        let sum = weights.bias + each.map(|(weight, value)| weight * value).sum::<f64>();
        1.0 / (1.0 + (-sum).exp())
    }
}

/// Whether the encoder can read the prompt: it was trained on English and knows
/// next to nothing of scripts without spaces.
fn can_encode(prompt: &str) -> bool {
    let wide = prompt.chars().filter(|c| is_wide(*c)).count();
    wide * 5 < prompt.chars().filter(|c| c.is_alphabetic()).count()
}

fn static_similarity(hit: &Hit) -> f64 {
    (f64::from(hit.fit.gist) - STATIC_NOISE).max(0.0) / (1.0 - STATIC_NOISE)
}

fn encoder_similarity(hit: &Hit) -> f64 {
    let likeness = f64::from(hit.fit.meaning.unwrap_or(0.0));
    (likeness - ENCODER_NOISE).max(0.0) / (1.0 - ENCODER_NOISE)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::rank::{MatchStrength, ScoreParts};
    use crate::testing::item;

    /// A prompt's hit that holds this many of the query's four words.
    fn hit(uid: &str, words: u32, meaning: Option<f32>) -> Hit {
        let share = f64::from(words) / 4.0;
        Hit {
            item: Item {
                kind: Kind::Prompt,
                ..item(uid, "a title")
            },
            score: share,
            all_words: words == 4,
            any_words: words > 0,
            parts: ScoreParts {
                words: share,
                meaning: meaning.map_or(0.0, f64::from),
                ..ScoreParts::default()
            },
            fit: MatchStrength {
                share,
                weight: f64::from(words) * RARE_IDF,
                gist: 0.4,
                meaning,
            },
            same: Vec::new(),
        }
    }

    fn probabilities(hits: &[Hit], prompt: &str) -> Vec<f64> {
        let relevance = Relevance::of_search(hits, PromptIntent::New, prompt);
        let of = |hit: &Hit| {
            relevance.predict_probability(&relevance.compute_features(std::slice::from_ref(hit)))
        };
        hits.iter().map(of).collect()
    }

    #[test]
    fn more_rare_words_in_common_are_more_probable() {
        for meaning in [None, Some(0.3)] {
            let hits: Vec<Hit> = (0..=4).map(|words| hit("a", words, meaning)).collect();
            let prompt = "retry the webhook with backoff";
            let found = probabilities(&hits, prompt);
            assert!(found.is_sorted_by(|a, b| a < b), "{found:?}");
            // A row with all of them is injected, one with none is far from it.
            let least = least_probability(prompt, meaning.is_some(), PromptIntent::New);
            assert!(found[0] < least / 4.0 && found[4] > least, "{found:?}");
        }
    }

    #[test]
    fn nearness_counts_where_the_encoder_reads_the_script() {
        let hits = [hit("a", 2, Some(0.2)), hit("b", 2, Some(0.9))];
        let latin = probabilities(&hits, "retry the webhook with backoff");
        assert!(latin[1] > latin[0] + 0.2, "{latin:?}");
        // As if there were no embedding at all.
        let wide = probabilities(&hits, "给 webhook 加上重试和退避");
        let bare = probabilities(&[hit("a", 2, None), hit("b", 2, None)], "webhook");
        assert_eq!(wide, bare);
    }

    #[test]
    fn every_feature_has_its_weights() {
        let text = include_str!("relevance.tsv");
        let named = |name: &&&str| {
            text.lines()
                .any(|line| line.starts_with(&format!("{name}\t")))
        };
        assert_eq!(
            FEATURE_NAMES.iter().filter(named).count(),
            FEATURE_NAMES.len()
        );
        assert!(named(&&"bias"));
        assert!(RELEVANCE_MODEL.full.bias < 0.0 && RELEVANCE_MODEL.fast.bias < 0.0);
    }
}
