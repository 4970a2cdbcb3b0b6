//! Embeddings for hooks that wait: one thread beside the worker's loop, so that
//! ingest never waits for it, and one text at a time. Whatever cannot be done
//! now is refused at once; the hook recalls by words then.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use remora_client::{bounded_text, reply_embedding};
use remora_embed::{Effort, EmbedError, MODEL};
use remora_memory::store::{Filter, Page, Store};
use remora_protocol::request::{Embedding, EmbeddingReply, Refusal};

use crate::ServerError;
use crate::meanings::Encode;
use crate::panics::catch;

/// How often the encoder is asked to rest; it knows itself for how long it has
/// not been used.
const REST_INTERVAL: Duration = Duration::from_mins(1);

/// What the thread is asked for.
#[derive(Debug)]
enum Job {
    Embed { text: String, stream: UnixStream },
    WarmUp,
}

/// The way to the thread with the encoder; without one everything is refused.
#[derive(Debug, Clone)]
pub(crate) struct Embedder {
    /// Holds nothing: a job is taken by the thread that waits for it, or not at
    /// all. So no hook ever queues behind another one.
    jobs: Option<SyncSender<Job>>,
}

impl Embedder {
    /// Starts the thread; it loads nothing yet.
    pub(crate) fn start(encoder: Option<Arc<dyn Encode>>) -> Self {
        let jobs = encoder.and_then(|encoder| {
            let (jobs, taken) = sync_channel(0);
            let thread = thread::Builder::new().name("embedder".to_owned());
            let started = thread.spawn(move || work(encoder.as_ref(), &taken));
            started.is_ok().then_some(jobs)
        });
        Self { jobs }
    }

    /// Answers with the embedding of the text, or refuses at once.
    pub(crate) fn answer(&self, text: String, stream: UnixStream) {
        let Some(jobs) = &self.jobs else {
            return refuse(stream, Refusal::Off);
        };
        match jobs.try_send(Job::Embed { text, stream }) {
            Err(TrySendError::Full(Job::Embed { stream, .. })) => refuse(stream, Refusal::Busy),
            Err(TrySendError::Disconnected(Job::Embed { stream, .. })) => {
                refuse(stream, Refusal::Off);
            }
            _ => {}
        }
    }

    /// A session begins: loads the encoder before its first prompt, if there
    /// are embeddings to compare with.
    pub(crate) fn warm_up(&self, store: &dyn Store) -> Result<(), ServerError> {
        if let Some(jobs) = &self.jobs
            && has_embeddings(store)?
        {
            // Somebody is being answered: it is loaded, or about to be.
            let _ = jobs.try_send(Job::WarmUp);
        }
        Ok(())
    }
}

fn has_embeddings(store: &dyn Store) -> Result<bool, ServerError> {
    if store.list(&Filter::default(), Page::newest(1))?.is_empty() {
        return Ok(false);
    }
    // Counting everything takes a while in a large store, and mostly nothing
    // waits.
    let waiting = store.unembedded_count(MODEL)?;
    if waiting == 0 {
        return Ok(true);
    }
    let rows: u64 = store.counts()?.items.iter().map(|(_, count)| count).sum();
    Ok(rows > waiting)
}

fn work(encoder: &dyn Encode, jobs: &Receiver<Job>) {
    let mut state = State::Usable;
    loop {
        match jobs.recv_timeout(REST_INTERVAL) {
            // A text that panics costs itself alone.
            Ok(job) => drop(catch(|| handle(encoder, &mut state, job))),
            Err(RecvTimeoutError::Timeout) => encoder.rest(Instant::now()),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Whether the encoder can be had at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Usable,
    /// It could not be loaded, and is not tried again. It embeds no rows either,
    /// which the log tells of.
    Broken,
}

fn handle(encoder: &dyn Encode, state: &mut State, job: Job) {
    let (text, mut stream) = match job {
        Job::Embed { stream, .. } if *state == State::Broken => {
            return refuse(stream, Refusal::Off);
        }
        Job::Embed { text, stream } if encoder.is_loaded() => (text, stream),
        Job::Embed { stream, .. } => {
            // Nobody waits for a load, which takes longer than a hook has.
            refuse(stream, Refusal::Loading);
            *state = load(encoder);
            return;
        }
        Job::WarmUp => {
            *state = load(encoder);
            return;
        }
    };
    let reply = match embed(encoder, &text) {
        Ok(embedding) => EmbeddingReply::Embedding(embedding),
        Err(_) => EmbeddingReply::Refused(Refusal::Off),
    };
    // Whoever asked may have had enough.
    let _ = reply_embedding(&mut stream, &reply);
}

/// Loads it, and runs it once: the first run is slower than all others.
fn load(encoder: &dyn Encode) -> State {
    match embed(encoder, "word") {
        Ok(_) => State::Usable,
        Err(_) => State::Broken,
    }
}

fn embed(encoder: &dyn Encode, text: &str) -> Result<Embedding, EmbedError> {
    let found = encoder.encode(&[bounded_text(text)], Effort::Full, Instant::now())?;
    let first = found.first().ok_or_else(|| EmbedError::Run {
        reason: "it gave nothing".to_owned(),
    })?;
    Ok(Embedding {
        model: MODEL.to_owned(),
        bytes: first.to_bytes(),
    })
}

fn refuse(mut stream: UnixStream, why: Refusal) {
    // Whoever asked may have had enough.
    let _ = reply_embedding(&mut stream, &EmbeddingReply::Refused(why));
}

#[cfg(test)]
mod tests;
