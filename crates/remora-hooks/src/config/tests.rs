use super::*;

fn kept(json: &str) -> (Settings, Vec<String>) {
    match parse_settings(json, Strictness::Settings) {
        Ok((settings, warnings)) => (settings, warnings),
        Err(reason) => panic!("void: {reason}"),
    }
}

#[test]
fn a_bad_entry_under_a_permission_event_voids_the_file_and_elsewhere_only_itself() {
    let bad =
        r#"{"hooks":{"EVENT":[{"hooks":[{"type":"nope"},{"type":"command","command":"x"}]}]}}"#;
    match parse_settings(&bad.replace("EVENT", "PreToolUse"), Strictness::Settings) {
        Err(reason) => assert!(
            reason.starts_with("`hooks.PreToolUse[0].hooks[0].type`: `nope`"),
            "{reason}"
        ),
        Ok(_) => panic!("kept"),
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
    assert_eq!(warnings.len(), 1);
}

#[test]
fn a_wrong_switch_voids_a_user_file_but_not_the_managed_one() {
    let text = r#"{"disableAllHooks":"yes"}"#;
    assert!(parse_settings(text, Strictness::Settings).is_err());
    assert!(parse_settings(text, Strictness::Managed).is_ok());
}

/// Documents of which the client kept or dropped the good handler.
#[test]
fn documents_stand_or_fall_as_with_the_client() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../../cases/malformed.json")).unwrap();
    let mut wrong = Vec::new();
    for row in rows {
        let kept = match parse_settings(&row["settings"].to_string(), Strictness::Settings) {
            Err(_) => false,
            Ok((settings, _)) => {
                let labels = settings
                    .groups
                    .iter()
                    .flat_map(|g| &g.handlers)
                    .map(|(_, h)| h.kind.label());
                labels.into_iter().any(|l| l == "good")
            }
        };
        if row["kept"] != kept {
            wrong.push(format!(
                "client kept: {}, engine: {kept}: {}",
                row["kept"], row["settings"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
