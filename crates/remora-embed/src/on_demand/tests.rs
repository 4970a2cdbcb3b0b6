//! Loaded once, dropped when idle, and a failure is remembered for a while.

use std::fs;
use std::time::{Duration, Instant};

use super::LazyEncoder;
use crate::encoder::{EmbedError, EncoderSource};

fn shared<T: Send + Sync>(value: T) -> T {
    value
}

#[test]
fn a_failure_is_remembered_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.onnx");
    let encoder = shared(LazyEncoder::new(EncoderSource::File(path.clone())));
    let now = Instant::now();
    assert_eq!((encoder.is_loaded(), encoder.load_error()), (false, None));

    let first = encoder.encode(&["text"], now).unwrap_err();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &path).unwrap();
    let second = encoder.encode(&["text"], now).unwrap_err();
    assert_eq!(first, second);
    assert_eq!(encoder.load_error(), Some(first.to_string()));
    if cfg!(feature = "model") {
        assert!(first.to_string().contains("none.onnx"), "{first}");
    } else {
        assert_eq!(first, EmbedError::NotBuiltIn);
    }
    encoder.unload_if_idle(now + Duration::from_hours(1));
    assert_eq!(encoder.load_error(), Some(first.to_string()));
    assert!(!encoder.is_loaded());

    let again = |seconds: u64| {
        let tried = encoder.encode(&["text"], now + Duration::from_secs(seconds));
        tried.unwrap_err()
    };
    assert_eq!(again(59), first);
    // Tried again: by now the file is there, and no encoder.
    let unusable = again(60);
    assert_eq!(unusable == first, !cfg!(feature = "model"), "{unusable}");
    fs::remove_file(&path).unwrap();
    assert_eq!(again(60 + 119), unusable);
    assert_eq!(again(60 + 120), first);
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &path).unwrap();
    assert_eq!(again(180 + 239), first);
    assert_eq!(again(180 + 240), unusable);
}

#[cfg(feature = "model")]
#[test]
fn it_is_dropped_after_an_idle_minute_and_loaded_again() {
    let encoder = LazyEncoder::new(EncoderSource::BuiltIn);
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    encoder.unload_if_idle(start);
    assert!(!encoder.is_loaded());

    let first = encoder.encode(&["text"], start).unwrap();
    assert!(encoder.is_loaded());
    encoder.unload_if_idle(after(59));
    assert!(encoder.is_loaded());
    encoder.encode(&["text"], after(30)).unwrap();
    // A clock that was read earlier by another thread does not count backwards.
    encoder.encode(&["text"], after(10)).unwrap();
    encoder.unload_if_idle(after(89));
    assert!(encoder.is_loaded());
    encoder.unload_if_idle(after(90));
    assert!(!encoder.is_loaded());

    let patient = LazyEncoder::new(EncoderSource::BuiltIn).kept_for(Duration::from_mins(10));
    patient.encode(&["text"], start).unwrap();
    patient.unload_if_idle(after(599));
    assert!(patient.is_loaded());
    patient.unload_if_idle(after(600));
    assert!(!patient.is_loaded());

    assert_eq!(encoder.encode(&["text"], after(91)).unwrap(), first);
    assert_eq!((encoder.is_loaded(), encoder.load_error()), (true, None));
}
