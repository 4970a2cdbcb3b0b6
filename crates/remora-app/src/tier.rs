//! Which tier of search answers: words and the static table alone, or also the
//! model. A model that is off, missing or broken is never an error: the fast
//! tier answers and says why.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use remora_client::{bounded_text, request_embedding};
use remora_embed::{EmbedError, Embedding, EncoderSource, LazyEncoder, MODEL_ID};
use remora_memory::store::{Store, StoreError, StoreStats};
use remora_memory::words::Query;

use serde::Serialize;

use crate::app::App;
use crate::config::Config;
use crate::recall_environment::embedding_of;

/// How long a preview waits for the worker's embedding: it shows what a hook
/// gets on a machine that is not busy with it.
const PREVIEW_BUDGET: Duration = Duration::from_millis(200);

/// How thorough a search is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchTier {
    /// Words and what items are about; nothing to load.
    Fast,
    /// Also the embeddings of the encoder.
    #[default]
    Full,
}

impl SearchTier {
    /// Its name in requests and responses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Full => "full",
        }
    }
}

/// The query as the tier asks it, and why it is only the fast tier's, if the
/// full one was wanted.
pub fn prepare_query(
    tier: SearchTier,
    encoder: Option<&LazyEncoder>,
    store: &dyn Store,
    query: Query,
) -> (Query, Option<String>) {
    // Without words there is nothing to be near to.
    if tier == SearchTier::Fast || query.text().is_empty() {
        return (query, None);
    }
    let Some(encoder) = encoder else {
        return (query, Some("search.model is off".to_owned()));
    };
    match count_embedded(store) {
        // To load a model only to compare with nothing is a waste.
        Ok(0) => {
            let why = "no item has an embedding yet".to_owned();
            return (query, Some(why));
        }
        Ok(_) => {}
        Err(e) => return (query, Some(e.to_string())),
    }
    match embed_query(encoder, &query) {
        Ok(meaning) => (query.with_meaning(meaning), None),
        Err(e) => (query, Some(e.to_string())),
    }
}

/// The embedding of a prompt in a preview, and where it came from.
#[derive(Debug)]
pub(crate) struct PreviewEmbedding {
    /// None where only the fast tier answers.
    pub(crate) embedding: Option<Embedding>,
    /// The tier that answers.
    pub(crate) tier: SearchTier,
    /// Why it is that one.
    pub(crate) why: &'static str,
}

/// The embedding that a hook would get for the prompt. Where the worker returns
/// none now, the encoder is loaded here: a user who previews can wait, and the
/// worker has it loaded when the next prompt comes.
pub(crate) fn prompt_embedding(app: &App, store: &dyn Store, prompt: &str) -> PreviewEmbedding {
    let fast = |why| PreviewEmbedding {
        embedding: None,
        tier: SearchTier::Fast,
        why,
    };
    let full = |embedding, why| PreviewEmbedding {
        embedding: Some(embedding),
        tier: SearchTier::Full,
        why,
    };
    let Some(encoder) = app.encoder() else {
        return fast("search.model is off");
    };
    if !count_embedded(store).is_ok_and(|rows| rows > 0) {
        return fast("no item has an embedding yet");
    }
    let reply = request_embedding(&app.paths, prompt, PREVIEW_BUDGET);
    if let Some(embedding) = reply.and_then(|reply| embedding_of(&reply)) {
        return full(embedding, "the worker embedded the prompt");
    }
    match embed_prompt(encoder, prompt) {
        Ok(embedding) => full(embedding, "embedded here, the worker gave no embedding"),
        Err(_) => fast("the encoder cannot be loaded; `remora doctor` says why"),
    }
}

/// What the query means.
pub fn embed_query(encoder: &LazyEncoder, query: &Query) -> Result<Embedding, EmbedError> {
    embed_text(encoder, query.text())
}

/// The embedding of a prompt, of as much of it as a hook sends to the worker.
pub fn embed_prompt(encoder: &LazyEncoder, prompt: &str) -> Result<Embedding, EmbedError> {
    embed_text(encoder, bounded_text(prompt))
}

fn embed_text(encoder: &LazyEncoder, text: &str) -> Result<Embedding, EmbedError> {
    let found = encoder.encode(&[text], Instant::now())?;
    found.into_iter().next().ok_or_else(|| EmbedError::Run {
        reason: "it gave nothing".to_owned(),
    })
}

/// The encoder that the configuration names; none if it is off.
pub fn build_encoder(config: &Config) -> Option<LazyEncoder> {
    let source = match config.get_text("search.model") {
        "off" => return None,
        "built-in" => EncoderSource::BuiltIn,
        path => EncoderSource::File(PathBuf::from(path)),
    };
    Some(LazyEncoder::new(source))
}

/// How many items there are.
pub fn count_items(counts: &StoreStats) -> u64 {
    counts.items.iter().map(|(_, count)| count).sum()
}

/// How many items have a vector; anything above 0 may be a guess.
fn count_embedded(store: &dyn Store) -> Result<u64, StoreError> {
    // Counting everything takes a while in a large store, and mostly nothing
    // waits.
    match store.unembedded_count(MODEL_ID)? {
        0 => Ok(1),
        waiting => Ok(count_items(&store.count_contents()?).saturating_sub(waiting)),
    }
}
