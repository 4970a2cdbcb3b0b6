//! Where the files of sessions lie, and what their first line says.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use remora_core::Event;
use serde_json::{Map, Value};

use super::super::install::config_dir;
use super::super::sender::is_session_file;
use super::super::wire::field;
use super::str_at;
use crate::spec::AgentPaths;
use crate::transcript::{FirstLine, TranscriptKind};

/// Bytes in which the first line must end. It holds the client's own
/// instructions to the model, about 20 KB.
const MAX_HEAD_BYTES: u64 = 4 * 1024 * 1024;
/// What hooks call an agent without a role.
const DEFAULT_AGENT_TYPE: &str = "default";

/// Whose file it is, from its first line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SessionMeta {
    /// The session, that of the agent which started a subagent included.
    pub(super) session: String,
    /// The conversation in this file: of a session the same, else the subagent.
    pub(super) thread: String,
    pub(super) agent_type: String,
    pub(super) cwd: String,
    pub(super) branch: Option<String>,
    /// It went on from another session.
    pub(super) is_fork: bool,
}

impl SessionMeta {
    pub(super) fn from_line(line: &Value) -> Option<Self> {
        if str_at(line, "/type") != Some("session_meta") {
            return None;
        }
        let text = |pointer: &str| str_at(line, pointer).filter(|text| !text.is_empty());
        let thread = text("/payload/id")?;
        let spawn = "/payload/source/subagent/thread_spawn";
        let subagent = line.pointer("/payload/source/subagent");
        let parent = text("/payload/parent_thread_id")
            .or_else(|| text(&format!("{spawn}/parent_thread_id")));
        let session = match (text("/payload/session_id"), parent) {
            (Some(session), _) => session,
            (None, Some(parent)) => parent,
            (None, None) => thread,
        };
        let role = text(&format!("{spawn}/agent_role"))
            // The client's own helpers are named in place of an origin.
            .or_else(|| subagent.and_then(Value::as_str))
            .unwrap_or(DEFAULT_AGENT_TYPE);
        let is_subagent = session != thread && subagent.is_some();
        Some(Self {
            session: if is_subagent { session } else { thread }.to_owned(),
            thread: thread.to_owned(),
            agent_type: role.to_owned(),
            cwd: text("/payload/cwd").unwrap_or_default().to_owned(),
            branch: text("/payload/git/branch")
                .filter(|branch| *branch != "HEAD")
                .map(str::to_owned),
            is_fork: text("/payload/forked_from_id").is_some(),
        })
    }

    /// Who an event of a hook is of.
    pub(super) fn of_event(event: &Event) -> Self {
        let text = |name: &str| event.str_field(name).unwrap_or_default().to_owned();
        let session = text(field::SESSION);
        let thread = match event.str_field(field::AGENT_ID) {
            Some(agent) => agent.to_owned(),
            None => session.clone(),
        };
        Self {
            session,
            thread,
            agent_type: text(field::AGENT_TYPE),
            ..Self::default()
        }
    }

    pub(super) fn is_known(&self) -> bool {
        !self.thread.is_empty()
    }

    pub(super) fn is_subagent(&self) -> bool {
        self.session != self.thread
    }

    pub(super) fn agent_fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert(field::AGENT_ID.into(), self.thread.as_str().into());
        fields.insert(field::AGENT_TYPE.into(), self.agent_type.as_str().into());
        fields
    }
}

/// The folders of all files, old sessions that the user put away included.
pub(super) fn session_folders(places: &AgentPaths) -> Vec<PathBuf> {
    let own = config_dir(places);
    ["sessions", "archived_sessions"]
        .iter()
        .map(|folder| own.join(folder))
        .collect()
}

/// Whose file it is. The files of a session and of its subagents lie side by
/// side under names that do not say so, so they share a path of no file: the
/// session's id in their folder.
pub(super) fn classify_file(
    path: &Path,
    first_line: FirstLine<'_>,
) -> Option<(TranscriptKind, PathBuf)> {
    if !is_session_file(path) {
        return None;
    }
    let line = serde_json::from_slice(&first_line()?).ok()?;
    let meta = SessionMeta::from_line(&line)?;
    let kind = if meta.is_subagent() {
        TranscriptKind::Subagent
    } else {
        TranscriptKind::Session
    };
    Some((kind, path.with_file_name(meta.session)))
}

/// The folder that a session began in, from its first line.
pub(super) fn read_start_folder(transcript: &mut dyn BufRead) -> Option<String> {
    let mut line = Vec::new();
    Read::take(transcript, MAX_HEAD_BYTES)
        .read_until(b'\n', &mut line)
        .ok()?;
    let line = serde_json::from_slice(&line).ok()?;
    SessionMeta::from_line(&line)
        .map(|meta| meta.cwd)
        .filter(|cwd| !cwd.is_empty())
}
