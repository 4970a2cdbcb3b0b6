//! Past sessions of an agent: its transcripts, line by line, as the events that
//! hooks would have sent. Pure: bytes in, events out; the caller reads files.
//!
//! What a transcript looks like is each agent's own; this is what they share.

pub(crate) mod name;

use std::fmt;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use remora_core::Event;

use crate::spec::AgentPaths;

/// Where an agent keeps its transcripts, and how they are read.
#[derive(Debug)]
pub struct TranscriptSpec {
    /// The folders that hold all of them.
    pub folders: fn(&AgentPaths) -> Vec<PathBuf>,
    /// Folders between those and the transcript of a session.
    pub session_depth: usize,
    /// Whether a file is a transcript, by its path alone.
    pub is_transcript: fn(&Path) -> bool,
    /// Whose transcript a file is, and the path of the session's own, or what
    /// else the files of a session have in common; `None` when it is none. The
    /// second argument returns the file's first line, for agents whose paths do
    /// not say.
    pub classify_file: fn(&Path, FirstLine<'_>) -> Option<(TranscriptKind, PathBuf)>,
    /// The folder that holds the transcripts of a session's subagents, if the
    /// agent keeps them apart.
    pub subagents_dir: fn(&Path) -> Option<PathBuf>,
    /// The file in which the agent notes what a transcript does not say, if it
    /// has one for this transcript.
    pub note_file: fn(&Path, TranscriptKind) -> Option<PathBuf>,
    /// The folder that a session began in, from the first lines of its
    /// transcript.
    pub began_in: fn(&mut dyn BufRead) -> Option<String>,
    /// A reader of one transcript.
    pub open_reader: fn(TranscriptSource<'_>) -> Box<dyn ReadTranscript>,
}

/// Gives the first line of a file when it is asked for.
pub type FirstLine<'a> = &'a dyn Fn() -> Option<Vec<u8>>;

/// A transcript that is about to be read.
#[derive(Debug, Clone, Copy)]
pub struct TranscriptSource<'a> {
    /// The transcript's file.
    pub path: &'a Path,
    /// The path that [`TranscriptSpec::classify_file`] gave.
    pub session: &'a Path,
    /// Whether it is a session's own or a subagent's.
    pub kind: TranscriptKind,
    /// The contents of [`TranscriptSpec::note_file`].
    pub note: Option<&'a [u8]>,
    /// The first line, if reading begins behind it: some agents say there, and
    /// nowhere else, whose transcript it is.
    pub first_line: Option<&'a [u8]>,
}

/// Reads one transcript, line by line, into events.
pub trait ReadTranscript: fmt::Debug + Send {
    /// Says that lines before the next one were read already.
    fn mark_resumed(&mut self);

    /// Whether the next line can be understood without those before it.
    fn is_settled(&self) -> bool;

    /// Reads a line and passes on its events.
    fn read_line(
        &mut self,
        line: &[u8],
        take: &mut dyn FnMut(TranscriptEvent),
    ) -> Result<(), TranscriptLineError>;

    /// The events that the end of the file implies.
    fn finish_transcript(&mut self, ending: TranscriptEnd, take: &mut dyn FnMut(TranscriptEvent));
}

/// Whose transcript it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptKind {
    /// The transcript of a session itself.
    Session,
    /// That of a subagent.
    Subagent,
}

/// What a line contributes.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptEvent {
    /// The event's name, always the same for the same line.
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The event, in the form that hooks send it.
    pub event: Event,
}

/// Why a line could not be read. Never quotes the line: it is not redacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptLineError {
    /// Not JSON.
    #[error("not JSON at column {0}")]
    Json(usize),
    /// JSON, but no object.
    #[error("not a JSON object")]
    NotAnObject,
}

/// Whether more may follow the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptEnd {
    /// The session may still run: a turn that is not over stays open.
    Open,
    /// The file has not been written for long.
    Closed,
}
