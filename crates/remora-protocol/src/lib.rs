//! The vocabulary of Remora: events, their payloads, and outcomes.
//!
//! Values only. Nothing here does I/O, reads a clock or the environment, or
//! starts a thread. Every other crate speaks in these words.
#![forbid(unsafe_code)]

mod event;
mod outcome;
pub mod payload;

pub use event::{
    Answers, DecodeError, EVENTS, Event, EventDef, EventName, ExitTwo, HandlerKinds, MatcherStyle,
    PlainText, StopEffect, Subject,
};
pub use outcome::{Elicited, Outcome, Permission};
