//! Ranking: what counts, and how much, in one table. Pure: a store finds
//! candidates and says what it knows of each; this computes which is best and the
//! parts of its score. Each part was measured: `docs/benchmarks.md`.

use remora_core::record::Kind;

/// How much each part counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights {
    /// BM25's `k1`: how fast further occurrences of a word stop counting.
    pub k1: f64,
    /// BM25's `b`: how much the length of an item counts.
    pub b: f64,
    /// What a word in the neighbours counts, in the nearer and in the farther
    /// ones, relative to one of the item's own.
    pub beside: [f64; 2],
    /// How much less words count when the twentieth item contains them as well as
    /// the first: then they tell the items apart badly.
    pub flat: f64,
    /// Having all words of a short query, which is words to find, not a question.
    pub whole: f64,
    /// The similarity of static embeddings.
    pub gist: f64,
    /// The encoder's similarity: the square of its deviations above the mean.
    pub meaning: f64,
    /// The deviations of the item before or after.
    pub meaning_beside: f64,
    /// The user said it.
    pub user: f64,
    /// The query names the speaker.
    pub named: f64,
    /// From a day that the query names.
    pub dated: f64,
    /// Decisions, fixes and other kinds that were stored on purpose.
    pub kept: f64,
    /// Of a kind that the query asks for.
    pub favoured: f64,
}

/// The weights of every search, whatever its tier, so that what one place shows
/// another finds. Chosen on the dev halves of public sets (docs/design/0013).
pub const RANK_WEIGHTS: RankWeights = RankWeights {
    k1: 1.2,
    b: 0.75,
    beside: [0.5, 0.25],
    flat: 0.6,
    whole: 1.0,
    gist: 0.6,
    meaning: 0.045,
    meaning_beside: 0.05,
    user: 0.35,
    named: 0.4,
    dated: 0.5,
    kept: 0.4,
    favoured: 0.3,
};

/// One word of the query in one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermWeight {
    /// How much the word counts.
    pub idf: f64,
    /// Its weight in the item and its neighbours; see [`RankWeights::normalise_weight`].
    pub weight: f64,
}

impl RankWeights {
    /// The weight of a word in an item of this length, normalised by the average
    /// length.
    pub fn normalise_weight(&self, weight: f64, length: f64, average: f64) -> f64 {
        weight / (1.0 - self.b + self.b * length / average.max(1.0))
    }

    /// The BM25 score of an item.
    pub fn score_terms(&self, held: impl IntoIterator<Item = TermWeight>) -> f64 {
        held.into_iter()
            .map(|word| word.idf * word.weight * (self.k1 + 1.0) / (word.weight + self.k1))
            .sum()
    }
}

/// Which words of a query an item itself contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermCoverage {
    /// Not one.
    None,
    /// At least one.
    Some,
    /// Every one.
    All,
}

/// The weight of a word that so many of the items contain. Never negative: the
/// count is an estimate and may exceed the number of items.
pub fn inverse_frequency(rows: f64, count: f64) -> f64 {
    (1.0 + (rows - count + 0.5).max(0.5) / (count + 0.5)).ln()
}

/// A match strength must be comparable between stores, so one of a store with few
/// items is computed as if it had this many: a word is not common because the only
/// session contains it.
pub const MIN_MATCH_STRENGTH_ITEMS: f64 = 200.0;

/// How well an item matches a query, whatever other items there are. Recall's
/// thresholds are on this scale; a score is comparable only within one search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MatchStrength {
    /// The share of the query's words that the item itself contains, by weight.
    pub share: f64,
    /// The weight of the words it contains.
    pub weight: f64,
    /// The cosine of their static embeddings.
    pub gist: f32,
    /// The cosine of their embeddings; `None` if the query has none or the item
    /// has none yet.
    pub meaning: Option<f32>,
}

/// What a store knows of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankInput {
    /// The score of the words; see [`RankWeights::score_terms`].
    pub words: f64,
    /// Which of the words it contains itself.
    pub holds: TermCoverage,
    /// The match strength by words; the similarities are filled in later.
    pub fit: MatchStrength,
    /// The cosine of the static embeddings, if known.
    pub gist: Option<f32>,
    /// The cosine of the encoder's embeddings, if known.
    pub likeness: Option<f32>,
    /// How many deviations that is above other items.
    pub meaning: Option<f64>,
    /// The same of the item before or after, whichever is more.
    pub meaning_beside: Option<f64>,
    /// Its kind.
    pub kind: Kind,
    /// Whether the query asks for this kind.
    pub favoured: bool,
    /// Whether the user said it.
    pub user: bool,
    /// Whether the query names the speaker.
    pub named: bool,
    /// How well its time fits a day that the query names.
    pub dated: f64,
}

/// What a score is made of; the parts add up to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreParts {
    /// Words of the item and of its neighbours.
    pub words: f64,
    /// It has all words of a short query.
    pub whole: f64,
    /// The similarity of static embeddings.
    pub gist: f64,
    /// The encoder's similarity of the item and its neighbours.
    pub meaning: f64,
    /// The user said it.
    pub user: f64,
    /// The query names the speaker.
    pub named: f64,
    /// The query names its day.
    pub dated: f64,
    /// Its kind is stored on purpose, or the query asks for it.
    pub kept: f64,
}

impl ScoreParts {
    /// The sum.
    pub fn score(&self) -> f64 {
        self.by_name().iter().map(|(_, part)| part).sum()
    }

    /// The parts by name, in a fixed order.
    pub fn by_name(&self) -> [(&'static str, f64); 8] {
        [
            ("words", self.words),
            ("whole", self.whole),
            ("gist", self.gist),
            ("meaning", self.meaning),
            ("person", self.user),
            ("named", self.named),
            ("dated", self.dated),
            ("kept", self.kept),
        ]
    }
}

/// The rank, from zero, at which it shows whether the words tell items apart.
const FLATNESS_RANK_INDEX: usize = 19;

/// How many words a short query has at most.
const MAX_KEYWORD_QUERY_WORDS: usize = 3;
/// What an item must reach that contains no word of a short query: deviations
/// above other items, and similarity.
const MIN_OUTLIER_DEVIATIONS: f64 = 2.0;
const MIN_KEYWORD_SIMILARITY: f32 = 0.25;
/// The similarity that an item must reach for a query of unknown words: strings of
/// random letters stay below it, and words such as `bicyclist` reach it where items
/// are about them.
const MIN_FRAGMENT_SIMILARITY: f32 = 0.34;

/// What a query is, by its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryForm {
    /// A few words to find.
    Words,
    /// A question.
    Question,
}

impl QueryForm {
    /// The form of a query as it was typed.
    pub fn from_text(text: &str) -> Self {
        match text.split_whitespace().nth(MAX_KEYWORD_QUERY_WORDS) {
            None => Self::Words,
            Some(_) => Self::Question,
        }
    }
}

/// Whether the index or the model knows the words of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// Some word of it is in the index, or is a word that the model knows.
    Known,
    /// No word of it is in the index, and the model knows only fragments of each:
    /// an unknown name, or gibberish.
    Unknown,
}

/// Whether an item is an answer to the query. A few words are words to find: an
/// item without any of them must be similar itself, and being a neighbour of one
/// that has them is not enough. Something is always nearest to fragments, so for
/// unknown words only a high similarity counts, however long the query is.
pub fn is_answer(length: QueryForm, wording: Vocabulary, row: &RankInput) -> bool {
    if row.holds != TermCoverage::None {
        return true;
    }
    let is_alike = |least: f32| row.likeness.is_some_and(|likeness| likeness >= least);
    let stands_out = row.meaning.is_some_and(|far| far >= MIN_OUTLIER_DEVIATIONS);
    match (wording, length) {
        (Vocabulary::Unknown, _) => is_alike(MIN_FRAGMENT_SIMILARITY),
        (Vocabulary::Known, QueryForm::Question) => true,
        (Vocabulary::Known, QueryForm::Words) => is_alike(MIN_KEYWORD_SIMILARITY) && stands_out,
    }
}

/// The score parts of these items. Words count relative to the best item of the
/// search, which has the full weight: BM25 has no scale of its own.
pub fn fuse_scores(
    weights: &RankWeights,
    length: QueryForm,
    rows: &[RankInput],
) -> Vec<ScoreParts> {
    let mut words: Vec<f64> = rows.iter().map(|row| row.words).collect();
    words.sort_unstable_by(|a, b| b.total_cmp(a));
    let most = words.first().copied().unwrap_or(0.0);
    let share = |words: f64| if most > 0.0 { words / most } else { 0.0 };
    let twentieth = share(words.get(FLATNESS_RANK_INDEX).copied().unwrap_or(0.0));
    // If the twentieth item is as good as the first, the words are common to all.
    let worth = 1.0 - weights.flat * twentieth;
    let flag = |is: bool| f64::from(u8::from(is));
    rows.iter()
        .map(|row| ScoreParts {
            words: worth * share(row.words),
            whole: weights.whole
                * flag(length == QueryForm::Words && row.holds == TermCoverage::All),
            gist: weights.gist * row.gist.map_or(0.0, f64::from),
            // Squared, so that the few items that stand out count and the many slightly
            // similar ones do not; below the mean nothing is taken away.
            meaning: weights.meaning * row.meaning.map_or(0.0, |far| far.max(0.0).powi(2))
                + weights.meaning_beside * row.meaning_beside.map_or(0.0, |far| far.max(0.0)),
            user: weights.user * flag(row.user),
            named: weights.named * flag(row.named),
            dated: weights.dated * row.dated,
            kept: weights.kept * flag(is_kept(row.kind)) + weights.favoured * flag(row.favoured),
        })
        .collect()
}

/// Kinds that were decided, learned or fixed, as opposed to what merely happened.
fn is_kept(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Decision | Kind::Preference | Kind::Correction | Kind::Fix | Kind::Memory
    )
}
