//! Files as events in the order of time: one stream a file, and those of a
//! session and its subagents as one.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use remora_agents::transcript::{
    ReadTranscript, TranscriptEnd, TranscriptEvent, TranscriptSource, TranscriptSpec,
};
use remora_files::{MAX_SETTINGS_BYTES, open_regular, read_file};

use remora_server::panics::catch_panic;

use super::find::{TranscriptFile, read_first_line};
use super::state::ReadPosition;
use super::{MAX_UNREADABLE_LINES, UnreadableLine};

/// No line of a transcript is longer; what is longer is no line.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes read at once from each of several files.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// One file on its way.
pub(super) struct TranscriptStream<'a> {
    pub(super) file: &'a TranscriptFile,
    reader: Box<dyn ReadTranscript>,
    input: BufReader<File>,
    /// The end of the last line that was read.
    at: ReadPosition,
    /// The place up to which everything was handed on and is complete.
    pub(super) settled: ReadPosition,
    /// Events that wait, each with the line that completed it.
    queue: VecDeque<(u64, TranscriptEvent)>,
    over: bool,
    buffer: Vec<u8>,
}

impl<'a> TranscriptStream<'a> {
    pub(super) fn open(file: &'a TranscriptFile, format: &TranscriptSpec) -> io::Result<Self> {
        let mut input = open_regular(&file.path)?;
        input.seek(SeekFrom::Start(file.from.offset))?;
        let note = (format.note_file)(&file.path, file.kind);
        let note = note.and_then(|note| read_file(&note, MAX_SETTINGS_BYTES).ok());
        let is_resumed = file.from.offset > 0;
        let first_line = is_resumed.then(|| read_first_line(&file.path)).flatten();
        let mut reader = (format.open_reader)(TranscriptSource {
            path: &file.path,
            session: &file.session,
            kind: file.kind,
            note: note.as_deref(),
            first_line: first_line.as_deref(),
        });
        // Its session has begun already; a second start would be another
        // session's.
        if is_resumed {
            reader.mark_resumed();
        }
        Ok(Self {
            file,
            reader,
            input: BufReader::with_capacity(READ_BUFFER_BYTES, input),
            at: file.from,
            settled: file.from,
            queue: VecDeque::new(),
            over: false,
            buffer: Vec::new(),
        })
    }

    /// Bytes read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.at.offset - self.file.from.offset
    }

    /// When the next event happened.
    pub(super) fn peek_time(&mut self, bad: &mut Vec<UnreadableLine>) -> Option<i64> {
        while self.queue.is_empty() {
            // Nothing waits: if nothing is open either, reading may go on here.
            if self.reader.is_settled() {
                self.settled = self.at;
            }
            if self.over {
                return None;
            }
            if let Err(e) = self.read_next_line(bad) {
                self.record_unreadable_line(bad, self.at.line + 1, e.to_string());
                self.over = true;
            }
        }
        self.queue.front().map(|(_, event)| event.at)
    }

    fn pop(&mut self) -> Option<(u64, TranscriptEvent)> {
        self.queue.pop_front()
    }

    fn read_next_line(&mut self, bad: &mut Vec<UnreadableLine>) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.buffer);
        line.clear();
        let mut limited = self.input.by_ref().take(MAX_LINE_BYTES);
        let read = limited.read_until(b'\n', &mut line)? as u64;
        let whole = line.ends_with(b"\n");
        let queue = &mut self.queue;
        if read == 0 || (!whole && read < MAX_LINE_BYTES && self.file.ending == TranscriptEnd::Open)
        {
            // What is being written now is read the next time.
            self.over = true;
            let line = self.at.line;
            self.reader
                .finish_transcript(self.file.ending, &mut |event| {
                    queue.push_back((line, event));
                });
            return Ok(());
        }
        let result = if whole || read < MAX_LINE_BYTES {
            self.at.advance_past(&line, 0);
            let text = line.trim_ascii();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            if text.is_empty() {
                Ok(())
            } else {
                let (line, reader) = (self.at.line, &mut self.reader);
                let mut push = |event| queue.push_back((line, event));
                match catch_panic(|| reader.read_line(text, &mut push)) {
                    Ok(read) => read.map_err(|fault| fault.to_string()),
                    Err(panicked) => Err(panicked.to_string()),
                }
            }
        } else {
            let skipped = self.input.skip_until(b'\n')? as u64;
            self.at.advance_past(&line, skipped);
            Err("the line is longer than 64 MiB".to_owned())
        };
        self.buffer = line;
        if let Err(reason) = result {
            self.record_unreadable_line(bad, self.at.line, reason);
        }
        Ok(())
    }

    fn record_unreadable_line(&self, bad: &mut Vec<UnreadableLine>, line: u64, reason: String) {
        if bad.len() < MAX_UNREADABLE_LINES {
            bad.push(UnreadableLine {
                file: self.file.path.clone(),
                line,
                reason,
            });
        }
    }
}

/// An event with the number of its file and of the line that completed it.
pub(super) struct NextEvent {
    pub(super) file: usize,
    pub(super) line: u64,
    pub(super) event: TranscriptEvent,
}

/// The next event of all streams, by time.
pub(super) fn next_event(
    streams: &mut [TranscriptStream<'_>],
    bad: &mut Vec<UnreadableLine>,
) -> Option<NextEvent> {
    let mut first: Option<(i64, usize)> = None;
    for (n, stream) in streams.iter_mut().enumerate() {
        if let Some(at) = stream.peek_time(bad)
            // Of equal times the earlier file wins, which is the session
            // itself.
            && first.is_none_or(|(before, _)| at < before)
        {
            first = Some((at, n));
        }
    }
    let (_, file) = first?;
    let (line, event) = streams.get_mut(file)?.pop()?;
    Some(NextEvent { file, line, event })
}
