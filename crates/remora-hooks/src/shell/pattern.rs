//! The text between the parentheses of `Bash(...)`, and whether a command
//! fits it.

use super::{ShellReading, SimpleCommand};

/// A compiled specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BashPattern {
    source: String,
    kind: PatternKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternKind {
    /// Nothing or `*`: every call, also an empty command.
    Everything,
    /// `words:*`: the words alone or with arguments.
    Prefix(String),
    /// No `*` in it.
    Exact(String),
    /// Literal pieces with "any text" between them. With `optional_tail` the
    /// last piece ended in a blank and a `*`: the blank and all behind it may
    /// be missing.
    Wild {
        pieces: Vec<String>,
        optional_tail: bool,
    },
}

/// The answer, and the reason in plain English.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternMatch {
    /// Does the pattern apply to the command?
    pub matches: bool,
    /// Why, for the user.
    pub why: String,
}

impl PatternMatch {
    fn new_match(why: String) -> Self {
        Self { matches: true, why }
    }

    fn new_mismatch(why: String) -> Self {
        Self {
            matches: false,
            why,
        }
    }
}

impl BashPattern {
    /// Compiles the text between the parentheses. Blanks around it are
    /// dropped, runs of blanks are one.
    #[must_use]
    pub(crate) fn new(specifier: &str) -> Self {
        if specifier.is_empty() || specifier == "*" {
            return Self {
                source: specifier.to_owned(),
                kind: PatternKind::Everything,
            };
        }
        let unescaped = unescape_rule(specifier);
        let text = collapse_blanks(unescaped.trim());
        let kind = match text.strip_suffix(":*") {
            // A lone `:*` is no prefix but an ordinary pattern: a colon and any text.
            Some(prefix) if !prefix.is_empty() => PatternKind::Prefix(prefix.to_owned()),
            _ => parse_wildcard(&text),
        };
        Self { source: text, kind }
    }

    /// Does one simple command's text (its words joined by blanks) fit? This
    /// is the plain comparison, without any doubt about the command.
    #[must_use]
    pub(crate) fn matches_text(&self, text: &str) -> bool {
        match &self.kind {
            PatternKind::Everything => true,
            PatternKind::Exact(wanted) => collapse_blanks(text) == *wanted,
            PatternKind::Prefix(prefix) => starts_with_words(text, prefix),
            PatternKind::Wild {
                pieces,
                optional_tail,
            } => wild_fits(pieces, *optional_tail, &collapse_blanks(text)),
        }
    }

    /// [`fits`](Self::matches_text), and the command behind a bare `xargs`.
    #[must_use]
    pub(crate) fn fits_command(&self, command: &SimpleCommand) -> bool {
        // For a prefix the client drops the word `xargs` and compares the rest, options
        // included. For all other patterns it looks behind a bare `xargs` only.
        let inner = match self.kind {
            PatternKind::Prefix(_) => command.text.strip_prefix("xargs "),
            _ => command.behind_xargs(),
        };
        self.matches_text(&command.text) || inner.is_some_and(|text| self.matches_text(text))
    }

    /// Is it only about a command's name (`git *`, `git:*`, `git*`)? Such a
    /// pattern can be decided although an argument is unknown.
    #[must_use]
    pub(crate) fn names_only(&self) -> bool {
        match &self.kind {
            PatternKind::Everything => true,
            PatternKind::Exact(_) => false,
            PatternKind::Prefix(prefix) => !prefix.contains(char::is_whitespace),
            PatternKind::Wild { .. } => {
                let name = self
                    .source
                    .strip_suffix(" *")
                    .or_else(|| self.source.strip_suffix('*'))
                    .unwrap_or_default();
                !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "*?[".contains(c))
            }
        }
    }

    /// Does a handler with this condition run for the command?
    #[must_use]
    pub(crate) fn matches(&self, reading: &ShellReading) -> PatternMatch {
        if self.kind == PatternKind::Everything {
            return PatternMatch::new_match("the condition covers every Bash command".to_owned());
        }
        match reading {
            // A condition saves process starts and is no guard: in doubt the handler runs.
            ShellReading::NotUnderstood { why } => {
                PatternMatch::new_match(format!("not understood ({why}), so the handler runs"))
            }
            ShellReading::Understood {
                commands,
                unknown_argument,
            } => {
                if *unknown_argument && !self.names_only() {
                    return PatternMatch::new_match(format!(
                        "an argument is unknown and \"{}\" says more than a command name, so the handler runs",
                        self.source
                    ));
                }
                self.match_commands(commands)
            }
        }
    }

    fn match_commands(&self, commands: &[SimpleCommand]) -> PatternMatch {
        if let Some(command) = commands.iter().find(|command| self.fits_command(command)) {
            let place = command
                .inside
                .map(|bracket| format!(" inside \"{bracket}\""))
                .unwrap_or_default();
            return PatternMatch::new_match(format!(
                "the command \"{}\"{place} fits \"{}\"",
                command.text, self.source
            ));
        }
        if commands.is_empty() {
            return PatternMatch::new_mismatch("there is no command in it".to_owned());
        }
        let names: Vec<&str> = commands
            .iter()
            .map(|command| command.text.as_str())
            .collect();
        PatternMatch::new_mismatch(match names.as_slice() {
            [only] => format!("the command \"{only}\" does not fit \"{}\"", self.source),
            _ => format!(
                "none of \"{}\" fits \"{}\"",
                names.join("\", \""),
                self.source
            ),
        })
    }
}

/// The words, or the words and more.
fn starts_with_words(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// In a rule `\(`, `\)` and `\\` stand for the character itself.
fn unescape_rule(text: &str) -> String {
    text.replace("\\(", "(")
        .replace("\\)", ")")
        .replace("\\\\", "\\")
}

/// Runs of blanks become one.
fn collapse_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let blank = c == ' ' || c == '\t';
        if !(blank && out.ends_with(' ')) {
            out.push(if blank { ' ' } else { c });
        }
    }
    out
}

/// Splits at `*`; `\*` is a star, `\\` a backslash.
fn parse_wildcard(text: &str) -> PatternKind {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ ('*' | '\\'))) => {
                chars.next();
                push_char(&mut pieces, next);
            }
            ('*', _) => pieces.push(String::new()),
            _ => push_char(&mut pieces, c),
        }
    }
    if pieces.len() == 1 {
        return PatternKind::Exact(pieces.pop().unwrap_or_default());
    }
    // `git *` also fits a bare `git`, but only if this is the one star of the pattern.
    let single_tail = pieces.len() == 2 && pieces[1].is_empty() && pieces[0].ends_with(' ');
    if single_tail {
        pieces[0].pop();
    }
    PatternKind::Wild {
        pieces,
        optional_tail: single_tail,
    }
}

fn push_char(pieces: &mut [String], c: char) {
    if let Some(last) = pieces.last_mut() {
        last.push(c);
    }
}

/// Greedy from the left, the last piece from the right: linear, because a
/// piece taken as early as possible never spoils a later one.
fn wild_fits(pieces: &[String], optional_tail: bool, text: &str) -> bool {
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
        return false;
    };
    if optional_tail {
        return starts_with_words(text, first);
    }
    let Some(mut rest) = text.strip_prefix(first.as_str()) else {
        return false;
    };
    for piece in &pieces[1..pieces.len() - 1] {
        let Some(at) = rest.find(piece.as_str()) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    // On the rest alone, so that the last piece cannot overlap one before it.
    rest.ends_with(last.as_str())
}
