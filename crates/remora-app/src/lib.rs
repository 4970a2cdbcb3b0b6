//! The use cases of Remora: a request goes in, a response that serializes comes
//! out. Every face (the command line, MCP) parses its own words into requests and
//! shows responses in its own way; what they all answer is decided here, once.
//!
//! An API boundary: nothing here reads arguments or the environment, prints, or
//! knows what an option of the command line is called. Who asks, from where, the
//! clock and the store are passed in with [`App`].
#![forbid(unsafe_code)]

mod access;
mod app;
pub mod config;
pub mod corrections;
pub mod deletions;
mod error;
pub mod injections;
mod parts;
pub mod pauses;
pub mod preview;
pub mod projects;
pub mod recall_environment;
pub mod recap;
mod rejections;
pub mod scope;
pub mod search;
pub mod sessions;
pub mod show;
pub mod status;
mod stores;
mod successors;
pub mod text;
mod tier;
mod time_span;
pub mod timeline;
pub mod worker_lock;

pub use access::{ALL_PROJECTS_KEY, ReadLimits};
pub use app::{App, AppParts, Caller, CallerKind, Clock};
pub use error::{AppError, ErrorKind, Hint, RequestField, Result};
pub use rejections::{RejectionView, Rejections};
pub use scope::ProjectChoice;
pub use stores::{StoreFactories, StoreFactory, StoreUrl};
pub use successors::SuccessorView;
pub use tier::{SearchTier, build_encoder, count_items, embed_prompt, embed_query, prepare_query};
pub use time_span::{TimeSpan, TimeSpanRequest};
