//! The vocabulary of Remora: events, their payloads, outcomes, and what memory
//! keeps of them.
//!
//! Values only. Nothing here does I/O, reads a clock or the environment, or
//! starts a thread. Every other crate speaks in these words.
#![forbid(unsafe_code)]

pub mod agent_event;
pub mod detail;
mod event;
pub mod field_roles;
pub mod git;
pub mod hash;
pub mod ids;
pub mod model;
mod outcome;
pub mod record;
pub mod request;
pub mod shapes;
pub mod text;
pub mod time;
pub mod tokens;
pub mod tool_call;

pub use event::{
    Answers, DecodeError, EVENTS, Event, EventDef, EventName, ExitTwo, HandlerKinds, MatcherStyle,
    PlainText, StopEffect, Subject, json_type_name,
};
pub use outcome::{ElicitationResponse, Outcome, Permission};
