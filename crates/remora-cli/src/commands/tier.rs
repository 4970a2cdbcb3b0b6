//! Which tier of search answers: words and the static table alone, or also the
//! model. A model that is off, missing or broken is never an error: the fast
//! tier answers, and why is told beside it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use remora_client::{bounded_text, request_embedding};
use remora_embed::{EmbedError, MODEL, Meaning, OnDemand, Source};
use remora_memory::store::{Counts, Store, StoreError};
use remora_memory::words::Query;
use remora_server::meanings::{Background, Encode};

use crate::commands::data::Data;
use crate::config::Config;
use crate::recall::embedding_of;

/// The worker works out meanings after nothing has come for this long.
const QUIET: Duration = Duration::from_secs(5);
/// The worker keeps the encoder in memory for so long after its last use:
/// between two prompts of a session that is worked in.
const WORKER_KEEPS_ENCODER: Duration = Duration::from_mins(10);

/// How long a preview waits for the worker's embedding: it shows what a hook
/// gets on a machine that is not busy with it.
const PREVIEW_BUDGET: Duration = Duration::from_millis(200);

/// How thorough a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Tier {
    /// Words and what rows are about; nothing to load
    Fast,
    /// Also what rows mean, by the model
    Full,
}

impl Tier {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Full => "full",
        }
    }
}

/// The query as the tier asks it, and why it is only the fast tier's, if the
/// full one was wanted.
pub(crate) fn query(
    tier: Tier,
    encoder: Option<&OnDemand>,
    store: &dyn Store,
    query: Query,
) -> (Query, Option<String>) {
    // Without words there is nothing to be near to.
    if tier == Tier::Fast || query.text().is_empty() {
        return (query, None);
    }
    let Some(encoder) = encoder else {
        return (query, Some("search.model is off".to_owned()));
    };
    match embedded(store) {
        // To load a model only to compare with nothing is a waste.
        Ok(0) => {
            let why = "no row has a vector yet".to_owned();
            return (query, Some(why));
        }
        Ok(_) => {}
        Err(e) => return (query, Some(e.to_string())),
    }
    match meaning(encoder, &query) {
        Ok(meaning) => (query.with_meaning(meaning), None),
        Err(e) => (query, Some(e.to_string())),
    }
}

/// The embedding of a prompt in a preview, and where it came from.
#[derive(Debug)]
pub(crate) struct PromptEmbedding {
    pub(crate) embedding: Option<Meaning>,
    pub(crate) tier: Tier,
    pub(crate) why: &'static str,
}

/// The embedding that a hook would get for the prompt. Where the worker gives
/// none now, the encoder is loaded here: whoever previews can wait, and the
/// worker has it loaded when the next prompt comes.
pub(crate) fn prompt_embedding(data: &Data, store: &dyn Store, prompt: &str) -> PromptEmbedding {
    let fast = |why| PromptEmbedding {
        embedding: None,
        tier: Tier::Fast,
        why,
    };
    let full = |embedding, why| PromptEmbedding {
        embedding: Some(embedding),
        tier: Tier::Full,
        why,
    };
    let Some(encoder) = encoder(&data.config) else {
        return fast("search.model is off");
    };
    if !embedded(store).is_ok_and(|rows| rows > 0) {
        return fast("no row has a vector yet");
    }
    let reply = request_embedding(&data.paths, prompt, PREVIEW_BUDGET);
    if let Some(embedding) = reply.and_then(|reply| embedding_of(&reply)) {
        return full(embedding, "the worker embedded the prompt");
    }
    match embed_prompt(&encoder, prompt) {
        Ok(embedding) => full(embedding, "embedded here, the worker gave no embedding"),
        Err(_) => fast("the encoder cannot be loaded; `remora doctor` says why"),
    }
}

/// What the query means.
pub(crate) fn meaning(encoder: &OnDemand, query: &Query) -> Result<Meaning, EmbedError> {
    embed(encoder, query.text())
}

/// The embedding of a prompt, of as much of it as a hook sends to the worker.
pub(crate) fn embed_prompt(encoder: &OnDemand, prompt: &str) -> Result<Meaning, EmbedError> {
    embed(encoder, bounded_text(prompt))
}

fn embed(encoder: &OnDemand, text: &str) -> Result<Meaning, EmbedError> {
    let found = encoder.encode(&[text], Instant::now())?;
    found.into_iter().next().ok_or_else(|| EmbedError::Run {
        reason: "it gave nothing".to_owned(),
    })
}

/// The encoder that the configuration names; none if it is off.
pub(crate) fn encoder(config: &Config) -> Option<OnDemand> {
    let source = match config.text("search.model") {
        "off" => return None,
        "built-in" => Source::BuiltIn,
        path => Source::File(PathBuf::from(path)),
    };
    Some(OnDemand::new(source))
}

/// The encoder that the worker embeds rows and prompts with.
pub(crate) fn worker_encoder(config: &Config) -> Option<Arc<dyn Encode>> {
    let encoder = encoder(config)?.kept_for(WORKER_KEEPS_ENCODER);
    Some(Arc::new(encoder))
}

/// What the worker does in its spare time, as the configuration says.
pub(crate) fn background(config: &Config, encoder: Option<Arc<dyn Encode>>) -> Option<Background> {
    Some(Background {
        encoder: encoder.filter(|_| config.flag("search.background"))?,
        after: QUIET,
    })
}

/// How many rows there are.
pub(crate) fn rows(counts: &Counts) -> u64 {
    counts.items.iter().map(|(_, count)| count).sum()
}

/// How many rows have a vector; anything above 0 may be a guess.
fn embedded(store: &dyn Store) -> Result<u64, StoreError> {
    // Counting everything takes a while in a large store, and mostly nothing
    // waits.
    match store.unembedded_count(MODEL)? {
        0 => Ok(1),
        waiting => Ok(rows(&store.counts()?).saturating_sub(waiting)),
    }
}
