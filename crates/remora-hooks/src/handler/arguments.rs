//! Fills the event into the text of a prompt or agent handler, as the client
//! fills arguments into a command's text.

/// What stands for the whole event.
const WHOLE: &str = "$ARGUMENTS";

/// The text with the event in it. Where nothing is filled in, the event comes at
/// the end, so that no handler asks about nothing.
pub(super) fn fill_arguments(template: &str, event: &str) -> String {
    let mut out = String::with_capacity(template.len() + event.len());
    let mut is_filled = false;
    let mut rest = template;
    // One pass: what is filled in is not looked at again.
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let is_escaped = before.ends_with('\\');
        if let Some(after) = from.strip_prefix(WHOLE) {
            if is_escaped {
                out.push_str(&before[..before.len() - 1]);
                out.push_str(WHOLE);
                rest = after;
                continue;
            }
            out.push_str(before);
            is_filled = true;
            if let Some(after) = after.strip_prefix("[0]") {
                out.push_str(&first_word(event));
                rest = after;
            } else {
                out.push_str(event);
                rest = after;
            }
        } else if let Some(after) = strip_zero(from).filter(|_| !is_escaped) {
            out.push_str(before);
            out.push_str(&first_word(event));
            is_filled = true;
            rest = after;
        } else {
            out.push_str(before);
            out.push('$');
            rest = &from[1..];
        }
    }
    out.push_str(rest);
    if !is_filled {
        out.push_str("\n\nARGUMENTS: ");
        out.push_str(event);
    }
    out
}

/// `$0`, and not the beginning of a longer number or name.
fn strip_zero(text: &str) -> Option<&str> {
    let after = text.strip_prefix("$0")?;
    let goes_on = after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    (!goes_on).then_some(after)
}

/// The first word of the event's JSON as the client's reader of shell words takes
/// it: quotes and backslashes go, except that quotes stay from a brace to the next
/// closing one.
fn first_word(json: &str) -> String {
    let mut word = String::with_capacity(json.len());
    let mut is_braced = false;
    let mut is_quoted = false;
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.extend(chars.next()),
            '{' if !is_quoted => {
                is_braced = true;
                word.push(c);
            }
            '}' if !is_quoted => {
                is_braced = false;
                word.push(c);
            }
            '"' if !is_braced => is_quoted = !is_quoted,
            c if c.is_whitespace() && !is_quoted && !is_braced => break,
            c => word.push(c),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_is_filled_in_as_the_client_does() {
        let event = r#"{"a":"$ARGUMENTS $0"}"#;
        for (template, expected) in [
            ("x $ARGUMENTS y", format!("x {event} y")),
            ("$ARGUMENTS$ARGUMENTS", format!("{event}{event}")),
            ("x$ARGUMENTSy", format!("x{event}y")),
            (r"\$ARGUMENTS", format!("$ARGUMENTS\n\nARGUMENTS: {event}")),
            (r"\$ARGUMENTS $ARGUMENTS", format!("$ARGUMENTS {event}")),
            ("a", format!("a\n\nARGUMENTS: {event}")),
            ("", format!("\n\nARGUMENTS: {event}")),
            (
                "$1 $& ${ARGUMENTS} $arguments ${x} $HOME $",
                format!("$1 $& ${{ARGUMENTS}} $arguments ${{x}} $HOME $\n\nARGUMENTS: {event}"),
            ),
            ("$05 $0x", format!("$05 $0x\n\nARGUMENTS: {event}")),
            ("$0|$ARGUMENTS[0]", format!("{event}|{event}")),
        ] {
            assert_eq!(fill_arguments(template, event), expected, "{template}");
        }
    }

    #[test]
    fn the_first_word_loses_quotes_outside_braces() {
        assert_eq!(
            first_word(r#"{"e":{"l":"m"},"n":"a b","i":{"c":"O\n"},"t":"x"}"#),
            r#"{"e":{"l":"m"},n:a b,i:{"c":"On"},t:x}"#
        );
    }
}
