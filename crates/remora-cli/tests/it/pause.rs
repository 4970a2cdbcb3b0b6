//! `remora pause`: what begins, ends and lists pauses, and says so.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::remembered::{CART, Remembered};

fn scopes(value: &Value) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let pauses = value["pauses"].as_array().unwrap();
    pauses
        .iter()
        .map(|pause| (text(&pause["scope"]).unwrap(), text(&pause["key"])))
        .collect()
}

#[test]
fn begins_and_ends() {
    let memory = Remembered::nothing();
    assert_snapshot!(memory.go("pause"), @"
    $ remora pause
    paused everywhere
      Hooks answer empty and capture nothing; what happens now is not remembered.
      `remora pause --off` ends it
    exit 0
    ");
    assert_snapshot!(memory.go("pause --status"), @"
    $ remora pause --status
    paused everywhere: nothing is captured or recalled; `remora pause --off` ends it
    exit 0
    ");
    assert_snapshot!(memory.go("pause --off"), @"
    $ remora pause --off
    no longer paused everywhere
    exit 0
    ");
    assert_snapshot!(memory.go("pause --off"), @"
    $ remora pause --off
    it was not paused everywhere
    exit 0
    ");
    assert_snapshot!(memory.go("pause --status"), @"
    $ remora pause --status
    nothing is paused
    exit 0
    ");
    assert!(!memory.sandbox.path("home/.remora/run/off").exists());
}

#[test]
fn of_a_project_and_of_a_session() {
    let memory = Remembered::shop();
    let here = memory.sandbox.text("project");
    memory.json("pause --project");
    memory.json("pause --project shop");
    memory.json("pause --session 5b1c");
    let unknown = "00000000-0000-4000-8000-00000000abcd";
    let all = memory.json(&format!("pause --session {unknown}"));
    let of = |scope: &str, key: &str| (scope.to_owned(), Some(key.to_owned()));
    assert_eq!(
        scopes(&all),
        [
            of("project", &here),
            of("project", "github.com/acme/shop"),
            of("session", unknown),
            of("session", CART),
        ]
    );
    memory.json("pause --off --project");
    memory.json(&format!("pause --off --session {unknown}"));
    assert_snapshot!(memory.go("pause --off"), @"
    $ remora pause --off
    it was not paused everywhere
      still paused in the project github.com/acme/shop: nothing is captured or
      recalled; `remora pause --off --project github.com/acme/shop` ends it
      still paused in the session 5b1c9f00-1111-4000-8000-000000000001: nothing is
      captured or recalled; `remora pause --off --session
      5b1c9f00-1111-4000-8000-000000000001` ends it
    exit 0
    ");
    assert_snapshot!(memory.go("pause --project shoq"), @"
    $ remora pause --project shoq
    stderr: remora: `shoq` is not a project; did you mean
    stderr:   github.com/acme/shop
    exit 1
    ");
    assert_snapshot!(memory.go("pause --session ffff"), @"
    $ remora pause --session ffff
    stderr: remora: `ffff` is not a session; `remora sessions --all` lists them
    exit 1
    ");
}

#[test]
fn for_some_time() {
    let memory = Remembered::nothing();
    let paused = memory.json("pause --for 2h");
    assert!(paused["pauses"][0]["until"].is_string(), "{paused}");
    let longer = memory.json("pause --for 1d");
    assert!(
        longer["pauses"][0]["until"].as_str() > paused["pauses"][0]["until"].as_str(),
        "{longer}"
    );
    let file = memory.sandbox.path("home/.remora/run/off/all");
    let mut mark: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    mark["until"] = json!(1_000);
    std::fs::write(&file, mark.to_string()).unwrap();
    assert_eq!(memory.json("pause --off")["ended"], json!(false));
    assert!(!file.exists());
    for wrong in ["soon", "-2h", "0h", "99999999999h"] {
        let done = memory.call(&format!("pause --for={wrong}")).go();
        assert_eq!(done.code, Some(1), "{done}");
        assert!(done.stderr.contains("try 30m, 2h or 1d"), "{done}");
    }
    assert!(!file.exists());
}

#[test]
fn works_with_a_broken_configuration() {
    let memory = Remembered::nothing();
    memory.sandbox.write("home/.remora/config.toml", "= broken");
    assert_eq!(memory.json("pause")["pauses"][0]["scope"], json!("all"));
    assert_eq!(memory.json("pause --off")["ended"], json!(true));
    memory.json("pause --project .");
    let project = memory.json(&format!(
        "pause --project {}",
        memory.sandbox.text("project")
    ));
    assert_eq!(project["pauses"].as_array().unwrap().len(), 1, "{project}");
    let session = memory.json(&format!("pause --session {CART}"));
    assert_eq!(session["pauses"].as_array().unwrap().len(), 2, "{session}");
}

#[test]
fn shape_of_the_json() {
    let memory = Remembered::nothing();
    let mut value = memory.json(&format!("pause --session {CART}"));
    value["pauses"][0]["since"] = json!("then");
    assert_eq!(
        value,
        json!({"pauses": [{
            "scope": "session", "key": CART, "stops": "everything", "since": "then", "until": null,
        }]})
    );
    let ended = memory.json(&format!("pause --off --session {CART}"));
    assert_eq!(ended, json!({"ended": true, "pauses": []}));
    assert_snapshot!(memory.go("pause --session zzz"), @"
    $ remora pause --session zzz
    stderr: remora: `zzz` is not a session; `remora sessions --all` lists them
    exit 1
    ");
}

#[test]
fn status_and_doctor_say_so() {
    let memory = Remembered::nothing();
    assert_eq!(memory.json("status")["pauses"], json!([]));
    memory.json("pause");
    assert_eq!(memory.json("status")["pauses"][0]["scope"], json!("all"));
    let told = memory.go("status").stdout;
    assert!(told.contains("paused everywhere"), "{told}");
    let told = memory.call("doctor").go().stdout;
    assert!(told.contains("-> `remora pause --off`"), "{told}");
}

#[test]
fn recall_alone() {
    let memory = Remembered::shop();
    assert_snapshot!(memory.go("pause --recall"), @"
    $ remora pause --recall
    recall paused everywhere
      Hooks capture and inject nothing; what was injected into a session stays in
      it.
      `remora pause --recall --off` ends it
    exit 0
    ");
    assert_snapshot!(memory.go("pause --off"), @"
    $ remora pause --off
    it was not paused everywhere
      still recall paused everywhere: capture goes on, nothing is injected; `remora
      pause --recall --off` ends it
    exit 0
    ");
    let context = memory.go("context --event start");
    assert!(context.stderr.contains("paused here"), "{context}");
    let status = memory.go("status");
    assert!(status.stdout.contains("capture goes on"), "{status}");
    let doctor = memory.go("doctor");
    assert!(
        doctor.stdout.contains("remora pause --recall --off"),
        "{doctor}"
    );
    let all = memory.json("pause --recall --session 5b1c --for 2h");
    assert_eq!(all["pauses"][1]["stops"], "recall");
    memory.json("pause --recall --off --session 5b1c");
    assert_snapshot!(memory.go("pause --recall --off"), @"
    $ remora pause --recall --off
    recall is no longer paused everywhere
    exit 0
    ");
    assert!(!memory.sandbox.path("home/.remora/run/off").exists());
    let off = |line: &str| memory.call(line).environment("REMORA_RECALL", "off").go();
    assert_snapshot!(off("pause --status"), @"
    $ remora pause --status
    REMORA_RECALL is off: hooks started from here capture, and inject nothing
    exit 0
    ");
    let doctor = off("doctor");
    assert!(doctor.stdout.contains("`unset REMORA_RECALL`"), "{doctor}");
}
