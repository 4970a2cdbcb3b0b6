//! What one line declares, per language. A row of keywords or a small function
//! each; a line is judged alone.

use std::borrow::Cow;

use super::lexing::{after, indent, last_word, past, quoted, skip, word};
use super::{Language, SymbolKind, classes, data};

/// A declaration found on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration<'a> {
    /// Without its containers.
    pub(crate) name: Cow<'a, str>,
    pub(crate) kind: SymbolKind,
    /// What stands deeper belongs to it.
    pub(crate) depth: usize,
}

/// How a line stands to what is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placing {
    /// Ends whatever is as deep or deeper.
    Normal,
    /// Belongs to what is as deep: a closing bracket, an `else`, a label.
    Continues,
    /// Says nothing: a comment, a directive.
    Ignored,
}

pub(crate) type Found<'a> = Option<(Cow<'a, str>, SymbolKind)>;

/// How deep a line stands.
pub(crate) fn placing(language: Language, line: &str) -> (usize, Placing) {
    let trimmed = line.trim();
    let depth = data::depth(language, line, trimmed);
    if language != Language::Markdown && language.is_comment(trimmed) {
        return (depth, Placing::Ignored);
    }
    let directive = language == Language::C && trimmed.starts_with('#');
    if directive && !trimmed.starts_with("#define") {
        return (depth, Placing::Ignored);
    }
    let first = trimmed.bytes().next().unwrap_or(b' ');
    let goes_on = match first {
        b')' | b'}' | b']' | b'{' => true,
        b'[' | b'@' | b'#' => is_mark(language, trimmed),
        b'w' => language == Language::Rust && after(trimmed, "where").is_some(),
        b'c' | b'd' | b'p' => {
            trimmed.ends_with(':')
                && !matches!(language, Language::Python | Language::Yaml | Language::Make)
                && ["case", "default", "public", "private", "protected"]
                    .iter()
                    .any(|label| after(trimmed, label).is_some())
        }
        b'e' => {
            matches!(language, Language::Ruby | Language::Shell)
                && matches!(
                    word(trimmed).0,
                    "end" | "else" | "elsif" | "esac" | "ensure" | "elif"
                )
        }
        b'r' => language == Language::Ruby && word(trimmed).0 == "rescue",
        b'f' | b't' => language == Language::Shell && matches!(word(trimmed).0, "fi" | "then"),
        _ => false,
    };
    (
        depth,
        if goes_on {
            Placing::Continues
        } else {
            Placing::Normal
        },
    )
}

/// Whether the trimmed line is an attribute, annotation or decorator.
pub(crate) fn is_mark(language: Language, trimmed: &str) -> bool {
    match language {
        Language::Rust | Language::Php => trimmed.starts_with("#["),
        Language::CSharp => trimmed.starts_with('[') && trimmed.ends_with(']'),
        Language::Java
        | Language::Kotlin
        | Language::Swift
        | Language::Script
        | Language::Python => {
            trimmed.starts_with('@')
                && !trimmed.ends_with('{')
                && !trimmed.starts_with("@interface")
        }
        _ => false,
    }
}

/// Whether such a mark makes the next function a test.
pub(crate) fn marks_test(language: Language, trimmed: &str) -> bool {
    match language {
        Language::Rust => {
            let inner = trimmed.trim_start_matches("#[");
            let name = inner.split(['(', ']', ' ']).next().unwrap_or("");
            name.rsplit("::")
                .next()
                .is_some_and(|n| matches!(n, "test" | "rstest" | "test_case" | "proptest"))
        }
        Language::Java | Language::Kotlin | Language::Swift => {
            let (name, _) = word(trimmed.trim_start_matches('@'));
            matches!(
                name,
                "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory"
            )
        }
        Language::CSharp => {
            let (name, _) = word(trimmed.trim_start_matches('['));
            matches!(name, "Fact" | "Theory" | "Test" | "TestMethod" | "TestCase")
        }
        _ => false,
    }
}

/// What a line declares.
pub(crate) fn declared(language: Language, line: &str) -> Option<Declaration<'_>> {
    let trimmed = line.trim();
    if trimmed.is_empty() || trimmed.len() > 2_000 {
        return None;
    }
    if language != Language::Markdown && language.is_comment(trimmed) {
        return None;
    }
    let depth = data::depth(language, line, trimmed);
    let (name, kind) = match language {
        Language::Rust => rust(trimmed),
        Language::Python => python(trimmed, indent(line)),
        Language::Script => script(trimmed),
        Language::Go => go(trimmed),
        Language::Java => classes::java(trimmed),
        Language::CSharp => classes::csharp(trimmed),
        Language::C => classes::c(trimmed, indent(line)),
        Language::Kotlin => classes::kotlin(trimmed),
        Language::Swift => classes::swift(trimmed),
        Language::Php => classes::php(trimmed),
        Language::Ruby => classes::ruby(trimmed),
        Language::Plain => None,
        _ => data::declared(language, trimmed, indent(line)),
    }?;
    if name.is_empty() && kind != SymbolKind::Group {
        return None;
    }
    Some(Declaration { name, kind, depth })
}

pub(crate) fn named(text: &str, kind: SymbolKind) -> Found<'_> {
    let (name, _) = word(text);
    (!name.is_empty()).then_some((Cow::Borrowed(name), kind))
}

/// The first keyword of a table that a text starts with gives the kind.
pub(crate) fn by_keyword<'a>(text: &'a str, table: &[(&str, SymbolKind)]) -> Found<'a> {
    table
        .iter()
        .find_map(|(keyword, kind)| named(after(text, keyword)?, *kind))
}

fn rust(trimmed: &str) -> Found<'_> {
    let mut text = trimmed;
    while text.starts_with("#[") {
        text = past(&text[1..], '[', ']')?;
    }
    if let Some(rest) = after(text, "pub") {
        text = past(rest, '(', ')').unwrap_or(rest);
    }
    loop {
        let before = text;
        text = skip(text, &["default", "async", "unsafe", "safe"]);
        if let Some(rest) = after(text, "extern") {
            text = quoted(rest).map_or(rest, |abi| rest[abi.len() + 2..].trim_start());
        }
        if let Some(rest) = after(text, "const")
            && ["fn", "async", "unsafe", "extern"].contains(&word(rest).0)
        {
            text = rest;
        }
        if text == before {
            break;
        }
    }
    if let Some(rest) = after(text, "impl") {
        let rest = past(rest, '<', '>').unwrap_or(rest);
        return Some((Cow::Borrowed(implemented(rest)), SymbolKind::Impl));
    }
    if let Some(rest) = text.strip_prefix("macro_rules!") {
        return named(rest.trim_start(), SymbolKind::Macro);
    }
    if let Some(rest) = after(text, "static") {
        return named(skip(rest, &["mut", "ref"]), SymbolKind::Constant);
    }
    by_keyword(
        text,
        &[
            ("fn", SymbolKind::Function),
            ("struct", SymbolKind::Struct),
            ("enum", SymbolKind::Enum),
            ("union", SymbolKind::Struct),
            ("trait", SymbolKind::Trait),
            ("mod", SymbolKind::Module),
            ("type", SymbolKind::Type),
            ("const", SymbolKind::Constant),
        ],
    )
    .filter(|(name, _)| name != "_")
}

/// The type of an `impl` head, without generics and path.
fn implemented(head: &str) -> &str {
    let head = head.split(['{']).next().unwrap_or(head);
    let head = head.split(" where").next().unwrap_or(head);
    let target = head.rsplit_once(" for ").map_or(head, |(_, t)| t).trim();
    let target = target.trim_start_matches(['&', '*']);
    let target = skip(target, &["dyn", "mut"]);
    let target = target.split('<').next().unwrap_or(target).trim();
    last_word(target)
}

fn python(trimmed: &str, indented: usize) -> Found<'_> {
    let text = skip(trimmed, &["async"]);
    if let Some(rest) = after(text, "def") {
        let (name, _) = word(rest);
        let kind = if name.starts_with("test_") {
            SymbolKind::Test
        } else {
            SymbolKind::Function
        };
        return named(rest, kind);
    }
    if let Some(rest) = after(text, "class") {
        return named(rest, SymbolKind::Class);
    }
    let (name, rest) = word(trimmed);
    let rest = rest.trim_start();
    let assigned = (rest.starts_with('=') && !rest.starts_with("=="))
        || (rest.starts_with(':') && rest.len() > 1);
    let loud = name.chars().any(|c| c.is_ascii_uppercase())
        && !name.chars().any(|c| c.is_ascii_lowercase());
    if assigned && !is_keyword(name) && (indented == 0 || loud || rest.starts_with(':')) {
        let kind = if indented == 0 || loud {
            SymbolKind::Constant
        } else {
            SymbolKind::Field
        };
        return named(trimmed, kind);
    }
    None
}

/// Words that start a statement, so that what follows is no declaration.
pub(crate) fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "if" | "else"
            | "for"
            | "while"
            | "switch"
            | "case"
            | "catch"
            | "return"
            | "do"
            | "try"
            | "with"
            | "new"
            | "throw"
            | "await"
            | "yield"
            | "using"
            | "lock"
            | "elif"
            | "lambda"
            | "finally"
            | "except"
            | "assert"
            | "raise"
            | "match"
            | "when"
            | "foreach"
            | "goto"
            | "delete"
            | "typeof"
            | "default"
            | "sizeof"
            | "and"
            | "or"
            | "not"
            | "in"
            | "is"
            | "super"
            | "this"
            | "function"
            | "elseif"
            | "echo"
            | "print"
            | "guard"
            | "unless"
            | "until"
            | "synchronized"
            | "fixed"
    )
}

const SCRIPT_MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "static",
    "async",
    "get",
    "set",
    "readonly",
    "override",
    "abstract",
    "declare",
    "accessor",
];

fn script(trimmed: &str) -> Found<'_> {
    let text = skip(trimmed, &["export", "default", "declare", "abstract"]);
    let call = skip(text, &["async"]);
    if let Some(rest) = after(call, "function") {
        return named(
            rest.trim_start_matches('*').trim_start(),
            SymbolKind::Function,
        );
    }
    let text = if after(text, "const").is_some_and(|r| after(r, "enum").is_some()) {
        after(text, "const")?
    } else {
        text
    };
    if let found @ Some(_) = by_keyword(
        text,
        &[
            ("class", SymbolKind::Class),
            ("interface", SymbolKind::Interface),
            ("enum", SymbolKind::Enum),
            ("namespace", SymbolKind::Module),
        ],
    ) {
        return found;
    }
    if let Some(rest) = after(text, "type") {
        let (name, tail) = word(rest);
        return (!name.is_empty() && (tail.contains('=') || tail.starts_with('<')))
            .then_some((Cow::Borrowed(name), SymbolKind::Type));
    }
    for keyword in ["const", "let", "var"] {
        if let Some(rest) = after(text, keyword) {
            let (name, tail) = word(rest);
            let value = tail.split_once("= ").map_or("", |(_, v)| v);
            let kind = if is_function_value(value) {
                SymbolKind::Function
            } else {
                SymbolKind::Constant
            };
            return (!name.is_empty()).then_some((Cow::Borrowed(name), kind));
        }
    }
    script_test(text).or_else(|| script_member(text))
}

fn is_function_value(value: &str) -> bool {
    let value = skip(value, &["async"]);
    let arrow = |text: &str| {
        past(text, '(', ')').map_or_else(
            || text.starts_with('(') || word(text).1.trim_start().starts_with("=>"),
            |rest| rest.starts_with("=>") || (rest.starts_with(':') && rest.contains("=>")),
        )
    };
    if after(value, "function").is_some() || arrow(value) {
        return true;
    }
    // A wrapped component or callback: `memo((props) => {`.
    value.trim_end().ends_with("=> {") && {
        let inner = value.split_once('(').map_or("", |(_, i)| i);
        let head = value.split_once('(').map_or("", |(h, _)| h);
        !head.contains(' ')
            && arrow(skip(inner, &["async"]))
            && matches!(
                head.rsplit('.').next(),
                Some("memo" | "forwardRef" | "useCallback" | "useMemo" | "cache" | "asyncHandler")
            )
    }
}

fn script_test(text: &str) -> Found<'_> {
    let (name, rest) = word(text);
    let group = matches!(name, "describe" | "context" | "suite");
    if !group && !matches!(name, "it" | "test") {
        return None;
    }
    let rest = ["only", "skip", "concurrent", "each", "todo"]
        .iter()
        .find_map(|m| rest.strip_prefix('.').and_then(|r| after(r, m)))
        .unwrap_or(rest);
    let title = quoted(rest.strip_prefix('(')?)?;
    let kind = if group {
        SymbolKind::Group
    } else {
        SymbolKind::Test
    };
    Some((Cow::Borrowed(title), kind))
}

fn script_member(text: &str) -> Found<'_> {
    let bare = skip(text, SCRIPT_MODIFIERS);
    let modified = bare.len() != text.len();
    let bare = bare.trim_start_matches('*').trim_start();
    let (name, rest) = word(bare.trim_start_matches('#'));
    if name.is_empty() || is_keyword(name) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = past(rest, '<', '>').unwrap_or(rest);
    let tail = text.trim_end();
    if rest.starts_with('(') {
        let opens = match past(rest, '(', ')') {
            Some(end) => tail.ends_with('{') && (end.starts_with('{') || end.starts_with(':')),
            None => (modified || name == "constructor") && tail.ends_with(['(', ',']),
        };
        return opens.then_some((Cow::Borrowed(name), SymbolKind::Function));
    }
    let value = rest.strip_prefix(['=', ':']).map(str::trim_start)?;
    if rest.starts_with("==") || rest.starts_with("=>") || rest.starts_with("::") {
        return None;
    }
    if tail.ends_with("=> {") || tail.ends_with("=>") || after(value, "function").is_some() {
        return is_function_value(value).then_some((Cow::Borrowed(name), SymbolKind::Function));
    }
    None
}

fn go(trimmed: &str) -> Found<'_> {
    if let Some(rest) = after(trimmed, "func") {
        let Some(tail) = past(rest, '(', ')') else {
            let (name, _) = word(rest);
            let test = ["Test", "Benchmark", "Fuzz", "Example"]
                .iter()
                .any(|p| name.starts_with(p));
            return named(
                rest,
                if test {
                    SymbolKind::Test
                } else {
                    SymbolKind::Function
                },
            );
        };
        let (name, _) = word(tail);
        if name.is_empty() {
            return None;
        }
        let receiver = rest[1..].split(')').next().unwrap_or("");
        let owner = receiver.split('[').next().unwrap_or(receiver);
        let owner = last_word(owner.trim());
        return Some((Cow::Owned(format!("{owner}.{name}")), SymbolKind::Function));
    }
    if let Some(rest) = after(trimmed, "type") {
        let (name, tail) = word(rest);
        let tail = tail.trim_start();
        let tail = past(tail, '[', ']').unwrap_or(tail);
        let kind = match word(tail).0 {
            "struct" => SymbolKind::Struct,
            "interface" => SymbolKind::Interface,
            _ => SymbolKind::Type,
        };
        return (!name.is_empty()).then_some((Cow::Borrowed(name), kind));
    }
    for keyword in ["const", "var"] {
        if let Some(rest) = after(trimmed, keyword) {
            if rest.starts_with('(') {
                return Some((Cow::Borrowed(""), SymbolKind::Group));
            }
            return named(rest, SymbolKind::Constant);
        }
    }
    let (name, tail) = word(trimmed);
    let assigned = tail.contains(" = ") && !tail.contains(['(', '.', '[']) && !is_keyword(name);
    (assigned && !name.is_empty()).then_some((Cow::Borrowed(name), SymbolKind::Constant))
}
