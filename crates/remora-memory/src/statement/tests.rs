//! Holds the rules against labelled sentences, and the output against its
//! limits on any text.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;

use super::{
    MAX_STATEMENT_CHARS, MAX_STATEMENTS_PER_TEXT, Speaker, Statement, StatementKind,
    find_statements,
};

struct Case {
    place: String,
    /// Each statement that must be found, as the kinds it may have.
    wanted: Vec<Vec<StatementKind>>,
    speaker: Speaker,
    text: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("cases/statements")
}

fn kind(name: &str) -> StatementKind {
    match name {
        "decision" => StatementKind::Decision,
        "preference" => StatementKind::Preference,
        "correction" => StatementKind::Correction,
        other => panic!("no such kind: {other}"),
    }
}

fn cases(file: &str) -> Vec<Case> {
    let text = fs::read_to_string(folder().join(file)).expect(file);
    let rows = text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    rows.map(|(line, row)| {
        let mut cells = row.splitn(3, '\t');
        let mut cell = || {
            cells
                .next()
                .unwrap_or_else(|| panic!("{file}:{}: three cells", line + 1))
        };
        let wanted = match cell() {
            "-" => Vec::new(),
            kinds => kinds
                .split('+')
                .map(|k| k.split('|').map(kind).collect())
                .collect(),
        };
        let speaker = match cell() {
            "u" => Speaker::User,
            "a" => Speaker::Assistant,
            other => panic!("{file}:{}: no such speaker: {other}", line + 1),
        };
        Case {
            place: format!("{file}:{}", line + 1),
            wanted,
            speaker,
            text: cell().replace("\\n", "\n"),
        }
    })
    .collect()
}

#[derive(Default)]
struct Score {
    right: u32,
    extra: u32,
    missed: u32,
    log: String,
}

impl Score {
    fn take(&mut self, case: Case) {
        let found = find_statements(&case.text, case.speaker);
        let mut wanted = case.wanted;
        for statement in &found {
            if let Some(at) = wanted
                .iter()
                .position(|kinds| kinds.contains(&statement.kind))
            {
                wanted.remove(at);
                self.right += 1;
            } else {
                self.extra += 1;
                writeln!(self.log, "{}: extra {statement:?}", case.place).expect("a string");
            }
        }
        for kinds in wanted {
            self.missed += 1;
            writeln!(
                self.log,
                "{}: missed {kinds:?} in {:?}",
                case.place, case.text
            )
            .expect("a string");
        }
    }

    fn precision(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.extra).max(1))
    }

    fn recall(&self) -> f64 {
        f64::from(self.right) / f64::from((self.right + self.missed).max(1))
    }
}

fn score(files: &[&str]) -> (Score, usize) {
    let mut score = Score::default();
    let mut count = 0;
    for case in files.iter().flat_map(|f| cases(f)) {
        score.take(case);
        count += 1;
    }
    println!(
        "{files:?}: {count} cases, precision {:.3}, recall {:.3}\n{}",
        score.precision(),
        score.recall(),
        score.log
    );
    (score, count)
}

#[test]
fn a_few_words_without_a_rule_state_nothing() {
    for n in 0..200 {
        let text = format!("Question number {n}");
        assert_eq!(find_statements(&text, Speaker::User), Vec::new(), "{text}");
    }
}

#[test]
fn labelled_sentences_are_told_apart() {
    let (score, count) = score(&["english.tsv", "chinese.tsv", "others.tsv", "second.tsv"]);
    assert!(count >= 500, "only {count} cases");
    assert!(
        score.precision() >= 0.95,
        "precision {}\n{}",
        score.precision(),
        score.log
    );
    assert!(
        score.recall() >= 0.9,
        "recall {}\n{}",
        score.recall(),
        score.log
    );
}

#[test]
fn sentences_that_no_rule_was_made_for_are_told_apart() {
    let (score, count) = score(&["held-out.tsv"]);
    assert!(count >= 160, "only {count} cases");
    assert!(
        score.precision() >= 0.9,
        "precision {}\n{}",
        score.precision(),
        score.log
    );
    assert!(
        score.recall() >= 0.8,
        "recall {}\n{}",
        score.recall(),
        score.log
    );
}

#[test]
fn what_is_given_up_is_told_from_a_step() {
    let (score, count) = score(&["gone.tsv"]);
    assert!(count > 20, "only {count} cases");
    assert_eq!(score.log, "");
}

#[test]
fn statements_stand_alone_with_their_reason() {
    let text = fs::read_to_string(folder().join("exact.json")).expect("exact.json");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("valid JSON");
    for case in cases {
        let get = |key: &str| case[key].as_str().map(str::to_owned);
        let speaker = if case["speaker"] == "u" {
            Speaker::User
        } else {
            Speaker::Assistant
        };
        let found: Vec<_> = find_statements(&get("text").expect("a text"), speaker)
            .into_iter()
            .map(|s| (s.kind, s.to_text(), s.reason))
            .collect();
        let wanted = (
            kind(&get("kind").expect("a kind")),
            get("statement").expect("a statement"),
            get("reason"),
        );
        assert_eq!(found, [wanted], "{case}");
    }
}

#[test]
fn the_surest_come_first_and_none_twice() {
    let said = "avoid global state\n\nAlways run the tests. always run the tests!\n\nFrom now on, use tabs.";
    let found: Vec<String> = find_statements(said, Speaker::User)
        .into_iter()
        .map(|s| s.text)
        .collect();
    assert_eq!(
        found,
        [
            "From now on, use tabs",
            "Always run the tests",
            "Avoid global state"
        ]
    );
}

#[test]
fn pasted_documents_are_read_at_their_ends_only() {
    let filler = "Never do this.\n".repeat(4_000);
    let said = format!("Always run the tests.\n\n<doc>\n{filler}</doc>\n");
    let found: Vec<String> = find_statements(&said, Speaker::User)
        .into_iter()
        .map(|s| s.text)
        .collect();
    assert_eq!(found, ["Always run the tests"]);
}

/// What is found in a labelled text, and what should be.
#[derive(Default, Clone, Copy)]
struct Finds {
    found: u32,
    right: u32,
    stated: u32,
    caught: u32,
}

impl Finds {
    fn add(&mut self, other: Self) {
        self.found += other.found;
        self.right += other.right;
        self.stated += other.stated;
        self.caught += other.caught;
    }

    fn precision(self) -> f64 {
        f64::from(self.right) / f64::from(self.found.max(1))
    }

    fn recall(self) -> f64 {
        f64::from(self.caught) / f64::from(self.stated.max(1))
    }
}

/// Who says it, the text, and its sentences with their labels.
type LabelledText = (String, String, Vec<(String, String)>);

/// Reads each text of `fixtures/statements` whole. A find is right if it shares
/// words with a sentence that states something: labelled sentences may be
/// clauses of one sentence. Facts are right when found, but need not be.
fn read_labelled(file: &str) -> Vec<(String, Finds)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../fixtures/statements").join(file);
    let lines = fs::read_to_string(path).expect(file);
    let mut texts: Vec<LabelledText> = Vec::new();
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line).expect("valid JSON");
        let get = |key: &str| row[key].as_str().map(str::to_owned);
        let sentence = get("text").expect("a text");
        let whole = get("context").unwrap_or_else(|| sentence.clone());
        let label = (key(&sentence), get("label").expect("a label"));
        let speaker = get("speaker").expect("a speaker");
        match texts.last_mut() {
            Some((who, text, labels)) if *who == speaker && *text == whole => labels.push(label),
            _ => texts.push((speaker, whole, vec![label])),
        }
    }
    let read = |(who, text, labels): LabelledText| {
        let speaker = match who.as_str() {
            "user" => Speaker::User,
            _ => Speaker::Assistant,
        };
        let found = find_statements(&text, speaker);
        let found: Vec<String> = found
            .iter()
            .map(|s| key(s.text.trim_end_matches('…')))
            .collect();
        let overlap = |a: &str, b: &str| a.contains(b) || b.contains(a);
        let count = |hits: usize| u32::try_from(hits).expect("few");
        let says_something = |label: &str| label != "none";
        let due = |label: &str| says_something(label) && label != "fact";
        // Of a text that is labelled in part, only that part is judged.
        let judged = found
            .iter()
            .filter(|said| labels.iter().any(|(own, _)| overlap(said, own)));
        let judged: Vec<&String> = judged.collect();
        let right = judged.iter().filter(|said| {
            let mut own = labels.iter();
            own.any(|(own, label)| says_something(label) && overlap(said, own))
        });
        let stated = labels.iter().filter(|(_, label)| due(label));
        let caught = stated
            .clone()
            .filter(|(own, _)| found.iter().any(|said| overlap(said, own)));
        let finds = Finds {
            found: count(judged.len()),
            right: count(right.count()),
            stated: count(stated.count()),
            caught: count(caught.count()),
        };
        (who, finds)
    };
    texts.into_iter().map(read).collect()
}

fn key(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[test]
fn sentences_the_model_has_not_seen_are_told_apart() {
    // Facts that an agent found out are left to the summary, so of what agents
    // state less is found.
    let least = [
        ("test.jsonl", "user", 0.8, 0.6),
        ("test.jsonl", "agent", 0.75, 0.6),
        ("blind.jsonl", "user", 0.85, 0.65),
        ("blind.jsonl", "agent", 0.85, 0.4),
    ];
    for (file, who, least_precision, least_recall) in least {
        let texts = read_labelled(file);
        let mut all = Finds::default();
        for (_, finds) in texts.iter().filter(|(speaker, _)| speaker == who) {
            all.add(*finds);
        }
        let (precision, recall) = (all.precision(), all.recall());
        println!(
            "{file}, {who}: precision {precision:.3} of {}, recall {recall:.3} of {}",
            all.found, all.stated
        );
        assert!(
            precision >= least_precision,
            "{file}, {who}: precision {precision}"
        );
        assert!(recall >= least_recall, "{file}, {who}: recall {recall}");
    }
}

#[test]
fn what_users_forbid_and_want_is_caught_however_they_say_it() {
    let stated = [
        "no f64 anywhere near money",
        "no f64 anywhere near money - the old script was off by a cent every few months",
        "and pls amounts as rust_decimal, no f64 anywhere near money - the old python script was off by a cent",
        "please no barrel files anymore",
        "no KFold with shuffling on time series, ever",
        "I want all SQL in its own files",
        "the reason we pin lodash is that 4.17.20 broke our templates",
        "make sure that every endpoint has a rate limit",
        "actually, revert that",
        "keep the limit at 3, the upstream bans us",
    ];
    for text in stated {
        assert_eq!(find_statements(text, Speaker::User).len(), 1, "{text}");
    }
    let idle = [
        "always nice working with you",
        "no idea what is wrong here",
        "can you always see the log?",
        "add a button to the page",
        "run the tests please",
    ];
    for text in idle {
        assert_eq!(find_statements(text, Speaker::User), [], "{text}");
    }
}

#[test]
fn what_stands_behind_a_dash_is_the_reason() {
    let said = "no f64 anywhere near money - the old script was off by a cent every few months";
    let found = find_statements(said, Speaker::User);
    assert_eq!(found[0].text, "No f64 anywhere near money");
    assert_eq!(
        found[0].reason.as_deref(),
        Some("the old script was off by a cent every few months")
    );
}

#[test]
fn what_stands_behind_an_order_is_its_reason() {
    let found = find_statements("keep the limit at 3, the upstream bans us", Speaker::User);
    assert_eq!(found[0].text, "Keep the limit at 3");
    assert_eq!(found[0].reason.as_deref(), Some("the upstream bans us"));
}

#[test]
fn what_is_to_be_remembered_comes_first_and_says_so() {
    let said = "From now on, use tabs. Remember: the staging database is wiped on Sundays.";
    let found = find_statements(said, Speaker::User);
    assert_eq!(found[0].text, "The staging database is wiped on Sundays");
    assert_eq!(
        found.iter().map(|s| s.on_purpose).collect::<Vec<_>>(),
        [true, false]
    );
    let list = "Remember:\n- deploys are on Tuesdays\n- Petra owns the ledger\n\nThanks!";
    let found: Vec<String> = find_statements(list, Speaker::User)
        .into_iter()
        .map(|s| s.text)
        .collect();
    assert_eq!(found, ["Deploys are on Tuesdays", "Petra owns the ledger"]);
}

fn message() -> impl Strategy<Value = String> {
    let words = "(let's use |we decided to |because |never |always |no, |that's wrong: |instead of |不要|我们决定|因为|，|。|其实是|`|\"|“|”|<b>|</b>|- |> |```|\n|\n\n|; |\\. |[a-zé’]{1,9} |[0-9.]{1,4} |，所以){0,30}";
    prop_oneof![any::<String>(), words]
}

fn holds(statement: &Statement) -> bool {
    let line = |text: &str| {
        !text.is_empty() && text.chars().count() <= MAX_STATEMENT_CHARS && !text.contains('\n')
    };
    line(&statement.text)
        && statement.reason.as_deref().is_none_or(line)
        && statement.confidence <= 100
}

proptest! {
    // Texts of many parts are slow to make; a hundred show enough.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn limits_hold_on_any_text(text in message()) {
        for speaker in [Speaker::User, Speaker::Assistant] {
            let found = find_statements(&text, speaker);
            prop_assert!(found.len() <= MAX_STATEMENTS_PER_TEXT);
            prop_assert!(found.iter().all(holds), "{found:?}");
            prop_assert!(found.is_sorted_by(|a, b| a.confidence >= b.confidence));
        }
    }
}
