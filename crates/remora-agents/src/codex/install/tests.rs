use std::path::Path;

use serde_json::Value;

use super::super::SPEC;
use super::*;
use crate::install::{InstallRequest, Installable as _, PriorState, Removable as _};

fn request(program: &'static str) -> InstallRequest<'static> {
    InstallRequest {
        program: Path::new(program),
        spec: &SPEC,
    }
}

#[test]
fn hooks_lie_where_the_client_looks() {
    let mut places = AgentPaths {
        home: "/h".into(),
        config_dir: None,
        root: "/p".into(),
    };
    let file = |places: &AgentPaths, scope| hooks_file(places, scope);
    assert_eq!(
        file(&places, InstallScope::User),
        Some("/h/.codex/hooks.json".into())
    );
    assert_eq!(
        file(&places, InstallScope::Project),
        Some("/p/.codex/hooks.json".into())
    );
    assert_eq!(file(&places, InstallScope::Local), None);
    places.config_dir = Some("/c".into());
    assert_eq!(
        file(&places, InstallScope::User),
        Some("/c/hooks.json".into())
    );
}

/// The user trusts a handler as it is written: one byte more, and the client
/// runs it no longer. So this text must not change.
#[test]
#[cfg(unix)]
fn entries_are_the_same_in_every_version() {
    let text = request("/opt/remora/bin/remora").plan(None).unwrap().text;
    assert_eq!(text, include_str!("../../../cases/codex-hooks.json"));
    let again = request("/opt/remora/bin/remora").plan(Some(&text)).unwrap();
    assert_eq!((again.text, again.changes), (text, Vec::new()));
    assert_eq!(again.warnings, Vec::<String>::new());
    let shared = request("remora").plan(None).unwrap().text;
    assert_eq!(
        shared,
        include_str!("../../../cases/codex-hooks-shared.json")
    );
}

#[test]
fn a_path_with_blanks_and_quotes_is_one_word() {
    let text = request("/opt/my 'bin'/remora").plan(None).unwrap().text;
    let value: Value = serde_json::from_str(&text).unwrap();
    let command = &value["hooks"]["Stop"][0]["hooks"][0]["command"];
    assert_eq!(command, r"'/opt/my '\''bin'\''/remora' hook codex");
    assert!(SPEC.is_there(&text).unwrap());
}

/// A handler's place is part of what is trusted, so ours come last.
#[test]
fn entries_of_others_keep_their_places_and_their_bytes() {
    let before = r#"{
  "description": "mine",
  "hooks": {
    "Stop": [ { "hooks": [ { "type": "command", "command": "beep" } ] } ]
  }
}
"#;
    let program = "/opt/remora/bin/remora";
    let edited = request(program).plan(Some(before)).unwrap();
    assert_eq!(edited.warnings, Vec::<String>::new());
    let value: Value = serde_json::from_str(&edited.text).unwrap();
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["command"], "beep");
    let ours = &value["hooks"]["Stop"][1]["hooks"][0];
    assert_eq!(ours["command"], format!("{program} hook codex"));
    let gone = SPEC.remove(&edited.text, &PriorState::default()).unwrap();
    assert_eq!(gone.text, before);
}

#[test]
fn what_makes_the_client_drop_the_file_is_said() {
    for (text, place) in [
        (r#"{ "$schema": "x", "hooks": {} }"#, "$schema"),
        (
            r#"{ "hooks": { "Stop": [ { "hooks": [ { "type": "http", "url": "x" } ] } ] } }"#,
            "hooks.Stop[0].hooks[0]",
        ),
    ] {
        let warnings = request("/opt/remora").plan(Some(text)).unwrap().warnings;
        let [warning] = &warnings[..] else {
            panic!("{warnings:?}")
        };
        assert!(warning.contains(place), "{warning}");
        assert!(warning.contains("whole file"), "{warning}");
    }
}

#[test]
fn the_user_is_told_of_the_trust_step() {
    let places = AgentPaths {
        home: "/h".into(),
        config_dir: None,
        root: "/p".into(),
    };
    let notes = (SPEC.install.notes)(&places);
    assert!(notes[0].contains("trusted"), "{notes:?}");
}

#[test]
fn the_sample_is_a_prompt() {
    let bytes = sample_prompt("s", Path::new("/p"), "hello");
    let event = (SPEC.parse_payload)(&bytes).unwrap().event;
    let header = (SPEC.read_header)(&event);
    assert_eq!((header.session, header.cwd), (Some("s"), "/p"));
    assert_eq!(event.str_field(field::PROMPT), Some("hello"));
}
