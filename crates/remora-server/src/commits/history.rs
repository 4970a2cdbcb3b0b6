//! A checkout's history, read through the hardened git runner: messages first,
//! which needs no diff, then the files of the few that say something.

use std::collections::HashMap;
use std::ops::ControlFlow;

use remora_git::{Checkout, GitCommand, GitOutcome, RecordFormat};
use remora_memory::commit::{Commit, read_message};

use super::CommitLimits;

/// Bytes of a message that are read. More than is kept: it is redacted before it
/// is truncated, because half a secret may not look like one.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// Files of a commit that are read.
const MAX_SCANNED_FILES: usize = 1_000;
/// The first byte of a commit's first line. Lines of messages are indented by a
/// space, and git quotes file names that contain such a byte, so neither can pass
/// for another commit.
const COMMIT_MARK: u8 = 1;

/// Calls `on_commit` with the commits of `HEAD` that say something, the newest
/// first. Only `HEAD`: what was fetched from a fork does not hold here.
pub(super) fn read_messages(
    checkout: &Checkout<'_>,
    limits: CommitLimits,
    mut on_commit: impl FnMut(Commit),
) -> GitOutcome {
    let Some(head) = checkout.head() else {
        return GitOutcome::Complete;
    };
    // The author date (`%at`), because a rebase would make old reasons new.
    let walked = format!("--max-count={}", limits.walked);
    let arguments = [
        walked.as_str(),
        "--encoding=UTF-8",
        "--no-notes",
        "--no-patch",
        "--format=%x01%H %at %P%n%w(0,1,1)%B%w(0,0,0)",
        head,
        "--",
    ];
    let mut telling = 0;
    let mut hand_over = |commit: Option<Commit>| {
        let says = |commit: &Commit| {
            limits.since.is_none_or(|since| commit.time >= since)
                && read_message(&commit.message, commit.is_merge).is_some()
        };
        if let Some(commit) = commit.filter(says) {
            telling += 1;
            on_commit(commit);
        }
        if telling < limits.telling {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let mut current: Option<Commit> = None;
    let mut room = 0;
    let end = checkout.ask_git(GitCommand::Log, &arguments, RecordFormat::Lines, |line| {
        if line.first() == Some(&COMMIT_MARK) {
            let done = current.take();
            current = read_head(&line[1..]);
            room = MAX_MESSAGE_BYTES;
            return hand_over(done);
        }
        if let (Some(commit), Some(text)) = (&mut current, line.strip_prefix(b" ")) {
            add_line(&mut commit.message, text, &mut room);
        }
        ControlFlow::Continue(())
    });
    // If git was stopped, the last message may be incomplete.
    if end == GitOutcome::Complete {
        let _ = hand_over(current);
    }
    end
}

/// `HASH TIME PARENT..`
fn read_head(line: &[u8]) -> Option<Commit> {
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let hash = words.next().filter(|hash| is_hash(hash))?;
    let seconds: i64 = words.next()?.parse().ok()?;
    Some(Commit {
        hash: hash.to_owned(),
        time: seconds.checked_mul(1000)?,
        is_merge: words.count() > 1,
        message: String::new(),
    })
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Adds a line, or as many of its words as there is room for, and nothing after
/// that: the next line could be the rest of a key that is then not recognised.
fn add_line(message: &mut String, line: &[u8], room: &mut usize) {
    let line = String::from_utf8_lossy(line);
    if line.len() < *room {
        message.push_str(&line);
        message.push('\n');
        *room -= line.len() + 1;
        return;
    }
    let end = line.floor_char_boundary(*room);
    let end = line[..end].rfind(char::is_whitespace).unwrap_or(0);
    message.push_str(&line[..end]);
    *room = 0;
}

/// The files that each of these commits changed, relative to the root.
pub(super) fn read_files(
    checkout: &Checkout<'_>,
    hashes: &[String],
) -> (HashMap<String, Vec<String>>, GitOutcome) {
    // Against the first parent, so that a merge names what it brought in.
    let mut arguments = vec![
        "--no-walk=unsorted",
        "-m",
        "--first-parent",
        "--root",
        "--name-only",
        "--no-renames",
        "--no-notes",
        "--format=%x01%H",
    ];
    arguments.extend(hashes.iter().map(String::as_str));
    arguments.push("--");
    // Names with unusual bytes come quoted and are left out rather than unquoted.
    let mut files: HashMap<String, Vec<String>> = HashMap::new();
    let mut current = String::new();
    let end = checkout.ask_git(GitCommand::Log, &arguments, RecordFormat::Lines, |line| {
        if line.first() == Some(&COMMIT_MARK) {
            current = String::from_utf8_lossy(&line[1..]).into_owned();
        } else if !line.is_empty() && line[0] != b'"' {
            let of = files.entry(current.clone()).or_default();
            if of.len() < MAX_SCANNED_FILES {
                of.push(String::from_utf8_lossy(line).into_owned());
            }
        }
        ControlFlow::Continue(())
    });
    (files, end)
}
