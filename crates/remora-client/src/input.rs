//! Reads stdin within a size and a time, whatever stands at the other end.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What came in.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether there was more, or might have been.
    pub cut: bool,
}

/// Reads until the end, `limit` bytes or the end of `patience`.
pub fn read_input(mut source: impl Read + AsFd, limit: usize, patience: Duration) -> Input {
    let end = Instant::now() + patience;
    let mut bytes = Vec::with_capacity(16 * 1024);
    let mut chunk = vec![0; 64 * 1024];
    loop {
        if !readable(&source, end) {
            return Input { bytes, cut: true };
        }
        match source.read(&mut chunk) {
            Ok(0) => return Input { bytes, cut: false },
            Ok(n) => {
                let room = limit - bytes.len();
                bytes.extend_from_slice(&chunk[..n.min(room)]);
                if n > room {
                    return Input { bytes, cut: true };
                }
            }
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => return Input { bytes, cut: true },
        }
    }
}

/// Waits until a read will not block. A file that cannot be polled is readable.
fn readable(source: &impl AsFd, end: Instant) -> bool {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        let wait = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(source, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return false,
            Err(rustix::io::Errno::INTR) => {}
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
        let whole = Input {
            bytes: b"all of it".to_vec(),
            cut: false,
        };
        assert_eq!(read_input(theirs, 100, LONG), whole);
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
