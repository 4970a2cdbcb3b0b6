//! Settings, events and answers come from others and must never crash the
//! engine: arbitrary text through every parser.

use std::path::Path;

use proptest::prelude::*;
use remora_core::{EVENTS, Event, Permission};
use serde_json::json;

use crate::answer::{self, HandlerOutput, ProcessExit};
use crate::condition::Condition;
use crate::config::{self, OnFailure, Strictness};
use crate::layers::LayerSource;
use crate::limits;
use crate::matcher::Matcher;
use crate::merge::merge_answers;
use crate::path_rule::{PathBases, PathRule};
use crate::permissions::{PermissionMode, Permissions, RuleText};
use crate::url::Url;
use crate::wildcard::matches_wildcard;

fn bases() -> PathBases<'static> {
    PathBases {
        home: Path::new("/h"),
        start: Path::new("/h/app"),
        cwd: Path::new("/h/app"),
    }
}

/// Text that is more often near to something than noise is.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z*?/~.!\\[\\]{}()|,:;&$<>'\"` \\\\\n#=-]{0,60}",
        "(Bash|Read|Edit|WebFetch|mcp__a|Agent)?\\(?[a-z*/:. ]{0,20}\\)?",
    ]
}

/// JSON that looks like settings or an answer, with wrong types mixed in.
fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i32>().prop_map(|n| json!(n)),
        text().prop_map(|t| json!(t)),
        Just(json!("command")),
        Just(json!("block")),
        Just(json!("PreToolUse")),
    ];
    let key = prop_oneof![
        Just("hooks"),
        Just("PreToolUse"),
        Just("PostToolUse"),
        Just("matcher"),
        Just("type"),
        Just("command"),
        Just("timeout"),
        Just("permissions"),
        Just("allow"),
        Just("hookSpecificOutput"),
        Just("hookEventName"),
        Just("permissionDecision"),
        Just("decision"),
        Just("continue"),
        Just("updatedInput"),
        Just("env"),
    ];
    let tree = leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| json!(v)),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|v| v.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    });
    prop_oneof![tree.prop_map(|v| v.to_string()), text()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn settings_and_answers(text in document(), code in 0..4, blocking: bool) {
        for strictness in [Strictness::Settings, Strictness::Managed, Strictness::Plugin] {
            let _ = config::parse_settings(&text, strictness);
        }
        let on_failure = if blocking { OnFailure::Block } else { OnFailure::Continue };
        for def in EVENTS {
            let output = HandlerOutput { ended: ProcessExit::Exit(code), stdout: text.clone(), stderr: text.clone() };
            let said = answer::read_answer(def, &output, on_failure);
            let event = Event::from_value(json!({"hook_event_name": def.text}), None).unwrap();
            let _ = merge_answers(&event, &[said.answer.clone(), said.answer]);
        }
    }

    #[test]
    fn matchers_conditions_and_paths(pattern in text(), subject in text()) {
        for def in EVENTS {
            let _ = Matcher::new(Some(&pattern), def).test_subject(Some(&subject), def.has_tool);
        }
        let _ = Condition::new(Some(&pattern)).never_reason();
        let _ = PathRule::new(&pattern).matches(&subject, bases());
        let _ = matches_wildcard(&pattern, &subject);
        let _ = Url::parse(&subject);
        let _ = limits::terminal_sequence_is_safe(&subject);
        let _ = limits::truncate_utf16(&subject, 7);
    }

    #[test]
    fn permission_rules(rule in text(), line in text()) {
        for list in [Permission::Deny, Permission::Ask, Permission::Allow] {
            let rule = RuleText { list, text: rule.clone(), source: LayerSource::User, file: None };
            let permissions = Permissions::new(&[rule], Vec::new());
            for tool in ["Bash", "Read", "Write", "WebFetch", "Agent", "mcp__a__b"] {
                let input = json!({"command": line, "file_path": line, "url": line, "subagent_type": line});
                let input = input.as_object().unwrap();
                let _ = permissions.decide_call(tool, input, PermissionMode::Default, bases());
                let _ = permissions.hidden_by(tool, input, bases());
            }
        }
    }
}
