//! What runs beside capture may panic; capture goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use remora_core::record::Project;
use remora_core::request::Request;
use remora_embed::{Effort, EmbedError, Embedding};
use remora_server::embeddings::{BackgroundEmbedding, TextEncoder};
use remora_server::saved::{SavedMemories, SavedMemoryList};
use remora_server::{WorkerExit, WorkerSettings};

use crate::place::{NOW, Place};

#[derive(Debug)]
struct Panics;

impl TextEncoder for Panics {
    fn encode(&self, _: &[&str], _: Effort, _: Instant) -> Result<Vec<Embedding>, EmbedError> {
        panic!("the encoder")
    }

    fn release_idle(&self, _: Instant) {
        panic!("the encoder's rest")
    }
}

impl SavedMemories for Panics {
    fn change_stamp(&self, _: Option<&Project>) -> u64 {
        panic!("saved memories")
    }

    fn read_memories(&self, _: Option<&Project>) -> Option<SavedMemoryList> {
        panic!("saved memories")
    }

    fn check_memories(&self, _: &Project) {
        panic!("the check of saved memories")
    }
}

#[test]
fn what_panics_in_the_background_costs_no_event() {
    let place = Place::new();
    let worker = place.run(WorkerSettings {
        background_embedding: Some(BackgroundEmbedding {
            encoder: Arc::new(Panics),
            after: Duration::ZERO,
        }),
        saved: Some(Arc::new(Panics)),
        git: remora_server::commits::GitCapture::Off,
        chore: Some(|_| panic!("the chore")),
        ..place.settings("1.0.0", Duration::from_mins(10))
    });
    for n in 0..3 {
        place.put(NOW, &Place::call(n));
        let reply = worker.ask(&Request::Drain);
        assert_eq!((reply.stored, reply.trouble), (n as u64 + 1, None));
    }
    assert_eq!(worker.stop(), WorkerExit::Stopped);
    let log = place.log();
    assert!(log.contains("saved memories: panicked at"), "{log}");
}

#[test]
fn a_worker_whose_background_work_panics_still_ends_when_idle() {
    let place = Place::new();
    place.put(NOW, &Place::call(1));
    let worker = place.run(WorkerSettings {
        background_embedding: Some(BackgroundEmbedding {
            encoder: Arc::new(Panics),
            after: Duration::ZERO,
        }),
        ..place.settings("1.0.0", Duration::from_millis(50))
    });
    assert_eq!(worker.end(), WorkerExit::Idle);
    assert_eq!(place.items().len(), 1);
    assert!(!place.paths.run_dir().join("worker-up").exists());
}
