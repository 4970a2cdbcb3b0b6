//! `remora bench retrieval` on a corpus of our own.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

const CORPUS: &str = r#"{"id":"g1","conv":"garden","session":"garden:1","seq":0,"timestamp":"2024-04-01T10:00:00","speaker":"Ida","text":"The beans need a trellis before June."}
{"id":"g2","conv":"garden","session":"garden:1","seq":1,"timestamp":"2024-04-01T10:01:00","speaker":"Tom","text":"I will build one from willow."}
{"id":"k1","conv":"kiosk","session":"kiosk:1","seq":0,"timestamp":null,"speaker":"Ida","text":"The trellis of beans hangs in the kiosk."}
"#;
const QUERIES: &str = r#"{"id":"q1","conv":"garden","category":"fact","text":"what do the beans need","relevant":["g1"]}
{"id":"q2","conv":"garden","category":"who","text":"who builds with willow","relevant":["g2","g1"]}
{"id":"q3","conv":"kiosk","category":"fact","text":"trellis","relevant":["k1"]}
"#;

#[test]
fn results_are_written_and_figures_told() {
    let sandbox = Sandbox::new();
    sandbox.write("project/c.jsonl", CORPUS);
    sandbox.write("project/q.jsonl", QUERIES);
    let args = [
        "bench",
        "retrieval",
        "--corpus",
        "c.jsonl",
        "--queries",
        "q.jsonl",
        "--out",
        "r.jsonl",
    ];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
    // Times differ; everything before them does not.
    let lines: Vec<&str> = done
        .stdout
        .lines()
        .map(|line| line.get(..70).unwrap_or(line).trim_end())
        .collect();
    assert_snapshot!(lines.join("\n"), @r"
    3 documents, 3 queries, full tier
    category                          n recall@5 recall@10 nDCG@10  MRR@10
    all                               3   100.00    100.00  100.00  100.00
    fact                              2   100.00    100.00  100.00  100.00
    who                               1   100.00    100.00  100.00  100.00
    ");
    let results = fs::read_to_string(sandbox.path("project/r.jsonl")).unwrap();
    let results: Vec<String> = results
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["ms"].as_f64().unwrap() > 0.0);
            format!("{} {}", line["id"], line["results"])
        })
        .collect();
    assert_snapshot!(results.join("\n"), @r#"
    "q1" ["g1","g2"]
    "q2" ["g2","g1"]
    "q3" ["k1"]
    "#);
    // It has a data directory of its own, and leaves none.
    assert!(!sandbox.path("home/.remora").exists());
    assert_eq!(sandbox.left_in_tmp(), Vec::<std::path::PathBuf>::new());
    let (_, value) = sandbox.remora(&args).json();
    assert_eq!(value["tier"], "full");
    let set = &value["sets"][0];
    assert_eq!(set["rows"][0]["recall10"], set["rows"][0]["recall5"]);
    assert_eq!(set["documents"], 3);
}

#[test]
fn several_sets_are_told_in_one_table_and_parts_are_switched_off_one_by_one() {
    let sandbox = Sandbox::new();
    for set in ["garden", "again"] {
        sandbox.write(&format!("project/{set}/dev/corpus.jsonl"), CORPUS);
        sandbox.write(&format!("project/{set}/dev/queries.jsonl"), QUERIES);
    }
    let args = [
        "bench",
        "retrieval",
        "--set",
        "garden/dev",
        "--set",
        "again/dev",
        "--tier",
        "fast",
        "--ablate",
        "--out",
        "results",
    ];
    let done = sandbox.remora(&args).go();
    assert_eq!(done.code, Some(0), "{done}");
    let head = |text: &str| -> Vec<String> {
        let words = text.lines().filter(|line| !line.is_empty());
        words
            .map(|line| line.split("  ").next().unwrap().to_owned())
            .collect()
    };
    let told = head(&done.stdout);
    let set = |name: &str| format!("{name}: 3 documents, 3 queries, fast tier");
    assert_eq!(told[0], set("garden"));
    assert_eq!(told[5], set("again"));
    assert_eq!(
        told[10..15],
        ["set", "garden", "again", "recall@10", "everything"]
    );
    assert!(told.contains(&"without gist".to_owned()), "{done}");
    assert!(!told.contains(&"without meaning".to_owned()), "{done}");
    for name in ["garden", "again"] {
        let file = sandbox.path(&format!("project/results/{name}.jsonl"));
        assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 3);
    }
    let uneven = [
        "bench",
        "retrieval",
        "--corpus",
        "a",
        "--queries",
        "b",
        "--queries",
        "c",
    ];
    let refused = sandbox.remora(&uneven).go();
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("equally often"), "{refused}");
}

#[test]
fn bad_input_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("project/c.jsonl", "{\"id\":1}\n");
    sandbox.write("project/q.jsonl", "{\"id\":1}\n");
    sandbox.write("project/good.jsonl", QUERIES);
    let bench = |corpus: &str, queries: &str| {
        let args = [
            "bench",
            "retrieval",
            "--corpus",
            corpus,
            "--queries",
            queries,
            "--out",
            "r.jsonl",
        ];
        sandbox.remora(&args).go().to_string()
    };
    let told = [
        bench("c.jsonl", "q.jsonl"),
        bench("c.jsonl", "good.jsonl"),
        bench("none.jsonl", "good.jsonl"),
    ];
    assert_snapshot!(told.join("\n"), @r"
    $ remora bench retrieval --corpus c.jsonl --queries q.jsonl --out r.jsonl
    stderr: remora: q.jsonl:1: not a query: invalid type: integer `1`, expected a string at line 1 column 7
    exit 1
    $ remora bench retrieval --corpus c.jsonl --queries good.jsonl --out r.jsonl
    stderr: remora: c.jsonl:1: missing field `text`
    stderr: nothing was imported; --skip-bad leaves such lines out
    exit 1
    $ remora bench retrieval --corpus none.jsonl --queries good.jsonl --out r.jsonl
    stderr: remora: none.jsonl: No such file or directory (os error 2)
    exit 1
    ");
}
