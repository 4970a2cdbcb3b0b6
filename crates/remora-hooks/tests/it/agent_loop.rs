//! The example of an agent in Rust, and the guide that quotes it.

use std::fs;
use std::path::Path;

use crate::agent_loop_example::play::play_script;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The project of `examples/hosts`, its script and what has to come of both.
#[test]
fn the_agent_honours_every_outcome() {
    let hosts = Path::new(ROOT).join("examples/hosts");
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let project = home.path().join("project");
    fs::create_dir_all(project.join(".claude")).unwrap();
    for file in [".claude/settings.json", "tests.sh"] {
        fs::copy(hosts.join("project").join(file), project.join(file)).unwrap();
    }
    let script = serde_json::from_slice(&fs::read(hosts.join("script.json")).unwrap()).unwrap();
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let session = home.path().join("session");
    let played = play_script(&project, home.path(), session, environment, script);
    let transcript = played.unwrap();
    let events = fs::read_to_string(project.join("events.txt")).unwrap();
    let expected = fs::read_to_string(hosts.join("transcript.txt")).unwrap();
    assert_eq!(format!("{}{events}", transcript.concat()), expected);
}

#[test]
fn the_guide_quotes_the_loop_as_it_is() {
    let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    let agent = read("crates/remora-hooks/examples/agent_loop/agent.rs");
    let (_, quoted) = agent
        .split_once("// The guide quotes from here.\n")
        .unwrap();
    let (quoted, _) = quoted
        .split_once("// The guide quotes up to here.\n")
        .unwrap();
    let guide = read("docs/guide/embedding.md");
    assert!(
        guide.contains(&format!("```rust\n{quoted}```\n")),
        "docs/guide/embedding.md does not quote agent.rs as it is"
    );
}
