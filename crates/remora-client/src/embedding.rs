//! Asks the worker for the embedding of a prompt, within a few milliseconds.
//!
//! The encoder lives in the worker: loading it costs more than a hook may take.
//! A hook that gets no embedding in time recalls by words alone, so that every
//! fault here is the same as no answer. Never starts a worker.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use remora_core::request::{EmbeddingReply, EncodedEmbedding, Request};

use crate::call::send_line;
use crate::input::wait_readable;
use crate::{Connection, DataPaths};

/// How long a hook waits for an embedding.
pub const EMBEDDING_BUDGET_MS: u64 = 20;
/// How much of a prompt is embedded, in bytes. The encoder reads 128 tokens,
/// which most prompts of this length exceed.
pub const MAX_EMBEDDED_BYTES: usize = 1_000;
/// The longest reply that is read.
const MAX_REPLY_BYTES: usize = 16 * 1024;

/// As much of the text as is embedded.
pub fn bounded_text(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(MAX_EMBEDDED_BYTES)]
}

/// A request that is on its way, so that its sender can do something else while
/// the worker encodes.
#[derive(Debug)]
pub struct EmbeddingRequest {
    stream: UnixStream,
    end: Instant,
}

impl EmbeddingRequest {
    /// Sends the beginning of a text; the reply must come within the budget.
    /// `None` when no worker listens or there is nothing to embed.
    pub fn send(paths: &DataPaths, text: &str, budget: Duration) -> Option<Self> {
        let end = Instant::now() + budget;
        let text = bounded_text(text);
        if text.is_empty() || budget.is_zero() {
            return None;
        }
        // A full accept queue counts as no worker: waiting for a turn would
        // cost more than the answer is worth.
        let Connection::Open(mut stream) = Connection::try_open(&paths.socket_file()) else {
            return None;
        };
        let request = Request::Embed {
            text: text.to_owned(),
        };
        send_line(&mut stream, &request).ok()?;
        Some(Self { stream, end })
    }

    /// The reply; `None` when it does not come in time, is none, or says no. A
    /// worker that does not know the request hangs up, which is seen at once.
    pub fn receive(mut self) -> Option<EncodedEmbedding> {
        let mut line = Vec::new();
        let mut part = [0; 4096];
        // The stream stays non-blocking; the deadline covers sending and
        // receiving together.
        while !line.ends_with(b"\n") {
            if !wait_readable(&self.stream, self.end) || line.len() > MAX_REPLY_BYTES {
                return None;
            }
            match self.stream.read(&mut part) {
                Ok(0) => return None,
                Ok(count) => line.extend_from_slice(part.get(..count)?),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(_) => return None,
            }
        }
        match serde_json::from_slice(&line).ok()? {
            EmbeddingReply::Embedding(embedding) => Some(embedding),
            EmbeddingReply::Refused(_) => None,
        }
    }
}

/// The worker's embedding of the beginning of a text, if it comes in time.
pub fn request_embedding(
    paths: &DataPaths,
    text: &str,
    budget: Duration,
) -> Option<EncodedEmbedding> {
    EmbeddingRequest::send(paths, text, budget)?.receive()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    /// What comes back from a worker that reads the request and says this.
    fn answered(reply: &'static [u8]) -> (String, Option<EncodedEmbedding>) {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        let listener = UnixListener::bind(paths.socket_file()).unwrap();
        let worker = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            BufReader::new(&stream).read_line(&mut line).unwrap();
            // Whoever asked may have had enough.
            let _ = stream.write_all(reply);
            line
        });
        let found = request_embedding(&paths, &"ü".repeat(600), LONG);
        (worker.join().unwrap(), found)
    }

    #[test]
    fn the_beginning_of_a_prompt_goes_out_and_its_embedding_comes_back() {
        let reply = b"{\"embedding\":{\"model\":\"m/1\",\"bytes\":[0,255,7]}}\n";
        let (asked, found) = answered(reply);
        let text = "ü".repeat(MAX_EMBEDDED_BYTES / 2);
        assert_eq!(
            asked,
            format!("{{\"ask\":\"embed\",\"text\":\"{text}\"}}\n")
        );
        let expected = EncodedEmbedding {
            model: "m/1".to_owned(),
            bytes: vec![0, 255, 7],
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn whatever_else_comes_back_is_no_embedding() {
        let long = vec![b'x'; MAX_REPLY_BYTES * 4].leak();
        for reply in [
            &b""[..],
            b"\n",
            b"{\"refused\":\"loading\"}\n",
            b"{\"refused\":\"something new\"}\n",
            b"{\"pid\":1,\"version\":\"0.1.0\"}\n",
            b"{\"embedding\":{\"model\":\"m/1\",\"bytes\":[256]}}\n",
            b"{\"embedding\":{\"model\":\"m/1\",\"bytes\":[1",
            b"\xff\xfe\0\n",
            long,
        ] {
            assert_eq!(answered(reply).1, None, "{reply:?}");
        }
    }

    #[test]
    fn nobody_is_waited_for_longer_than_the_budget() {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        let started = Instant::now();
        assert_eq!(request_embedding(&paths, "away", LONG), None);
        // It listens and never says anything.
        let _listener = UnixListener::bind(paths.socket_file()).unwrap();
        let short = Duration::from_millis(EMBEDDING_BUDGET_MS);
        assert_eq!(request_embedding(&paths, "silent", short), None);
        assert_eq!(request_embedding(&paths, " \n", LONG), None);
        assert_eq!(request_embedding(&paths, "no time", Duration::ZERO), None);
        assert!(started.elapsed() < LONG);
    }
}
