//! What a process takes of the system, as `/proc` says, and whether that grows.

use std::fmt;
use std::fs;

use anyhow::{Context as _, Result, ensure};

/// How much more than the first third the last may take, in percent. Pages that an allocator
/// keeps come and go; a leak of 100 bytes an event would be ten times as much.
const GROWTH_PERCENT: u64 = 5;
/// What may be there or not at the instant of a look: threads that are about to end, and
/// what belongs to them. What leaks is counted in hundreds.
const CHANCE: u64 = 4;
/// Samples that do not count: caches, thread stacks and the allocator fill up.
const WARM_UP_SAMPLES: usize = 5;

/// One look at a process.
#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    resident_kb: u64,
    descriptors: u64,
    threads: u64,
    children: u64,
    files: u64,
}

/// Looks at the process, and at the files below its folder.
pub(super) fn read_usage(pid: u32, folder: &std::path::Path) -> Result<Usage> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let number = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let word = line.and_then(|rest| rest.split_whitespace().next());
        word.and_then(|word| word.parse().ok())
            .with_context(|| format!("/proc has no {key}"))
    };
    Ok(Usage {
        resident_kb: number("VmRSS:")?,
        threads: number("Threads:")?,
        descriptors: fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64,
        children: count_children(pid),
        files: count_files(folder),
    })
}

fn count_children(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten();
    let lists = tasks.flatten().map(|task| {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        list.split_whitespace().count() as u64
    });
    lists.sum()
}

fn count_files(folder: &std::path::Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let counts = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count_files(&entry.path()),
        _ => 1,
    });
    counts.sum()
}

/// The means of the first and the last third of a run.
pub(super) struct Thirds {
    first: Usage,
    last: Usage,
    samples: usize,
}

impl Thirds {
    /// Fails if the last third took more than the first.
    pub(super) fn compare(samples: &[Usage]) -> Result<Self> {
        let counted = samples.get(WARM_UP_SAMPLES..).unwrap_or_default();
        let third = counted.len() / 3;
        ensure!(
            third > 0,
            "{} samples are too few to compare",
            samples.len()
        );
        let thirds = Self {
            first: average(&counted[..third]),
            last: average(&counted[counted.len() - third..]),
            samples: samples.len(),
        };
        for (name, read) in FIELDS {
            let (first, last) = (read(&thirds.first), read(&thirds.last));
            ensure!(
                last * 100 <= (first + CHANCE) * (100 + GROWTH_PERCENT),
                "{name} grew from {first} to {last}\n{thirds}"
            );
        }
        Ok(thirds)
    }
}

type ReadField = fn(&Usage) -> u64;

const FIELDS: [(&str, ReadField); 5] = [
    ("resident KiB", |usage| usage.resident_kb),
    ("descriptors", |usage| usage.descriptors),
    ("threads", |usage| usage.threads),
    ("children", |usage| usage.children),
    ("files", |usage| usage.files),
];

fn average(samples: &[Usage]) -> Usage {
    let count = samples.len().max(1) as u64;
    let mean = |read: ReadField| samples.iter().map(read).sum::<u64>().div_ceil(count);
    Usage {
        resident_kb: mean(|usage| usage.resident_kb),
        descriptors: mean(|usage| usage.descriptors),
        threads: mean(|usage| usage.threads),
        children: mean(|usage| usage.children),
        files: mean(|usage| usage.files),
    }
}

impl fmt::Display for Thirds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples; first and last third:", self.samples)?;
        for (name, read) in FIELDS {
            write!(f, " {name} {} {}", read(&self.first), read(&self.last))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(read: impl Fn(u64) -> u64) -> Vec<Usage> {
        let numbers = 0..50;
        let sample = |number| Usage {
            resident_kb: read(number),
            ..Usage::default()
        };
        numbers.map(sample).collect()
    }

    #[test]
    fn what_grows_is_a_fault_and_what_wavers_is_not() {
        assert!(Thirds::compare(&samples(|number| 9000 + number % 7 * 20)).is_ok());
        let grown = Thirds::compare(&samples(|number| 9000 + number * 20));
        let fault = grown
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(fault.starts_with("resident KiB grew from 9"), "{fault}");
        assert!(Thirds::compare(&samples(|_| 1)[..6]).is_err());
    }
}
