//! Raw HTML: how far a block of it reaches, and how far one tag reaches
//! inside a line of text. Nothing is understood, only measured.

use super::chars::is_space;
use super::line;

/// Elements that start a block anywhere, also in the middle of a paragraph.
const BLOCK_ELEMENTS: &[&str] = &[
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "meta",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Elements that only their own end tag ends.
const RAW_ELEMENTS: &[&str] = &["script", "pre", "style", "textarea"];

fn starts_with(text: &str, start: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= start.len() && bytes[..start.len()].eq_ignore_ascii_case(start.as_bytes())
}

fn find_tag_end(text: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let rest = &text[from + at + 2..];
        if starts_with(rest, name) && rest[name.len()..].starts_with('>') {
            return Some(from + at + name.len() + 3);
        }
        from += at + 2;
    }
    None
}

fn name_len(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return 0;
    }
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'-';
    text.bytes().take_while(part).count()
}

fn skip_newlines(text: &str, from: usize) -> usize {
    from + line::count_marks(&text[from..], b'\n')
}

/// The end of the line that holds `from`, with all line ends behind it.
fn line_end(text: &str, from: usize) -> usize {
    let end = text[from..].find('\n').map_or(text.len(), |at| from + at);
    skip_newlines(text, end)
}

/// The end of the first run of blank lines behind `from`, or of the text.
fn blank_line(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(next) = text[at..].find('\n') {
        at += next + 1;
        let mut end = None;
        let mut behind = at;
        while let Some(len) = text[behind..].find('\n') {
            if !line::is_blank(&text[behind..behind + len]) {
                break;
            }
            behind += len + 1;
            end = Some(behind);
        }
        if let Some(end) = end {
            return end;
        }
    }
    text.len()
}

/// How many bytes of HTML block the text starts with.
pub(super) fn block_len(text: &str) -> Option<usize> {
    let indent = line::count_spaces(text);
    if indent > 3 || !text[indent..].starts_with('<') {
        return None;
    }
    let tag = &text[indent..];
    let inner = &tag[1..];
    let until = |mark: &str, from: usize| {
        tag[from..]
            .find(mark)
            .map_or(tag.len(), |at| skip_newlines(tag, from + at + mark.len()))
    };
    // From here on, CommonMark's seven kinds of HTML block, each with its own end.
    if let Some(name) = RAW_ELEMENTS.iter().find(|name| {
        starts_with(inner, name) && inner[name.len()..].starts_with(|c| c == '>' || is_space(c))
    }) {
        let end = find_tag_end(tag, name).map(|at| line_end(tag, at));
        return Some(indent + end.unwrap_or(tag.len()));
    }
    if inner.starts_with("!--") {
        let end = find_comment_end(tag).unwrap_or(tag.len());
        return Some(indent + line_end(tag, end));
    }
    if inner.starts_with('?') {
        return Some(indent + until("?>", 2));
    }
    if starts_with(inner, "![cdata[") {
        return Some(indent + until("]]>", 9));
    }
    if let Some(name) = inner.strip_prefix('!') {
        let letter = name.starts_with(|c: char| c.is_ascii_alphabetic());
        return letter.then(|| indent + until(">", 3));
    }
    let end = block_tag(tag, TagCase::Any).or_else(|| lone_tag(tag))?;
    Some(indent + blank_line(tag, end))
}

#[derive(Clone, Copy)]
enum TagCase {
    Any,
    Lower,
}

/// The start or end tag of a block element, up to where its name is over.
fn block_tag(tag: &str, case: TagCase) -> Option<usize> {
    let open = if tag.starts_with("</") { 2 } else { 1 };
    let name = &tag[open..open + name_len(&tag[open..])];
    let known = match case {
        // The lexer matches a block by name in any case, but lets only lower-case names
        // interrupt a paragraph.
        TagCase::Any => BLOCK_ELEMENTS.contains(&name.to_ascii_lowercase().as_str()),
        TagCase::Lower => BLOCK_ELEMENTS.contains(&name),
    };
    let at = open + name.len();
    let rest = &tag[at..];
    let end = match rest.bytes().next() {
        Some(b' ') => at + line::count_spaces(rest),
        Some(b'\n' | b'>') => at + 1,
        Some(b'/') if rest.starts_with("/>") => at + 2,
        _ => return None,
    };
    known.then_some(end)
}

/// Any complete tag that has its line for itself.
fn lone_tag(tag: &str) -> Option<usize> {
    let line = line::first_line(tag);
    let closing = line.starts_with("</");
    let open = if closing { 2 } else { 1 };
    if RAW_ELEMENTS
        .iter()
        .any(|name| starts_with(&line[open..], name))
    {
        return None;
    }
    let name = name_len(&line[open..]);
    if name == 0 {
        return None;
    }
    let end = if closing {
        // The white space of an end tag may hold line ends.
        let rest = tag[open + name..].trim_start_matches(is_space);
        tag.len() - rest.strip_prefix('>')?.len()
    } else {
        find_attributes_end(line, open + name, AttributeSpacing::OneLine)?
    };
    line::is_blank(line::first_line(&tag[end..])).then_some(end)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeSpacing {
    /// Blanks only, and values stay on their line.
    OneLine,
    Any,
}

/// The end of a start tag whose name ends at `at`.
fn find_attributes_end(text: &str, mut at: usize, blanks: AttributeSpacing) -> Option<usize> {
    let skip = |at: usize| {
        let rest = &text[at..];
        let behind = match blanks {
            AttributeSpacing::OneLine => rest.trim_start_matches(' '),
            AttributeSpacing::Any => rest.trim_start_matches(is_space),
        };
        text.len() - behind.len()
    };
    loop {
        let next = skip(at);
        let rest = &text[next..];
        if rest.starts_with('>') {
            return Some(next + 1);
        }
        if rest.starts_with("/>") {
            return Some(next + 2);
        }
        let name = |b: &u8| b.is_ascii_alphanumeric() || b"_.:-".contains(b);
        let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == ':' || c == '_');
        if next == at || !starts {
            return None;
        }
        at = next + rest.bytes().take_while(name).count();
        let equals = skip(at);
        if text[equals..].starts_with('=') {
            at = find_value_end(text, skip(equals + 1), blanks)?;
        }
    }
}

fn find_value_end(text: &str, at: usize, blanks: AttributeSpacing) -> Option<usize> {
    let rest = &text[at..];
    let quote = rest.chars().next()?;
    if quote == '"' || quote == '\'' {
        let end = rest[1..].find(quote)?;
        let inner = &rest[1..=end];
        return (blanks == AttributeSpacing::Any || !inner.contains('\n')).then_some(at + end + 2);
    }
    let stop = |c: char| is_space(c) || "\"'=<>`".contains(c);
    let len = rest.find(stop).unwrap_or(rest.len());
    (len > 0).then_some(at + len)
}

/// The end of a comment that is closed.
fn find_comment_end(tag: &str) -> Option<usize> {
    let inner = tag.strip_prefix("<!--")?;
    // `<!-->` and `<!--->` are whole comments in HTML.
    if inner.starts_with('>') {
        return Some(5);
    }
    if inner.starts_with("->") {
        return Some(6);
    }
    inner.find("-->").map(|at| at + 7)
}

/// How many bytes of tag, comment or instruction a text starts with.
pub(super) fn inline_len(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let until = |mark: &str, from: usize| {
        let at = text.get(from..)?.find(mark)?;
        Some(from + at + mark.len())
    };
    match inner.bytes().next()? {
        b'!' if inner.starts_with("!--") => find_comment_end(text),
        b'!' if inner.starts_with("![CDATA[") => until("]]>", 9),
        b'!' => {
            let name = inner[1..]
                .bytes()
                .take_while(u8::is_ascii_alphabetic)
                .count();
            let space = inner[1 + name..].chars().next().filter(|c| is_space(*c))?;
            (name > 0).then(|| until(">", 2 + name + space.len_utf8()))?
        }
        b'?' => until("?>", 2),
        b'/' => {
            let part = |b: &u8| b.is_ascii_alphanumeric() || b"_:-".contains(b);
            inner[1..]
                .chars()
                .next()
                .filter(char::is_ascii_alphabetic)?;
            let name = inner[1..].bytes().take_while(part).count();
            let rest = inner[1 + name..].trim_start_matches(is_space);
            Some(text.len() - rest.strip_prefix('>')?.len())
        }
        _ => {
            let name = name_len(inner);
            (name > 0).then(|| find_attributes_end(text, 1 + name, AttributeSpacing::Any))?
        }
    }
}

/// An address in angle brackets.
pub(super) fn autolink_len(text: &str) -> Option<usize> {
    let stop = |c: char| c == '>' || c == '<' || is_space(c);
    let end = 1 + text.get(1..)?.find(stop)?;
    let inner = text[end..].starts_with('>').then(|| &text[1..end])?;
    let scheme = inner.split(':').next().unwrap_or_default();
    let letter = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let part = |b: u8| b.is_ascii_alphanumeric() || b"+.-".contains(&b);
    let plain = |c: char| c >= ' ';
    let is_url = scheme.len() < inner.len()
        && (2..=32).contains(&scheme.len())
        && letter
        && scheme.bytes().all(part)
        && inner.chars().all(plain);
    (is_url || is_mail(inner)).then_some(end + 1)
}

fn is_mail(text: &str) -> bool {
    let Some((user, host)) = text.split_once('@') else {
        return false;
    };
    let user_part = |b: u8| b.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&b);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    !user.is_empty()
        && user.bytes().all(user_part)
        && host.contains('.')
        && host.split('.').all(label)
}

/// Whether a line of HTML ends a paragraph above it.
pub(super) fn interrupts_paragraph(line: &str, closed: bool) -> bool {
    let inner = &line[1..];
    if inner.starts_with("!--") || RAW_ELEMENTS.iter().any(|name| inner.starts_with(name)) {
        return true;
    }
    let open = if inner.starts_with('/') { 2 } else { 1 };
    let name = name_len(&line[open..]);
    let bare = open + name == line.len();
    if bare {
        return closed && BLOCK_ELEMENTS.contains(&&line[open..]);
    }
    block_tag(line, TagCase::Lower).is_some()
}
