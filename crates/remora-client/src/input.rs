//! Reads stdin within a size and a time, whatever is at the other end.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};

/// Most events fit into this; memory that is never touched costs nothing.
const INITIAL_CAPACITY_BYTES: usize = 32 * 1024;
/// What a pipe holds.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// Reads after the time is over, for what lay there before: a full pipe in pieces of
/// half the initial capacity, and its end.
const MAX_LATE_READS: usize = 2 * READ_CHUNK_BYTES / INITIAL_CAPACITY_BYTES + 1;

/// What came in.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookInput {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether there was more, or might have been.
    pub cut: bool,
}

/// Reads until the end, `limit` bytes or the end of `patience`. What lies there by
/// then is read in any case: on a busy machine this process may be the late one.
pub fn read_input(source: impl AsFd, limit: usize, patience: Duration) -> HookInput {
    let end = Instant::now() + patience;
    let mut bytes = Vec::with_capacity(INITIAL_CAPACITY_BYTES);
    let mut late_reads = 0;
    loop {
        if !wait_readable(&source, end) || late_reads == MAX_LATE_READS {
            return HookInput { bytes, cut: true };
        }
        late_reads += usize::from(Instant::now() >= end);
        // Straight to where the bytes stay: a buffer in between would be
        // cleared first and copied from afterwards.
        if bytes.capacity() - bytes.len() < INITIAL_CAPACITY_BYTES / 2 {
            bytes.reserve(READ_CHUNK_BYTES);
        }
        match read(&source, spare_capacity(&mut bytes)) {
            Ok(0) => return HookInput { bytes, cut: false },
            // Cut only above the limit: an input of exactly that size is
            // complete, which the next read shows.
            Ok(_) if bytes.len() > limit => {
                bytes.truncate(limit);
                return HookInput { bytes, cut: true };
            }
            Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
            // What came so far is still captured: a cut payload is closed by
            // `repair_json` before it is decoded.
            Err(_) => return HookInput { bytes, cut: true },
        }
    }
}

/// Waits until a read will not block, and looks once if there is no time to wait.
/// A file that cannot be polled is readable.
pub(crate) fn wait_readable(source: &impl AsFd, end: Instant) -> bool {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let wait = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(source, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return false,
            Err(Errno::INTR) if !left.is_zero() => {}
            // Not every descriptor can be polled; then the read itself says
            // what is wrong.
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn reads_to_the_end() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(b"all of it").unwrap();
        drop(ours);
        let whole = HookInput {
            bytes: b"all of it".to_vec(),
            cut: false,
        };
        assert_eq!(read_input(theirs, 100, LONG), whole);
    }

    #[test]
    fn what_lies_there_is_read_also_by_a_reader_that_is_late() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(&vec![b'x'; READ_CHUNK_BYTES]).unwrap();
        drop(ours);
        let read = read_input(theirs, 2 * READ_CHUNK_BYTES, Duration::ZERO);
        assert_eq!((read.bytes.len(), read.cut), (READ_CHUNK_BYTES, false));
        let (_ours, theirs) = UnixStream::pair().unwrap();
        let none = HookInput {
            bytes: Vec::new(),
            cut: true,
        };
        assert_eq!(read_input(theirs, 100, Duration::ZERO), none);
    }

    #[test]
    fn stops_at_the_limit_and_says_so() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(&[b'x'; 101]).unwrap();
        let read = read_input(theirs, 100, LONG);
        assert_eq!((read.bytes.len(), read.cut), (100, true));
    }

    #[test]
    fn an_end_that_never_comes_is_not_waited_for() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        ours.write_all(b"{\"a\":").unwrap();
        let read = read_input(theirs, 100, Duration::from_millis(20));
        assert_eq!((read.bytes.as_slice(), read.cut), (&b"{\"a\":"[..], true));
        drop(ours);
    }
}
