//! From a word to its text: quotes removed, known variables filled in, the
//! output of commands replaced by a stand-in, or a refusal.

use super::scope::{
    OUTPUT_PLACEHOLDER, ShellScope, ShellValue, VARIABLE_PLACEHOLDER, is_everywhere,
};
use super::tree::{Block, QuotedPart, Redirect, Statement, Word, WordPart};
use super::walk::{WalkError, WalkResult, Walker};

/// Where a word is used: an assignment takes unknown values that an argument
/// does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordContext {
    Argument,
    Assignment,
    /// The words of a `for`.
    LoopWord,
    /// The text of a here-string.
    HereString,
}

impl Walker {
    /// The value of a word.
    pub(super) fn evaluate_word(
        &mut self,
        word: &Word,
        scope: &ShellScope,
        place: WordContext,
    ) -> WalkResult<ShellValue> {
        // A word of one part has more meanings than the same part inside a longer word: a
        // lone variable can still be judged by the command's name.
        if let [only] = word.parts.as_slice() {
            return self.single_part(only, scope, place);
        }
        if has_brace_expansion(&word.raw, true) {
            return Err(WalkError::Opaque("brace expansion"));
        }
        let mut text = String::new();
        let mut open = false;
        for part in &word.parts {
            let value = match part {
                WordPart::Variable(name) => self.variable_in_word(name, scope)?,
                WordPart::Substitution(_) if place == WordContext::Argument => {
                    // Unknown, not opaque: as an argument it leaves the
                    // command's name certain.
                    return Err(WalkError::Unknown("a command's output inside a word"));
                }
                WordPart::Substitution(_) => {
                    return Err(WalkError::Opaque("a command's output inside a word"));
                }
                other => self.single_part(other, scope, place)?,
            };
            text.push_str(&value.text);
            open |= value.open;
        }
        // An option with an unknown end may be any option.
        if open && place == WordContext::Argument && text.starts_with('-') {
            return Err(WalkError::Opaque("an option with an unknown value"));
        }
        Ok(ShellValue { text, open })
    }

    /// A word made of one part.
    fn single_part(
        &mut self,
        part: &WordPart,
        scope: &ShellScope,
        place: WordContext,
    ) -> WalkResult<ShellValue> {
        match part {
            WordPart::Plain(raw) => {
                if has_brace_expansion(raw, false) {
                    return Err(WalkError::Opaque("brace expansion"));
                }
                Ok(ShellValue::literal(remove_escapes(raw)))
            }
            WordPart::Single(text) => Ok(ShellValue::literal(text.clone())),
            WordPart::Double(inner) => {
                let value = self.double_quoted(inner, scope)?;
                // An option with an unknown end may be any option, but the command's name
                // is certain.
                if value.open && place == WordContext::Argument && value.text.starts_with('-') {
                    return Err(WalkError::Unknown("an option with an unknown value"));
                }
                Ok(value)
            }
            WordPart::Variable(name) if place == WordContext::Assignment => {
                if let Some(value) = scope.get(name) {
                    return Ok(value.clone());
                }
                if name == "HOME" {
                    return Ok(ShellValue::literal(self.home.clone()));
                }
                // Variables that every shell has, such as `PWD`, are set to something
                // harmless.
                if is_everywhere(name) {
                    return Ok(ShellValue::unknown());
                }
                Err(WalkError::Opaque("an unknown variable in an assignment"))
            }
            WordPart::Variable(name) => self.variable_in_word(name, scope),
            WordPart::Substitution(_)
                if matches!(place, WordContext::Argument | WordContext::HereString) =>
            {
                Err(WalkError::Unknown("a command's output as an argument"))
            }
            WordPart::Substitution(block) => {
                self.walk_substitution(block, scope)?;
                Ok(ShellValue {
                    text: OUTPUT_PLACEHOLDER.to_owned(),
                    open: true,
                })
            }
            WordPart::Arithmetic => Ok(ShellValue::unknown()),
        }
    }

    /// An unquoted variable: its value must be known, and one word.
    fn variable_in_word(&self, name: &str, scope: &ShellScope) -> WalkResult<ShellValue> {
        match scope.get(name) {
            // Unquoted, the shell would split it into words, so even the number of
            // arguments is open.
            Some(value) if value.open => Err(WalkError::Opaque("a variable of unknown value")),
            Some(value)
                if value.text.is_empty()
                    || value.text.contains([' ', '\t', '\n', '*', '?', '[']) =>
            {
                Err(WalkError::Opaque(
                    "an unquoted variable that the shell would split",
                ))
            }
            Some(value) => Ok(value.clone()),
            // The one variable whose value the client fills in.
            None if name == "HOME" => Ok(ShellValue::literal(self.home.clone())),
            None => Err(WalkError::Unknown("an unknown variable")),
        }
    }

    /// The inside of double quotes. Unknown pieces need company: at least two
    /// known characters, otherwise the word could be anything.
    fn double_quoted(
        &mut self,
        inner: &[QuotedPart],
        scope: &ShellScope,
    ) -> WalkResult<ShellValue> {
        let mut text = String::new();
        let mut known = 0_usize;
        let mut open = false;
        for part in inner {
            let piece = match part {
                QuotedPart::Text(raw) => ShellValue::literal(unescaped_in_quotes(raw)),
                QuotedPart::Dollar => ShellValue::literal("$"),
                QuotedPart::Variable(name) => match scope.get(name) {
                    Some(value) => value.clone(),
                    None if name == "HOME" => ShellValue::literal(self.home.clone()),
                    None if is_everywhere(name) => ShellValue::unknown(),
                    None => return Err(WalkError::Unknown("an unknown variable in quotes")),
                },
                QuotedPart::Arithmetic => ShellValue::unknown(),
                QuotedPart::Substitution { block, backticks } => {
                    if let Some(message) = message_text(block).filter(|_| !backticks) {
                        let message = message?;
                        // A long text stays out of the rebuilt command: patterns are meant
                        // for its words.
                        if message.contains('\n') {
                            if is_option(&message) {
                                return Err(WalkError::Opaque("a message that begins an option"));
                            }
                            known += 1;
                            text.push('\n');
                            text.push_str(OUTPUT_PLACEHOLDER);
                        } else {
                            // Counted in UTF-16 units, as the client does.
                            known += message.encode_utf16().count();
                            text.push_str(&message);
                        }
                        continue;
                    }
                    self.walk_substitution(block, scope)?;
                    ShellValue {
                        text: OUTPUT_PLACEHOLDER.to_owned(),
                        open: true,
                    }
                }
            };
            if piece.open {
                open = true;
            } else {
                known += piece.text.encode_utf16().count();
            }
            text.push_str(&piece.text);
        }
        if open && known < 2 {
            return Err(WalkError::Unknown("a quoted word of unknown content"));
        }
        let open = open || text.contains(OUTPUT_PLACEHOLDER) || text.contains(VARIABLE_PLACEHOLDER);
        Ok(ShellValue { text, open })
    }
}

/// `$(cat <<'END' ... END)` in double quotes is the usual way to pass a long
/// message: its text, when the block is exactly that.
fn message_text(block: &Block) -> Option<WalkResult<String>> {
    let [(Statement::Command(command), _)] = block.statements.as_slice() else {
        return None;
    };
    let [name] = command.words.as_slice() else {
        return None;
    };
    let [
        Redirect::HereDocument {
            text,
            tabs_removed: false,
        },
    ] = command.redirects.as_slice()
    else {
        return None;
    };
    if name.raw != "cat" || !command.assignments.is_empty() {
        return None;
    }
    if reads_environment(text) || calls_system(text) {
        return Some(Err(WalkError::Opaque("a message with dangerous content")));
    }
    Some(Ok(text.trim_end_matches('\n').to_owned()))
}

/// A text whose first line is an option.
fn is_option(message: &str) -> bool {
    message
        .strip_prefix('-')
        .is_some_and(|rest| !rest.starts_with('\n'))
}

/// `/proc/.../environ` anywhere.
fn reads_environment(text: &str) -> bool {
    text.find("/proc/")
        .is_some_and(|at| text[at..].contains("/environ"))
}

/// `system(` as a word of its own.
fn calls_system(text: &str) -> bool {
    text.match_indices("system").any(|(at, word)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].trim_start();
        after.starts_with('(') && before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

/// Does the text hold what may be a brace expansion: a `{`, later a comma or
/// two dots? In a word of several parts an expansion inside the braces counts
/// too.
fn has_brace_expansion(raw: &str, several: bool) -> bool {
    raw.split(char::is_whitespace).any(|chunk| {
        let Some((_, rest)) = chunk.split_once('{') else {
            return false;
        };
        let expands = |inside: &str| {
            let inside = inside.split('}').next().unwrap_or_default();
            several && inside.contains(['$', '`'])
        };
        rest.contains(',') || rest.contains("..") || rest.split('{').any(expands)
    })
}

/// Backslashes removed.
pub(super) fn remove_escapes(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.extend(chars.next());
        } else {
            out.push(c);
        }
    }
    out
}

/// Inside double quotes a backslash only escapes four characters.
fn unescaped_in_quotes(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && matches!(chars.peek(), Some('$' | '`' | '"' | '\\')) {
            out.extend(chars.next());
        } else {
            out.push(c);
        }
    }
    out
}
