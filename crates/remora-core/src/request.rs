//! What a short-lived process writes for the worker: the envelope of a spooled
//! event, and the requests and replies on the worker's socket.

use serde::{Deserialize, Serialize};

use crate::ids::AgentId;
use crate::record::Project;

/// The envelope's version. A reader takes any version up to its own.
pub const ENVELOPE_VERSION: u32 = 1;

/// The first line of a spool file; the payload follows as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// [`ENVELOPE_VERSION`] of the writer.
    pub v: u32,
    /// The event's id, ordered by time.
    pub id: String,
    /// The agent that sent it, as named on the command line.
    pub agent: AgentId,
    /// When it was captured, in milliseconds since 1970.
    pub at: i64,
    /// How many bytes of payload follow.
    pub len: u64,
    /// Whether the payload was longer than what was kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The project it happened in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// What the worker can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "ask")]
pub enum Request {
    /// There is something in the spool. The sender does not wait for an answer.
    #[serde(rename = "poke")]
    Notify {
        /// The version of the asker; an older worker makes way for it.
        version: String,
        /// The asker's program, to be started in its place.
        program: String,
    },
    /// Answer when everything spooled so far can be searched.
    Drain,
    /// Finish what is under way, and end.
    Stop,
    /// Report the state of the worker.
    Status,
    /// The embedding of a text, for a hook that has a few milliseconds. Answered
    /// with an [`EmbeddingReply`]; a worker that does not know it hangs up.
    Embed {
        /// The beginning of a prompt.
        text: String,
    },
}

/// What the worker says to [`Request::Embed`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingReply {
    /// The embedding.
    Embedding(EncodedEmbedding),
    /// There is none, or not now.
    Refused(Refusal),
}

/// An embedding as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedEmbedding {
    /// What made it; vectors of other models are of another space.
    pub model: String,
    /// Its scale and a byte a dimension.
    pub bytes: Vec<u8>,
}

/// Why the worker returns no embedding. It always says so at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Refusal {
    /// There is no encoder, or it does not work.
    Off,
    /// It is being loaded since this request.
    Loading,
    /// Another caller's request is being computed.
    Busy,
}

/// What the worker says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The id of its process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// When it started, in milliseconds since 1970.
    pub started: i64,
    /// How many events it has stored since it started.
    pub stored: u64,
    /// Events that went to the dead letters since.
    pub dead: u64,
    /// What keeps it from working, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What keeps it from embedding items, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding_trouble: Option<String>,
    /// Items that the encoder failed on since it started.
    #[serde(default)]
    pub unembeddable: u64,
}
