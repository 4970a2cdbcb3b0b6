//! How fast spooled events are stored, where the time goes, and how many bytes
//! they come to, over generated events.
//!
//! `cargo bench -p remora-server -- 20000` takes another number of events.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(clippy::cast_precision_loss, reason = "figures")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use remora_agents::{decode_event, field_roles, read_header, recorded_agent};
use remora_client::{
    DataPaths, HookInput, ProjectLocation, RootClaim, list_spooled, read_spooled, spool_event,
};
use remora_core::tokens;
use remora_memory::store::Store;
use remora_memory::testing::generator::{Generator, Made};
use remora_memory::{CaptureDecision, CapturePolicy, CapturedEvent, Extractor, call_key};
use remora_redact::{RedactionCounts, Redactor, private};
use remora_server::archive::{Archive, ArchivedEvent};
use remora_server::{Log, SpoolIngest, open_database};
use remora_store::Access;
use serde_json::Value;
use tempfile::TempDir;

const NOW: i64 = 1_794_800_000_000;
/// As many as the worker takes into one transaction.
const BATCH: usize = 512;
const MB: f64 = 1024.0 * 1024.0;

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|a| a == "--test");
    let asked = std::env::args().find_map(|a| a.parse().ok());
    let events = asked.unwrap_or(if quick { 60 } else { 20_000 });
    let made: Vec<Made> = Generator::new(1).take(events).collect();
    let raw: usize = made.iter().map(|made| made.event.to_string().len()).sum();
    println!(
        "{events} events, {:.1} MB of JSON, {:.1} KB each",
        raw as f64 / MB,
        raw as f64 / 1024.0 / events as f64
    );
    backlog(&made, raw);
    stages(&made[..events.min(6_000)]);
    live(&made[..events.min(4_000)]);
}

struct Site {
    _dir: TempDir,
    paths: DataPaths,
}

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let paths = DataPaths::new(dir.path().join("data"));
        paths.prepare_data_dir().unwrap();
        Self { _dir: dir, paths }
    }

    fn put(&self, made: &Made) {
        let input = HookInput {
            bytes: made.event.to_string().into_bytes(),
            cut: false,
        };
        let place = ProjectLocation {
            project: made.project.clone(),
            branch: Some(made.branch.clone()),
            main: made.project.root.clone(),
            claim: RootClaim::None,
        };
        let agent = recorded_agent().name;
        spool_event(&self.paths, agent, made.time, Some(place), &input, false).unwrap();
    }

    fn store(&self) -> Box<dyn Store> {
        Box::new(open_database(&self.paths.database_file(), Access::Write).unwrap())
    }

    fn inbox(&self) -> SpoolIngest {
        let log = Log::open(self.paths.worker_log());
        let policy = CapturePolicy::default();
        SpoolIngest::new(self.paths.clone(), self.store(), policy, Vec::new(), log).unwrap()
    }

    /// What lies on the disk of the archive and of the database, and their
    /// share of the raw bytes.
    fn weigh(&self, what: &str, raw: usize) {
        let archive = size(&self.paths.archive_dir());
        let database: u64 = ["remora.db", "remora.db-wal"]
            .iter()
            .filter_map(|name| fs::metadata(self.paths.home().join(name)).ok())
            .map(|meta| meta.len())
            .sum();
        println!(
            "  {what}: database {:.2} MB + archive {:.2} MB = {:.3} of the JSON (aim <= 0.4)",
            database as f64 / MB,
            archive as f64 / MB,
            (database + archive) as f64 / raw as f64
        );
    }
}

fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum()
}

/// Processor time of this thread so far; with others on the machine it tells
/// more than the clock.
fn busy() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Everything waits in the spool; how fast it is taken.
fn backlog(made: &[Made], raw: usize) {
    let site = Site::new();
    for made in made {
        site.put(made);
    }
    let mut inbox = site.inbox();
    let (start, busy) = (Instant::now(), busy());
    let mut stored = 0;
    loop {
        let round = inbox.ingest_batch(NOW).unwrap();
        assert_eq!((round.dead, round.repeated), (0, 0));
        stored += round.stored;
        if round.removed == 0 {
            break;
        }
    }
    let (time, busy) = (start.elapsed(), self::busy().saturating_sub(busy));
    assert_eq!(stored, made.len());
    println!(
        "spool to store, in batches of {BATCH}: {:.0} events/s (aim >= 5000), {:.0} a second of processor time",
        stored as f64 / time.as_secs_f64(),
        stored as f64 / busy.as_secs_f64()
    );
    site.weigh("as stored", raw);
    inbox.archive().compact_files().unwrap();
    drop(inbox);
    site.weigh("after the archive was tightened", raw);
}

/// One event at a time, as in a session that somebody works in.
fn live(made: &[Made]) {
    let site = Site::new();
    let mut inbox = site.inbox();
    let mut times = Vec::with_capacity(made.len());
    for made in made {
        site.put(made);
        let start = Instant::now();
        assert_eq!(inbox.ingest_batch(made.time).unwrap().stored, 1);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    println!(
        "{} events one by one: p50 {:.2} ms, p95 {:.2} ms each",
        made.len(),
        at(50),
        at(95)
    );
    let raw = made.iter().map(|made| made.event.to_string().len()).sum();
    site.weigh("as stored", raw);
    inbox.archive().compact_files().unwrap();
    drop(inbox);
    site.weigh("after the archive was tightened", raw);
}

/// The inbox's steps by hand, each with its time.
fn stages(made: &[Made]) {
    let site = Site::new();
    for made in made {
        site.put(made);
    }
    let mut shares: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut timed = |what: &'static str, start: Instant| {
        *shares.entry(what).or_default() += start.elapsed();
    };
    let redactor = Redactor::new(&CapturePolicy::default().redaction).unwrap();
    let mut digester = Extractor::new(CapturePolicy::default());
    let mut archive = Archive::new(site.paths.archive_dir());
    let store = site.store();
    loop {
        let start = Instant::now();
        let files = list_spooled(&site.paths, BATCH).unwrap();
        timed("1 list", start);
        if files.is_empty() {
            break;
        }
        let mut captured = Vec::new();
        for file in &files {
            let start = Instant::now();
            let spooled = read_spooled(file, u64::MAX).unwrap();
            timed("2 read", start);
            let start = Instant::now();
            let mut event = (recorded_agent().parse_payload)(&spooled.payload)
                .unwrap()
                .event;
            let raw_tokens = tokens::estimate_tokens(&String::from_utf8_lossy(&spooled.payload));
            let call = call_key(&read_header(&spooled.envelope.agent, &event), &event);
            timed("3 decode", start);
            let start = Instant::now();
            let mut value = Value::Object(std::mem::take(&mut event.fields));
            private::strip_value(&mut value);
            timed("4 private", start);
            let start = Instant::now();
            let roles = field_roles(&spooled.envelope.agent);
            redactor.redact_json(&mut value, roles, &mut RedactionCounts::default());
            timed("5 redact", start);
            let Value::Object(fields) = value else {
                panic!("an event")
            };
            event.fields = fields;
            let start = Instant::now();
            let agent = &spooled.envelope.agent;
            let typed = decode_event(agent, &event, spooled.envelope.at.into());
            timed("5 type", start);
            captured.push(CapturedEvent {
                envelope: spooled.envelope,
                raw: event,
                event: typed,
                call,
                worth: CaptureDecision::Keep,
                raw_tokens,
            });
        }
        let start = Instant::now();
        let keys: Vec<_> = captured.iter().map(CapturedEvent::key).collect();
        store.are_known(&keys).unwrap();
        timed("6 known", start);
        let start = Instant::now();
        let events: Vec<&CapturedEvent> = captured.iter().collect();
        let digest = digester.extract_items(store.as_ref(), &events).unwrap();
        timed("7 digest", start);
        let start = Instant::now();
        let mut lines = Vec::new();
        for captured in captured {
            let archived = ArchivedEvent {
                envelope: captured.envelope,
                event: captured.raw.fields,
            };
            serde_json::to_writer(&mut lines, &archived).unwrap();
            lines.push(b'\n');
        }
        archive.append(&lines, NOW).unwrap();
        timed("8 archive", start);
        let start = Instant::now();
        store.apply(&digest.batch).unwrap();
        timed("9 store", start);
        let start = Instant::now();
        for file in &files {
            fs::remove_file(file).unwrap();
        }
        timed("remove", start);
    }
    let all: Duration = shares.values().sum();
    println!("of the time of each event:");
    for (what, time) in shares {
        println!(
            "  {what:10} {:6.1} us {:5.1} %",
            time.as_secs_f64() * 1e6 / made.len() as f64,
            100.0 * time.as_secs_f64() / all.as_secs_f64()
        );
    }
}
