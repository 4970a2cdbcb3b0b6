//! Search by meaning through the program, with the model that is built in: who
//! works out what rows mean, and what happens when nobody can.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::hook::den::{Den, signal, until};
use crate::sandbox::Sandbox;

const CORPUS: &str = r#"{"id":"cat","conv":"a","timestamp":"2023-05-08T13:56:00","speaker":"Ann","text":"Our kitten purrs loudly on the sofa every evening."}
{"id":"bill","conv":"a","timestamp":"2023-05-08T13:57:00","speaker":"Ben","text":"The invoice for the printer has not been paid."}
{"id":"wall","conv":"a","timestamp":"2023-05-08T13:58:00","speaker":"Ann","text":"Tomatoes grow well beside the southern wall."}
"#;
/// Shares no word with the row that it means.
const FELINE: &str = "a young feline at home";

fn import(sandbox: &Sandbox, flags: &[&str]) -> Value {
    sandbox.write("project/c.jsonl", CORPUS);
    let call = sandbox.remora(&["import", "jsonl", "c.jsonl"]).args(flags);
    let (done, value) = call.json();
    assert_eq!(done.code, Some(0), "{done}");
    value
}

fn configure(sandbox: &Sandbox, key: &str, value: &str) {
    let done = sandbox.remora(&["config", "set", key, value]).go();
    assert_eq!(done.code, Some(0), "{done}");
}

fn found(sandbox: &Sandbox, words: &str) -> Vec<Value> {
    let (done, value) = sandbox.remora(&["search", "--all", words]).json();
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done}");
    let results = value["results"].as_array().unwrap().iter();
    results.map(|hit| hit["external_id"].clone()).collect()
}

fn vectors(sandbox: &Sandbox) -> (u64, u64) {
    let (_, status) = sandbox.remora(&["status"]).json();
    let vectors = &status["vectors"];
    (
        vectors["embedded"].as_u64().unwrap(),
        vectors["waiting"].as_u64().unwrap(),
    )
}

/// The doctor's check of search.
fn check(sandbox: &Sandbox) -> (String, String) {
    let (_, told) = sandbox.remora(&["doctor"]).json();
    let checks = told["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "search");
    let text = |key: &str| check.unwrap()[key].as_str().unwrap().to_owned();
    (text("level"), text("message"))
}

#[test]
fn what_was_imported_is_found_by_what_it_means() {
    let sandbox = Sandbox::new();
    let told = import(&sandbox, &[]);
    assert_eq!(
        (&told["embedded"], &told["waiting"]),
        (&json!(3), &json!(0))
    );
    assert_eq!(told.get("trouble"), None);
    assert_eq!(vectors(&sandbox), (3, 0));
    assert_eq!(found(&sandbox, FELINE)[0], "cat");
    // People are told what fits, programs as much as there is.
    let told = sandbox.remora(&["search", "--all", FELINE]).go().stdout;
    assert!(
        told.contains("kitten") && !told.contains("Tomatoes"),
        "{told}"
    );
    let other = "what is the fastest train to Paris";
    let told = sandbox.remora(&["search", "--all", other]).go().stdout;
    assert_eq!(told, "nothing found\n");
    assert_eq!(found(&sandbox, other).len(), 3);
    let (level, message) = check(&sandbox);
    assert_eq!(level, "ok");
    assert!(
        message.ends_with("works; 3 items have a vector of it, 0 wait"),
        "{message}"
    );
    // Switched off, words alone count.
    configure(&sandbox, "search.model", "off");
    assert_eq!(found(&sandbox, FELINE), Vec::<Value>::new());
    assert_eq!(found(&sandbox, "kitten")[0], "cat");
    assert_eq!(
        check(&sandbox),
        ("ok".into(), "by words only: search.model is off".into())
    );
    let refused = sandbox.remora(&["rebuild", "--vectors"]).go();
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("search.model is off"), "{refused}");
}

#[test]
fn words_that_nobody_knows_find_nothing() {
    let sandbox = Sandbox::new();
    import(&sandbox, &[]);
    for words in ["zzzqqq", "zzzqqq flurbl", "hgjkrt wertzu bnmxcv lkjpoi"] {
        assert_eq!(found(&sandbox, words), Vec::<Value>::new(), "{words}");
        let told = sandbox.remora(&["search", "--all", words]).go().stdout;
        assert_eq!(told, "nothing found\n", "{words}");
    }
    // The model has only fragments of this one too, and yet it means something.
    assert_eq!(found(&sandbox, "kittycat"), ["cat"]);
    // Nor is a question in other words than the stored ones cut short.
    assert_eq!(found(&sandbox, FELINE).len(), 3);
}

#[test]
fn a_model_that_is_missing_or_broken_is_told_of_and_words_still_find() {
    let sandbox = Sandbox::new();
    import(&sandbox, &[]);
    let broken = sandbox.write("broken.onnx", "this is no network");
    for (file, reason) in [
        (sandbox.text("none.onnx"), "cannot read the encoder"),
        (broken.display().to_string(), "is not an encoder"),
    ] {
        configure(&sandbox, "search.model", &file);
        assert_eq!(found(&sandbox, "kitten")[0], "cat");
        assert_eq!(found(&sandbox, FELINE), Vec::<Value>::new());
        let (level, message) = check(&sandbox);
        assert_eq!(level, "warn");
        assert!(message.starts_with("by words only: "), "{message}");
        assert!(message.contains(reason), "{message}");
        // Vectors that are there are not given up for such a model.
        let refused = sandbox.remora(&["rebuild", "--vectors"]).go();
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains(reason), "{refused}");
        assert_eq!(vectors(&sandbox), (3, 0));
    }
    let more = r#"{"id":"d","conv":"a","timestamp":"2023-05-09","text":"Rain again."}"#;
    let told = sandbox.remora(&["import", "jsonl", "-"]).stdin(more).go();
    assert_eq!(told.code, Some(0));
    assert!(told.stdout.contains("found by words only"), "{told}");
    assert_eq!(vectors(&sandbox), (3, 1));
    let call = sandbox.remora(&["import", "jsonl", "-"]).stdin(more);
    let (_, told) = call.json();
    assert_eq!(told["waiting"], 1);
    let trouble = told["trouble"].as_str().unwrap();
    assert!(trouble.contains("is not an encoder"), "{trouble}");
    configure(&sandbox, "search.model", "built-in");
    assert_eq!(found(&sandbox, FELINE)[0], "cat");
}

#[test]
fn vectors_are_rebuilt_all_of_them_or_those_that_are_missing() {
    let sandbox = Sandbox::new();
    configure(&sandbox, "search.background", "false");
    let told = import(&sandbox, &["--no-vectors"]);
    assert_eq!(
        (&told["embedded"], &told["waiting"]),
        (&json!(0), &json!(3))
    );
    let (level, message) = check(&sandbox);
    assert_eq!(level, "warn");
    assert!(
        message.contains("0 items have a vector of it, 3 wait"),
        "{message}"
    );
    assert_eq!(found(&sandbox, FELINE), Vec::<Value>::new());
    let rebuild = |flags: &[&str]| {
        let call = sandbox.remora(&["rebuild", "--vectors"]).args(flags);
        let (done, value) = call.json();
        assert_eq!(done.code, Some(0), "{done}");
        ["rows", "embedded", "waiting"].map(|key| value[key].as_u64().unwrap())
    };
    assert_eq!(rebuild(&["--dry-run"]), [3, 0, 3]);
    assert_eq!(rebuild(&["--missing"]), [3, 3, 0]);
    assert_eq!(rebuild(&["--missing"]), [0, 0, 0]);
    let args = ["rebuild", "--vectors", "--missing"];
    assert_eq!(
        sandbox.remora(&args).go().stdout,
        "every item has its embedding\n"
    );
    assert_eq!(rebuild(&[]), [3, 3, 0]);
    assert_eq!(found(&sandbox, FELINE)[0], "cat");
    let bare = sandbox.remora(&["rebuild", "--missing"]).go();
    assert_eq!(bare.code, Some(1), "{bare}");
}

#[test]
fn the_worker_works_them_out_in_the_background_and_may_be_killed_at_it() {
    let den = Den::new();
    let mut corpus = String::new();
    for n in 0..60 {
        writeln!(
            corpus,
            r#"{{"id":"{n}","conv":"a","timestamp":"2023-05-08","text":"Step {n} of the recipe: stir, wait, taste, and write down what is missing."}}"#
        )
        .unwrap();
    }
    let args = ["import", "jsonl", "-", "--no-vectors"];
    let told = den.remora(&args).stdin(corpus).go();
    assert_eq!(told.code, Some(0), "{told}");
    assert!(told.stdout.contains("the worker sees to it"), "{told}");
    let vectors = || {
        let (_, status) = den.remora(&["status"]).json();
        let vectors = &status["vectors"];
        ["embedded", "waiting"].map(|key| vectors[key].as_u64().unwrap())
    };
    until("some rows have a vector", || {
        (vectors()[0] > 0).then_some(())
    });
    signal("KILL", &den.worker().to_string());
    until("nobody listens", || den.deserted().then_some(()));
    let [embedded, waiting] = vectors();
    assert_eq!(embedded + waiting, 60);
    let (done, rest) = den.remora(&["rebuild", "--vectors", "--missing"]).json();
    assert_eq!((done.code, &rest["embedded"]), (Some(0), &json!(waiting)));
    assert_eq!(vectors(), [60, 0]);
}

#[test]
fn hits_are_as_wide_as_the_terminal() {
    let sandbox = Sandbox::new();
    let text = "The kitten went over the wall, and ".repeat(12);
    let row = json!({
        "id": "cat", "conv": "a", "timestamp": "2023-05-08T13:56:00", "speaker": "Ann", "text": text,
    });
    sandbox.write("project/c.jsonl", format!("{row}\n"));
    let import = sandbox.remora(&["import", "jsonl", "c.jsonl"]);
    assert_eq!(import.go().code, Some(0));
    let widest = |columns: &str| {
        let search = sandbox.remora(&["search", "--all", "kitten"]);
        let told = search.environment("COLUMNS", columns).go().stdout;
        told.lines().map(|line| line.chars().count()).max().unwrap()
    };
    assert!((50..=60).contains(&widest("60")));
    assert!((100..=120).contains(&widest("120")));
    assert!((70..=80).contains(&widest("nonsense")));
}
