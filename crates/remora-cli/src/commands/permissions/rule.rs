//! The rule that a call suggests: for a command that is known to be harmless its
//! first words, for files their folder, else the very call. What can destroy, or
//! can run anything, is not to be allowed by a rule. Pure; whether a rule really
//! covers a call is the engine's to say.

use remora_hooks::RuleSubject;

use super::programs::{
    HARMLESS_COMMANDS, HARMLESS_MODULES, NESTED_VERBS, RISKY_NESTED_WORDS, RISKY_VERBS,
    RISKY_WORDS, UNBOUNDED_PROGRAMS,
};
use crate::output::is_unseen;

/// A rule that a call suggests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SuggestedRule {
    /// May cover calls that are like it.
    pub(super) rule: String,
    /// Covers this call and no other; `None` where a rule cannot say it.
    pub(super) exact: Option<String>,
    /// Why it is not to be allowed by a rule; a deny rule does no harm.
    pub(super) risk: Option<String>,
}

const NO_RULE_FITS: &str = "no rule fits it";

/// How every mark of a redacted secret begins.
const REDACTION_MARK_PREFIX: &str = "[redacted:";

/// The tool of a call, and the text in its brackets.
pub(super) fn split_call(call: &str) -> (&str, Option<&str>) {
    match call.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (call, None),
    }
}

/// The rule for a call as the event log has it, or why there is none.
pub(super) fn suggest_rule(call: &str) -> Result<SuggestedRule, &'static str> {
    if call.chars().any(is_unseen) {
        return Err("it holds characters that cannot be seen");
    }
    if call.contains(REDACTION_MARK_PREFIX) {
        return Err("a secret stood in it");
    }
    let (tool, text) = split_call(call);
    let whole = || SuggestedRule {
        rule: call.to_owned(),
        exact: Some(call.to_owned()),
        risk: None,
    };
    let subject = RuleSubject::of_tool(tool);
    let suggestion = match (subject, text) {
        (_, Some(text)) if text.ends_with('…') => return Err("it is too long to be held whole"),
        (RuleSubject::Command, Some(text)) => suggest_command_rule(text)?,
        (RuleSubject::EditedFile | RuleSubject::ReadFile, Some(path)) => suggest_file_rule(path)?,
        (RuleSubject::Named, Some(text)) if !text.contains('*') => return Ok(whole()),
        (RuleSubject::WholeTool, None) => return Ok(whole()),
        (RuleSubject::Question, None) => return Err("the tool is there to ask"),
        (_, None) => return Err("what it was about is not known"),
        _ => return Err(NO_RULE_FITS),
    };
    let write_rule = |pattern: String| subject.write_rule(&pattern).ok_or(NO_RULE_FITS);
    Ok(SuggestedRule {
        rule: write_rule(suggestion.pattern)?,
        exact: suggestion.exact.map(write_rule).transpose()?,
        risk: suggestion.risk,
    })
}

/// The patterns of a rule, before they are written for a tool.
struct SuggestedPattern {
    pattern: String,
    exact: Option<String>,
    risk: Option<String>,
}

fn suggest_command_rule(text: &str) -> Result<SuggestedPattern, &'static str> {
    if text.contains('⏎') {
        return Err("it has several lines");
    }
    let words: Vec<&str> = text.split(' ').take_while(|word| is_plain(word)).collect();
    // In a rule a star matches anything.
    let exact = (!text.contains('*')).then(|| text.to_owned());
    let only = |risk: Option<String>| match exact.clone() {
        Some(pattern) => Ok(SuggestedPattern {
            pattern,
            exact: exact.clone(),
            risk,
        }),
        None => Err("it holds a `*`, which would widen the rule"),
    };
    if text.contains(is_operator) {
        return only(Some("it holds operators of the shell".to_owned()));
    }
    let Some(first) = words.first() else {
        return Err("its first word is not a plain name");
    };
    if let Some(risk) = find_risk(text, first, &words) {
        return only(Some(risk));
    }
    match count_harmless_words(&words) {
        Some(count) => Ok(SuggestedPattern {
            pattern: format!("{}:*", words[..count].join(" ")),
            exact,
            risk: None,
        }),
        None => only(None),
    }
}

/// What joins commands, sends them elsewhere or puts one into another. Not told
/// from the same character in quotes: a rule less does no harm.
fn is_operator(c: char) -> bool {
    matches!(c, ';' | '|' | '&' | '<' | '>' | '$' | '`')
}

/// Why a command is not to be allowed by a rule.
fn find_risk(text: &str, first: &str, words: &[&str]) -> Option<String> {
    let (name, verb) = (program_name(first), verb_at(words, 1));
    if is_module(words) {
        return None;
    }
    if first.contains('=')
        || name.is_empty()
        || UNBOUNDED_PROGRAMS.contains(&name)
        || name.starts_with("mkfs")
    {
        return Some(format!("`{first}` can run or change anything"));
    }
    let parts = text.split(|c: char| !c.is_alphanumeric());
    if let Some(grave) = parts.into_iter().find(|part| RISKY_WORDS.contains(part)) {
        return Some(format!("`{grave}` can destroy or publish"));
    }
    let (_, risky) = RISKY_VERBS.iter().find(|(program, _)| *program == name)?;
    let Some(verb) = verb else {
        return Some(format!("`{first}` alone can do too much"));
    };
    if risky.contains(&verb) {
        return Some(format!("`{first} {verb}` can destroy or run anything"));
    }
    if !NESTED_VERBS.contains(&(name, verb)) {
        return None;
    }
    match verb_at(words, 2) {
        Some(inner)
            if !UNBOUNDED_PROGRAMS.contains(&program_name(inner))
                && !RISKY_NESTED_WORDS.contains(&inner) =>
        {
            None
        }
        _ => Some(format!("`{first} {verb}` can run anything")),
    }
}

/// How many words of a command are known to be harmless whatever follows.
fn count_harmless_words(words: &[&str]) -> Option<usize> {
    if is_module(words) {
        return Some(3);
    }
    (1..=words.len().min(3)).find(|count| HARMLESS_COMMANDS.contains(&&*words[..*count].join(" ")))
}

/// An interpreter that runs a module which only looks at a project.
fn is_module(words: &[&str]) -> bool {
    let [python, "-m", module, ..] = words else {
        return false;
    };
    !python.contains('/') && program_name(python) == "python" && HARMLESS_MODULES.contains(module)
}

/// The name of a program, without its folder and version.
fn program_name(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn verb_at<'a>(words: &[&'a str], at: usize) -> Option<&'a str> {
    words.get(at).copied().filter(|word| is_verb(word))
}

/// A word that a shell takes as it is.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

fn is_verb(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-:".contains(c))
}

/// `/src/**`: the leading slash is the project's root.
fn suggest_file_rule(path: &str) -> Result<SuggestedPattern, &'static str> {
    let odd = |c: char| "*?[]!#\\~(){}".contains(c);
    if path.contains(odd) || path.ends_with(' ') || path.split('/').any(|part| part == "..") {
        return Err("its name holds characters that mean something in a rule");
    }
    let exact = format!("/{path}");
    let risk = if path.starts_with('/') {
        Some("it lies outside the project")
    } else if path.split('/').any(|part| part.starts_with('.')) {
        Some("hidden files hold settings and secrets")
    } else {
        None
    };
    let pattern = match path.rsplit_once('/') {
        Some((folder, _)) if risk.is_none() => format!("/{folder}/**"),
        _ => exact.clone(),
    };
    Ok(SuggestedPattern {
        pattern,
        exact: Some(exact),
        risk: risk.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests;
