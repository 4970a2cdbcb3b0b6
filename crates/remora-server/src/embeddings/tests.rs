use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use remora_embed::{EMBEDDING_DIMS, Effort, EmbedError, Embedding, MODEL_ID};
use remora_memory::store::{Batch, ItemWrite, Store};
use remora_memory::testing::{MemoryStore, item};
use remora_store::Access;

use super::{
    BackgroundEmbedding, EmbeddingBudget, EmbeddingStep, IdleEmbedding, TextEncoder,
    run_embedding_step,
};
use crate::ServerError;

/// Notes what it was asked; texts with some words it cannot have.
#[derive(Debug, Default)]
struct Fake {
    asked: Mutex<Vec<(Vec<String>, Effort)>>,
    rested: Mutex<Vec<Instant>>,
    broken: Mutex<Option<EmbedError>>,
}

impl TextEncoder for Fake {
    fn encode(
        &self,
        texts: &[&str],
        effort: Effort,
        _: Instant,
    ) -> Result<Vec<Embedding>, EmbedError> {
        if let Some(error) = &*self.broken.lock().unwrap() {
            return Err(error.clone());
        }
        let asked = texts.iter().map(|text| (*text).to_owned()).collect();
        self.asked.lock().unwrap().push((asked, effort));
        if texts.iter().any(|text| text.contains("poison")) {
            let reason = "no".to_owned();
            return Err(EmbedError::Run { reason });
        }
        Ok(texts
            .iter()
            .map(|_| Embedding::from_vector(&[1.0; EMBEDDING_DIMS]))
            .collect())
    }

    fn release_idle(&self, now: Instant) {
        self.rested.lock().unwrap().push(now);
    }
}

fn put(store: &dyn Store, titles: &[&str]) {
    let items = titles
        .iter()
        .map(|title| ItemWrite::Add(item(title, title)));
    store
        .apply(&Batch {
            items: items.collect(),
            ..Batch::default()
        })
        .unwrap();
}

fn waiting(store: &dyn Store) -> u64 {
    store.unembedded_count(MODEL_ID).unwrap()
}

#[test]
fn rows_get_their_meaning_a_few_at_a_time_the_newest_first() {
    let store = MemoryStore::default();
    let titles: Vec<String> = (0..40).map(|n| format!("row{n}")).collect();
    put(
        &store,
        &titles.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let fake = Fake::default();
    let first = run_embedding_step(&store, &fake, EmbeddingBudget::BACKGROUND.at_most(10)).unwrap();
    assert_eq!(
        (first, waiting(&store)),
        (
            EmbeddingStep {
                done: 10,
                unembeddable: 0,
                more: true
            },
            30
        )
    );
    let mut done = 10;
    loop {
        let next = run_embedding_step(&store, &fake, EmbeddingBudget::BACKGROUND).unwrap();
        done += next.done;
        if !next.more {
            break;
        }
    }
    assert_eq!((done, waiting(&store)), (40, 0));
    let asked = fake.asked.lock().unwrap();
    let (texts, effort) = &asked[0];
    assert_eq!(texts.len(), 4, "small groups, so that a turn ends in time");
    assert!(texts[0].contains("row39"), "{texts:?}");
    assert_eq!(*effort, Effort::Quiet);
    drop(asked);
    let idle = run_embedding_step(&store, &fake, EmbeddingBudget::FULL).unwrap();
    assert_eq!(
        idle,
        EmbeddingStep {
            done: 0,
            unembeddable: 0,
            more: false
        }
    );
}

#[test]
fn one_row_that_cannot_be_had_does_not_keep_the_others_waiting() {
    let store = MemoryStore::default();
    put(&store, &["good", "poison", "better"]);
    let fake = Fake::default();
    let all = run_embedding_step(&store, &fake, EmbeddingBudget::FULL).unwrap();
    assert_eq!(
        (all, waiting(&store)),
        (
            EmbeddingStep {
                done: 3,
                unembeddable: 1,
                more: false
            },
            0
        )
    );
}

#[test]
fn a_broken_encoder_is_an_error_and_rows_wait_on() {
    let store = MemoryStore::default();
    put(&store, &["one"]);
    let broken = Fake {
        broken: Mutex::new(Some(EmbedError::NotBuiltIn)),
        ..Fake::default()
    };
    let failed = run_embedding_step(&store, &broken, EmbeddingBudget::FULL).unwrap_err();
    assert!(matches!(failed, ServerError::Embed(EmbedError::NotBuiltIn)));
    assert_eq!(waiting(&store), 1);
}

fn spare(fake: &Arc<Fake>, after: Duration) -> IdleEmbedding {
    IdleEmbedding::new(Some(BackgroundEmbedding {
        encoder: Arc::<Fake>::clone(fake),
        after,
    }))
}

#[test]
fn spare_time_begins_when_nothing_came_for_a_while() {
    let store = MemoryStore::default();
    put(&store, &["one"]);
    let fake = Arc::new(Fake::default());
    let after = Duration::from_secs(5);
    let mut spare = spare(&fake, after);
    let early = Duration::from_secs(2);
    assert_eq!(spare.run_step(&store, early).unwrap(), None);
    assert_eq!((waiting(&store), spare.is_busy()), (1, true));
    assert_eq!(spare.wait(early), Some(Duration::from_secs(3)));
    assert_eq!(spare.run_step(&store, after).unwrap(), None);
    assert_eq!((waiting(&store), spare.is_busy()), (0, false));
    // All that is left to do is to let go of the encoder.
    let rest = spare.wait(after).unwrap();
    assert!(rest > Duration::from_secs(50), "{rest:?}");
    put(&store, &["two"]);
    assert!(!spare.is_busy());
    spare.mark_stored();
    assert!(spare.is_busy());
    assert_eq!(spare.wait(Duration::ZERO), Some(after));
    spare.run_step(&store, after).unwrap();
    assert_eq!(waiting(&store), 0);
}

#[test]
fn between_two_turns_it_pauses_for_longer_than_it_worked() {
    let store = MemoryStore::default();
    let titles: Vec<String> = (0..100).map(|n| format!("row{n}")).collect();
    put(
        &store,
        &titles.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let fake = Arc::new(Fake::default());
    let mut spare = spare(&fake, Duration::ZERO);
    let began = Instant::now();
    spare.run_step(&store, Duration::ZERO).unwrap();
    let worked = began.elapsed();
    assert!(spare.is_busy());
    let pause = spare.wait(Duration::ZERO).unwrap();
    assert!(
        pause + began.elapsed() > worked * 2,
        "{pause:?} after {worked:?}"
    );
}

#[test]
fn an_encoder_that_is_not_built_in_is_told_once_and_left_alone() {
    let store = MemoryStore::default();
    put(&store, &["one"]);
    let fake = Arc::new(Fake {
        broken: Mutex::new(Some(EmbedError::NotBuiltIn)),
        ..Fake::default()
    });
    let mut spare = spare(&fake, Duration::ZERO);
    let said = spare.run_step(&store, Duration::ZERO).unwrap().unwrap();
    assert!(said.contains("this build has no encoder"), "{said}");
    spare.mark_stored();
    assert_eq!(spare.run_step(&store, Duration::ZERO).unwrap(), None);
    assert_eq!((spare.is_busy(), spare.wait(Duration::ZERO)), (false, None));
}

#[test]
fn an_encoder_that_fails_is_told_once_and_tried_again_later() {
    let unreadable = EmbedError::Read {
        path: "model.rten".into(),
        reason: "not there".to_owned(),
    };
    let ran = EmbedError::Run {
        reason: "no thread".to_owned(),
    };
    for error in [unreadable, ran] {
        let store = MemoryStore::default();
        put(&store, &["one"]);
        let fake = Arc::new(Fake {
            broken: Mutex::new(Some(error.clone())),
            ..Fake::default()
        });
        let mut spare = spare(&fake, Duration::ZERO);
        let said = spare.run_step(&store, Duration::ZERO).unwrap().unwrap();
        assert!(said.contains(&error.to_string()), "{said}");
        assert_eq!(spare.trouble(), Some(said.as_str()));
        // The worker may exit meanwhile.
        assert!(!spare.is_busy());
        let wait = spare.wait(Duration::ZERO).unwrap();
        assert!(wait > Duration::from_secs(50), "{wait:?}");
        spare.make_due();
        assert_eq!(spare.run_step(&store, Duration::ZERO).unwrap(), None);
        let wait = spare.wait(Duration::ZERO).unwrap();
        assert!(wait > Duration::from_secs(110), "{wait:?}");
        *fake.broken.lock().unwrap() = None;
        spare.make_due();
        assert_eq!(spare.run_step(&store, Duration::ZERO).unwrap(), None);
        assert_eq!((spare.trouble(), waiting(&store)), (None, 0));
    }
}

#[test]
fn a_row_that_the_encoder_fails_on_is_counted_and_costs_itself_alone() {
    let store = MemoryStore::default();
    put(&store, &["good", "poison"]);
    let fake = Arc::new(Fake::default());
    let mut spare = spare(&fake, Duration::ZERO);
    let said = spare.run_step(&store, Duration::ZERO).unwrap().unwrap();
    assert_eq!(said, "the encoder failed on 1 row: found by words only");
    assert_eq!((spare.unembeddable(), spare.trouble()), (1, None));
    put(&store, &["better"]);
    spare.mark_stored();
    assert_eq!(spare.run_step(&store, Duration::ZERO).unwrap(), None);
    assert_eq!((waiting(&store), spare.unembeddable()), (0, 1));
}

#[test]
fn a_store_that_will_not_have_it_is_tried_again_later_and_keeps_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("remora.db");
    let store = crate::open_database(&file, Access::Write).unwrap();
    put(&store, &["one"]);
    drop(store);
    let store = crate::open_database(&file, Access::Read).unwrap();
    let fake = Arc::new(Fake::default());
    let mut spare = spare(&fake, Duration::ZERO);
    let said = spare.run_step(&store, Duration::ZERO).unwrap();
    assert!(said.is_some_and(|said| said.starts_with("what rows mean could not be stored")));
    assert!(!spare.is_busy());
    let wait = spare.wait(Duration::ZERO).unwrap();
    assert!(wait > Duration::from_secs(50), "{wait:?}");
}

#[test]
fn switched_off_there_is_nothing_to_do() {
    let store = MemoryStore::default();
    put(&store, &["one"]);
    let mut spare = IdleEmbedding::new(None);
    assert_eq!(
        spare.run_step(&store, Duration::from_hours(1)).unwrap(),
        None
    );
    assert_eq!((spare.is_busy(), spare.wait(Duration::ZERO)), (false, None));
    assert_eq!(waiting(&store), 1);
}
