//! `remora hooks schema`: what is printed, and that it is what is committed.

use std::fs;

use crate::sandbox::Sandbox;

const SCHEMAS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");

#[test]
fn each_schema_is_the_committed_one() {
    let sandbox = Sandbox::new();
    let names = sandbox.remora(&["hooks", "schema"]).go();
    assert_eq!(names.stdout.lines().count(), 7, "{names}");
    for name in names.stdout.lines() {
        let printed = sandbox.remora(&["hooks", "schema", name]).go().raw;
        let committed = fs::read_to_string(format!("{SCHEMAS}/{name}.json")).unwrap();
        assert_eq!(printed, committed, "{name}");
    }
    let committed = fs::read_dir(SCHEMAS).unwrap().count();
    assert_eq!(committed, names.stdout.lines().count());
    insta::assert_snapshot!(sandbox.remora(&["hooks", "schema", "events"]).go(), @r"
    $ remora hooks schema events
    stderr: remora: there is no schema `events`; there are event, answer, settings, cases, report, explanation, rpc
    exit 1
    ");
}
