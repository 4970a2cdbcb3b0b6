//! What one line declares, per language: a row of keywords or a small function each.
//! Every line is judged by itself.

use std::borrow::Cow;

use super::lexing::{
    count_indent, last_word, parse_quoted, skip_brackets, skip_keywords, split_first_word,
    strip_keyword,
};
use super::{Language, SymbolKind, classes, data};

/// A declaration found on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration<'a> {
    /// Without its containers.
    pub(crate) name: Cow<'a, str>,
    pub(crate) kind: SymbolKind,
    /// Deeper lines belong to it.
    pub(crate) depth: usize,
}

/// The relation of a line to the open declarations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinePlacement {
    /// Ends declarations that are as deep or deeper.
    Normal,
    /// Belongs to the declaration of the same depth: a closing bracket, an `else`,
    /// a label.
    Continues,
    /// Irrelevant: a comment, a directive.
    Ignored,
}

pub(crate) type DeclarationMatch<'a> = Option<(Cow<'a, str>, SymbolKind)>;

/// The depth of a line, and its relation to the open declarations.
pub(crate) fn place_line(language: Language, line: &str) -> (usize, LinePlacement) {
    let trimmed = line.trim();
    let depth = data::measure_depth(language, line, trimmed);
    if language != Language::Markdown && language.is_comment(trimmed) {
        return (depth, LinePlacement::Ignored);
    }
    let directive = language == Language::C && trimmed.starts_with('#');
    if directive && !trimmed.starts_with("#define") {
        return (depth, LinePlacement::Ignored);
    }
    let first = trimmed.bytes().next().unwrap_or(b' ');
    let goes_on = match first {
        b')' | b'}' | b']' | b'{' => true,
        b'[' | b'@' | b'#' => is_mark(language, trimmed),
        b'w' => language == Language::Rust && strip_keyword(trimmed, "where").is_some(),
        b'c' | b'd' | b'p' => {
            trimmed.ends_with(':')
                && !matches!(language, Language::Python | Language::Yaml | Language::Make)
                && ["case", "default", "public", "private", "protected"]
                    .iter()
                    .any(|label| strip_keyword(trimmed, label).is_some())
        }
        b'e' => {
            matches!(language, Language::Ruby | Language::Shell)
                && matches!(
                    split_first_word(trimmed).0,
                    "end" | "else" | "elsif" | "esac" | "ensure" | "elif"
                )
        }
        b'r' => language == Language::Ruby && split_first_word(trimmed).0 == "rescue",
        b'f' | b't' => {
            language == Language::Shell && matches!(split_first_word(trimmed).0, "fi" | "then")
        }
        _ => false,
    };
    (
        depth,
        if goes_on {
            LinePlacement::Continues
        } else {
            LinePlacement::Normal
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
            let (name, _) = split_first_word(trimmed.trim_start_matches('@'));
            matches!(
                name,
                "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory"
            )
        }
        Language::CSharp => {
            let (name, _) = split_first_word(trimmed.trim_start_matches('['));
            matches!(name, "Fact" | "Theory" | "Test" | "TestMethod" | "TestCase")
        }
        _ => false,
    }
}

/// What a line declares.
pub(crate) fn parse_declaration(language: Language, line: &str) -> Option<Declaration<'_>> {
    let trimmed = line.trim();
    // A line that long is minified or data.
    if trimmed.is_empty() || trimmed.len() > 2_000 {
        return None;
    }
    if language != Language::Markdown && language.is_comment(trimmed) {
        return None;
    }
    let depth = data::measure_depth(language, line, trimmed);
    let (name, kind) = match language {
        Language::Rust => parse_rust_line(trimmed),
        Language::Python => parse_python_line(trimmed, count_indent(line)),
        Language::Script => parse_script_line(trimmed),
        Language::Go => parse_go_line(trimmed),
        Language::Java => classes::parse_java_line(trimmed),
        Language::CSharp => classes::parse_csharp_line(trimmed),
        Language::C => classes::parse_c_line(trimmed, count_indent(line)),
        Language::Kotlin => classes::parse_kotlin_line(trimmed),
        Language::Swift => classes::parse_swift_line(trimmed),
        Language::Php => classes::parse_php_line(trimmed),
        Language::Ruby => classes::parse_ruby_line(trimmed),
        Language::Plain => None,
        _ => data::parse_data_declaration(language, trimmed, count_indent(line)),
    }?;
    if name.is_empty() && kind != SymbolKind::Group {
        return None;
    }
    Some(Declaration { name, kind, depth })
}

pub(crate) fn parse_name(text: &str, kind: SymbolKind) -> DeclarationMatch<'_> {
    let (name, _) = split_first_word(text);
    (!name.is_empty()).then_some((Cow::Borrowed(name), kind))
}

/// The kind by the first keyword of a table that the text starts with.
pub(crate) fn by_keyword<'a>(text: &'a str, table: &[(&str, SymbolKind)]) -> DeclarationMatch<'a> {
    table
        .iter()
        .find_map(|(keyword, kind)| parse_name(strip_keyword(text, keyword)?, *kind))
}

fn parse_rust_line(trimmed: &str) -> DeclarationMatch<'_> {
    let mut text = trimmed;
    while text.starts_with("#[") {
        text = skip_brackets(&text[1..], '[', ']')?;
    }
    if let Some(rest) = strip_keyword(text, "pub") {
        text = skip_brackets(rest, '(', ')').unwrap_or(rest);
    }
    loop {
        let before = text;
        text = skip_keywords(text, &["default", "async", "unsafe", "safe"]);
        if let Some(rest) = strip_keyword(text, "extern") {
            text = parse_quoted(rest).map_or(rest, |abi| rest[abi.len() + 2..].trim_start());
        }
        if let Some(rest) = strip_keyword(text, "const")
            && ["fn", "async", "unsafe", "extern"].contains(&split_first_word(rest).0)
        {
            text = rest;
        }
        if text == before {
            break;
        }
    }
    if let Some(rest) = strip_keyword(text, "impl") {
        let rest = skip_brackets(rest, '<', '>').unwrap_or(rest);
        return Some((Cow::Borrowed(find_impl_type(rest)), SymbolKind::Impl));
    }
    if let Some(rest) = text.strip_prefix("macro_rules!") {
        return parse_name(rest.trim_start(), SymbolKind::Macro);
    }
    if let Some(rest) = strip_keyword(text, "static") {
        return parse_name(skip_keywords(rest, &["mut", "ref"]), SymbolKind::Constant);
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
fn find_impl_type(head: &str) -> &str {
    let head = head.split(['{']).next().unwrap_or(head);
    let head = head.split(" where").next().unwrap_or(head);
    let target = head.rsplit_once(" for ").map_or(head, |(_, t)| t).trim();
    let target = target.trim_start_matches(['&', '*']);
    let target = skip_keywords(target, &["dyn", "mut"]);
    let target = target.split('<').next().unwrap_or(target).trim();
    last_word(target)
}

fn parse_python_line(trimmed: &str, indented: usize) -> DeclarationMatch<'_> {
    let text = skip_keywords(trimmed, &["async"]);
    if let Some(rest) = strip_keyword(text, "def") {
        let (name, _) = split_first_word(rest);
        let kind = if name.starts_with("test_") {
            SymbolKind::Test
        } else {
            SymbolKind::Function
        };
        return parse_name(rest, kind);
    }
    if let Some(rest) = strip_keyword(text, "class") {
        return parse_name(rest, SymbolKind::Class);
    }
    let (name, rest) = split_first_word(trimmed);
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
        return parse_name(trimmed, kind);
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

fn parse_script_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = skip_keywords(trimmed, &["export", "default", "declare", "abstract"]);
    let call = skip_keywords(text, &["async"]);
    if let Some(rest) = strip_keyword(call, "function") {
        return parse_name(
            rest.trim_start_matches('*').trim_start(),
            SymbolKind::Function,
        );
    }
    let text = if strip_keyword(text, "const").is_some_and(|r| strip_keyword(r, "enum").is_some()) {
        strip_keyword(text, "const")?
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
    if let Some(rest) = strip_keyword(text, "type") {
        let (name, tail) = split_first_word(rest);
        return (!name.is_empty() && (tail.contains('=') || tail.starts_with('<')))
            .then_some((Cow::Borrowed(name), SymbolKind::Type));
    }
    for keyword in ["const", "let", "var"] {
        if let Some(rest) = strip_keyword(text, keyword) {
            let (name, tail) = split_first_word(rest);
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
    let value = skip_keywords(value, &["async"]);
    let arrow = |text: &str| {
        skip_brackets(text, '(', ')').map_or_else(
            || text.starts_with('(') || split_first_word(text).1.trim_start().starts_with("=>"),
            |rest| rest.starts_with("=>") || (rest.starts_with(':') && rest.contains("=>")),
        )
    };
    if strip_keyword(value, "function").is_some() || arrow(value) {
        return true;
    }
    // A wrapped component or callback: `memo((props) => {`.
    value.trim_end().ends_with("=> {") && {
        let inner = value.split_once('(').map_or("", |(_, i)| i);
        let head = value.split_once('(').map_or("", |(h, _)| h);
        !head.contains(' ')
            && arrow(skip_keywords(inner, &["async"]))
            && matches!(
                head.rsplit('.').next(),
                Some("memo" | "forwardRef" | "useCallback" | "useMemo" | "cache" | "asyncHandler")
            )
    }
}

fn script_test(text: &str) -> DeclarationMatch<'_> {
    let (name, rest) = split_first_word(text);
    let group = matches!(name, "describe" | "context" | "suite");
    if !group && !matches!(name, "it" | "test") {
        return None;
    }
    let rest = ["only", "skip", "concurrent", "each", "todo"]
        .iter()
        .find_map(|m| rest.strip_prefix('.').and_then(|r| strip_keyword(r, m)))
        .unwrap_or(rest);
    let title = parse_quoted(rest.strip_prefix('(')?)?;
    let kind = if group {
        SymbolKind::Group
    } else {
        SymbolKind::Test
    };
    Some((Cow::Borrowed(title), kind))
}

fn script_member(text: &str) -> DeclarationMatch<'_> {
    let bare = skip_keywords(text, SCRIPT_MODIFIERS);
    let modified = bare.len() != text.len();
    let bare = bare.trim_start_matches('*').trim_start();
    let (name, rest) = split_first_word(bare.trim_start_matches('#'));
    if name.is_empty() || is_keyword(name) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = skip_brackets(rest, '<', '>').unwrap_or(rest);
    let tail = text.trim_end();
    if rest.starts_with('(') {
        let opens = match skip_brackets(rest, '(', ')') {
            Some(end) => tail.ends_with('{') && (end.starts_with('{') || end.starts_with(':')),
            None => (modified || name == "constructor") && tail.ends_with(['(', ',']),
        };
        return opens.then_some((Cow::Borrowed(name), SymbolKind::Function));
    }
    let value = rest.strip_prefix(['=', ':']).map(str::trim_start)?;
    if rest.starts_with("==") || rest.starts_with("=>") || rest.starts_with("::") {
        return None;
    }
    if tail.ends_with("=> {") || tail.ends_with("=>") || strip_keyword(value, "function").is_some()
    {
        return is_function_value(value).then_some((Cow::Borrowed(name), SymbolKind::Function));
    }
    None
}

fn parse_go_line(trimmed: &str) -> DeclarationMatch<'_> {
    if let Some(rest) = strip_keyword(trimmed, "func") {
        let Some(tail) = skip_brackets(rest, '(', ')') else {
            let (name, _) = split_first_word(rest);
            let test = ["Test", "Benchmark", "Fuzz", "Example"]
                .iter()
                .any(|p| name.starts_with(p));
            return parse_name(
                rest,
                if test {
                    SymbolKind::Test
                } else {
                    SymbolKind::Function
                },
            );
        };
        let (name, _) = split_first_word(tail);
        if name.is_empty() {
            return None;
        }
        let receiver = rest[1..].split(')').next().unwrap_or("");
        let owner = receiver.split('[').next().unwrap_or(receiver);
        let owner = last_word(owner.trim());
        return Some((Cow::Owned(format!("{owner}.{name}")), SymbolKind::Function));
    }
    if let Some(rest) = strip_keyword(trimmed, "type") {
        let (name, tail) = split_first_word(rest);
        let tail = tail.trim_start();
        let tail = skip_brackets(tail, '[', ']').unwrap_or(tail);
        let kind = match split_first_word(tail).0 {
            "struct" => SymbolKind::Struct,
            "interface" => SymbolKind::Interface,
            _ => SymbolKind::Type,
        };
        return (!name.is_empty()).then_some((Cow::Borrowed(name), kind));
    }
    for keyword in ["const", "var"] {
        if let Some(rest) = strip_keyword(trimmed, keyword) {
            if rest.starts_with('(') {
                return Some((Cow::Borrowed(""), SymbolKind::Group));
            }
            return parse_name(rest, SymbolKind::Constant);
        }
    }
    let (name, tail) = split_first_word(trimmed);
    let assigned = tail.contains(" = ") && !tail.contains(['(', '.', '[']) && !is_keyword(name);
    (assigned && !name.is_empty()).then_some((Cow::Borrowed(name), SymbolKind::Constant))
}
