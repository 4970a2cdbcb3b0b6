//! The children of a process in a file, and what ends them once that process was killed
//! (`docs/design/0040`).
//!
//! A row for each child: a number and a process, eight bytes each. Rows are written in place
//! and used again, so the file stays as small as the largest number of children at a time.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::children::ChildNumber;

/// The variable that a recorded child carries: its host's process and its number.
pub(super) const MARK_VARIABLE: &str = "REMORA_HANDLER";
const ROW_BYTES: usize = 16;
/// How long an announced child may take to appear once its host is gone.
const APPEAR_LIMIT: Duration = Duration::from_secs(2);
/// How often to look for it.
const APPEAR_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// The value of `MARK_VARIABLE`.
pub(super) fn build_mark(host: u32, number: u64) -> String {
    format!("{host}.{number}")
}

/// The file, as its host writes it.
pub(super) struct ChildTable {
    file: File,
    /// Whether each row is in use.
    rows: Vec<bool>,
    /// Numbers handed out.
    announced: u64,
}

impl ChildTable {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            rows: Vec::new(),
            announced: 0,
        }
    }

    pub(super) fn announce(&mut self) -> ChildNumber {
        let free = self.rows.iter().position(|used| !used);
        let row = free.unwrap_or_else(|| {
            self.rows.push(true);
            self.rows.len() - 1
        });
        self.rows[row] = true;
        self.announced += 1;
        let number = self.announced;
        self.write_row(row, number, 0);
        ChildNumber { row, number }
    }

    pub(super) fn add_process(&mut self, child: ChildNumber, pid: Pid) {
        let pid = u64::from(pid.as_raw_nonzero().get().unsigned_abs());
        self.write_row(child.row, child.number, pid);
    }

    pub(super) fn remove(&mut self, child: ChildNumber) {
        self.rows[child.row] = false;
        self.write_row(child.row, 0, 0);
    }

    fn write_row(&self, row: usize, number: u64, pid: u64) {
        let mut bytes = [0; ROW_BYTES];
        bytes[..8].copy_from_slice(&number.to_ne_bytes());
        bytes[8..].copy_from_slice(&pid.to_ne_bytes());
        // A disk that is full is no reason to run no hooks.
        let _ = self.file.write_all_at(&bytes, (row * ROW_BYTES) as u64);
    }
}

/// Waits until the input ends, which nothing is ever written to: the process `host` is gone.
/// Then ends the children that it left in the table.
pub fn guard_children(mut input: impl Read, host: u32, table: &Path) -> io::Result<()> {
    io::copy(&mut input, &mut io::sink())?;
    // A host that ended by itself left none, and maybe not even the file.
    let Ok(table) = std::fs::read(table) else {
        return Ok(());
    };
    let mut announced = Vec::new();
    for (number, pid) in read_rows(&table) {
        match pid {
            // Its host had not noticed its end, so the id is its own or only just free.
            Some(pid) => drop(kill_process_group(pid, Signal::KILL)),
            None => announced.push(build_mark(host, number)),
        }
    }
    end_announced(announced);
    Ok(())
}

fn read_rows(table: &[u8]) -> Vec<(u64, Option<Pid>)> {
    let (rows, _) = table.as_chunks::<ROW_BYTES>();
    let numbers = rows.iter().map(|row| {
        let (halves, _) = row.as_chunks::<8>();
        (u64::from_ne_bytes(halves[0]), u64::from_ne_bytes(halves[1]))
    });
    let used = numbers.filter(|(number, _)| *number != 0);
    used.map(|(number, pid)| (number, i32::try_from(pid).ok().and_then(Pid::from_raw)))
        .collect()
}

/// Children of which only the number is known are found by what they carry.
fn end_announced(mut marks: Vec<String>) {
    let limit = Instant::now() + APPEAR_LIMIT;
    while !marks.is_empty() && Instant::now() < limit {
        marks.retain(|mark| match find_leader(mark) {
            Some(pid) => kill_process_group(pid, Signal::KILL).is_err(),
            None => true,
        });
        // Without descriptors it only takes its time.
        let _ = poll(&mut [], Some(&APPEAR_INTERVAL));
    }
}

/// The process that carries the mark and leads its group. Only where `/proc` exists.
fn find_leader(mark: &str) -> Option<Pid> {
    let entry = format!("{MARK_VARIABLE}={mark}");
    let list = std::fs::read_dir("/proc").ok()?.flatten();
    let ids = list.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(Pid::from_raw).find(|pid| {
        let file = format!("/proc/{}/environ", pid.as_raw_nonzero());
        let environment = std::fs::read(file).unwrap_or_default();
        let mut entries = environment.split(|byte| *byte == 0);
        entries.any(|found| found == entry.as_bytes())
            && rustix::process::getpgid(Some(*pid)) == Ok(*pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_used_again_and_say_who_is_left() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut table = ChildTable::new(file.reopen().unwrap());
        let [first, second] = [table.announce(), table.announce()];
        table.add_process(first, Pid::from_raw(40).unwrap());
        table.add_process(second, Pid::from_raw(50).unwrap());
        table.remove(first);
        let third = table.announce();
        assert_eq!((third.row, third.number), (first.row, 3));
        let bytes = std::fs::read(file.path()).unwrap();
        assert_eq!(read_rows(&bytes), [(3, None), (2, Pid::from_raw(50))]);
        table.remove(third);
        table.remove(second);
        assert_eq!(read_rows(&std::fs::read(file.path()).unwrap()), []);
    }
}
