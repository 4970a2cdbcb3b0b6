//! Words for what changed inside a function or under a key.

use super::cut::one_line;
use super::story::{ChangedValue, LineGroup};
use super::tokens::{self, TokenKind, TokenSwap};
use crate::symbols::{FilePurpose, Language, SymbolKind};

/// Characters of code quoted in a sentence.
const MAX_QUOTE_CHARS: usize = 60;
const MAX_VALUE_CHARS: usize = 32;

/// What a change inside a group comes to.
#[derive(Debug, Default)]
pub(super) struct GroupDetails {
    /// A case that is handled now: `None`, `ValueError`, errors.
    pub(super) handled: Option<String>,
    pub(super) lines: Vec<String>,
    /// A comparison or condition was turned.
    pub(super) condition: bool,
    /// Nothing but blanks changed.
    pub(super) formatting: bool,
}

pub(super) fn of_group(language: Language, group: &LineGroup<'_>) -> GroupDetails {
    if language.file_purpose() != FilePurpose::Code && language.file_purpose() != FilePurpose::Data
    {
        return describe_prose(group);
    }
    let mut details = GroupDetails {
        handled: find_handled_case(language, group),
        ..GroupDetails::default()
    };
    // Formatting only, until one pair differs in more than blanks.
    let mut blank = !group.pairs.is_empty() || group.reflowed;
    for (old, new) in &group.pairs {
        if squeeze_code(old) == squeeze_code(new) {
            continue;
        }
        blank = false;
        details.condition |= is_condition(old, new);
        details.lines.push(describe_pair(old, new));
    }
    let added: Vec<&str> = group
        .come
        .iter()
        .copied()
        .filter(|l| says_something(l))
        .collect();
    let removed: Vec<&str> = group
        .gone
        .iter()
        .copied()
        .filter(|l| says_something(l))
        .collect();
    let mut fresh = added.as_slice();
    let mut lost = removed.as_slice();
    if let (Some((old, _)), Some((new, rest))) = (lost.split_first(), fresh.split_first()) {
        details.lines.push(format_replacement(old, new));
        fresh = rest;
        // The first removed line stands for all of them: the new code says what
        // holds now.
        lost = &[];
    }
    details.lines.extend(
        fresh
            .iter()
            .map(|l| format!("added `{}`", format_code(l, MAX_QUOTE_CHARS))),
    );
    details.lines.extend(
        lost.iter()
            .map(|l| format!("removed `{}`", format_code(l, MAX_QUOTE_CHARS))),
    );
    details.formatting = blank && details.lines.is_empty();
    details
}

/// Prose is described by its new words, not by what was swapped.
fn describe_prose(group: &LineGroup<'_>) -> GroupDetails {
    let new = group.pairs.iter().map(|(_, new)| new).chain(&group.come);
    let mut lines: Vec<String> = new
        .filter(|l| says_something(l))
        .map(|l| one_line(l, 100))
        .collect();
    if lines.is_empty() {
        let gone = group.gone.iter().filter(|l| says_something(l));
        lines.extend(gone.map(|l| format!("removed \"{}\"", one_line(l, 90))));
    }
    GroupDetails {
        lines,
        ..GroupDetails::default()
    }
}

/// Code without blanks, and without the commas and quotes that formatters
/// choose.
pub(super) fn squeeze_code(code: &str) -> String {
    let mut bare = String::with_capacity(code.len());
    for c in code.chars().filter(|c| !c.is_whitespace()) {
        if matches!(c, ')' | ']' | '}') && bare.ends_with(',') {
            bare.pop();
        }
        bare.push(if c == '\'' { '"' } else { c });
    }
    if bare.ends_with(',') {
        bare.pop();
    }
    bare
}

/// A line with nothing but brackets and filler says nothing.
fn says_something(line: &str) -> bool {
    let word = line.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    !word.is_empty()
        && !matches!(
            word,
            "else"
                | "end"
                | "pass"
                | "return"
                | "try"
                | "break"
                | "continue"
                | "do"
                | "then"
                | "fi"
                | "done"
        )
}

/// Code on one line, without what opens or ends a block.
pub(super) fn format_code(line: &str, cap: usize) -> String {
    let line = line
        .trim()
        .trim_start_matches("} ")
        .trim_end_matches(['{', ';', ','])
        .trim_end();
    let line = line
        .strip_suffix("=>")
        .or_else(|| line.strip_suffix(':'))
        .unwrap_or(line)
        .trim_end();
    one_line(&line.replace('`', "'"), cap)
}

/// One piece of code put in place of another.
fn format_replacement(old: &str, new: &str) -> String {
    let (old, new) = (
        format_code(old, MAX_QUOTE_CHARS),
        format_code(new, MAX_QUOTE_CHARS),
    );
    match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("now `{new}`"),
        (false, true) => format!("dropped `{old}`"),
        (false, false) => format!("`{old}` -> `{new}`"),
    }
}

pub(super) fn describe_pair(old: &str, new: &str) -> String {
    let Some(swap) = tokens::find_swap(old, new) else {
        return format!("now `{}`", format_code(new, MAX_QUOTE_CHARS));
    };
    describe_swap(&swap).unwrap_or_else(|| {
        let from = tokens::common_lead(old, new);
        format_replacement(&old[from..], &new[from..])
    })
}

fn describe_swap(swap: &TokenSwap<'_>) -> Option<String> {
    let (old, new) = (
        one_line(swap.before, MAX_VALUE_CHARS),
        one_line(swap.after, MAX_VALUE_CHARS),
    );
    let label = swap.label.map(|l| format!("{l} ")).unwrap_or_default();
    let short = swap.before.len() <= MAX_QUOTE_CHARS && swap.after.len() <= MAX_QUOTE_CHARS;
    match swap.sort {
        TokenKind::Number | TokenKind::Text => Some(format!("{label}{old} -> {new}")),
        TokenKind::Word if swap.called => Some(format!("calls `{new}` instead of `{old}`")),
        TokenKind::Word if is_value(swap.before) && is_value(swap.after) => {
            Some(format!("{label}{old} -> {new}"))
        }
        TokenKind::Word | TokenKind::Mark => Some(format!("`{old}` -> `{new}`")),
        TokenKind::Several if swap.before.is_empty() && is_whole(swap.after) => Some(format!(
            "added `{}`",
            format_code(trim_ends(swap.after), MAX_QUOTE_CHARS)
        )),
        TokenKind::Several if swap.after.is_empty() && is_whole(swap.before) => Some(format!(
            "dropped `{}`",
            format_code(trim_ends(swap.before), MAX_QUOTE_CHARS)
        )),
        TokenKind::Several if short && is_whole(swap.before) && is_whole(swap.after) => {
            Some(format!(
                "`{}` -> `{}`",
                format_code(swap.before, MAX_QUOTE_CHARS),
                format_code(swap.after, MAX_QUOTE_CHARS)
            ))
        }
        TokenKind::Several => None,
    }
}

/// Without the comma that an inserted argument brings along.
fn trim_ends(text: &str) -> &str {
    text.trim()
        .trim_start_matches([',', '.'])
        .trim_end_matches([',', '.'])
        .trim()
}

fn is_value(word: &str) -> bool {
    matches!(
        word.to_ascii_lowercase().as_str(),
        "true" | "false" | "none" | "null" | "nil" | "yes" | "no" | "on" | "off"
    ) || word
        .chars()
        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether brackets are in balance, so that the piece can stand alone.
fn is_whole(text: &str) -> bool {
    let count = |c: char| text.matches(c).count();
    count('(') == count(')')
        && count('[') == count(']')
        && count('{') == count('}')
        && count('"') % 2 == 0
}

fn is_condition(old: &str, new: &str) -> bool {
    const COMPARISON_OPERATORS: &[&str] = &[
        "<", ">", "<=", ">=", "==", "!=", "===", "!==", "&&", "||", "and", "or", "!", "+", "-",
    ];
    tokens::find_swap(old, new).is_some_and(|s| {
        COMPARISON_OPERATORS.contains(&s.before) && COMPARISON_OPERATORS.contains(&s.after)
            || (matches!(s.before, "" | "!" | "not") && matches!(s.after, "" | "!" | "not"))
            || (old.starts_with("if ") && s.sort == TokenKind::Several && s.before.is_empty())
    })
}

/// How a value was changed, for the end of a title.
pub(super) fn describe_value(change: &ChangedValue<'_>) -> String {
    let whole = || {
        let (old, new) = (
            value_of(change.symbol.kind, change.old),
            value_of(change.symbol.kind, change.new),
        );
        format!("{} -> {}", format_value(old), format_value(new))
    };
    match tokens::find_swap(change.old, change.new) {
        Some(swap)
            if matches!(swap.sort, TokenKind::Number | TokenKind::Text)
                && is_only(change, swap.before) =>
        {
            format!(
                "{} -> {}",
                one_line(swap.before, MAX_VALUE_CHARS),
                one_line(swap.after, MAX_VALUE_CHARS)
            )
        }
        Some(swap) if swap.before.is_empty() && !is_only(change, "") => {
            format!(
                "added `{}`",
                format_code(trim_ends(swap.after), MAX_QUOTE_CHARS)
            )
        }
        Some(swap)
            if swap.after.is_empty() && !value_of(change.symbol.kind, change.new).is_empty() =>
        {
            format!(
                "dropped `{}`",
                format_code(trim_ends(swap.before), MAX_QUOTE_CHARS)
            )
        }
        _ => whole(),
    }
}

fn is_only(change: &ChangedValue<'_>, part: &str) -> bool {
    value_of(change.symbol.kind, change.old).trim_matches(['"', '\''])
        == part.trim_matches(['"', '\''])
}

fn format_value(value: &str) -> String {
    if value.is_empty() {
        "nothing".to_owned()
    } else {
        one_line(value, MAX_VALUE_CHARS)
    }
}

/// The value after the name on a line.
pub(super) fn value_of(kind: SymbolKind, line: &str) -> &str {
    let line = line.trim().trim_end_matches([',', ';']).trim_end();
    let value = match kind {
        SymbolKind::Column => line.split_once(' ').map(|(_, v)| v),
        SymbolKind::Macro => line.splitn(3, ' ').nth(2),
        SymbolKind::Stage => line.split_whitespace().nth(1),
        _ => line
            .find('=')
            // An equals sign inside a string, a call or an object is not the
            // one that assigns.
            .filter(|at| {
                !line[..*at].contains(['"', '\'', '(', '{'])
                    || line.starts_with('"') && line[..*at].ends_with("\" ")
            })
            .or_else(|| line.find(": ").or_else(|| line.find(':')))
            .map(|at| &line[at + 1..]),
    };
    let value = value.unwrap_or("").trim();
    if matches!(value, "{" | "[" | "(" | "|" | ">" | "|-") {
        ""
    } else {
        value
    }
}

/// The case that the added lines handle and the removed ones did not.
fn find_handled_case(language: Language, group: &LineGroup<'_>) -> Option<String> {
    // A rewrite of many lines is more than a guard, and a test guards nothing.
    let test = group
        .symbol
        .as_ref()
        .is_some_and(|s| s.kind == SymbolKind::Test);
    if group.come.len() > 12 || test {
        return None;
    }
    let new = group.come.iter().chain(group.pairs.iter().map(|(_, n)| n));
    let old: Vec<String> = group
        .gone
        .iter()
        .chain(group.pairs.iter().map(|(o, _)| o))
        .filter_map(|l| find_guarded_case(language, l))
        .collect();
    for line in new {
        if let Some(case) = find_guarded_case(language, line)
            && !old.contains(&case)
        {
            return Some(case);
        }
    }
    // An unwrap that became `?` handles the error by passing it on.
    let unwraps = |l: &str| l.contains(".unwrap()") || l.contains(".expect(");
    let mended = |(o, n): &(&str, &str)| unwraps(o) && !unwraps(n) && n.contains('?');
    group.pairs.iter().any(mended).then(|| "errors".to_owned())
}

/// What a guard asks for in a condition, and the case it stands for.
const CONDITION_CASES: &[(&str, &str)] = &[
    ("null", "null"),
    ("NULL", "null"),
    ("undefined", "undefined"),
    ("== nil", "nil"),
    ("!= nil", "nil"),
    (".nil?", "nil"),
    ("guard let ", "nil"),
    (".is_empty()", "the empty case"),
    (".isEmpty()", "the empty case"),
    (".empty()", "the empty case"),
    (".empty?", "the empty case"),
    ("length === 0", "the empty case"),
    ("length == 0", "the empty case"),
    (") == 0", "the empty case"),
    ("== 0 ", "zero"),
    ("== 0:", "zero"),
    ("== 0)", "zero"),
];

/// What handles a case wherever it occurs.
const GENERAL_CASES: &[(&str, &str)] = &[
    ("if err != nil", "errors"),
    ("if let Err(", "errors"),
    ("map_err(", "errors"),
    (".catch(", "errors"),
    ("catch {", "errors"),
    ("except:", "errors"),
    ("is None", "None"),
    ("is not None", "None"),
    ("== None", "None"),
    ("None =>", "None"),
    ("unwrap_or", "None"),
    ("ok_or", "None"),
    (".is_none()", "None"),
];

fn find_guarded_case(language: Language, line: &str) -> Option<String> {
    if let Some(caught) = find_caught_exception(line) {
        return Some(caught);
    }
    let said = |table: &[(&str, &str)]| {
        table
            .iter()
            .find(|(n, _)| line.contains(n))
            .map(|(_, case)| (*case).to_owned())
    };
    if line.starts_with("Err(") && line.contains("=>") {
        return Some("errors".to_owned());
    }
    if line.contains("let Some(") && line.ends_with("else {") {
        return Some("None".to_owned());
    }
    if let found @ Some(_) = said(GENERAL_CASES) {
        return found;
    }
    // Elsewhere these signs mean something else, such as Rust's `?` or a C
    // conditional.
    let chains = matches!(
        language,
        Language::Script | Language::Kotlin | Language::Swift | Language::CSharp | Language::Java
    );
    if chains && [" ?? ", " ?: ", "?."].iter().any(|n| line.contains(n)) {
        return Some("null".to_owned());
    }
    if language == Language::Python && line.starts_with("if not ") {
        return Some("missing values".to_owned());
    }
    let asks = [
        "if ",
        "if(",
        "} else if",
        "elif ",
        "guard ",
        "unless ",
        "while ",
    ]
    .iter()
    .any(|w| line.starts_with(w))
        || line.contains(" if ")
        || line.contains(" ? ");
    if asks { said(CONDITION_CASES) } else { None }
}

/// The exception that a line catches.
fn find_caught_exception(line: &str) -> Option<String> {
    let rest = ["except ", "} catch (", "catch (", "rescue "]
        .iter()
        .find_map(|start| line.strip_prefix(start))?;
    let name: String = rest
        .trim_start_matches('(')
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '\\'))
        .collect();
    let typed = name.starts_with(char::is_uppercase) || name.contains('.');
    // `catch (e)` names a variable, not an exception.
    Some(if typed { name } else { "errors".to_owned() })
}
