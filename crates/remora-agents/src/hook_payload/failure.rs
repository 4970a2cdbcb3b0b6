//! A first look at a tool call that is over: whether it can be that of a command
//! that failed and exited with 0, as behind `| tail`, or that showed a file. Most
//! calls end here, so it costs a few thousand instructions, whatever the size of
//! the event.

/// Bytes at the beginning of an event among which the tool is named: clients
/// name it before its input.
const HEAD_BYTES: usize = 2048;
/// Bytes at the end of an event that are searched. Tools say last how it went.
const TAIL_BYTES: usize = 2048;
/// Programs that agents without a tool for it read files with.
const FILE_SHOWING_PROGRAMS: &[&str] = &["bat", "cat", "head", "nl", "sed", "tail"];

/// Whether an event may be a call of the tool that runs a shell, and report a
/// failure. Says yes too often; the readers of the output decide.
pub(crate) fn may_report_failure(event: &[u8], shell_tool: &str) -> bool {
    let head = &event[..event.len().min(HEAD_BYTES)];
    let tail = &event[event.len().saturating_sub(TAIL_BYTES)..];
    skip_tool_name(head, shell_tool).is_some() && speaks_of_failure(tail)
}

/// Whether an event may be a call of the tool that runs a shell, and show a file:
/// whether the command begins with a program that does. Says yes too often; the
/// reader of the command line decides.
pub(crate) fn may_show_file(event: &[u8], shell_tool: &str, command_field: &str) -> bool {
    let head = &event[..event.len().min(HEAD_BYTES)];
    let command = skip_tool_name(head, shell_tool).and_then(|rest| {
        let (_, value) = rest.split_once(command_field)?;
        value
            .strip_prefix('"')?
            .trim_start_matches([' ', ':'])
            .strip_prefix('"')
    });
    let program = command.and_then(|command| command.split_once(' '));
    program.is_some_and(|(program, _)| FILE_SHOWING_PROGRAMS.contains(&program))
}

/// What stands behind the name of the tool, if that is the event's.
fn skip_tool_name<'a>(head: &'a [u8], tool: &str) -> Option<&'a str> {
    const FIELD: &str = "\"tool_name\"";
    // The cut may be within a character.
    let end = std::str::from_utf8(head).map_or_else(|e| e.valid_up_to(), str::len);
    let text = std::str::from_utf8(&head[..end]).ok()?;
    let value = text.find(FIELD).map(|at| &text[at + FIELD.len()..])?;
    let value = value.trim_start_matches([' ', ':']).strip_prefix('"')?;
    value.strip_prefix(tool)?.strip_prefix('"')
}

/// Whether a text has a part of "fail", "error" or "fatal", in any case, or the
/// place of a Go compiler's message, which says no such word.
///
/// Every byte is compared, and none is a reason to stop: so the compiler does
/// many at once.
fn speaks_of_failure(text: &[u8]) -> bool {
    let (second, third) = match text {
        [_, second @ ..] if second.len() > 1 => (second, &second[1..]),
        _ => return false,
    };
    let mut nearest = u8::MAX;
    for ((a, b), c) in text.iter().zip(second).zip(third) {
        // Lower case, and no harm to a colon.
        let (a, b, c) = (a | 0x20, b | 0x20, c | 0x20);
        let differ = |x: u8, y: u8, z: u8| (a ^ x) | (b ^ y) | (c ^ z);
        nearest = nearest
            .min(differ(b'f', b'a', b'i'))
            .min(differ(b'f', b'a', b't'))
            .min(differ(b'r', b'r', b'o'))
            .min(differ(b'g', b'o', b':'));
    }
    nearest == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    fn may_report(event: &[u8]) -> bool {
        super::may_report_failure(event, "Bash")
    }

    fn event(tool: &str, printed: &str) -> String {
        // In the order of the client.
        format!(
            r#"{{"session_id":"s","cwd":"/kiln","hook_event_name":"PostToolUse","tool_name":{},"tool_input":{{"command":"make | tail"}},"tool_response":{{"stdout":{},"stderr":"","interrupted":false,"isImage":false}},"tool_use_id":"toolu_1"}}"#,
            json!(tool),
            json!(printed)
        )
    }

    #[test]
    fn only_a_shell_that_speaks_of_a_failure_is_looked_into() {
        let long = "melted another pot of glaze, and it is as it should be\n".repeat(400);
        for (tool, printed, expected) in [
            ("Bash", "--- FAIL: TestGlazeMelts (0.00s)\nFAIL", true),
            ("Bash", "error[E0308]: mismatched types", true),
            ("Bash", "TypeError: pot is undefined", true),
            (
                "Bash",
                "fatal: the current branch has no upstream branch",
                true,
            ),
            (
                "Bash",
                "# example.org/kiln\n./glaze.go:8:2: undefined: pot",
                true,
            ),
            ("Bash", &format!("{long}1 failed, 7 passed"), true),
            ("Bash", &long, false),
            ("Bash", "", false),
            ("Bash", "ok  \texample.org/kiln/glaze\t0.004s", false),
            ("Read", "error[E0308]: mismatched types", false),
            ("BashOutput", "error: no such pot", false),
        ] {
            assert_eq!(
                may_report(event(tool, printed).as_bytes()),
                expected,
                "{tool} {printed}"
            );
        }
    }

    #[test]
    fn only_a_shell_that_may_show_a_file_is_looked_into() {
        let event = |tool: &str, command: &str| {
            format!(
                r#"{{"hook_event_name":"PostToolUse","tool_name":"{tool}","tool_input":{{"command":{}}},"tool_response":"cat x"}}"#,
                json!(command)
            )
        };
        for (tool, command, expected) in [
            ("Bash", "cat src/a.rs", true),
            ("Bash", "sed -n '1,40p' src/a.rs", true),
            ("Bash", "nl -ba src/a.rs | head", true),
            ("Bash", "tail -n 5 a.rs", true),
            ("Bash", "catalogue src", false),
            ("Bash", "cat", false),
            ("Bash", "cargo test | tail -n 20", false),
            ("apply_patch", "cat src/a.rs", false),
        ] {
            let event = event(tool, command);
            assert_eq!(
                super::may_show_file(event.as_bytes(), "Bash", "command"),
                expected,
                "{tool} {command}"
            );
        }
        for bytes in ["", "{}", r#"{"tool_name": "Bash", "command""#] {
            assert!(!super::may_show_file(bytes.as_bytes(), "Bash", "command"));
        }
        let spaced = r#"{"tool_name" : "Bash", "tool_input": {"command" : "cat a"}}"#;
        assert!(super::may_show_file(spaced.as_bytes(), "Bash", "command"));
    }

    #[test]
    fn any_bytes_are_looked_at_without_harm() {
        let spaced = r#"{"tool_name" : "Bash", "tool_response": "an error"}"#;
        assert!(may_report(spaced.as_bytes()));
        for bytes in ["", "{", "{}", "\"tool_name\"", "\"tool_name\":\"Bash"] {
            assert!(!may_report(bytes.as_bytes()), "{bytes}");
        }
        // A character that the end of the head cuts.
        let cut = format!("{}{}", r#"{"tool_name":"Bash","x":""#, "é".repeat(3000));
        assert!(!may_report(cut.as_bytes()));
        let cut = format!("{cut} error");
        assert!(may_report(cut.as_bytes()));
    }
}
