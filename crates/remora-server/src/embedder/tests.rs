//! An encoder that is watched: what is embedded, what is refused, and when.

use std::io::{BufRead, BufReader, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use remora_embed::{EMBEDDING_DIMS, Embedding};
use remora_memory::store::{Batch, ItemWrite};
use remora_memory::testing::{MemoryStore, item};

use super::*;

/// Loaded by its first run, and held up by whoever has the other end.
#[derive(Debug)]
struct Fake {
    loaded: AtomicBool,
    broken: Arc<AtomicBool>,
    /// Told of every text, before it waits.
    seen: Sender<String>,
    held: Mutex<Receiver<()>>,
}

struct Bench {
    embedder: Embedder,
    broken: Arc<AtomicBool>,
    seen: Receiver<String>,
    hold: Sender<()>,
}

impl TextEncoder for Fake {
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        _: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        assert_eq!(effort, Effort::Full);
        if self.broken.load(Ordering::SeqCst) {
            return Err(EmbedError::NotBuiltIn);
        }
        self.seen.send(texts.join("|")).unwrap();
        let _ = self.held.lock().unwrap().recv();
        assert!(!texts.contains(&"panic"));
        self.loaded.store(true, Ordering::SeqCst);
        Ok(texts
            .iter()
            .map(|_| Embedding::from_vector(&[1.0; EMBEDDING_DIMS]))
            .collect())
    }

    fn release_idle(&self, _: Instant) {}

    fn is_loaded(&self) -> bool {
        self.loaded.load(Ordering::SeqCst)
    }
}

fn bench(broken: bool) -> Bench {
    let broken = Arc::new(AtomicBool::new(broken));
    let (seen, told) = channel();
    let (hold, gate) = channel();
    let fake = Fake {
        loaded: AtomicBool::new(false),
        broken: Arc::clone(&broken),
        seen,
        held: Mutex::new(gate),
    };
    Bench {
        embedder: Embedder::start(Some(Arc::new(fake))),
        broken,
        seen: told,
        hold,
    }
}

/// Sends a request; its reply is read later.
fn ask(embedder: &Embedder, text: &str) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    embedder.answer_embedding(text.to_owned(), theirs);
    ours
}

fn read(stream: UnixStream) -> Option<EmbeddingReply> {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).ok()
}

/// Asks again while the thread is not at its door yet.
fn ask_until_taken(embedder: &Embedder, text: &str) -> Option<EmbeddingReply> {
    loop {
        let reply = read(ask(embedder, text));
        if reply != Some(EmbeddingReply::Refused(Refusal::Busy)) {
            return reply;
        }
        thread::yield_now();
    }
}

/// The same without waiting for the reply. A refusal is there as soon as the
/// question was put.
fn ask_taken(embedder: &Embedder, text: &str) -> UnixStream {
    loop {
        let mut stream = ask(embedder, text);
        stream.set_nonblocking(true).unwrap();
        if stream.read(&mut [0]).is_err() {
            stream.set_nonblocking(false).unwrap();
            return stream;
        }
        thread::yield_now();
    }
}

fn refused(why: Refusal) -> EmbeddingReply {
    EmbeddingReply::Refused(why)
}

fn embedding() -> EmbeddingReply {
    EmbeddingReply::Embedding(EncodedEmbedding {
        model: MODEL_ID.to_owned(),
        bytes: Embedding::from_vector(&[1.0; EMBEDDING_DIMS]).to_bytes(),
    })
}

#[test]
fn the_first_request_loads_and_the_next_is_answered() {
    let Bench {
        embedder,
        seen,
        hold,
        ..
    } = bench(false);
    let first = ask_until_taken(&embedder, "first");
    assert_eq!(first, Some(refused(Refusal::Loading)));
    assert_eq!(seen.recv().unwrap(), "word");
    // It loads: nobody waits for that.
    assert_eq!(read(ask(&embedder, "second")), Some(refused(Refusal::Busy)));
    drop(hold);
    assert_eq!(ask_until_taken(&embedder, "third"), Some(embedding()));
    assert_eq!(seen.recv().unwrap(), "third");
    // Much is cut before it is encoded.
    let long = "x".repeat(5_000);
    assert_eq!(ask_until_taken(&embedder, &long), Some(embedding()));
    assert_eq!(seen.recv().unwrap().len(), 1_000);
}

#[test]
fn one_text_at_a_time_and_a_panic_costs_itself_alone() {
    let Bench {
        embedder,
        seen,
        hold,
        ..
    } = bench(false);
    ask_until_taken(&embedder, "load");
    assert_eq!(seen.recv().unwrap(), "word");
    hold.send(()).unwrap();
    let slow = ask_taken(&embedder, "slow");
    assert_eq!(seen.recv().unwrap(), "slow");
    assert_eq!(read(ask(&embedder, "other")), Some(refused(Refusal::Busy)));
    hold.send(()).unwrap();
    assert_eq!(read(slow), Some(embedding()));
    drop(hold);
    assert_eq!(ask_until_taken(&embedder, "panic"), None);
    assert_eq!(ask_until_taken(&embedder, "after"), Some(embedding()));
}

#[test]
fn without_an_encoder_everything_is_refused_at_once() {
    let none = Embedder::start(None);
    assert_eq!(read(ask(&none, "text")), Some(refused(Refusal::Off)));
    assert!(none.warm_up(&MemoryStore::default()).is_ok());
}

#[test]
fn an_encoder_that_could_not_be_loaded_is_used_once_it_can() {
    let Bench {
        embedder,
        broken,
        seen: _seen,
        hold,
    } = bench(true);
    drop(hold);
    let first = ask_until_taken(&embedder, "x");
    assert_eq!(first, Some(refused(Refusal::Loading)));
    assert_eq!(ask_until_taken(&embedder, "x"), Some(refused(Refusal::Off)));
    broken.store(false, Ordering::SeqCst);
    // The attempt that loads it answers no request.
    let mut replies = (0..3).map(|_| ask_until_taken(&embedder, "x"));
    assert!(replies.any(|reply| reply == Some(embedding())));
}

#[test]
fn a_session_warms_it_up_if_there_is_something_to_compare_with() {
    let Bench {
        embedder,
        seen,
        hold,
        ..
    } = bench(false);
    drop(hold);
    let store = MemoryStore::default();
    let items = [item("u1", "a walrus"), item("u2", "a whale")];
    assert!(!has_embeddings(&store).unwrap());
    store
        .apply(&Batch {
            items: items.map(ItemWrite::Add).to_vec(),
            ..Batch::default()
        })
        .unwrap();
    assert!(!has_embeddings(&store).unwrap());
    embedder.warm_up(&store).unwrap();
    let id = store.list_unembedded(MODEL_ID, 1).unwrap()[0].id;
    store
        .store_embeddings(MODEL_ID, &[(id, Embedding::from_vector(&[1.0]))])
        .unwrap();
    assert!(has_embeddings(&store).unwrap());
    // The thread may not be at its door yet.
    while seen.try_recv().is_err() {
        embedder.warm_up(&store).unwrap();
    }
    assert_eq!(ask_until_taken(&embedder, "text"), Some(embedding()));
}
