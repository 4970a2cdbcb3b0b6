//! How hits are ranked: what counts, and how much, in one table. Pure: a store
//! finds candidates and says what it knows of each; this says which is best and
//! what its score is made of. Each part was measured: `docs/benchmarks.md`.

use remora_core::record::Kind;

/// How much each part counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights {
    /// How fast more of the same word stops to count.
    pub k1: f64,
    /// How much the length of a row counts.
    pub b: f64,
    /// What a word counts that stands in the row before or after, and in the
    /// one beyond it, beside one of the row's own.
    pub beside: [f64; 2],
    /// How much less words count when the twentieth row holds them as well as
    /// the first.
    pub flat: f64,
    /// Having all words of a short query, which is words to find, not a question.
    pub whole: f64,
    /// The static table's likeness.
    pub gist: f64,
    /// The model's likeness: the square of how far it stands out.
    pub meaning: f64,
    /// How far the row before or after stands out.
    pub meaning_beside: f64,
    /// What a person said.
    pub person: f64,
    /// Said by somebody whom the query names.
    pub named: f64,
    /// From a day that the query names.
    pub dated: f64,
    /// Decisions, fixes and what else is kept on purpose.
    pub kept: f64,
    /// Of a kind that the query asks for.
    pub favoured: f64,
}

/// The weights of every search.
pub const RANK_WEIGHTS: RankWeights = RankWeights {
    k1: 1.2,
    b: 0.75,
    beside: [0.5, 0.25],
    flat: 0.6,
    whole: 1.0,
    gist: 0.6,
    meaning: 0.045,
    meaning_beside: 0.05,
    person: 0.35,
    named: 0.4,
    dated: 0.5,
    kept: 0.4,
    favoured: 0.3,
};

/// One word of the query in one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TermWeight {
    /// How much the word counts.
    pub idf: f64,
    /// How much it weighs in the row and beside it; see [`RankWeights::normalise_weight`].
    pub weight: f64,
}

impl RankWeights {
    /// What a word counts in a row of this length, where rows are `average`
    /// long, if it weighs this much there.
    pub fn normalise_weight(&self, weight: f64, length: f64, average: f64) -> f64 {
        weight / (1.0 - self.b + self.b * length / average.max(1.0))
    }

    /// How well words fit a row.
    pub fn score_terms(&self, held: impl IntoIterator<Item = TermWeight>) -> f64 {
        held.into_iter()
            .map(|word| word.idf * word.weight * (self.k1 + 1.0) / (word.weight + self.k1))
            .sum()
    }
}

/// Which words of a query a row holds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermCoverage {
    /// Not one.
    None,
    /// At least one.
    Some,
    /// Every one.
    All,
}

/// How much a word counts that so many of the rows hold.
pub fn inverse_frequency(rows: f64, count: f64) -> f64 {
    (1.0 + (rows - count + 0.5).max(0.5) / (count + 0.5)).ln()
}

/// A fit is comparable between stores, so that of a store with a few rows is
/// taken as if it had this many: a word is not common because the only session
/// there is holds it.
pub const MIN_MATCH_STRENGTH_ITEMS: f64 = 200.0;

/// How well a row fits a query, whatever other rows there are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MatchStrength {
    /// The share of the query's words that the row holds itself, by how much
    /// each counts.
    pub share: f64,
    /// How much the words count that it holds.
    pub weight: f64,
    /// How alike they are by the static table, from -1 to 1.
    pub gist: f32,
    /// How alike they are by the encoder, from -1 to 1; `None` when the query
    /// has no embedding or the row has none yet.
    pub meaning: Option<f32>,
}

/// What a store knows of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankInput {
    /// How well the words fit; see [`RankWeights::score_terms`].
    pub words: f64,
    /// Which of the words it holds itself.
    pub holds: TermCoverage,
    /// How well they fit on their own; the gist comes later.
    pub fit: MatchStrength,
    /// The static table's likeness, if it is known.
    pub gist: Option<f32>,
    /// The model's likeness, if it is known.
    pub likeness: Option<f32>,
    /// How many deviations that is above other rows.
    pub meaning: Option<f64>,
    /// The same of the row before or after, whichever is more.
    pub meaning_beside: Option<f64>,
    /// What it is.
    pub kind: Kind,
    /// Whether the query asks for this kind.
    pub favoured: bool,
    /// Whether a person said it.
    pub person: bool,
    /// Whether the query names who said it.
    pub named: bool,
    /// How well it fits a day that the query names.
    pub dated: f64,
}

/// What a score is made of; the parts add up to it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreParts {
    /// Words of the row and of the rows beside it.
    pub words: f64,
    /// It has all words of a short query.
    pub whole: f64,
    /// What it is about, by the static table.
    pub gist: f64,
    /// What it and the rows beside it mean, by the model.
    pub meaning: f64,
    /// A person said it.
    pub person: f64,
    /// The query names who said it.
    pub named: f64,
    /// The query names when it was.
    pub dated: f64,
    /// It is of a kind that is kept on purpose, or that the query asks for.
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
            ("person", self.person),
            ("named", self.named),
            ("dated", self.dated),
            ("kept", self.kept),
        ]
    }
}

/// The row by which it is seen whether words tell rows apart.
const FLATNESS_RANK_INDEX: usize = 19;

/// How many words a short query has at most.
const MAX_KEYWORD_QUERY_WORDS: usize = 3;
/// How many deviations above other rows one must be that holds no word of a
/// short query, and how alike.
const MIN_OUTLIER_DEVIATIONS: f64 = 2.0;
const MIN_KEYWORD_SIMILARITY: f32 = 0.25;
/// How alike a row must be to a query of fragments: strings of random letters
/// stay below it, and words such as `bicyclist` reach it where rows are about
/// them.
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
    /// Of a query as it was typed.
    pub fn from_text(text: &str) -> Self {
        match text.split_whitespace().nth(MAX_KEYWORD_QUERY_WORDS) {
            None => Self::Words,
            Some(_) => Self::Question,
        }
    }
}

/// Whether anybody knows what a query is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// Some word of it is in the index, or is a word that the model knows.
    Known,
    /// No word of it is in the index, and the model only knows fragments of
    /// each: a name that it never met, or gibberish.
    Unknown,
}

/// Whether a row is an answer to the query. A few words are words to find: a
/// row that holds none of them must mean the like, and standing beside one that
/// does is not enough. Something is always nearest to fragments, so for words
/// that nobody knows only a close likeness counts, however long the query is.
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

/// What the scores of these rows are made of, for a short query or another one.
/// Words are compared within the search: the row they fit best has all of them.
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
    let worth = 1.0 - weights.flat * twentieth;
    let flag = |is: bool| f64::from(u8::from(is));
    rows.iter()
        .map(|row| ScoreParts {
            words: worth * share(row.words),
            whole: weights.whole
                * flag(length == QueryForm::Words && row.holds == TermCoverage::All),
            gist: weights.gist * row.gist.map_or(0.0, f64::from),
            meaning: weights.meaning * row.meaning.map_or(0.0, |far| far.max(0.0).powi(2))
                + weights.meaning_beside * row.meaning_beside.map_or(0.0, |far| far.max(0.0)),
            person: weights.person * flag(row.person),
            named: weights.named * flag(row.named),
            dated: weights.dated * row.dated,
            kept: weights.kept * flag(is_kept(row.kind)) + weights.favoured * flag(row.favoured),
        })
        .collect()
}

/// What was decided, learned or mended, against what merely happened.
fn is_kept(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Decision | Kind::Preference | Kind::Correction | Kind::Fix | Kind::Memory
    )
}
