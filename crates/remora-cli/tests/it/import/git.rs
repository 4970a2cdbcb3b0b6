//! `remora import git`: what commits say is found, shown and forgotten like
//! everything else.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A checkout with a reason, its revert, and a subject alone.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("home/.remora/config.toml", "search.model = \"off\"\n");
    sandbox.shell(
        "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com \
         GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com; \
         at() { export GIT_AUTHOR_DATE=\"$1T10:00:00Z\" GIT_COMMITTER_DATE=\"$1T10:00:00Z\"; }; \
         at 2026-11-01; git init -q -b main .; echo 1 > a; git add a; git commit -q -m 'first'; \
         at 2026-11-02; echo 2 > pool.rs; git add pool.rs; \
         git commit -q -m 'Pool connections (#12)' -m 'Each request opened its own kestrel socket.' -m 'Signed-off-by: Ada <ada@example.com>'; \
         at 2026-11-03; git revert -n HEAD; \
         git commit -q -m 'Revert \"Pool connections (#12)\"' -m \"This reverts commit $(git rev-parse HEAD).\" -m 'The pool deadlocked under load.'",
    );
    sandbox
}

fn import(sandbox: &Sandbox, args: &[&str]) -> Value {
    let (done, value) = sandbox.remora(&["import", "git"]).args(args).json();
    assert_eq!(done.code, Some(0), "{done}");
    value
}

fn found(sandbox: &Sandbox, words: &str) -> Vec<Value> {
    let (done, value) = sandbox.remora(&["search", words]).json();
    assert_eq!(done.code, Some(0), "{done}");
    value["results"].as_array().unwrap().clone()
}

#[test]
fn commits_are_found_by_kind_and_shown_as_reverted() {
    let sandbox = repository();
    let dry = import(&sandbox, &["--dry-run"]);
    assert_eq!(
        (&dry["would_import"], &dry["dry_run"]),
        (&json!(2), &json!(true))
    );
    assert!(!sandbox.path("home/.remora/remora.db").exists());
    let done = import(&sandbox, &[]);
    assert_eq!([&done["added"], &done["reverted"]], [&json!(2), &json!(1)]);
    let again = import(&sandbox, &[]);
    assert_eq!(
        [&again["added"], &again["unchanged"]],
        [&json!(0), &json!(2)]
    );
    let hits = found(&sandbox, "kestrel socket kind:commit");
    assert_eq!(hits[0]["title"], "Pool connections (#12)");
    assert_eq!(hits[0]["files"], json!(["pool.rs"]));
    assert!(hits[0]["reverted_by"].is_string(), "{hits:?}");
    let shown = sandbox.remora(&["show", &hits[0]["id"].to_string()]).go();
    assert!(shown.stdout.contains("reverted  by "), "{shown}");
    assert!(
        shown
            .stdout
            .contains("Each request opened its own kestrel socket."),
        "{shown}"
    );
    assert!(shown.stdout.contains("PR #12"), "{shown}");
    assert!(!shown.stdout.contains("Ada"), "{shown}");
    let hits = found(&sandbox, "deadlocked kind:commit");
    assert!(hits[0].get("reverted_by").is_none(), "{hits:?}");
    let timeline = sandbox.remora(&["timeline"]).go();
    assert!(timeline.stdout.contains("(reverted by "), "{timeline}");
}

#[test]
fn what_was_forgotten_does_not_come_back_from_git() {
    let sandbox = repository();
    import(&sandbox, &[]);
    let id = format!("#{}", found(&sandbox, "deadlocked")[0]["id"]);
    let done = sandbox.remora(&["forget", &id, "--yes"]).go();
    assert_eq!(done.code, Some(0), "{done}");
    let again = import(&sandbox, &[]);
    assert_eq!(
        [&again["added"], &again["forgotten"]],
        [&json!(0), &json!(1)]
    );
    assert_eq!(
        found(&sandbox, "deadlocked kind:commit"),
        Vec::<Value>::new()
    );
    // What it took back does not hold for all that.
    let again = found(&sandbox, "kestrel socket");
    assert!(again[0]["reverted_by"].is_string(), "{again:?}");
}

#[test]
fn dates_limits_and_places_are_heeded() {
    let sandbox = repository();
    let since = import(&sandbox, &["--dry-run", "--since", "2026-11-03"]);
    assert_eq!(since["would_import"], 1);
    let newest = import(&sandbox, &["--dry-run", "--limit", "1"]);
    assert_eq!(newest["would_import"], 1);
    let path = sandbox.text("project");
    assert_eq!(import(&sandbox, &["--project", &path])["added"], 2);
    assert_eq!(import(&sandbox, &["--project", "project"])["unchanged"], 2);
    assert_snapshot!(sandbox.remora(&["import", "git", "--project", "nowhere"]).go(), @r"
    $ remora import git --project nowhere
    stderr: remora: --project: `nowhere` is neither a folder nor the name of one project; `remora projects` lists them
    exit 1
    ");
    // An empty `.git` is a checkout of nothing.
    let done = Sandbox::new().remora(&["import", "git"]).go();
    assert!(done.stderr.contains("not a git checkout"), "{done}");
}
