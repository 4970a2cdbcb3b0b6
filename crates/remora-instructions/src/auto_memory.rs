//! The client's auto memory: which folder a project has, how much of its index
//! reaches a model, and what to advise when an index gets too long. Pure: the
//! caller finds the project's root and reads the files.

#[cfg(test)]
mod tests;

/// Lines of an index that reach a model.
pub const MAX_INDEX_LINES: usize = 200;
/// UTF-16 units of an index that reach a model.
pub const MAX_INDEX_UTF16_UNITS: usize = 25_000;
/// What a rewritten index should come down to: well below where the warning
/// begins.
pub const TARGET_INDEX_LINES: usize = 140;

/// Where "close to full" begins: nine tenths of a limit.
const NEAR_FULL_LINES: usize = MAX_INDEX_LINES / 10 * 9;
const NEAR_FULL_UTF16_UNITS: usize = MAX_INDEX_UTF16_UNITS / 10 * 9;
/// An index entry longer than this is worth shortening.
const LONG_ENTRY_UTF16_UNITS: usize = 200;
/// How much of the first line left out is quoted.
const MAX_QUOTE_CHARS: usize = 80;
/// UTF-16 units of a folder name before a hash takes over.
const MAX_SLUG_UTF16_UNITS: usize = 200;

/// The folder name for a path, which is absolute and real. Not unique: `a_b` and
/// `a-b` share a folder, as in the client.
pub fn slugify_path(path: &str) -> String {
    let mut name = String::with_capacity(path.len());
    let mut units = 0;
    for letter in path.chars() {
        if letter.is_ascii_alphanumeric() {
            name.push(letter);
            units += 1;
        } else {
            // The client's expression runs over UTF-16 units, so an emoji leaves two hyphens.
            for _ in 0..letter.len_utf16() {
                name.push('-');
                units += 1;
            }
        }
    }
    if units <= MAX_SLUG_UTF16_UNITS {
        return name;
    }
    // Every character is ASCII by now: bytes, characters and units agree.
    name.truncate(MAX_SLUG_UTF16_UNITS);
    name.push('-');
    name.push_str(&encode_base36(hash_utf16(path)));
    name
}

/// The client's string hash, over the path itself and not over its slug. It must
/// agree bit for bit, or memories would go to a folder the client never reads.
fn hash_utf16(text: &str) -> u32 {
    text.encode_utf16()
        .fold(0_i32, |sum, unit| {
            sum.wrapping_mul(31).wrapping_add(i32::from(unit))
        })
        .unsigned_abs()
}

fn encode_base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

/// What a model gets of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryIndex {
    /// The part that fits, without a warning.
    pub text: String,
    /// What was left out, if anything.
    pub cut: Option<IndexTruncation>,
    /// Lines of the whole index.
    pub lines: usize,
    /// UTF-16 units of the whole index.
    pub units: usize,
}

/// Where an index was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexTruncation {
    /// Number of the first line that is not there in full, from 1.
    pub line: usize,
    /// How that line begins: 80 characters at most.
    pub start: String,
    /// Lines that did not get in, the first one included.
    pub lines: usize,
    /// Whether the first of them is there in part: one line too long to keep.
    pub within: bool,
}

/// Cuts an index that was cleaned and trimmed: 200 lines first, then 25,000
/// UTF-16 units at a line's end.
pub fn truncate_index(text: &str) -> MemoryIndex {
    let lines = count_lines(text);
    let units = text.encode_utf16().count();
    let by_lines = text
        .match_indices('\n')
        .nth(MAX_INDEX_LINES - 1)
        .map_or(text.len(), |(at, _)| at);
    // Both limits count: the client cuts by lines first and the rest by length.
    let kept = within_units(&text[..by_lines]);
    let cut = (kept < text.len()).then(|| cut_at(text, kept, lines));
    MemoryIndex {
        text: text[..kept].to_owned(),
        cut,
        lines,
        units,
    }
}

/// How many bytes of a text stay, by the limit on units.
fn within_units(text: &str) -> usize {
    // Counting is skipped for most indexes: no character has fewer bytes than UTF-16 units.
    if text.len() <= MAX_INDEX_UTF16_UNITS {
        return text.len();
    }
    let mut units = 0;
    let mut last_line = None;
    for (at, letter) in text.char_indices() {
        if letter == '\n' && at > 0 {
            last_line = Some(at);
        }
        units += letter.len_utf16();
        if units > MAX_INDEX_UTF16_UNITS {
            return last_line.unwrap_or(at);
        }
    }
    text.len()
}

fn cut_at(text: &str, kept: usize, lines: usize) -> IndexTruncation {
    let rest = &text[kept..];
    let before = text[..kept].matches('\n').count();
    let (line, begins, within) = if let Some(next) = rest.strip_prefix('\n') {
        (before + 2, next, false)
    } else {
        let begin = text[..kept].rfind('\n').map_or(0, |at| at + 1);
        (before + 1, &text[begin..], true)
    };
    let first = begins.lines().next().unwrap_or_default();
    IndexTruncation {
        line,
        start: first.chars().take(MAX_QUOTE_CHARS).collect(),
        lines: lines + 1 - line,
        within,
    }
}

fn count_lines(text: &str) -> usize {
    if text.is_empty() {
        0
    } else {
        text.matches('\n').count() + 1
    }
}

impl MemoryIndex {
    /// The text with its warning, if it needs one: what goes into a prompt.
    pub fn render_with_warning(&self) -> String {
        match self.render_warning() {
            Some(warning) => format!("{}\n\n{warning}", self.text),
            None => self.text.clone(),
        }
    }

    /// One line that says what is missing, and how to fix it. The model reads it.
    pub fn render_warning(&self) -> Option<String> {
        let cut = self.cut.as_ref()?;
        let which = if cut.within {
            format!("line {} breaks off; it begins", cut.line)
        } else {
            format!(
                "{} of {} lines are missing, from line {}, which begins",
                cut.lines, self.lines, cut.line
            )
        };
        Some(format!(
            "> WARNING: this index is {} and was not loaded in full: {which} \"{}\". \
             Give every memory one line of less than {LONG_ENTRY_UTF16_UNITS} characters, and keep details in its own file.",
            self.format_size(),
            cut.start.trim_end(),
        ))
    }

    /// The size against the limits that it breaks.
    fn format_size(&self) -> String {
        let lines = format!("{} lines long (limit {MAX_INDEX_LINES})", self.lines);
        let units = format!(
            "{} characters long (limit {})",
            format_thousands(self.units),
            format_thousands(MAX_INDEX_UTF16_UNITS)
        );
        match (
            self.lines > MAX_INDEX_LINES,
            self.units > MAX_INDEX_UTF16_UNITS,
        ) {
            (true, true) => format!("{lines} and {units}"),
            (true, false) => lines,
            _ => units,
        }
    }
}

/// What to say after an index was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexSizeVerdict {
    /// It is far from every limit.
    Fits,
    /// It fits, but not for long.
    Near(IndexSize),
    /// A model will not see all of it.
    Over(IndexSize),
}

/// How large an index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSize {
    /// How many lines the index has.
    pub lines: usize,
    /// How long it is in UTF-16 units, as the client counts.
    pub units: usize,
    /// Entries of more than 200 characters.
    pub long_entries: usize,
}

/// Judges an index that was just written; cleaned and trimmed like for [`truncate_index`].
pub fn judge_write(text: &str) -> IndexSizeVerdict {
    let size = IndexSize {
        lines: count_lines(text),
        units: text.encode_utf16().count(),
        long_entries: text
            .lines()
            .filter(|line| line.encode_utf16().nth(LONG_ENTRY_UTF16_UNITS).is_some())
            .count(),
    };
    if size.lines > MAX_INDEX_LINES || size.units > MAX_INDEX_UTF16_UNITS {
        IndexSizeVerdict::Over(size)
    } else if size.lines > NEAR_FULL_LINES || size.units > NEAR_FULL_UTF16_UNITS {
        IndexSizeVerdict::Near(size)
    } else {
        IndexSizeVerdict::Fits
    }
}

impl IndexSizeVerdict {
    /// What the writer should do, in one or two sentences.
    pub fn render_advice(&self) -> Option<String> {
        let (size, over) = match self {
            Self::Fits => return None,
            Self::Near(size) => (size, false),
            Self::Over(size) => (size, true),
        };
        let facts = format!(
            "{} of {MAX_INDEX_LINES} lines, {} of {} characters",
            size.lines,
            format_thousands(size.units),
            format_thousands(MAX_INDEX_UTF16_UNITS)
        );
        let long = match size.long_entries {
            0 => String::new(),
            1 => format!(" One entry is longer than {LONG_ENTRY_UTF16_UNITS} characters."),
            many => format!(" {many} entries are longer than {LONG_ENTRY_UTF16_UNITS} characters."),
        };
        Some(if over {
            format!(
                "The index was written, but it is over its limit ({facts}): what is beyond it reaches no model. \
                 Rewrite it now to about {TARGET_INDEX_LINES} lines: one short line a memory, details in the topic files, what no longer holds removed.{long}"
            )
        } else {
            format!(
                "The index is close to its limit ({facts}). \
                 Shorten it: join entries that belong together, and move details into the topic files.{long}"
            )
        })
    }
}

/// The file that a link leads to, from the text after its opening parenthesis.
pub fn parse_link_target(link: &str) -> Option<String> {
    let target = if let Some(angled) = link.strip_prefix('<') {
        &angled[..angled.find('>')?]
    } else {
        let target = &link[..link.find(')')?];
        // `(file.md "title")` is valid Markdown.
        let title = target.find(" \"").or_else(|| target.find(" '"));
        &target[..title.unwrap_or(target.len())]
    };
    let file = target.split('#').next().unwrap_or_default().trim();
    Some(file.strip_prefix("./").unwrap_or(file).replace("%20", " "))
}

/// Thousands set apart: 25,000.
fn format_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
