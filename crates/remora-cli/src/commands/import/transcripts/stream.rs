//! Files as events in the order of time: one stream a file, and those of a
//! session and its subagents as one.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use remora_agents::transcript::{self, Ending, Kind, Reader, Told};
use remora_files::{MAX_SETTINGS_BYTES, open_regular, read_file};

use remora_server::panics::catch;

use super::find::Transcript;
use super::state::Mark;
use super::{Bad, MOST_BAD};

/// No line of a transcript is longer; what is longer is no line.
const LINE: u64 = 64 * 1024 * 1024;
/// Bytes read at once from each of several files.
const BUFFER: usize = 64 * 1024;

/// One file on its way.
pub(super) struct Stream<'a> {
    pub(super) file: &'a Transcript,
    reader: Reader,
    input: BufReader<File>,
    /// The end of the last line that was read.
    at: Mark,
    /// The place up to which everything was handed on and is complete.
    pub(super) settled: Mark,
    /// Events that wait, each with the line that completed it.
    told: VecDeque<(u64, Told)>,
    over: bool,
    buffer: Vec<u8>,
}

impl<'a> Stream<'a> {
    pub(super) fn open(file: &'a Transcript) -> io::Result<Self> {
        let mut input = open_regular(&file.path)?;
        input.seek(SeekFrom::Start(file.from.offset))?;
        let note = match file.kind {
            Kind::Session => None,
            Kind::Subagent => {
                read_file(&file.path.with_extension("meta.json"), MAX_SETTINGS_BYTES).ok()
            }
        };
        let note = note.and_then(|bytes| transcript::agent_note(&bytes));
        let path = file.session.display().to_string();
        let reader = Reader::new(path, file.kind, note);
        Ok(Self {
            file,
            reader: if file.from.offset > 0 {
                reader.resumed()
            } else {
                reader
            },
            input: BufReader::with_capacity(BUFFER, input),
            at: file.from,
            settled: file.from,
            told: VecDeque::new(),
            over: false,
            buffer: Vec::new(),
        })
    }

    /// Bytes read so far.
    pub(super) fn read(&self) -> u64 {
        self.at.offset - self.file.from.offset
    }

    /// When the next event happened.
    pub(super) fn peek(&mut self, bad: &mut Vec<Bad>) -> Option<i64> {
        while self.told.is_empty() {
            // Nothing waits: if nothing is open either, reading may go on here.
            if self.reader.is_settled() {
                self.settled = self.at;
            }
            if self.over {
                return None;
            }
            if let Err(e) = self.line(bad) {
                self.fault(bad, self.at.line + 1, e.to_string());
                self.over = true;
            }
        }
        self.told.front().map(|(_, told)| told.at)
    }

    fn pop(&mut self) -> Option<(u64, Told)> {
        self.told.pop_front()
    }

    fn line(&mut self, bad: &mut Vec<Bad>) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.buffer);
        line.clear();
        let mut limited = self.input.by_ref().take(LINE);
        let read = limited.read_until(b'\n', &mut line)? as u64;
        let whole = line.ends_with(b"\n");
        let told = &mut self.told;
        if read == 0 || (!whole && read < LINE && self.file.ending == Ending::Open) {
            // What is being written now is read the next time.
            self.over = true;
            let line = self.at.line;
            self.reader
                .end(self.file.ending, &mut |event| told.push_back((line, event)));
            return Ok(());
        }
        let result = if whole || read < LINE {
            self.at.pass(&line, 0);
            let text = line.trim_ascii();
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            if text.is_empty() {
                Ok(())
            } else {
                let (line, reader) = (self.at.line, &mut self.reader);
                let mut push = |event| told.push_back((line, event));
                match catch(|| reader.line(text, &mut push)) {
                    Ok(read) => read.map_err(|fault| fault.to_string()),
                    Err(panicked) => Err(panicked.to_string()),
                }
            }
        } else {
            let skipped = self.input.skip_until(b'\n')? as u64;
            self.at.pass(&line, skipped);
            Err("the line is longer than 64 MiB".to_owned())
        };
        self.buffer = line;
        if let Err(reason) = result {
            self.fault(bad, self.at.line, reason);
        }
        Ok(())
    }

    fn fault(&self, bad: &mut Vec<Bad>, line: u64, reason: String) {
        if bad.len() < MOST_BAD {
            bad.push(Bad {
                file: self.file.path.clone(),
                line,
                reason,
            });
        }
    }
}

/// An event with the number of its file and of the line that completed it.
pub(super) struct Next {
    pub(super) file: usize,
    pub(super) line: u64,
    pub(super) told: Told,
}

/// The next event of all streams, by time.
pub(super) fn next(streams: &mut [Stream<'_>], bad: &mut Vec<Bad>) -> Option<Next> {
    let mut first: Option<(i64, usize)> = None;
    for (n, stream) in streams.iter_mut().enumerate() {
        if let Some(at) = stream.peek(bad)
            && first.is_none_or(|(before, _)| at < before)
        {
            first = Some((at, n));
        }
    }
    let (_, file) = first?;
    let (line, told) = streams.get_mut(file)?.pop()?;
    Some(Next { file, line, told })
}
