//! Codex CLI: the payloads that its hooks get, the answers that it takes, and
//! the files of its past sessions.

mod decode;
mod encode;
mod parse;
pub mod patch;
mod sender;
mod wire;

pub use decode::{decode_event, read_header};
pub use encode::{MAX_CONTEXT_BYTES, encode_response};
pub use parse::parse_payload;
pub use sender::{is_sender, is_session_file};
