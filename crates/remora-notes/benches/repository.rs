//! How long a large repository takes, as ratios to a bare walk of the same
//! run: checking 2,000 memories against 50,000 files, why one of them is in
//! the prompt, and what lint says. The repository is made up from a seed,
//! with renames and deletions in its history.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Read as _, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use remora_instructions::{InstructionOptions, InstructionPaths, Instructions};
use remora_notes::check::{self, CheckCache, ClaimFinding, ClaimVerdict, Git, TreeListing};

const SEED: u64 = 0x5eed_0f5e_a5a1_0000;
/// Rules that no file wakes, and as many that one does.
const RULES: usize = 20;

/// How large everything is.
#[derive(Clone, Copy)]
struct Size {
    files: usize,
    commits: usize,
    memories: usize,
    rounds: usize,
}

const FULL: Size = Size {
    files: 50_000,
    commits: 300,
    memories: 2_000,
    rounds: 5,
};
/// `cargo test --benches` only asks whether it works.
const QUICK: Size = Size {
    files: 600,
    commits: 6,
    memories: 40,
    rounds: 1,
};

fn main() {
    // `cargo bench` says so; `cargo test` says nothing at all.
    let has = |word: &str| std::env::args().any(|a| a == word);
    let full = has("--bench") && !has("--test");
    let size = if full { FULL } else { QUICK };
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let (cwd, home) = (root.join("home/app"), root.join("home"));
    fs::create_dir_all(&cwd).unwrap();
    lay(&cwd, size);
    let (files, bytes) = walk(&cwd);
    println!(
        "{files} files, {} MB, {} memories, load average {}",
        bytes >> 20,
        size.memories,
        fs::read_to_string("/proc/loadavg").map_or_else(
            |_| "not known".into(),
            |text| text.split(' ').take(3).collect::<Vec<_>>().join(" ")
        )
    );

    let (bodies, expected): (Vec<String>, Vec<ClaimVerdict>) =
        (0..size.memories).map(|n| memory(n, size)).unzip();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let look = |cached: &mut CheckCache| {
        let files = TreeListing::list_files(&cwd, &[]);
        check::check_all(&files, &bodies, &Git::default(), cached, &mut |_, _| {})
    };
    let mut kept = CheckCache::default();
    agree(&bodies, &look(&mut kept), &expected);
    let kept = kept.save();

    let places = InstructionPaths::new(&cwd, &home);
    let session = Instructions::load(places, InstructionOptions::default());
    let asked = cwd.join(path(size.files / 2, size));
    let silent = session.lint().len();
    assert_eq!(silent, RULES, "each rule that nothing wakes, and no other");

    let mut times: [Vec<Duration>; 6] = Default::default();
    for _ in 0..size.rounds {
        let works: [&mut dyn FnMut(); 6] = [
            &mut || {
                black_box(walk(&cwd));
            },
            &mut || drop(black_box(TreeListing::list_files(&cwd, &[]))),
            &mut || drop(black_box(look(&mut CheckCache::default()))),
            &mut || drop(black_box(look(&mut CheckCache::load(&kept)))),
            &mut || drop(black_box(session.explain_file(&asked))),
            &mut || drop(black_box(session.lint())),
        ];
        for (times, work) in times.iter_mut().zip(works) {
            times.push(time(work));
        }
    }
    let [bare, listing, whole, again, why, lint] = times.map(median);
    println!("a bare walk that reads every file, one thread: {bare:?}");
    line("the listing alone", listing, bare);
    line("check, nothing kept", whole, bare);
    line("check, findings kept", again, bare);
    line("why, one file", why, bare);
    line(&format!("lint, {RULES} rules match nothing"), lint, bare);

    if drop_caches() {
        let bare = time(|| {
            black_box(walk(&cwd));
        });
        drop_caches();
        let whole = time(|| drop(black_box(look(&mut CheckCache::default()))));
        println!("page cache dropped, bare walk: {bare:?}");
        line("page cache dropped, check, nothing kept", whole, bare);
    }

    // Both walk the same files, so the rest is what the patterns cost.
    for rule in 0..RULES / 2 {
        fs::remove_file(cwd.join(format!(".claude/rules/silent-{rule}.md"))).unwrap();
    }
    let fewer = (0..size.rounds).map(|_| {
        time(|| {
            black_box(session.lint());
        })
    });
    let spared = lint.saturating_sub(median(fewer.collect()));
    let tried = f64::from(u32::try_from(files * RULES / 2).unwrap());
    println!(
        "one rule of two patterns against one path: {:.0} ns",
        spared.as_secs_f64() * 1e9 / tried
    );
}

fn line(what: &str, ours: Duration, bare: Duration) {
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("{what}: {ours:?}, ratio {ratio:.3}");
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Only root may; everyone else measures warm.
fn drop_caches() -> bool {
    let sync = Command::new("sync").status();
    sync.is_ok_and(|s| s.success()) && fs::write("/proc/sys/vm/drop_caches", "1").is_ok()
}

/// Reads every file below a folder, as plainly as it can be done.
fn walk(root: &Path) -> (usize, u64) {
    let mut buffer = vec![0; 1 << 20];
    let (mut files, mut bytes) = (0, 0);
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let mut file = File::open(entry.path()).unwrap();
                files += 1;
                loop {
                    let count = file.read(&mut buffer).unwrap();
                    bytes += count as u64;
                    if count == 0 {
                        break;
                    }
                }
                black_box(&buffer);
            } else if entry.file_name() != ".git" {
                folders.push(entry.path());
            }
        }
    }
    (files, bytes)
}

/// A figure over wrong findings would be worth nothing.
fn agree(bodies: &[&str], found: &[Vec<ClaimFinding>], expected: &[ClaimVerdict]) {
    for ((body, findings), verdict) in bodies.iter().zip(found).zip(expected) {
        assert_eq!(
            check::combine_verdicts(findings),
            *verdict,
            "{body}\n{findings:#?}"
        );
    }
}

/// Numbers from a seed; the same everywhere.
struct Dice(u64);

impl Dice {
    fn new(about: usize) -> Self {
        Self(SEED ^ (about as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed >> 33) % end as u64).unwrap()
    }

    fn of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}

const VERBS: &[&str] = &[
    "apply", "bind", "cancel", "charge", "count", "draft", "emit", "fold", "gather", "grant",
    "issue", "link", "merge", "notify", "order", "parse", "queue", "refund", "route", "settle",
    "ship", "sign", "split", "store", "sync", "trace", "verify", "weigh",
];
const NOUNS: &[&str] = &[
    "account", "address", "audit", "badge", "basket", "batch", "budget", "carrier", "catalog",
    "claim", "coupon", "courier", "customer", "delivery", "depot", "device", "discount", "entry",
    "event", "fee", "freight", "gate", "invoice", "ledger", "letter", "lot", "margin", "market",
    "notice", "offer", "order", "parcel", "payment", "permit", "price", "quota", "rate", "receipt",
    "region", "report", "reserve", "return", "route", "seat", "shelf", "shipment", "stock",
    "store", "tariff", "ticket", "tender", "token", "tour", "vendor", "voucher", "wallet",
];
const ENDINGS: &[&str] = &["rs", "rs", "rs", "ts", "ts", "ts", "tsx", "py", "py", "md"];

/// The number of the file that a commit's first or second rename takes.
fn renamed(number: usize, size: Size) -> usize {
    number * (size.files / (2 * size.commits)) + 3
}

fn is_renamed(file: usize, size: Size) -> bool {
    let step = size.files / (2 * size.commits);
    file % step == 3 && file / step < 2 * size.commits
}

/// Where a file is in the first commit.
fn first_path(file: usize) -> String {
    let mut dice = Dice::new(file / 25);
    let area = dice.of(NOUNS);
    let top = dice.of(&["apps", "packages", "services", "tools/parts"]);
    let part = dice.of(&["src", "src/api", "src/model", "lib", "tests"]);
    let (own, ending) = (Dice::new(file).of(NOUNS), ENDINGS[file % ENDINGS.len()]);
    format!("{top}/{area}-{}/{part}/{own}_{file}.{ending}", file / 200)
}

/// And in the last.
fn path(file: usize, size: Size) -> String {
    let first = first_path(file);
    if is_renamed(file, size) {
        let (folder, name) = first.rsplit_once('/').unwrap();
        format!("{folder}/core/moved_{name}")
    } else {
        first
    }
}

fn symbol(file: usize) -> String {
    let mut dice = Dice::new(file + 7);
    format!(
        "{}_{}_{}{file}",
        dice.of(VERBS),
        dice.of(NOUNS),
        dice.of(NOUNS)
    )
}

fn flag(number: usize) -> String {
    let mut dice = Dice::new(number + 11);
    format!("--{}-{}-{number}", dice.of(VERBS), dice.of(NOUNS))
}

/// A file that a commit deletes, and a name that its change removes.
fn deleted(commit: usize) -> String {
    let own = Dice::new(commit).of(NOUNS);
    format!("services/retired-{}/src/{own}_old{commit}.rs", commit / 10)
}

fn removed(commit: usize) -> String {
    format!("removed_{}_{commit}", Dice::new(commit).of(VERBS))
}

/// The file that a commit changes; never one that is renamed, nor text.
fn changed(commit: usize, size: Size) -> usize {
    let file = renamed(commit, size) + 1;
    if ENDINGS[file % ENDINGS.len()] == "md" {
        file + 1
    } else {
        file
    }
}

/// The text of a file: code of three to ten thousand bytes.
fn text(file: usize, extra: Option<&str>) -> String {
    let mut dice = Dice::new(file + 13);
    let length = 3_000 + dice.below(7_000);
    let mut out = String::with_capacity(length + 200);
    let markdown = ENDINGS[file % ENDINGS.len()] == "md";
    let own = if markdown {
        "Part".into()
    } else {
        symbol(file)
    };
    let _ = writeln!(
        out,
        "pub fn {own}(input: &str) -> Result<Outcome, Failure> {{"
    );
    if let Some(extra) = extra {
        let _ = writeln!(out, "    let value = {extra}(input)?;");
    }
    // Every fiftieth file reads a flag.
    if file.is_multiple_of(50) {
        let _ = writeln!(out, "    args.flag(\"{}\");", flag(file / 50));
    }
    while out.len() < length {
        let (verb, noun, other) = (dice.of(VERBS), dice.of(NOUNS), dice.of(NOUNS));
        let number = dice.below(4_000);
        let _ = match dice.below(7) {
            0 => writeln!(
                out,
                "    let {noun}_{other} = self.{verb}_{noun}({other}, {number})?;"
            ),
            1 => writeln!(
                out,
                "    // The {noun} of a {other} is what we {verb} at the end."
            ),
            2 => writeln!(
                out,
                "    if {noun}.{other}_count() > {number} {{ return Err(Failure::{verb}); }}"
            ),
            3 => writeln!(
                out,
                "    const {noun}Of{number} = await this.{other}.{verb}({{ {noun} }});"
            ),
            4 => writeln!(out, "    log::debug!(\"{verb} {noun}: {{}}\", {other}.id);"),
            5 => writeln!(
                out,
                "    for {noun} in {other}s.iter().filter(|x| x.{verb}) {{ total += {number}; }}"
            ),
            _ => writeln!(
                out,
                "}}\n\nfn {verb}_{noun}_by_{other}({noun}: u64) -> Option<u64> {{"
            ),
        };
    }
    out.push_str("}\n");
    out
}

/// The repository: one commit with everything, then small ones.
fn lay(cwd: &Path, size: Size) {
    git(cwd, &["init", "-q", "-b", "main"]);
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = BufWriter::with_capacity(1 << 20, import.stdin.take().unwrap());
    history(&mut stream, size);
    drop(stream);
    assert!(import.wait().unwrap().success());
    git(cwd, &["reset", "-q", "--hard"]);
}

fn git(cwd: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(cwd)
        .status();
    assert!(status.unwrap().success());
}

fn history(out: &mut impl Write, size: Size) {
    commit(out, 0);
    for file in 0..size.files {
        put(out, &first_path(file), &text(file, None));
    }
    for number in 0..size.commits {
        put(out, &deleted(number), &text(size.files + number * 10, None));
        let file = changed(number, size);
        put(out, &first_path(file), &text(file, Some(&removed(number))));
    }
    for (path, text) in roots(size) {
        put(out, &path, &text);
    }
    for number in 0..size.commits {
        commit(out, number + 1);
        for file in [2 * number, 2 * number + 1].map(|n| renamed(n, size)) {
            writeln!(out, "R {} {}", first_path(file), path(file, size)).unwrap();
        }
        writeln!(out, "D {}", deleted(number)).unwrap();
        let file = changed(number, size);
        put(out, &first_path(file), &text(file, None));
    }
}

fn commit(out: &mut impl Write, number: usize) {
    let time = 1_700_000_000 + number * 3_600;
    let text = format!("Change {number}");
    writeln!(out, "commit refs/heads/main").unwrap();
    writeln!(out, "committer Ada <ada@example.org> {time} +0000").unwrap();
    writeln!(out, "data {}\n{text}", text.len()).unwrap();
}

fn put(out: &mut impl Write, path: &str, text: &str) {
    writeln!(out, "M 100644 inline {path}\ndata {}\n{text}", text.len()).unwrap();
}

/// Tasks, programs and instructions.
fn roots(size: Size) -> Vec<(String, String)> {
    let mut make = String::new();
    for task in 0..40 {
        let _ = writeln!(make, "step-{task}:\n\techo {task}\n");
    }
    let mut files = vec![
        ("Makefile".to_owned(), make),
        ("scripts/ship.sh".to_owned(), "#!/bin/sh\n".to_owned()),
        (
            "CLAUDE.md".to_owned(),
            "# App\n\nServices are in services/, shared parts in packages/.\n".to_owned(),
        ),
    ];
    for rule in 0..RULES {
        let mut dice = Dice::new(rule);
        let noun = dice.of(NOUNS);
        let silent = format!("services/**/{noun}-absent-{rule}/*.{{ts,tsx}}");
        let own = path(size.files / RULES * rule, size);
        for (name, pattern) in [("silent", silent), ("woken", own)] {
            files.push((
                format!(".claude/rules/{name}-{rule}.md"),
                format!("---\npaths: \"{pattern}\"\n---\n\nPart {rule} keeps to {noun} {name}.\n"),
            ));
        }
    }
    files
}

/// A memory and what must come of it: most hold, some are out of date.
fn memory(number: usize, size: Size) -> (String, ClaimVerdict) {
    let mut dice = Dice::new(number + 17);
    let round = number / 20;
    // Neither text, nor changed by the history.
    let mut file = dice.below(size.files);
    while ENDINGS[file % ENDINGS.len()] == "md" {
        file = (file + 1) % size.files;
    }
    let mut place = path(file, size);
    let mut name = symbol(file);
    let mut task = dice.below(40);
    let mut option = flag(dice.below(size.files / 50));
    let verdict = match number % 20 {
        14 | 15 => {
            let turn = 2 * round + number % 2;
            place = first_path(renamed(turn % (2 * size.commits), size));
            ClaimVerdict::Moved
        }
        16 => {
            place = deleted(round % size.commits);
            ClaimVerdict::Gone
        }
        17 => {
            name = removed(round % size.commits);
            ClaimVerdict::Gone
        }
        18 => {
            task += 1_000;
            ClaimVerdict::Gone
        }
        19 => {
            option = format!("--absent-{number}");
            ClaimVerdict::Gone
        }
        _ => ClaimVerdict::Holds,
    };
    let (noun, other) = (dice.of(NOUNS), dice.of(NOUNS));
    let body = format!(
        "The {noun} of a {other} is worked out in `{place}`: `{name}()` takes the rows and hands \
         over the sum.\n\n**Why:** the {other} had been counted twice at the end of a month, and \
         nobody saw it for weeks.\n\n**How to apply:** run `make step-{task}` and \
         `scripts/ship.sh {option}` after every change of a {noun}.\n"
    );
    (body, verdict)
}
