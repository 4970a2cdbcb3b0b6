//! The embedding of a prompt, which may still be on its way from the worker.

use std::fmt;
use std::sync::{Arc, LazyLock};

use remora_embed::Embedding;

type FetchEmbedding = Box<dyn FnOnce() -> Option<Embedding> + Send>;

/// An embedding that is fetched when it is first asked for. A search looks words
/// up before it compares vectors; by then the encoder is often done, so that the
/// two take hardly longer than one.
#[derive(Clone)]
pub struct PromptEmbedding(Arc<LazyLock<Option<Embedding>, FetchEmbedding>>);

impl PromptEmbedding {
    /// One that is there already.
    pub fn from_embedding(embedding: Embedding) -> Self {
        Self::from_fetch(move || Some(embedding))
    }

    /// One that `fetch` waits for, once.
    pub fn from_fetch(fetch: impl FnOnce() -> Option<Embedding> + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(fetch))))
    }

    /// The embedding; `None` if it could not be had in time.
    pub fn get(&self) -> Option<&Embedding> {
        self.0.as_ref().as_ref()
    }
}

impl fmt::Debug for PromptEmbedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromptEmbedding").field(&self.get()).finish()
    }
}

impl PartialEq for PromptEmbedding {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn it_is_fetched_when_it_is_asked_for_and_once() {
        static FETCHED: AtomicUsize = AtomicUsize::new(0);
        let pending = PromptEmbedding::from_fetch(|| {
            FETCHED.fetch_add(1, Ordering::Relaxed);
            None
        });
        let copy = pending.clone();
        assert_eq!(FETCHED.load(Ordering::Relaxed), 0);
        assert_eq!((pending.get(), copy.get()), (None, None));
        assert_eq!(FETCHED.load(Ordering::Relaxed), 1);
    }
}
