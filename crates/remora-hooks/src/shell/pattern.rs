//! The text between the parentheses of `Bash(...)`, and whether a command
//! fits it.

use super::{Reading, SimpleCommand};

/// A compiled specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BashPattern {
    source: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
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
pub(crate) struct Verdict {
    /// Does the pattern apply to the command?
    pub matches: bool,
    /// Why, for people.
    pub why: String,
}

impl Verdict {
    fn yes(why: String) -> Self {
        Self { matches: true, why }
    }

    fn no(why: String) -> Self {
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
                kind: Kind::Everything,
            };
        }
        let unescaped = unescape_rule(specifier);
        let text = collapse(unescaped.trim());
        let kind = match text.strip_suffix(":*") {
            Some(prefix) if !prefix.is_empty() => Kind::Prefix(prefix.to_owned()),
            _ => wild(&text),
        };
        Self { source: text, kind }
    }

    /// Does one simple command's text (its words joined by blanks) fit? This
    /// is the plain comparison, without any doubt about the command.
    #[must_use]
    pub(crate) fn fits(&self, text: &str) -> bool {
        match &self.kind {
            Kind::Everything => true,
            Kind::Exact(wanted) => collapse(text) == *wanted,
            Kind::Prefix(prefix) => begins(text, prefix),
            Kind::Wild {
                pieces,
                optional_tail,
            } => wild_fits(pieces, *optional_tail, &collapse(text)),
        }
    }

    /// [`fits`](Self::fits), and the command behind a bare `xargs`.
    #[must_use]
    pub(crate) fn fits_command(&self, command: &SimpleCommand) -> bool {
        let inner = match self.kind {
            Kind::Prefix(_) => command.text.strip_prefix("xargs "),
            _ => command.behind_xargs(),
        };
        self.fits(&command.text) || inner.is_some_and(|text| self.fits(text))
    }

    /// Is it only about a command's name (`git *`, `git:*`, `git*`)? Such a
    /// pattern can be decided although an argument is unknown.
    #[must_use]
    pub(crate) fn names_only(&self) -> bool {
        match &self.kind {
            Kind::Everything => true,
            Kind::Exact(_) => false,
            Kind::Prefix(prefix) => !prefix.contains(char::is_whitespace),
            Kind::Wild { .. } => {
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
    pub(crate) fn matches(&self, reading: &Reading) -> Verdict {
        if self.kind == Kind::Everything {
            return Verdict::yes("the condition covers every Bash command".to_owned());
        }
        match reading {
            Reading::NotUnderstood { why } => {
                Verdict::yes(format!("not understood ({why}), so the handler runs"))
            }
            Reading::Understood {
                commands,
                unknown_argument,
            } => {
                if *unknown_argument && !self.names_only() {
                    return Verdict::yes(format!(
                        "an argument is unknown and \"{}\" says more than a command name, so the handler runs",
                        self.source
                    ));
                }
                self.among(commands)
            }
        }
    }

    fn among(&self, commands: &[SimpleCommand]) -> Verdict {
        if let Some(command) = commands.iter().find(|command| self.fits_command(command)) {
            let place = command
                .inside
                .map(|bracket| format!(" inside \"{bracket}\""))
                .unwrap_or_default();
            return Verdict::yes(format!(
                "the command \"{}\"{place} fits \"{}\"",
                command.text, self.source
            ));
        }
        if commands.is_empty() {
            return Verdict::no("there is no command in it".to_owned());
        }
        let names: Vec<&str> = commands
            .iter()
            .map(|command| command.text.as_str())
            .collect();
        Verdict::no(match names.as_slice() {
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
fn begins(text: &str, prefix: &str) -> bool {
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
fn collapse(text: &str) -> String {
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
fn wild(text: &str) -> Kind {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ ('*' | '\\'))) => {
                chars.next();
                push(&mut pieces, next);
            }
            ('*', _) => pieces.push(String::new()),
            _ => push(&mut pieces, c),
        }
    }
    if pieces.len() == 1 {
        return Kind::Exact(pieces.pop().unwrap_or_default());
    }
    let single_tail = pieces.len() == 2 && pieces[1].is_empty() && pieces[0].ends_with(' ');
    if single_tail {
        pieces[0].pop();
    }
    Kind::Wild {
        pieces,
        optional_tail: single_tail,
    }
}

fn push(pieces: &mut [String], c: char) {
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
        return begins(text, first);
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
    rest.ends_with(last.as_str())
}
