//! Line rules of languages whose functions are recognised by their shape: Java, C,
//! C++, C#, Kotlin, Swift, PHP, Ruby.

use std::borrow::Cow;

use super::SymbolKind;
use super::lexing::{
    is_name, last_word, parse_quoted, skip_brackets, skip_keywords, split_first_word, strip_keyword,
};
use super::rules::{DeclarationMatch, by_keyword, is_keyword, parse_name};

const JAVA_MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "static",
    "final",
    "abstract",
    "synchronized",
    "native",
    "default",
    "sealed",
    "strictfp",
    "transient",
    "volatile",
    "late",
    "external",
];

const CSHARP_MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "sealed",
    "abstract",
    "override",
    "virtual",
    "async",
    "partial",
    "readonly",
    "extern",
    "unsafe",
    "new",
    "required",
    "file",
    "const",
    "volatile",
];

const CPP_MODIFIERS: &[&str] = &[
    "static",
    "inline",
    "extern",
    "virtual",
    "constexpr",
    "explicit",
    "friend",
    "typedef",
    "consteval",
];

/// Skips annotations at the start of a line.
fn skip_annotations(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix('@') {
        if rest.starts_with("interface") {
            break;
        }
        let end = rest.find(|c| !is_name(c) && c != '.').unwrap_or(rest.len());
        let rest = rest[end..].trim_start();
        text = skip_brackets(rest, '(', ')').unwrap_or(rest);
    }
    text
}

pub(crate) fn parse_java_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = skip_annotations(trimmed);
    let bare = skip_keywords(text, JAVA_MODIFIERS);
    let modified = bare.len() != text.len();
    if let Some(rest) = bare.strip_prefix("@interface") {
        return parse_name(rest.trim_start(), SymbolKind::Interface);
    }
    let types: &[(&str, SymbolKind)] = &[
        ("class", SymbolKind::Class),
        ("interface", SymbolKind::Interface),
        ("enum", SymbolKind::Enum),
        ("record", SymbolKind::Class),
        ("mixin", SymbolKind::Class),
    ];
    by_keyword(bare, types)
        .or_else(|| {
            parse_method(
                skip_brackets(bare, '<', '>').unwrap_or(bare),
                ModifierPresence::from(modified),
            )
        })
        .or_else(|| parse_field(trimmed, bare, ModifierPresence::from(modified)))
}

pub(crate) fn parse_csharp_line(trimmed: &str) -> DeclarationMatch<'_> {
    let bare = skip_keywords(trimmed, CSHARP_MODIFIERS);
    let modified = bare.len() != trimmed.len();
    if let Some(rest) = strip_keyword(bare, "namespace") {
        let end = rest.find(|c| !is_name(c) && c != '.').unwrap_or(rest.len());
        return Some((Cow::Borrowed(&rest[..end]), SymbolKind::Group));
    }
    if let Some(rest) = strip_keyword(bare, "record") {
        return parse_name(skip_keywords(rest, &["struct", "class"]), SymbolKind::Class);
    }
    let types: &[(&str, SymbolKind)] = &[
        ("class", SymbolKind::Class),
        ("struct", SymbolKind::Struct),
        ("interface", SymbolKind::Interface),
        ("enum", SymbolKind::Enum),
    ];
    by_keyword(bare, types)
        .or_else(|| parse_method(bare, ModifierPresence::from(modified)))
        .or_else(|| parse_property(bare, ModifierPresence::from(modified)))
        .or_else(|| parse_field(trimmed, bare, ModifierPresence::from(modified)))
}

/// Whether a modifier such as `public` came before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModifierPresence {
    Yes,
    No,
}

impl From<bool> for ModifierPresence {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// `Type name(..) {`, or a constructor.
fn parse_method(bare: &str, modified: ModifierPresence) -> DeclarationMatch<'_> {
    let (head, rest) = bare.split_once('(')?;
    if head.contains(['=', '"', '\'', ';']) || is_keyword(split_first_word(bare).0) {
        return None;
    }
    let head = head.trim_end();
    let head = if head.ends_with('>') {
        head.rsplit_once('<').map_or(head, |(h, _)| h)
    } else {
        head
    };
    let name = last_word(head);
    let before = head[..head.len() - name.len()].trim_end();
    if name.is_empty() || is_keyword(name) || before.ends_with('.') {
        return None;
    }
    let tail = rest.trim_end();
    let ends = tail.ends_with(['{', ')', ',', '(', '}'])
        || tail.is_empty()
        || tail.contains(") throws")
        || tail.contains(") =>");
    // Methods without a body are abstract or of an interface.
    let bodiless = tail.ends_with(");") && !before.is_empty();
    let constructor = before.is_empty()
        && name.starts_with(|c: char| c.is_uppercase())
        && (modified == ModifierPresence::Yes || tail.ends_with(") {"));
    let typed = before.split_whitespace().count() >= 1;
    ((typed && (ends || bodiless)) || (ends && constructor))
        .then_some((Cow::Borrowed(name), SymbolKind::Function))
}

/// `Type Name { get; set; }` and `Type Name =>`.
fn parse_property(bare: &str, modified: ModifierPresence) -> DeclarationMatch<'_> {
    if modified == ModifierPresence::No {
        return None;
    }
    let at = bare
        .find(['{', '='])
        .filter(|at| bare[*at..].starts_with('{') || bare[*at..].starts_with("=>"))?;
    let head = bare[..at].trim_end();
    let name = last_word(head);
    (!name.is_empty() && head.contains(' ')).then_some((Cow::Borrowed(name), SymbolKind::Field))
}

/// `private static final int LIMIT = 5;`
fn parse_field<'a>(whole: &str, bare: &'a str, modified: ModifierPresence) -> DeclarationMatch<'a> {
    if modified == ModifierPresence::No {
        return None;
    }
    let fixed =
        whole.contains("final ") || whole.contains("const ") || whole.contains("static readonly");
    let kind = if fixed {
        SymbolKind::Constant
    } else {
        SymbolKind::Field
    };
    let end = bare.find(['=', ';'])?;
    let head = bare[..end].trim_end();
    let name = last_word(head);
    let typed = head.len() > name.len() + 1 && !head.contains('(');
    (!name.is_empty() && typed).then_some((Cow::Borrowed(name), kind))
}

pub(crate) fn parse_c_line(trimmed: &str, indented: usize) -> DeclarationMatch<'_> {
    if let Some(rest) = trimmed.strip_prefix("#define") {
        return parse_name(rest.trim_start(), SymbolKind::Macro);
    }
    let text = trimmed.strip_prefix("template").map_or(trimmed, |rest| {
        skip_brackets(rest.trim_start(), '<', '>').unwrap_or(trimmed)
    });
    if text.is_empty() {
        return None;
    }
    let text = skip_keywords(text, CPP_MODIFIERS);
    if let Some(rest) = strip_keyword(text, "namespace") {
        return parse_name(rest, SymbolKind::Group);
    }
    for (keyword, kind) in [
        ("class", SymbolKind::Class),
        ("struct", SymbolKind::Struct),
        ("union", SymbolKind::Struct),
        ("enum", SymbolKind::Enum),
    ] {
        if let Some(rest) = strip_keyword(text, keyword) {
            let rest = skip_keywords(rest, &["class", "struct"]);
            let (name, tail) = split_first_word(rest);
            let tail = tail.trim();
            if !name.is_empty()
                && (tail.is_empty() || tail.starts_with(['{', ':']) || tail.starts_with("final"))
            {
                return Some((Cow::Borrowed(name), kind));
            }
        }
    }
    c_test(text)
        .or_else(|| c_function(text, indented))
        .or_else(|| {
            let value = indented == 0 && text.ends_with([';', '{']) && text.contains(" = ");
            let head = text.split(['=', '[']).next().unwrap_or("").trim_end();
            let name = last_word(head);
            (value && head.contains(' ') && !name.is_empty())
                .then_some((Cow::Borrowed(name), SymbolKind::Constant))
        })
}

fn c_test(text: &str) -> DeclarationMatch<'_> {
    let (name, rest) = split_first_word(text);
    if !matches!(
        name,
        "TEST" | "TEST_F" | "TEST_P" | "TEST_CASE" | "BOOST_AUTO_TEST_CASE" | "SECTION"
    ) {
        return None;
    }
    let inner = rest.strip_prefix('(')?;
    let inner = inner.split(')').next()?;
    if let Some(title) = parse_quoted(inner) {
        return Some((Cow::Borrowed(title), SymbolKind::Test));
    }
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    Some((Cow::Owned(parts.join(".")), SymbolKind::Test))
}

fn c_function(text: &str, indented: usize) -> DeclarationMatch<'_> {
    let (head, rest) = text.split_once('(')?;
    let tail = rest.trim_end();
    let statement = tail.ends_with(';') && !tail.ends_with("};");
    if statement || head.contains(['=', '"', ';', '!', '?']) || is_keyword(split_first_word(text).0)
    {
        return None;
    }
    let head = head.trim_end();
    let start = head
        .char_indices()
        .rev()
        .find(|(_, ch)| !is_name(*ch) && *ch != ':' && *ch != '~')
        .map_or(0, |(at, ch)| at + ch.len_utf8());
    let name = head[start..].trim_start_matches(':');
    let before = head[..start].trim_end();
    let own_type = name.contains("::");
    if name.is_empty() || is_keyword(name) || before.ends_with(['.', '>']) && before.ends_with("->")
    {
        return None;
    }
    let typed =
        !before.is_empty() && !is_keyword(split_first_word(before).0) && !before.contains('(');
    let ends = tail.ends_with(['{', ')', ',', '(', ':', '}'])
        || ["const", "noexcept", "override", "final"]
            .iter()
            .any(|w| tail.ends_with(w))
        || tail.is_empty();
    let opens = tail.ends_with('{') && name.starts_with(|ch: char| ch.is_uppercase() || ch == '~');
    // The return type may be on a line of its own above.
    let split = indented == 0 && tail.ends_with([')', '{']) && tail.contains([' ', '*']);
    (ends && (typed || own_type || opens || split))
        .then_some((Cow::Borrowed(name), SymbolKind::Function))
}

pub(crate) fn parse_kotlin_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = skip_annotations(trimmed);
    let text = skip_keywords(
        text,
        &[
            "public",
            "private",
            "protected",
            "internal",
            "open",
            "abstract",
            "final",
            "override",
            "suspend",
            "inline",
            "data",
            "sealed",
            "enum",
            "inner",
            "const",
            "lateinit",
            "operator",
            "infix",
            "tailrec",
            "annotation",
            "value",
            "companion",
            "implicit",
            "lazy",
            "case",
            "actual",
            "expect",
        ],
    );
    for keyword in ["fun", "def"] {
        if let Some(rest) = strip_keyword(text, keyword) {
            let rest = skip_brackets(rest, '<', '>').unwrap_or(rest);
            if let Some(name) = parse_quoted(rest).filter(|_| rest.starts_with('`')) {
                return Some((Cow::Borrowed(name), SymbolKind::Function));
            }
            let head = rest
                .split(['(', ':', '=', '['])
                .next()
                .unwrap_or(rest)
                .trim_end();
            let head = head.trim_end_matches('>');
            return Some((Cow::Borrowed(last_word(head)), SymbolKind::Function));
        }
    }
    by_keyword(
        text,
        &[
            ("class", SymbolKind::Class),
            ("interface", SymbolKind::Interface),
            ("object", SymbolKind::Class),
            ("trait", SymbolKind::Trait),
            ("typealias", SymbolKind::Type),
            ("val", SymbolKind::Constant),
            ("var", SymbolKind::Field),
        ],
    )
    .or_else(|| {
        (text == "object {" || text == "object")
            .then_some((Cow::Borrowed("Companion"), SymbolKind::Class))
    })
}

pub(crate) fn parse_swift_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = skip_annotations(trimmed);
    let text = skip_keywords(
        text,
        &[
            "public",
            "private",
            "fileprivate",
            "internal",
            "open",
            "static",
            "final",
            "override",
            "mutating",
            "nonmutating",
            "convenience",
            "required",
            "indirect",
            "lazy",
            "weak",
            "async",
            "nonisolated",
            "unowned",
        ],
    );
    // `class func` is a function, `class Foo` a class.
    let text = strip_keyword(text, "class")
        .filter(|r| split_first_word(r).0 == "func")
        .unwrap_or(text);
    if let Some(rest) = strip_keyword(text, "func") {
        let (name, _) = split_first_word(rest);
        let kind = if name.starts_with("test") {
            SymbolKind::Test
        } else {
            SymbolKind::Function
        };
        return parse_name(rest, kind);
    }
    if text.starts_with("init(") || text.starts_with("init?(") {
        return Some((Cow::Borrowed("init"), SymbolKind::Function));
    }
    by_keyword(
        text,
        &[
            ("class", SymbolKind::Class),
            ("struct", SymbolKind::Struct),
            ("enum", SymbolKind::Enum),
            ("protocol", SymbolKind::Interface),
            ("extension", SymbolKind::Impl),
            ("actor", SymbolKind::Class),
            ("typealias", SymbolKind::Type),
            ("let", SymbolKind::Constant),
            ("var", SymbolKind::Field),
        ],
    )
}

pub(crate) fn parse_php_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = skip_keywords(
        trimmed,
        &[
            "public",
            "private",
            "protected",
            "static",
            "final",
            "abstract",
            "readonly",
        ],
    );
    if let Some(rest) = strip_keyword(text, "function") {
        let (name, _) = split_first_word(rest.trim_start_matches('&'));
        let kind = if name.starts_with("test") && name.len() > 4 {
            SymbolKind::Test
        } else {
            SymbolKind::Function
        };
        return parse_name(rest.trim_start_matches('&'), kind);
    }
    let found = by_keyword(
        text,
        &[
            ("class", SymbolKind::Class),
            ("interface", SymbolKind::Interface),
            ("trait", SymbolKind::Trait),
            ("enum", SymbolKind::Enum),
        ],
    );
    if found.is_some() {
        return found;
    }
    let rest = strip_keyword(text, "const")?;
    let name = last_word(rest.split('=').next()?.trim_end());
    Some((Cow::Borrowed(name), SymbolKind::Constant))
}

pub(crate) fn parse_ruby_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = skip_keywords(
        trimmed,
        &["private", "protected", "public", "module_function"],
    );
    if let Some(rest) = strip_keyword(text, "def") {
        let rest = rest.strip_prefix("self.").unwrap_or(rest);
        let (name, tail) = split_first_word(rest);
        let longer = usize::from(tail.starts_with(['?', '!', '=']));
        let name = &rest[..name.len() + longer];
        let kind = if name.starts_with("test_") {
            SymbolKind::Test
        } else {
            SymbolKind::Function
        };
        return (!name.is_empty()).then_some((Cow::Borrowed(name), kind));
    }
    if let Some(rest) = strip_keyword(text, "module").or_else(|| strip_keyword(text, "class")) {
        let end = rest
            .find(|ch| !is_name(ch) && ch != ':')
            .unwrap_or(rest.len());
        let kind = if text.starts_with("module") {
            SymbolKind::Module
        } else {
            SymbolKind::Class
        };
        return (end > 0).then_some((Cow::Borrowed(&rest[..end]), kind));
    }
    let (name, rest) = split_first_word(text);
    let title = parse_quoted(rest.trim_start());
    match name {
        "describe" | "context" => Some((Cow::Borrowed(title.unwrap_or("")), SymbolKind::Group)),
        "it" | "specify" | "test" => Some((Cow::Borrowed(title?), SymbolKind::Test)),
        _ => {
            let loud = name.starts_with(|ch: char| ch.is_ascii_uppercase());
            let rest = rest.trim_start();
            (loud && rest.starts_with('=') && !rest.starts_with("=="))
                .then_some((Cow::Borrowed(name), SymbolKind::Constant))
        }
    }
}
