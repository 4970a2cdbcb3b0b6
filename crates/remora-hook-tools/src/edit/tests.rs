//! Edits of texts in every style that people write settings in.

use serde_json::json;

use super::*;

/// Texts that hooks are added to.
const TEXTS: &[&str] = &[
    "{}",
    "{}\n",
    "{\n}\n",
    "{\n  \"model\": \"x\"\n}\n",
    "{\n\t\"model\": \"x\",\n\t\"hooks\": {}\n}",
    "{\r\n    \"hooks\": {\r\n        \"Stop\": []\r\n    }\r\n}\r\n",
    "\u{feff}{ \"hooks\": { \"PreToolUse\": [ { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"a\" } ] } ] } }",
    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Edit\",\"hooks\":[]}],\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"é\"}]}]},\"z\":[1,\n2]}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"a\" }\n        ]\n      }\n    ]\n  },\n  \"env\": { \"A\": \"1\" }\n}\n",
];

fn entry(command: &str) -> Value {
    json!({"type": "command", "command": command})
}

fn add(text: &str, command: &str) -> EditedSettings {
    add_handler(
        Some(text),
        EventName::PreToolUse,
        Some("Bash"),
        &entry(command),
    )
    .unwrap()
}

/// What was inserted: the new text without what it has in common with the old.
fn common_ends(before: &str, after: &str) -> usize {
    let head = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let (rest, now) = (&before.as_bytes()[head..], &after.as_bytes()[head..]);
    let tail = rest
        .iter()
        .rev()
        .zip(now.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    head + tail
}

#[test]
fn what_is_added_is_there_and_nothing_else_changes() {
    for text in TEXTS {
        let edited = add(text, "new");
        let place = edited.place.clone().unwrap();
        let all = list_handlers(&edited.text).unwrap();
        let found = all.iter().find(|h| h.place == place).unwrap();
        assert_eq!(
            (&found.entry, found.matcher.as_deref()),
            (&entry("new"), Some("Bash"))
        );
        // Blanks in an empty object make way; every other byte stays.
        let blanks = text.matches(['\n', '\r', ' ', '\t']).count();
        let kept = common_ends(text, &edited.text);
        assert!(
            kept == text.len() || text.len() - kept <= blanks.min(4),
            "{text}"
        );
        let before = list_handlers(text).unwrap();
        for handler in before {
            assert!(all.contains(&handler), "{text}");
        }
        // Out again, everything means what it meant.
        let back = remove_handler(&edited.text, &place).unwrap().text;
        let value = |text: &str| {
            let mut value = Document::parse(text).unwrap().value().clone();
            let map = value.as_object_mut().unwrap();
            if let Some(hooks) = map.get_mut("hooks").and_then(Value::as_object_mut) {
                hooks.retain(|_, groups| groups != &json!([]));
                if hooks.is_empty() {
                    map.remove("hooks");
                }
            }
            value
        };
        assert_eq!(value(&back), value(text), "{text}\n{back}");
    }
}

#[test]
fn what_is_added_is_written_as_the_rest() {
    assert_eq!(
        add_handler(None, EventName::Stop, None, &entry("x"))
            .unwrap()
            .text,
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"x\"\n          }\n        ]\n      }\n    ]\n  }\n}\n"
    );
    assert!(
        add(TEXTS[4], "x")
            .text
            .contains("\n\t\t\"PreToolUse\": [\n\t\t\t{\n")
    );
    assert!(
        add(TEXTS[5], "x")
            .text
            .contains("\"PreToolUse\": [\r\n            {\r\n")
    );
    assert!(!add(TEXTS[5], "x").text.replace("\r\n", "").contains('\n'));
    assert!(
        add(TEXTS[6], "b")
            .text
            .contains("\"command\": \"a\" }, {\"type\": \"command\", \"command\": \"b\"} ]")
    );
    assert_eq!(
        add(TEXTS[8], "b").text,
        TEXTS[8].replace(
            "\"a\" }\n",
            "\"a\" },\n          {\n            \"type\": \"command\",\n            \"command\": \"b\"\n          }\n"
        )
    );
}

#[test]
fn added_and_removed_is_as_before_where_a_group_is_shared() {
    for text in [TEXTS[6], TEXTS[8]] {
        let edited = add(text, "new");
        let back = remove_handler(&edited.text, &edited.place.unwrap()).unwrap();
        assert_eq!(back.text, text);
        assert_eq!(back.place, None);
    }
}

#[test]
fn a_handler_is_switched_off_and_on() {
    let text = TEXTS[8];
    let place = list_handlers(text).unwrap()[0].place.clone();
    let off = toggle_handler(text, &place).unwrap();
    let value = Document::parse(&off.text).unwrap().value().clone();
    assert_eq!(value.get("hooks"), None);
    assert_eq!(
        value[DISABLED_HOOKS_KEY]["PreToolUse"][0],
        json!({"matcher": "Bash", "hooks": [entry("a")]})
    );
    let on = toggle_handler(&off.text, &off.place.unwrap()).unwrap();
    let back = Document::parse(&on.text).unwrap().value().clone();
    assert_eq!(&back, Document::parse(text).unwrap().value());
}

#[test]
fn the_last_of_several_and_the_first_go_with_one_comma() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}]}}"#;
    let handlers = list_handlers(text).unwrap();
    let without = |at: usize| remove_handler(text, &handlers[at].place).unwrap().text;
    assert_eq!(
        without(0),
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}"#
    );
    assert_eq!(
        without(1),
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}"#
    );
}

#[test]
fn what_cannot_be_edited_says_why() {
    let fails = |text: &str| {
        let result = add_handler(Some(text), EventName::Stop, None, &entry("x"));
        result.unwrap_err().to_string()
    };
    for (text, problem) in [
        (
            "{\n  // mine\n}",
            "2:3: not valid JSON: a comment; the client ignores the whole file, so it is not edited",
        ),
        (
            "{\"a\": 1,}",
            "1:9: not valid JSON: a comma before the closing bracket; the client ignores the whole file, so it is not edited",
        ),
        ("[]", "`the file` must be an object, found a list"),
        ("{\"hooks\": []}", "`hooks` must be an object, found a list"),
        (
            "{\"hooks\": {\"Stop\": {}}}",
            "`hooks.Stop` must be a list of groups, found an object",
        ),
        (
            "{\"hooks\": {}, \"hooks\": {}}",
            "`hooks` is written twice; keep one of the two first",
        ),
    ] {
        assert_eq!(fails(text), problem);
    }
    let bad = add_handler(
        None,
        EventName::Stop,
        None,
        &json!({"type": "command", "timeout": 0}),
    );
    assert_eq!(
        bad.unwrap_err().to_string(),
        "the handler is malformed: `command` is missing"
    );
    let gone = HandlerPlace {
        state: HandlerState::Enabled,
        event: "Stop".to_owned(),
        group: 0,
        index: 0,
    };
    assert_eq!(
        remove_handler("{}", &gone).unwrap_err().to_string(),
        "`hooks.Stop[0].hooks[0]` is not there"
    );
}

#[test]
fn another_entry_takes_the_place_and_no_other_byte_changes() {
    for text in TEXTS {
        let edited = add(text, "new");
        let place = edited.place.unwrap();
        let longer = json!({"type": "command", "command": "longer", "timeout": 7});
        let changed = replace_handler(&edited.text, &place, Some("Bash"), &longer).unwrap();
        assert_eq!(changed.place.as_ref(), Some(&place));
        let all = list_handlers(&changed.text).unwrap();
        assert_eq!(all.iter().find(|h| h.place == place).unwrap().entry, longer);
        let back = replace_handler(&changed.text, &place, Some("Bash"), &entry("new")).unwrap();
        assert_eq!(back.text, edited.text);
    }
}

#[test]
fn another_matcher_moves_the_handler_alone() {
    let two = add(TEXTS[8], "b");
    let place = two.place.unwrap();
    let moved = replace_handler(&two.text, &place, Some("Edit"), &entry("b")).unwrap();
    let found = |text: &str| -> Vec<(Option<String>, Value)> {
        let all = list_handlers(text).unwrap();
        all.into_iter().map(|h| (h.matcher, h.entry)).collect()
    };
    assert_eq!(
        found(&moved.text),
        [
            (Some("Bash".to_owned()), entry("a")),
            (Some("Edit".to_owned()), entry("b"))
        ]
    );
    let all = replace_handler(&moved.text, &moved.place.unwrap(), None, &entry("c")).unwrap();
    assert_eq!(found(&all.text)[1], (None, entry("c")));
}

#[test]
fn a_handler_alone_in_its_group_stays_where_it_is() {
    let place = HandlerPlace {
        state: HandlerState::Enabled,
        event: "PreToolUse".to_owned(),
        group: 0,
        index: 0,
    };
    for text in [TEXTS[6], TEXTS[8]] {
        let replace = |text: &str, matcher| replace_handler(text, &place, matcher, &entry("a"));
        let edit = replace(text, Some("Edit")).unwrap();
        assert_eq!(edit.text, text.replace("Bash", "Edit"));
        let none = replace(text, None).unwrap();
        assert!(!none.text.contains("matcher"), "{}", none.text);
        let again = replace(&none.text, Some("Bash")).unwrap();
        let value = |text: &str| Document::parse(text).unwrap().value().clone();
        assert_eq!(value(&again.text), value(text));
        assert_eq!(replace(text, Some("Bash")).unwrap().text, text);
    }
}

#[test]
fn a_malformed_entry_replaces_nothing() {
    let edited = add("{}", "new");
    let wrong = json!({"type": "command"});
    let error = replace_handler(&edited.text, &edited.place.unwrap(), Some("Bash"), &wrong);
    assert!(matches!(error, Err(EditError::Malformed(_))), "{error:?}");
}
