use super::*;

fn kept(json: &str) -> (Settings, Vec<String>) {
    match read(json, Strictness::Settings) {
        Read::Kept(settings, warnings) => (settings, warnings),
        Read::Void(reason) => panic!("void: {reason}"),
    }
}

#[test]
fn a_bad_entry_under_a_permission_event_voids_the_file_and_elsewhere_only_itself() {
    let bad =
        r#"{"hooks":{"EVENT":[{"hooks":[{"type":"nope"},{"type":"command","command":"x"}]}]}}"#;
    match read(&bad.replace("EVENT", "PreToolUse"), Strictness::Settings) {
        Read::Void(reason) => assert!(
            reason.starts_with("`hooks.PreToolUse[0].hooks[0].type`: `nope`"),
            "{reason}"
        ),
        Read::Kept(..) => panic!("kept"),
    }
    let (settings, warnings) = kept(&bad.replace("EVENT", "PostToolUse"));
    assert_eq!(settings.groups[0].handlers.len(), 1);
    assert_eq!(settings.groups[0].handlers[0].0, 1);
    assert_eq!(warnings.len(), 1);
}

#[test]
fn unknown_events_and_keys_are_no_errors() {
    let (settings, warnings) = kept(r#"{"new":1,"hooks":{"pretooluse":7,"Stop":null}}"#);
    assert!(settings.groups.is_empty());
    assert_eq!(warnings.len(), 2);
}

#[test]
fn a_wrong_switch_voids_a_user_file_but_not_the_managed_one() {
    let text = r#"{"disableAllHooks":"yes"}"#;
    assert!(matches!(read(text, Strictness::Settings), Read::Void(_)));
    assert!(matches!(read(text, Strictness::Managed), Read::Kept(..)));
}
