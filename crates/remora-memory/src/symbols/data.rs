//! Line rules of languages with keys, sections and statements: TOML, YAML, JSON,
//! INI, Markdown, SQL, CSS, HTML, shell, make, Docker.

use std::borrow::Cow;

use super::lexing::{
    count_indent, is_name, parse_quoted, skip_keywords, split_first_word, strip_keyword,
};
use super::rules::{DeclarationMatch, parse_name};
use super::{Language, SymbolKind};

/// The depth of prose, below any heading.
const PROSE_DEPTH: usize = 100;

/// The depth of a line; what is deeper than a declaration belongs to it.
pub(crate) fn measure_depth(language: Language, line: &str, trimmed: &str) -> usize {
    let columns = count_indent(line);
    match language {
        // Keys belong to the header above, whatever their indentation.
        Language::Toml | Language::Ini if trimmed.starts_with('[') && is_header(trimmed) => 0,
        Language::Toml | Language::Ini => columns + 1,
        Language::Yaml => {
            let dashes = trimmed.len() - trimmed.trim_start_matches("- ").len();
            columns + if trimmed == "-" { 1 } else { dashes }
        }
        Language::Markdown => parse_heading(trimmed).map_or(PROSE_DEPTH, |(level, _)| level),
        Language::Docker => usize::from(strip_keyword(trimmed, "FROM").is_none()),
        _ => columns,
    }
}

fn is_header(trimmed: &str) -> bool {
    let inner = trimmed.trim_start_matches('[');
    inner.contains(']') && !trimmed.ends_with(',') && !inner.starts_with(['"', '{', ']'])
        || trimmed.starts_with("[[\"")
}

/// Level and text of a Markdown heading.
pub(crate) fn parse_heading(trimmed: &str) -> Option<(usize, &str)> {
    let text = trimmed.trim_start_matches('#');
    let level = trimmed.len() - text.len();
    if !(1..=6).contains(&level) || !text.starts_with([' ', '\t']) {
        return None;
    }
    let text = text.trim().trim_end_matches('#').trim_end();
    (!text.is_empty()).then_some((level, text))
}

pub(crate) fn parse_data_declaration(
    language: Language,
    trimmed: &str,
    indented: usize,
) -> DeclarationMatch<'_> {
    match language {
        Language::Toml | Language::Ini => parse_key_value(trimmed),
        Language::Yaml => parse_yaml_line(trimmed),
        Language::Json => parse_json_line(trimmed),
        Language::Markdown => {
            parse_heading(trimmed).map(|(_, t)| (Cow::Borrowed(t), SymbolKind::Section))
        }
        Language::Sql => parse_sql_line(trimmed, indented),
        Language::Css => parse_css_line(trimmed),
        Language::Html => parse_html_line(trimmed),
        Language::Shell => parse_shell_line(trimmed, indented),
        Language::Make => parse_make_line(trimmed, indented),
        Language::Docker => parse_docker_line(trimmed),
        _ => None,
    }
}

fn parse_key_value(trimmed: &str) -> DeclarationMatch<'_> {
    if trimmed.starts_with('[') {
        if !is_header(trimmed) {
            return None;
        }
        let inner = trimmed.trim_start_matches('[');
        let name = inner.split(']').next()?.trim();
        return Some((Cow::Borrowed(name), SymbolKind::Section));
    }
    let trimmed = skip_keywords(trimmed, &["export"]);
    let end = trimmed.find(['=', ':'])?;
    let name = trimmed[..end].trim_end().trim_matches(['"', '\'']);
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| is_name(c) || matches!(c, '-' | '.' | '"' | '/' | '@' | '*'));
    plain.then_some((Cow::Borrowed(name), SymbolKind::Key))
}

fn parse_yaml_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = trimmed.trim_start_matches("- ").trim_start();
    let (name, rest) = if let Some(name) = parse_quoted(text) {
        (name, &text[name.len() + 2..])
    } else {
        let end = text
            .find(": ")
            .or_else(|| text.ends_with(':').then(|| text.len() - 1))?;
        text.split_at(end)
    };
    let plain = rest.starts_with(':')
        && !name.is_empty()
        && name.len() <= 80
        && !name.contains(['{', '}', '[', ']', '"', '#', '(', '`'])
        && name.split(' ').count() <= 4;
    plain.then_some((Cow::Borrowed(name), SymbolKind::Key))
}

fn parse_json_line(trimmed: &str) -> DeclarationMatch<'_> {
    let name = parse_quoted(trimmed)?;
    let rest = trimmed[name.len() + 2..].trim_start();
    rest.starts_with(':')
        .then_some((Cow::Borrowed(name), SymbolKind::Key))
}

const COLUMN_TYPES: &[&str] = &[
    "INT",
    "INTEGER",
    "BIGINT",
    "SMALLINT",
    "TINYINT",
    "TEXT",
    "VARCHAR",
    "CHAR",
    "BLOB",
    "REAL",
    "FLOAT",
    "DOUBLE",
    "NUMERIC",
    "DECIMAL",
    "BOOLEAN",
    "BOOL",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "DATETIME",
    "UUID",
    "JSON",
    "JSONB",
    "BYTEA",
    "SERIAL",
    "BIGSERIAL",
    "NVARCHAR",
];

fn parse_sql_line(trimmed: &str, indented: usize) -> DeclarationMatch<'_> {
    let mut words = trimmed.split_whitespace();
    let first = words.next()?;
    let is = |text: &str, keyword: &str| text.eq_ignore_ascii_case(keyword);
    if is(first, "create") || is(first, "alter") {
        let mut kind = None;
        for each in words {
            let bare = each.split('(').next().unwrap_or(each);
            let known = match bare.to_ascii_lowercase().as_str() {
                "table" => Some(SymbolKind::Table),
                "view" => Some(SymbolKind::View),
                "index" => Some(SymbolKind::Index),
                "trigger" => Some(SymbolKind::Trigger),
                "function" | "procedure" => Some(SymbolKind::Function),
                "type" | "schema" | "sequence" => Some(SymbolKind::Type),
                "or" | "replace" | "temporary" | "temp" | "unique" | "if" | "not" | "exists"
                | "materialized" | "virtual" | "unlogged" | "only" | "concurrently" => continue,
                _ => None,
            };
            if kind.is_none() && known.is_some() {
                kind = known;
                continue;
            }
            let name = bare.trim_matches(['"', '`', '[', ']', ';']);
            return kind.map(|k| (Cow::Borrowed(name), k));
        }
        return None;
    }
    let column = words.next()?;
    let column = column.split(['(', ',', ';']).next()?;
    let name = first.trim_matches(['"', '`', '[', ']']);
    let typed = COLUMN_TYPES.iter().any(|t| is(column, t));
    (indented > 0 && typed && name.chars().all(is_name))
        .then_some((Cow::Borrowed(name), SymbolKind::Column))
}

fn parse_css_line(trimmed: &str) -> DeclarationMatch<'_> {
    if let Some(head) = trimmed.strip_suffix('{') {
        return Some((Cow::Borrowed(head.trim_end()), SymbolKind::Selector));
    }
    if let (Some(open), true) = (trimmed.find('{'), trimmed.ends_with('}')) {
        return Some((
            Cow::Borrowed(trimmed[..open].trim_end()),
            SymbolKind::Selector,
        ));
    }
    let (name, _) = trimmed.split_once(':')?;
    let name = name.trim_end();
    let plain = trimmed.ends_with(';')
        && !name.is_empty()
        && name.chars().all(|c| is_name(c) || matches!(c, '-' | '@'));
    plain.then_some((Cow::Borrowed(name), SymbolKind::Key))
}

fn parse_html_line(trimmed: &str) -> DeclarationMatch<'_> {
    let text = trimmed.strip_prefix('<')?;
    let end = text.find(|c| !is_name(c) && c != '-').unwrap_or(text.len());
    let tag = &text[..end];
    if tag.is_empty() {
        return None;
    }
    let head = text.split('>').next().unwrap_or(text);
    if let Some(at) = head.find(" id=") {
        let id = parse_quoted(&head[at + 4..])?;
        return Some((Cow::Owned(format!("{tag}#{id}")), SymbolKind::Element));
    }
    matches!(
        tag,
        "html"
            | "head"
            | "body"
            | "main"
            | "header"
            | "footer"
            | "nav"
            | "section"
            | "article"
            | "aside"
            | "form"
            | "script"
            | "style"
            | "template"
            | "table"
            | "dialog"
    )
    .then_some((Cow::Borrowed(tag), SymbolKind::Element))
}

fn parse_shell_line(trimmed: &str, indented: usize) -> DeclarationMatch<'_> {
    if let Some(rest) = strip_keyword(trimmed, "function") {
        return parse_name(rest, SymbolKind::Function);
    }
    let end = trimmed
        .find(|c| !is_name(c) && !matches!(c, '-' | ':' | '.'))
        .unwrap_or(trimmed.len());
    let (name, rest) = trimmed.split_at(end);
    let rest = rest.trim_start();
    if !name.is_empty() && rest.starts_with("()") {
        return Some((Cow::Borrowed(name), SymbolKind::Function));
    }
    if let Some(title) = strip_keyword(trimmed, "@test") {
        return Some((Cow::Borrowed(parse_quoted(title)?), SymbolKind::Test));
    }
    let text = skip_keywords(trimmed, &["export", "readonly", "local", "declare"]);
    let (name, rest) = split_first_word(text);
    (indented == 0 && !name.is_empty() && rest.starts_with('='))
        .then_some((Cow::Borrowed(name), SymbolKind::Constant))
}

fn parse_make_line(trimmed: &str, indented: usize) -> DeclarationMatch<'_> {
    if indented > 0 {
        return None;
    }
    let end = trimmed.find([':', '='])?;
    let (head, rest) = trimmed.split_at(end);
    let assigned = rest.starts_with(":=") || rest.starts_with("::=") || rest.starts_with('=');
    if assigned {
        let name = head.trim_end().trim_end_matches(['?', '+', '!']).trim_end();
        let name = skip_keywords(name, &["export", "override"]);
        return parse_name(name, SymbolKind::Constant);
    }
    let name = head.split_whitespace().next()?.trim_start_matches('@');
    let plain = !name.is_empty() && !head.contains(['(', '"', '\'']) || name.starts_with("$(");
    plain.then_some((Cow::Borrowed(name), SymbolKind::Target))
}

fn parse_docker_line(trimmed: &str) -> DeclarationMatch<'_> {
    let rest = strip_keyword(trimmed, "FROM")?;
    let mut words = rest.split_whitespace().filter(|w| !w.starts_with("--"));
    let image = words.next()?;
    let stage = words
        .next()
        .filter(|w| w.eq_ignore_ascii_case("as"))
        .and_then(|_| words.next());
    Some((Cow::Borrowed(stage.unwrap_or(image)), SymbolKind::Stage))
}
