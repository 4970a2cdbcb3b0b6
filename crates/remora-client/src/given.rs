//! What a session was given, so that nothing is given twice: one file a
//! session, only ever added to, one line an item. The worker reads the same
//! lines into the ledger.
//!
//! A line is item, moment, why, tokens, time and subagent, with tabs between.
//! `-` in the item's place means that the model has forgotten what came before;
//! `=` that an event is being answered, so that a second installation is not.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use remora_protocol::record::Given;

use crate::Paths;

/// More of a file is not read: some ten thousand lines.
const LIMIT: u64 = 1024 * 1024;
/// How long a turn is waited for.
const PATIENCE: Duration = Duration::from_millis(60);
/// Two installations tell the same event within this time, in milliseconds. The
/// same session may well be resumed again a few seconds later.
const ECHO: i64 = 1_500;
const RESET: &str = "-";
const CLAIM: &str = "=";

/// The file of one session, held by this process while it answers: two answers
/// at the same time take turns.
#[derive(Debug)]
pub struct GivenFile {
    file: File,
    text: String,
    subagent: Option<String>,
}

/// One thing that is being given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Giving<'a> {
    /// `#12` or `memory://…`.
    pub item: &'a str,
    /// The moment.
    pub moment: &'a str,
    /// Why it was chosen.
    pub why: &'a str,
    /// What it costs.
    pub tokens: u32,
}

impl GivenFile {
    /// Where a session's file is.
    pub fn path(paths: &Paths, session: &str) -> PathBuf {
        given_file(paths, session)
    }

    /// Opens the file and waits for its turn; `subagent` is who is told, if it
    /// is not the session itself.
    pub fn open(paths: &Paths, session: &str, subagent: Option<&str>) -> io::Result<Self> {
        let path = given_file(paths, session);
        let mut file = match own(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(paths.given())?;
                own(&path)?
            }
            other => other?,
        };
        lock(&file)?;
        let text = read(&mut file)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            text,
            subagent: subagent.map(str::to_owned),
        })
    }

    /// The moments at which the session, or this subagent of it, was given this.
    pub fn moments(&self, item: &str) -> impl Iterator<Item = &str> {
        self.current()
            .filter(move |line| line.item == item)
            .filter(|line| line.subagent == self.subagent.as_deref())
            .map(|line| line.moment)
    }

    /// Whether something was ever written here for this key, such as a file
    /// that was told of.
    pub fn claimed(&self, key: &str) -> bool {
        self.current()
            .any(|line| line.item == CLAIM && line.moment == plain(key))
    }

    /// Writes down that this was told.
    pub fn tell(&mut self, key: &str, now: i64) -> io::Result<()> {
        self.add(CLAIM, key, "", 0, now)
    }

    /// Takes an event as one's own; `false` when another process has it.
    pub fn claim(&mut self, key: &str, now: i64) -> io::Result<bool> {
        let key = plain(key);
        let taken = self
            .lines()
            .any(|line| line.item == CLAIM && line.moment == key && (now - line.time).abs() < ECHO);
        if !taken {
            self.add(CLAIM, &key, "", 0, now)?;
        }
        Ok(!taken)
    }

    /// The model has forgotten what it was given.
    pub fn reset(&mut self, why: &str, now: i64) -> io::Result<()> {
        self.add(RESET, why, "", 0, now)
    }

    /// Writes down what is given.
    pub fn give(&mut self, giving: &[Giving<'_>], now: i64) -> io::Result<()> {
        for one in giving {
            self.add(one.item, one.moment, one.why, one.tokens, now)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        item: &str,
        moment: &str,
        why: &str,
        tokens: u32,
        now: i64,
    ) -> io::Result<()> {
        let line = format!(
            "{}\t{}\t{}\t{tokens}\t{now}\t{}\n",
            plain(item),
            plain(moment),
            plain(why),
            plain(self.subagent.as_deref().unwrap_or_default())
        );
        self.file.write_all(line.as_bytes())?;
        self.text.push_str(&line);
        Ok(())
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = Line<'_>> {
        self.text.lines().filter_map(Line::read)
    }

    /// The lines since the model last forgot; a subagent has not.
    fn current(&self) -> impl Iterator<Item = Line<'_>> {
        let forgotten = match self.subagent {
            Some(_) => None,
            None => self
                .text
                .lines()
                .enumerate()
                .filter_map(|(at, line)| (Line::read(line)?.item == RESET).then_some(at))
                .last(),
        };
        let skip = forgotten.map_or(0, |at| at + 1);
        self.text.lines().skip(skip).filter_map(Line::read)
    }
}

struct Line<'a> {
    item: &'a str,
    moment: &'a str,
    why: &'a str,
    tokens: u32,
    time: i64,
    subagent: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// A line that is not whole was cut by a full disk, and says nothing.
    fn read(line: &'a str) -> Option<Self> {
        let mut parts = line.split('\t');
        let mut next = || parts.next();
        Some(Self {
            item: next()?,
            moment: next()?,
            why: next()?,
            tokens: next()?.parse().ok()?,
            time: next()?.parse().ok()?,
            subagent: next().filter(|id| !id.is_empty()),
        })
    }
}

/// What a file of this name says was given, as rows of the ledger.
pub fn read_given(path: &Path) -> io::Result<Vec<Given>> {
    let session = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let session = session.unwrap_or_default();
    let text = read(&mut File::open(path)?)?;
    let rows = text.lines().enumerate().filter_map(|(at, line)| {
        let line = Line::read(line).filter(|line| is_item(line.item))?;
        Some(Given {
            session: session.clone(),
            line: u32::try_from(at).ok()?,
            item: line.item.to_owned(),
            subagent: line.subagent.map(str::to_owned),
            moment: line.moment.to_owned(),
            why: line.why.to_owned(),
            tokens: line.tokens,
            time: line.time,
            used: None,
        })
    });
    Ok(rows.collect())
}

/// What is beyond the limit may begin within a character.
fn read(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(LIMIT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn is_item(item: &str) -> bool {
    item != RESET && item != CLAIM && !item.is_empty()
}

/// The file of a session. Its id is a name in a folder, whatever it is made of.
pub fn given_file(paths: &Paths, session: &str) -> PathBuf {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = session
        .chars()
        .map(|c| if safe(c) { c } else { '_' })
        .take(128)
        .collect();
    paths
        .given()
        .join(format!("{}.given", name.trim_start_matches('.')))
}

/// Whoever holds it is a hook with a deadline; one that hangs is not waited for.
fn lock(file: &File) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
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

fn own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(300)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(item: &str) -> Giving<'_> {
        Giving {
            item,
            moment: "prompt",
            why: "words\tand\nmore",
            tokens: 7,
        }
    }

    #[test]
    fn nothing_is_given_twice_until_it_is_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::new(home.path().to_path_buf());
        let open = |agent| GivenFile::open(&paths, "a/../b", agent).unwrap();
        open(None).give(&[one("#1"), one("#2")], 10).unwrap();
        let has = |agent, item: &str| open(agent).moments(item).count() > 0;
        assert!(has(None, "#1") && !has(None, "#3"));
        assert!(!has(Some("sub"), "#1"));
        open(Some("sub")).give(&[one("#1")], 11).unwrap();
        open(None).reset("compact", 12).unwrap();
        assert!(!has(None, "#1") && has(Some("sub"), "#1"));
        open(None).give(&[one("#1")], 13).unwrap();
        assert_eq!(open(None).moments("#1").collect::<Vec<_>>(), ["prompt"]);
        let rows = read_given(&given_file(&paths, "a/../b")).unwrap();
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.line, row.item.as_str(), row.time))
            .collect();
        assert_eq!(
            told,
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
        let paths = Paths::new(home.path().to_path_buf());
        let claim = |key: &str, now| {
            GivenFile::open(&paths, "s", None)
                .unwrap()
                .claim(key, now)
                .unwrap()
        };
        assert!(claim("prompt 1", 1_000));
        assert!(!claim("prompt 1", 1_100));
        assert!(claim("prompt 2", 1_100));
        assert!(claim("prompt 1", 9_000));
        assert!(
            GivenFile::open(&paths, "s", None)
                .unwrap()
                .claimed("prompt 2")
        );
    }

    #[test]
    fn a_torn_line_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::new(home.path().to_path_buf());
        GivenFile::open(&paths, "s", None)
            .unwrap()
            .give(&[one("#1")], 1)
            .unwrap();
        let path = given_file(&paths, "s");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("#2\tprompt\twor");
        fs::write(&path, text).unwrap();
        assert_eq!(read_given(&path).unwrap().len(), 1);
    }
}
