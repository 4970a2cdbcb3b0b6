//! For tests of stores and of what is built on them: a store in memory, rows to
//! fill it with, the contract that every store keeps, and made-up events. Behind
//! the feature `testing`, so that no product carries it.

pub mod contract;
mod faulty;
pub mod generator;
mod store;

use remora_core::record::{Item, Kind, LoggedEvent, Session};

use crate::store::LookTools;

pub use faulty::{Fault, FaultyStore};
pub use store::MemoryStore;

/// The tools that only look, for stores of tests.
pub const LOOK_TOOLS: LookTools = LookTools(&["Read", "Grep", "Glob", "LS"]);

/// An item with this uid and title; everything else is plain.
pub fn item(uid: &str, title: &str) -> Item {
    Item {
        id: 0,
        uid: uid.into(),
        external_id: None,
        key: None,
        kind: Kind::Discovery,
        title: title.to_owned(),
        text: String::new(),
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        time: 1_000,
        last_time: 0,
        seen: 1,
        project: "project".into(),
        session: "session".into(),
        agent: "agent".into(),
        prompt: None,
        branch: None,
        subagent: None,
        speaker: None,
        tool: None,
        tool_use_id: None,
        raw_tokens: 0,
        digest_tokens: 0,
        detail: None,
    }
}

/// A session with this id that was used last at this time.
pub fn session(id: &str, last: i64) -> Session {
    Session {
        id: id.into(),
        agent: "agent".into(),
        project: "project".into(),
        cwd: "/home/someone/project".to_owned(),
        branch: None,
        started: last - 100,
        last,
        end_reason: None,
        prompts: 0,
        title: String::new(),
    }
}

/// An event with this id, captured at this time.
pub fn event(id: &str, time: i64) -> LoggedEvent {
    LoggedEvent {
        id: id.to_owned(),
        call: None,
        name: "PostToolUse".to_owned(),
        session: "session".into(),
        time,
        label: String::new(),
    }
}

#[cfg(test)]
mod tests;
