use super::*;

#[test]
fn the_table_has_33_events_in_enum_order() {
    assert_eq!(EVENTS.len(), 33);
    for (i, def) in EVENTS.iter().enumerate() {
        assert_eq!(def.name as usize, i);
        assert_eq!(EventName::parse(def.text), Some(def.name));
        assert!(!def.doc.is_empty(), "{} has no line for people", def.text);
    }
}

#[test]
fn a_missing_name_is_filled_in_and_a_wrong_one_is_explained() {
    let event = Event::decode(b"{\"prompt\":\"x\"}", Some(EventName::UserPromptSubmit)).unwrap();
    assert_eq!(event.str_field("hook_event_name"), Some("UserPromptSubmit"));
    let error = Event::decode(b"{\"hook_event_name\":\"pretooluse\"}", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown event `pretooluse`; did you mean `PreToolUse`?"
    );
    assert!(
        Event::decode(b"{}", None)
            .unwrap_err()
            .to_string()
            .contains("--event NAME")
    );
    assert!(
        Event::decode(b"[]", None)
            .unwrap_err()
            .to_string()
            .contains("found a list")
    );
}

#[test]
fn the_query_of_a_file_event_is_the_base_name() {
    let json = br#"{"hook_event_name":"FileChanged","file_path":"/a/b/c.txt","event":"change"}"#;
    assert_eq!(
        Event::decode(json, None).unwrap().subject_text(),
        Some("c.txt")
    );
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_are_an_error_at_most(bytes: Vec<u8>, text in ".{0,80}") {
        let _ = Event::decode(&bytes, None);
        let _ = Event::decode(text.as_bytes(), Some(EventName::Stop));
        let wrapped = format!("{{\"hook_event_name\":{text:?}}}");
        let _ = Event::decode(wrapped.as_bytes(), None);
    }
}
