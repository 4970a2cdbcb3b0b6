//! Embeddings for hooks that wait: one thread next to the worker's loop, so that
//! ingest never waits for it, and one text at a time. What cannot be done now is
//! refused at once, and the hook recalls by words (docs/design/0024).

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use remora_client::{bounded_text, reply_embedding};
use remora_core::request::{EmbeddingReply, EncodedEmbedding, Refusal};
use remora_embed::{Effort, EmbedError, MODEL_ID};
use remora_memory::store::{Filter, PageRequest, Store};

use crate::ServerError;
use crate::embeddings::TextEncoder;
use crate::panics::catch_panic;

/// How often the encoder may unload itself; it knows for how long it has not been
/// used.
const REST_INTERVAL: Duration = Duration::from_mins(1);

/// A request to the thread.
#[derive(Debug)]
enum EmbedJob {
    Embed { text: String, stream: UnixStream },
    WarmUp,
}

/// The sending side of the encoder's thread; without a thread every request is
/// refused.
#[derive(Debug, Clone)]
pub(crate) struct Embedder {
    /// A channel without capacity: a job is taken by the thread that waits for it,
    /// or not at all. So no hook ever queues behind another one.
    jobs: Option<SyncSender<EmbedJob>>,
}

impl Embedder {
    /// Starts the thread; it loads nothing yet.
    pub(crate) fn start(encoder: Option<Arc<dyn TextEncoder>>) -> Self {
        let jobs = encoder.and_then(|encoder| {
            let (jobs, taken) = sync_channel(0);
            let thread = thread::Builder::new().name("embedder".to_owned());
            let started = thread.spawn(move || run_jobs(encoder.as_ref(), &taken));
            started.is_ok().then_some(jobs)
        });
        Self { jobs }
    }

    /// Replies with the embedding of the text, or refuses at once.
    pub(crate) fn answer_embedding(&self, text: String, stream: UnixStream) {
        let Some(jobs) = &self.jobs else {
            return refuse_request(stream, Refusal::Off);
        };
        match jobs.try_send(EmbedJob::Embed { text, stream }) {
            Err(TrySendError::Full(EmbedJob::Embed { stream, .. })) => {
                refuse_request(stream, Refusal::Busy);
            }
            Err(TrySendError::Disconnected(EmbedJob::Embed { stream, .. })) => {
                refuse_request(stream, Refusal::Off);
            }
            _ => {}
        }
    }

    /// A session starts: loads the encoder before its first prompt, if there are
    /// embeddings to compare with.
    pub(crate) fn warm_up(&self, store: &dyn Store) -> Result<(), ServerError> {
        if let Some(jobs) = &self.jobs
            && has_embeddings(store)?
        {
            // If the thread is busy, the encoder is loaded or about to be.
            let _ = jobs.try_send(EmbedJob::WarmUp);
        }
        Ok(())
    }
}

fn has_embeddings(store: &dyn Store) -> Result<bool, ServerError> {
    if store
        .list_items(&Filter::default(), PageRequest::newest(1))?
        .is_empty()
    {
        return Ok(false);
    }
    // Counting all items takes a while in a large store, and mostly the queue is
    // empty.
    let waiting = store.unembedded_count(MODEL_ID)?;
    if waiting == 0 {
        return Ok(true);
    }
    let rows: u64 = store
        .count_contents()?
        .items
        .iter()
        .map(|(_, count)| count)
        .sum();
    Ok(rows > waiting)
}

fn run_jobs(encoder: &dyn TextEncoder, jobs: &Receiver<EmbedJob>) {
    let mut state = EncoderAvailability::Usable;
    loop {
        match jobs.recv_timeout(REST_INTERVAL) {
            // A panic costs one embedding; the thread stays for the others.
            Ok(job) => drop(catch_panic(|| handle_job(encoder, &mut state, job))),
            Err(RecvTimeoutError::Timeout) => encoder.release_idle(Instant::now()),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Whether the encoder can be used at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EncoderAvailability {
    Usable,
    /// It could not be loaded the last time. Background embedding fails alike and
    /// has logged it.
    Broken,
}

fn handle_job(encoder: &dyn TextEncoder, state: &mut EncoderAvailability, job: EmbedJob) {
    let (text, mut stream) = match job {
        EmbedJob::Embed { text, stream } if encoder.is_loaded() => (text, stream),
        EmbedJob::Embed { stream, .. } => {
            let why = match *state {
                EncoderAvailability::Usable => Refusal::Loading,
                EncoderAvailability::Broken => Refusal::Off,
            };
            // Refused before loading, which takes longer than a hook has. A broken one
            // is asked as well: it knows itself when to try again.
            refuse_request(stream, why);
            *state = load_encoder(encoder);
            return;
        }
        EmbedJob::WarmUp => {
            *state = load_encoder(encoder);
            return;
        }
    };
    let reply = match embed_text(encoder, &text) {
        Ok(embedding) => EmbeddingReply::Embedding(embedding),
        Err(_) => EmbeddingReply::Refused(Refusal::Off),
    };
    // The hook may have given up after its 20 ms.
    let _ = reply_embedding(&mut stream, &reply);
}

/// Loads the encoder and runs it once, because the first run is slower than all
/// others.
fn load_encoder(encoder: &dyn TextEncoder) -> EncoderAvailability {
    match embed_text(encoder, "word") {
        Ok(_) => EncoderAvailability::Usable,
        Err(_) => EncoderAvailability::Broken,
    }
}

fn embed_text(encoder: &dyn TextEncoder, text: &str) -> Result<EncodedEmbedding, EmbedError> {
    let found = encoder.encode(&[bounded_text(text)], Effort::Full, Instant::now())?;
    let first = found.first().ok_or_else(|| EmbedError::Run {
        reason: "it gave nothing".to_owned(),
    })?;
    Ok(EncodedEmbedding {
        model: MODEL_ID.to_owned(),
        bytes: first.to_bytes(),
    })
}

fn refuse_request(mut stream: UnixStream, why: Refusal) {
    // The hook may have given up.
    let _ = reply_embedding(&mut stream, &EmbeddingReply::Refused(why));
}

#[cfg(test)]
mod tests;
