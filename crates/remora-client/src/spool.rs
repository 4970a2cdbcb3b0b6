//! The spool: one file per event, written under a temporary name and renamed,
//! so that a file under its final name is complete. The name is the event's id,
//! so the order of names is the order of time.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, IoSlice, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use remora_core::request::{ENVELOPE_VERSION, Envelope};
use uuid::Uuid;

use crate::{DataPaths, Folder, ProjectLocation};

const EVENT_EXTENSION: &str = "json";
const PARTIAL_EXTENSION: &str = "tmp";
/// The length of an event's id, a UUID with its hyphens.
const EVENT_ID_CHARS: usize = 36;

/// An event as the spool holds it.
#[derive(Debug)]
pub struct SpooledEvent {
    /// Its first line.
    pub envelope: Envelope,
    /// What the client sent.
    pub payload: Vec<u8>,
}

/// How an event is to be kept.
#[derive(Debug)]
pub(crate) struct SpoolFile<'a> {
    agent: &'a str,
    now: i64,
    place: Option<ProjectLocation>,
}

/// Writes an event and returns its id. `sync` waits for the disk.
pub fn spool_event(
    paths: &DataPaths,
    agent: &str,
    now: i64,
    place: Option<ProjectLocation>,
    payload: &crate::HookInput,
    sync: bool,
) -> io::Result<String> {
    let draft = SpoolFile { agent, now, place };
    let id = new_event_id(now);
    let envelope = draft.into_envelope(&id, payload);
    let mut head = serde_json::to_vec(&envelope)?;
    head.push(b'\n');
    let partial = format!("{id}.{PARTIAL_EXTENSION}");
    let (folder, file) = create_spool_file(paths, &partial)?;
    let whole = format!("{id}.{EVENT_EXTENSION}");
    let written = write_event(file, &head, &payload.bytes, sync)
        .and_then(|()| folder.rename_file(partial.as_ref(), whole.as_ref()));
    if let Err(e) = written {
        // On a full disk a half-written file would take the room of the next
        // event.
        let _ = folder.remove_file(partial.as_ref());
        return Err(e);
    }
    Ok(id)
}

impl SpoolFile<'_> {
    fn into_envelope(self, id: &str, payload: &crate::HookInput) -> Envelope {
        let (project, branch) = match self.place {
            Some(place) => (Some(place.project), place.branch),
            None => (None, None),
        };
        Envelope {
            v: ENVELOPE_VERSION,
            id: id.to_owned(),
            agent: self.agent.into(),
            at: self.now,
            len: payload.bytes.len() as u64,
            cut: payload.cut,
            project,
            branch,
        }
    }
}

/// A new id of an event of that time, in milliseconds since 1970.
pub fn new_event_id(now: i64) -> String {
    let now = u64::try_from(now).unwrap_or_default();
    let nanos = u32::try_from(now % 1000).unwrap_or_default() * 1_000_000;
    let time = uuid::Timestamp::from_unix(uuid::NoContext, now / 1000, nanos);
    Uuid::new_v7(time).to_string()
}

/// Creates a file in the spool. The folders are made only when they turn out to
/// be missing.
fn create_spool_file(paths: &DataPaths, name: &str) -> io::Result<(Folder, fs::File)> {
    let folder = match Folder::open(paths.spool_dir()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            paths.prepare_data_dir()?;
            Folder::open(paths.spool_dir())?
        }
        other => other?,
    };
    let file = folder.create_file(name.as_ref())?;
    Ok((folder, file))
}

fn write_event(mut file: fs::File, head: &[u8], payload: &[u8], sync: bool) -> io::Result<()> {
    // One call for both parts: the hook runs before every answer of the agent.
    let mut done = file.write_vectored(&[IoSlice::new(head), IoSlice::new(payload)])?;
    if done < head.len() {
        file.write_all(&head[done..])?;
        done = head.len();
    }
    file.write_all(&payload[done - head.len()..])?;
    // A rename without a sync survives the death of any process, not a power
    // cut; that is what `spool.fsync` is for.
    if sync { file.sync_data() } else { Ok(()) }
}

/// Whether a name in the spool is one that we give to events. Anything else
/// there is not ours: it is neither read nor removed.
pub fn is_event_name(name: &OsStr) -> bool {
    has_our_shape(name, EVENT_EXTENSION)
}

fn has_our_shape(name: &OsStr, ending: &str) -> bool {
    let name = Path::new(name);
    let id = name.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    name.extension() == Some(OsStr::new(ending))
        && id.len() == EVENT_ID_CHARS
        && Uuid::try_parse(id).is_ok()
}

/// Up to `limit` events that wait, oldest first: regular files under the name of
/// an event. What is half written is not among them.
pub fn list_spooled(paths: &DataPaths, limit: usize) -> io::Result<Vec<PathBuf>> {
    let folder = Folder::open(paths.spool_dir())?;
    let mut names = folder.list_files()?;
    names.retain(|name| is_event_name(name));
    // A later file may have an earlier name when the clock goes back; it is
    // ingested with the next batch.
    if names.len() > limit {
        // Sorting only what is returned keeps a backlog of many thousand files
        // cheap.
        names.select_nth_unstable(limit);
        names.truncate(limit);
    }
    names.sort_unstable();
    let folder = folder.path();
    Ok(names.into_iter().map(|name| folder.join(name)).collect())
}

/// Clears away what killed hooks left half written: whole events get their
/// name, the rest goes. Files younger than `min_age` may still be written.
/// Returns how many there were.
pub fn sweep_partial(paths: &DataPaths, now: SystemTime, min_age: Duration) -> io::Result<usize> {
    let folder = Folder::open(paths.spool_dir())?;
    let mut swept = 0;
    for name in folder.list_files()? {
        if !has_our_shape(&name, PARTIAL_EXTENSION) {
            continue;
        }
        // A hook may rename its file at any moment; then there is nothing to
        // sweep.
        let Ok(modified) = folder
            .open_file(&name)
            .and_then(|f| f.metadata()?.modified())
        else {
            continue;
        };
        // A time in the future is a clock that went back.
        let age = now
            .duration_since(modified)
            .unwrap_or_else(|e| e.duration());
        if age < min_age {
            continue;
        }
        let whole = Path::new(&name).with_extension(EVENT_EXTENSION);
        let done = match read_spooled(&folder.path().join(&name), u64::MAX) {
            // The payload's length is in the envelope, so a file that was
            // written to its end can be told from a torn one.
            Ok(_) => folder.rename_file(&name, whole.as_os_str()),
            Err(_) => folder.remove_file(&name),
        };
        // Its hook may have come to an end after all.
        if done.is_ok() {
            swept += 1;
        }
    }
    Ok(swept)
}

/// Reads a spool file; `Err` with `InvalidData` says why it is none.
pub fn read_spooled(file: &Path, limit: u64) -> io::Result<SpooledEvent> {
    let bad = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let (folder, name) = Folder::of_file(file)?;
    let mut file = folder.open_file(name)?;
    let size = file.metadata()?.len();
    if size > limit {
        return Err(bad(format!("{size} bytes are too many")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // It may grow while it is read.
    Read::by_ref(&mut file)
        .take(limit)
        .read_to_end(&mut bytes)?;
    let end = bytes
        .iter()
        .position(|b| *b == b'\n')
        .ok_or_else(|| bad("no envelope".into()))?;
    let envelope: Envelope =
        serde_json::from_slice(&bytes[..end]).map_err(|e| bad(format!("bad envelope: {e}")))?;
    if envelope.v > ENVELOPE_VERSION {
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
    Ok(SpooledEvent { envelope, payload })
}

#[cfg(test)]
mod tests;
