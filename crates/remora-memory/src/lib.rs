//! The memory itself: captured events become items without a model, and items become context again.
//!
//! Logic over ports. No SQL, sockets, processes, agents, environment or clock:
//! whoever calls brings the store, the events and the time.
#![forbid(unsafe_code)]

pub mod ask;
mod capture;
pub mod commit;
pub mod edit;
pub mod embedding_text;
pub mod end_date;
mod episode;
mod extract;
pub mod fingerprint;
mod fix;
mod folder;
pub mod injection_use;
pub mod lookup;
pub mod named_day;
mod near;
pub mod output;
pub mod overrides;
mod policy;
pub mod prepare;
pub mod prompt_embedding;
pub mod rank;
pub mod recall;
pub mod sentence;
mod session;
pub mod statement;
pub mod store;
pub mod summary;
pub mod symbols;
pub mod term_weights;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod testing_events;
pub mod words;

pub use capture::{CaptureDecision, CapturedEvent, call_key};
pub use extract::{EventDisposition, Extraction, Extractor};
pub use policy::{CapturePolicy, Treatment, event_treatment};
