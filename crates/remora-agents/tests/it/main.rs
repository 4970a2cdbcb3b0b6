//! Every agent against the payloads that were recorded from it.
mod plugin;

use std::fs;
use std::path::{Path, PathBuf};

use remora_agents::{AGENTS, DecodeError, TRUNCATION_MARK, Truncation, find_agent, known_names};
use serde_json::Value;

fn recorded(agent: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents");
    let mut files: Vec<PathBuf> = fs::read_dir(folder.join(agent))
        .unwrap_or_else(|e| panic!("no payloads of {agent}: {e}"))
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .unwrap_or_else(|e| panic!("payloads of {agent}: {e}"));
    files.sort();
    files
}

#[test]
fn agents_are_found_by_name_and_alias_and_no_name_means_two() {
    let mut names: Vec<&str> = AGENTS.iter().flat_map(|a| a.aliases).copied().collect();
    names.extend(known_names());
    for name in &names {
        let agent = find_agent(name).unwrap();
        assert!(agent.name == *name || agent.aliases.contains(name));
        assert_eq!(
            names.iter().filter(|other| *other == name).count(),
            1,
            "{name}"
        );
    }
    assert!(find_agent("Claude").is_none());
    assert!(find_agent("").is_none());
}

#[test]
fn every_recorded_payload_is_understood_in_full() {
    for agent in AGENTS {
        let files = recorded(agent.name);
        assert!(
            files.len() > 20,
            "{} payloads of {}",
            files.len(),
            agent.name
        );
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let decoded =
                (agent.parse_payload)(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            assert_eq!(decoded.cut, Truncation::Whole, "{}", file.display());
            let original: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(
                Value::Object(decoded.event.fields),
                original,
                "{}",
                file.display()
            );
        }
    }
}

/// Everything in `part` stands in `whole`, save the end of the last string.
fn within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|other| within(value, other))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() <= whole.len() && part.iter().zip(whole).all(|(a, b)| within(a, b))
        }
        (Value::String(part), Value::String(whole)) => {
            part == whole
                || part
                    .strip_suffix(TRUNCATION_MARK)
                    .is_some_and(|head| whole.starts_with(head.trim_end_matches('\u{fffd}')))
        }
        _ => part == whole,
    }
}

#[test]
fn every_beginning_of_a_payload_gives_what_it_holds_or_a_clean_error() {
    for agent in AGENTS {
        for file in recorded(agent.name).iter().step_by(7) {
            let pretty: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            // As it is sent: one line.
            let bytes = serde_json::to_vec(&pretty).unwrap();
            let mut understood = 0;
            for end in 1..bytes.len() {
                match (agent.parse_payload)(&bytes[..end]) {
                    Ok(decoded) => {
                        understood += 1;
                        assert_eq!(decoded.cut, Truncation::Cut, "{} at {end}", file.display());
                        let part = Value::Object(decoded.event.fields);
                        assert!(
                            within(&part, &pretty),
                            "{} at {end}: {part}",
                            file.display()
                        );
                    }
                    Err(error) => {
                        assert_eq!(
                            error,
                            DecodeError::CutBeforeName,
                            "{} at {end}",
                            file.display()
                        );
                        assert_eq!(understood, 0, "{} at {end}", file.display());
                    }
                }
            }
            assert!(understood > 0, "{}", file.display());
        }
    }
}
