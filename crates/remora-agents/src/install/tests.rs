use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use remora_core::EventName;

use super::*;

const TWO: &[EventRegistration] = &[
    EventRegistration {
        event: EventName::PreToolUse,
        timeout: 5,
        matcher: Some("Read"),
    },
    EventRegistration {
        event: EventName::Stop,
        timeout: 5,
        matcher: None,
    },
];

/// The agent with two events, so that a case can be read at a glance.
static SMALL: LazyLock<AgentSpec> = LazyLock::new(|| AgentSpec {
    registered: TWO,
    ..crate::claude_code::SPEC
});

fn entry() -> InstallRequest<'static> {
    InstallRequest {
        program: Path::new("/opt/remora/bin/remora"),
        spec: &SMALL,
    }
}

fn planned(text: &str) -> SettingsEdit {
    plan_entries(Some(text), &entry()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn removed(text: &str, kept: &PriorState) -> SettingsEdit {
    remove_entries(text, &SMALL, kept).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/install")
}

/// Name, text before, after the installation, and after the removal.
fn cases() -> Vec<[String; 4]> {
    let mut cases = Vec::new();
    for file in fs::read_dir(folder()).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap();
        if let Some(name) = name.strip_suffix(".before.json") {
            let read =
                |kind: &str| fs::read_to_string(folder().join(format!("{name}.{kind}.json")));
            let before = read("before").unwrap();
            let after = read("after").unwrap_or_else(|e| panic!("{name}: {e}"));
            // Without a file of its own it is the text before.
            let removed = read("removed").unwrap_or_else(|_| before.clone());
            cases.push([name.to_owned(), before, after, removed]);
        }
    }
    assert!(cases.len() >= 15, "{} cases", cases.len());
    cases
}

#[test]
fn every_case_is_installed_and_removed_as_written_down() {
    for [name, before, after, clean] in cases() {
        let edited = planned(&before);
        assert_eq!(edited.text, after, "{name}");
        assert!(!edited.changes.is_empty(), "{name}");
        let again = planned(&after);
        assert_eq!(
            (again.text, again.changes),
            (after.clone(), vec![]),
            "{name}"
        );
        assert_eq!(removed(&after, &edited.kept).text, clean, "{name}");
    }
}

#[test]
fn line_ends_marks_and_missing_last_newlines_are_kept() {
    for [name, before, after, clean] in cases() {
        if before.trim().is_empty() {
            continue;
        }
        let forms: [fn(&str) -> String; 3] = [
            |text| text.replace('\n', "\r\n"),
            |text| format!("\u{feff}{text}"),
            |text| text.trim_end().to_owned(),
        ];
        for form in forms {
            // A file of one line has only its last line end to go by.
            if before.trim().lines().count() == 1 && form("\n") == "\r\n" {
                continue;
            }
            let edited = planned(&form(&before));
            assert_eq!(edited.text, form(&after), "{name}");
            assert_eq!(
                removed(&edited.text, &edited.kept).text,
                form(&clean),
                "{name}"
            );
        }
    }
}

#[test]
fn a_new_file_holds_every_registered_event_and_nothing_else() {
    let spec = &crate::claude_code::SPEC;
    let entry = InstallRequest { spec, ..entry() };
    let edited = plan_entries(None, &entry).unwrap();
    let value: Value = serde_json::from_str(&edited.text).unwrap();
    assert_eq!(
        serde_json::to_string_pretty(&value).unwrap() + "\n",
        edited.text
    );
    assert_eq!(edited.warnings, Vec::<String>::new());
    assert_eq!(
        value["hooks"]["PreToolUse"],
        json!([{
            "matcher": "Read|Agent|Task",
            "hooks": [{
                "type": "command",
                "command": "/opt/remora/bin/remora",
                "args": ["hook", "claude-code"],
                "timeout": 5,
            }],
        }])
    );
    let found: Vec<String> = find_entries(&edited.text, spec)
        .unwrap()
        .into_iter()
        .map(|i| i.event)
        .collect();
    let wanted: Vec<&str> = spec
        .registered
        .iter()
        .map(|row| row.event.as_str())
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(value.as_object().unwrap().len(), 1);
    assert_eq!(
        remove_entries(&edited.text, spec, &edited.kept)
            .unwrap()
            .text,
        "{}\n"
    );
    assert_eq!(plan_entries(Some(""), &entry).unwrap().text, edited.text);
}

/// An agent that takes one line for a shell, and two keys in its file.
static STRICT: LazyLock<AgentSpec> = LazyLock::new(|| AgentSpec {
    registered: TWO,
    install: InstallSpec {
        handler_form: HandlerForm::ShellLine,
        rules: SettingsRules {
            root_keys: Some(&["description", "hooks"]),
            handler_types: &[("command", "command")],
            drops_file: |_| true,
        },
        ..crate::claude_code::SPEC.install
    },
    ..crate::claude_code::SPEC
});

#[test]
fn an_entry_may_be_one_line_for_a_shell() {
    let entry = InstallRequest {
        program: Path::new("/opt/my tools/remora"),
        spec: &STRICT,
    };
    let edited = plan_entries(None, &entry).unwrap();
    let value: Value = serde_json::from_str(&edited.text).unwrap();
    assert_eq!(
        value["hooks"]["Stop"],
        json!([{ "hooks": [{
            "type": "command",
            "command": "'/opt/my tools/remora' hook claude-code",
            "timeout": 5,
        }] }])
    );
    let found = find_entries(&edited.text, &STRICT).unwrap();
    assert_eq!(found.len(), TWO.len());
    assert!(
        found
            .iter()
            .all(|hook| hook.program == "/opt/my tools/remora")
    );
    let again = plan_entries(Some(&edited.text), &entry).unwrap();
    assert_eq!(
        (again.text, again.changes),
        (edited.text.clone(), Vec::new())
    );
    // Arguments beside such a line would be lost or change it.
    let exec = plan_entries(
        None,
        &InstallRequest {
            spec: &SMALL,
            ..entry
        },
    );
    let changed = plan_entries(Some(&exec.unwrap().text), &entry).unwrap();
    assert_eq!(changed.text, edited.text);
}

#[test]
fn what_a_strict_agent_would_refuse_is_warned_of() {
    let entry = InstallRequest {
        spec: &STRICT,
        ..entry()
    };
    let text = r#"{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"http","url":"u"}]}]}}"#;
    let edited = plan_entries(Some(text), &entry).unwrap();
    assert_eq!(
        edited.warnings,
        [
            "`model` is not a key of this file; the client ignores this whole file until that is \
             fixed",
            "`hooks.Stop[0].hooks[0]` has the `type` http, not command; the client ignores this whole file \
             until that is fixed",
        ]
    );
}

#[test]
fn changes_say_what_became_of_each_entry() {
    let [_, before, ..] = cases()
        .into_iter()
        .find(|case| case[0] == "older-events")
        .unwrap();
    let expected = [
        ("MessageDisplay", ChangeKind::Removed),
        ("Notification", ChangeKind::Removed),
        ("PreToolUse", ChangeKind::Added),
        ("Stop", ChangeKind::Added),
    ];
    let expected = expected.map(|(event, what)| new_change(event, what));
    assert_eq!(planned(&before).changes, expected);
    let [_, before, ..] = cases()
        .into_iter()
        .find(|case| case[0] == "installed-elsewhere")
        .unwrap();
    let expected = ["PreToolUse", "Stop"].map(|event| new_change(event, ChangeKind::Updated));
    assert_eq!(planned(&before).changes, expected);
    let found = find_entries(&before, &SMALL).unwrap();
    assert_eq!(
        found[0],
        InstalledHook {
            event: "PreToolUse".into(),
            program: "/old/place/remora".into(),
            matcher: Some("Read".into()),
            group: 0,
            handler: 0,
        }
    );
    assert_eq!(found.len(), 2);
}

#[test]
fn entries_are_ours_by_what_they_run() {
    let handlers = [
        (
            r#"{"type":"command","command":"/a b/remora","args":["hook","claude-code","--x"]}"#,
            true,
        ),
        (
            r#"{"type":"command","command":"C:\\bin\\Remora.EXE","args":["hook","claude"]}"#,
            true,
        ),
        (
            r#"{"type":"command","command":"$HOME/bin/remora  hook\tclaude-code"}"#,
            true,
        ),
        (
            r#"{"type":"command","command":"'/a b/remora' hook claude-code"}"#,
            true,
        ),
        (
            r#"{"type":"command","command":"/a\\ b/remora hook claude-code"}"#,
            true,
        ),
        (
            r#"{"type":"command","command":"remora","args":["hook","another-agent"]}"#,
            false,
        ),
        (
            r#"{"type":"command","command":"remora","args":["hooks","claude-code"]}"#,
            false,
        ),
        (
            r#"{"type":"command","command":"remora","args":"hook claude-code"}"#,
            false,
        ),
        (
            r#"{"type":"command","command":"remora","args":["hook"]}"#,
            false,
        ),
        (
            r#"{"type":"command","command":"remora hook claude-code","args":[]}"#,
            false,
        ),
        (
            r#"{"type":"command","command":"aremora hook claude-code"}"#,
            false,
        ),
        (
            r#"{"type":"command","command":"echo remora hook claude-code"}"#,
            false,
        ),
        (
            r#"{"type":"http","command":"remora hook claude-code"}"#,
            false,
        ),
        (r#""remora hook claude-code""#, false),
    ];
    for (handler, ours) in handlers {
        let text = format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{handler}]}}]}}}}"#);
        assert_eq!(
            find_entries(&text, &SMALL).unwrap().len(),
            usize::from(ours),
            "{handler}"
        );
    }
}

#[test]
fn a_matcher_that_narrows_is_taken_off_and_one_that_does_not_stays() {
    let text = planned("{}").text;
    for (matcher, changes) in [
        ("*", vec![]),
        ("", vec![]),
        ("Bash", vec![new_change("Stop", ChangeKind::Updated)]),
    ] {
        let narrowed = text.replace(
            "\"Stop\": [\n      {",
            &format!("\"Stop\": [\n      {{\n        \"matcher\": \"{matcher}\","),
        );
        assert_ne!(narrowed, text);
        let edited = planned(&narrowed);
        assert_eq!(edited.changes, changes, "{matcher}");
        let expected = if changes.is_empty() {
            narrowed
        } else {
            text.clone()
        };
        assert_eq!(edited.text, expected, "{matcher}");
    }
}

#[test]
fn what_cannot_be_edited_is_said_with_its_place() {
    let cases = [
        (
            "{\n  \"a\": 1,\n}",
            "not valid JSON at line 3, column 1: expected a key in double quotes",
        ),
        (
            "{\n  // no\n}",
            "not valid JSON at line 2, column 3: expected a key in double quotes",
        ),
        (
            "{\"é\": tru}",
            "not valid JSON at line 1, column 7: expected a value",
        ),
        (
            "{} {}",
            "not valid JSON at line 1, column 4: expected the end of the file",
        ),
        (
            "{\"a\": 01}",
            "not valid JSON at line 1, column 8: expected `,` or `}`",
        ),
        ("[]", "`the file` must be a JSON object, found a list"),
        ("null", "`the file` must be a JSON object, found null"),
        ("{\"hooks\": []}", "`hooks` must be an object, found a list"),
        ("{\"hooks\": null}", "`hooks` must be an object, found null"),
        (
            "{\"hooks\": {\"Stop\": {}}}",
            "`hooks.Stop` must be a list, found an object",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(
            plan_entries(Some(text), &entry()).unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
    let deep = "[".repeat(100_000);
    assert!(plan_entries(Some(&deep), &entry()).is_err());
    for program in ["./remora", "/opt/remora-0.1", "/opt/remora/"] {
        let entry = InstallRequest {
            program: Path::new(program),
            ..entry()
        };
        let error = plan_entries(None, &entry).unwrap_err();
        assert_eq!(error, InstallError::Program(program.to_owned()));
    }
}

#[test]
fn entries_that_the_client_would_refuse_are_warned_of() {
    let whole = "the client ignores this whole file until that is fixed";
    let cases = [
        (r#"{"hooks":{"PreToolUse":[{"matcher":7,"hooks":[]}]}}"#,
            format!("`hooks.PreToolUse[0].matcher` must be a string; {whole}")),
        (r#"{"hooks":{"PermissionRequest":[{"type":"command","command":"x"}]}}"#,
            format!("`hooks.PermissionRequest[0].hooks` must be a list; {whole}")),
        (r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x","timeout":0}]}]}}"#,
            format!("`hooks.PreToolUse[0].hooks[0]` has a `timeout` that is not a number above 0; {whole}")),
        (r#"{"hooks":{"PostToolUse":[{"hooks":[{"type":"Command","command":"x"}]}]}}"#,
            "`hooks.PostToolUse[0].hooks[0]` has the `type` Command, not command, http, prompt, agent or mcp_tool; the client ignores it".into()),
        (r#"{"hooks":{"PostToolUse":[{"hooks":[{"command":"x"}]}]}}"#,
            "`hooks.PostToolUse[0].hooks[0]` needs a `type`: command, http, prompt, agent or mcp_tool; the client ignores it".into()),
        (r#"{"hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"x","args":[1]}]}]}}"#,
            "`hooks.PostToolUse[0].hooks[0]` has `args` that are not a list of strings; the client ignores it".into()),
        (
            r#"{"hooks":{"PreModelSwitch":[7]}}"#,
            "`hooks.PreModelSwitch[0]` must be an object with a `hooks` list; the client ignores it".into(),
        ),
        (r#"{"disableAllHooks":true}"#,
            "`disableAllHooks` is true: no hook of this file will run".into()),
        (r#"{"disableAllHooks":"no"}"#,
            format!("`disableAllHooks` must be true or false; {whole}")),
    ];
    for (text, warning) in cases {
        assert_eq!(planned(text).warnings, [warning], "{text}");
    }
    for text in [
        r#"{"hooks":{"Unknown":7,"SessionEnd":null,"PreToolUse":[{"hooks":[]}]}}"#,
        r#"{"disableAllHooks":false,"hooks":{"PreToolUse":[{"matcher":"","hooks":[{"type":"command","command":"","timeout":0.3,"shell":"bash","if":"Read","x":1}]}]}}"#,
    ] {
        assert_eq!(planned(text).warnings, Vec::<String>::new(), "{text}");
    }
}

/// JSON in any formatting that is legal.
fn formatted(value: &Value, blanks: &mut impl FnMut() -> &'static str) -> String {
    match value {
        Value::Object(members) => {
            let all: Vec<String> = members
                .iter()
                .map(|(key, value)| {
                    let key = Value::from(key.as_str());
                    format!(
                        "{}{key}{}:{}{}{}",
                        blanks(),
                        blanks(),
                        blanks(),
                        formatted(value, blanks),
                        blanks()
                    )
                })
                .collect();
            format!("{{{}{}}}", all.join(","), blanks())
        }
        Value::Array(items) => {
            let all: Vec<String> = items
                .iter()
                .map(|value| format!("{}{}{}", blanks(), formatted(value, blanks), blanks()))
                .collect();
            format!("[{}{}]", all.join(","), blanks())
        }
        other => other.to_string(),
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-c]", inner), 0..3).prop_map(object),
        ]
    })
}

fn object(members: Vec<(impl Into<String>, Value)>) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect(),
    )
}

fn any_settings() -> impl Strategy<Value = Value> {
    let handler =
        any_value().prop_map(|extra| json!({"type": "command", "command": "x", "extra": extra}));
    let group = prop_oneof![
        prop::collection::vec(handler, 0..3).prop_map(|hooks| json!({ "hooks": hooks })),
        any_value(),
    ];
    let groups = prop::collection::vec(group, 0..3).prop_map(Value::from);
    let event = prop_oneof![
        Just("Stop"),
        Just("PreToolUse"),
        Just("Notification"),
        Just("Other")
    ];
    let hooks = prop::collection::vec((event, groups), 0..4).prop_map(object);
    let member = prop_oneof![
        hooks.prop_map(|hooks| ("hooks".to_owned(), hooks)),
        ("[a-e]{1,2}", any_value()),
    ];
    prop::collection::vec(member, 0..5).prop_map(object)
}

proptest! {
    #[test]
    fn any_settings_in_any_formatting_keep_their_bytes(settings in any_settings(), choices in prop::collection::vec(0..9_usize, 1..40)) {
        let mut at = 0;
        let mut blanks = || {
            at += 1;
            ["", "", " ", "\n", "\r\n  ", "\n\t", "    ", "\n\n", "\n  "][choices[at % choices.len()]]
        };
        let outside = (blanks(), blanks());
        let text = format!("{}{}{}", outside.0, formatted(&settings, &mut blanks), outside.1);
        let edited = planned(&text);

        // Every old byte is there, in order: new text was only put between.
        let mut new = edited.text.bytes();
        for byte in text.bytes() {
            prop_assert!(new.any(|found| found == byte), "{text:?} -> {:?}", edited.text);
        }
        let value: Value = serde_json::from_str(&edited.text).unwrap();
        for row in TWO {
            let last = value["hooks"][row.event.as_str()].as_array().unwrap().last().unwrap();
            prop_assert_eq!(last, &ours::build_group(row, "/opt/remora/bin/remora", &SMALL));
        }
        let again = planned(&edited.text);
        prop_assert_eq!(&again.text, &edited.text);
        prop_assert_eq!(again.changes, vec![]);
        let clean = removed(&edited.text, &edited.kept).text;
        prop_assert_eq!(serde_json::from_str::<Value>(&clean).unwrap(), settings);
        // What held something before is restored to the byte.
        if edited.kept == PriorState::default() && !value.as_object().unwrap().is_empty() && text.contains(':') {
            prop_assert_eq!(clean, text);
        }
    }

    #[test]
    fn the_reader_takes_what_json_allows_and_nothing_else(text in "[\\[\\]{}\":,\\\\ntrufalse0-9.eE+ \n-]{0,12}") {
        let strict = serde_json::from_str::<serde::de::IgnoredAny>(&text);
        prop_assert_eq!(span::parse_json(&text).is_ok(), strict.is_ok(), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), json in any_value()) {
        let _ = plan_entries(Some(&text), &entry());
        let _ = plan_entries(Some(&json!({ "hooks": { "Stop": json } }).to_string()), &entry());
    }
}
