//! From files to the store: one thread reads, parses and redacts ahead, this
//! one extracts and writes, a batch at a time. Whatever ends it, the next run
//! goes on after the last batch.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use remora_agents::transcript::{TranscriptEvent, TranscriptSpec};
use remora_agents::{read_header, read_origin};
use remora_core::EventName;
use remora_core::ids::SessionId;
use remora_core::record::Kind;
use remora_core::request::{ENVELOPE_VERSION, Envelope};
use remora_memory::CapturedEvent;
use remora_redact::RedactionCounts;
use remora_server::ingest::{EventRedactor, FailedEvent, ImportIngest, IngestStats};
use remora_server::panics::catch_panic;

use super::find::{TranscriptFile, TranscriptScan};
use super::location::TranscriptDirs;
use super::state::{ImportState, ReadPosition};
use super::stream::{NextEvent, TranscriptStream, next_event};
use super::{MAX_UNREADABLE_LINES, UnreadableLine};
use crate::clock;
use crate::commands::progress::Progress;
use crate::commands::show::lines::format_size;
use crate::commands::vectors::InterruptFlag;
use crate::error::CliError;

/// Events of one transaction.
const MAX_BATCH_EVENTS: usize = 1024;
/// Bytes of transcripts that may lie between two transactions.
const MAX_BATCH_BYTES: u64 = 8 * 1024 * 1024;
/// Batches that are made ahead.
const MAX_BATCHES_AHEAD: usize = 3;
/// How often the progress is saved.
const SAVE_INTERVAL: Duration = Duration::from_secs(2);

/// Some events, ready to be stored.
#[derive(Default)]
struct EventBatch {
    events: Vec<CapturedEvent>,
    /// Where each event comes from: group, file and line.
    origins: Vec<(usize, usize, u64)>,
    /// Files, by their number, and how far they are read with this batch.
    files: Vec<(usize, usize, ReadPosition)>,
    marks: RedactionCounts,
    bad: Vec<UnreadableLine>,
    /// Bytes read so far, in all.
    read: u64,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct ImportStats {
    pub(super) sessions: HashSet<SessionId>,
    pub(super) events: u64,
    pub(super) repeated: u64,
    pub(super) rows: BTreeMap<Kind, u64>,
    pub(super) fixes: u64,
    pub(super) marks: RedactionCounts,
    pub(super) bad: Vec<UnreadableLine>,
    pub(super) read: u64,
    /// Whether the user interrupted it.
    pub(super) stopped: bool,
}

impl ImportStats {
    fn add_ingested(&mut self, stats: IngestStats) {
        self.sessions
            .extend(stats.touched.sessions.into_iter().map(|session| session.id));
        self.events += stats.stored;
        self.repeated += stats.repeated;
        for (kind, count) in stats.rows {
            *self.rows.entry(kind).or_default() += count;
        }
    }
}

/// What reading ahead needs.
pub(super) struct ReadAhead<'a> {
    /// Whose sessions they are.
    pub(super) agent: &'static str,
    pub(super) found: &'a TranscriptScan,
    pub(super) cleaner: EventRedactor<'a>,
    pub(super) places: TranscriptDirs,
    pub(super) since: Option<i64>,
}

/// Reads what was found into the store.
pub(super) fn import_transcripts(
    ahead: ReadAhead<'_>,
    ingest: &mut ImportIngest<'_>,
    state: &mut ImportState,
) -> Result<ImportStats, CliError> {
    let found = ahead.found;
    let stop = InterruptFlag::by_key()?;
    // Bounded: reading is faster than storing, and the batches hold whole tool
    // outputs.
    let (sender, receiver) = sync_channel(MAX_BATCHES_AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || read_ahead(ahead, &sender));
        let mut brought = ImportStats::default();
        let stored = store_batches(&receiver, found, ingest, state, &stop, &mut brought);
        // The reader ends as soon as the receiver is gone.
        drop(receiver);
        state.forget_gone();
        state.save()?;
        stored.map(|()| brought)
    })
}

fn store_batches(
    batches: &Receiver<EventBatch>,
    found: &TranscriptScan,
    ingest: &mut ImportIngest<'_>,
    state: &mut ImportState,
    stop: &InterruptFlag,
    brought: &mut ImportStats,
) -> Result<(), CliError> {
    let all = found.count_unread_bytes();
    let mut progress = Progress::new("importing");
    let mut saved = Instant::now();
    for mut batch in batches {
        let note = format!("{} of {}", format_size(batch.read), format_size(all));
        let ingested = ingest.ingest_events(&batch.events, clock::now_ms())?;
        batch.name_left_out(&ingested.left_out, found);
        brought.add_ingested(ingested);
        brought.marks.merge_counts(&batch.marks);
        let room = MAX_UNREADABLE_LINES.saturating_sub(brought.bad.len());
        brought.bad.extend(batch.bad.into_iter().take(room));
        brought.read = batch.read;
        for (group, n, mark) in batch.files {
            if let Some(file) = found.groups.get(group).and_then(|files| files.get(n)) {
                state.record_file(&file.path, file.size, file.modified, file.ending, mark);
            }
        }
        progress.update_line(batch.read, all, &note);
        if saved.elapsed() > SAVE_INTERVAL {
            state.save()?;
            saved = Instant::now();
        }
        // Only between batches: what is stored and what is recorded as read
        // agree.
        if stop.is_wanted() {
            brought.stopped = true;
            return Ok(());
        }
    }
    Ok(())
}

/// Reads, parses and redacts; ends when there is nothing more, or when the
/// receiver is gone.
fn read_ahead(mut ahead: ReadAhead<'_>, batches: &SyncSender<EventBatch>) {
    let mut batch = EventBatch::default();
    let mut read = 0;
    for (n, files) in ahead.found.groups.iter().enumerate() {
        let mut root = String::new();
        let mut streams = open_streams(files, ahead.found.format, &mut root, &mut batch.bad);
        let mut sent: HashMap<usize, ReadPosition> = HashMap::new();
        loop {
            let event = next_event(&mut streams, &mut batch.bad);
            let here: u64 = streams.iter().map(TranscriptStream::bytes_read).sum();
            let over = event.is_none();
            if let Some(next) = event {
                let origin = (n, next.file, next.line);
                // It costs this event alone, wherever it panics.
                match catch_panic(|| {
                    redact_event(&mut ahead, next.event, &mut root, &mut batch.marks)
                }) {
                    Ok(Some(event)) => {
                        batch.events.push(event);
                        batch.origins.push(origin);
                    }
                    Ok(None) => {}
                    Err(panicked) => {
                        batch.record_unreadable_line(ahead.found, origin, panicked.to_string());
                    }
                }
            }
            let full = batch.events.len() >= MAX_BATCH_EVENTS
                || read + here > batch.read + MAX_BATCH_BYTES;
            if full || over {
                for (m, stream) in streams.iter().enumerate() {
                    // Positions travel with the batch and are recorded after it
                    // is stored, so that a crash repeats events and never skips
                    // them.
                    if sent.insert(m, stream.settled) != Some(stream.settled) {
                        batch.files.push((n, m, stream.settled));
                    }
                }
            }
            if full {
                let fresh = EventBatch {
                    read: read + here,
                    ..EventBatch::default()
                };
                let mut full = std::mem::replace(&mut batch, fresh);
                full.read = read + here;
                if batches.send(full).is_err() {
                    return;
                }
            }
            if over {
                read += here;
                break;
            }
        }
    }
    batch.read = read;
    // Without a receiver the user has interrupted the import.
    let _ = batches.send(batch);
}

/// The files of a session; `root` becomes the folder it began in.
fn open_streams<'a>(
    files: &'a [TranscriptFile],
    format: &TranscriptSpec,
    root: &mut String,
    bad: &mut Vec<UnreadableLine>,
) -> Vec<TranscriptStream<'a>> {
    let mut streams = Vec::with_capacity(files.len());
    for file in files {
        match TranscriptStream::open(file, format) {
            Ok(stream) => streams.push(stream),
            Err(e) => bad.push(UnreadableLine {
                file: file.path.clone(),
                line: 0,
                reason: e.to_string(),
            }),
        }
    }
    // A session that is read from its middle on may have gone elsewhere since.
    if let Some(file) = files.first().filter(|file| file.from.offset > 0) {
        *root = began_in(&file.session, format).unwrap_or_default();
    }
    streams
}

fn began_in(session: &Path, format: &TranscriptSpec) -> Option<String> {
    let file = remora_files::open_regular(session).ok()?;
    (format.began_in)(&mut std::io::BufReader::new(file))
}

impl EventBatch {
    fn record_unreadable_line(
        &mut self,
        found: &TranscriptScan,
        origin: (usize, usize, u64),
        reason: String,
    ) {
        let (group, file, line) = origin;
        let file = found.groups.get(group).and_then(|files| files.get(file));
        if let Some(file) = file.filter(|_| self.bad.len() < MAX_UNREADABLE_LINES) {
            self.bad.push(UnreadableLine {
                file: file.path.clone(),
                line,
                reason,
            });
        }
    }

    fn name_left_out(&mut self, left_out: &[FailedEvent], found: &TranscriptScan) {
        for left in left_out {
            let mut ids = self.events.iter().map(|event| &event.envelope.id);
            let at = ids.position(|id| *id == left.id);
            if let Some(origin) = at.and_then(|at| self.origins.get(at).copied()) {
                self.record_unreadable_line(found, origin, left.reason.clone());
            }
        }
    }
}

/// The event as it may be kept; nothing if it is too old.
fn redact_event(
    ahead: &mut ReadAhead<'_>,
    event: TranscriptEvent,
    root: &mut String,
    marks: &mut RedactionCounts,
) -> Option<CapturedEvent> {
    if ahead.since.is_some_and(|since| event.at < since) {
        return None;
    }
    let cwd = read_origin(&event.event.fields).cwd;
    if root.is_empty() {
        cwd.clone_into(root);
    }
    let project = ahead.places.find_project(cwd, root);
    let envelope = Envelope {
        v: ENVELOPE_VERSION,
        id: event.id,
        agent: ahead.agent.into(),
        at: event.at,
        len: 0,
        cut: false,
        project: Some(project),
        branch: event.branch,
    };
    Some(ahead.cleaner.redact_event(envelope, event.event, marks))
}

/// A past session: its transcript, and the events its hooks would have sent.
#[derive(Debug)]
pub(crate) struct PastSession {
    pub(crate) file: PathBuf,
    pub(crate) events: Vec<TranscriptEvent>,
}

/// The sessions that were found, the one that began first before the others.
pub(super) fn read_sessions(found: &TranscriptScan) -> Vec<PastSession> {
    let mut sessions = Vec::new();
    // An import reports what cannot be read; here it is only left out.
    let mut bad = Vec::new();
    for files in &found.groups {
        let mut streams = open_streams(files, found.format, &mut String::new(), &mut bad);
        let mut events = Vec::new();
        while let Some(NextEvent { event, .. }) = next_event(&mut streams, &mut bad) {
            events.push(event);
        }
        if let Some(file) = files.first().filter(|_| !events.is_empty()) {
            let file = file.session.clone();
            sessions.push(PastSession { file, events });
        }
    }
    sessions.sort_by_key(|session| session.events.first().map(|event| event.at));
    sessions
}

/// What a look through the files shows, without storing anything.
#[derive(Debug, Default)]
pub(super) struct ImportPreview {
    pub(super) sessions: HashSet<SessionId>,
    pub(super) prompts: u64,
    pub(super) calls: u64,
    pub(super) failures: u64,
    pub(super) turns: u64,
    pub(super) bad: Vec<UnreadableLine>,
}

/// Counts what would be read.
pub(super) fn preview_import(
    agent: &str,
    found: &TranscriptScan,
    since: Option<i64>,
) -> ImportPreview {
    let mut preview = ImportPreview::default();
    let mut progress = Progress::new("reading");
    let all = found.count_unread_bytes();
    let mut read = 0;
    for files in &found.groups {
        let mut streams = open_streams(files, found.format, &mut String::new(), &mut preview.bad);
        while let Some(NextEvent { event, .. }) = next_event(&mut streams, &mut preview.bad) {
            if since.is_some_and(|since| event.at < since) {
                continue;
            }
            match event.event.name {
                // The task of a subagent is a prompt to its agent alone.
                EventName::UserPromptSubmit => {
                    let subagent = read_header(agent, &event.event).subagent;
                    preview.prompts += u64::from(subagent.is_none());
                }
                EventName::PostToolUse => preview.calls += 1,
                EventName::PostToolUseFailure => preview.failures += 1,
                EventName::Stop => preview.turns += 1,
                _ => {}
            }
            let session = read_origin(&event.event.fields).session.unwrap_or_default();
            if !preview.sessions.contains(session) {
                preview.sessions.insert(session.into());
            }
        }
        read += streams
            .iter()
            .map(TranscriptStream::bytes_read)
            .sum::<u64>();
        progress.update_line(read, all, &format_size(read));
    }
    preview
}
