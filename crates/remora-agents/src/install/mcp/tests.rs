//! Lists of servers in many styles, with ours added, changed and removed.

use super::*;

fn ours() -> McpServerEntry<'static> {
    McpServerEntry {
        program: Path::new("/opt/remora"),
    }
}

fn plan(text: &str) -> SettingsEdit {
    ours().plan(Some(text)).unwrap()
}

fn what(edited: &SettingsEdit) -> Option<ChangeKind> {
    edited.changes.first().map(|change| change.what)
}

#[test]
fn a_new_file() {
    let edited = ours().plan(None).unwrap();
    assert_eq!(
        edited.text,
        "{\n  \"mcpServers\": {\n    \"remora\": {\n      \"type\": \"stdio\",\n      \
         \"command\": \"/opt/remora\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"
    );
    assert_eq!(what(&edited), Some(ChangeKind::Added));
    assert_eq!(what(&plan(&edited.text)), None);
    let gone = ours().remove(&edited.text, &edited.kept).unwrap();
    assert_eq!(gone.text.trim(), "{}");
}

#[test]
fn everything_else_stays_to_the_byte() {
    for text in [
        "{}",
        "\u{feff}{ }\r\n",
        "{\"mcpServers\":{}}",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"z\": {\"command\": \"z\"},\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
        "{\n    \"other\": [1,  2],\n    \"mcpServers\": { \"x\": 1 }\n}",
        "{\"other\":1}\n",
        "{\n  \"mcpServers\": {\n  }\n}\n",
    ] {
        let edited = plan(text);
        assert_eq!(what(&edited), Some(ChangeKind::Added), "{text}");
        assert_eq!(
            find_server(&edited.text).unwrap().as_deref(),
            Some("/opt/remora")
        );
        assert_eq!(plan(&edited.text).text, edited.text, "{text}");
        let gone = ours().remove(&edited.text, &edited.kept).unwrap();
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().concat();
        assert_eq!(squeeze(&gone.text), squeeze(text));
        assert_eq!(find_server(&gone.text).unwrap(), None);
    }
    let edited = plan("{\"mcpServers\":{\"z\":{\"command\":\"z\"}}}");
    assert_eq!(
        edited.text,
        "{\"mcpServers\":{\"z\":{\"command\":\"z\"},\"remora\":{\"type\":\"stdio\",\
         \"command\":\"/opt/remora\",\"args\":[\"mcp\"]}}}"
    );
}

#[test]
fn an_old_entry_is_brought_up_to_date() {
    let old =
        r#"{"mcpServers":{"remora":{"env":{"A":"1"},"command":"/old/remora","args":["mcp"]}}}"#;
    let edited = plan(old);
    assert_eq!(what(&edited), Some(ChangeKind::Updated));
    assert_eq!(edited.text, old.replace("/old/", "/opt/"));
}

#[test]
fn what_is_not_ours_is_refused() {
    for (text, fault) in [
        (
            r#"{"mcpServers":{"remora":{"command":"fish","args":["mcp"]}}}"#,
            "`mcpServers.remora` is another server's: rename it, or leave ours out",
        ),
        (
            r#"{"mcpServers":{"remora":{"type":"http","url":"https://x.test"}}}"#,
            "`mcpServers.remora` is another server's: rename it, or leave ours out",
        ),
        (
            r#"{"mcpServers":[]}"#,
            "`mcpServers` must be an object, found a list",
        ),
        ("[]", "`the file` must be a JSON object, found a list"),
        (
            "{",
            "not valid JSON at line 1, column 2: expected a key in double quotes",
        ),
    ] {
        assert_eq!(ours().plan(Some(text)).unwrap_err().to_string(), fault);
        let removed = ours().remove(text, &PriorState::default());
        assert!(removed.is_err() || removed.unwrap().text == text);
        assert_eq!(is_name_taken(text), fault.contains("another server"));
    }
}
