//! How fast rows are stored and found by both tiers, over rows whose words are
//! as common as words are, and against a plain FTS5 search for any of the words
//! in the same run. Vectors are made up; the query's is the model's own work.
//! `cargo bench -p remora-store --bench search -- 10000 1000000` takes other
//! numbers of rows.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures and made-up words"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use remora_core::record::{Item, Kind};
use remora_embed::{EMBEDDING_DIMS, Effort, Embedding, Encoder, EncoderSource, MODEL_ID};
use remora_memory::store::{Batch, Filter, ItemWrite, Store};
use remora_memory::testing::{LOOK_TOOLS, item};
use remora_memory::words::Query;
use remora_store::{Access, SqliteStore, open_store};
use rusqlite::Connection;

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

    fn unit(&mut self) -> f64 {
        (self.roll() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A rank by Zipf's law: the nth word is an nth as common as the first.
    fn rank(&mut self, words: u64) -> u64 {
        ((words as f64).powf(self.unit()) as u64).min(words) - 1
    }
}

const WORDS: u64 = 120_000;
const SYLLABLES: [&str; 24] = [
    "ka", "ro", "mi", "ten", "sol", "va", "du", "pre", "con", "ex", "par", "lim", "ost", "fer",
    "ga", "nul", "qua", "bri", "zen", "tor", "el", "shi", "wan", "hu",
];

fn word(rank: u64) -> String {
    let mut left = rank + 24;
    let mut out = String::new();
    while left > 0 {
        out.push_str(SYLLABLES[(left % 24) as usize]);
        left /= 24;
    }
    out
}

fn text(dice: &mut Dice, words: u64) -> String {
    let mut out = String::new();
    for n in 0..words {
        if n > 0 {
            out.push(if n % 12 == 0 { '\n' } else { ' ' });
        }
        let rank = dice.rank(WORDS);
        match dice.below(12) {
            0 => out.push_str(&[word(rank), word(dice.rank(WORDS))].join("_")),
            1 => out.push_str(&["src/", &word(rank % 40), "/", &word(rank % 900), ".rs"].concat()),
            _ => out.push_str(&word(rank)),
        }
    }
    out
}

/// Most rows belong to a few large projects.
fn row(dice: &mut Dice, n: u64) -> Item {
    let project = dice.rank(40);
    let kinds = [
        Kind::Change,
        Kind::Discovery,
        Kind::Command,
        Kind::Prompt,
        Kind::Failure,
    ];
    let words = 25 + dice.below(125);
    let file = format!("src/{}/{}.rs", word(project + 7), word(dice.rank(400)));
    Item {
        kind: kinds[dice.below(5) as usize],
        text: text(dice, words),
        facts: vec![text(dice, 8)],
        concepts: vec![word(dice.rank(WORDS))],
        files_modified: vec![file],
        time: i64::try_from(n).unwrap() * 1_000,
        project: format!("github.com/acme/{}", word(project)).into(),
        session: format!("{:08x}-0000-4000-8000-{:012x}", project, n / 400).into(),
        tool: Some("Edit".to_owned()),
        tool_use_id: Some(format!("toolu_{:022x}", dice.roll())),
        prompt: Some(3),
        ..item(
            &format!(
                "{:08x}-{:04x}-7000-8000-{:012x}/0",
                dice.roll() as u32,
                dice.roll() as u16,
                n
            ),
            &text(dice, 8),
        )
    }
}

fn percentiles(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    (at(50), at(95))
}

/// A made-up direction near one of a hundred others.
fn direction(dice: &mut Dice) -> Embedding {
    let mut about = Dice(1 + dice.below(100) * 0x9E37_79B9);
    let floats: Vec<f32> = (0..EMBEDDING_DIMS)
        .map(|_| (about.unit() - 0.5 + (dice.unit() - 0.5) * 1.5) as f32)
        .collect();
    Embedding::from_vector(&floats)
}

fn embed(store: &SqliteStore, rows: u64) {
    let mut dice = Dice(5);
    let start = Instant::now();
    let rows = i64::try_from(rows).unwrap();
    for from in (1..=rows).step_by(1_024) {
        let some: Vec<(i64, Embedding)> = (from..(from + 1_024).min(rows + 1))
            .map(|id| (id, direction(&mut dice)))
            .collect();
        store.store_embeddings(MODEL_ID, &some).unwrap();
    }
    println!(
        "stored a vector each: {:.0} rows/s",
        rows as f64 / start.elapsed().as_secs_f64()
    );
}

fn fill(store: &SqliteStore, plain: &Connection, rows: u64) {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut took = Duration::ZERO;
    let mut raw = 0;
    for from in (0..rows).step_by(256) {
        let items: Vec<Item> = (from..rows.min(from + 256))
            .map(|n| row(&mut dice, n))
            .collect();
        raw += items
            .iter()
            .map(|item| item.text.len() + item.title.len() + 80)
            .sum::<usize>();
        plain.execute_batch("BEGIN").unwrap();
        for (n, item) in (from..).zip(&items) {
            plain
                .prepare_cached("INSERT INTO plain (rowid, title, body) VALUES (?1, ?2, ?3)")
                .unwrap()
                .execute((n.cast_signed() + 1, &item.title, &item.text))
                .unwrap();
        }
        plain.execute_batch("COMMIT").unwrap();
        let batch = Batch {
            items: items.into_iter().map(ItemWrite::Add).collect(),
            ..Batch::default()
        };
        let start = Instant::now();
        store.apply(&batch).unwrap();
        took += start.elapsed();
    }
    let bytes = store.count_contents().unwrap().bytes;
    println!(
        "stored {rows} rows in batches of 256: {:.0} rows/s, {} bytes a row for {} bytes of text",
        rows as f64 / took.as_secs_f64(),
        bytes / rows,
        raw as u64 / rows
    );
}

/// Words as people choose them: common, but not the most common ones.
fn queries(count: usize) -> Vec<Vec<String>> {
    let mut dice = Dice(77);
    (0..count)
        .map(|n| {
            let wanted = 1 + n % 6;
            let mut words = Vec::new();
            while words.len() < wanted {
                let rank = dice.rank(WORDS);
                if rank >= 60 {
                    words.push(word(rank));
                }
            }
            words
        })
        .collect()
}

fn run(name: &str, queries: &[Vec<String>], mut search: impl FnMut(&[String]) -> usize) -> f64 {
    let mut hits = 0;
    let times = queries
        .iter()
        .map(|words| {
            let start = Instant::now();
            hits += search(words);
            start.elapsed()
        })
        .collect();
    let (p50, p95) = percentiles(times);
    println!(
        "  {name}: p50 {p50:.2} ms, p95 {p95:.2} ms, {:.1} hits",
        hits as f64 / queries.len() as f64
    );
    p50
}

fn measure(folder: &Path, rows: u64, count: usize) {
    let path = folder.join("remora.db");
    let store = open_store(&path, Access::Write, LOOK_TOOLS).unwrap();
    let plain = Connection::open(folder.join("plain.db")).unwrap();
    plain
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE VIRTUAL TABLE plain USING fts5 (title, body, tokenize = 'porter unicode61')",
        )
        .unwrap();
    fill(&store, &plain, rows);
    embed(&store, rows);
    drop(store);
    let store = open_store(&path, Access::Read, LOOK_TOOLS).unwrap();
    let queries = queries(count);
    let everywhere = Filter::default();
    let big = Filter {
        project: Some(format!("github.com/acme/{}", word(0)).into()),
        ..Filter::default()
    };
    let small = Filter {
        project: Some(format!("github.com/acme/{}", word(30)).into()),
        ..Filter::default()
    };
    let ask = |words: &[String], filter: &Filter| {
        store
            .search(&Query::parse(&words.join(" ")), filter, 20)
            .unwrap()
            .len()
    };
    let ours = run("everywhere", &queries, |words| ask(words, &everywhere));
    let encoder = Encoder::load(&EncoderSource::BuiltIn).unwrap();
    let full = |name: &str, filter: &Filter| {
        run(name, &queries, |words| {
            let text = words.join(" ");
            // Its time counts, its direction would be near to nothing here.
            encoder.encode(&[&text], Effort::Full).unwrap();
            let meaning = direction(&mut Dice(words.len() as u64 * 77 + text.len() as u64));
            let query = Query::parse(&text).with_meaning(meaning);
            store.search(&query, filter, 20).unwrap().len()
        })
    };
    full("everywhere, full tier", &everywhere);
    full("in the largest project, full tier", &big);
    run("in the largest project", &queries, |words| ask(words, &big));
    run("in a small project", &queries, |words| ask(words, &small));
    for (n, name) in ["one word", "two", "three", "four", "five", "six"]
        .iter()
        .enumerate()
    {
        let some: Vec<Vec<String>> = queries
            .iter()
            .filter(|words| words.len() == n + 1)
            .cloned()
            .collect();
        run(&format!("everywhere, {name}"), &some, |words| {
            ask(words, &everywhere)
        });
    }
    let theirs = run("plain FTS5, any of the words", &queries, |words| {
        plain
            .prepare_cached(
                "SELECT rowid, title, body FROM plain WHERE plain MATCH ?1 ORDER BY rank LIMIT 20",
            )
            .unwrap()
            .query_map([words.join(" OR ")], |row| row.get::<_, String>(2))
            .unwrap()
            .count()
    });
    println!("  ratio to plain FTS5: {:.2}", ours / theirs);
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
        measure(folder.path(), rows, if quick { 12 } else { 600 });
    }
}
