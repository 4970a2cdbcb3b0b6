//! Splits what users and agents write: Markdown into blocks, blocks into sentences,
//! and words from inline markup. It drops what nobody said in words (code, logs,
//! quoted machine text) and must not judge meaning.

mod emphasis;
mod inline;
mod meaning;
mod noise;
mod split;

pub(crate) use emphasis::without_emphasis;
pub(crate) use inline::strip_markup;
pub(crate) use meaning::cut_sentence;
pub(crate) use noise::{is_machine_line, is_not_spoken, without_tagged};
pub(crate) use split::split_sentences;

/// The kind of a Markdown block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Paragraph,
    Heading,
    Item { depth: usize, mark: Checkbox },
}

/// The checkbox of a list item, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkbox {
    None,
    Checked,
    Unchecked,
}

/// A block of words that belong together, with inline markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarkdownBlock {
    pub(crate) kind: BlockKind,
    pub(crate) text: String,
    /// Whether a blank line, a heading or code precedes it.
    pub(crate) apart: bool,
}

/// A line shorter than this was ended by its writer, not by wrapping.
const MIN_WRAPPED_CHARS: usize = 50;

/// The blocks of a text in order. Fenced and indented code, tables, quotes,
/// rules and machine output are left out.
pub(crate) fn parse_blocks(text: &str) -> Vec<MarkdownBlock> {
    let mut reader = BlockParser::default();
    for line in text.lines() {
        reader.parse_line(line);
    }
    reader.blocks
}

#[derive(Default)]
struct BlockParser {
    blocks: Vec<MarkdownBlock>,
    /// The character and the length of the open fence.
    fence: Option<(char, usize)>,
    /// Whether the next line may continue the last block.
    open: bool,
    /// Whether something without words came since the last block.
    apart: bool,
    /// How wide the last line of the open block was, in characters.
    width: usize,
}

impl BlockParser {
    fn parse_line(&mut self, raw: &str) {
        let cleaned = noise::without_escapes(raw);
        let line = cleaned.trim_end();
        let body = line.trim_start();
        if let Some((mark, length)) = self.fence {
            if parse_fence(body)
                .is_some_and(|(m, l, rest)| m == mark && l >= length && rest.is_empty())
            {
                self.fence = None;
            }
            return self.mark_gap();
        }
        if let Some((mark, length, _)) = parse_fence(body) {
            self.fence = Some((mark, length));
            return self.mark_gap();
        }
        if body.is_empty() || is_rule(body) {
            return self.mark_gap();
        }
        let indent = measure_indent(line);
        if let Some(title) = parse_heading(body) {
            self.mark_gap();
            self.push(BlockKind::Heading, title);
            return self.mark_gap();
        }
        if let Some((mark, text)) = parse_list_item(body) {
            if !is_machine_line(text) {
                self.push(
                    BlockKind::Item {
                        depth: indent / 2,
                        mark,
                    },
                    text,
                );
            }
            return;
        }
        let in_list = self
            .blocks
            .last()
            .is_some_and(|b| matches!(b.kind, BlockKind::Item { .. }));
        // Below a list item deeper indentation continues the item.
        let code = indent >= 4 && !self.open && !in_list;
        if code || body.starts_with('>') || is_table(body) || is_machine_line(body) {
            return self.mark_gap();
        }
        if self.open && self.is_continuation(body, indent) {
            self.width = body.chars().count();
            if let Some(last) = self.blocks.last_mut() {
                // Scripts without spaces are wrapped without one.
                if last.text.chars().next_back().is_some_and(|c| !is_wide(c)) {
                    last.text.push(' ');
                }
                last.text.push_str(body);
            }
            return;
        }
        self.push(BlockKind::Paragraph, body);
    }

    fn mark_gap(&mut self) {
        self.open = false;
        self.apart = true;
    }

    fn push(&mut self, kind: BlockKind, text: &str) {
        self.blocks.push(MarkdownBlock {
            kind,
            text: text.to_owned(),
            apart: self.apart || self.blocks.is_empty(),
        });
        self.open = true;
        self.apart = false;
        self.width = text.chars().count();
    }

    /// Whether `body` continues the sentence of the line before: people end lines
    /// without a full stop, editors wrap long ones.
    fn is_continuation(&self, body: &str, indent: usize) -> bool {
        let Some(last) = self.blocks.last() else {
            return false;
        };
        let item = matches!(last.kind, BlockKind::Item { .. });
        let Some(end) = last.text.chars().next_back() else {
            return true;
        };
        if matches!(end, ',' | '，' | '、') {
            return true;
        }
        if ends_sentence(end) || matches!(end, ':' | '：' | ';' | '；') {
            return item && indent >= 2 && !matches!(end, ':' | '：');
        }
        let first = body.chars().next().unwrap_or(' ');
        if item && indent >= 2 {
            return true;
        }
        self.width >= MIN_WRAPPED_CHARS
            && (first.is_lowercase() || first.is_ascii_digit() || first == '`')
    }
}

/// Whether a character ends a sentence in any of the supported scripts.
pub(crate) fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…')
}

/// Whether a character belongs to a script written without spaces.
pub(crate) fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// One line of at most `limit` characters, truncated between words where possible
/// and with a mark.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        for c in word.chars() {
            line.push(c);
            length += 1;
        }
        // Checked after every word, so that a long text is not read to its end.
        if length > limit {
            return truncate_at_word(&line, limit);
        }
    }
    line
}

fn truncate_at_word(line: &str, limit: usize) -> String {
    let room = limit.saturating_sub(1);
    let end = line
        .char_indices()
        .nth(room)
        .map_or(line.len(), |(at, _)| at);
    let kept = &line[..end];
    let at_word = match kept.rfind(' ') {
        Some(space) if space * 2 > end && !line[end..].starts_with(' ') => &kept[..space],
        _ => kept,
    };
    let mut out = at_word
        .trim_end_matches(|c: char| c.is_whitespace() || ",;:，；：、(（".contains(c))
        .to_owned();
    out.push('…');
    out
}

fn measure_indent(line: &str) -> usize {
    line.chars()
        .take_while(|c| c.is_whitespace())
        .map(|c| if c == '\t' { 4 } else { 1 })
        .sum()
}

fn parse_fence(body: &str) -> Option<(char, usize, &str)> {
    let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = body.trim_start_matches(mark);
    let length = body.len() - rest.len();
    // With another backtick in the line it is a code span, not a fence.
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length, rest.trim()))
}

fn parse_heading(body: &str) -> Option<&str> {
    let rest = body.trim_start_matches('#');
    let level = body.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' '))
        .then(|| rest.trim().trim_end_matches('#').trim_end())
}

fn is_rule(body: &str) -> bool {
    let mut marks = body.chars().filter(|c| !c.is_whitespace());
    let Some(first) = marks
        .next()
        .filter(|c| matches!(c, '-' | '*' | '_' | '=' | '─' | '━'))
    else {
        return false;
    };
    let mut count = 1;
    for c in marks {
        if c != first {
            return false;
        }
        count += 1;
    }
    count >= 3
}

fn is_table(body: &str) -> bool {
    body.starts_with('|') && body.len() > 1 || body.starts_with(['┌', '│', '├', '└', '╔', '║', '╚'])
}

/// A list item without its bullet or number, and its checkbox.
fn parse_list_item(body: &str) -> Option<(Checkbox, &str)> {
    let rest = strip_bullet(body)
        .or_else(|| strip_number(body))?
        .trim_start();
    if let Some(done) = ["[x]", "[X]", "✅", "☑", "✔️", "✔", "✓"]
        .iter()
        .find_map(|m| rest.strip_prefix(m))
    {
        return Some((Checkbox::Checked, done.trim_start()));
    }
    if let Some(open) = ["[ ]", "[]", "☐", "⬜"]
        .iter()
        .find_map(|m| rest.strip_prefix(m))
    {
        return Some((Checkbox::Unchecked, open.trim_start()));
    }
    (!rest.is_empty()).then_some((Checkbox::None, rest))
}

fn strip_bullet(body: &str) -> Option<&str> {
    if ["✅", "☑", "✔", "✓", "☐", "⬜"]
        .iter()
        .any(|m| body.starts_with(m))
    {
        return Some(body);
    }
    if let Some(rest) = body.strip_prefix(['•', '●', '◦', '▪', '‣', '·']) {
        return Some(rest);
    }
    let rest = body.strip_prefix(['-', '*', '+', '–'])?;
    rest.starts_with([' ', '\t']).then_some(rest)
}

fn strip_number(body: &str) -> Option<&str> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=3).contains(&digits) {
        return None;
    }
    let rest = &body[digits..];
    if let Some(after) = rest.strip_prefix('、') {
        return Some(after);
    }
    let after = rest.strip_prefix(['.', ')'])?;
    after.starts_with([' ', '\t']).then_some(after)
}

#[cfg(test)]
mod tests;
