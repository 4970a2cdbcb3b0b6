//! The spool: one file an event, written beside and renamed, so that what
//! stands under its name is whole. The name is the event's id, so the order of
//! names is the order of time.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};

use remora_protocol::request::{ENVELOPE, Envelope};
use uuid::Uuid;

use crate::{Paths, ProjectLocation};

const WHOLE: &str = "json";
const PARTIAL: &str = "tmp";

/// An event as it stands in the spool.
#[derive(Debug)]
pub struct Spooled {
    /// Its first line.
    pub envelope: Envelope,
    /// What the client sent.
    pub payload: Vec<u8>,
}

/// How an event is to be kept.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    agent: &'a str,
    now: i64,
    place: Option<ProjectLocation>,
}

/// Writes an event and returns its id. The folders are made when they are
/// missing, not looked for each time. `sync` waits for the disk.
pub fn spool(
    paths: &Paths,
    agent: &str,
    now: i64,
    place: Option<ProjectLocation>,
    payload: &crate::Input,
    sync: bool,
) -> io::Result<String> {
    let draft = Draft { agent, now, place };
    let id = new_id(now);
    let envelope = draft.envelope(&id, payload);
    let mut head = serde_json::to_vec(&envelope)?;
    head.push(b'\n');
    let folder = paths.spool();
    let partial = folder.join(format!("{id}.{PARTIAL}"));
    let file = match create(&partial) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            paths.prepare()?;
            create(&partial)?
        }
        other => other?,
    };
    let written = write(file, &head, &payload.bytes, sync)
        .and_then(|()| fs::rename(&partial, folder.join(format!("{id}.{WHOLE}"))));
    if let Err(e) = written {
        // On a full disk the room must be given back.
        let _ = fs::remove_file(&partial);
        return Err(e);
    }
    Ok(id)
}

impl Draft<'_> {
    fn envelope(self, id: &str, payload: &crate::Input) -> Envelope {
        let (project, branch) = match self.place {
            Some(place) => (Some(place.project), place.branch),
            None => (None, None),
        };
        Envelope {
            v: ENVELOPE,
            id: id.to_owned(),
            agent: self.agent.to_owned(),
            at: self.now,
            len: payload.bytes.len() as u64,
            cut: payload.cut,
            project,
            branch,
        }
    }
}

fn new_id(now: i64) -> String {
    let now = u64::try_from(now).unwrap_or_default();
    let nanos = u32::try_from(now % 1000).unwrap_or_default() * 1_000_000;
    let time = uuid::Timestamp::from_unix(uuid::NoContext, now / 1000, nanos);
    Uuid::new_v7(time).to_string()
}

fn create(file: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

fn write(mut file: fs::File, head: &[u8], payload: &[u8], sync: bool) -> io::Result<()> {
    let mut done = file.write_vectored(&[IoSlice::new(head), IoSlice::new(payload)])?;
    if done < head.len() {
        file.write_all(&head[done..])?;
        done = head.len();
    }
    file.write_all(&payload[done - head.len()..])?;
    if sync { file.sync_data() } else { Ok(()) }
}

/// Up to `limit` files that wait, oldest first. What is half written is not
/// among them; what somebody else put there is.
pub fn waiting(paths: &Paths, limit: usize) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(paths.spool())? {
        let name = entry?.file_name();
        if Path::new(&name).extension() != Some(OsStr::new(PARTIAL)) {
            names.push(name);
        }
    }
    // A later file may have an earlier name when the clock goes back; it is
    // taken on the next round.
    if names.len() > limit {
        names.select_nth_unstable(limit);
        names.truncate(limit);
    }
    names.sort_unstable();
    let folder = paths.spool();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Reads a spool file; `Err` with `InvalidData` says why it is none.
pub fn read_spooled(file: &Path, limit: u64) -> io::Result<Spooled> {
    let bad = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let meta = fs::symlink_metadata(file)?;
    if !meta.is_file() {
        return Err(bad("not a file".into()));
    }
    if meta.len() > limit {
        return Err(bad(format!("{} bytes are too many", meta.len())));
    }
    let bytes = fs::read(file)?;
    let end = bytes
        .iter()
        .position(|b| *b == b'\n')
        .ok_or_else(|| bad("no envelope".into()))?;
    let envelope: Envelope =
        serde_json::from_slice(&bytes[..end]).map_err(|e| bad(format!("bad envelope: {e}")))?;
    if envelope.v > ENVELOPE {
        return Err(bad(format!(
            "envelope version {} is newer than this program",
            envelope.v
        )));
    }
    let payload = bytes[end + 1..].to_vec();
    if payload.len() as u64 != envelope.len {
        return Err(bad(format!(
            "{} bytes of {} are there",
            payload.len(),
            envelope.len
        )));
    }
    Ok(Spooled { envelope, payload })
}

#[cfg(test)]
mod tests;
