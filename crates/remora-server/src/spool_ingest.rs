//! One batch of the spool: read, redact, decode, then the way of all events
//! (`ingest`), then remove. Safe to repeat from any point: what was stored already is
//! known by its id, and a spool file goes only after the store has its event.

mod dead_letter;

use std::collections::HashSet;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use remora_agents::AgentSpec;
use remora_agents::transcript::TranscriptEvent;
use remora_client::{
    DataPaths, ProjectRoots, SpooledEvent, list_spooled, main_root, read_spooled, sweep_partial,
};
use remora_core::record::Project;
use remora_core::request::Envelope;
use remora_core::{Event, tokens};
use remora_memory::store::{Batch, Store};
use remora_memory::{CapturePolicy, CapturedEvent, EventDisposition};
use remora_redact::{RedactionCounts, Redactor};
use serde_json::{Map, Value};

use crate::archive::Archive;
use crate::guard::{CrashGuard, name_of};
use crate::ignore::ProjectIgnores;
use crate::ingest::{
    ArchiveUse, EventSource, Ingest, IngestedEvent, MAX_BATCH_BYTES, MAX_BATCH_EVENTS, Touched,
    redact_event,
};
use crate::injections::InjectionIngest;
use crate::panics::{CaughtPanic, IsolationSteps, catch_panic, isolate_panics};
use crate::{Log, ServerError, io_error_at, join, session_file};

/// Two installations report the same event within this time, in milliseconds.
const ECHO_WINDOW_MS: i64 = 300;
/// Events without a call that are kept in mind.
const MAX_RECENT_EVENTS: usize = 64;
/// The largest file that can be an event: what a hook reads, and its envelope.
const MAX_EVENT_FILE_BYTES: u64 = 17 * 1024 * 1024;
/// The spool is searched for half-written events this often, in milliseconds.
const SWEEP_INTERVAL_MS: u64 = 10_000;
/// No hook lives longer: the agent ends it after ten seconds at the latest.
const MAX_HOOK_AGE: Duration = Duration::from_secs(15);

/// What a batch did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct BatchStats {
    /// Files that left the spool.
    pub removed: usize,
    /// Events stored.
    pub stored: usize,
    /// Events that were stored before.
    pub repeated: usize,
    /// Events that went to the dead letters.
    pub dead: usize,
    /// What something was stored of.
    pub touched: Touched,
}

/// The way from the spool to the store.
pub struct SpoolIngest {
    paths: DataPaths,
    store: Box<dyn Store>,
    ingest: Ingest,
    injections: InjectionIngest,
    redactor: Redactor,
    guard: CrashGuard,
    ignores: ProjectIgnores,
    log: Log,
    /// The last events that have no call: id, fields and time.
    recent_events: Vec<(String, Map<String, Value>, i64)>,
    /// When half-written events were last searched for, in milliseconds since 1970.
    swept_at: i64,
    /// Files of this batch that could be neither stored nor kept as dead letters.
    postponed: Vec<String>,
}

/// Some files on their way from the spool to the store.
struct SpoolBatch<'a> {
    ingest: &'a mut SpoolIngest,
    now: i64,
    stats: &'a mut BatchStats,
}

impl SpoolBatch<'_> {
    const ISOLATION_STEPS: IsolationSteps<Self, PathBuf, ServerError> = IsolationSteps {
        work: Self::ingest_files,
        recover: Self::reset_cache,
        leave_out: |batch, file, panicked| batch.give_up_on(file, panicked),
    };

    fn ingest_files(&mut self, files: &[PathBuf]) -> Result<(), ServerError> {
        self.ingest.ingest_files(files, self.now, self.stats)
    }

    /// What was being changed when it panicked is made again from the store.
    fn reset_cache(&mut self) {
        self.ingest.reset_cache();
    }

    fn give_up_on(&mut self, file: &Path, panicked: &CaughtPanic) -> Result<(), ServerError> {
        let spooled = read_spooled(file, MAX_EVENT_FILE_BYTES).ok();
        let reason = panicked.to_string();
        self.ingest
            .give_up(file, spooled, &reason, self.now, self.stats)
    }
}

/// What reading a spool file came to.
enum SpoolReadResult {
    /// The event, and before it the calls that no hook reported.
    Events(Vec<PendingEvent>),
    /// Another process has removed it.
    Gone,
    /// It is no event, with the reason.
    Unusable(Box<Option<SpooledEvent>>, String),
}

struct PendingEvent {
    /// Its file in the spool; none for what was found in a session file, which is
    /// found again for as long as the event behind it waits.
    file: Option<PathBuf>,
    captured: CapturedEvent,
    marks: RedactionCounts,
    bytes: usize,
}

impl SpoolIngest {
    /// Connects a spool with a store.
    pub fn new(
        paths: DataPaths,
        store: Box<dyn Store>,
        policy: CapturePolicy,
        ignore: Vec<String>,
        log: Log,
    ) -> Result<Self, ServerError> {
        Ok(Self {
            redactor: Redactor::new(&policy.redaction)?,
            ingest: Ingest::new(policy, &paths, ArchiveUse::Append)?,
            injections: InjectionIngest::default(),
            guard: CrashGuard::new(&paths),
            ignores: ProjectIgnores::new(ignore),
            paths,
            store,
            log,
            recent_events: Vec::new(),
            swept_at: 0,
            postponed: Vec::new(),
        })
    }

    /// The log.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// The archive.
    pub fn archive(&mut self) -> &mut Archive {
        self.ingest.archive()
    }

    /// A folder that was known by its path alone and has a remote now is the same
    /// project: what is remembered of it goes on under its new key. Says how many
    /// items that were.
    pub(crate) fn join_folders(&mut self, project: &Project, now: i64) -> Result<u64, ServerError> {
        let mut joined = 0;
        let main = main_root(Path::new(&project.root));
        let holders = ProjectRoots::for_data_dir(&self.paths).find_roots(&project.key);
        // A root that waits for the user brings nothing into the key it names.
        let may_join = match holders {
            Ok(Some(holders)) => holders.contains(&main),
            Ok(None) => true,
            Err(_) => false,
        };
        if !may_join {
            return Ok(0);
        }
        for old in join::list_earlier_projects(self.store(), project)? {
            if join::is_own_folder(&old, project, &main) {
                let done = join::join_projects(self.store(), &self.paths, &old.key, project, now)?;
                self.reset_cache();
                let (from, to, rows) = (&old.key, &project.key, done.rows);
                let line = format!("{from} is {to} now: {rows} items go on as its own");
                self.log.write_line(now, &line);
                joined += rows;
            }
        }
        Ok(joined)
    }

    /// Files in the spool that are not tried for now.
    pub(crate) fn put_off(&self, now: i64) -> HashSet<&str> {
        self.guard.list_waiting(now)
    }

    /// Takes what waits, up to one transaction's worth.
    pub fn ingest_batch(&mut self, now: i64) -> Result<BatchStats, ServerError> {
        let spool = self.paths.spool_dir();
        self.sweep_spool(now);
        self.guard.count_deaths(now);
        // Suspects are listed too, and all of them may be left out of this batch.
        let limit = MAX_BATCH_EVENTS + self.guard.len();
        let files = list_spooled(&self.paths, limit).map_err(io_error_at(&spool))?;
        let files = self.guard.select_batch(files, MAX_BATCH_EVENTS, now);
        let mut stats = BatchStats::default();
        if files.is_empty() {
            self.store_injections(now)?;
        } else {
            let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
            // Before anything of them is read.
            self.guard.begin_batch(&names);
            let mut batch = SpoolBatch {
                ingest: self,
                now,
                stats: &mut stats,
            };
            let outcome = isolate_panics(&mut batch, &files, &SpoolBatch::ISOLATION_STEPS);
            self.guard.finish_batch(&names);
            for file in std::mem::take(&mut self.postponed) {
                self.guard.put_off(&file, now);
            }
            outcome?;
        }
        self.log.flush();
        Ok(stats)
    }

    /// A hook that was killed leaves its event half written, with the secrets
    /// in it: no other process would ever touch that file.
    fn sweep_spool(&mut self, now: i64) {
        if now.abs_diff(self.swept_at) < SWEEP_INTERVAL_MS {
            return;
        }
        self.swept_at = now;
        let time = UNIX_EPOCH + Duration::from_millis(u64::try_from(now).unwrap_or_default());
        match sweep_partial(&self.paths, time, MAX_HOOK_AGE) {
            // What keeps it from the folder will keep the batch from it too.
            Ok(0) | Err(_) => {}
            Ok(1) => self.log.write_line(
                now,
                "1 half-written event of a killed hook was cleared away",
            ),
            Ok(files) => {
                let line = format!("{files} half-written events of killed hooks were cleared away");
                self.log.write_line(now, &line);
            }
        }
    }

    /// Reads, stores and removes these files.
    fn ingest_files(
        &mut self,
        files: &[PathBuf],
        now: i64,
        stats: &mut BatchStats,
    ) -> Result<(), ServerError> {
        let mut pending_events = self.open(files, now, stats)?;
        self.drop_echoes(&mut pending_events, now, stats)?;
        if pending_events.is_empty() {
            return Ok(());
        }
        let events: Vec<&CapturedEvent> = pending_events.iter().map(|p| &p.captured).collect();
        let mut source = SpoolSource {
            paths: &self.paths,
            injections: &mut self.injections,
            log: &mut self.log,
            now,
        };
        let store = self.store.as_ref();
        let done = match self.ingest.ingest_events(store, &events, &mut source, now) {
            Ok(done) => done,
            Err(e) => {
                self.reset_cache();
                return Err(e);
            }
        };
        for (pending, event) in pending_events.iter().zip(done.events) {
            let IngestedEvent::Stored(fate) = event else {
                self.drop_repeated(pending, now, stats)?;
                continue;
            };
            self.log_stored(pending, fate, now);
            stats.stored += 1;
            // Only now: a process that is killed before this finds the files again, and
            // knows their events by id.
            if let Some(file) = &pending.file {
                delete_file(file)?;
                stats.removed += 1;
            }
        }
        stats.touched.extend(done.touched);
        Ok(())
    }

    /// With nothing else to do, the injection logs are copied into the store.
    fn store_injections(&mut self, now: i64) -> Result<(), ServerError> {
        match catch_panic(|| {
            self.injections
                .store_injections(&self.paths, self.store.as_ref(), now)
        }) {
            Ok(folded) => {
                if folded.is_err() {
                    self.injections.reset_cache();
                }
                folded
            }
            Err(panicked) => {
                give_up_injections(&mut self.injections, &mut self.log, &panicked, now);
                Ok(())
            }
        }
    }

    /// Reads and decodes; what cannot be goes to the dead letters, and so does
    /// what panics.
    fn open(
        &mut self,
        files: &[PathBuf],
        now: i64,
        stats: &mut BatchStats,
    ) -> Result<Vec<PendingEvent>, ServerError> {
        let mut pending_events = Vec::new();
        let mut bytes = 0;
        for file in files {
            // The rest stays in the spool for the next batch.
            if bytes > MAX_BATCH_BYTES {
                break;
            }
            match catch_panic(|| self.read_spool_file(file)) {
                Ok(Ok(SpoolReadResult::Events(events))) => {
                    bytes += events.iter().map(|event| event.bytes).sum::<usize>();
                    pending_events.extend(events);
                }
                Ok(Ok(SpoolReadResult::Gone)) => {}
                Ok(Ok(SpoolReadResult::Unusable(spooled, reason))) => {
                    self.give_up(file, *spooled, &reason, now, stats)?;
                }
                // The disk failed, not the event: nothing is given up for it.
                Ok(Err(e)) => return Err(e),
                Err(panicked) => {
                    let spooled = read_spooled(file, MAX_EVENT_FILE_BYTES).ok();
                    self.give_up(file, spooled, &panicked.to_string(), now, stats)?;
                }
            }
        }
        Ok(pending_events)
    }

    fn read_spool_file(&mut self, file: &Path) -> Result<SpoolReadResult, ServerError> {
        let spooled = match read_spooled(file, MAX_EVENT_FILE_BYTES) {
            Ok(spooled) => spooled,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(SpoolReadResult::Gone),
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                return Ok(SpoolReadResult::Unusable(Box::new(None), e.to_string()));
            }
            Err(e) => return Err(io_error_at(file)(e)),
        };
        let (agent, mut event) = match parse_event(&spooled) {
            Ok(parsed) => parsed,
            Err(reason) => {
                return Ok(SpoolReadResult::Unusable(Box::new(Some(spooled)), reason));
            }
        };
        let unreported_events = session_file::complete_event(agent, &mut event);
        let mut events: Vec<PendingEvent> = unreported_events
            .into_iter()
            .map(|unreported| self.build_unreported_event(&spooled.envelope, unreported))
            .collect();
        events.push(self.redact_event(file, spooled, event));
        Ok(SpoolReadResult::Events(events))
    }

    /// An event from a session file, as if a hook had reported it.
    fn build_unreported_event(
        &mut self,
        later: &Envelope,
        unreported: TranscriptEvent,
    ) -> PendingEvent {
        let payload = unreported.event.to_line();
        let envelope = Envelope {
            v: later.v,
            id: unreported.id,
            agent: later.agent.clone(),
            at: unreported.at,
            len: payload.len() as u64,
            cut: false,
            project: later.project.clone(),
            branch: later.branch.clone(),
        };
        let mut marks = RedactionCounts::default();
        let captured = redact_event(
            &self.redactor,
            &mut self.ignores,
            envelope,
            unreported.event,
            tokens::estimate_tokens(&payload),
            &mut marks,
        );
        PendingEvent {
            file: None,
            bytes: payload.len(),
            captured,
            marks,
        }
    }

    fn redact_event(&mut self, file: &Path, spooled: SpooledEvent, event: Event) -> PendingEvent {
        // Checked at once, which is many times as quick as looking for what is wrong;
        // what was parsed as JSON is text.
        let raw_tokens = match str::from_utf8(&spooled.payload) {
            Ok(text) => tokens::estimate_tokens(text),
            Err(_) => tokens::estimate_tokens(&String::from_utf8_lossy(&spooled.payload)),
        };
        let mut marks = RedactionCounts::default();
        let captured = redact_event(
            &self.redactor,
            &mut self.ignores,
            spooled.envelope,
            event,
            raw_tokens,
            &mut marks,
        );
        PendingEvent {
            file: Some(file.to_path_buf()),
            bytes: spooled.payload.len(),
            captured,
            marks,
        }
    }

    /// The same event from a second installation is dropped here.
    fn drop_echoes(
        &mut self,
        pending_events: &mut Vec<PendingEvent>,
        now: i64,
        stats: &mut BatchStats,
    ) -> Result<(), ServerError> {
        for pending in std::mem::take(pending_events) {
            if self.is_echo(&pending) {
                self.drop_repeated(&pending, now, stats)?;
            } else {
                pending_events.push(pending);
            }
        }
        Ok(())
    }

    /// Removes an event that came before, also before a death between storing and
    /// removing.
    fn drop_repeated(
        &mut self,
        pending: &PendingEvent,
        now: i64,
        stats: &mut BatchStats,
    ) -> Result<(), ServerError> {
        let Some(file) = &pending.file else {
            // The session file reports it again at every later end of a turn.
            return Ok(());
        };
        delete_file(file)?;
        let id = &pending.captured.envelope.id;
        self.log
            .write_line(now, &format!("event {id}: stored before"));
        stats.removed += 1;
        stats.repeated += 1;
        Ok(())
    }

    /// Some events have no call to be known by, or may come again in the same
    /// words: only if both come at the same time are they one.
    fn is_echo(&mut self, pending: &PendingEvent) -> bool {
        let raw = &pending.captured.raw;
        let at = pending.captured.envelope.at;
        if pending.captured.call.is_some() {
            return false;
        }
        let id = &pending.captured.envelope.id;
        // The same event again is a second try, not an echo.
        if self.recent_events.iter().any(|(known, _, _)| known == id) {
            return false;
        }
        let echoed = self
            .recent_events
            .iter()
            .any(|(_, fields, then)| (at - then).abs() < ECHO_WINDOW_MS && *fields == raw.fields);
        if echoed {
            return true;
        }
        if self.recent_events.len() == MAX_RECENT_EVENTS {
            self.recent_events.remove(0);
        }
        self.recent_events
            .push((id.clone(), raw.fields.clone(), at));
        false
    }

    /// What was thought to be in the store is not there, or not there any more.
    pub(crate) fn reset_cache(&mut self) {
        self.ingest.reset_cache();
        self.injections.reset_cache();
    }

    fn log_stored(&mut self, pending: &PendingEvent, fate: EventDisposition, now: i64) {
        let CapturedEvent {
            envelope, event, ..
        } = &pending.captured;
        let mut marks = String::new();
        for mark in pending.marks.iter() {
            // Writing into a string cannot fail.
            let _ = write!(marks, ", redacted {} {}", mark.count, mark.kind);
        }
        self.log.write_line(
            now,
            &format!(
                "event {} {}: read {} bytes{marks}, {fate}",
                envelope.id,
                event.name.as_str(),
                pending.bytes
            ),
        );
    }
}

/// What the spool adds on the way of its events: the injections of their sessions.
struct SpoolSource<'a> {
    paths: &'a DataPaths,
    injections: &'a mut InjectionIngest,
    log: &'a mut Log,
    now: i64,
}

impl EventSource for SpoolSource<'_> {
    fn complete_batch(
        &mut self,
        store: &dyn Store,
        events: &[&CapturedEvent],
        batch: &mut Batch,
    ) -> Result<(), ServerError> {
        let (paths, now) = (self.paths, self.now);
        match catch_panic(|| self.injections.join(paths, store, events, batch, now)) {
            Ok(joined) => joined,
            Err(panicked) => {
                give_up_injections(self.injections, self.log, &panicked, now);
                Ok(())
            }
        }
    }
}

/// Injections are read from files of their own: no event is to blame for what
/// they hold.
fn give_up_injections(
    injections: &mut InjectionIngest,
    log: &mut Log,
    panicked: &CaughtPanic,
    now: i64,
) {
    injections.reset_cache();
    let line = format!("warning: injections are not stored: {panicked}");
    log.write_line(now, &line);
}

fn delete_file(file: &Path) -> Result<(), ServerError> {
    remora_client::remove_file(file).map_err(io_error_at(file))
}

fn parse_event(spooled: &SpooledEvent) -> Result<(&'static AgentSpec, Event), String> {
    let agent = &spooled.envelope.agent;
    let spec = remora_agents::find_agent(agent)
        .ok_or_else(|| format!("`{agent}` is not an agent this version knows"))?;
    match (spec.parse_payload)(&spooled.payload) {
        Ok(decoded) => Ok((spec, decoded.event)),
        Err(e) => Err(e.to_string()),
    }
}
