//! What was injected into a session, so that nothing is injected twice: one
//! file per session, only ever appended to, one line per item. The worker reads
//! the same lines into the database.
//!
//! A line is item, trigger, why, tokens, time and subagent, with tabs between.
//! `-` in the item's place means that the model has lost its context; `=` that
//! an event is being answered, so that a second installation stays silent.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_core::hash::stable_hash;
use remora_core::record::Injection;

use crate::{DataPaths, append_our_file, make_our_folder, open_our_file};

/// More of a file is not read: some ten thousand lines, the last ones.
const MAX_READ_BYTES: u64 = 1024 * 1024;
/// A file does not grow beyond this.
const MAX_LOG_BYTES: u64 = 8 * MAX_READ_BYTES;
/// How long a hook waits for another one of the same session.
const LOCK_TIMEOUT: Duration = Duration::from_millis(60);
/// Two installations report the same event within this time, in milliseconds.
/// The same session may well be resumed again a few seconds later.
const ECHO_WINDOW_MS: i64 = 1_500;
const RESET_MARKER: &str = "-";
const CLAIM_MARKER: &str = "=";

/// The file of one session, held by this process while it answers: two answers
/// at the same time take turns.
#[derive(Debug)]
pub struct InjectionLog {
    file: File,
    size: u64,
    subagent: Option<String>,
    /// The triggers at which each item was injected since the model last lost
    /// its context.
    triggers_by_item: HashMap<String, Vec<String>>,
    /// Notes and claimed events, which need no second answer.
    notices: HashSet<String>,
    /// Events that were answered within the echo window of the last one, by any
    /// process, and when.
    claims: Vec<(String, i64)>,
}

/// One item that is about to be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewInjection<'a> {
    /// `#12` or `memory://…`.
    pub item: &'a str,
    /// The recall trigger.
    pub trigger: &'a str,
    /// Why it was chosen.
    pub why: &'a str,
    /// Its estimated cost in tokens.
    pub tokens: u32,
}

impl InjectionLog {
    /// Opens the file and waits for its turn; `subagent` is the reader, if it
    /// is not the session itself.
    pub fn open(paths: &DataPaths, session: &str, subagent: Option<&str>) -> io::Result<Self> {
        let path = injection_log_file(paths, session);
        let mut file = match open_log(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                make_our_folder(&paths.injection_log_dir())?;
                open_log(&path)?
            }
            other => other?,
        };
        lock_file(&file)?;
        let size = file.metadata()?.len();
        // Only after the lock: another hook may have appended while this one
        // waited.
        file.seek(SeekFrom::Start(size.saturating_sub(MAX_READ_BYTES)))?;
        let mut text = read_text(&mut file)?;
        if size > MAX_READ_BYTES {
            // The first line is only a part of one.
            text.drain(..text.find('\n').map_or(text.len(), |end| end + 1));
        }
        let mut this = Self {
            file,
            size,
            subagent: subagent.map(str::to_owned),
            triggers_by_item: HashMap::new(),
            notices: HashSet::new(),
            claims: Vec::new(),
        };
        text.lines()
            .filter_map(LogLine::parse_line)
            .for_each(|line| this.apply_line(&line));
        if !text.is_empty() && !text.ends_with('\n') {
            // A full disk has cut the last line; the next one is whole.
            this.append_lines("\n")?;
        }
        Ok(this)
    }

    /// The triggers at which this was injected into the session, or into this
    /// subagent of it.
    pub fn injection_triggers(&self, item: &str) -> impl Iterator<Item = &str> {
        let triggers = self.triggers_by_item.get(&sanitize_field(item));
        triggers.into_iter().flatten().map(String::as_str)
    }

    /// Whether this was reported before, such as what is known of a file.
    pub fn has_noted(&self, what: &str) -> bool {
        self.notices.contains(&sanitize_field(what))
    }

    /// Records that this was reported.
    pub fn record_note(&mut self, what: &str, now: i64) -> io::Result<()> {
        self.record_injections(&[new_marker(CLAIM_MARKER, what)], now)
    }

    /// Claims an event for this process; `false` when another one has it.
    pub fn claim_event(&mut self, key: &str, now: i64) -> io::Result<bool> {
        let key = sanitize_field(key);
        // A clock may go back between two processes, so the distance counts,
        // not the order.
        let echo =
            |(known, time): &(String, i64)| *known == key && (now - time).abs() < ECHO_WINDOW_MS;
        if self.claims.iter().any(echo) {
            return Ok(false);
        }
        self.record_injections(&[new_marker(CLAIM_MARKER, &key)], now)?;
        Ok(true)
    }

    /// The model has lost its context: everything may be injected again.
    pub fn reset(&mut self, why: &str, now: i64) -> io::Result<()> {
        self.record_injections(&[new_marker(RESET_MARKER, why)], now)
    }

    /// Records injections, one line each, in one write.
    pub fn record_injections(&mut self, giving: &[NewInjection<'_>], now: i64) -> io::Result<()> {
        let subagent = sanitize_field(self.subagent.as_deref().unwrap_or_default());
        let mut lines = String::new();
        for one in giving {
            // Writing to a string cannot fail.
            let _ = writeln!(
                lines,
                "{}\t{}\t{}\t{}\t{now}\t{subagent}",
                sanitize_field(one.item),
                sanitize_field(one.trigger),
                sanitize_field(one.why),
                one.tokens
            );
        }
        if lines.is_empty() {
            return Ok(());
        }
        self.append_lines(&lines)?;
        lines
            .lines()
            .filter_map(LogLine::parse_line)
            .for_each(|line| self.apply_line(&line));
        Ok(())
    }

    /// Some lines more; a file that has become too long takes none.
    fn append_lines(&mut self, lines: &str) -> io::Result<()> {
        // Refused rather than cut: without a record the same item would be
        // injected again and again.
        if self.size > MAX_LOG_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.write_all(lines.as_bytes())?;
        self.size += lines.len() as u64;
        Ok(())
    }

    fn apply_line(&mut self, line: &LogLine<'_>) {
        if line.item == CLAIM_MARKER {
            let is_echo = |(_, time): &(String, i64)| (line.time - time).abs() < ECHO_WINDOW_MS;
            // A session answers thousands of events; only those a second
            // installation may still repeat are kept.
            self.claims.retain(is_echo);
            self.claims.push((line.trigger.to_owned(), line.time));
        }
        // A subagent has a context of its own: what the session has seen, it
        // has not.
        if line.subagent != self.subagent.as_deref() {
            return;
        }
        match line.item {
            RESET_MARKER => {
                self.triggers_by_item.clear();
                self.notices.clear();
            }
            CLAIM_MARKER => {
                self.notices.insert(line.trigger.to_owned());
            }
            item => {
                let triggers = self.triggers_by_item.entry(item.to_owned()).or_default();
                triggers.push(line.trigger.to_owned());
            }
        }
    }
}

/// A line that is not an injection, with a marker in the item's column.
fn new_marker<'a>(sign: &'a str, what: &'a str) -> NewInjection<'a> {
    NewInjection {
        item: sign,
        trigger: what,
        why: "",
        tokens: 0,
    }
}

struct LogLine<'a> {
    item: &'a str,
    trigger: &'a str,
    why: &'a str,
    tokens: u32,
    time: i64,
    subagent: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    /// A line that is not whole was cut by a full disk, and says nothing.
    fn parse_line(line: &'a str) -> Option<Self> {
        let mut parts = line.split('\t');
        let mut next = || parts.next();
        Some(Self {
            item: next()?,
            trigger: next()?,
            why: next()?,
            tokens: next()?.parse().ok()?,
            time: next()?.parse().ok()?,
            subagent: next().filter(|id| !id.is_empty()),
        })
    }
}

/// The injections in a session's file, as the database stores them.
pub fn read_injections(path: &Path) -> io::Result<Vec<Injection>> {
    let session = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let session = session.unwrap_or_default();
    let mut bytes = Vec::new();
    open_our_file(path)?
        .take(MAX_LOG_BYTES + MAX_READ_BYTES)
        .read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let rows = text.lines().enumerate().filter_map(|(at, line)| {
        let line = LogLine::parse_line(line).filter(|line| is_item(line.item))?;
        Some(Injection {
            session: session.clone().into(),
            // The number of the line identifies the injection, so markers are
            // counted although they are none.
            line: u32::try_from(at).ok()?,
            item: line.item.to_owned(),
            subagent: line.subagent.map(str::to_owned),
            trigger: line.trigger.to_owned(),
            why: line.why.to_owned(),
            tokens: line.tokens,
            time: line.time,
            used: None,
        })
    });
    Ok(rows.collect())
}

/// What is read may begin and end within a character.
fn read_text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_item(item: &str) -> bool {
    item != RESET_MARKER && item != CLAIM_MARKER && !item.is_empty()
}

/// The file of a session. Its id is a name in a folder, whatever it is made of.
pub fn injection_log_file(paths: &DataPaths, session: &str) -> PathBuf {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut name: String = session.chars().filter(|c| safe(*c)).take(100).collect();
    if name != session || name.is_empty() {
        // Two ids that differ only in dropped characters must not share a file.
        let hash = stable_hash(session.as_bytes());
        name = format!("{name}_{hash:016x}");
    }
    paths.injection_log_dir().join(format!("{name}.given"))
}

/// The holder is another hook with a deadline; a hook that hangs is not waited
/// for.
fn lock_file(file: &File) -> io::Result<()> {
    let end = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(e)) => return Err(e),
            Err(TryLockError::WouldBlock) if Instant::now() > end => {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(Duration::from_millis(1)),
        }
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    append_our_file(path)
}

fn sanitize_field(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(300)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn one(item: &str) -> NewInjection<'_> {
        NewInjection {
            item,
            trigger: "prompt",
            why: "words\tand\nmore",
            tokens: 7,
        }
    }

    #[test]
    fn nothing_is_given_twice_until_it_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(home.path().to_path_buf());
        let open = |agent| InjectionLog::open(&paths, "a/../b", agent).unwrap();
        open(None)
            .record_injections(&[one("#1"), one("#2")], 10)
            .unwrap();
        let has = |agent, item: &str| open(agent).injection_triggers(item).count() > 0;
        assert!(has(None, "#1") && !has(None, "#3"));
        assert!(!has(Some("sub"), "#1"));
        open(Some("sub"))
            .record_injections(&[one("#1")], 11)
            .unwrap();
        open(None).reset("compact", 12).unwrap();
        assert!(!has(None, "#1") && has(Some("sub"), "#1"));
        open(None).record_injections(&[one("#1")], 13).unwrap();
        assert_eq!(
            open(None).injection_triggers("#1").collect::<Vec<_>>(),
            ["prompt"]
        );
        let rows = read_injections(&injection_log_file(&paths, "a/../b")).unwrap();
        let notices: Vec<_> = rows
            .iter()
            .map(|row| (row.line, row.item.as_str(), row.time))
            .collect();
        assert_eq!(
            notices,
            [(0, "#1", 10), (1, "#2", 10), (2, "#1", 11), (4, "#1", 13)]
        );
        assert_eq!(
            (rows[2].subagent.as_deref(), rows[0].tokens),
            (Some("sub"), 7)
        );
        assert_eq!(rows[0].why, "words and more");
    }

    #[test]
    fn one_of_two_installations_answers() {
        let home = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(home.path().to_path_buf());
        let open = |agent| InjectionLog::open(&paths, "s", agent).unwrap();
        let claim = |key: &str, now| open(None).claim_event(key, now).unwrap();
        assert!(claim("prompt 1", 1_000));
        assert!(!claim("prompt 1", 1_100));
        assert!(claim("prompt 2", 1_100));
        assert!(claim("prompt 1", 9_000));
        // Of all that were ever answered, a few are kept.
        assert_eq!(open(None).claims, [("prompt 1".to_owned(), 9_000)]);
        assert!(open(None).has_noted("prompt 2") && !open(Some("sub")).has_noted("prompt 2"));
    }

    #[test]
    fn a_torn_line_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(home.path().to_path_buf());
        InjectionLog::open(&paths, "s", None)
            .unwrap()
            .record_injections(&[one("#1")], 1)
            .unwrap();
        let path = injection_log_file(&paths, "s");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("#2\tprompt\twor");
        fs::write(&path, text).unwrap();
        assert_eq!(read_injections(&path).unwrap().len(), 1);
        // What comes after it is whole.
        let mut file = InjectionLog::open(&paths, "s", None).unwrap();
        file.record_injections(&[one("#3")], 2).unwrap();
        assert_eq!(read_injections(&path).unwrap().len(), 2);
    }

    #[test]
    fn of_a_long_file_the_end_counts() {
        let home = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(home.path().to_path_buf());
        let mut file = InjectionLog::open(&paths, "s", None).unwrap();
        file.record_injections(&[one("#1")], 1).unwrap();
        let many: Vec<String> = (0..40_000).map(|n| format!("#{}", n + 10)).collect();
        let many: Vec<NewInjection<'_>> = many.iter().map(|item| one(item)).collect();
        file.record_injections(&many, 2).unwrap();
        file.record_injections(&[one("#2")], 3).unwrap();
        drop(file);
        let file = InjectionLog::open(&paths, "s", None).unwrap();
        assert_eq!(file.injection_triggers("#2").count(), 1);
        assert_eq!(file.injection_triggers("#1").count(), 0);
    }

    #[test]
    fn what_is_given_together_is_written_together() {
        let home = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(home.path().to_path_buf());
        let open = || InjectionLog::open(&paths, "s", None).unwrap();
        // One line more would be too much, if they came one by one.
        open().file.set_len(MAX_LOG_BYTES - 1).unwrap();
        open()
            .record_injections(&[one("#1"), one("#2")], 1)
            .unwrap();
        assert_eq!(open().injection_triggers("#2").count(), 1);
        let refused = open()
            .record_injections(&[one("#3"), one("#4")], 2)
            .unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(open().injection_triggers("#3").count(), 0);
    }

    #[test]
    fn odd_sessions_do_not_share_a_file() {
        let paths = DataPaths::new(PathBuf::from("/home/me/.remora"));
        let odd = ["", ".", "..", "a/b", "a_b", "a.b", "äöü", "日本語", "x\ny"];
        let mut files: Vec<PathBuf> = odd
            .iter()
            .map(|id| injection_log_file(&paths, id))
            .collect();
        assert!(
            files
                .iter()
                .all(|file| file.parent() == Some(paths.injection_log_dir().as_path()))
        );
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), odd.len());
    }
}
