//! Settings, events and answers come from others and must never crash the
//! engine: arbitrary text through every parser.

use std::path::Path;

use proptest::prelude::*;
use remora_core::{EVENTS, Event, Permission};
use serde_json::json;

use crate::answer::{self, HandlerOutput, ProcessExit, judgement};
use crate::condition::{Condition, ToolCallView};
use crate::config::{self, OnFailure, Strictness};
use crate::fuzzing::{edit_text, fuzz};
use crate::layers::{FlagSettings, LayerSource, SettingsPaths};
use crate::limits;
use crate::matcher::Matcher;
use crate::merge::merge_answers;
use crate::path_rule::{PathBases, PathRule};
use crate::permissions::{PermissionMode, Permissions, RuleText};
use crate::url::Url;
use crate::wildcard::matches_wildcard;
use crate::{Engine, EngineOptions};

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

/// Pieces of settings, answers and rules.
const WORDS: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e999",
    "\"\"",
    "\"hooks\":",
    "\"matcher\":",
    "\"type\":",
    "\"if\":",
    "\"timeout\":",
    "\"async\":",
    "\"once\":",
    "\"allow\":[",
    "\"deny\":[",
    "\"PreToolUse\":[",
    "\"Stop\":[",
    "\"hooks\":[{",
    "\"decision\":",
    "\"block\"",
    "\"continue\":false",
    "\"ok\":",
    "\"hookSpecificOutput\":{",
    "\"updatedInput\":{",
    "Bash(",
    "Edit(",
    "mcp__a__b",
    "(a+)+$",
    "[",
    "\\u0000",
    "\u{feff}",
    "**",
    "//",
    "..",
    "~",
    ":*",
    " && ",
    " | ",
    "$(",
    "`",
    "<<E\n",
    "\n",
    ";",
    "'",
    "#",
    "=",
    ">",
    "&",
    "!",
    "**/*",
    "\r",
];
const SETTINGS: &[&str] = &[
    r#"{"hooks":{"PreToolUse":[{"matcher":"Bash|Edit","hooks":[{"type":"command","command":"true","if":"Bash(git push:*)","timeout":5}]}]}}"#,
    r#"{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"p $ARGUMENTS","model":"m","continueOnBlock":true},{"type":"agent","prompt":"p"}]}]}}"#,
    r#"{"hooks":{"PostToolUse":[{"matcher":"^mcp__.*(a|b)+$","hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{"a":["${tool_input.x.0}"]}}]}],"FileChanged":[{"matcher":".env|a.txt","hooks":[{"type":"command","command":"true","async":true,"asyncRewake":true,"rewakeMessage":"m"}]}]}}"#,
    r#"{"permissions":{"allow":["Bash(npm run *)","Read(//etc/**)","Edit(~/x)"],"deny":["Bash(rm:*)","Read(./.env)"],"ask":["WebFetch(domain:a.b)"],"defaultMode":"acceptEdits","additionalDirectories":["../x"]},"env":{"A":"b"},"disableAllHooks":false,"allowedHttpHookUrls":["https://a/*"]}"#,
];
const ANSWERS: &[&str] = &[
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r","updatedInput":{"command":"x"},"additionalContext":"c"}}"#,
    r#"{"decision":"block","reason":"r","continue":false,"stopReason":"s","systemMessage":"m","suppressOutput":true}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"plan"}]}}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","watchPaths":["a"],"initialUserMessage":"i"},"terminalSequence":"\u001b]0;t\u0007"}"#,
    "{\"async\":true,\"asyncTimeout\":5}\n{\"systemMessage\":\"late\"}",
    "```json\n{\"ok\":false,\"reason\":\"r\",\"impossible\":true}\n```",
    r#"{"ok":true,"reason":""}"#,
    "plain text",
];
const CONDITIONS: &[&str] = &[
    "Bash(git push:*)",
    "Bash(npm run *)",
    "Bash(FOO=1 make)",
    "Bash",
    "Edit(src/**)",
    "Read(//etc/*)",
    "Write(~/a b/*.rs)",
    "MultiEdit(../x)",
    "mcp__a__b(x)",
    "Bash(*)",
    "Edit(!a)",
    "Read(/a/./b)",
];
const LINES: &[&str] = &[
    "git push origin main && rm -rf x",
    "FOO=1 make -j2 | tee log",
    "npm run 'a b' > out 2>&1; echo $?",
    "if true; then git push; fi",
    "cat <<E\ngit push\nE\n",
    "$(git push) `make`",
    "sudo env A=b xargs -0 git push",
    "for f in *; do npm run $f; done",
    "src/a.rs",
    "/etc/passwd",
    "/h/a b/c.rs",
    "~/x/../y",
    "",
];

fn bash_event(line: &str) -> Event {
    Event::from_value(
        json!({"hook_event_name": "PreToolUse", "cwd": "/h/app", "tool_name": "Bash",
            "tool_input": {"command": line}}),
        None,
    )
    .unwrap()
}

#[test]
fn fuzz_settings() {
    let inputs = prop_oneof![8 => edit_text(SETTINGS, WORDS), 1 => document()];
    let events: Vec<Event> = EVENTS
        .iter()
        .map(|def| {
            let fields = json!({"hook_event_name": def.text, "cwd": "/h/app", "tool_name": "Bash",
                "tool_input": {"command": "git push"}, "file_path": "/h/app/.env"});
            Event::from_value(fields, None).unwrap()
        })
        .collect();
    fuzz("settings", &inputs, |text| {
        for strictness in [
            Strictness::Settings,
            Strictness::Managed,
            Strictness::Plugin,
        ] {
            let _ = config::parse_settings(text, strictness);
        }
        let mut places = SettingsPaths::new("/nonexistent/app", "/nonexistent/home");
        places.flag = Some(FlagSettings::Json(text.clone()));
        let Ok(engine) = Engine::load(places, EngineOptions::default()) else {
            return;
        };
        for event in &events {
            let plan = engine.explain(event);
            assert_eq!(
                plan,
                engine.explain(event),
                "the same settings, the same plan"
            );
        }
        let listed = engine.handlers().count();
        let planned = events
            .iter()
            .map(|event| engine.explain(event).handlers.len());
        assert!(
            planned.sum::<usize>() <= listed,
            "no handler comes from nowhere"
        );
    });
}

#[test]
fn fuzz_answers() {
    let inputs = (
        prop_oneof![8 => edit_text(ANSWERS, WORDS), 1 => document()],
        prop_oneof![3 => Just(0), 2 => Just(2), 1 => -1..300],
        any::<bool>(),
    );
    fuzz("answers", &inputs, |(text, code, blocking)| {
        let on_failure = if *blocking {
            OnFailure::Block
        } else {
            OnFailure::Continue
        };
        let output = HandlerOutput {
            ended: ProcessExit::Exit(*code),
            stdout: text.clone(),
            stderr: text.clone(),
        };
        for def in EVENTS {
            let said = answer::read_answer(def, &output, on_failure);
            let event = Event::from_value(json!({"hook_event_name": def.text}), None).unwrap();
            let once = merge_answers(&event, std::slice::from_ref(&said.answer));
            assert_eq!(
                once,
                merge_answers(&event, std::slice::from_ref(&said.answer))
            );
            let guards = matches!(def.text, "PreToolUse" | "UserPromptSubmit");
            let stops = !once.go_on;
            if guards && *code == 2 {
                assert!(once.blocked || stops, "exit code 2 is a refusal");
                assert_eq!(
                    once.updated_input, None,
                    "a call that is not made has no input"
                );
            }
            // Whoever else speaks, a refusal stays.
            let both = [said.answer, answer::Answer::default()];
            assert_eq!(once.blocked, merge_answers(&event, &both).blocked);
        }
        let _ = answer::read_late_output(text);
        if let Ok((_, object)) = judgement::parse_judgement(text) {
            let _ = judgement::read_verdict(&object);
        }
    });
}

#[test]
fn fuzz_conditions() {
    let inputs = (
        prop_oneof![8 => edit_text(CONDITIONS, WORDS), 1 => text()],
        prop_oneof![8 => edit_text(LINES, WORDS), 1 => text()],
    );
    fuzz("conditions", &inputs, |(rule, line)| {
        let condition = Condition::new(Some(rule));
        let never = condition.never_reason().is_some();
        let mut events = vec![bash_event(line)];
        for tool in ["Read", "Edit", "Write"] {
            let mut event = bash_event(line);
            event.fields.insert("tool_name".into(), tool.into());
            event
                .fields
                .insert("tool_input".into(), json!({"file_path": line}));
            events.push(event);
        }
        for event in &events {
            let holds = || {
                let call = ToolCallView::new(event, bases());
                condition.test_call(Some(&call)).holds
            };
            let first = holds();
            assert_eq!(first, holds(), "the same call, the same result");
            assert!(!(never && first), "what never holds holds");
        }
        assert!(
            rule.is_empty() || !condition.test_call(None).holds,
            "without a call nothing holds"
        );
    });
}
