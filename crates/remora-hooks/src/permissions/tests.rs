use std::path::Path;

use serde_json::json;

use super::*;
use crate::layers::LayerSource;

/// rules, tool, input, mode, expected
fn check(rules: &[(&str, &str)], tool: &str, input: Value, mode: PermissionMode) -> Permission {
    let texts: Vec<RuleText> = rules
        .iter()
        .map(|(list, text)| RuleText {
            list: Permission::parse(list).unwrap(),
            text: (*text).to_owned(),
            source: LayerSource::User,
            file: None,
        })
        .collect();
    let bases = PathBases {
        home: Path::new("/h"),
        start: Path::new("/h/app"),
        cwd: Path::new("/h/app"),
    };
    let Value::Object(input) = input else {
        panic!("input")
    };
    Permissions::new(&texts, Vec::new())
        .decide_call(tool, &input, mode, bases)
        .permission
}

#[test]
fn deny_beats_ask_beats_allow() {
    let input = || json!({"command": "git push origin"});
    let all = [
        ("allow", "Bash(git *)"),
        ("ask", "Bash(git push *)"),
        ("deny", "Bash(git push origin)"),
    ];
    assert_eq!(
        check(&all, "Bash", input(), PermissionMode::Default),
        Permission::Deny
    );
    assert_eq!(
        check(&all[..2], "Bash", input(), PermissionMode::Default),
        Permission::Ask
    );
    assert_eq!(
        check(&all[..1], "Bash", input(), PermissionMode::Default),
        Permission::Allow
    );
}

#[test]
fn a_line_is_allowed_only_if_each_command_is() {
    let rules = [("allow", "Bash(git *)"), ("allow", "Bash(npm test)")];
    let line = |c: &str| json!({"command": c});
    assert_eq!(
        check(
            &rules,
            "Bash",
            line("git add . && npm test"),
            PermissionMode::Default
        ),
        Permission::Allow
    );
    assert_eq!(
        check(
            &rules,
            "Bash",
            line("git add . && rm -rf x"),
            PermissionMode::Default
        ),
        Permission::Ask
    );
    assert_eq!(
        check(
            &rules,
            "Bash",
            line("git log $(rm x)"),
            PermissionMode::Default
        ),
        Permission::Ask
    );
}

#[test]
fn edit_rules_cover_every_editing_tool_and_write_rules_none() {
    let input = || json!({"file_path": "/h/app/z.txt", "content": ""});
    assert_eq!(
        check(
            &[("deny", "Edit(z.txt)")],
            "Write",
            input(),
            PermissionMode::Default
        ),
        Permission::Deny
    );
    assert_eq!(
        check(
            &[("deny", "Write(z.txt)")],
            "Write",
            input(),
            PermissionMode::Default
        ),
        Permission::Ask
    );
}

#[test]
fn servers_domains_agents_and_skills() {
    let none = || json!({});
    assert_eq!(
        check(
            &[("allow", "mcp__lab")],
            "mcp__lab__echo",
            none(),
            PermissionMode::Default
        ),
        Permission::Allow
    );
    assert_eq!(
        check(
            &[("allow", "mcp__lab__*")],
            "mcp__lab__echo",
            none(),
            PermissionMode::Default
        ),
        Permission::Allow
    );
    assert_eq!(
        check(
            &[("allow", "mcp__la")],
            "mcp__lab__echo",
            none(),
            PermissionMode::Default
        ),
        Permission::Ask
    );
    let fetch = |u: &str| json!({"url": u, "prompt": "x"});
    let rule = [("allow", "WebFetch(domain:*.example.com)")];
    assert_eq!(
        check(
            &rule,
            "WebFetch",
            fetch("https://A.Example.com./x"),
            PermissionMode::Default
        ),
        Permission::Allow
    );
    assert_eq!(
        check(
            &rule,
            "WebFetch",
            fetch("https://example.com/"),
            PermissionMode::Default
        ),
        Permission::Ask
    );
    let agent = || json!({"subagent_type": "Explore"});
    assert_eq!(
        check(
            &[("deny", "Agent(Explore)")],
            "Agent",
            agent(),
            PermissionMode::Default
        ),
        Permission::Deny
    );
    let skill = || json!({"skill": "pdf:fill"});
    assert_eq!(
        check(
            &[("allow", "Skill(pdf:*)")],
            "Skill",
            skill(),
            PermissionMode::Default
        ),
        Permission::Allow
    );
}

#[test]
fn a_star_is_the_whole_tool_and_empty_parentheses_are_no_rule() {
    let line = || json!({"command": "true"});
    let mode = PermissionMode::BypassPermissions;
    assert_eq!(
        check(&[("deny", "Bash(*)")], "Bash", line(), mode),
        Permission::Deny
    );
    assert_eq!(
        check(&[("deny", "Bash()")], "Bash", line(), mode),
        Permission::Allow
    );
}

#[test]
fn modes() {
    let write = || json!({"file_path": "/h/app/z.txt", "content": ""});
    for (mode, expected) in [
        (PermissionMode::Default, Permission::Ask),
        (PermissionMode::AcceptEdits, Permission::Allow),
        (PermissionMode::Plan, Permission::Deny),
        (PermissionMode::DontAsk, Permission::Deny),
        (PermissionMode::BypassPermissions, Permission::Allow),
    ] {
        assert_eq!(check(&[], "Write", write(), mode), expected, "{mode:?}");
    }
    let outside = json!({"file_path": "/etc/passwd", "content": ""});
    assert_eq!(
        check(&[], "Write", outside, PermissionMode::AcceptEdits),
        Permission::Ask
    );
    assert_eq!(
        check(
            &[],
            "Bash",
            json!({"command": "ls -l | wc"}),
            PermissionMode::Default
        ),
        Permission::Allow
    );
    assert_eq!(
        check(
            &[],
            "Bash",
            json!({"command": "echo x > y"}),
            PermissionMode::Default
        ),
        Permission::Ask
    );
}

/// Lines as the client judged them: rules, mode, line, expected.
#[test]
fn lines_as_the_client_judges_them() {
    let book: Value =
        serde_json::from_str(include_str!("../../cases/bash-permissions.json")).unwrap();
    let mut wrong = Vec::new();
    for group in book.as_array().unwrap() {
        let rules: Vec<(&str, &str)> = ["deny", "ask", "allow"]
            .into_iter()
            .flat_map(|list| {
                group[list]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(move |r| (list, r.as_str().unwrap()))
            })
            .collect();
        let mode = PermissionMode::parse(group["mode"].as_str().unwrap()).unwrap();
        for (expected, lines) in group["lines"].as_object().unwrap() {
            for line in lines.as_array().unwrap() {
                let ours = check(&rules, "Bash", json!({"command": line}), mode);
                if ours.as_str() != expected {
                    wrong.push(format!(
                        "{rules:?} {mode:?} {line}: client {expected}, engine {}",
                        ours.as_str()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
