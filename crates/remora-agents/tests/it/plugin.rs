//! The plugin folder: it registers what installing registers, and its launcher
//! never gets in an agent's way.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code")
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(plugin().join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn it_registers_the_same_events() {
    let spec = remora_agents::find_agent("claude-code").unwrap();
    let hooks = read("hooks/hooks.json");
    let keys: Vec<&String> = hooks.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["description", "hooks"]);
    let wanted: Vec<(String, Value)> = spec
        .registered
        .iter()
        .map(|row| {
            let mut group = json!({ "hooks": [{
                "type": "command",
                "command": "sh \"${CLAUDE_PLUGIN_ROOT}/bin/remora\" hook claude-code",
                "timeout": row.timeout,
            }] });
            if let Some(matcher) = row.matcher {
                group["matcher"] = json!(matcher);
            }
            (row.event.as_str().to_owned(), json!([group]))
        })
        .collect();
    let found = hooks["hooks"].as_object().unwrap().clone();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), wanted);
}

#[test]
fn the_guide_names_them() {
    let guide = fs::read_to_string(plugin().join("../../docs/guide/getting-started.md")).unwrap();
    let line = guide.lines().find(|line| line.contains("are registered"));
    let named = line.unwrap().split('`').skip(1).step_by(2);
    let named: Vec<&str> = named
        .filter(|name| !["Read", "Agent"].contains(name))
        .collect();
    let spec = remora_agents::find_agent("claude-code").unwrap();
    let rows = spec.registered.iter().map(|row| row.event.as_str());
    assert_eq!(named, rows.collect::<Vec<_>>());
}

#[test]
fn its_parts_have_the_right_names() {
    let manifest = read(".claude-plugin/plugin.json");
    assert_eq!(manifest["name"], "remora");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let servers = read(".mcp.json");
    assert_eq!(
        servers["mcpServers"]["remora"]["args"],
        json!(["${CLAUDE_PLUGIN_ROOT}/bin/remora", "mcp"])
    );
    for name in ["skills/memory/SKILL.md", "commands/remora.md"] {
        let text = fs::read_to_string(plugin().join(name)).unwrap();
        assert!(text.starts_with("---\n") && text.len() < 2_500, "{name}");
    }
}

/// Runs the launcher with this home, in this folder of a project, with these folders on the PATH before
/// the system's own.
fn launch(home: &Path, project: (&Path, &str), folders: &[&Path], args: &[&str]) -> Output {
    let mut path: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    path.extend(["/usr/bin".into(), "/bin".into()]);
    let mut child = Command::new("/bin/sh")
        .arg(plugin().join("bin/remora"))
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("CLAUDE_PROJECT_DIR", project.0)
        .current_dir(project.0.join(project.1))
        .env("PATH", std::env::join_paths(path).unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than a pipe holds.
    let event = vec![b' '; 1 << 18];
    let stdin = child.stdin.take();
    let _ = stdin.map(|mut stdin| stdin.write_all(&event));
    child.wait_with_output().unwrap()
}

fn told(out: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (out.status.code(), text(out.stdout), text(out.stderr))
}

/// A program that says who it is and what it was given.
fn fake(folder: &Path, name: &str) {
    let line = format!(
        "mkdir -p \"$0\" && printf '#!/bin/sh\\ncat >/dev/null\\necho {name} \"$@\"\\n' > \"$0/remora\" && chmod 755 \"$0/remora\""
    );
    let made = Command::new("/bin/sh")
        .args(["-ec", &line])
        .arg(folder)
        .status();
    assert!(made.unwrap().success());
}

#[test]
fn the_launcher_finds_the_program_and_never_itself() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("a home");
    fs::create_dir(&home).unwrap();
    let own = plugin().join("bin");
    let said = |folders: &[&Path], args: &[&str]| told(launch(&home, (&home, ""), folders, args));
    assert_eq!(
        said(&[&own], &["hook", "x"]),
        (Some(0), String::new(), String::new())
    );
    let (code, out, error) = said(&[&own], &["mcp"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(error.starts_with("remora is not installed"), "{error}");
    fake(&home.join(".local/bin"), "local");
    assert_eq!(said(&[&own], &["hook", "a  b"]).1, "local hook a  b\n");
    fake(&home.join(".cargo/bin"), "cargo");
    assert_eq!(said(&[&own], &["mcp"]).1, "cargo mcp\n");
    let other = place.path().join("on the path");
    fake(&other, "path");
    assert_eq!(said(&[&own, &other], &["mcp"]).1, "path mcp\n");
}

#[test]
fn the_launcher_runs_nothing_that_a_project_brings() {
    let place = tempfile::tempdir().unwrap();
    let [home, project, link] = ["home", "a project", "link"].map(|name| place.path().join(name));
    let below = project.join("below");
    for folder in [&home, &below] {
        fs::create_dir_all(folder).unwrap();
    }
    let names = ["bin", "below/bin"];
    for name in names {
        fake(&project.join(name), "project");
    }
    fake(&project, "project");
    fs::copy(project.join("remora"), project.join("cat")).unwrap();
    std::os::unix::fs::symlink(project.join("bin"), &link).unwrap();
    let around = project.join("below/../bin");
    let inside = project.join("bin");
    for folder in [
        Path::new(""),
        Path::new("."),
        Path::new("bin"),
        Path::new("./below/bin"),
        &project,
        &inside,
        &around,
        &link,
    ] {
        for cwd in ["", "below"] {
            let launch = |args| told(launch(&home, (&project, cwd), &[folder], args));
            assert_eq!(
                launch(&["hook", "x"]),
                (Some(0), String::new(), String::new()),
                "{folder:?}"
            );
            assert_eq!(launch(&["mcp"]).0, Some(1), "{folder:?}");
        }
    }
    // Also where the home, or what is around it, is the project.
    fake(&home.join(".local/bin"), "local");
    for root in [&*project, &*home, place.path()] {
        let out = told(launch(&home, (root, ""), &[Path::new("bin")], &["mcp"]));
        assert_eq!(out.1, "local mcp\n", "{root:?}");
    }
}
