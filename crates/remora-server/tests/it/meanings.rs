//! What rows mean, worked out by a worker that has nothing else to do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use remora_core::request::Request;
use remora_embed::{EMBEDDING_DIMS, Effort, EmbedError, Embedding, MODEL_ID};
use remora_memory::store::Store;
use remora_server::embeddings::{BackgroundEmbedding, TextEncoder};
use remora_server::{WorkerExit, WorkerSettings, run_worker};
use remora_store::Access;

use crate::place::{NOW, Place};

const SHORT: Duration = Duration::from_millis(50);

#[derive(Debug)]
enum Fake {
    Sound,
    Broken,
}

impl TextEncoder for Fake {
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        _: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        assert_eq!(effort, Effort::Quiet);
        match self {
            Self::Sound => Ok(texts
                .iter()
                .map(|_| Embedding::from_vector(&[1.0; EMBEDDING_DIMS]))
                .collect()),
            Self::Broken => Err(EmbedError::NotBuiltIn),
        }
    }

    fn release_idle(&self, _: Instant) {}
}

fn settings(place: &Place, encoder: Fake) -> WorkerSettings {
    WorkerSettings {
        background_embedding: Some(BackgroundEmbedding {
            encoder: Arc::new(encoder),
            after: Duration::ZERO,
        }),
        ..place.settings("1.0.0", SHORT)
    }
}

fn waiting(place: &Place) -> u64 {
    let store = remora_server::open_database(&place.paths.database_file(), Access::Read).unwrap();
    store.unembedded_count(MODEL_ID).unwrap()
}

#[test]
fn it_does_not_end_before_all_rows_have_theirs() {
    let place = Place::new();
    for n in 0..150 {
        place.put(NOW + n, &Place::call(usize::try_from(n).unwrap()));
    }
    let worker = place.run(settings(&place, Fake::Sound));
    assert_eq!(worker.end(), WorkerExit::Idle);
    assert_eq!((place.items().len(), waiting(&place)), (150, 0));
}

#[test]
fn without_an_encoder_everything_else_goes_on() {
    let place = Place::new();
    place.put(NOW, &Place::call(1));
    let worker = place.run(WorkerSettings {
        idle: Duration::from_mins(10),
        ..settings(&place, Fake::Broken)
    });
    worker.ask(&Request::Drain);
    place.put(NOW + 1, &Place::call(2));
    let reply = worker.ask(&Request::Drain);
    assert_eq!((reply.stored, reply.trouble), (2, None));
    worker.stop();
    // In this thread: it may be over before anybody could ask it something.
    let again = run_worker(&settings(&place, Fake::Broken)).unwrap();
    assert_eq!(again, WorkerExit::Idle, "it waits for nothing");
    assert_eq!((place.items().len(), waiting(&place)), (2, 2));
    let log = place.log();
    let told = log.matches("this build has no encoder").count();
    assert_eq!(told, 2, "once for each worker: {log}");
}
