//! Codex CLI: the payloads that its hooks get, the answers that it takes, and
//! the files of its past sessions.

mod decode;
mod encode;
mod parse;
pub mod patch;
mod sender;
mod transcript;
mod untold;
mod wire;

pub use decode::{decode_event, read_header};
pub use encode::{MAX_CONTEXT_BYTES, encode_response};
pub use parse::parse_payload;
pub use sender::{is_sender, is_session_file};
pub use transcript::TRANSCRIPT_SPEC;
pub use untold::{UntoldCall, find_untold_source, list_untold_calls};
