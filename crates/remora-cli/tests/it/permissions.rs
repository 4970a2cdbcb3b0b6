//! `remora permissions`: what was asked and answered, and rules to paste.

use std::fs;

use insta::assert_snapshot;
use remora_core::text::is_invisible;
use serde_json::{Value, json};

use crate::remembered::Remembered;

const MINUTE: i64 = 60_000;

/// Requests of one session, each with what came of it.
struct Session {
    memory: Remembered,
    moment: i64,
    calls: u32,
}

#[derive(Clone, Copy)]
enum Came {
    Ran,
    Failed,
    Nothing,
}

impl Session {
    fn new() -> Self {
        Self {
            memory: Remembered::nothing(),
            moment: 0,
            calls: 0,
        }
    }

    fn event(&mut self, name: &str, fields: Value) {
        self.moment += MINUTE;
        self.memory.event("s1", "shop", self.moment, name, fields);
    }

    fn ask(&mut self, tool: &str, input: &Value, came: Came) {
        self.calls += 1;
        let prompt = format!("p{}", self.calls);
        self.event(
            "UserPromptSubmit",
            json!({"prompt": format!("go on {prompt}")}),
        );
        let request = json!({"tool_name": tool, "tool_input": input, "prompt_id": prompt});
        self.event("PermissionRequest", request);
        let id = format!("t{}", self.calls);
        match came {
            Came::Ran => self.event(
                "PostToolUse",
                json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": {}}),
            ),
            Came::Failed => self.event(
                "PostToolUseFailure",
                json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "error": "Exit code 1\nno"}),
            ),
            Came::Nothing => {}
        }
    }

    fn bash(&mut self, command: &str, came: Came) {
        self.ask("Bash", &json!({"command": command}), came);
    }

    fn store(mut self) -> Remembered {
        self.event("Stop", json!({"last_assistant_message": "Done."}));
        self.event("SessionEnd", json!({"reason": "prompt_input_exit"}));
        self.memory.store();
        self.memory
    }
}

fn shop() -> Remembered {
    let mut session = Session::new();
    session.bash("cargo test --all", Came::Ran);
    session.bash("cargo test cart", Came::Failed);
    session.bash("cargo test", Came::Ran);
    session.bash("cargo test cart 2>&1 | tail -5", Came::Ran);
    session.bash("cargo test && rm -rf target", Came::Ran);
    session.bash("make deploy", Came::Ran);
    for _ in 0..3 {
        session.bash("rm -rf build", Came::Ran);
        session.bash("npm install left-pad", Came::Nothing);
        session.bash("git status --short", Came::Nothing);
    }
    session.bash("cargo clippy", Came::Ran);
    session.bash("cargo clippy --fix", Came::Nothing);
    for name in ["cart.rs", "tax.rs", "main.rs"] {
        let file = json!({"file_path": format!("/home/dev/shop/src/{name}"), "content": "x"});
        session.ask("Write", &file, Came::Ran);
    }
    let denied = json!({
        "tool_name": "Bash", "tool_input": {"command": "curl -s https://x.org"},
        "tool_use_id": "d1", "reason": "Classifier unavailable",
    });
    session.event("PermissionDenied", denied);
    session.store()
}

#[test]
fn by_what_was_answered() {
    let memory = shop();
    assert_snapshot!(memory.go("permissions --project shop"), @r#"
    $ remora permissions --project shop
    Always allowed
      Bash(cargo test:*)
          allowed 3 times, 2026-11-14; rule below
      Bash(rm -rf build)
          allowed 3 times, 2026-11-14; no rule: `rm` can run or change anything
      Edit(/src/**)
          allowed 3 times, 2026-11-14; rule below
      Bash(cargo test && rm -rf target)
          allowed 1 time, 2026-11-14; no rule: fewer than 3 answers
      Bash(cargo test cart 2>&1 | tail -5)
          allowed 1 time, 2026-11-14; no rule: fewer than 3 answers
      Bash(make deploy)
          allowed 1 time, 2026-11-14; no rule: fewer than 3 answers

    Always refused
      Bash(git status --short)
          refused 3 times, 2026-11-14; deny rule below
      Bash(npm install left-pad)
          refused 3 times, 2026-11-14; deny rule below

    Now and then
      Bash(cargo clippy:*)
          allowed 1 time, refused 1 time, 2026-11-14; no rule: allowed and refused:
          it depends

    Refused by the client
      Bash(curl -s https://x.org)
          denied by the client 1 time, 2026-11-14, "Classifier unavailable"; no
          rule: the client itself refuses it

    Nothing was granted. To be asked less, add these rules to the lists in:
      /home/dev/shop/.claude/settings.local.json

    {
      "permissions": {
        "allow": [
          "Bash(cargo test:*)",
          "Edit(/src/**)"
        ],
        "deny": [
          "Bash(git status --short)",
          "Bash(npm install left-pad)"
        ]
      }
    }
    exit 0
    "#);
    assert!(!memory.sandbox.path("home/.claude").exists());
    assert!(!memory.sandbox.path("project/.claude").exists());
}

#[test]
fn what_is_pasted_is_settings() {
    let memory = shop();
    let value = memory.json("permissions --project shop");
    assert_eq!(
        value["paste"],
        json!({"permissions": {
            "allow": ["Bash(cargo test:*)", "Edit(/src/**)"],
            "deny": ["Bash(git status --short)", "Bash(npm install left-pad)"],
        }})
    );
    assert_eq!(value["file"], "/home/dev/shop/.claude/settings.local.json");
    let group = |rule: &str| {
        let groups = value["groups"].as_array().unwrap();
        groups.iter().find(|g| g["rule"] == rule).unwrap().clone()
    };
    assert_eq!(
        group("Edit(/src/**)"),
        json!({
            "rule": "Edit(/src/**)", "allowed": 3, "refused": 0, "denied_by_client": 0,
            "unanswered": 0, "first": "2026-11-14T09:46:00.000Z", "last": "2026-11-14T09:52:00.000Z",
            "reason": null, "calls": 3,
            "examples": ["Write(src/cart.rs)", "Write(src/main.rs)", "Write(src/tax.rs)"],
            "advice": "allow", "why": null, "existing": null,
        })
    );
    assert_eq!(group("Bash(rm -rf build)")["advice"], "none");
    assert_eq!(group("Bash(cargo test && rm -rf target)")["advice"], "none");
    assert_eq!(group("Bash(make deploy)")["advice"], "none");
    let careful = memory.json("permissions --project shop --at-least 4");
    assert_eq!(careful["paste"], Value::Null);
    let bold = memory.json("permissions --project shop --at-least 1");
    let allow = &bold["paste"]["permissions"]["allow"];
    assert_eq!(allow, &json!(["Bash(cargo test:*)", "Edit(/src/**)"]));
    let late = memory.json("permissions --project shop --since 2026-11-15");
    assert_eq!(late["groups"], json!([]));
}

#[test]
fn of_all_projects_and_beside_rules_in_place() {
    let memory = shop();
    let file = memory
        .sandbox
        .user(&json!({"permissions": {"allow": ["Bash(cargo test:*)"]}}));
    let before = fs::read(&file).unwrap();
    let value = memory.json("permissions --all");
    assert_eq!(
        value["paste"],
        json!({"permissions": {"deny": ["Bash(git status --short)", "Bash(npm install left-pad)"]}})
    );
    assert_eq!(
        value["file"],
        memory.sandbox.text("home/.claude/settings.json")
    );
    let groups = value["groups"].as_array().unwrap();
    let tested = groups.iter().find(|g| g["rule"] == "Bash(cargo test:*)");
    let existing = tested.unwrap()["existing"].as_str().unwrap();
    assert!(existing.contains("Bash(cargo test:*)"), "{existing}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn secrets_and_hostile_text_do_not_come_back() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut session = Session::new();
    for _ in 0..3 {
        session.bash(&format!("gh pr view --token {token}"), Came::Ran);
        session.bash("ls \u{1b}[31m\u{202e}x", Came::Ran);
    }
    let memory = session.store();
    let value = memory.json("permissions --project shop").to_string();
    assert!(!value.contains(&token), "{value}");
    assert!(value.contains("[redacted:"), "{value}");
    let value = memory.json("permissions --project shop");
    assert_eq!(value["paste"], Value::Null, "{value}");
    for line in [
        "permissions --project shop",
        "permissions --project shop --json",
    ] {
        let told = memory.go(line);
        assert!(!told.raw.contains(is_invisible), "{told}");
        assert!(told.raw.contains("u{202e}x"), "{told}");
    }
}

#[test]
fn what_was_allowed_once_and_then_refused_is_both() {
    let mut session = Session::new();
    for _ in 0..3 {
        session.bash("npm run test", Came::Ran);
        // Once more in the same prompt.
        let prompt = format!("p{}", session.calls);
        let input = json!({"command": "npm run test"});
        let request = json!({"tool_name": "Bash", "tool_input": input, "prompt_id": prompt});
        session.event("PermissionRequest", request);
    }
    let value = session.store().json("permissions --project shop");
    let group = &value["groups"][0];
    assert_eq!(
        (&group["allowed"], &group["refused"], &value["paste"]),
        (&json!(3), &json!(3), &Value::Null),
        "{value}"
    );
}

#[test]
fn nothing() {
    assert_snapshot!(Remembered::nothing().go("permissions"), @"
    $ remora permissions
    nothing was asked
    exit 0
    ");
    assert_snapshot!(Remembered::shop().go("permissions --all"), @"
    $ remora permissions --all
    nothing was asked
    exit 0
    ");
}
