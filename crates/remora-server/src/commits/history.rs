//! A checkout's history through the one hardened way to ask git: messages
//! first, which costs no diff, then the files of the few that say something.

use std::collections::HashMap;
use std::ops::ControlFlow;

use remora_git::{Checkout, GitCommand, GitOutcome, RecordFormat};
use remora_memory::commit::{Commit, read_message};

use super::CommitLimits;

/// Bytes of a message that are read; it is redacted before it is cut to what is
/// kept, because half a secret may not look like one.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// Files of a commit that are looked at.
const MAX_SCANNED_FILES: usize = 1_000;
/// What a commit's first line begins with. Lines of messages begin with a blank,
/// and names of files are quoted when they hold such a byte, so neither can
/// pass for it.
const COMMIT_MARK: u8 = 1;

/// Hands over the commits of `HEAD` that say something, the newest first.
pub(super) fn read_messages(
    checkout: &Checkout<'_>,
    limits: CommitLimits,
    mut on_commit: impl FnMut(Commit),
) -> GitOutcome {
    let Some(head) = checkout.head() else {
        return GitOutcome::Complete;
    };
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
    // Where git was ended, the last message may lack its end.
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

/// Adds a line, or as many of its words as there is room for, and then no more:
/// the next line may be the rest of a key.
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

/// The files that each of these commits changed, as seen from the root.
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
