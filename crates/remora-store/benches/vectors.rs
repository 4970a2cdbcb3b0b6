//! How fast meanings are stored and the nearest are found, and how many of the
//! truly nearest 200 are among those found. The vectors are made up: topics
//! within topics in 64 directions of 384, about as near to each other as those
//! of real texts. `cargo bench -p remora-store --bench vectors -- 1000000`
//! takes another number of rows.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(clippy::cast_precision_loss, reason = "figures and made-up vectors")]

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use remora_core::record::{Item, Kind};
use remora_embed::Embedding;
use remora_memory::store::{Batch, Filter, ItemWrite, Store};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_store::{Access, SqliteStore, open_store};

const MODEL: &str = "made-up/1";
const DIMS: usize = 384;
const DIRECTIONS: usize = 64;
/// How many of the nearest a search takes.
const WANTED: usize = 200;
/// How many queries are checked against every row.
const CHECKED: usize = 40;

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.roll() >> 11) % end
    }

    /// About a normal distribution: the sum of four even ones.
    fn normal(&mut self) -> f32 {
        let roll = self.roll();
        let parts = [0, 16, 32, 48].map(|by| ((roll >> by) & 0xFFFF) as f32 / 65_536.0 - 0.5);
        parts.iter().sum::<f32>() * 1.732
    }
}

/// Makes vectors.
struct Space {
    /// Where each direction points; the first ones count more.
    basis: Vec<[f32; DIMS]>,
    topics: u64,
}

impl Space {
    fn new(rows: u64) -> Self {
        let mut dice = Dice(0xD1B5_4A32_D192_ED03);
        let basis = (0..DIRECTIONS)
            .map(|n| {
                let weight = 1.0 / (1.0 + n as f32 * 0.05);
                std::array::from_fn(|_| dice.normal() * weight)
            })
            .collect();
        Self {
            basis,
            topics: (rows / 50).max(4),
        }
    }

    /// A text about a topic, which is one of a larger one.
    fn meaning(&self, dice: &mut Dice, topic: u64) -> Embedding {
        let mut large = Dice((topic / 30 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut small = Dice((topic + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9));
        let mut vector = [0.0_f32; DIMS];
        for direction in &self.basis {
            let along = large.normal() * 0.6 + small.normal() * 0.7 + dice.normal() * 0.9;
            for (to, from) in vector.iter_mut().zip(direction) {
                *to += along * from;
            }
        }
        for to in &mut vector {
            *to += dice.normal() * 2.2;
        }
        Embedding::from_vector(&vector)
    }
}

/// Half of the rows belong to one project, one in a hundred to a small one.
fn row(n: u64) -> Item {
    let project = match n % 100 {
        0 => "small",
        1..50 => "other",
        _ => "large",
    };
    Item {
        kind: [Kind::Change, Kind::Discovery, Kind::Prompt, Kind::Decision][(n % 4) as usize],
        project: project.into(),
        session: format!("{:08x}-0000-4000-8000-000000000000", n / 500).into(),
        time: n.cast_signed() * 1_000,
        ..item(&format!("{n:08x}-0000-7000-8000-000000000000/0"), "a row")
    }
}

struct BenchQuery {
    meaning: Embedding,
    /// What is truly nearest so far.
    nearest: Vec<(f32, i64)>,
}

impl BenchQuery {
    fn offer(&mut self, id: i64, meaning: &Embedding) {
        self.nearest
            .push((self.meaning.cosine_similarity(meaning), id));
        if self.nearest.len() >= WANTED * 4 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.nearest
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.nearest.truncate(WANTED);
    }
}

fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    (at(50), at(95))
}

fn fill(store: &SqliteStore, rows: u64, asked: &mut [BenchQuery]) {
    let space = Space::new(rows);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut took = Duration::ZERO;
    let before = store.count_contents().unwrap().bytes;
    for from in (0..rows).step_by(256) {
        let batch = Batch {
            items: (from..rows.min(from + 256))
                .map(|n| ItemWrite::Add(row(n)))
                .collect(),
            ..Batch::default()
        };
        let meanings: Vec<(i64, Embedding)> = store
            .apply(&batch)
            .unwrap()
            .into_iter()
            .map(|id| {
                let topic = dice.below(space.topics);
                (id, space.meaning(&mut dice, topic))
            })
            .collect();
        for (id, meaning) in &meanings {
            for asked in asked.iter_mut() {
                asked.offer(*id, meaning);
            }
        }
        for part in meanings.chunks(32) {
            let start = Instant::now();
            store.store_embeddings(MODEL, part).unwrap();
            took += start.elapsed();
        }
    }
    println!(
        "stored {rows} meanings in batches of 32: {:.0} a second; with their rows {} bytes each",
        rows as f64 / took.as_secs_f64(),
        (store.count_contents().unwrap().bytes - before) / rows
    );
}

/// How long this thread has had a processor, where the system tells: on a busy
/// machine a search takes longer than its work.
fn worked() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

fn run(name: &str, store: &SqliteStore, queries: &[Embedding], filter: &Filter) {
    let mut found = 0;
    let before = worked();
    let times = queries
        .iter()
        .map(|query| {
            let start = Instant::now();
            found += store
                .find_nearest(MODEL, query, filter, WANTED)
                .unwrap()
                .len();
            start.elapsed()
        })
        .collect();
    let worked = worked()
        .zip(before)
        .map(|(now, before)| now.saturating_sub(before));
    let (p50, p95) = percentiles(times);
    let each = worked.map_or(f64::NAN, |all| {
        all.as_secs_f64() * 1e3 / queries.len() as f64
    });
    println!(
        "  {name}: p50 {p50:.2} ms, p95 {p95:.2} ms, {each:.2} ms of work, {:.0} found",
        found as f64 / queries.len() as f64
    );
}

fn recall(store: &SqliteStore, asked: &mut [BenchQuery]) {
    for wanted in [10, 50, WANTED] {
        let mut hits = 0;
        let mut of = 0;
        for asked in asked.iter_mut() {
            asked.cut();
            let found = store
                .find_nearest(MODEL, &asked.meaning, &Filter::default(), wanted)
                .unwrap();
            let found: HashSet<i64> = found.iter().map(|(id, _)| *id).collect();
            let exact = asked.nearest.iter().take(wanted);
            of += exact.len();
            hits += exact.filter(|(_, id)| found.contains(id)).count();
        }
        println!(
            "  of the nearest {wanted}, found: {:.1} %",
            hits as f64 * 100.0 / of as f64
        );
    }
    let at = |n: usize| {
        let sum: f32 = asked
            .iter()
            .map(|a| a.nearest[n.min(a.nearest.len()) - 1].0)
            .sum();
        sum / asked.len() as f32
    };
    println!(
        "  how near they are: the 1st {:.2}, the 10th {:.2}, the {WANTED}th {:.2}",
        at(1),
        at(10),
        at(WANTED)
    );
}

fn measure(folder: &Path, rows: u64, count: usize) {
    let path = folder.join("remora.db");
    let space = Space::new(rows);
    let mut dice = Dice(77);
    let queries: Vec<Embedding> = (0..count)
        .map(|_| {
            let topic = dice.below(space.topics);
            space.meaning(&mut dice, topic)
        })
        .collect();
    let mut asked: Vec<BenchQuery> = queries
        .iter()
        .take(CHECKED)
        .map(|meaning| BenchQuery {
            meaning: meaning.clone(),
            nearest: Vec::new(),
        })
        .collect();
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    fill(&store, rows, &mut asked);
    drop(store);
    let store = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    let any = Filter::default;
    run("everywhere", &store, &queries, &any());
    for project in ["large", "small"] {
        let filter = Filter {
            project: Some(project.into()),
            ..any()
        };
        run(
            &format!("in the {project} project"),
            &store,
            &queries,
            &filter,
        );
    }
    let kinds = Filter {
        kinds: vec![Kind::Decision],
        ..any()
    };
    run("of one kind", &store, &queries, &kinds);
    let session = Filter {
        session: Some(row(rows / 2).session),
        ..any()
    };
    run("in a session", &store, &queries, &session);
    let since = Filter {
        since: Some((rows - rows / 10).cast_signed() * 1_000),
        ..any()
    };
    run("in the last tenth of time", &store, &queries, &since);
    recall(&store, &mut asked);
}

fn main() {
    // `cargo test --benches` only asks whether it works.
    let quick = std::env::args().any(|arg| arg == "--test");
    let asked: Vec<u64> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let sizes = match (quick, asked.is_empty()) {
        (true, _) => vec![300],
        (false, true) => vec![10_000, 100_000],
        (false, false) => asked,
    };
    for rows in sizes {
        let folder = tempfile::tempdir().unwrap();
        measure(folder.path(), rows, if quick { 12 } else { 300 });
    }
}
