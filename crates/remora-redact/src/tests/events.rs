//! Whole events: keys, files and commands as context.

use remora_agents::field_roles;
use remora_core::field_roles::FieldRoles;
use serde_json::{Value, json};

use super::redactor;
use crate::{RedactionCounts, RedactionRules, Redactor};

fn through(redactor: &Redactor, mut value: Value) -> Value {
    redactor.redact_json(
        &mut value,
        field_roles("agent"),
        &mut RedactionCounts::new(),
    );
    value
}

fn denying(globs: &[&str]) -> Redactor {
    let rules = RedactionRules {
        patterns: Vec::new(),
        deny_paths: globs.iter().map(|glob| (*glob).to_owned()).collect(),
    };
    Redactor::new(&rules).expect("the globs are usable")
}

#[test]
fn a_telling_key_marks_its_value() {
    let seen = through(
        redactor(),
        json!({
            "password": "correct7horse",
            "pin": {"password": 12_345_678},
            "headers": {"Authorization": "Token 9f8e7d6c5b4a39281706", "Accept": "*/*"},
            "env": [{"name": "DB_PASSWORD", "value": "hunter22"}, {"name": "DB_HOST", "value": "db"}],
            "note": "password",
            "session_id": "4f2c1a9e-3b7d-4e21-9c55-0d1e2f3a4b5c",
        }),
    );
    assert_eq!(
        seen,
        json!({
            "password": "[redacted:password]",
            "pin": {"password": "[redacted:password]"},
            "headers": {"Authorization": "Token [redacted:authorization]", "Accept": "*/*"},
            "env": [{"name": "DB_PASSWORD", "value": "[redacted:password]"}, {"name": "DB_HOST", "value": "db"}],
            "note": "password",
            "session_id": "4f2c1a9e-3b7d-4e21-9c55-0d1e2f3a4b5c",
        })
    );
}

#[test]
fn a_key_that_is_a_secret_is_replaced() {
    let secret = format!("AKIA{}", "QWERTYUI23456777");
    let seen = through(redactor(), json!({ secret: 1, "other": 2 }));
    assert_eq!(seen, json!({"[redacted:aws-access-key]": 1, "other": 2}));
}

#[test]
fn values_of_an_env_file_go_one_by_one() {
    let text =
        "# local\nPORT=3000\nNAME='two words'\nEMPTY=\nexport A=b\nMANY=\"one\ntwo\"\nplain\n";
    let clean = "# local\nPORT=[redacted:env-value]\nNAME=[redacted:env-value]\nEMPTY=\n\
                 export A=[redacted:env-value]\nMANY=[redacted:env-value]\nplain\n";
    let seen = through(
        redactor(),
        json!({
            "tool_name": "Read",
            "tool_input": {"file_path": "/home/dev/app/.env.local"},
            "tool_response": {"type": "text", "file": {"filePath": "/home/dev/app/.env.local", "content": text, "numLines": 8}},
        }),
    );
    assert_eq!(
        seen["tool_response"],
        json!({"type": "text", "file": {"filePath": "/home/dev/app/.env.local", "content": clean, "numLines": 8}})
    );
}

#[test]
fn an_edit_of_an_env_file_keeps_names_only() {
    let seen = through(
        redactor(),
        json!({
            "tool_input": {"file_path": ".env", "old_string": "abcdef", "new_string": "A=xyz", "replace_all": false},
            "tool_response": {
                "filePath": ".env", "oldString": "abcdef", "newString": "A=xyz",
                "originalFile": "A=abcdef\n",
                "structuredPatch": [{"oldStart": 1, "lines": ["-A=abcdef", "+A=xyz"]}],
            },
        }),
    );
    assert_eq!(
        seen,
        json!({
            "tool_input": {"file_path": ".env", "old_string": "[redacted:env-value]", "new_string": "A=[redacted:env-value]", "replace_all": false},
            "tool_response": {
                "filePath": ".env", "oldString": "[redacted:env-value]", "newString": "A=[redacted:env-value]",
                "originalFile": "A=[redacted:env-value]\n",
                "structuredPatch": [{"oldStart": 1, "lines": ["-A=[redacted:env-value]", "+A=[redacted:env-value]"]}],
            },
        })
    );
}

#[test]
fn an_example_of_an_env_file_stays() {
    let event = json!({"tool_input": {"file_path": ".env.example", "content": "PORT=3000\nTOKEN=changeme\n"}});
    assert_eq!(through(redactor(), event.clone()), event);
}

#[test]
fn a_command_that_prints_an_env_file_is_understood() {
    let seen = through(
        redactor(),
        json!({
            "tool_name": "Bash",
            "tool_input": {"command": "cat ./deploy/.env | head", "description": "Show it"},
            "tool_response": {"stdout": "REGION=eu\nall good", "stderr": ""},
        }),
    );
    assert_eq!(
        seen["tool_response"]["stdout"],
        "REGION=[redacted:env-value]\nall good"
    );
    assert_eq!(seen["tool_input"]["command"], "cat ./deploy/.env | head");
    let written = through(
        redactor(),
        json!({"tool_input": {"command": "cat > .env <<'EOF'\nREGION=eu\nEOF"}}),
    );
    assert_eq!(
        written["tool_input"]["command"],
        "cat > .env <<'EOF'\nREGION=[redacted:env-value]\nEOF"
    );
}

#[test]
fn contents_of_a_denied_file_are_dropped() {
    let redactor = denying(&["secrets/**"]);
    let seen = through(
        &redactor,
        json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/home/dev/app",
            "tool_name": "Edit",
            "tool_input": {"file_path": "/home/dev/app/secrets/a.yaml", "old_string": "x", "new_string": "y"},
            "tool_response": {
                "filePath": "/home/dev/app/secrets/a.yaml", "oldString": "x", "newString": "y",
                "originalFile": "x: 1\n", "userModified": false,
                "structuredPatch": [{"oldStart": 1, "lines": ["-x", "+y"]}],
            },
        }),
    );
    let gone = "[redacted:denied-path]";
    assert_eq!(
        seen,
        json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/home/dev/app",
            "tool_name": "Edit",
            "tool_input": {"file_path": "/home/dev/app/secrets/a.yaml", "old_string": gone, "new_string": gone},
            "tool_response": {
                "filePath": "/home/dev/app/secrets/a.yaml", "oldString": gone, "newString": gone,
                "originalFile": gone, "userModified": false,
                "structuredPatch": [{"oldStart": 1, "lines": [gone]}],
            },
        })
    );
    let batch = through(
        &redactor,
        json!({"tool_calls": [{"tool_name": "Read", "tool_input": {"file_path": "secrets/a"}, "tool_response": "1\tx: 1"}]}),
    );
    assert_eq!(batch["tool_calls"][0]["tool_response"], gone);
    let failed = through(
        &redactor,
        json!({"tool_name": "Bash", "tool_input": {"command": "cat secrets/a"}, "error": "bad line: x"}),
    );
    assert_eq!(failed["error"], gone);
    assert!(redactor.denies_path("secrets/a") && !redactor.denies_path("src/a"));
}

#[test]
fn a_listing_is_judged_line_by_line() {
    let seen = through(
        &denying(&["secrets/**"]),
        json!({
            "tool_name": "Grep",
            "tool_input": {"pattern": "region"},
            "tool_response": {"mode": "content", "content": "src/a.rs:3:let region = 1;\nsecrets/a.yaml:7:region: eu\n.env:1:REGION=eu\n"},
        }),
    );
    assert_eq!(
        seen["tool_response"]["content"],
        "src/a.rs:3:let region = 1;\nsecrets/a.yaml:[redacted:denied-path]\n.env:1:REGION=[redacted:env-value]\n"
    );
}

#[test]
fn a_piece_of_a_key_file_goes() {
    let piece = "Zk3".repeat(16);
    let seen = through(
        redactor(),
        json!({"tool_input": {"file_path": "/home/dev/.ssh/id_ed25519", "old_string": piece, "new_string": "short"}}),
    );
    assert_eq!(seen["tool_input"]["old_string"], "[redacted:private-key]");
    assert_eq!(seen["tool_input"]["new_string"], "short");
}

#[test]
fn a_patch_of_several_files_is_redacted_file_by_file() {
    let patch = "*** Begin Patch\n*** Update File: src/app.rs\n@@ fn main() {\n-let a = 1;\n\
                 +let size = 2;\n*** Add File: .env\n+PORT=3000\n+NAME=plain\n*** Update File: \
                 notes/plan.txt\n@@\n-old\n+new\n*** End Patch\n";
    let clean = "*** Begin Patch\n*** Update File: src/app.rs\n@@ fn main() {\n-let a = 1;\n\
                 +let size = 2;\n*** Add File: .env\n+PORT=[redacted:env-value]\n\
                 +NAME=[redacted:env-value]\n*** Update File: notes/plan.txt\n@@\n-old\n+new\n\
                 *** End Patch\n";
    let event = |patch: &str| json!({"tool_name": "patch", "tool_input": {"command": patch}});
    assert_eq!(through(redactor(), event(patch)), event(clean));

    let denied = clean.replace("@@\n-old\n+new\n", "[redacted:denied-path]\n");
    let seen = through(&denying(&["notes/**"]), event(patch));
    assert_eq!(seen, event(&denied));
}

#[test]
fn a_moved_file_is_as_sensitive_as_either_of_its_names() {
    let event = |patch: &str| json!({"tool_input": {"command": patch}});
    let patch = "*** Begin Patch\n*** Update File: settings.txt\n*** Move to: .env\n@@\n-A=1\n+A=2\n*** End Patch";
    let clean = "*** Begin Patch\n*** Update File: settings.txt\n*** Move to: .env\n@@\n\
                 -A=[redacted:env-value]\n+A=[redacted:env-value]\n*** End Patch";
    assert_eq!(through(redactor(), event(patch)), event(clean));
}

#[test]
fn a_file_is_redacted_by_its_path_as_in_an_event() {
    let redactor = denying(&["secrets/**"]);
    for path in ["secrets/notes.txt", "app/.env", "src/main.rs"] {
        let mut text = "LEVEL=loud\nAPI_KEY=plain-words\n".to_owned();
        let event = json!({"file_path": path, "content": text});
        let shown = through(&redactor, event);
        redactor.redact_file_text(path, &mut text, &mut RedactionCounts::new());
        assert_eq!(shown["content"], json!(text), "{path}");
    }
}

#[test]
fn without_roles_only_the_texts_themselves_count() {
    let mut event = json!({"file_path": "app/.env", "content": "LEVEL=loud\n"});
    let known = through(redactor(), event.clone());
    redactor().redact_json(&mut event, &FieldRoles::NONE, &mut RedactionCounts::new());
    assert_eq!(event["content"], json!("LEVEL=loud\n"));
    assert_ne!(known["content"], event["content"]);
}
