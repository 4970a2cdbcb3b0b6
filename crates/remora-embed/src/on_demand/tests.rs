//! Loaded once, dropped when idle, and a failure is remembered.

use std::fs;
use std::time::{Duration, Instant};

use super::OnDemand;
use crate::encoder::{EmbedError, Source};

fn shared<T: Send + Sync>(value: T) -> T {
    value
}

#[test]
fn a_failure_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.onnx");
    let encoder = shared(OnDemand::new(Source::File(path.clone())));
    let now = Instant::now();
    assert_eq!((encoder.is_loaded(), encoder.trouble()), (false, None));

    let first = encoder.encode(&["text"], now).unwrap_err();
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), &path).unwrap();
    let second = encoder.encode(&["text"], now).unwrap_err();
    assert_eq!(first, second);
    assert_eq!(encoder.trouble(), Some(first.to_string()));
    if cfg!(feature = "model") {
        assert!(first.to_string().contains("none.onnx"), "{first}");
    } else {
        assert_eq!(first, EmbedError::NotBuiltIn);
    }
    encoder.rest(now + Duration::from_hours(1));
    assert_eq!(encoder.trouble(), Some(first.to_string()));
    assert!(!encoder.is_loaded());
}

#[cfg(feature = "model")]
#[test]
fn it_is_dropped_after_an_idle_minute_and_loaded_again() {
    let encoder = OnDemand::new(Source::BuiltIn);
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    encoder.rest(start);
    assert!(!encoder.is_loaded());

    let first = encoder.encode(&["text"], start).unwrap();
    assert!(encoder.is_loaded());
    encoder.rest(after(59));
    assert!(encoder.is_loaded());
    encoder.encode(&["text"], after(30)).unwrap();
    // A clock that was read earlier by another thread does not count backwards.
    encoder.encode(&["text"], after(10)).unwrap();
    encoder.rest(after(89));
    assert!(encoder.is_loaded());
    encoder.rest(after(90));
    assert!(!encoder.is_loaded());

    let patient = OnDemand::new(Source::BuiltIn).kept_for(Duration::from_mins(10));
    patient.encode(&["text"], start).unwrap();
    patient.rest(after(599));
    assert!(patient.is_loaded());
    patient.rest(after(600));
    assert!(!patient.is_loaded());

    assert_eq!(encoder.encode(&["text"], after(91)).unwrap(), first);
    assert_eq!((encoder.is_loaded(), encoder.trouble()), (true, None));
}
