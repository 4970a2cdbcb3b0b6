//! Loaded once, dropped when idle, and a failure is remembered.

use std::fs;
use std::time::{Duration, Instant};

use super::LazyEncoder;
use crate::encoder::{EmbedError, EncoderSource};

fn shared<T: Send + Sync>(value: T) -> T {
    value
}

#[test]
fn a_failure_is_remembered() {
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
