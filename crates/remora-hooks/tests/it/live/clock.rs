//! Time that passes by steps. `sleep` is a program of ours that stops at a gate
//! until the clock has reached its end; the clock moves only when everything that
//! runs is at a gate. So the order of a recording is kept, whatever the machine
//! does, and no one waits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::naps::Naps;

/// The stand-in for `sleep`, first in every PATH.
pub(super) const SLEEP: &str = "#!/bin/sh\n\
g=$LIVE_GATES/$$.$1\n\
mkfifo \"$g~\" && mv \"$g~\" \"$g\" && read -r _ <\"$g\"\n";

/// A process that sleeps.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    pub(super) path: PathBuf,
    pub(super) pid: i32,
    pub(super) session: i32,
    pub(super) due_us: u64,
    pub(super) seen: Instant,
}

pub(super) struct Clock {
    folder: PathBuf,
    now_us: Cell<u64>,
    /// Threads of ours that sleep.
    pub(super) naps: Arc<Naps>,
    gates: RefCell<BTreeMap<PathBuf, Gate>>,
}

pub(super) fn to_us(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds).as_micros()).unwrap()
}

impl Clock {
    pub(super) fn new(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).unwrap();
        Self {
            folder,
            now_us: Cell::new(0),
            naps: Arc::default(),
            gates: RefCell::default(),
        }
    }

    pub(super) fn now_us(&self) -> u64 {
        self.now_us.get()
    }

    pub(super) fn advance(&self, to_us: u64) {
        self.now_us.set(self.now_us.get().max(to_us));
        self.naps.advance(self.now_us.get());
    }

    /// Every process that sleeps now.
    pub(super) fn list_gates(&self) -> Vec<Gate> {
        let mut gates = self.gates.borrow_mut();
        let mut there = Vec::new();
        for entry in fs::read_dir(&self.folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let Some((pid, seconds)) = name.split_once('.').filter(|_| !name.ends_with('~')) else {
                continue;
            };
            let path = entry.path();
            let pid: i32 = pid.parse().unwrap();
            if !is_alive(pid) {
                let _ = fs::remove_file(&path);
                continue;
            }
            let Some(session) = session_of(pid) else {
                continue;
            };
            let began_us = self.now_us.get();
            let gate = gates.entry(path.clone()).or_insert_with(|| Gate {
                path,
                pid,
                session,
                due_us: began_us + to_us(seconds.parse().unwrap()),
                seen: Instant::now(),
            });
            there.push(gate.clone());
        }
        there.sort_by_key(|gate| (gate.due_us, gate.pid));
        there
    }

    /// Lets one go on.
    pub(super) fn open(&self, gate: &Gate) {
        let mut options = fs::OpenOptions::new();
        options
            .write(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        // Without a reader yet the pipe cannot be opened: it is between its name and its read.
        wait_for("a sleeper reads its gate", || {
            if !is_alive(gate.pid) {
                return true;
            }
            options
                .open(&gate.path)
                .and_then(|mut pipe| pipe.write_all(b"\n"))
                .is_ok()
        });
        let _ = fs::remove_file(&gate.path);
        self.gates.borrow_mut().remove(&gate.path);
    }
}

/// Looks again and again until it is so.
pub(super) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_mins(1),
            "waited in vain until {what}"
        );
        std::thread::park_timeout(Duration::from_micros(500));
    }
}

fn read_stat(pid: i32) -> Option<(char, i32)> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // Behind the name, which may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let session = fields.nth(2)?.parse().ok()?;
    Some((state, session))
}

/// Whether it runs; one that has ended and was not waited for does not.
pub(super) fn is_alive(pid: i32) -> bool {
    read_stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

pub(super) fn session_of(pid: i32) -> Option<i32> {
    read_stat(pid).map(|(_, session)| session)
}

/// Read as those of the gates are read: 0, for all of them, where the leader of the
/// session is outside the process namespace that the tests run in.
pub(super) fn own_session() -> i32 {
    session_of(std::process::id().cast_signed()).unwrap()
}
