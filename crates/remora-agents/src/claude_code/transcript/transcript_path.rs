//! Where the client keeps transcripts, and what their paths say.

use std::ffi::OsStr;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::install::settings_dir;
use super::entry::TranscriptLine;
use crate::spec::AgentPaths;
use crate::transcript::TranscriptKind;

/// Transcripts of subagents lie in a folder of this name, in one named like
/// their session.
const SUBAGENTS_DIR: &str = "subagents";
/// Bytes in which the first folder must be named.
const MAX_HEAD_BYTES: u64 = 4 * 1024 * 1024;

/// What the client notes about a subagent in a file next to its transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SubagentMetadata {
    /// The kind of agent.
    pub(super) agent_type: String,
}

/// The folder of all transcripts.
pub(super) fn transcripts_dir(places: &AgentPaths) -> PathBuf {
    settings_dir(places).join("projects")
}

/// Whose transcript this path is; `None` when it is none. With it comes the
/// path of the session's own.
pub(super) fn classify_path(path: &Path) -> Option<(TranscriptKind, PathBuf)> {
    if path.extension() != Some(OsStr::new("jsonl")) {
        return None;
    }
    let mut above = path.ancestors().skip(1);
    // Some clients sort them into further folders below.
    let session = above.find(|folder| folder.file_name() == Some(OsStr::new(SUBAGENTS_DIR)));
    match session.and_then(Path::parent) {
        Some(session) => {
            let mut file = session.as_os_str().to_owned();
            file.push(".jsonl");
            Some((TranscriptKind::Subagent, file.into()))
        }
        None => Some((TranscriptKind::Session, path.to_path_buf())),
    }
}

/// The folder that a session began in, from the first lines of its transcript.
pub(super) fn began_in(transcript: &mut dyn BufRead) -> Option<String> {
    // The first lines may be summaries or settings without a folder.
    let mut lines = Read::take(transcript, MAX_HEAD_BYTES)
        .split(b'\n')
        .map_while(Result::ok);
    lines.find_map(|line| {
        let entry: TranscriptLine<'_> = serde_json::from_slice(&line).ok()?;
        entry.cwd.non_empty().map(str::to_owned)
    })
}

/// The transcripts of a session's subagents lie in a folder of its name.
pub(super) fn subagents_dir(session: &Path) -> PathBuf {
    session.with_extension("")
}

/// The note file next to a subagent's transcript.
pub(super) fn note_file(transcript: &Path, kind: TranscriptKind) -> Option<PathBuf> {
    let is_subagent = kind == TranscriptKind::Subagent;
    is_subagent.then(|| transcript.with_extension("meta.json"))
}

/// Reads the note file of a subagent's transcript.
pub(super) fn read_note(bytes: &[u8]) -> Option<SubagentMetadata> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    Some(SubagentMetadata {
        agent_type: value.get("agentType")?.as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_tell_whose_transcript_it_is() {
        let session = PathBuf::from("/h/projects/-app/s1.jsonl");
        let of = |path: &str| classify_path(Path::new(path));
        assert_eq!(
            of("/h/projects/-app/s1.jsonl"),
            Some((TranscriptKind::Session, session.clone()))
        );
        assert_eq!(
            of("/h/projects/-app/s1/subagents/agent-a.jsonl"),
            Some((TranscriptKind::Subagent, session.clone()))
        );
        assert_eq!(
            of("/h/projects/-app/s1/subagents/flows/wf/agent-a.jsonl"),
            Some((TranscriptKind::Subagent, session))
        );
        assert_eq!(of("/h/projects/-app/s1/subagents/agent-a.meta.json"), None);
    }

    #[test]
    fn a_session_began_where_its_first_words_were_said() {
        let lines = "{\"type\":\"mode\"}\nbroken\n{\"cwd\":\"/a\"}\n{\"cwd\":\"/b\"}\n";
        assert_eq!(began_in(&mut lines.as_bytes()).as_deref(), Some("/a"));
        assert_eq!(began_in(&mut &b"{}"[..]), None);
    }

    #[test]
    fn a_note_names_the_kind_of_agent() {
        let note = read_note(br#"{"agentType":"Explore","spawnDepth":1}"#);
        assert_eq!(note.unwrap().agent_type, "Explore");
        assert_eq!(read_note(b"{}"), None);
        assert_eq!(read_note(b"\xff"), None);
    }
}
