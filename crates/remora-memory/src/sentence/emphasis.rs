//! Removes emphasis: `**so**`, `*so*`, `_so_` and `~~so~~`. Names keep what looks
//! like it (`*args`, `__all__`, `app_`, `src/**`): a mark is removed only together
//! with its partner.

/// How many bytes after its opening mark emphasis may end; bounds the search.
const MAX_EMPHASIS_BYTES: usize = 2_000;

/// The text without its marks of emphasis; code spans stay as they are.
pub(crate) fn without_emphasis(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let mark = match c {
            '`' => measure_code_span(rest),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '*' | '_' | '~' => measure_run(rest, c),
            _ => c.len_utf8(),
        };
        let taken = if let Some(inner) = find_emphasized(rest, before) {
            out.push_str(&without_emphasis(inner));
            2 * mark + inner.len()
        } else {
            out.push_str(&rest[..mark]);
            mark
        };
        before = rest[..taken].chars().next_back();
        rest = &rest[taken..];
    }
    out
}

/// What an emphasis mark and its partner enclose, if the text begins with one.
fn find_emphasized(rest: &str, before: Option<char>) -> Option<&str> {
    let mark = rest
        .chars()
        .next()
        .filter(|c| matches!(c, '*' | '_' | '~'))?;
    let length = measure_run(rest, mark);
    let after = &rest[length..];
    let strong = length > 1;
    let opens = before.is_none_or(|c| {
        c.is_whitespace() || super::is_wide(c) || "([{<\"'“‘—–-:,.;!?*_~|".contains(c)
    }) && after.starts_with(|c: char| {
        c.is_alphanumeric() || "\"'“‘`[(*_~<".contains(c) || (strong && "-.$@#".contains(c))
    });
    if !opens || length > 3 || (mark == '~' && length != 2) {
        return None;
    }
    let inner = &after[..find_end_mark(after, mark, length)?];
    let left = &after[inner.len() + length..];
    let word = !strong && inner.chars().all(char::is_alphabetic);
    let all = before.is_none() && left.is_empty() && inner.contains(' ');
    // Names begin and end with underscores too, so only what cannot be a name counts.
    let words = mark != '_' || word || (all && inner.starts_with(char::is_uppercase));
    words.then_some(inner)
}

/// Where the closing mark of this length is.
fn find_end_mark(text: &str, mark: char, length: usize) -> Option<usize> {
    let mut at = 0;
    while at < MAX_EMPHASIS_BYTES {
        let rest = &text[at..];
        let c = rest.chars().next()?;
        let taken = match c {
            '`' => measure_code_span(rest),
            '\\' => 1,
            c if c == mark => measure_run(rest, mark),
            c => c.len_utf8(),
        };
        let closes = |before: char| !before.is_whitespace() && !matches!(before, '/' | '\\');
        if c == mark
            && taken == length
            && text[..at].chars().next_back().is_some_and(closes)
            && ends_word(&rest[taken..])
        {
            return Some(at);
        }
        at += taken;
    }
    None
}

/// Whether no name continues here, as `*.rs`, `__init__.py` and `a*b` do.
fn ends_word(rest: &str) -> bool {
    let mut chars = rest.chars();
    let goes_on = |c: char| (c.is_alphanumeric() && !super::is_wide(c)) || "_/*~".contains(c);
    match chars.next() {
        Some('.') => !chars.next().is_some_and(goes_on),
        next => !next.is_some_and(goes_on),
    }
}

/// The length of the code span that begins here, or of its mark alone.
fn measure_code_span(rest: &str) -> usize {
    let marks = measure_run(rest, '`');
    let inner = rest[marks..].find('`');
    inner.map_or(marks, |end| {
        marks + end + measure_run(&rest[marks + end..], '`')
    })
}

fn measure_run(rest: &str, mark: char) -> usize {
    rest.len() - rest.trim_start_matches(mark).len()
}
