//! What is asked of the files behind the screen, and what comes back: values
//! alone.

use std::path::PathBuf;

use remora_core::EventName;
use remora_hook_tools::edit::{HandlerPlace, LineChange, WrittenHandler};
use remora_hook_tools::lint::LintFinding;
use remora_hooks::Explanation;
use serde_json::Value;

use crate::snapshot::Snapshot;

/// What is done to one settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEdit {
    /// The settings file, as it was listed.
    pub file: PathBuf,
    /// What is done.
    pub change: HookChange,
}

/// One change of one handler. Of a handler that is there already it says how the
/// handler looked to the user, so that no other one is changed in its place.
#[derive(Debug, Clone, PartialEq)]
pub enum HookChange {
    /// A new handler.
    Add {
        /// At which event.
        event: EventName,
        /// Under which matcher.
        matcher: Option<String>,
        /// The handler.
        entry: Value,
    },
    /// Another entry or another matcher.
    Replace {
        /// The handler as it is.
        handler: WrittenHandler,
        /// Its matcher from now on.
        matcher: Option<String>,
        /// Itself from now on.
        entry: Value,
    },
    /// Off, or on again.
    Toggle(WrittenHandler),
    /// Away.
    Remove(WrittenHandler),
}

impl HookChange {
    /// The handler that must be there, as it looked.
    pub(crate) fn handler(&self) -> Option<&WrittenHandler> {
        match self {
            Self::Add { .. } => None,
            Self::Replace { handler, .. } | Self::Toggle(handler) | Self::Remove(handler) => {
                Some(handler)
            }
        }
    }
}

/// An edit before it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// The edit.
    pub edit: HookEdit,
    /// The way to the handler in the file; of one that goes, the way it had.
    pub key: String,
    /// What changes, with the lines around it.
    pub lines: Vec<(LineChange, String)>,
    /// What the linter says of the handler.
    pub findings: Vec<LintFinding>,
}

/// An edit that was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// What was done, for users.
    pub done: String,
    /// The file, and where the handler is now.
    pub handler: Option<(PathBuf, HandlerPlace)>,
}

/// What comes back of an effect.
#[derive(Debug)]
pub enum Reply {
    /// Everything was read again.
    Loaded(Snapshot),
    /// Which handlers the sample event would run.
    Explained(Result<Explanation, String>),
    /// What an edit would do.
    Prepared(Result<Preview, String>),
    /// An edit or its way back, and everything as it is now. An error names the
    /// file, the key and the reason.
    Written(Result<Written, String>, Snapshot),
}
