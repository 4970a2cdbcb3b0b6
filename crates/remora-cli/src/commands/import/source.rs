//! The file that is read, line by line, as often as it is needed. What comes
//! through a pipe is put aside first, in a file without a name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::CliError;

/// No line of ours is longer; what is longer is no line.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// What comes through a pipe is put aside on the disk: it must end somewhere.
const MAX_PIPED_BYTES: u64 = 16 * 1024 * 1024 * 1024;

/// An open file of lines.
#[derive(Debug)]
pub(crate) struct ImportSource {
    /// As the user named it.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    file: File,
}

/// A line, or that there was one which is too long.
pub(crate) enum SourceLine<'a> {
    Whole(&'a [u8]),
    TooLong,
}

impl ImportSource {
    /// Opens a file; `-` is what comes from stdin, put aside in `folder`.
    pub(crate) fn open(path: &Path, folder: &Path) -> Result<Self, CliError> {
        if path.as_os_str() == "-" {
            let stdin = io::stdin().lock();
            return Self::buffer_input(stdin, "stdin".to_owned(), folder).map_err(|source| {
                CliError::File {
                    path: "stdin".into(),
                    source,
                }
            });
        }
        let fault = |source| CliError::File {
            path: path.to_path_buf(),
            source,
        };
        let name = path.display().to_string();
        let kind = std::fs::metadata(path).map_err(fault)?.file_type();
        // Before it is opened: opening a device can have effects of its own.
        if !kind.is_file() && !is_pipe(kind) {
            let why = "is a directory or a device, not a file";
            return Err(fault(io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let file = File::open(path).map_err(fault)?;
        let meta = file.metadata().map_err(fault)?;
        if !meta.is_file() {
            return Self::buffer_input(file, name, folder).map_err(fault);
        }
        Ok(Self {
            name,
            bytes: meta.len(),
            file,
        })
    }

    fn buffer_input(input: impl Read, name: String, folder: &Path) -> io::Result<Self> {
        // In the data directory, not in /tmp: it holds unredacted text and may
        // be large.
        let mut file = tempfile::tempfile_in(folder)?;
        let bytes = io::copy(&mut input.take(MAX_PIPED_BYTES + 1), &mut file)?;
        if bytes > MAX_PIPED_BYTES {
            let why = format!("more than {MAX_PIPED_BYTES} bytes came through a pipe; give a file");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        Ok(Self { name, bytes, file })
    }

    /// Hands every line that holds something to `take`, with its number and
    /// how many bytes were read so far.
    pub(crate) fn for_each_line(
        &self,
        take: &mut dyn FnMut(u64, u64, SourceLine<'_>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let fault = |source| CliError::File {
            path: self.name.clone().into(),
            source,
        };
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(fault)?;
        let mut reader = BufReader::with_capacity(256 * 1024, file);
        let mut line = Vec::new();
        let (mut number, mut done) = (0, 0);
        loop {
            line.clear();
            let read = reader
                .by_ref()
                .take(MAX_LINE_BYTES)
                .read_until(b'\n', &mut line);
            let read = read.map_err(fault)? as u64;
            if read == 0 {
                return Ok(());
            }
            number += 1;
            done += read;
            let whole = read < MAX_LINE_BYTES || line.ends_with(b"\n");
            if !whole {
                done += reader.skip_until(b'\n').map_err(fault)? as u64;
                take(number, done, SourceLine::TooLong)?;
                continue;
            }
            let mut text = line.as_slice();
            if number == 1 {
                // Editors on Windows put a mark in front of the first line.
                text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            }
            let text = text.trim_ascii();
            if !text.is_empty() {
                take(number, done, SourceLine::Whole(text))?;
            }
        }
    }
}

/// A pipe that the caller named, as a shell's `<(...)` does.
#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}
